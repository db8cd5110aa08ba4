"""Mutations, drawn from a seed: of bytes, of JSON, of tensors, of archives; and hashes made right again behind them."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import random
import re
import struct
import zipfile
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from attacks.good import Sample, as_zip, models, samples
from lovevec.attach.folder import _checksum as attached_checksum
from lovevec.files import as_json
from lovevec.files.checkpoints import UNFINISHED
from lovevec.model.validation import checksums
from lovevec.search.folder import _checksum as index_checksum
from lovevec.train.prepared import with_checksum

SIZES = (0, 1, -1, 2**15, 2**16 - 1, 2**31 - 1, -(2**31), 2**32 - 1, 2**40, 2**62, 2**63 - 1, -(2**63))
NUMBERS = ("0", "-1", "1e999", "-1e999", "nan", "inf", "1e-400", "9" * 30, "9" * 5000, "0x10", "1_000", "١", "", "1,5")
BYTES = (
    b"\0",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\n",
    b"\r",
    b" ",
    b"\t",
    b'"',
    b"{",
    b"[",
    b"\\",
    b"\xed\xa0\x80",
    b"$",
    b",",
)
VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2,
        0.5,
        -0.0,
        1e-320,
        1e30,
        1e308,
        10**30,
        -(10**30),
        2**31,
        2**63,
        "",
        "x",
        "../../x",
    ),
    *(
        "\ud800",
        "\x1b[31m\n",
        "/etc/passwd",
        "x" * 10_000,
        [],
        {},
        [1],
        [[1]],
        {"a": 1},
        ["x"] * 1000,
        "int8",
        "float16",
    ),
    *(float("nan"), float("inf"), 10**400),
)
FLOATS = (np.nan, np.inf, -np.inf, 3e38, -3e38, 1e30, 1e19, 1e10, 1e-30, 1e-45, 0.0, -0.0, 65504.0)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
CONFIG = "config.json"


def draw_case(seed: int, number: int) -> tuple[str, Sample]:
    """The case of that number: its name, and what it consists of. Model folders are every third."""
    rng = random.Random(f"{seed} {number}")
    names = [*models()] if number % 3 == 0 else [name for name in samples() if name not in models()]
    name = rng.choice(names)
    sample = samples()[name]
    if sample.door == "model":
        how, sample = _model(sample, rng)
    elif sample.door in ("prepared", "unfinished", "attached", "index"):
        how, sample = _folder(sample, rng)
    elif name == "settings":
        how, sample = "json", _with(sample, sample.entry, _json(sample.files[sample.entry], rng))
    else:
        how, sample = _file(name, sample, rng)
    return f"{name}: {how}", sample


def _with(sample: Sample, name: str, content: bytes) -> Sample:
    return replace(sample, files={**sample.files, name: content})


def _file(name: str, sample: Sample, rng: random.Random) -> tuple[str, Sample]:
    """A single file; what is packed is often hurt inside and packed again."""
    file = rng.choice(sorted(sample.files))
    content = sample.files[file]
    inside = {"gzip": _in_gzip, "xz": _in_xz, "zip": _in_zip, "npz": _in_zip, "npz packed": _in_zip}.get(name)
    if name.startswith("safetensors") and rng.random() < 0.5:
        return "header", _with(sample, file, _safetensors_header(content, rng))
    if inside is not None and rng.random() < 0.6:
        return "bytes inside", _with(sample, file, inside(content, rng))
    return "bytes", _with(sample, file, hurt(content, rng))


# bytes


def hurt(content: bytes, rng: random.Random) -> bytes:
    """One to four changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content = rng.choice(CHANGES)(content, _place(content, rng), rng)
    return content


def _place(content: bytes, rng: random.Random) -> int:
    """Half of the time in the first 200 bytes, where headers are."""
    return rng.randrange(max(1, len(content) if rng.random() < 0.5 else min(len(content), 200)))


def _flip(content: bytes, at: int, rng: random.Random) -> bytes:
    return content[:at] + bytes(byte ^ 1 << rng.randrange(8) for byte in content[at : at + 1]) + content[at + 1 :]


def _cut(content: bytes, at: int, rng: random.Random) -> bytes:
    return content[:at]


def _drop(content: bytes, at: int, rng: random.Random) -> bytes:
    return content[:at] + content[at + rng.randint(1, 40) :]


def _double(content: bytes, at: int, rng: random.Random) -> bytes:
    return content[: at + rng.randint(1, 400)] + content[at:]


def _insert(content: bytes, at: int, rng: random.Random) -> bytes:
    return content[:at] + rng.choice((*BYTES, rng.randbytes(8), rng.choice(BYTES) * 5_000)) + content[at:]


def _overwrite(content: bytes, at: int, rng: random.Random) -> bytes:
    new = rng.choice((*BYTES, rng.randbytes(4)))
    return content[:at] + new + content[at + len(new) :]


