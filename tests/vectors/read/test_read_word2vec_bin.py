"""word2vec binary files, from gensim's writer and from word2vec's own habit of a newline after each row."""

from __future__ import annotations

import gzip
import tracemalloc

import numpy as np
import pytest
from gensim.models import KeyedVectors

from lovevec.errors import FormatError
from lovevec.vectors import Oddity, read_vectors


def make(words, vectors, header=None, newline=b""):
    rows, dim = header or vectors.shape
    body = b"".join(
        word.encode() + b" " + row.astype("<f4").tobytes() + newline for word, row in zip(words, vectors, strict=True)
    )
    return f"{rows} {dim}\n".encode() + body


@pytest.fixture
def table():
    vectors = np.random.default_rng(3).normal(size=(500, 30)).astype(np.float32)
    return [f"wörd{n}" for n in range(500)], vectors


def test_gensim_writes_what_we_read(tmp_path, table):
    words, vectors = table
    keyed = KeyedVectors(30)
    keyed.add_vectors(words, vectors)
    keyed.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    ours = read_vectors(tmp_path / "v.bin")
    assert ours.words == words
    np.testing.assert_array_equal(ours.vectors, vectors)
    assert ours.report.format == "word2vec binary"


@pytest.mark.parametrize("name", ["v.bin", "v.txt", "v"])
@pytest.mark.parametrize("newline", [b"", b"\n"])
def test_content_decides_and_not_the_name(tmp_path, table, name, newline):
    words, vectors = table
    (tmp_path / name).write_bytes(make(words, vectors, newline=newline))
    ours = read_vectors(tmp_path / name)
    assert ours.words == words
    np.testing.assert_array_equal(ours.vectors, vectors)
    assert ours.report.notes == {}


def test_gzip_is_read_through(tmp_path, table):
    words, vectors = table
    (tmp_path / "v.bin.gz").write_bytes(gzip.compress(make(words, vectors), 1))
    ours = read_vectors(tmp_path / "v.bin.gz")
    assert ours.words == words
    np.testing.assert_array_equal(ours.vectors, vectors)
    assert ours.report.compression == "gzip"


def test_rows_across_the_edge_of_a_block_are_whole(tmp_path):
    vectors = np.random.default_rng(0).normal(size=(900, 1000)).astype(np.float32)  # 3.6 MB, blocks of 1 MB
    words = [f"w{n}" for n in range(900)]
    (tmp_path / "v.bin").write_bytes(make(words, vectors))
    ours = read_vectors(tmp_path / "v.bin")
    assert ours.words == words
    np.testing.assert_array_equal(ours.vectors, vectors)


def test_odd_rows_are_counted(tmp_path):
    vectors = np.array([[1, 2], [0, 0], [np.nan, 1], [3, 4], [5, 6]], np.float32)
    data = make(["a", "z", "n", "a", "x"], vectors, header=(4, 2)).replace(b"x ", b"\xff ")
    (tmp_path / "v.bin").write_bytes(data)
    ours = read_vectors(tmp_path / "v.bin")
    assert ours.words == ["a"]
    kinds = (Oddity.ZERO, Oddity.NOT_FINITE, Oddity.REPEATED, Oddity.NOT_UTF8, Oddity.EXTRA)
    assert {kind: ours.report.notes[kind].first for kind in kinds} == {
        Oddity.ZERO: [2],
        Oddity.NOT_FINITE: [3],
        Oddity.REPEATED: [4],
        Oddity.NOT_UTF8: [5],
        Oddity.EXTRA: [5],
    }


def test_a_cut_file_is_refused_and_limit_takes_what_is_there(tmp_path, table):
    words, vectors = table
    whole = make(words, vectors)
    path = tmp_path / "v.bin"
    path.write_bytes(whole[:-200])
    with pytest.raises(FormatError, match=r"middle of row 499; limit=498 takes"):
        read_vectors(path)
    assert read_vectors(path, limit=498).words == words[:498]
    path.write_bytes(make(words[:400], vectors[:400], header=(401, 30)))
    with pytest.raises(FormatError, match="ends after 400 rows, its header promises 401; limit=400"):
        read_vectors(path)


@pytest.mark.parametrize("header", [(10**12, 300), (2, 10**9), (10**17, 10**17), (400_000, 30)])
def test_absurd_sizes_are_refused_at_once(tmp_path, table, header):
    words, vectors = table
    (tmp_path / "v.bin").write_bytes(make(words, vectors, header=header))
    tracemalloc.start()
    with pytest.raises(FormatError, match="damaged"):
        read_vectors(tmp_path / "v.bin")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5 << 20


def test_a_word_without_end_is_refused(tmp_path):
    (tmp_path / "v.bin").write_bytes(b"2 2\na " + bytes(8) + b"\x01" * (3 << 20))
    with pytest.raises(FormatError, match="row 2: a word without end"):
        read_vectors(tmp_path / "v.bin")
