"""Attached: somebody's word vectors, with a model behind them for the words that they lack.

robust = love.attach("glove.6B.100d.txt")
robust["misspelling"]                # GloVe's own row, bit for bit
robust["mispelling"]                 # the mean over its readings: of GloVe's rows, and of an imputed vector
robust.near("mispelling")            # [("misspelling", 0.97), …]: GloVe's words that may be meant
robust.known(["the", "mispelling"])  # [True, False]

| the word | its vector |
|---|---|
| is in the table | its row, untouched |
| is there in lower case only (`Apple` where `apple` is), or in another form (near/forms.py) | the row of that word |
| is not there, but the model knows it | imputed by the model, no misspelling |
| is not there | Σ p(word) · the word's row + p(new) · imputed, by the model's channel over the table's words |

Case is bridged this way round only: measured (lab/runs/attach.py), the row of `apple` is nearer to `Apple` than an
imputed one, the row of `Apple` is farther from `apple`.

Rows of zeros, of NaN or Inf, and repeated words are no part of the table (see `lovevec.vectors`); `metadata` counts
them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from lovevec.attach.lengths import ConfidenceLength, at_length, fit_lengths
from lovevec.attach.neighbors import known_neighbors
from lovevec.attach.sample import Model, shared_words
from lovevec.attach.space import SpaceOption, fit_space
from lovevec.engine.nearest import NeighborIndex
from lovevec.engine.threads import in_chunks
from lovevec.errors import LovevecError
from lovevec.files.tensors import lengths_of
from lovevec.near.forms import look_up
from lovevec.near.reader import Reader, ReadsStrings
from lovevec.near.readings import Readings, add_known_rows, all_new
from lovevec.texts.encoder import EncodesTexts, Source, TextEncoder
from lovevec.units.words import check_words
from lovevec.vectors import VectorTable, read_vectors
from lovevec.vectors.memory import table_from_memory
from lovevec.vectors.rows import normalized

Floats = NDArray[np.float32]
CHUNK = 10_240  # words, at least, whose readings and spelled vectors are made together; the rest is done in parts
PART = 2048
MANY_WORDS = 2000  # fewer are not worth importing numba for; the bits are the same


class Spelled(NamedTuple):
    """What the model makes of words by their spelling: unit rows, and what they were long before, where that counts."""

    vectors: Floats
    lengths: Floats | None

    def part(self, which: slice) -> Spelled:
        """Of some words."""
        return Spelled(self.vectors[which], None if self.lengths is None else self.lengths[which])


class Attached(EncodesTexts, ReadsStrings):
    """Word vectors that have a vector for any word. Immutable, safe to share between threads.

    `vectors` is gensim's KeyedVectors (or a model with `.wv`), a dict of word to row, a pair (words, matrix), a
    VectorTable, or a path to a vector file. A float32 matrix is used in place, so do not change it afterwards; so is
    the file of a mapped table, `read_vectors(path, mmap=True)`, float16 or float32.
    `space` is "direct" when the model was trained on these very vectors, "mapped" when it lives in another space,
    and is found out by default. `lowercase=False` imputes `Apple` also where `apple` is known. `by_confidence=False`
    leaves vectors their usual length, however unsure the model is of them. `near=False` imputes misspellings
    too, as the paper does; so does a model that reads by spelling only.
    """

    def __init__(
        self,
        model: Model,
        vectors: Any,
        *,
        space: SpaceOption = "auto",
        lowercase: bool = True,
        by_confidence: bool = True,
        near: bool = True,
    ) -> None:
        table = _table(vectors)
        self.model, self.dim = model, table.dim
        vectors, norms = _read_only(table.vectors), lengths_of(table.vectors)
        self._known = NeighborIndex(tuple(table.words), vectors, norms)
        self._lowercase = lowercase
        self._impute_words: Callable[..., Floats] = getattr(model, "impute", model.embed)
        channel = getattr(model, "channel", None) if near else None
        self._reader = None if channel is None else Reader(self._known.words, channel)
        sample = shared_words(model, self._impute_words, self._known.place, vectors)
        self._space = fit_space(sample, space, lambda: known_neighbors(self._impute_words, table.words, vectors))
        self._lengths = fit_lengths(sample, norms)
        self._confidence = ConfidenceLength(model) if by_confidence else None
        self._dropped = table.report.lines()[1:]

    @property
    def words(self) -> Sequence[str]:
        """The known words, in the table's order."""
        return self._known.words

    @property
    def vectors(self) -> Floats:
        """The known words' own vectors, row for row with `words`, read-only."""
        vectors = self._known.vectors
        assert isinstance(vectors, np.ndarray)  # a table's rows are no codes
        return vectors

    @property
    def metadata(self) -> dict[str, Any]:
        """What was found and done at attaching: the space, how well imputed vectors fit it, how lengths are chosen."""
        return {
            "words": len(self),
            "dim": self.dim,
            **self._space.metadata,
            "length": {**self._lengths.metadata, "by confidence": bool(self._confidence and self._confidence.known)},
            "dropped": self._dropped,
        }

    def __repr__(self) -> str:
        return f"Attached({len(self):,} words × {self.dim}; {self._space.summary}; {self._lengths.summary})"

    def __len__(self) -> int:
        """How many words have a vector of their own."""
        return len(self._known.words)

    def __contains__(self, word: object) -> bool:
        """Whether this very word, in this case, has a vector of its own."""
        return word in self._known.place

    def __getitem__(self, word: str) -> Floats:
        """The vector of one word, whatever it is: its own, or an imputed one."""
        if not isinstance(word, str):
            raise LovevecError(f"robust[word] takes one word; for {type(word).__name__} use robust.embed(words)")
        vector: Floats = self.embed([word])[0]
        return vector

    def known(self, words: Iterable[str]) -> NDArray[np.bool_]:
        """Which of the words have a vector of their own: [len(words)]."""
        return np.array([word in self._known.place for word in check_words(words)], dtype=np.bool_)

    def embed(self, words: Iterable[str]) -> Floats:
        """Vectors for any strings, [len(words), dim]: their own where known, else imputed."""
        words = check_words(words)
        row, lacking = self._look_up(words)
        place = {word: number for number, word in enumerate(dict.fromkeys(lacking))}
        unknown = self._unknown(list(place))
        if len(place) == len(words):
            return unknown
        result = np.empty((len(words), self.dim), dtype=np.float32)
        have = row >= 0
        result[have] = self._own(row[have])
        result[~have] = unknown[[place[word] for word in lacking]]
        return result

    def warm_up(self) -> None:
        """Make now what the first call with many unknown words makes; see `LOVE.warm_up`."""
        if self._reader is not None:
            self._reader.warm_up()

    @cached_property
    def _texts(self) -> TextEncoder:
        known = (self.words, self.dim, self._known.place, self._is_known, self._look_up)
        assert self._known.lengths is not None
        length = float(np.mean(self._known.lengths)) if len(self) else 1.0
        source = Source(*known, self.read, self._own, self._impute, length)
        return TextEncoder(source, None, self._for_many == "numba")

    def _own(self, rows: NDArray[np.integer]) -> Floats:
        """Some known words' own vectors, as float32."""
        vectors: Floats = self.vectors[rows].astype(np.float32, copy=False)
        return vectors

    def _is_known(self, word: str) -> bool:
        return bool(self._look_up([word])[0][0] >= 0)

    @property
    def warning(self) -> str | None:
        """What has to be known before imputed vectors are used: that they could not be mapped; mostly None."""
        return self._space.warning

    def confidence(self, words: Iterable[str]) -> NDArray[np.float64]:
        """The probability that each word's vector is right, as `LOVE.confidence`: 1 for known words, for others by
        their readings, and for what is imputed by how well the map does. NaN where the model has no calibration."""
        listed = check_words(words)
        rows, lacking = self._look_up(listed)
        return self._sureness(listed, rows, lacking, self.read(lacking))

    def _sureness(
        self, words: Sequence[str], rows: NDArray[np.int64], lacking: Sequence[str], reading: Readings
    ) -> NDArray[np.float64]:
        result = np.ones(len(rows))
        judge = getattr(self.model, "judge", None)
        if lacking:
            result[rows < 0] = np.nan if judge is None else judge(lacking, reading, self._space.quality)
        return result

    @overload
    def neighbors(self, word: str, k: int = ..., approximate: bool | None = ...) -> list[tuple[str, float]]: ...  # type: ignore[overload-overlap]
    @overload
    def neighbors(self, word: NDArray[Any], k: int = ..., approximate: bool | None = ...) -> list[Any]: ...
    @overload
    def neighbors(
        self, word: Iterable[str], k: int = ..., approximate: bool | None = ...
    ) -> list[list[tuple[str, float]]]: ...
    def neighbors(
        self, word: str | Iterable[str] | NDArray[Any], k: int = 5, approximate: bool | None = None
    ) -> list[tuple[str, float]] | list[list[tuple[str, float]]]:
        """The k known words whose own vectors are nearest, with their cosine; the word itself is left out. Of words
        equally near the first in the table comes first. For a list of words a list for each; an empty word has none.
        An array of numbers is a vector, [dim], or several, [n, dim]; `approximate` is as in `LOVE.neighbors`."""
        return self._known.neighbors(word, k, lambda words: normalized(self.embed(words)), approximate=approximate)

    def _look_up(self, words: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
        """The row of each word, or of the word that it is a form of, else -1; and the others, as they are read."""
        return look_up(words, self._known.place.get, self._lowercase)

    def read(self, strings: Sequence[str]) -> Readings:
        """The readings of strings that the table lacks; what the model knows is no misspelling."""
        if self._reader is None:
            return all_new(len(strings))
        reading = self._reader.by(strings, self._for_many, self._threads)
        return reading.as_new(np.fromiter(map(self._is_a_word, strings), dtype=np.bool_, count=len(strings)))

    def _is_a_word(self, string: str) -> bool:
        """Whether a string that the table lacks is no misspelling: the model knows it, or case is not bridged."""
        in_other_case = not self._lowercase and string.lower() in self._known.place
        return in_other_case or string in self.model  # type: ignore[operator]

    def _unknown(self, strings: Sequence[str]) -> Floats:
        """Vectors of words that the table lacks: the mean over their readings."""
        result = np.empty((len(strings), self.dim), dtype=np.float32)
        cuts = [*range(0, max(len(strings) - CHUNK, 0) + 1, CHUNK), len(strings)] if strings else []
        for low, high in pairwise(cuts):  # the last may be twice as long: a short rest would be slow
            chunk, vectors = strings[low:high], result[low:high]
            reading, spelled = self.read(chunk), self._spelled(chunk)

            def mix(
                part: slice,
                chunk: Sequence[str] = chunk,
                reading: Readings = reading,
                spelled: Spelled = spelled,
                vectors: Floats = vectors,
            ) -> None:
                vectors[part] = self._mixed(chunk[part], reading.part(part), spelled.part(part))

            in_chunks(mix, len(chunk), PART, self._threads)
        return result

    def _mixed(self, strings: Sequence[str], reading: Readings, spelled: Spelled) -> Floats:
        """The mean over readings."""
        imputed = self._imputed(strings, spelled)
        vectors: Floats = imputed * reading.new.astype(np.float32)[:, None]
        add_known_rows(vectors, reading, self._own)
        if self._confidence is None or not self._confidence.known:
            vectors = at_length(vectors, self._mean_lengths(reading, lengths_of(imputed)))
        return vectors

    def _mean_lengths(self, reading: Readings, imputed: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ p(word) · length of its row + p(new) · length of the imputed: a mean of vectors is shorter than they, which
        tells doubt; this does not."""
        assert self._known.lengths is not None
        own = np.where(reading.rows >= 0, self._known.lengths[reading.rows], 0.0)
        lengths: NDArray[np.float64] = (reading.probabilities * own).sum(axis=1) + reading.new * imputed
        return lengths

    def _impute(self, words: Sequence[str]) -> Floats:
        """What the model makes of words: a direction in the table's space, times a length."""
        result, spelled = np.empty((len(words), self.dim), dtype=np.float32), self._spelled(words)

        def run(part: slice) -> None:
            result[part] = self._imputed(words[part], spelled.part(part))

        in_chunks(run, len(words), PART, self._threads)
        return result

    def _spelled(self, words: Sequence[str]) -> Spelled:
        """The model's vectors of words; their lengths only where the model judges vectors by them."""
        if self._confidence is None or not self._confidence.by_length:
            return Spelled(self._impute_words(words), None)
        lengths = np.empty(len(words), dtype=np.float32)
        return Spelled(self._impute_words(words, lengths), lengths)

    def _imputed(self, words: Sequence[str], spelled: Spelled) -> Floats:
        """The model's vectors of words in the table's space, at their lengths."""
        lengths = self._lengths(spelled.vectors)
        if self._confidence is not None:
            lengths = lengths * self._confidence(words, *([] if spelled.lengths is None else [spelled.lengths]))
        by_numba = self._for_many == "numba" and (len(words) >= MANY_WORDS or "numba" in sys.modules)
        return self._space(spelled.vectors, by_numba=by_numba) * lengths[:, None]

    @property
    def _threads(self) -> int:
        return getattr(getattr(self.model, "engine", None), "threads", None) or 1

    @property
    def _for_many(self) -> str:
        return getattr(getattr(self.model, "engine", None), "for_many", "numpy")


def _table(vectors: Any) -> VectorTable:
    """The words and rows of whatever was given; odd rows are dropped and reported."""
    if isinstance(vectors, (str, os.PathLike)):
        return read_vectors(vectors)
    if isinstance(vectors, VectorTable) and vectors.mapped:
        return vectors  # its rows were checked when it was mapped
    table = table_from_memory(vectors, None)[0]
    if not len(table):
        raise LovevecError("no usable row among the vectors: " + "; ".join(table.report.lines()[1:]))
    return table


def _read_only(vectors: Floats) -> Floats:
    """The same memory under a handle that cannot write, so that nothing of ours changes the caller's rows."""
    view = vectors.view()
    view.flags.writeable = False
    return view