def _size(content: bytes, at: int, rng: random.Random) -> bytes:
    """A length field, of 4 or 8 bytes, blown up."""
    new = struct.pack(rng.choice("<>") + "q", rng.choice(SIZES))
    new = new[: rng.choice((4, 8))]
    return content[:at] + new + content[at + len(new) :]


def _number(content: bytes, at: int, rng: random.Random) -> bytes:
    """A number in text made another."""
    found = NUMBER.search(content, at) or NUMBER.search(content)
    if found is None:
        return _flip(content, at, rng)
    return content[: found.start()] + rng.choice(NUMBERS).encode() + content[found.end() :]


def _splice(content: bytes, at: int, rng: random.Random) -> bytes:
    """The rest is that of another file."""
    other = rng.choice(sorted(samples().items()))[1]
    more = other.files[rng.choice(sorted(other.files))]
    return content[:at] + more[rng.randrange(len(more) or 1) :]


CHANGES: tuple[Callable[[bytes, int, random.Random], bytes], ...] = (
    *(_flip, _flip, _cut, _drop, _double, _insert, _overwrite, _size, _size, _number, _number, _splice),
)


# archives


def _in_gzip(content: bytes, rng: random.Random) -> bytes:
    return gzip.compress(hurt(gzip.decompress(content), rng), mtime=0)


def _in_xz(content: bytes, rng: random.Random) -> bytes:
    return lzma.compress(hurt(lzma.decompress(content), rng))


