"""A fixed share of the attacks (attacks/, `make attack`), and what they have found, each by itself."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from lovevec import LOVE, LovevecError
from lovevec.confidence import Confidence
from lovevec.errors import FormatError
from lovevec.files import write_json
from lovevec.files.checkpoints import UNFINISHED, CheckpointFolder
from lovevec.files.lines import lines_of, read_bytes
from lovevec.files.misspellings import read_misspellings
from lovevec.model.folder import ROWS, WEIGHTS, read_model, write_model
from lovevec.texts.read import open_texts
from lovevec.train.prepared import Prepared, with_checksum
from lovevec.train.settings import Settings
from lovevec.units.vocabulary import read_pieces
from lovevec.vectors import read_vectors
from lovevec.vectors.rows import normalized
from tests.factories import random_parts

attacks = pytest.importorskip("attacks", reason="the attacks lie in the repository alone")
LINUX = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is measured as Linux tells it")
PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
BY_HAND, SHARE, DRAWN = 600, 24, 600


# The attacks


@LINUX
def test_hostile_files_made_by_hand_do_no_harm_one_in_twenty_four():
    """How many there are is not asked here: to make the archives that unpack without end takes seconds."""
    from attacks.__main__ import results

    found = list(results(0, 0, BY_HAND, SHARE))
    assert len(found) == BY_HAND / SHARE
    assert [(told["name"], told["finding"]) for told in found if told["finding"]] == []
    assert sum(told["result"] != "read" for told in found) > 0.4 * len(found)


@pytest.mark.slow
@LINUX
def test_hostile_files_made_by_hand_do_no_harm():
    from attacks.__main__ import results
    from attacks.hostile import hostile

    found = list(results(0, 0, len(hostile())))
    assert len(found) == len(hostile()) > BY_HAND
    assert [(told["name"], told["finding"]) for told in found if told["finding"]] == []
    assert sum(told["result"] != "read" for told in found) > len(found) / 2


@pytest.mark.slow
@LINUX
def test_hostile_files_drawn_from_a_seed_do_no_harm():
    from attacks.__main__ import results
    from attacks.hostile import hostile

    first = len(hostile())
    found = list(results(14, first, first + DRAWN))
    assert [(told["number"], told["name"], told["finding"]) for told in found if told["finding"]] == []
    assert len({told["name"].split(":")[0] for told in found}) > 30  # kinds of files
    assert min(sum(told["result"] == "read" for told in found), sum(told["result"] != "read" for told in found)) > 100


@LINUX
def test_the_attacks_see_what_they_look_for(tmp_path):
    """The watch itself: each kind of harm, done on purpose, is found."""
    script = """
import json, os, sys, time
from pathlib import Path
from attacks import worker
from attacks.worker import TooLong, Watch, attack
worker.WAIT = 3
import signal
def stop(number, frame):
    raise TooLong
signal.signal(signal.SIGPROF, stop)
signal.signal(signal.SIGALRM, stop)
os.chdir(sys.argv[1])
folder = Path(sys.argv[1]) / "case"
folder.mkdir()
watch = Watch()
def waits(path):
    time.sleep(30)
def computes(path):
    while True:
        pass
