"""navec's archives: vectors are put together from their codes as its own package does, words by how often they came."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from tests.factories import navec_tar

from lovevec.errors import FormatError, LovevecError
from lovevec.vectors import read_vectors

WORDS = ["а", "весна", "дом", "ёж", "<unk>", "<pad>"]
COUNTS = [7, 2, 9, 2, 0, 0]
RNG = np.random.default_rng(0)
CODES, VALUES = RNG.integers(0, 5, (6, 3)), RNG.normal(size=(3, 5, 2)).astype(np.float32)


def archive(folder: Path, content: bytes | None = None) -> Path:
    path = folder / "navec_toy.tar"
    path.write_bytes(navec_tar(WORDS, COUNTS, CODES, VALUES) if content is None else content)
    return path


def test_rows_are_made_of_their_parts_and_frequent_words_come_first(tmp_path):
    table = read_vectors(archive(tmp_path))
    assert table.words == ["дом", "а", "весна", "ёж"]
    for word, row in zip(table.words, table.vectors, strict=True):
        codes = CODES[WORDS.index(word)]
        assert row.tolist() == [number for part, code in enumerate(codes) for number in VALUES[part, code].tolist()]
    assert table.name == "navec_toy"
    assert read_vectors(archive(tmp_path), limit=2).words == ["дом", "а"]


def test_the_package_navec_has_the_same_vectors(tmp_path):
    """Where it is installed."""
    navec = pytest.importorskip("navec")
    path = archive(tmp_path)
    theirs = navec.Navec.load(path)
    table = read_vectors(path)
    assert all(np.array_equal(theirs[word], row) for word, row in zip(table.words, table.vectors, strict=True))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (navec_tar(WORDS, COUNTS, CODES, VALUES, protocol=2), "protocol 2"),
        (navec_tar(WORDS[:-1], COUNTS, CODES, VALUES), "damaged"),
        (navec_tar([*WORDS, "more"], [*COUNTS, 1], CODES, VALUES), "should have"),
        (navec_tar(WORDS, COUNTS, CODES + 1, VALUES), "code 5 of 5"),
        (navec_tar(WORDS, COUNTS, CODES, VALUES)[:1000], "damaged|cut|without"),
    ],
)
def test_what_is_wrong_is_one_error(tmp_path, content, problem):
    with pytest.raises(FormatError, match=problem):
        read_vectors(archive(tmp_path, content))


def test_another_tar_is_no_table(tmp_path):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("vectors.txt"))
    with pytest.raises(FormatError, match=r"without meta\.json"):
        read_vectors(archive(tmp_path, file.getvalue()))


def test_a_member_that_is_a_link_is_not_followed(tmp_path):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        link = tarfile.TarInfo("meta.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    with pytest.raises(FormatError, match="no plain file"):
        read_vectors(archive(tmp_path, file.getvalue()))


def test_rows_cannot_be_mapped_and_words_are_its_own(tmp_path):
    path = archive(tmp_path)
    with pytest.raises(LovevecError, match="mmap=True is for"):
        read_vectors(path, mmap=True)
    (tmp_path / "words.txt").write_text("a\n")
    with pytest.raises(LovevecError, match="has its own"):
        read_vectors(path, words=tmp_path / "words.txt")
