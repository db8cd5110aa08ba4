"""What stands for a list of words: columns do, whole data frames do not."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from lovevec import LOVE, LovevecError
from lovevec.units.words import word_list

WORDS = ["one", "zwei", "naïve", "plogrick"]
VERBS = ("embed", "__getitem__", "encode", "near", "neighbors", "readings", "confidence")


class Frame:
    """What pandas and polars have in common: `columns` are names, and iterating gives them or the columns."""

    def __init__(self, **columns: list[str]) -> None:
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)


class Series:
    """A column of pandas has its labels as attributes: one of them may be `columns`."""

    def __iter__(self) -> Iterator[str]:
        return iter(WORDS)

    def __getattr__(self, name: str) -> str:
        if name == "columns":
            return "a label"
        raise AttributeError(name)


def columns_of(package: str) -> list[object]:
    made = pytest.importorskip(package)
    if package == "pyarrow":
        chunked = made.chunked_array([WORDS[:1], WORDS[1:]])
        return [made.array(WORDS), chunked, chunked.dictionary_encode(), made.table({"w": WORDS})["w"]]
    return [made.Series(WORDS), made.Series(WORDS, dtype="category" if package == "pandas" else made.Categorical)]


def frames_of(package: str) -> list[object]:
    made = pytest.importorskip(package)
    columns = {"word": WORDS, "n": [1, 2, 3, 4]}
    if package == "pyarrow":
        return [made.table(columns), made.record_batch(columns)]
    return [made.DataFrame(columns)] + ([made.LazyFrame(columns)] if package == "polars" else [])


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_columns_are_lists_of_words(shipped_love: LOVE, package):
    expected = shipped_love.embed(WORDS)
    for column in columns_of(package):
        assert word_list(column) == WORDS
        assert np.array_equal(shipped_love.embed(column), expected)
        assert shipped_love.near(column) == shipped_love.near(WORDS)


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("verb", VERBS)
def test_frames_are_refused_and_a_column_is_named(shipped_love: LOVE, package, verb):
    for frame in frames_of(package):
        with pytest.raises(LovevecError, match=re.escape('frame["word"]')):
            getattr(shipped_love, verb)(frame)


@pytest.mark.parametrize("verb", VERBS)
def test_anything_with_columns_is_a_frame(shipped_love: LOVE, verb):
    with pytest.raises(LovevecError, match=re.escape('not a whole Frame: give one of its columns, as frame["größe"]')):
        getattr(shipped_love, verb)(Frame(größe=WORDS, n=WORDS))


def test_a_label_named_columns_does_not_make_a_frame():
    assert Series().columns == "a label"
    assert word_list(Series()) == WORDS  # type: ignore[arg-type]


def test_missing_words_of_a_column_are_named_by_their_place(shipped_love: LOVE):
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(LovevecError, match="word 1 is not a string but NoneType"):
        shipped_love.embed(pyarrow.array(["a", None]))