harm = {
    "executes": lambda path: os.system("true"),
    "writes": lambda path: open(path / "x", "w").close(),
    "reads": lambda path: open("/etc/hostname").close(),
    "fills": lambda path: len(b"x" * (80 << 20)),
    "raises": lambda path: 1 / 0,
    "waits": waits,
    "computes": computes,
    "nothing": lambda path: None,
}
print(json.dumps({name: attack(door, folder, folder, watch)["finding"] for name, door in harm.items()}))
"""
    root = Path(__file__).parents[1]
    settings = os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, env=settings, check=True
    )
    found = json.loads(done.stdout)
    assert found.pop("nothing") is None
    assert all(found.values()), found
    assert found["executes"].startswith("os.system")
    assert found["raises"].startswith("ZeroDivisionError")
    assert "MB of memory" in found["fills"]


# What they have found


@pytest.mark.parametrize("value", [10**400, -(10**400), ["x"] * 1000, {"y": 1}, float("nan"), None])
def test_settings_of_absurd_values_are_one_short_line(value):
    for name in Settings().as_dict():
        if (name, value) == ("lowercase", None):
            continue  # the default: preparing decides
        with pytest.raises(LovevecError) as error:
            Settings.from_dict({name: value})
        assert len(str(error.value)) < 400
    with pytest.raises(LovevecError, match="unknown settings"):
        Settings.from_dict({"z" * 10_000: 1})


def test_a_small_archive_does_not_unpack_without_end(tmp_path):
    lines = b"a 1 2 3\n" * 5_000_000
    (tmp_path / "v.gz").write_bytes(gzip.compress(lines))
    with zipfile.ZipFile(tmp_path / "v.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("v.txt", lines)
    words = np.frombuffer("\n".join(f"w{n}" for n in range(3_000)).encode(), np.uint8)
    np.savez_compressed(tmp_path / "v.npz", vectors=np.ones((3_000, 2_000), np.float32), words=words)
    newlines = np.full(30_000_000, 10, np.uint8)
    np.savez_compressed(tmp_path / "w.npz", vectors=np.ones((3, 3), np.float32), words=newlines)
    for name in ("v.gz", "v.zip", "v.npz", "w.npz"):
        with pytest.raises(FormatError, match=rf"{name}: unpacks to more than 100 times its size"):
            read_vectors(tmp_path / name)


def test_vectors_that_pack_well_and_long_words_beside_short_ones_are_read(tmp_path):
    words = np.array([*(f"w{n}" for n in range(20_000)), "x" * 3_000])
    vectors = np.random.default_rng(0).integers(0, 2, (len(words), 20)).astype(np.float32)
    vectors[:, 0] = 1
    np.savez_compressed(tmp_path / "v.npz", vectors=vectors, words=words)
    table = read_vectors(tmp_path / "v.npz")
    assert table.words == words.tolist()
    assert np.array_equal(table.vectors, vectors)


@pytest.mark.parametrize("line", ["wrong" + " " * 200_000 + "x", "1 " * 100_000 + "x"])
def test_many_spaces_in_a_misspelling_take_no_time(tmp_path, line):
    (tmp_path / "m.dat").write_text(f"$right\n{line}\nrigth 12\n")
    start = time.process_time()
    assert read_misspellings(tmp_path / "m.dat") == [("right", line.strip()), ("right", "rigth")]
    assert time.process_time() - start < 1


@PIPES
@pytest.mark.parametrize(
    "read",
    [
        read_bytes,
        lines_of,
        read_pieces,
        read_misspellings,
        lambda path: list(open_texts(path, "text").__enter__().batches),
    ],
    ids=["read_bytes", "lines_of", "read_pieces", "read_misspellings", "open_texts"],
)
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet"])
def test_a_named_pipe_is_an_error_and_no_wait(tmp_path, read, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    os.mkfifo(tmp_path / name)
    with pytest.raises(FormatError, match="not a regular file"):
        read(tmp_path / name)


@PIPES
def test_named_pipes_in_folders_of_ours_are_errors(tmp_path):
    os.mkfifo(tmp_path / "prepared.json")
    with pytest.raises(LovevecError, match="prepare again"):
        Prepared.load(tmp_path)
    left = CheckpointFolder(tmp_path / UNFINISHED)
    left.begin({})
    os.mkfifo(left.path("checkpoint"))
    with pytest.raises(FormatError, match="not a regular file"):
        left.load("checkpoint")


def test_texts_of_absurd_shape_are_one_line(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"text": ' + "[" * 200_000)
    (tmp_path / "t.csv").write_text("text\n" + "x" * 5_000_000)
    for name, message in (("t.jsonl", "line 1: is no JSON"), ("t.csv", "line 2: has more than 4 million characters")):
        with pytest.raises(FormatError, match=message), open_texts(tmp_path / name, "text") as found:
            list(found.batches)


def test_a_damaged_parquet_file_is_one_line_wherever_the_damage_is(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"text": [f"some text {n}" for n in range(300)]}), path)
    whole, rng, messages = path.read_bytes(), np.random.default_rng(0), []
    for place in rng.integers(4, len(whole), 150).tolist():
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << int(rng.integers(8))]) + whole[place + 1 :])
        try:
            with open_texts(path, "text") as found:
                assert all(isinstance(text, str) for batch in found.batches for text in batch)
        except FormatError as error:
            messages.append(str(error))
    assert len(messages) > 50
    assert not any("\n" in message for message in messages)


@pytest.mark.parametrize("factor", [1e38, 1e19, 1e9])
@pytest.mark.parametrize("precision", [None, "float16", "int8"])
def test_numbers_that_are_finite_and_absurd_are_refused_at_load(tmp_path, precision, factor):
    write_model(tmp_path, random_parts(head=5, ngrams=12), "card", precision)
    good = load((tmp_path / WEIGHTS).read_bytes())
    for name in (name for name, tensor in good.items() if tensor.dtype == np.float32 and tensor.any()):
        largest = np.finfo(np.float32).max
        content = save({**good, name: np.clip(good[name] * np.float64(factor), -largest, largest).astype(np.float32)})
        vouch(tmp_path, WEIGHTS, content)
        with pytest.raises(FormatError, match=r"beyond 100,000, which no training gives"):
            read_model(tmp_path)


def test_weights_whose_product_is_absurd_are_refused_at_load(tmp_path):
    write_model(tmp_path, random_parts(), "card")
    good = load((tmp_path / WEIGHTS).read_bytes())
    vouch(tmp_path, WEIGHTS, save({name: tensor * np.float32(900) for name, tensor in good.items()}))
    with pytest.raises(FormatError, match="its weights multiply to numbers beyond"):
        read_model(tmp_path)


def test_numbers_that_are_far_too_small_give_short_vectors_and_no_long_ones(tmp_path):
    write_model(tmp_path, random_parts(), "card", "int8")
    good = load((tmp_path / WEIGHTS).read_bytes())
    for factor in (1e-20, 1e-30, 1e-38, 0):
        vouch(tmp_path, WEIGHTS, save({**good, "out.scale": good["out.scale"] * np.float32(factor)}))
        lengths = np.linalg.norm(LOVE.load(tmp_path).embed(["brea", "xyz", ""]), axis=1)
        assert (lengths < 1.01).all()


@pytest.mark.parametrize("size", [1e-30, 1e-20, 1, 1e19, 1e30])
def test_rows_of_any_size_come_to_length_1(size):
    rows = np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32) * np.float32(size)
    rows[2] = 0
    lengths = np.linalg.norm(normalized(rows), axis=1)
    np.testing.assert_allclose(lengths, [1, 1, 0, 1, 1], atol=1e-5)


def test_rows_that_are_not_of_unit_length_by_far_are_refused(tmp_path):
    from attacks.good import models

    sample = models()["model as trained"]
    sample.write(tmp_path)
    good = load(sample.files[ROWS])
    for wrong in ({"scale": good["scale"] * np.float32(1e7)}, {"codes": good["codes"] * np.float16(100)}):
        vouch(tmp_path, ROWS, save({**good, **wrong}))
        with pytest.raises(FormatError, match="numbers that no row of unit length has"):
            read_model(tmp_path)
    for wrong in ({"scale": good["scale"] * np.float32(1.1)}, {"codes": np.full(good["codes"].shape, -128, np.int8)}):
        vouch(tmp_path, ROWS, save({**good, **wrong}))
        with pytest.raises(FormatError, match=r"rows that are not of unit length|numbers that no row"):
            read_model(tmp_path)


def test_a_calibration_of_absurd_numbers_is_refused_and_a_large_one_does_not_overflow():
    feature = {"coefficient": 1e6, "low": -1e6, "high": 1e6}
    told = {"intercept": -1e6, "known": 0.5, "readings": [1e6, 1e6], "features": {"characters": feature}}
    made = Confidence.from_metadata({"confidence": told})
    assert made is not None
    with np.errstate(all="raise"):
        sure = made({"characters": np.array([1.0, -1e6]), "unread": np.zeros(2)})
    assert ((sure >= 0) & (sure <= 1)).all()
    with pytest.raises(LovevecError, match="is not what lovevec writes"):
        Confidence.from_metadata({"confidence": {**told, "intercept": 1e300}})


def test_messages_stay_short_whatever_a_file_says(tmp_path):
    from attacks.good import models
    from attacks.mutate import with_right_hashes

    for change in ({"encoder": {"kind": "x" * 10**6}}, {"stored": "y" * 10**6}, {"format": "z\n" * 10**6}):
        config = json.loads(models()["model int8"].files["config.json"]) | change
        folder = tmp_path / next(iter(change))
        folder.mkdir()
        with_right_hashes(models()["model int8"], json.dumps(config).encode()).write(folder)
        with pytest.raises(FormatError) as error:
            read_model(folder)
        assert len(str(error.value)) < 600
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "change",
    [
        {"word_offsets": lambda old: old[::-1].copy()},
        {"word_offsets": lambda old: np.tile(np.array([0, 5]), 100_000)},
        {"negatives": lambda old: old + 10**6},
        {"synonyms": lambda old: old + 10**6},
        {"synonym_offsets": lambda old: old + 10**9},
        {"vectors": lambda old: np.full_like(old, np.inf)},
        {"vectors": lambda old: np.ones(old.shape, np.int64)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_prepared_folder_whose_parts_do_not_fit_is_refused_before_training(tmp_path, change):
    import hashlib

    from attacks.good import samples

    samples()["prepared"].write(tmp_path)
    Prepared.load(tmp_path)
    good = load((tmp_path / "prepared.safetensors").read_bytes())
    content = save({**good, **{name: make(good[name]) for name, make in change.items()}})
    (tmp_path / "prepared.safetensors").write_bytes(content)
    told = json.loads((tmp_path / "prepared.json").read_text())
    told["sha256"]["prepared.safetensors"] = hashlib.sha256(content).hexdigest()
    write_json(tmp_path / "prepared.json", with_checksum(told))
    with pytest.raises(LovevecError, match="run lovevec prepare again"):
        Prepared.load(tmp_path)


def vouch(folder: Path, name: str, content: bytes) -> None:
    """Put a file in its place, and let config.json vouch for it."""
    from attacks.good import Sample, content_of
    from attacks.mutate import with_right_hashes

    sample = with_right_hashes(Sample("model", {**content_of(folder), name: content}))
    shutil.rmtree(folder)
    folder.mkdir()
    sample.write(folder)
