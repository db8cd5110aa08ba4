"""Targets from files and from memory: the same rules, one clear error, and no needless copies."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec

from lovevec.errors import FormatError, LovevecError
from lovevec.train.target import load_target
from lovevec.vectors import Oddity, ReadReport, VectorTable, read_vectors

WORDS = ["The", "the", "US", "Us", "cat"]
VECTORS = np.arange(1, 11, dtype=np.float32).reshape(5, 2)


@pytest.fixture
def file(tmp_path):
    rows = "".join(f"{word} {row[0]} {row[1]}\n" for word, row in zip(WORDS, VECTORS.tolist(), strict=True))
    path = tmp_path / "some.vectors.2d.txt"
    path.write_text(f"5 2\n{rows}")
    return path


def sources(file):
    keyed = KeyedVectors(2)
    keyed.add_vectors(WORDS, VECTORS)
    model = Word2Vec(vector_size=2, min_count=1)
    model.wv = keyed
    return {
        "path": file,
        "str": str(file),
        "table": read_vectors(file),
        "pair": (WORDS, VECTORS),
        "lists": [tuple(WORDS), VECTORS.tolist()],
        "float64": (np.array(WORDS), VECTORS.astype(np.float64)),
        "fortran": (WORDS, np.asfortranarray(VECTORS)),
        "dict": dict(zip(WORDS, VECTORS, strict=True)),
        "keyed": keyed,
        "model": model,
    }


@pytest.mark.parametrize(
    "kind", ["path", "str", "table", "pair", "lists", "float64", "fortran", "dict", "keyed", "model"]
)
def test_every_source_gives_the_same_target(file, kind):
    before = VECTORS.copy()
    target = load_target(sources(file)[kind])
    assert isinstance(target, VectorTable)
    assert target.words == ["the", "us", "cat"], "the row that was lower case wins, else the first"
    assert target.vectors.dtype == np.float32
    np.testing.assert_array_equal(target.vectors, VECTORS[[1, 2, 4]])
    assert target.report.count(Oddity.SAME_IN_LOWER_CASE) == 2
    assert (target.report.read, target.report.kept, target.dim, len(target)) == (5, 3, 2, 3)
    np.testing.assert_array_equal(VECTORS, before)

    cased = load_target(sources(file)[kind], lowercase=False)
    assert cased.words == WORDS
    np.testing.assert_array_equal(cased.vectors, VECTORS)
    assert cased.report.notes == {}


def test_where_a_file_came_from_is_kept_without_its_folder(file):
    target = load_target(file, limit=4)
    assert target.name == "some.vectors.2d"
    assert target.source == {
        "file": file.name,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "format": "word2vec text",
        "compression": None,
        "rows": 4,
        "limit": 4,
        "lowercase": True,
    }
    assert json.loads(json.dumps(target.source)) == target.source
    memory = load_target((WORDS, VECTORS))
    assert (memory.source["file"], memory.source["sha256"], memory.source["format"]) == (None, None, "memory")


def test_a_table_in_memory_keeps_its_name_and_origin():
    report = ReadReport("memory", dim=2, read=5, kept=5)
    target = load_target(VectorTable(WORDS, VECTORS, report, "bert-distilled", {"model": "bert"}))
    assert (target.name, target.source["made"]) == ("bert-distilled", {"model": "bert"})
    plain = load_target(VectorTable(WORDS, VECTORS, report))
    assert plain.name == "VectorTable"
    assert "made" not in plain.source


def test_rows_in_memory_meet_the_rules_of_files(tmp_path):
    words = ["a", "a", "", " ", "n", "i", "z", "\ud800", "b c", "big"]
    vectors = np.ones((10, 3))
    vectors[4, 1], vectors[5, 2], vectors[6], vectors[9, 0] = np.nan, -np.inf, 0, 1e39
    target = load_target((words, vectors))
    assert target.words == ["a", "b c"]
    found = {what.name: (note.count, note.first) for what, note in target.report.notes.items()}
    assert found == {
        "REPEATED": (1, [2]),
        "EMPTY": (2, [3, 4]),
        "NOT_FINITE": (3, [5, 6, 10]),
        "ZERO": (1, [7]),
        "NOT_UTF8": (1, [8]),
        "SPACED": (1, [9]),
    }
    assert load_target((words, vectors), limit=1 + 1).report.read == 9


def test_a_table_keeps_the_account_of_its_reading(file):
    file.write_text(file.read_text() + "the 5 5\nNew York 1 1\nzero 0 0\n")
    table = read_vectors(file)
    target = load_target(table)
    assert target.source["format"] == "word2vec text"
    assert target.report.notes[Oddity.REPEATED].first == [7]
    assert target.report.count(Oddity.SPACED) == 1
    assert (target.report.read, target.report.kept) == (8, 4)
    assert table.report.kept == 6, "the table that was given is left alone"


def test_nothing_is_copied_when_nothing_is_dropped():
    words = [f"w{n}" for n in range(10_000)]
    vectors = np.ones((10_000, 4), np.float32)
    assert load_target((words, vectors)).vectors is vectors
    keyed = KeyedVectors(4)
    keyed.add_vectors(words, vectors)
    assert np.shares_memory(load_target(keyed).vectors, keyed.vectors)


def test_the_array_of_the_caller_is_never_changed():
    vectors = np.arange(1.0, 20_001, dtype=np.float32).reshape(10_000, 2)
    vectors[::3] = 0
    before = vectors.copy()
    words = [f"W{n % 9000}" for n in range(10_000)]
    target = load_target((words, vectors))
    np.testing.assert_array_equal(vectors, before)
    rows = [int(word[1:]) for word in target.words]
    assert all(row % 3 for row in rows[:3000])
    np.testing.assert_array_equal(target.vectors[0], before[1])


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (42, "word vectors come as a path"),
        (None, "NoneType is none of these"),
        ((WORDS,), "tuple is none of these"),
        ((WORDS, VECTORS[:3]), "5 words and 3 vectors"),
        ((WORDS, VECTORS.ravel()), r"not \(10,\)"),
        ((WORDS, VECTORS[:, :0]), r"not \(5, 0\)"),
        ((WORDS, VECTORS.astype(complex)), "must be numbers, not complex"),
        ((WORDS, VECTORS.astype(str)), "must be numbers"),
        ((WORDS, VECTORS > 3), "must be numbers, not bool"),
        ((WORDS, [[1, 2], [3]]), "one array"),
        ((WORDS, None), "must be numbers, not object"),
        (("words", VECTORS), "list of strings, not str"),
        ((5, VECTORS), "list of strings, not int"),
        (([1, 2, 3, 4, 5], VECTORS), "1 is int"),
        ({}, "shape"),
        ({"a": [1, 2], "b": [1]}, "one array"),
        ({"a": 1, "b": 2}, r"not \(2,\)"),
        ({1: [1, 2], 2: [3, 4]}, "1 is int"),
        ((["a"], [[1, 2]]), "at least 2 words, this one has 1"),
        ((["A", "a"], [[1, 2], [3, 4]]), "at least 2 words, this one has 1"),
        ((["a", "b"], np.zeros((2, 2))), "at least 2 words, this one has 0"),
    ],
)
def test_what_is_no_target_gives_one_clear_error(source, says):
    with pytest.raises(LovevecError, match=says):
        load_target(source)


def test_options_that_do_not_fit(file):
    with pytest.raises(LovevecError, match="not a file"):
        load_target((WORDS, VECTORS), words="list.txt")
    with pytest.raises(LovevecError, match="at least 1"):
        load_target((WORDS, VECTORS), limit=0)
    with pytest.raises(LovevecError, match="no such file"):
        load_target("does/not/exist.txt")
    file.write_text("5 2\na 1 2\n")
    with pytest.raises(FormatError, match="promises 5"):
        load_target(file)


def test_tensors_are_taken_and_left_alone():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(1.0, 11).reshape(5, 2)
    before = tensor.clone()
    target = load_target((WORDS, tensor))
    np.testing.assert_array_equal(target.vectors, VECTORS[[1, 2, 4]])
    assert torch.equal(tensor, before)
    with pytest.raises(LovevecError, match="one array"):
        load_target((WORDS, tensor.requires_grad_()))


SCRIPT = """
import json, sys
from lovevec.train.target import load_target
load_target(sys.argv[1])
def status(name):
    with open("/proc/self/status") as file:
        return int(file.read().split(name)[1].split()[0]) * 1024
before = status("VmRSS:")
target = load_target(sys.argv[2])
print(json.dumps([status("VmHWM:") - before, len(target)]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to measure memory")
def test_lower_casing_a_file_does_not_hold_the_matrix_twice(tmp_path):
    rows, tail = 60_000, " 0.25" * 300
    path, sample = tmp_path / "v.txt", tmp_path / "sample.txt"
    with open(path, "w") as file:
        file.writelines(f"{'W' if row % 2 else 'w'}ord{row // 2}{tail}\n" for row in range(rows))
    sample.write_text(f"a{tail}\nb{tail}\n")
    command = [sys.executable, "-c", SCRIPT, str(sample), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    extra, kept = json.loads(done.stdout)
    assert kept == rows // 2
    assert extra < 1.4 * rows * 300 * 4
