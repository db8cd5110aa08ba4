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
| is not there, but the model knows it | imputed by the model, no misspelling; what it learned from texts: its row |
| is not there | Σ p(word) · the word's row + p(new) · imputed, by the model's channel over the table's words |

Case is bridged this way round only: measured (lab/runs/attach.py), the row of `apple` is nearer to `Apple` than an
imputed one, the row of `Apple` is farther from `apple`.

Rows of zeros, of NaN or Inf, and repeated words are no part of the table (see `lovevec.vectors`); `metadata` counts
them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.arguments import check_flags
from lovevec.attach.backing import BackingModel, PlainModel
from lovevec.attach.folder import AttachedParts, read_attached, write_attached
from lovevec.attach.lengths import ConfidenceLength, fit_lengths
from lovevec.attach.neighbors import find_known_neighbors
from lovevec.attach.space import SpaceOption, fit_space, shared_words
from lovevec.damage.languages import ENGLISH
from lovevec.engine.compiled import core
from lovevec.engine.nearest import NeighborIndex, is_zero
from lovevec.engine.threads import in_chunks
from lovevec.engine.word_map import CompiledWordMap
from lovevec.errors import LovevecError
from lovevec.files.tensors import lengths_of
from lovevec.learn import LearnsWords
from lovevec.near.forms import look_up
from lovevec.near.parts import UNKNOWN, Composite
from lovevec.near.reader import Reader
from lovevec.near.readings import MIN_PROBABILITY, Readings, all_new, mix_readings
from lovevec.texts.encoder import TextEncoder
from lovevec.texts.sentence import Sentences
from lovevec.texts.text_reader import WordSource
from lovevec.units.words import refuse_other_than_words
from lovevec.vectors import VectorTable, read_vectors
from lovevec.vectors.memory import table_from_memory
from lovevec.vectors.rows import normalized, scale_to
from lovevec.word_vectors import Lookup, WordVectors

if TYPE_CHECKING:
    from lovevec._core import Rows
    from lovevec.explain import Explanation

Floats = NDArray[np.float32]
WORDS_PER_BATCH = 10_240  # at least, whose imputed vectors are made together
WORDS_PER_PART = 2048  # that a thread takes at a time


class Imputed(NamedTuple):
    """What the model makes of words by their spelling: unit rows, and how long they were before, where that counts."""

    vectors: Floats
    lengths: Floats | None

    def part(self, which: slice) -> Imputed:
        """Those of a slice of the words."""
        return Imputed(self.vectors[which], None if self.lengths is None else self.lengths[which])


