"""What people give as words: lists, arrays, iterators; and what is none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError

SAMPLE = 512


def word_list(words: Iterable[str] | NDArray[Any]) -> Sequence[str]:
    """A list or tuple as it is, other things with an order as a list; the items are not looked at."""
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
        listed: list[str] = words.tolist()
        return listed
    try:
        return list(words)
    except TypeError:
        raise LovevecError(f"expected words, a list of strings, not {type(words).__name__}") from None


def in_batches(words: Iterator[str], size: int) -> Iterator[list[str]]:
    """Lists of `size` words, the last one shorter."""
    while part := list(islice(words, size)):
        yield part


def repeats(words: Sequence[str]) -> bool:
    """Whether half of the words stand there more than once, judged by some of them: running text, not a word list."""
    if len(words) < SAMPLE:
        return False
    sample = words[:: len(words) // SAMPLE]
    return len(set(sample)) < len(sample) // 2


def refuse_other_than_words(words: Sequence[object], first: int = 0) -> None:
    """An error that names the first item that is no string, if there is one."""
    for index, word in enumerate(words, first):
        if not isinstance(word, str):
            raise LovevecError(f"word {index} is not a string but {type(word).__name__}: {word!r:.60}")
