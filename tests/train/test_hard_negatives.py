"""Hard negatives: against sorting all distances, on made-up words, small alphabets and nasty strings."""

from __future__ import annotations

import io
import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from lovevec.errors import LovevecError, MissingExtra
from lovevec.progress import Progress
from lovevec.train import hard_negatives as module
from lovevec.train.hard_negatives import hard_negatives
from lovevec.train.synonyms import find_synonyms
from lovevec.units.ragged import Ragged


def made_up(count: int, seed: int = 0) -> list[str]:
    """Syllables, and as many words again that are one to three edits away from them."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("eeeetttaaooiinnsshhrrdlucmfwypvbgkqjxz"))
    words: dict[str, None] = {}
    while len(words) < count:
        word = "".join(rng.choice(letters, rng.integers(1, 14)))
        words[word] = None
        for _ in range(rng.integers(1, 4)):
            at = int(rng.integers(0, len(word) + 1))
            word = word[:at] + str(rng.choice(["", *letters])) + word[at + int(rng.integers(0, 2)) :]
        words[word] = None
    return list(words)[:count]


def by_sorting(words: list[str], distances: np.ndarray, k: int, banned: np.ndarray | None = None) -> np.ndarray:
    """The definition: sort all others by (distance, difference of length, row), cut at k."""
    lengths = np.array([len(word) for word in words])
    result = np.full((len(words), k), -1)
    for i, row in enumerate(distances):
        others = np.lexsort((np.abs(lengths - lengths[i]), row))
        allowed = row[others] > 0
        if banned is not None:
            allowed &= ~banned[i][others]
        others = others[allowed][:k]
        result[i, : len(others)] = others
    return result


def all_distances(words: list[str]) -> np.ndarray:
    return np.asarray(cdist(words, list(words), scorer=Levenshtein.distance, dtype=np.int32))


@cache
def edits(a: str, b: str) -> int:
    """Levenshtein distance by its own recursion, as an oracle that shares nothing with rapidfuzz."""
    if not a or not b:
        return len(a) + len(b)
    return min(edits(a[1:], b) + 1, edits(a, b[1:]) + 1, edits(a[1:], b[1:]) + (a[0] != b[0]))


def as_synonyms(pairs: set[tuple[int, int]], count: int) -> Ragged:
    ordered = sorted(pairs)
    counts = np.bincount([i for i, _ in ordered], minlength=count) if ordered else np.zeros(count, np.int64)
    return Ragged.from_lengths(np.array([j for _, j in ordered], np.int32), counts)


@pytest.fixture(scope="module")
def words() -> list[str]:
    return made_up(2000)


@pytest.mark.parametrize("k", [1, 10, 100])
def test_equals_sorting_all_distances(words: list[str], k: int) -> None:
    np.testing.assert_array_equal(hard_negatives(words, k=k), by_sorting(words, all_distances(words), k))


def test_synonyms_are_never_negatives_in_either_direction(words: list[str]) -> None:
    vectors = np.random.default_rng(1).standard_normal((len(words), 4))
    synonyms = find_synonyms(vectors, similarity=0.9, most=20)
    negatives = hard_negatives(words, synonyms)
    banned = np.zeros((len(words), len(words)), bool)
    for row in range(len(words)):
        banned[row, synonyms.row(row)] = True
    banned |= banned.T
    assert not banned[np.arange(len(words))[:, None], negatives].any()
    np.testing.assert_array_equal(negatives, by_sorting(words, all_distances(words), 100, banned))


def test_threads_and_tiles_do_not_matter(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    expected = hard_negatives(words, k=20, workers=1)
    np.testing.assert_array_equal(hard_negatives(words, k=20, workers=5), expected)
    for name, value in {"STRIP": 17, "TILE": 190, "FIRST_TILE": 3}.items():
        monkeypatch.setattr(module, name, value)
    np.testing.assert_array_equal(hard_negatives(words, k=20, workers=3), expected)


@given(
    words=st.lists(st.text(alphabet="abé\U0001f600\ud800", max_size=5), max_size=14),
    k=st.integers(1, 16),
    data=st.data(),
)
def test_small_alphabets_with_ties_copies_and_synonyms(words: list[str], k: int, data: st.DataObject) -> None:
    count = len(words)
    pairs: set[tuple[int, int]] = set()
    if count > 1:
        one = st.integers(0, count - 1)
        pairs = {(i, j) for i, j in data.draw(st.sets(st.tuples(one, one), max_size=20)) if i != j}
    banned = np.zeros((count, count), bool)
    for i, j in pairs:
        banned[i, j] = banned[j, i] = True
    distances = np.array([[edits(a, b) for b in words] for a in words]).reshape(count, count)
    found = hard_negatives(words, as_synonyms(pairs, count), k=k, workers=1)
    np.testing.assert_array_equal(found, by_sorting(words, distances, k, banned))


def test_nasty_strings() -> None:
    letters = "abcdefgh"
    words = ["", " ", "\0", "\ud800", "\udfff\ud800", "\U0001f600", "é", "e\u0301", "ab", "ba", "abc"]
    words += [letters[i:] * size + letters[:i] for size in (7, 8, 9, 31, 32, 33, 150) for i in range(4)]
    words += ["long" * 5000, "gnol" * 5000, "long" * 4999 + "lung"]
    distances = all_distances(words)
    assert distances.max() == 20_000
    for k in (3, len(words) - 1, 100):
        np.testing.assert_array_equal(hard_negatives(words, k=k), by_sorting(words, distances, k))


def test_few_words() -> None:
    assert hard_negatives([]).shape == (0, 100)
    assert hard_negatives(["alone"], k=2).tolist() == [[-1, -1]]
    assert hard_negatives(["a", "a", "b"], k=3).tolist() == [[2, -1, -1], [2, -1, -1], [0, 1, -1]]
    assert hard_negatives(("kitten", "sitting", "mitten"), k=2).dtype == np.int32


def test_wrong_calls_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LovevecError, match="at least 1"):
        hard_negatives(["a"], k=0)
    with pytest.raises(LovevecError, match="synonyms of 2 words do not fit 1"):
        hard_negatives(["a"], as_synonyms(set(), 2))
    monkeypatch.setitem(sys.modules, "rapidfuzz.process", None)
    with pytest.raises(MissingExtra, match=r"lovevec\[train\]"):
        hard_negatives(["a"])


def test_progress_counts_every_word(words: list[str]) -> None:
    stream = io.StringIO()
    hard_negatives(words[:500], progress=Progress(stream=stream))
    assert "hard negatives" in stream.getvalue()
    assert "500 words" in stream.getvalue()


@given(st.lists(st.text("abc", max_size=6), min_size=2, max_size=40), st.integers(1, 8), st.integers(0, 3))
def test_where_all_stand_near_neighborhoods_are_exact(words, k, synonyms):
    rng = np.random.default_rng(len(words))
    lists = [rng.choice(len(words), min(synonyms, len(words)), replace=False).tolist() for _ in words]
    flat = np.array([row for one in lists for row in one], dtype=np.int32)
    banned = Ragged.from_lengths(flat, np.array([len(one) for one in lists]))
    nearby = hard_negatives(words, banned, k=k, exact=False)
    np.testing.assert_array_equal(nearby, hard_negatives(words, banned, k=k, exact=True))


def test_neighborhoods_find_most_of_the_nearest(monkeypatch):
    words = made_up(6000)
    monkeypatch.setattr(module, "WITHIN", 250)
    exact = hard_negatives(words, k=20)
    monkeypatch.setattr(module, "EXACT_BELOW", 6000)
    nearby = hard_negatives(words, k=20)
    shares = [len(set(one) & set(other)) / 20 for one, other in zip(nearby.tolist(), exact.tolist(), strict=True)]
    assert 0.6 < np.mean(shares) < 1
    assert (np.sort(nearby, axis=1)[:, 1:] != np.sort(nearby, axis=1)[:, :-1]).all()  # nobody twice
    assert (nearby != np.arange(6000)[:, None]).all()
    one, other = hard_negatives(words, k=20, workers=1), hard_negatives(words, k=20, workers=3)
    np.testing.assert_array_equal(one, other)


def test_neighborhoods_of_very_long_words():
    words = ["a" * 300, "a" * 301, "b" * 400, "", "ab"]
    found = hard_negatives(words, k=3, exact=False)
    assert found[0].tolist() == [1, -1, -1]  # more than 254 edits away is no look-alike
    assert found[3].tolist() == [4, -1, -1]
