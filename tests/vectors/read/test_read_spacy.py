"""spaCy's vectors as spaCy itself gives them: of words, and of n-grams (floret); and pipelines that are none."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import floret_vocabulary, msgpack_map, spacy_vocabulary, toy_vectors, toy_words

from lovevec.errors import FormatError, LovevecError
from lovevec.train.target import load_target
from lovevec.vectors import FloretVectors, Oddity, read_vectors
from lovevec.vectors.read.murmur import murmur64, murmur128
from lovevec.vectors.read.spacy import read_key2row

SEED = 2166136261
NASTY = ["", "a", "é", "ж", "talossammekin", "𝔘nicode", "ab" * 40, "#hashtag", "l'", "naïve\u0301"]


@pytest.fixture(scope="module")
def spacy():
    return pytest.importorskip("spacy")


def put(files: dict[str, bytes], folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def words() -> list[str]:
    return ["été", "Привет", "l'", *toy_words(30)]


@pytest.fixture
def pipeline(tmp_path, words) -> Path:
    borrowed = {"borrower": 3, "another": 0}
    put(spacy_vocabulary(words, toy_vectors(words, 6).astype(np.float32), borrowed), tmp_path / "pipe" / "vocab")
    return tmp_path / "pipe"


@given(st.lists(st.text(max_size=70), max_size=8))
def test_strings_have_the_numbers_that_spacy_gives_them(strings):
    hash_string = pytest.importorskip("spacy.strings").hash_string
    encoded = [string for string in strings if string == string.encode(errors="ignore").decode()]
    assert murmur64([string.encode() for string in encoded]).tolist() == [hash_string(each) for each in encoded]


def test_ngrams_have_the_numbers_that_spacy_gives_them(spacy):
    vectors = spacy.vectors.Vectors(
        data=np.ones((7, 2), "f"), mode="floret", minn=2, maxn=5, hash_count=4, hash_seed=SEED,
        strings=spacy.strings.StringStore(),
    )  # fmt: skip
    keys = [word for word in NASTY if word] + ["x" * length for length in range(1, 40)]
    assert murmur128([key.encode() for key in keys], SEED).tolist() == [vectors._get_ngram_hashes(key) for key in keys]


def test_the_words_and_rows_are_those_that_spacy_reads(spacy, pipeline, words):
    table = read_vectors(pipeline)
    vocab = spacy.vocab.Vocab().from_disk(pipeline / "vocab")
    assert table.words == words
    assert np.array_equal(table.vectors, np.stack([vocab.get_vector(word) for word in words]))
    assert np.array_equal(vocab.get_vector("borrower"), table.vectors[3])
    assert table.report.count(Oddity.BORROWED) == 2


def test_a_pipeline_that_spacy_has_written_is_read(spacy, tmp_path, words):
    nlp = spacy.blank("fr")
    for word, vector in zip(words, toy_vectors(words, 5).astype(np.float32), strict=True):
        nlp.vocab.set_vector(word, vector)
    nlp.to_disk(tmp_path / "mine")
    table = read_vectors(tmp_path / "mine")
    rows = {word: table.vectors[row] for row, word in enumerate(table.words)}
    assert sorted(rows) == sorted(words)
    assert all(np.array_equal(rows[word], nlp.vocab.get_vector(word)) for word in words)


def test_folder_wheel_package_and_vocabulary_give_the_same_table(pipeline, tmp_path, monkeypatch):
    table = read_vectors(pipeline)
    package = tmp_path / "site" / "xx_toy_words_md"
    inside = package / "xx_toy_words_md-1.0"
    inside.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('a package is not run')")
    (pipeline / "vocab").rename(inside / "vocab")
    wheel = tmp_path / "xx_toy_words_md-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(package.rglob("*.*")) + [inside / "vocab" / name for name in ("vectors", "key2row")]:
            if file.is_file():
                archive.write(file, file.relative_to(package.parent).as_posix())
    monkeypatch.syspath_prepend(str(package.parent))
    for source in (inside, inside / "vocab", package, wheel, "xx_toy_words_md"):
        other = read_vectors(source)
        assert other.words == table.words, source
        assert np.array_equal(other.vectors, table.vectors), source
    assert "xx_toy_words_md" not in sys.modules
    assert load_target("xx_toy_words_md").source["sha256"] == load_target(inside).source["sha256"]


def test_floret_vectors_are_those_of_spacy(spacy, tmp_path):
    matrix = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)
    folder = put(floret_vocabulary(matrix, bow="<<", hash_count=3), tmp_path / "vocab")
    vocab = spacy.vocab.Vocab().from_disk(folder)
    mine = FloretVectors(folder)
    theirs = np.stack([vocab.vectors[word] if word else np.zeros(6, np.float32) for word in NASTY])
    assert np.allclose(mine.vectors(NASTY), theirs, rtol=0, atol=5e-6)  # float32, in another order
    assert np.array_equal(mine.vector("é"), mine.vectors(NASTY)[2])
    (tmp_path / "words.txt").write_text("\n".join(NASTY[1:]), "utf-8")
    table = read_vectors(folder, words=tmp_path / "words.txt")
    assert table.words == NASTY[1:]
    assert np.array_equal(table.vectors, mine.vectors(NASTY[1:]))


@given(st.dictionaries(st.integers(0, 2**64 - 1), st.integers(0, 2**40), max_size=40))
def test_maps_of_numbers_are_read_as_msgpack_writes_them(pairs):
    srsly = pytest.importorskip("srsly")
    written = srsly.msgpack_dumps(pairs)
    assert written == msgpack_map(pairs) or len(pairs) > 15  # which has the head of a longer map here
    for content in (written, msgpack_map(pairs)):
        keys, rows = read_key2row(Path("v"), content)
        assert dict(zip(keys.tolist(), rows.tolist(), strict=True)) == pairs


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"vectors.cfg": b'{"mode": "new"}'}, "mode 'new'"),
        ({"vectors.cfg": b"["}, "no JSON"),
        ({"strings.json": b"{}"}, "list of strings"),
        ({"key2row": b"\x81\x01\xa1x"}, "key2row is damaged"),
        ({"key2row": b"\x81\x01\x63"}, "row 99 of 33"),
        ({"vectors": b"\x80\x04."}, "not a numpy array"),
    ],
)
def test_what_is_wrong_is_one_error_that_names_the_file(pipeline, files, problem):
    for name, content in files.items():
        (pipeline / "vocab" / name).write_bytes(content)
    with pytest.raises(FormatError, match=problem):
        read_vectors(pipeline)


def test_a_pipeline_without_vectors_says_which_have_some(pipeline):
    (pipeline / "vocab" / "vectors").unlink()
    with pytest.raises(FormatError, match="take the _md or the _lg one"):
        read_vectors(pipeline)


def test_a_package_that_is_not_installed_is_told_apart_from_a_file():
    with pytest.raises(LovevecError, match="xx_nowhere_md: no such file, nor an installed spaCy package"):
        read_vectors("xx_nowhere_md")


def test_floret_needs_words_and_other_vectors_have_their_own(pipeline, tmp_path):
    (tmp_path / "words.txt").write_text("a\n")
    with pytest.raises(FormatError, match="has its own words"):
        read_vectors(pipeline, words=tmp_path / "words.txt")
    folder = put(floret_vocabulary(np.ones((5, 2), "f")), tmp_path / "vocab")
    with pytest.raises(FormatError, match="say which words"):
        read_vectors(folder)
    with pytest.raises(FormatError, match="read_vectors"):
        FloretVectors(pipeline)
    with pytest.raises(LovevecError, match="mmap=True is for"):
        read_vectors(pipeline, mmap=True)


@pytest.mark.parametrize("settings", [{"minn": 0}, {"maxn": 1}, {"hash_count": 5}, {"hash_seed": -1}, {"bow": 1}])
def test_settings_of_floret_that_cannot_be_are_refused(tmp_path, settings):
    folder = put(floret_vocabulary(np.ones((5, 2), "f"), **settings), tmp_path / "vocab")
    with pytest.raises(FormatError, match=r"vectors\.cfg"):
        FloretVectors(folder)
