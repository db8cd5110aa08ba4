"""What a model has learned of words that arrived (learn.py), so that more texts can go on from there.

Of each word how often it came, and of up to MAX_CONTEXTS of these places the sums of what the sentences said, in whole
numbers: sums of whole numbers are the same in any order and however many goes they were made in. Words that have not
come often enough for a row wait here, the most frequent of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import reason
from lovevec.near.context import Context

MAX_CONTEXTS = 127  # of a word, whose sums are kept: more would say the same
MAX_STEP = 256  # of what one of them adds, so that all sums fit into 16 bits
MAX_COUNT = 1 << 53
MAX_WAITING = 2048  # words without a row that are kept with a model: 2.5 MB where it has 300 dimensions
KNOWN, NAMED = 1, 2  # bits of `status`: the word has a row; somebody named it
TENSORS = {"words": "uint8", "status": "uint8", "counts": "int64", "contexts": "int32", "expected": "int16",
           "around": "int16", "read": "int64", "origin": "uint8"}  # fmt: skip
ORIGIN_BYTES = 32


@dataclass(frozen=True, eq=False)
class Learned:
    """
    :param words: those that have arrived, the most frequent first.
    :param status: [words] KNOWN, NAMED, both or 0.
    :param counts: [words] how often each came.
    :param contexts: [words] at how many of these places its sentence was looked at.
    :param expected: [words, dim] the sums of where sentences expect the word among the vectors (near/context.py).
    :param around: [words, dim] the sums of the weighted means of the rows of the words around it.
    :param read: how many texts and how many words were read in all.
    :param origin: the model of context that `expected` is from.
    """

    words: tuple[str, ...]
    status: NDArray[np.uint8]
    counts: NDArray[np.int64]
    contexts: NDArray[np.int32]
    expected: NDArray[np.int16]
    around: NDArray[np.int16]
    read: tuple[int, int]
    origin: bytes

    def __post_init__(self) -> None:
        for array in (self.status, self.counts, self.contexts, self.expected, self.around):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.words)

    @property
    def known(self) -> NDArray[np.int64]:
        """The numbers of the words that have a row."""
        return np.flatnonzero(self.status & KNOWN)

    @property
    def known_words(self) -> list[str]:
        return [self.words[place] for place in self.known.tolist()]

    def take(self, places: Sequence[int] | NDArray[np.integer]) -> Learned:
        """Some of the words, in this order."""
        chosen = np.asarray(places, dtype=np.int64)
        return replace(
            self,
            words=tuple(self.words[place] for place in chosen.tolist()),
            status=self.status[chosen],
            counts=self.counts[chosen],
            contexts=self.contexts[chosen],
            expected=self.expected[chosen],
            around=self.around[chosen],
        )

    def in_order(self) -> Learned:
        """The most frequent words first, those of one frequency by the alphabet; of the waiting ones MAX_WAITING."""
        order = sorted(range(len(self)), key=lambda place: (-int(self.counts[place]), self.words[place]))
        known = (self.status & KNOWN).astype(bool)
        waiting = set([place for place in order if not known[place]][:MAX_WAITING])
        return self.take([place for place in order if known[place] or place in waiting])

    def without(self, words: Sequence[str]) -> Learned:
        dropped = set(words)
        return self.take([place for place, word in enumerate(self.words) if word not in dropped])

    def tensors(self) -> dict[str, NDArray[Any]]:
        texts = np.frombuffer(json.dumps(self.words).encode("ascii"), dtype=np.uint8)
        read, origin = np.array(self.read, dtype=np.int64), np.frombuffer(self.origin, dtype=np.uint8)
        arrays = {name: getattr(self, name) for name in ("status", "counts", "contexts", "expected", "around")}
        return {"words": texts, **arrays, "read": read, "origin": origin}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]], dim: int) -> Learned:
        """The inverse of `tensors`, for rows of `dim` dimensions; a ValueError says what is wrong with them."""
        if {name: tensor.dtype.name for name, tensor in tensors.items()} != TENSORS:
            raise ValueError("its tensors are not those of words that were learned")
        try:
            words = json.loads(tensors["words"].tobytes())
        except (ValueError, RecursionError) as error:
            raise ValueError(f"its words are not readable as JSON ({reason(error)})") from None
        if not isinstance(words, list) or not set(map(type, words)) <= {str} or len(set(words)) != len(words):
            raise ValueError("its words are no list of words, each once")
        shapes = dict.fromkeys(("status", "counts", "contexts"), (len(words),))
        sums = dict.fromkeys(("expected", "around"), (len(words), dim))
        for name, shape in {**shapes, **sums, "read": (2,), "origin": (ORIGIN_BYTES,)}.items():
            if tensors[name].shape != shape:
                raise ValueError(f"{name} of the shape {tensors[name].shape} for {len(words):,} words")
        counts, contexts, read = tensors["counts"], tensors["contexts"], tensors["read"]
        sane = (counts > 0).all() and (counts <= MAX_COUNT).all() and (contexts >= 0).all()
        sane = sane and (contexts <= np.minimum(counts, MAX_CONTEXTS)).all()
        sane = sane and (tensors["status"] <= KNOWN + NAMED).all() and ((read >= 0) & (read <= MAX_COUNT)).all()
        for name in sums:
            sane = sane and (np.abs(tensors[name].astype(np.int32)) <= MAX_STEP * contexts[:, None]).all()
        if not sane:
            raise ValueError("holds numbers that no reading of texts gives")
        arrays: dict[str, Any] = {name: tensors[name] for name in (*shapes, *sums)}
        return cls(tuple(words), **arrays, read=(int(read[0]), int(read[1])), origin=tensors["origin"].tobytes())

    @classmethod
    def nothing(cls, context: Context) -> Learned:
        dim = context.dim
        numbers = np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int32)
        sums = np.zeros((0, dim), np.int16), np.zeros((0, dim), np.int16)
        return cls((), *numbers, *sums, (0, 0), origin_of(context))

    def with_rows_for(self, min_count: int, words: frozenset[str] | None) -> Learned:
        """The same, where all words that came `min_count` times have a row; of the `words` alone, where these are
        named."""
        often = self.counts >= min_count
        if words is not None:
            often &= np.fromiter((word in words for word in self.words), np.bool_, len(self))
        return replace(self, status=self.status | np.where(often, np.uint8(KNOWN), np.uint8(0)))


def origin_of(context: Context) -> bytes:
    """By what a model of context is known again."""
    digest = hashlib.sha256()
    for name, tensor in sorted(context.tensors().items()):
        digest.update(name.encode() + np.ascontiguousarray(tensor).tobytes())
    return digest.digest()
