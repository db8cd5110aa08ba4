"""The words of a collection, and which of them the words of a query may mean.

A text is cut into terms: its known words in the form in which they are known, and what is no word (numbers, codes) as
it stands. A word of a query that is no term is read by a reader which knows the terms and nothing else, so that
`Vestergard` is Vestergaard where that is in the collection, whatever else there is in the language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lovevec.model.folder import ModelParts
from lovevec.model.known_rows import KnownRows
from lovevec.near.orthography import Orthography
from lovevec.near.reader import Reader
from lovevec.near.readings import Readings
from lovevec.search.stems import stem
from lovevec.texts.encoder import TextEncoder
from lovevec.texts.tokens import CHUNK, runs_of_chunk
from lovevec.units.ragged import Ragged, offsets_of

MIN_SHARE = 0.02  # of a reading: what is less probable is left out
TEXTS_PER_STEP = 8192  # of progress
MAX_LETTERS = 100  # of a term; of a longer one the beginning


class Model(Protocol):
    """What an index asks of the model that reads its words: LOVE, whose methods of these names say what they give."""

    dim: int
    parts: ModelParts
    spelling_only: bool

    @property
    def orthography(self) -> Orthography | None: ...
    @property
    def _threads(self) -> int: ...
    @property
    def _compiled(self) -> bool: ...
    def text_encoder(self) -> TextEncoder: ...
    def encode(self, texts: Any) -> Any: ...
    def with_words(self, words: Iterable[str]) -> Any: ...
    def _with_parts(self, parts: ModelParts) -> Any: ...
    def _weighted_by(self, documents: Mapping[str, float], texts: int) -> Any: ...


class Cutter:
    """Texts to terms, by a model. What stands between two blanks is looked at once.

    >>> Cutter(LOVE.load())(["The Cats, 500mg"])                                          # doctest: +SKIP
    [["the", "cats", "500", "mg"]]
    """

    def __init__(self, model: Model) -> None:
        self.encoder = model.text_encoder()

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        numbers, flat, offsets = self.chunks(texts)
        of_chunks = self.terms_of_chunks(list(numbers))
        return [[term for chunk in flat[low:high] for term in of_chunks[chunk]] for low, high in pairwise(offsets)]

    def numbered(self, texts: Sequence[str], terms: dict[str, int], advance: Callable[[int], None]) -> Ragged:
        """The terms of texts by their numbers in `terms`, which takes in those that it does not have yet. `advance` is
        told how many more texts were read."""
        numbers, flat, offsets = self.chunks(texts, advance)
        own = [[terms.setdefault(term, len(terms)) for term in one] for one in self.terms_of_chunks(list(numbers))]
        lengths = np.fromiter(map(len, own), np.int64, len(own))
        values = np.fromiter((number for one in own for number in one), np.int32, int(lengths.sum()))
        chunks = Ragged.from_lengths(values, lengths).take(np.array(flat, dtype=np.int64))
        return Ragged(chunks.values, chunks.offsets[np.array(offsets)])

    @staticmethod
    def chunks(
        texts: Sequence[str], advance: Callable[[int], None] | None = None
    ) -> tuple[dict[str, int], list[int], list[int]]:
        """The distinct chunks of texts with their numbers; those of all texts in turn; where each text begins."""
        numbers: dict[str, int] = {}
        flat: list[int] = []
        offsets = [0]
        find, number = CHUNK.findall, numbers.setdefault
        for low in range(0, len(texts), TEXTS_PER_STEP):
            for text in texts[low : low + TEXTS_PER_STEP]:
                flat += [number(chunk, len(numbers)) for chunk in find(text)]
                offsets.append(len(flat))
            if advance is not None:
                advance(min(TEXTS_PER_STEP, len(texts) - low))
        return numbers, flat, offsets

    def terms_of_chunks(self, chunks: Sequence[str]) -> list[list[str]]:
        """The terms of what stands between two blanks."""
        runs = [runs_of_chunk(chunk) for chunk in chunks]
        distinct = list(dict.fromkeys(run for some in runs for run in some))
        found = self.encoder.parts_of_runs(distinct)
        parts = list(dict.fromkeys(text for some in found for text, _, share in some if share == 1))
        rows = self.encoder.source.look_up(parts)[0].tolist()
        words = self.encoder.source.words
        term = {
            text: words[row] if row >= 0 else text.lower()[:MAX_LETTERS] for text, row in zip(parts, rows, strict=True)
        }
        of_run = {
            run: [term[text] for text, _, share in some if share == 1]
            for run, some in zip(distinct, found, strict=True)
        }
        return [[one for run in some for one in of_run[run]] for some in runs]


class Reading(NamedTuple):
    """What a word of a query may mean: terms by their numbers with the shares that they have in it, and its name."""

    terms: tuple[int, ...]
    shares: tuple[float, ...]
    name: str


class Vocabulary:
    """The terms of a collection, those of most texts first.

    :param strings: the terms.
    :param documents: [terms] in how many texts each stands.
    :param stems: the stems of all terms, in the order in which they first come.
    :param stem_of: [terms] the stem of each, by its number.
    :param model: whose orthography reads what is no term.
    """

    def __init__(
        self,
        strings: Sequence[str],
        documents: NDArray[np.int64],
        stems: Sequence[str],
        stem_of: NDArray[np.int32],
        model: Model,
    ) -> None:
        self.strings, self.documents, self.model = strings, documents, model
        self.stems, self.stem_of = stems, stem_of

    def __len__(self) -> int:
        return len(self.strings)

    @cached_property
    def place(self) -> dict[str, int]:
        """The number of each term."""
        return {term: number for number, term in enumerate(self.strings)}

    @cached_property
    def _first_of_stem(self) -> dict[str, int]:
        """Of each stem the term that stands in most texts."""
        return dict(zip(self.stems, np.unique(self.stem_of, return_index=True)[1].tolist(), strict=True))

    @cached_property
    def _reader(self) -> Reader:
        orthography = self.model.orthography
        assert orthography is not None
        return Reader(self.strings, orthography, self.model.parts.units.lowercase, self.model._compiled)

    def read(self, words: Iterable[str]) -> dict[str, Reading]:
        """What the words of queries, cut as texts are, may mean."""
        found: dict[str, Reading] = {}
        unknown = []
        for word in dict.fromkeys(words):
            number = self.place.get(word)
            if number is not None:
                found[word] = Reading((number,), (1.0,), "known")
            elif (number := self._first_of_stem.get(stem(word))) is not None:
                found[word] = Reading((number,), (1.0,), "form")
            elif self.model.orthography is None or not any(map(str.isalpha, word)):
                found[word] = Reading((), (), "new")
            else:
                unknown.append(word)
        if unknown and len(self):
            readings = self._reader(unknown, self.model._threads, True)
            found |= dict(zip(unknown, self._shares(readings), strict=True))
        return found | {word: Reading((), (), "new") for word in unknown if word not in found}

    def _shares(self, readings: Readings) -> list[Reading]:
        result = []
        for place in range(len(readings.new)):
            shares: dict[int, float] = {}
            near = zip(readings.rows[place].tolist(), readings.probabilities[place].tolist(), strict=True)
            for row, share in near:
                if row >= 0 and share >= MIN_SHARE:
                    shares[row] = shares.get(row, 0.0) + share
            together = float(readings.parts[place])
            if together >= MIN_SHARE:
                for row in readings.part_rows[place].tolist():
                    if row >= 0:
                        shares[row] = shares.get(row, 0.0) + together
            likely = max(float(readings.new[place]), together, sum(shares.values()) - together)
            name = "new" if likely == readings.new[place] else "parts" if likely == together else "near"
            result.append(Reading(tuple(shares), tuple(shares.values()), name))
        return result


def how_many(terms: Ragged, count: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Texts as bags: offsets, their distinct terms in order, and how often each stands in its text."""
    keys = terms.owners * max(count, 1) + terms.values
    distinct, counts = np.unique(keys, return_counts=True)
    owners = distinct // max(count, 1)
    lengths = np.bincount(owners, minlength=len(terms))
    return offsets_of(lengths), (distinct % max(count, 1)).astype(np.int32), counts.astype(np.float32)


def with_coded_words(
    parts: ModelParts, words: Sequence[str], more: KnownRows, weights: NDArray[np.float32] | None
) -> ModelParts:
    """The parts of a model that knows more words, whose rows are coded already, and has other weights. A ValueError
    where these do not fit together."""
    rows = parts.rows
    assert rows is not None
    if len(words) != len(more) or (weights is not None and weights.shape != (len(rows) + len(more),)):
        raise ValueError("words, rows and weights of the model do not fit together")
    own = np.arange(len(rows), dtype=np.int32) if rows.ranks is None else rows.ranks
    if more.codes.dtype != rows.codes.dtype or (len(more) and more.ranks is None):
        raise ValueError("rows of another precision, or without ranks")
    codes, scale = np.concatenate([rows.codes, more.codes]), np.concatenate([rows.scale, more.scale])
    ranks = own if more.ranks is None else np.concatenate([own, more.ranks])
    return replace(parts, words=[*parts.words, *words], rows=KnownRows(codes, scale, rows.dim, weights, ranks))