class Attached(LearnsWords, WordVectors):
    """Word vectors that have a vector for any word. Immutable, safe to share between threads.

    :param model: a LOVE; or a `PlainModel` around anything else that gives words a direction.
    :param vectors: gensim's KeyedVectors (or a model with `.wv`), a dict of word to row, a pair (words, matrix), a
        VectorTable, or a path to a vector file. A float32 matrix is used in place, so do not change it afterwards; so
        is the file of a mapped table, `read_vectors(path, mmap=True)`, float16 or float32.
    :param space: "direct" when the model was trained on these very vectors, "mapped" when it lives in another space;
        found out by default.
    :param lowercase: False imputes `Apple` also where `apple` is known.
    :param by_confidence: False leaves vectors their usual length, however unsure the model is of them.
    :param near: False imputes misspellings too, as the paper does; so does a model that reads by spelling only.

    >>> love = LOVE.load()
    >>> table = {word: love[word] for word in ("oxygen", "water")}
    >>> Attached(love, table).near("oxgen", k=1)[0][0]
    'oxygen'
    """

    def __init__(
        self,
        model: BackingModel,
        vectors: Any,
        *,
        space: SpaceOption = "auto",
        lowercase: bool = True,
        by_confidence: bool = True,
        near: bool = True,
    ) -> None:
        check_flags(lowercase=lowercase, by_confidence=by_confidence, near=near)
        table = _table(vectors)
        rows, norms = _read_only(table.vectors), lengths_of(table.vectors)
        known = NeighborIndex(tuple(table.words), rows, norms)

        def impute(words: Sequence[str]) -> Floats:
            return model._impute(words)[0]

        sample = shared_words(model.words, impute, known.place, rows)
        fitted = fit_space(sample, space, lambda: find_known_neighbors(impute, table.words, rows))
        dropped = table.report.lines()[1:]
        self._set_up(
            model,
            AttachedParts(known, fitted, fit_lengths(sample, norms), dropped, lowercase, by_confidence, near),
        )

    def _set_up(self, model: BackingModel, parts: AttachedParts) -> None:
        self.model, self._parts, self.dim = model, parts, int(parts.vectors.shape[1])
        self._known, self._space, self._lengths = parts.known, parts.space, parts.lengths
        orthography = model.orthography if parts.near else None
        compiled = model._compiled
        self._reader = None if orthography is None else Reader(self._known.words, orthography, compiled=compiled)
        self._confidence = ConfidenceLength(model) if parts.by_confidence else None

    def __getstate__(self) -> dict[str, Any]:
        made_again = "_core_rows", "_texts"  # where it is read
        return {name: value for name, value in vars(self).items() if name not in made_again}

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the table, the model behind it and what was learned at attaching into a folder, whole or not at all:
        `Attached.load(folder)` has it again without attaching anew."""
        if isinstance(self.model, PlainModel):
            self.model.save(folder)
        write_attached(folder, self._parts, self.model.save)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Attached:
        """Read what `save` wrote, checked by size and hash."""
        from lovevec import LOVE

        parts, model_folder = read_attached(folder)
        model, attached = LOVE.load(model_folder), cls.__new__(cls)
        parts.check_model(folder, model.dim)
        attached._set_up(model, parts)
        return attached

    @property
    def vectors(self) -> Floats:
        """The known words' own vectors, row for row with `words`, read-only."""
        return self._parts.vectors

    @property
    def metadata(self) -> dict[str, Any]:
        """What was found and done at attaching: the space, how well imputed vectors fit it, how lengths are chosen."""
        return {
            "words": len(self),
            "dim": self.dim,
            **self._space.metadata,
            "length": {**self._lengths.metadata, "by confidence": bool(self._confidence and self._confidence.known)},
            "dropped": self._parts.dropped,
        }

    @property
    def warning(self) -> str | None:
        """What has to be known before imputed vectors are used: that they could not be mapped; mostly None."""
        return self._space.warning

    def __repr__(self) -> str:
        return f"Attached({len(self):,} words × {self.dim}; {self._space.summary}; {self._lengths.summary})"

    def __contains__(self, word: object) -> bool:
        """Whether this very word, in this case, has a vector of its own."""
        return word in self._known.place

    def _look_up(self, words: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
        own = self.model.orthography
        language = ENGLISH if own is None else own.language
        return look_up(words, self._known.place, self._parts.lowercase, language)

    def _take_apart(self, strings: Sequence[str]) -> Sequence[str | Composite]:
        if self._reader is None or not strings:
            return strings
        return self._reader.take_apart(strings, self._row_of, self.model._threads)

    def _row_of(self, word: str) -> int:
        return int(self._look_up([word])[0][0])

    def _read(self, strings: Sequence[str], in_text: bool = False) -> Readings:
        """The readings of strings that the table lacks; what the model knows is no misspelling."""
        if self._reader is None:
            return all_new(len(strings))
        readings = self._reader(strings, self.model._threads, in_text)
        return readings.as_new(np.fromiter(map(self._is_a_word, strings), dtype=np.bool_, count=len(strings)))

    def _is_a_word(self, string: str) -> bool:
        """Whether a string that the table lacks is no misspelling: the model knows it, or case is not bridged."""
        in_other_case = not self._parts.lowercase and string.lower() in self._known.place
        return in_other_case or string in self.model

    def _learning_model(self, what: str) -> Any:
        if isinstance(self.model, PlainModel):
            raise LovevecError(f"{what}: only a table with a LOVE behind it learns words, and behind this one is none")
        return self.model

    def _with_learning_model(self, model: Any) -> Attached:
        """The table with another model behind it: with rows for the words that this has learned, and for no others that
        were learned before."""
        count = len(self) - self._parts.learned
        words, vectors = list(self.words[:count]), self.vectors[:count]
        own = set(words)
        new = [word for word in model.learned if word not in own]
        if new:
            directions = model._own_vectors(model._look_up(new)[0])
            rows = self._space(directions, compiled=model._compiled) * self._lengths(directions)[:, None]
            vectors = _read_only(np.concatenate([vectors, rows.astype(vectors.dtype)]))
        known = NeighborIndex((*words, *new), vectors, lengths_of(vectors))
        attached = type(self).__new__(type(self))
        attached._set_up(model, replace(self._parts, known=known, learned=len(new)))
        return attached

    def warm_up(self) -> None:
        """Make now what the first call with an unknown word makes; see `LOVE.warm_up`."""
        if self._reader is not None:
            self._reader.warm_up()

    def _to_unit_length(self, vectors: Floats) -> Floats:
        return normalized(vectors)

    def _own_vectors(self, rows: NDArray[np.integer]) -> Floats:
        vectors: Floats = self.vectors[rows].astype(np.float32, copy=False)
        return vectors

    def _mean_over_readings(self, lookup: Lookup) -> Floats:
        strings, readings = lookup.unknown, lookup.probabilities
        result = np.empty((len(strings), self.dim), dtype=np.float32)
        # The last batch may be twice as long: a short rest would be slow.
        count = len(strings)
        cuts = [*range(0, max(count - WORDS_PER_BATCH, 0) + 1, WORDS_PER_BATCH), count] if count else []
        for low, high in pairwise(cuts):
            self._mix_batch(strings[low:high], readings.some(slice(low, high)), result[low:high])
        return result

    def _mix_batch(self, strings: Sequence[str], readings: Readings, result: Floats) -> None:
        imputed = self._new_vectors(strings)

        def mix(part: slice) -> None:
            result[part] = self._mix(strings[part], readings.some(part), imputed.part(part))

        in_chunks(mix, len(strings), WORDS_PER_PART, self.model._threads)

    def _mix(self, strings: Sequence[str], readings: Readings, imputed: Imputed) -> Floats:
        vectors = self._into_space(strings, imputed)
        by_confidence = self._confidence is not None and self._confidence.known
        lengths = None if by_confidence else self._mean_lengths(readings, lengths_of(vectors))
        self._mix_rows(vectors, readings, self._texts.weights)
        return vectors if lengths is None else scale_to(vectors, lengths)

    def _mix_rows(self, vectors: Floats, readings: Readings, weights: Floats, new_weight: float | None = None) -> None:
        if self._core_rows is not None:
            self._core_rows.mix(vectors, *readings, weights, new_weight, MIN_PROBABILITY)
        else:
            mix_readings(vectors, readings, self._own_vectors, weights, new_weight)

    @cached_property
    def _core_rows(self) -> Rows | None:
        """The table as the compiled core has it; None where numpy computes."""
        table = self._parts.vectors
        if not self.model._compiled or not table.flags.c_contiguous:
            return None
        rows: Rows = core().Rows(kind=int(table.dtype == np.float16), dim=self.dim, codes=table)
        return rows

    def _mean_lengths(self, readings: Readings, imputed: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ p(word) · length of its row + p(new) · length of the imputed vector + p(parts) · mean length of theirs. A
        mean of vectors is shorter than they are, which tells doubt; this does not."""
        assert self._known.lengths is not None
        own = np.where(readings.rows >= 0, self._known.lengths[readings.rows], 0.0)
        part = np.where(readings.part_rows >= 0, self._known.lengths[readings.part_rows], 0.0)
        parts = part.sum(axis=1) / np.maximum((readings.part_rows >= 0).sum(axis=1), 1)
        lengths: NDArray[np.float64] = (readings.probabilities * own).sum(axis=1) + readings.parts * parts
        return lengths + readings.new * imputed

    def _impute_all(self, words: Sequence[str]) -> Floats:
        result, imputed = np.empty((len(words), self.dim), dtype=np.float32), self._model_vectors(words)

        def run(part: slice) -> None:
            result[part] = self._into_space(words[part], imputed.part(part))

        in_chunks(run, len(words), WORDS_PER_PART, self.model._threads)
        return result

    def _number_codes(self, numbers: Sequence[str]) -> Floats:
        return self._into_space(numbers, Imputed(self.model._number_codes(numbers), None))

    def _model_vectors(self, words: Sequence[str]) -> Imputed:
        """The model's vectors of words; with their lengths only where the model judges vectors by them."""
        vectors, lengths = self.model._impute(words)
        return Imputed(vectors, lengths if self._confidence is not None and self._confidence.by_length else None)

    def _new_vectors(self, words: Sequence[str]) -> Imputed:
        """The same of words that the table lacks: of those that the model has learned from texts its own rows."""
        imputed, learned = self._model_vectors(words), self.model._learned_rows
        if len(learned):
            rows = self.model._look_up(words)[0]
            known = np.isin(rows, learned) & (rows >= 0)
            imputed.vectors[known] = self.model._own_vectors(rows[known])
        return imputed

    def _into_space(self, words: Sequence[str], imputed: Imputed) -> Floats:
        """The model's vectors as directions in the table's space, times fitting lengths."""
        lengths = self._lengths(imputed.vectors)
        if self._confidence is not None:
            lengths = lengths * self._confidence(words, imputed.lengths)
        vectors: Floats = self._space(imputed.vectors, compiled=self.model._compiled) * lengths[:, None]
        return vectors

    def _confidence_of(self, lookup: Lookup) -> NDArray[np.float64]:
        """1 for known words; for others by their readings, and for what is imputed by how well the map does."""
        confidence = np.ones(len(lookup))
        if lookup.unknown:
            judged = self.model._judge(lookup.unknown, lookup.probabilities, None, self._space.quality)
            confidence[lookup.rows == UNKNOWN] = judged
        return confidence

    def explain(self, word: str, k: int = 5) -> Explanation:
        """What the word's vector is made of, as `LOVE.explain`: reading, near words, confidence and neighbors are
        those of the table, units and attention those of the model behind it."""
        refuse_other_than_words([word])
        return self.model._explain(word, self.lookup(word), self.neighbors(word, k) if not is_zero(k) else [])

    @cached_property
    def _texts(self) -> TextEncoder:
        assert self._known.lengths is not None
        length = float(np.mean(self._known.lengths)) if len(self) else 1.0
        place, rows, lowercase = self._known.place, self._core_rows, self._parts.lowercase
        source = WordSource(
            words=self.words,
            dim=self.dim,
            look_up=self._look_up,
            take_apart=self._take_apart,
            read=partial(self._read, in_text=True),
            own=self._own_vectors,
            weigh=self._weigh,
            mix=self._mix_in_text,
            impute=self._impute_all,
            number_codes=self._number_codes,
            core=(place.core, rows) if rows is not None and isinstance(place, CompiledWordMap) else None,
            lowercase=lowercase,
            torn=None if self._reader is None else self._reader.torn_words,
            sentences=self._sentences,
            length=length,
            threads=self.model._threads,
        )
        return TextEncoder(source)

    @property
    def _sentences(self) -> Sentences | None:
        """What sentences say of the table's words, by the rows of the model behind it."""
        reader = None if self._reader is None else self.model._sentence_reader
        return (
            None
            if reader is None
            else Sentences(reader, lambda words: self.model._look_up(words)[0], lambda: self._model_rows)
        )

    @cached_property
    def _model_rows(self) -> NDArray[np.int32]:
        """[words] the model's row of each word of the table; -1 where the model does not know it."""
        return self.model._look_up(self.words)[0].astype(np.int32)

    def _weigh(self, strings: Sequence[str], weights: Floats, new_weight: float) -> tuple[Floats, Readings]:
        """The vectors of unknown words of a text, weights multiplied in, and their readings."""
        readings = self._read(strings, in_text=True)
        return self._mix_in_text(strings, readings, weights, new_weight), readings

    def _mix_in_text(self, strings: Sequence[str], readings: Readings, weights: Floats, new_weight: float) -> Floats:
        """The vectors of unknown words of a text that are read so, weights multiplied in."""
        vectors = self._into_space(strings, self._new_vectors(strings))
        self._mix_rows(vectors, readings, weights, new_weight)
        return vectors


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
    view: Floats = vectors.view()
    view.flags.writeable = False
    return view
