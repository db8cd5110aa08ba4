"""What people give as words: lists, arrays, columns of data frames, iterators. What is no list of words is refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError, shown

REPEAT_SAMPLE = 512


def word_list(words: Iterable[str] | NDArray[Any]) -> Sequence[str]:
    """A list or tuple as it is, other things with an order (arrays; columns of pandas, polars, pyarrow) as a list; the
    items are not looked at. A whole data frame is refused: it would give the names of its columns."""
    if isinstance(words, (list, tuple)):
        return words
    if isinstance(words, (str, bytes)):
        raise LovevecError(
            "expected a list of words, not one string; for the vector of one word index with it: love[word]"
        )
    if isinstance(words, Set) and not isinstance(words, type({}.keys())):
        raise LovevecError("a set of words has no order, and rows need one: give a list, as sorted(words)")
    if isinstance(words, np.ndarray):
        if words.ndim != 1:
            raise LovevecError(f"expected one row of words, not an array of shape {words.shape}")
        return list(words.tolist())
    # Asked of the class: a pandas Series has an attribute for each label of its index.
    if hasattr(type(words), "columns") or "columns" in getattr(words, "__dict__", ()):
        raise LovevecError(_frame_message(words))
    try:
        to_pylist = getattr(words, "to_pylist", None)  # of pyarrow, whose own items are no strings
        return list(to_pylist() if callable(to_pylist) else words)
    except TypeError:
        raise LovevecError(f"expected words, a list of strings, not {type(words).__name__}") from None


def check_words(words: Iterable[str] | NDArray[Any], item: str = "word") -> Sequence[str]:
    """As `word_list`; an item that is no string is an error that names it, as an `item`."""
    items = word_list(words)
    refuse_other_than_words(items, item=item)
    return items


def _frame_message(frame: Any) -> str:
    names = getattr(frame, "column_names", None) or list(frame.columns)
    name = json.dumps(next((name for name in names if isinstance(name, str)), "word"), ensure_ascii=False)
    return f"expected words, not a whole {type(frame).__name__}: give one of its columns, as frame[{name}]"


def in_batches(words: Iterator[str], size: int) -> Iterator[list[str]]:
    """Cut a stream of words into lists of `size`, the last one shorter."""
    while part := list(islice(words, size)):
        yield part


def repeats(words: Sequence[str]) -> bool:
    """Whether half of the words stand there more than once, judged by some of them: running text, not a word list."""
    if len(words) < REPEAT_SAMPLE:
        return False
    sample = words[:: len(words) // REPEAT_SAMPLE]
    return len(set(sample)) < len(sample) // 2


def refuse_other_than_words(words: Sequence[object], first: int = 0, item: str = "word") -> None:
    """Raise where an item is no string, naming the first such item: it is called `item`, and counted from `first`."""
    for index, word in enumerate(words, first):
        if not isinstance(word, str):
            raise LovevecError(f"{item} {index} is not a string but {type(word).__name__}: {shown(word)}")
