"""Tables that are in memory: pairs, dicts, gensim's KeyedVectors. They meet the same rules as files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.vectors.read.builder import RowPolicy
from lovevec.vectors.read.words import mask_surrogates
from lovevec.vectors.rows import keep_rows
from lovevec.vectors.table import ReadReport, VectorTable

ROWS_PER_CHECK = 4096
ACCEPTED = "a path, a VectorTable, (words, vectors), a dict of word to vector, or gensim's KeyedVectors"


def table_from_memory(source: Any, limit: int | None) -> tuple[VectorTable, bool]:
    """Make a table of anything that holds words and vectors, of the first `limit` usable rows; also say whether its
    array is ours to change."""
    names, table, owned = _find_pair(source)
    report = ReadReport("memory", dim=table.shape[1])
    policy = RowPolicy(report)
    words = mask_surrogates(names)
    keep = np.zeros(len(words), bool)
    for start in range(0, len(words), ROWS_PER_CHECK):
        room = None if limit is None else limit - report.kept
        if room == 0:
            break
        batch = words[start : start + ROWS_PER_CHECK]
        places = range(start + 1, start + 1 + len(batch))
        kept = policy.choose(batch, table[start : start + ROWS_PER_CHECK], places, room)
        keep[[start + row for row in kept]] = True
    if isinstance(source, VectorTable):
        report.follow(source.report)
    vectors = keep_rows(table, keep, owned)
    return VectorTable(list(policy.words), vectors, report), owned or vectors is not table


def _find_pair(source: Any) -> tuple[list[str], NDArray[np.float32], bool]:
    """Words and vectors as they came, and whether the array was made here and is nobody else's."""
    words: Any
    vectors: Any
    if isinstance(source, VectorTable):
        words, vectors = source.words, source.vectors
    elif isinstance(source, Mapping):
        words, vectors = source.keys(), list(source.values())
    elif hasattr(source, "wv"):
        return _find_pair(source.wv)
    elif hasattr(source, "index_to_key") and hasattr(source, "vectors"):
        words, vectors = source.index_to_key, source.vectors
    elif isinstance(source, (tuple, list)) and len(source) == 2:
        words, vectors = source
    else:
        raise LovevecError(f"word vectors come as {ACCEPTED}; {type(source).__name__} is none of these")
    array = _as_array(vectors)
    names = _as_words(words)
    if len(names) != len(array):
        raise LovevecError(f"{len(names):,} words and {len(array):,} vectors: one for each is needed")
    return names, array, not isinstance(vectors, np.ndarray) or not np.shares_memory(array, vectors)


def _as_words(words: Iterable[Any]) -> list[str]:
    if isinstance(words, (str, bytes)) or not isinstance(words, Iterable):
        raise LovevecError(f"words must be a list of strings, not {type(words).__name__}")
    names = list(words)
    for word in names:
        if not isinstance(word, str):
            raise LovevecError(f"words must be strings, {word!r} is {type(word).__name__}")
    return names


def _as_array(vectors: Any) -> NDArray[np.float32]:
    try:
        array = np.asarray(vectors)
    except (ValueError, TypeError, RuntimeError) as error:
        raise LovevecError(f"word vectors must be one array [words, numbers]: {error}") from None
    if array.dtype.kind not in "fiu":
        raise LovevecError(f"word vectors must be numbers, not {array.dtype}")
    if array.ndim != 2 or min(array.shape) < 1:
        raise LovevecError(f"word vectors must have the shape [words, numbers], not {array.shape}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, np.float32)
