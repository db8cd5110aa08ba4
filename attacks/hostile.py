"""Hostile files made by hand: what somebody would try who has read the formats. `hostile()` has a maker by name, which
puts the files into a folder and says which door they are for."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import pickle
import struct
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save
from tests.factories import floret_vocabulary, msgpack_map, navec_tar, npy_bytes, spacy_vocabulary

from attacks.good import Sample, as_text, as_zip, models, samples, single, table
from attacks.mutate import CONFIG, with_right_hashes, with_right_index_hashes
from lovevec.files import as_json
from lovevec.files.checkpoints import UNFINISHED
from lovevec.train.prepared import with_checksum

Maker = Callable[[Path], tuple[str, Path]]
MEGABYTE = 1 << 20
CANARY = "executed"
NEST = 200_000


class Exploit:
    """Unpickled it makes a file in the folder where it lies."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (CANARY,)


def _writer_of(sample: Sample) -> Maker:
    return lambda folder: (sample.door, sample.write(folder))


def _npy_header(text: str, version: tuple[int, int] = (1, 0), body: bytes = b"\0" * 64) -> bytes:
    header = text.encode("latin-1") + b"\n"
    size = struct.pack("<H" if version == (1, 0) else "<I", len(header))
    return b"\x93NUMPY" + bytes(version) + size + header + body


def _safetensors(header: bytes | dict[str, Any], body: bytes = b"\0" * 96) -> bytes:
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(content).to_bytes(8, "little") + content + body


def _texts() -> dict[str, bytes]:
    """word2vec and GloVe text, and word2vec's binary."""
    words, vectors = table()
    row = b"1 " * 5 + b"1\n"
    return {
        "rows beyond belief": b"999999999999999999 3\na 1 2 3\n",
        "columns beyond belief": b"1 999999999999999999\na 1 2 3\n",
        "binary rows beyond belief": b"999999999 300\n" + b"a \0\0\0\x01" * 50,
        "binary row of 64 MB": b"1 16777216\na " + b"\0" * 100,
        "binary word without end": b"2 2\n" + b"\x01" * (2 * MEGABYTE),
        "binary of no columns": b"3 0\na \nb \n\0",
        "no line end": b"a" * MEGABYTE,
        "spaces": b" " * MEGABYTE,
        "tabs": b"\t" * MEGABYTE,
        "line ends": b"\n" * MEGABYTE,
        "returns": b"\r" * MEGABYTE,
        "zeros": b"\0" * MEGABYTE,
        "one row of 250,000 numbers": b"a" + b" 1" * 250_000 + b"\n",
        "a row more every time": b"".join(b"w%d" % n + b" 1" * n + b"\n" for n in range(900)),
        "spaces between": b"a" + b" " * MEGABYTE + b"1 2 3\n" + b"b 1 2 3\n" * 60,
        "a number of a million digits": b"a 1 2 3\n" * 60 + b"b " + b"1" * MEGABYTE + b" 2 3\n",
        "numbers that overflow": b"a 1e39 1 1\nb 1e-60 1e-60 0\nc 1e99999999999 1 1\nd 3e38 3e38 3e38\n",
        "words that are numbers": b"1 1 1 1\n2 1 1 1\n" * 100,
        "words that are escapes": b"\x1b]0;x\x07 1 2 3\n\x1b[2J 1 2 4\n\xc2\x9b31m 1 2 5\n",
        "one word a million times": b"a " + row * 1 + (b"a " + row) * 80_000,
        "utf-16": as_text(words, vectors).decode().encode("utf-16"),
        "header of numbers twice": b"5 5\n5 5\n5 5\n",
    }


