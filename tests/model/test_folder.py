"""The model folder in all its forms: what is written is read, and damage never becomes a vector."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save
from tests.factories import random_parts, toy_words
from tests.nasty import NASTY

from lovevec import LOVE
from lovevec.engine.engine import FoldEngine
from lovevec.engine.fold import PRECISIONS
from lovevec.errors import FormatError, LovevecError
from lovevec.model.folder import CARD, CONFIG, TOKENIZER, WEIGHTS, WORDS, ModelParts, read_model, write_model
from lovevec.model.validation import checksums

SAMPLE = [*toy_words(40, seed=8), *NASTY[:12]]
SHAPES: dict[str, dict[str, Any]] = {
    "plain": {},
    "all": {"dim": 20, "key_width": 6, "head": 5, "factor": 7, "ngrams": 30, "buckets": 60},
    "characters": {"mode": "chars", "lowercase": False},
}


def vectors(parts: ModelParts) -> np.ndarray:
    return FoldEngine(parts.spec, parts.folded, parts.units, "numpy").embed(SAMPLE)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("precision", [None, *PRECISIONS])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_written_is_read(tmp_path, shape, precision):
    parts = random_parts(**SHAPES[shape])
    write_model(tmp_path / "m", parts, "a card", precision)
    again = read_model(tmp_path / "m")
    assert again.spec == parts.spec
    assert again.units.vocabulary == parts.units.vocabulary
    assert (again.units.mode, again.units.lowercase) == (parts.units.mode, parts.units.lowercase)
    assert list(again.words) == parts.words
    assert again.metadata == parts.metadata
    assert again.precision == (precision or "float32")
    stored = ModelParts(parts.spec, {}, parts.units, [], {}, parts.folded.to(precision or "float32"))
    assert np.array_equal(vectors(again), vectors(stored))
    as_trained = precision in (None, "float32")
    assert bool(again.weights) == as_trained
    assert json.loads((tmp_path / "m" / CONFIG).read_text())["stored"] == ("weights" if as_trained else "folded")


@pytest.mark.parametrize("precision", PRECISIONS)
def test_saving_over_the_folder_it_came_from_changes_nothing(tmp_path, precision):
    write_model(tmp_path, random_parts(**SHAPES["all"]), "a card", precision)
    before = contents(tmp_path)
    write_model(tmp_path, read_model(tmp_path), "a card")
    assert contents(tmp_path) == before


def test_a_folder_changes_its_precision_in_place(tmp_path):
    parts = random_parts()
    write_model(tmp_path, parts, "card")
    for precision in ("float16", "int8", "float32"):
        write_model(tmp_path, read_model(tmp_path), "card", precision)  # type: ignore[arg-type]
        again = read_model(tmp_path)
        assert again.precision == precision
        assert ((vectors(again) * vectors(parts)).sum(axis=1) > 0.999).all()


def test_int8_folders_are_small(tmp_path):
    parts = random_parts(dim=300, key_width=32)
    write_model(tmp_path / "trained", parts, "")
    write_model(tmp_path / "int8", parts, "", "int8")
    rows = parts.units.vocabulary.table_rows
    assert (tmp_path / "int8" / WEIGHTS).stat().st_size <= rows * (300 + 64 + 8) + 1000


@pytest.mark.parametrize("precision", ["float32", "int8"])
@pytest.mark.parametrize("name", [CONFIG, WEIGHTS, TOKENIZER, WORDS])
def test_a_file_cut_or_flipped_at_200_places_is_one_named_error_each(tmp_path, name, precision):
    write_model(tmp_path, random_parts(**SHAPES["all"]), "card", precision)
    original = (tmp_path / name).read_bytes()
    rng = np.random.default_rng(0)
    for number, place in enumerate(rng.integers(0, len(original) - 1, 200).tolist()):  # the last byte is a newline
        if number % 2:
            damaged = original[:place]
        else:
            flipped = bytearray(original)
            flipped[place] ^= 1 << int(rng.integers(8))
            damaged = bytes(flipped)
        (tmp_path / name).write_bytes(damaged)
        start = time.process_time()
        with pytest.raises(LovevecError, match=str(tmp_path)):
            read_model(tmp_path)
        assert time.process_time() - start < 1  # of the processor, so that a busy machine does not matter


def test_a_damaged_card_is_only_a_card(tmp_path):
    parts = random_parts()
    write_model(tmp_path, parts, "card", "int8")
    (tmp_path / CARD).write_bytes(b"\xff\x00")
    assert len(vectors(read_model(tmp_path))) == len(SAMPLE)


def forged(folder: Path, **change: Any) -> None:
    """Change what decides vectors and make the checksum fit: not damage but malice, or a broken tool."""
    config = json.loads((folder / CONFIG).read_text())
    for name, value in change.items():
        config[name] = (
            {**config[name], **value} if isinstance(value, dict) and isinstance(config[name], dict) else value
        )
    config["checksum"] = checksums(config)["checksum"]
    (folder / CONFIG).write_text(json.dumps(config))


@pytest.mark.parametrize(
    "change",
    [
        {"encoder": {"dim": 10**30}},
        {"encoder": {"dim": 23}},
        {"encoder": {"key_width": 7}},
        {"encoder": {"head": 3}},
        {"encoder": {"kind": "cnn"}},
        {"encoder": {"kind": "../../evil"}},
        {"encoder": {"position_scale": 0}},
        {"encoder": {"position_scale": float("nan")}},
        {"encoder": {"position_scale": float("inf")}},
        {"encoder": {"more": 1}},
        {"encoder": {"hidden": 5}},
        {"encoder": {"raw": True}},
        {"encoder": {"raw": 0}},
        {"encoder": {"kind": "mimick"}},
        {"encoder": {"kind": "pbos"}},
        {"encoder": None},
        {"units": {"buckets": 10**12}},
        {"units": {"buckets": 7}},
        {"units": {"ngrams": -1}},
        {"units": {"ngrams": 3}},
        {"units": {"ngrams": 10**30}},
        {"units": {"ngrams": True}},
        {"units": {"input": "telepathy"}},
        {"units": {"input": "substrings"}},
        {"units": {"input": "spans"}},
        {"units": {"hashes": 0}},
        {"units": {"hashes": 3}},
        {"units": {"hashes": 10**30}},
        {"units": {"hashes": True}},
        {"units": None},
        {"sizes": []},
        {"sizes": {"out": [10**18, 10**18]}},
        {"sizes": None},
        {"sha256": None},
        {"sha256": {WEIGHTS: "0" * 64}},
        {"precision": "float16"},
        {"precision": "float64"},
        {"precision": None},
        {"precision": ["int8"]},
        {"format": 1},
        {"format": [1]},
        {"format": None},
        {"stored": "weights"},
        {"stored": "pickled"},
        {"stored": ["folded"]},
        {"stored": None},
    ],
    ids=str,
)
def test_forged_configs_are_refused_at_once(tmp_path, change):
    write_model(tmp_path, random_parts(), "card", "int8")
    forged(tmp_path, **change)
    start = time.process_time()
    with pytest.raises(LovevecError, match=str(tmp_path)):
        read_model(tmp_path)
    assert time.process_time() - start < 1  # of the processor, so that a busy machine does not matter


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("precision", [None, *PRECISIONS])
def test_numbers_that_are_not_finite_are_refused_by_the_name_of_their_tensor(tmp_path, precision, wrong):
    write_model(tmp_path, random_parts(**SHAPES["all"]), "card", precision)
    good = load_file(tmp_path / WEIGHTS)
    for name in (name for name, tensor in good.items() if tensor.dtype.kind == "f"):
        bad = {**good, name: good[name].copy()}
        bad[name].reshape(-1)[-1] = wrong
        content = save(bad)
        (tmp_path / WEIGHTS).write_bytes(content)
        forged(tmp_path, sha256={WEIGHTS: hashlib.sha256(content).hexdigest()})
        with pytest.raises(FormatError, match=rf"{WEIGHTS}: {name} holds numbers that are not finite"):
            read_model(tmp_path)


def test_a_config_cannot_name_other_files(tmp_path):
    write_model(tmp_path / "m", random_parts(), "card", "int8")
    shutil.move(tmp_path / "m" / WEIGHTS, tmp_path / "elsewhere.safetensors")
    sha256 = json.loads((tmp_path / "m" / CONFIG).read_text())["sha256"]
    forged(tmp_path / "m", sha256={"../elsewhere.safetensors": sha256[WEIGHTS]})
    with pytest.raises(LovevecError, match=r"model\.safetensors: cannot be read"):
        read_model(tmp_path / "m")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("name", [WEIGHTS, WORDS])
def test_a_pipe_in_a_files_place_does_not_hang(tmp_path, name):
    write_model(tmp_path, random_parts(), "card", "int8")
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(LovevecError, match=f"{name}: not a regular file"):
        read_model(tmp_path)


@pytest.mark.parametrize("content", [b"{}", b'["a", 1]', b"[[", b'"words"'])
def test_words_that_are_no_list_of_words_are_told_when_asked_for(tmp_path, content):
    write_model(tmp_path, random_parts(), "card", "int8")
    (tmp_path / WORDS).write_bytes(content)
    forged(tmp_path, sha256={WORDS: hashlib.sha256(content).hexdigest()})
    parts = read_model(tmp_path)
    with pytest.raises(LovevecError, match=r"words\.json"):
        len(parts.words)


def test_encoders_that_do_not_fold_are_saved_as_trained_only(tmp_path):
    parts = random_parts()
    other = ModelParts(type(parts.spec)("sum", parts.spec.dim), parts.weights, parts.units, parts.words, {})
    with pytest.raises(LovevecError, match="does not fold"):
        write_model(tmp_path, other, "card", "int8")
    write_model(tmp_path, other, "card")
    assert read_model(tmp_path).weights.keys() == parts.weights.keys()


def test_a_write_that_fails_leaves_the_old_model_and_nothing_else(tmp_path):
    pytest.importorskip("resource")
    parts = random_parts()
    write_model(tmp_path, parts, "card", "int8")
    before = contents(tmp_path)
    script = f"""
