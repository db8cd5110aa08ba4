"""Every format written is read by the library it is for, and by our own reader; whole or not at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

from lovevec.errors import LovevecError
from lovevec.vectors import read_vectors
from lovevec.vectors.write import FORMATS, Shape, format_of, open_writer

WORDS = ["cat", "größe", "New York", "東京", "tab\tinside", "\u00a0nbsp", "e\u2028nd", "nul\0", "a\rb"]
VECTORS = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)


def write(path, words=WORDS, vectors=VECTORS, kind=None, batch=2, **shape) -> list[str]:
    with open_writer(path, format_of(path, kind), Shape(vectors.shape[1], **shape)) as writer:
        for low in range(0, len(words), batch):
            part = words[low : low + batch]
            writer.add(part, vectors[low : low + batch], [word == "cat" for word in part])
    return writer.notes()


def read_parquet(path):
    table = pytest.importorskip("pyarrow.parquet").read_table(path)
    return table["word"].to_pylist(), np.array(table["vector"].to_pylist(), np.float32)


def read_jsonl(path):
    rows = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    assert [row["known"] for row in rows] == [row["word"] == "cat" for row in rows]
    return [row["word"] for row in rows], np.array([row["vector"] for row in rows], np.float32)


def read_own(path):
    beside = path.with_suffix(".words.txt")
    table = read_vectors(path, words=beside if path.suffix == ".npy" else None)
    return table.words, table.vectors


READERS = {
    "vec": read_own,
    "npy": read_own,
    "npz": read_own,
    "safetensors": read_own,
    "parquet": read_parquet,
    "jsonl": read_jsonl,
}


@pytest.mark.parametrize("count", [None, len(WORDS)], ids=["counted at the end", "counted before"])
@pytest.mark.parametrize("kind", FORMATS)
def test_what_is_written_is_read_back_exactly(tmp_path, kind, count):
    path = tmp_path / f"v.{kind}"
    write(path, count=count, exact=True)
    words, vectors = READERS[kind](path)
    assert words == WORDS
    np.testing.assert_array_equal(vectors, VECTORS)
    extra = {"v.words.txt"} if kind == "npy" else set()
    assert {file.name for file in tmp_path.iterdir()} == {path.name} | extra


@pytest.mark.parametrize("count", [None, len(WORDS)])
def test_gensim_reads_vec(tmp_path, count):
    keyed = pytest.importorskip("gensim.models").KeyedVectors
    words = [word.replace(" ", "_") for word in WORDS]
    write(tmp_path / "v.vec", words, count=count)
    table = keyed.load_word2vec_format(str(tmp_path / "v.vec"))
    assert table.index_to_key == words
    np.testing.assert_allclose(table.vectors, VECTORS, atol=1e-7)


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_numpy_reads_arrays(tmp_path, precision):
    rows = VECTORS.astype(precision)
    write(tmp_path / "v.npy", precision=precision)
    found = np.load(tmp_path / "v.npy", mmap_mode="r")
    assert found.dtype == precision
    np.testing.assert_array_equal(found, rows)
    assert (tmp_path / "v.words.txt").read_bytes().decode().split("\n") == [*WORDS, ""]
    write(tmp_path / "v.npz", precision=precision)
    archive = np.load(tmp_path / "v.npz")
    assert archive["vectors"].dtype == precision
    np.testing.assert_array_equal(archive["vectors"], rows)
    assert archive["words"].tobytes().decode().split("\n") == [*WORDS, ""]


def test_parquet_holds_half_precision_too(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write(tmp_path / "v.parquet", precision="float16")
    column = parquet.read_table(tmp_path / "v.parquet")["vector"].combine_chunks()
    np.testing.assert_array_equal(column.flatten().to_numpy().reshape(VECTORS.shape), VECTORS.astype(np.float16))
    assert parquet.ParquetFile(tmp_path / "v.parquet").num_row_groups == 5


@settings(max_examples=25, deadline=None)  # a disk takes its time
@given(st.lists(st.binary(max_size=12).filter(lambda word: b"\n" not in word), min_size=1, max_size=9))
def test_any_bytes_survive(tmp_path_factory, raw):
    folder = tmp_path_factory.mktemp("any")
    words = [word.decode("utf-8", "surrogateescape") for word in raw]
    vectors = np.ones((len(words), 2), np.float32)
    write(folder / "v.npy", words, vectors)
    assert (folder / "v.words.txt").read_bytes() == b"".join(word + b"\n" for word in raw)
    write(folder / "v.npz", words, vectors)
    assert np.load(folder / "v.npz")["words"].tobytes() == b"".join(word + b"\n" for word in raw)
    write(folder / "v.vec", words, vectors)
    rows = (folder / "v.vec").read_bytes().split(b"\n")[1:-1]
    assert rows == [word + b" 1.00000000 1.00000000" for word in raw]
    write(folder / "v.jsonl", words, vectors)
    lines = (folder / "v.jsonl").read_text("utf-8").split("\n")[:-1]
    assert [json.loads(line)["word"].encode("utf-8", "surrogateescape") for line in lines] == raw


def test_parquet_spells_out_what_is_not_utf_8(tmp_path):
    pytest.importorskip("pyarrow")
    notes = write(tmp_path / "v.parquet", ["caf\udce9", "ok"], VECTORS[:2])
    assert read_parquet(tmp_path / "v.parquet")[0] == ["caf\\xe9", "ok"]
    assert "1; written like" in notes[0]


@pytest.mark.parametrize("kind", FORMATS)
def test_a_table_without_rows_is_a_table(tmp_path, kind):
    path = tmp_path / f"v.{kind}"
    write(path, [], VECTORS[:0])
    if kind == "vec":
        assert path.read_bytes().split() == [b"0", b"5"]
    elif kind == "npy":
        assert np.load(path).shape == (0, 5)
    elif kind == "npz":
        assert np.load(path)["vectors"].shape == (0, 5)
    elif kind == "safetensors":
        assert load_file(path)["vectors"].shape == (0, 5)
    elif kind == "parquet":
        assert read_parquet(path)[0] == []
    else:
        assert path.read_bytes() == b""


@pytest.mark.parametrize("kind", FORMATS)
def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path, kind):
    path = tmp_path / f"v.{kind}"
    path.write_text("precious")

    def fail():
        with open_writer(path, kind, Shape(5)) as writer:
            writer.add(WORDS, VECTORS, [False] * len(WORDS))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "precious"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("kind", ["vec", "npy", "npz"])
def test_a_word_with_a_line_end_would_be_two(tmp_path, kind):
    with pytest.raises(LovevecError, match=r"'a\\nb' holds a line end"):
        write(tmp_path / f"v.{kind}", ["a\nb"], VECTORS[:1])
    assert not list(tmp_path.iterdir())


def test_vec_counts_the_words_that_others_misread(tmp_path):
    notes = write(tmp_path / "v.vec")
    assert "inside: 5;" in notes[0]
    assert write(tmp_path / "v.vec", ["cat"], VECTORS[:1]) == []


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path):
    (tmp_path / "link.vec").symlink_to("real.vec")
    write(tmp_path / "link.vec")
    assert (tmp_path / "link.vec").is_symlink()
    assert read_vectors(tmp_path / "real.vec").words == WORDS
    write(Path(os.devnull), kind="npz")
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    ("name", "says"), [("v", "does not say the format"), ("no/v.vec", "no/v.vec: cannot be written"), (".", "format")]
)
def test_places_that_cannot_be_written(tmp_path, name, says, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LovevecError, match=says):
        write(Path(name))


def test_text_has_no_half_precision(tmp_path):
    with pytest.raises(LovevecError, match="float16 is for npy, npz, safetensors and parquet"):
        write(tmp_path / "v.vec", precision="float16")