def _bombs() -> dict[str, tuple[str, bytes]]:
    """What is small packed and large unpacked."""
    lines = b"a 1 2 3\n" * (MEGABYTE // 8)
    distinct = b"".join(b"w%d" % n + b" 1" * 4000 + b"\n" for n in range(3_000))
    squeezed = io.BytesIO()
    with gzip.GzipFile(fileobj=squeezed, mode="wb", mtime=0) as file:
        for _ in range(100):
            file.write(lines)
    words = "\n".join(f"w{n}" for n in range(3_000)).encode()
    ones = npy_bytes(np.ones((3_000, 10_000), np.float32))
    blank = npy_bytes(np.full(150 * MEGABYTE, 10, np.uint8))
    made = {
        "gzip of one line": ("v.gz", squeezed.getvalue()),
        "gzip without a line": ("v.gz", gzip.compress(b"\0" * (200 * MEGABYTE), mtime=0)),
        "xz without a line": ("v.xz", lzma.compress(b"a" * (200 * MEGABYTE), preset=0)),
        "gzip of distinct words": ("v.gz", gzip.compress(distinct, mtime=0)),
        "xz of distinct words": ("v.xz", lzma.compress(distinct, preset=0)),
        "zip of distinct words": ("v.zip", as_zip({"v.txt": distinct})),
        "gzip of gzip": ("v.gz", gzip.compress(gzip.compress(lines))),
        "gzip of 20,000 nothings": ("v.gz", gzip.compress(b"", mtime=0) * 20_000),
        "npz of ones": ("v.npz", as_zip({"vectors.npy": ones, "words.npy": npy_bytes(np.frombuffer(words, np.uint8))})),
        "npz of empty words": ("v.npz", as_zip({"vectors.npy": npy_bytes(np.ones((3, 3))), "words.npy": blank})),
        "zip of 20,000 files": ("v.zip", as_zip({f"{n}.txt": b"" for n in range(20_000)}, packed=False)),
    }
    return made


def _archives() -> dict[str, tuple[str, bytes]]:
    words, vectors = table()
    text = as_text(words, vectors)
    good = {"vectors.npy": npy_bytes(vectors), "words.npy": npy_bytes(np.array(words))}
    objects = io.BytesIO()
    np.save(objects, np.array([Exploit()] * 3, dtype=object), allow_pickle=True)
    stored = bytearray(as_zip({"v.txt": text}, packed=False))
    stored[stored.rindex(b"PK\x01\x02") + 24 : stored.rindex(b"PK\x01\x02") + 28] = struct.pack("<I", 2**32 - 2)
    encrypted = bytearray(as_zip({"v.txt": text}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[encrypted.index(mark) + offset] |= 1
    return {
        "zip that climbs": ("v.zip", as_zip({"../../../../tmp/lovevec-was-here": text})),
        "zip with an absolute name": ("v.zip", as_zip({"/tmp/lovevec-was-here": text})),
        "zip that lies about its size": ("v.zip", bytes(stored)),
        "zip with a password": ("v.zip", bytes(encrypted)),
        "npz that climbs": ("v.npz", as_zip({"../vectors.npy": good["vectors.npy"], **good})),
        "npz with objects": ("v.npz", as_zip({**good, "words.npy": objects.getvalue()})),
        "npz of objects alone": ("v.npz", as_zip({**good, "vectors.npy": objects.getvalue()})),
        "npz with an origin of objects": ("v.npz", as_zip({**good, "origin.npy": objects.getvalue()})),
        "npz with an origin that nests": (
            "v.npz",
            as_zip({**good, "origin.npy": npy_bytes(np.frombuffer(b"[" * NEST, np.uint8))}),
        ),
        "npz with words of 2 GB": (
            "v.npz",
            as_zip(
                {**good, "words.npy": _npy_header("{'descr': '<U500000000', 'fortran_order': False, 'shape': (30,), }")}
            ),
        ),
        "npz of nothing": ("v.npz", as_zip({"vectors.npy": b"", "words.npy": b""})),
    }


def _arrays() -> dict[str, bytes]:
    """numpy's headers are Python literals: the parser is what is attacked."""
    rest = "'fortran_order': False, 'shape': (30, 6), }"
    objects = io.BytesIO()
    np.save(objects, np.array([[Exploit()] * 3], dtype=object), allow_pickle=True)
    shape = "{{'descr': '<f4', 'fortran_order': False, 'shape': {}, }}".format
    return {
        "objects": objects.getvalue(),
        "object type": _npy_header("{'descr': '|O', " + rest),
        "code in the header": _npy_header("{'descr': __import__('os').mkdir('executed'), " + rest),
        "parentheses": _npy_header("(" * 9_000),
        "parentheses, longer": _npy_header("(" * 60_000, (2, 0)),
        "minus signs": _npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (" + "-" * 9_000 + "1, 2)}"),
        "fields": _npy_header("{'descr': [" + "('a','<f4')," * 600 + "], " + rest),
        "a type of 2 GB": _npy_header("{'descr': '|V2147483647', " + rest),
        "text of 2 GB": _npy_header("{'descr': '<U536870911', " + rest),
        "negative": _npy_header(shape("(-30, -6)")),
        "beyond belief": _npy_header(shape("(1000000000000, 1000000000000)")),
        "product that wraps": _npy_header(shape("(4294967296, 4294967296)")),
        "booleans": _npy_header(shape("(True, True)")),
        "a number of 4,000 digits": _npy_header(shape("(" + "9" * 4_000 + ", 2)")),
        "32 sides": _npy_header(shape("(" + "1," * 200 + ")")),
        "header longer than the file": b"\x93NUMPY\x02\0" + struct.pack("<I", 2**32 - 1) + b"{" * 100,
        "version 9": _npy_header("{}", (9, 9)),
        "a pickle": pickle.dumps(Exploit()),
    }


def _tensors() -> dict[str, bytes]:
    whole = {"dtype": "F32", "shape": [4, 6], "data_offsets": [0, 96]}
    words = {"words": "a\nb\nc\nd"}
    many = {f"t{n}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for n in range(20_000)}
    return {
        "header longer than the file": (2**62).to_bytes(8, "little") + b"{" + b" " * 100,
        "header of spaces": _safetensors(b"{" + b" " * (2 * MEGABYTE) + b"}"),
        "nested": _safetensors(b'{"a":' * 60_000),
        "shape that wraps": _safetensors({"v": {**whole, "shape": [2**32, 2**32]}}),
        "shape of 2 to the 63": _safetensors({"v": {**whole, "shape": [2**63, 1]}}),
        "offsets beyond": _safetensors({"v": {**whole, "data_offsets": [0, 2**40]}}),
        "offsets backwards": _safetensors({"v": {**whole, "data_offsets": [96, 0]}}),
        "overlap": _safetensors({"v": whole, "w": whole, "__metadata__": words}),
        "a key twice": _safetensors(b'{"v":%s,"v":%s}' % ((json.dumps(whole).encode(),) * 2)),
        "type unknown": _safetensors({"v": {**whole, "dtype": "PICKLE"}}),
        "20,000 tensors": _safetensors(many, b""),
        "rows without words": _safetensors({"v": {**whole, "shape": [24, 1]}, "__metadata__": words}),
        "no columns": _safetensors(
            {"v": {**whole, "shape": [4, 0], "data_offsets": [0, 0]}, "__metadata__": words}, b""
        ),
        "NaN": _safetensors({"v": whole, "__metadata__": words}, b"\xff" * 96),
        "metadata that is no text": _safetensors({"v": whole, "__metadata__": {"words": 1}}),
        "a pickle": pickle.dumps(Exploit()),
    }


def _fasttext() -> dict[str, bytes]:
    good = samples()["fasttext"].files["v.bin"]
    places = {"dim": 8, "bucket": 40, "minn": 44, "maxn": 48, "size": 64, "words": 68, "labels": 72}
    made = {}
    for name, at in places.items():
        for value in (-1, 0, 1, 99, 2**31 - 1, -(2**31)):
            made[f"{name} is {value}"] = good[:at] + struct.pack("<i", value) + good[at + 4 :]
    made["no zero behind a word"] = good[:92] + good[92:].replace(b"\0", b"x")
    made["a word of a megabyte"] = good[:92] + b"w" * MEGABYTE + good[92:]
    return made


def _pipelines() -> dict[str, Sample]:
    """spaCy's files, each with something in it that none should have."""
    words, vectors = table()
    good, floret = spacy_vocabulary(words, vectors), floret_vocabulary(vectors)
    changes: dict[str, dict[str, bytes]] = {
        "vectors are a pickle": {"vectors": pickle.dumps(Exploit())},
        "vectors that are beyond belief": {
            "vectors": _npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 300), }")
        },
        "vectors of no rows": {"vectors": npy_bytes(np.ones((0, 0), np.float32))},
        "vectors in one row": {"vectors": npy_bytes(np.ones(30, np.float32))},
        "keys of 4 billion words": {"key2row": b"\xdf\xff\xff\xff\xff" + b"\x01" * 100},
        "keys that nest": {"key2row": b"\x81" * NEST},
        "keys of text": {"key2row": b"\x81\xdb\xff\xff\xff\xff"},
        "keys with rows beyond": {"key2row": msgpack_map({1: 2**63, 2: 0})},
        "keys that are cut": {"key2row": good["key2row"][:-3]},
        "keys of nobody": {"key2row": msgpack_map({number: number for number in range(15)})},
        "strings that nest": {"strings.json": b"[" * NEST},
        "strings of numbers": {"strings.json": json.dumps(list(range(1000))).encode()},
        "strings of surrogates": {"strings.json": json.dumps(["\ud800" * n for n in range(200)]).encode()},
        "a string of a megabyte": {"strings.json": json.dumps(["x" * MEGABYTE, *words]).encode()},
        "strings of every length": {"strings.json": json.dumps(["y" * n for n in range(2000)]).encode()},
        "settings that nest": {"vectors.cfg": b'{"mode":' * NEST},
        "settings of a list": {"vectors.cfg": b"[]"},
        "settings of a mode of a megabyte": {"vectors.cfg": json.dumps({"mode": "x" * MEGABYTE}).encode()},
    }
    made = {
        name: Sample("vectors", {f"vocab/{file}": raw for file, raw in (good | change).items()})
        for name, change in changes.items()
    }
    for name, setting in {
        "n-grams of no letters": {"minn": 0, "maxn": 0},
        "n-grams without end": {"maxn": 2**31},
        "hashes without end": {"hash_count": 2**40},
        "a seed of 2 to the 70": {"hash_seed": 2**70},
        "a mark of a megabyte": {"bow": "<" * MEGABYTE},
    }.items():
        files = floret | {"vectors.cfg": floret_vocabulary(vectors, **setting)["vectors.cfg"]}
        made[f"floret with {name}"] = Sample("floret", {f"vocab/{file}": raw for file, raw in files.items()})
    inside = {f"a/b/vocab/{file}": raw for file, raw in good.items()}
    wheels = {
        "a wheel that climbs": {f"../{name}": raw for name, raw in inside.items()},
        "a wheel of two pipelines": inside | {f"c{name}": raw for name, raw in inside.items()},
        "a wheel of zeros": inside | {"a/b/vocab/strings.json": b" " * (150 * MEGABYTE)},
        "a wheel of nothing": {},
        "a wheel with code": {"a/__init__.py": b"import os; os.mkdir('executed')", **inside},
    }
    return made | {name: single("vectors", "v.whl", as_zip(files)) for name, files in wheels.items()}


def _navecs() -> dict[str, bytes]:
    """Archives of navec whose numbers do not fit, and tars that are none."""
    words, counts = [f"w{n}" for n in range(30)], list(range(30))
    codes, values = np.zeros((30, 3), np.uint8), np.ones((3, 5, 2), np.float32)
    good = navec_tar(words, counts, codes, values)

    def with_members(members: dict[str, bytes], **change: Any) -> bytes:
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w") as archive:
            for name, content in members.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                for field, value in change.items():
                    setattr(member, field, value)
                archive.addfile(member, io.BytesIO(content))
        return file.getvalue()

    meta, bomb = b'{"protocol": 1}', gzip.compress(b"\0" * (200 * MEGABYTE), mtime=0)
    sizes = np.array([2**32 - 1, 2**32 - 1, 1, 256], "<u4").tobytes()
    at = good.index(b"pq.bin")
    return {
        "of 4 billion words": with_members(
            {"meta.json": meta, "vocab.bin": gzip.compress(b"\xff" * 4), "pq.bin": sizes}
        ),
        "with a bomb": with_members({"meta.json": meta, "vocab.bin": bomb, "pq.bin": sizes}),
        "with meta that nests": with_members({"meta.json": b"[" * 60_000, "vocab.bin": b"", "pq.bin": b""}),
        "with meta of 8 GB": with_members({"meta.json": meta}, pax_headers={"size": str(2**33)}),
        "of links": with_members(
            {"meta.json": b"", "vocab.bin": b"", "pq.bin": b""}, type=b"2", linkname="/etc/passwd"
        ),
        "of devices": with_members({"meta.json": b"", "vocab.bin": b"", "pq.bin": b""}, type=b"3"),
        "that climbs": with_members({"../../meta.json": meta}),
        "with a size of letters": good[: at + 124] + b"x" * 12 + good[at + 136 :],
        "with a negative size": good[: at + 124] + b"\xff" * 12 + good[at + 136 :],
        "with parts of no width": navec_tar(words, counts, codes, np.ones((3, 5, 0), np.float32)),
        "of 20,000 members": with_members({f"{n}": b"" for n in range(20_000)}),
        "with numbers that are not finite": navec_tar(words, counts, codes, values * np.inf),
    }


def _tables() -> dict[str, tuple[str, bytes]]:
    nested = b'{"text": ' + b"[" * NEST + b"]" * NEST + b"}"
    return {
        "csv with a quote left open": ("t.csv", b'text\n"' + b"a," * (MEGABYTE // 2)),
        "csv of 200,000 columns": ("t.csv", b"text" + b",a" * 200_000 + b"\n" + b"," * 200_000 + b"\n"),
        "csv with a cell of a megabyte": ("t.csv", b'text\n"' + b"a\n" * (MEGABYTE // 2) + b'"\n'),
        "csv with zeros": ("t.csv", b"text\n\0\0\n\0,\0\n"),
        "csv of quotes": ("t.csv", b"text\n" + b'"' * 100_001),
        "csv that stops": ("t.csv", b"a,text\nb\n"),
        "csv in utf-16": ("t.csv", "text\nhello\n".encode("utf-16")),
        "tsv of returns": ("t.tsv", b"text\r" * 50_000),
        "jsonl that nests": ("t.jsonl", nested),
        "jsonl with half a surrogate": ("t.jsonl", b'{"text": "\\ud800"}\n'),
        "jsonl with a number of 10,000 digits": ("t.jsonl", b'{"n": ' + b"9" * 10_000 + b', "text": "a"}'),
        "jsonl with a key twice": ("t.jsonl", b'{"text": 1, "text": "a"}\n'),
        "jsonl of a megabyte": ("t.jsonl", b'{"text": "' + b"a" * MEGABYTE + b'"}'),
        "jsonl without objects": ("t.jsonl", b"[]\n1\n"),
        "jsonl of zeros": ("t.jsonl", b"\0" * MEGABYTE),
        "parquet cut": ("t.parquet", b"PAR1" + b"\0" * 100),
        "parquet of marks": ("t.parquet", b"PAR1PAR1"),
        "parquet with a footer of 4 GB": ("t.parquet", b"PAR1" + b"\0" * 64 + b"\xff\xff\xff\xffPAR1"),
    }


def _evaluation() -> dict[str, bytes]:
    return {
        "spaces inside": b"$right\nwrong" + b" " * (MEGABYTE // 4) + b"x\n",
        "numbers inside": b"$right\n" + b"1 " * (MEGABYTE // 4) + b"x\n",
        "marks": b"$\n" * 1000,
        "tabs": b"\t" * MEGABYTE,
        "columns": b"a\t" * 100_000 + b"1\n",
        "scores that are no numbers": b"a\tb\tnan\nc\td\tinf\ne\tf\t1e999\n",
        "scores of many digits": b"a\tb\t" + b"9" * MEGABYTE + b"\nc\td\t1\ne\tf\t2\n",
        "escapes": b"\x1b[31m\x07\t\x1b]0;x\n",
        "zeros": b"\0" * MEGABYTE,
        "half of utf-16": b"\xff\xfea",
        "utf-16 without a pair": b"\xff\xfe\x00\xd8a\0",
    }


# model folders


def _model(form: str = "int8", **files: bytes) -> Sample:
    """A model with some files changed (`words_json`), and its config.json made to fit."""
    sample = models()[f"model {form}"]
    renamed = {name.replace("_", "."): content for name, content in files.items()}
    return with_right_hashes(replace(sample, files={**sample.files, **renamed}))


def _config(form: str = "int8", **change: Any) -> Sample:
    sample = models()[f"model {form}"]
    return with_right_hashes(sample, json.dumps({**json.loads(sample.files[CONFIG]), **change}).encode())


def _scale_tensor(form: str, file: str, name: str, factor: float) -> Sample:
    """All numbers of a tensor times a factor, finite still."""
    found = load(models()[f"model {form}"].files[file])
    with np.errstate(all="ignore"):
        largest = np.finfo(found[name].dtype).max
        found[name] = np.clip(found[name].astype(np.float64) * factor, -largest, largest).astype(found[name].dtype)
    return _model(form, **{file.replace(".", "_"): save(found)})


def _models() -> dict[str, Sample]:
    vocabulary = json.loads(models()["model int8"].files["tokenizer.json"])
    words = json.loads(models()["model int8"].files["words.json"])
    units = vocabulary["model"]["vocab"]

    def pieces(vocab: Any) -> bytes:
        return json.dumps({"model": {"vocab": vocab}}).encode()

    made = {
        "config that nests": replace(_model(), files={**_model().files, CONFIG: b'{"a":' * NEST}),
        "config of zeros": replace(_model(), files={**_model().files, CONFIG: b"\0" * MEGABYTE}),
        "config with a message of a megabyte": _config(encoder={"kind": "x" * MEGABYTE}),
        "config with lines in a message": _config(encoder={"kind": "a\nlovevec: all is well\n"}),
        "config with units of a megabyte": _config(units={"x" * MEGABYTE: 1}),
        "config stored as a megabyte": _config(stored="x" * MEGABYTE),
        "config of another format, a megabyte long": _config(format="x" * MEGABYTE),
        "config that climbs": _config(
            sha256={"../../../etc/passwd": "0", **json.loads(_model().files[CONFIG])["sha256"]}
        ),
        "config that tells of escapes": _config(
            target={"name": "\x1b[2J\n\u202e", "words": 10**17}, scores={"\x07": "\x9b"}
        ),
        "config with a million scores": _config(scores={str(n): n for n in range(50_000)}),
        "words that nest": _model(words_json=b"[" * NEST),
        "words of numbers": _model(words_json=json.dumps([10**300] * 60).encode()),
        "a word of a megabyte": _model(words_json=json.dumps([*words[:-1], "w" * MEGABYTE]).encode()),
        "60 words of 20,000": _model(words_json=json.dumps([f"{n}" + "ab" * 10_000 for n in range(60)]).encode()),
        "words that are one": _model(words_json=json.dumps(["same"] * 60).encode()),
        "words that are nothing": _model(words_json=json.dumps([""] * 60).encode()),
        "words of surrogates": _model(words_json=json.dumps(["\ud800" * n for n in range(60)]).encode()),
        "words of zeros and lines": _model(words_json=json.dumps(["\0" * n + "\n" for n in range(60)]).encode()),
        "words fewer than rows": _model(words_json=b"[]"),
        "words a million too many": _model(words_json=json.dumps(["w"] * 300_000).encode()),
        "tokenizer that nests": _model(tokenizer_json=b'{"model":' * NEST),
        "tokenizer with ids of numbers": _model(tokenizer_json=pieces({unit: float(n) for unit, n in units.items()})),
        "tokenizer with ids beyond": _model(tokenizer_json=pieces({unit: n + 2**40 for unit, n in units.items()})),
        "tokenizer of nothing": _model(tokenizer_json=pieces({})),
        "tokenizer of a list": _model(tokenizer_json=pieces(list(units))),
        "tokenizer with a piece of a megabyte": _model(tokenizer_json=pieces({**units, "p" * MEGABYTE: len(units)})),
        "tokenizer of surrogates": _model(
            tokenizer_json=pieces({unit if n < 6 else "\ud800" * (n % 50 + 1) + str(n): n for unit, n in units.items()})
        ),
        "weights are a pickle": _model(model_safetensors=pickle.dumps(Exploit())),
        "rows are a pickle": _model(rows_safetensors=pickle.dumps(Exploit())),
        "a code beside it": _model(
            modeling_py=b"import os; os.mkdir('executed')", __init___py=b"import os; os.mkdir('executed')"
        ),
    }
    made |= _lexicons()
    channel = json.loads(models()["model int8"].files[CONFIG])["channel"]
    for name, cost in (("free", 0), ("dear", 8)):
        made[f"channel where slips are {name}"] = _config(
            channel={**channel, "rank": cost, "costs": dict.fromkeys(channel["costs"], cost)}
        )
    for name, weight in (("never", -64), ("always", 64)):
        made[f"channel where {name} anything is new"] = _config(
            channel={**channel, "new": dict.fromkeys(channel["new"], weight)}
        )
    encoder = json.loads(models()["model int8"].files[CONFIG])["encoder"]
    for scale in (1e-3, 1e6, 1e-300, 1e300):
        made[f"positions at a scale of {scale}"] = _config(encoder={**encoder, "position_scale": scale})
    confidence = json.loads(models()["model int8"].files[CONFIG])["confidence"]
    for number in (1e308, -1e308, 1e-320):
        made[f"confidence of {number}"] = _config(
            confidence={**confidence, "intercept": number, "readings": [number, number]}
        )
        made[f"confidence by {number}"] = _config(
            confidence={
                **confidence,
                "features": {name: dict.fromkeys(part, number) for name, part in confidence["features"].items()},
            }
        )
    for form, sample in models().items():
        for file in ("model.safetensors", "rows.safetensors"):
            if file in sample.files:
                for name, tensor in load(sample.files[file]).items():
                    if tensor.dtype.kind == "f":
                        for factor in (1e38, 1e19, 1e7, -1, 1e-38, 0):
                            form_name = form.removeprefix("model ")
                            made[f"{form}: {name} times {factor:g}"] = _scale_tensor(form_name, file, name, factor)
    return made


def _lexicons() -> dict[str, Sample]:
    """Lexicons and listed forms that say what none should, or just may."""
    good = load(models()["model int8"].files["lexicon.safetensors"])
    changes: dict[str, dict[str, Any]] = {
        "full": {"filter": np.full(64, 255, np.uint8)},
        "of 3 bytes": {"filter": np.zeros(3, np.uint8)},
        "of nothing": {"filter": np.zeros(0, np.uint8)},
        "with weights at their most": {
            "grams": np.full(good["grams"].shape, 127, np.int8),
            "scale": np.ones(1, np.float32),
        },
        "with few weights": {"grams": good["grams"][:5]},
        "at a scale of nan": {"scale": np.full(1, np.nan, np.float32)},
        "at a scale of 1e38": {"scale": np.full(1, 1e38, np.float32)},
        "with endings of no text": {"endings": np.full(9, 255, np.uint8)},
        "with a million endings": {"endings": np.frombuffer(b"s " * MEGABYTE, np.uint8)},
        "with an ending of a megabyte": {"endings": np.full(MEGABYTE, 97, np.uint8)},
        "with more in it": {"more": np.zeros(9)},
    }
    made = {
        f"a lexicon {name}": _model(lexicon_safetensors=save({**good, **change})) for name, change in changes.items()
    }
    words = json.loads(models()["model int8"].files["words.json"])
    listed: dict[str, Any] = {
        "of nobody's words": {"x": [["nowhere", 1.0]], "y": [["no where", 1.0]]},
        "of every word": {word: [[words[0], 1.0]] for word in words},
        "of many words": {"x": [[" ".join(words[:50]), 1.0]]},
        "of surrogates": {"\ud800": [["\udfff", 0.5]], "\0": [[words[0], 0.5]], " ": [[words[1], 0.5]]},
        "more probable than 1": {"x": [[words[0], 0.9], [words[1], 0.9]]},
        "next to impossible": {"x": [[words[0], 1e-300]], "y": [[words[0], 5e-324]]},
        "of a megabyte": {"x" * MEGABYTE: [[words[0], 1.0]]},
        "for a megabyte": {"x": [["y" * MEGABYTE, 1.0]]},
        "that are 30,000": {f"x{number}": [[words[0], 0.5]] for number in range(30_000)},
        "that are more": {f"x{number}": [[words[0], 0.5]] for number in range(30_001)},
        "that are numbers": {"x": 1},
        "that are a list": [],
    }
    made |= {f"forms {name}": _model(forms_json=json.dumps(forms).encode()) for name, forms in listed.items()}
    made["forms that nest"] = _model(forms_json=b'{"x":' * NEST)
    made["a lexicon that is a pickle"] = _model(lexicon_safetensors=pickle.dumps(Exploit()))
    return made


def _special() -> dict[str, Maker]:
    """Pipes, links, devices, folders and files of nothing but size, in the place of each file."""

    def pipe(path: Path) -> None:
        os.mkfifo(path)

    def sparse(path: Path) -> None:
        with open(path, "wb") as file:
            file.truncate(20 * MEGABYTE)

    kinds: dict[str, Callable[[Path], None]] = {
        "a pipe": pipe,
        "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
        "a link to itself": lambda path: path.symlink_to(path.name),
        "a link to nothing": lambda path: path.symlink_to("/nowhere/at/all"),
        "a folder": lambda path: path.mkdir(),
        "nothing but size": sparse,
    }
    made: dict[str, Maker] = {}
    places = [(name, sample.entry) for name, sample in samples().items() if sample.entry]
    places += [("model int8", file) for file in models()["model int8"].files]
    places += [(name, file) for name in ("prepared", "unfinished", "tagged", "index") for file in samples()[name].files]
    for name, file in places:
        for kind, put in kinds.items():

            def make(
                folder: Path, name: str = name, file: str = file, put: Callable[[Path], None] = put
            ) -> tuple[str, Path]:
                path = samples()[name].write(folder)
                (folder / file).unlink()
                put(folder / file)
                return samples()[name].door, path

            stream = samples()[name].door == "words" and kind in ("a pipe", "a link to /dev/zero")  # which it may be
            if not stream and name != "settings":  # whose file is not opened by lovevec
                made[f"{name}: {file} is {kind}"] = make
    return made


def _folders() -> dict[str, Sample]:
    """Prepared folders and states that vouch for themselves."""
    import hashlib

    ready = samples()["prepared"]
    made = {}

    def prepared(**change: np.ndarray) -> Sample:
        content = save({**load(ready.files["prepared.safetensors"]), **change})
        told = json.loads(ready.files["prepared.json"])
        told["sha256"]["prepared.safetensors"] = hashlib.sha256(content).hexdigest()
        files = {**ready.files, "prepared.safetensors": content, "prepared.json": as_json(with_checksum(told)).encode()}
        return replace(ready, files=files)

    good = load(ready.files["prepared.safetensors"])
    made["words at offsets backwards"] = prepared(word_offsets=good["word_offsets"][::-1].copy())
    made["words at offsets beyond"] = prepared(word_offsets=good["word_offsets"] + 10**9)
    made["words that overlap"] = prepared(word_offsets=np.tile(np.array([0, len(good["words"])]), 200_000))
    made["negatives beyond"] = prepared(negatives=good["negatives"] + 10**6)
    made["synonyms beyond"] = prepared(synonyms=good["synonyms"] + 10**6)
    made["synonyms at offsets beyond"] = prepared(synonym_offsets=good["synonym_offsets"] + 10**9)
    made["vectors that are not finite"] = prepared(vectors=np.full_like(good["vectors"], np.inf))
    made["vectors of whole numbers"] = prepared(vectors=np.ones(good["vectors"].shape, np.int64))
    left = samples()["unfinished"]
    plan = f"{UNFINISHED}/run.json"
    for name, content in (
        ("nests", b'{"a":' * NEST),
        ("is a list", b"[1]"),
        ("is empty", b""),
        ("is binary", b"\xff\xfe"),
    ):
        made[f"a plan that {name}"] = replace(left, files={**left.files, plan: content})
    return made


def _indexes() -> dict[str, Sample]:
    """Indexes that vouch for themselves and say what none should."""
    made = {}
    for name in ("index", "index numbered"):
        good = samples()[name]

        def changed(good: Sample = good, **files: bytes) -> Sample:
            renamed = {file.replace("_", "."): content for file, content in files.items()}
            return with_right_index_hashes(replace(good, files={**good.files, **renamed}))

        for file in ("index.safetensors", "texts.safetensors"):
            found = load(good.files[file])
            key = file.replace(".", "_")
            for tensor, values in found.items():
                others = {
                    "backwards": values[::-1],
                    "of nothing": values[:0],
                    "one short": values[:-1],
                    "twice": np.concatenate([values, values]),
                    "of floats": values.astype(np.float64),
                    "in two dimensions": values[None],
                    "at their most": np.full_like(values, _most(values.dtype)),
                    "below nothing": np.full_like(values, -1 if values.dtype.kind in "if" else 0),
                    "finite and absurd": values * np.asarray(1e30).astype(values.dtype)
                    if values.dtype.kind == "f"
                    else values,
                }
                for how, other in others.items():
                    content = save({**found, tensor: np.ascontiguousarray(other)})
                    made[f"{name}: {tensor} {how}"] = changed(**{key: content})
                made[f"{name}: without {tensor}"] = changed(
                    **{key: save({one: own for one, own in found.items() if one != tensor})}
                )
            made[f"{name}: {file} is a pickle"] = changed(**{key: pickle.dumps(Exploit())})
        config = json.loads(good.files[CONFIG])
        for how, change in {
            "texts of a million": {"texts": 10**6},
            "fields of a list": {"fields": ["title"]},
            "fields of absurd weights": {"fields": {"title": 1e300}},
            "fields of a megabyte": {"fields": {"x" * MEGABYTE: 1.0}},
            "an encoder": {"encoder": True},
            "hashes of other files": {"sha256": {"../../../etc/passwd": "0"}},
            "a format of a megabyte": {"format": "x" * MEGABYTE},
            "a model of a megabyte": {"model": "x" * MEGABYTE},
            "escapes": {"fields": {"\x1b[2J": 1.0}},
        }.items():
            made[f"{name}: a config with {how}"] = changed(config_json=json.dumps({**config, **change}).encode())
        count = len(json.loads(good.files["ids.json"])) if good.files["ids.json"] else 42
        for how, ids in {
            "that nest": b"[" * NEST,
            "that are one": json.dumps(["x"] * count).encode(),
            "of lists": json.dumps([[1]] * count).encode(),
            "of floats": json.dumps([float(one) for one in range(count)]).encode(),
            "of a megabyte": json.dumps([f"{one}" + "x" * (MEGABYTE // count) for one in range(count)]).encode(),
            "of surrogates": json.dumps(["\ud800" * one for one in range(count)]).encode(),
        }.items():
            made[f"{name}: ids {how}"] = changed(ids_json=ids)
    return made


def _most(kind: np.dtype[Any]) -> Any:
    return np.finfo(kind).max if kind.kind == "f" else np.iinfo(kind).max if kind.kind in "iu" else True


def _all() -> dict[str, Maker]:
    files: dict[str, Sample] = {f"text: {name}": single("vectors", "v.vec", raw) for name, raw in _texts().items()}
    for kind, made in (("bomb", _bombs()), ("archive", _archives())):
        files |= {f"{kind}: {name}": single("vectors", file, raw) for name, (file, raw) in made.items()}
    words = b"\n".join(b"w%d" % n for n in range(30))
    files |= {f"npy: {name}": single("vectors", "v.npy", raw, v_words=words) for name, raw in _arrays().items()}
    files |= {f"safetensors: {name}": single("vectors", "v.safetensors", raw) for name, raw in _tensors().items()}
    for door in ("vectors", "fasttext"):
        files |= {f"fasttext, {door}: {name}": single(door, "v.bin", raw) for name, raw in _fasttext().items()}
    files |= {f"spacy: {name}": sample for name, sample in _pipelines().items()}
    files |= {f"navec: {name}": single("vectors", "v.tar", raw) for name, raw in _navecs().items()}
    files |= {f"table: {name}": single("columns", file, raw) for name, (file, raw) in _tables().items()}
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        raw = pickle.dumps(Exploit(), protocol)
        for name in ("v.bin", "v.npy", "v.npz", "v.pt", "v.txt", "v.kv"):
            files[f"pickle {protocol} as {name}"] = single("vectors", name, raw)
    torch = io.BytesIO()
    with zipfile.ZipFile(torch, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Exploit()))
    files["a model of torch"] = single("vectors", "v.bin", torch.getvalue())
    files |= {f"evaluation: {name}": single("evaluation", "e.tsv", raw) for name, raw in _evaluation().items()}
    files |= {f"lists: {name}": single("words", "w.txt", raw) for name, raw in _texts().items()}
    files |= {f"pieces: {name}": single("pieces", "vocab.txt", raw) for name, raw in _texts().items()}
    files |= {f"model: {name}": sample for name, sample in _models().items()}
    files |= {f"folder: {name}": sample for name, sample in _folders().items()}
    files |= {f"search: {name}": sample for name, sample in _indexes().items()}
    return {**{name: _writer_of(sample) for name, sample in files.items()}, **_special()}


def hostile() -> dict[str, Maker]:
    """All of them; made once a process, since packing bombs takes a second."""
    if not _MADE:
        _MADE.update(_all())
    return _MADE


_MADE: dict[str, Maker] = {}