def _in_zip(content: bytes, rng: random.Random) -> bytes:
    """A member hurt, renamed, left out, or there twice; checksums are right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    if rng.random() < 0.8:
        members[name] = hurt(members[name], rng)
    else:
        inside = members.pop(name)
        for other in rng.choice(([], ["../" + name], ["/etc/" + name], [name.upper()], [name, "more.npy"])):
            members[other] = inside
    return as_zip(members, rng.random() < 0.5)


def _safetensors_header(content: bytes, rng: random.Random) -> bytes:
    """The JSON of the header changed, its length right again."""
    size = int.from_bytes(content[:8], "little")
    header = _json(content[8 : 8 + size], rng)
    return len(header).to_bytes(8, "little") + header + content[8 + size :]


# JSON


def _json(content: bytes, rng: random.Random) -> bytes:
    """One to three values changed, left out, doubled or nested."""
    tree = json.loads(content)
    for _ in range(rng.choice((1, 1, 2, 3))):
        tree = _change_tree(tree, rng)
    text = json.dumps(tree)
    if rng.random() < 0.05:
        text = "[" * 100_000 + text
    if rng.random() < 0.1 and text.startswith("{"):  # a key twice
        text = '{"' + rng.choice(("format", "model", "vectors", "words", "__metadata__")) + '": 1, ' + text[1:]
    return text.encode("utf-8", "surrogatepass")


def _change_tree(tree: Any, rng: random.Random) -> Any:
    way = _way(tree, rng)
    if not way:
        return deepcopy(rng.choice(VALUES))
    at = tree
    for key in way[:-1]:
        at = at[key]
    act = rng.random()
    if act < 0.65:
        at[way[-1]] = deepcopy(rng.choice(VALUES))
    elif act < 0.8:
        del at[way[-1]]
    elif isinstance(at, dict):
        at[rng.choice(("new", "", "__metadata__", "x" * 500, "\ud800", str(way[-1]).upper()))] = deepcopy(
            rng.choice(VALUES)
        )
    else:
        at.insert(0, deepcopy(rng.choice((at[way[-1]], rng.choice(VALUES)))))
    return tree


def _way(tree: Any, rng: random.Random) -> list[Any]:
    """Keys down to some value; mostly not the whole tree."""
    way: list[Any] = []
    while isinstance(tree, (dict, list)) and tree and (not way or rng.random() < 0.75):
        key = rng.choice(sorted(tree)) if isinstance(tree, dict) else rng.randrange(len(tree))
        way.append(key)
        tree = tree[key]
    return way


# tensors


def tensors(content: bytes, rng: random.Random) -> bytes:
    """Numbers, type, shape or name of a tensor changed."""
    found = {name: tensor.copy() for name, tensor in load(content).items()}
    name = rng.choice(sorted(found))
    tensor, act = found[name], rng.random()
    if act < 0.55:
        flat = tensor.reshape(-1)
        if len(flat):
            places = [rng.randrange(len(flat)) for _ in range(rng.choice((1, 1, 5)))]
            places = slice(None) if rng.random() < 0.4 else places  # type: ignore[assignment]
            with np.errstate(all="ignore"):
                new = np.array(rng.choice(FLOATS) if tensor.dtype.kind == "f" else rng.choice((0, 127, -128, 255)))
                flat[places] = new.astype(tensor.dtype)
    elif act < 0.7:
        with np.errstate(all="ignore"):
            found[name] = tensor.astype(rng.choice(("float64", "float16", "float32", "int8", "uint8", "int64", "bool")))
    elif act < 0.85:
        shapes = (
            tensor[:-1],
            tensor[:0],
            tensor.reshape(-1),
            tensor[None],
            np.zeros((0, 10), tensor.dtype),
            tensor[..., :1],
        )
        found[name] = np.ascontiguousarray(rng.choice(shapes))
    elif act < 0.95:
        found[rng.choice(("table", "out", "codes", "scale", "weights", "", "x" * 500, name.upper()))] = found.pop(name)
    else:
        del found[name]
    return save(found)


# folders, with hashes made right


def _model(sample: Sample, rng: random.Random) -> tuple[str, Sample]:
    """A model folder with one file changed, and config.json so that it vouches for it."""
    file = rng.choice((CONFIG, CONFIG, *sorted(sample.files)))
    content = sample.files[file]
    if file == CONFIG and rng.random() < 0.85:
        return f"json {file}", with_right_hashes(sample, _json(content, rng))
    if file.endswith(".safetensors"):
        how = rng.choice(("tensors", "tensors", "tensors", "header", "bytes"))
        change: Any = {"tensors": tensors, "header": _safetensors_header, "bytes": hurt}[how]
    elif file.endswith(".json"):
        how, change = rng.choice((("json", _json), ("bytes", hurt)))
    else:
        how, change = "bytes", hurt
    return f"{how} {file}", with_right_hashes(_with(sample, file, change(content, rng)))


def with_right_hashes(sample: Sample, config: bytes | None = None) -> Sample:
    """The model folder with hashes, sizes and checksums that fit its files; what is not JSON stays as it is."""
    raw = sample.files[CONFIG] if config is None else config
    try:
        told = json.loads(raw)
    except (ValueError, RecursionError):
        return _with(sample, CONFIG, raw)
    if not isinstance(told, dict):
        return _with(sample, CONFIG, raw)
    if config is None:
        hashes = told.get("sha256")
        if isinstance(hashes, dict):
            told["sha256"] = {name: hashlib.sha256(sample.files.get(name, b"")).hexdigest() for name in hashes}
        with suppress(SafetensorError, ValueError, KeyError, TypeError):  # of a damaged file the sizes stay
            told["sizes"] = {name: list(each.shape) for name, each in load(sample.files["model.safetensors"]).items()}
    told |= checksums(told)
    return _with(sample, CONFIG, json.dumps(told).encode())


def _folder(sample: Sample, rng: random.Random) -> tuple[str, Sample]:
    """A prepared folder, a stopped run or an attached table."""
    file = rng.choice(sorted(sample.files))
    content = sample.files[file]
    if file.endswith(".json"):
        new = _json(content, rng) if content and rng.random() < 0.6 else hurt(content, rng)
    elif file.endswith(".safetensors") or UNFINISHED in file:
        new = rng.choice((_state if UNFINISHED in file else tensors, _safetensors_header, hurt))(content, rng)
    else:
        new = hurt(content, rng)
    sample = _with(sample, file, new)
    if sample.door == "prepared":
        with suppress(ValueError, RecursionError, AttributeError, TypeError, KeyError):  # of what is no JSON now
            told = json.loads(sample.files["prepared.json"])
            told["sha256"] = {name: hashlib.sha256(sample.files[name]).hexdigest() for name in told["sha256"]}
            content = as_json(with_checksum(told)).encode("utf-8", "backslashreplace")
            sample = _with(sample, "prepared.json", content)
    if sample.door == "attached":
        with suppress(ValueError, RecursionError, AttributeError, TypeError, KeyError):  # of a config that is none now
            told = json.loads(sample.files["attached.json"])
            told["sha256"] = {name: hashlib.sha256(sample.files[name]).hexdigest() for name in told["sha256"]}
            told["checksum"] = attached_checksum(told)
            sample = _with(sample, "attached.json", json.dumps(told).encode())
    if sample.door == "index":
        sample = with_right_index_hashes(sample)
    return f"changed {file}", sample


def with_right_index_hashes(sample: Sample) -> Sample:
    """The index with sizes, hashes and a checksum that fit its files; what is no config stays as it is."""
    with suppress(ValueError, RecursionError, AttributeError, TypeError, KeyError):
        told = json.loads(sample.files[CONFIG])
        told["sha256"] = {name: hashlib.sha256(sample.files[name]).hexdigest() for name in told["sha256"]}
        told["bytes"] = {name: len(sample.files[name]) for name in told["bytes"]}
        told["checksum"] = index_checksum(told)
        return _with(sample, CONFIG, json.dumps(told).encode())
    return sample


def _state(content: bytes, rng: random.Random) -> bytes:
    """What a state says of itself changed, with its digest right."""
    from lovevec.files.checkpoints import _digest

    arrays = load(content)
    text = _json(b'{"step": 3, "log": {"losses": [1.0]}}', rng).decode("utf-8", "replace")
    return save(arrays, {"values": text, "sha256": _digest(arrays, text)})