import resource, signal
from lovevec.errors import LovevecError
from lovevec.model.folder import write_model
from tests.factories import random_parts
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    write_model({str(tmp_path)!r}, random_parts(dim=60), "card")
except LovevecError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path / WEIGHTS}: cannot be written: File too large\n"
    assert contents(tmp_path) == before


def test_reading_needs_neither_tokenizers_nor_torch(tmp_path):
    write_model(tmp_path, random_parts(), "card", "int8")
    script = f"""
import sys
from lovevec.model.folder import read_model
read_model({str(tmp_path)!r})
print(sorted({{"torch", "tokenizers", "snowballstemmer"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def _linked_card(folder: Path, target: Path) -> None:
    (folder / CARD).unlink()
    (folder / CARD).symlink_to(target)


def test_a_card_that_is_a_link_out_of_the_folder_is_refused(tmp_path):
    """`save` and `push_to_hub` would copy what it leads to."""
    (tmp_path / "secret").write_text("a key")
    write_model(tmp_path / "m", random_parts(), "a card", "int8")
    for target in (tmp_path / "secret", Path("..") / "secret", Path("/proc/self/environ")):
        _linked_card(tmp_path / "m", target)
        with pytest.raises(FormatError, match=r"README\.md: is a link that leads out of the model folder"):
            LOVE.load(tmp_path / "m")


def test_a_folder_that_is_a_link_and_the_hubs_cache_are_read(tmp_path):
    snapshot, blobs = tmp_path / "models--a--b" / "snapshots" / "0f", tmp_path / "models--a--b" / "blobs"
    write_model(snapshot, random_parts(), "a card", "int8")
    blobs.mkdir()
    for number, path in enumerate(list(snapshot.iterdir())):
        path.rename(blobs / str(number))
        path.symlink_to(Path("../../blobs") / str(number))
    (tmp_path / "link").symlink_to(snapshot)
    for folder in (snapshot, tmp_path / "link"):
        assert LOVE.load(folder).card == "a card"
    (tmp_path / "plain").symlink_to(tmp_path / "m")
    write_model(tmp_path / "m", random_parts(), "a card", "int8")
    assert LOVE.load(tmp_path / "plain").card == "a card"


@pytest.mark.skipif(not Path("/proc/kmsg").exists(), reason="needs Linux")
@pytest.mark.parametrize("name", [CONFIG, WEIGHTS, WORDS])
@pytest.mark.parametrize(
    "target", ["/proc/self/environ", "/proc/self/mem", "/proc/kmsg", "/dev/zero", "/proc/self/pagemap"]
)
def test_what_the_system_makes_up_is_no_file_of_a_model(tmp_path, name, target):
    write_model(tmp_path, random_parts(), "a card", "int8")
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to(target)
    with pytest.raises(LovevecError, match=name if name != CONFIG else "config.json|holds no model"):
        read_model(tmp_path)


def test_a_card_of_gigabytes_is_refused(tmp_path):
    write_model(tmp_path, random_parts(), "a card", "int8")
    with (tmp_path / CARD).open("wb") as file:
        file.truncate(1 << 34)
    with pytest.raises(FormatError, match=r"README\.md: has more than"):
        LOVE.load(tmp_path)
