"""Two tables compared: which pairs of records may be the same thing, and what speaks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.near.channel import DEFAULT, Channel
from lovevec.progress import Progress, wanted
from lovevec.search.blocking import Blocks, Candidates, keys_of
from lovevec.search.pairs import Lexicon, Readings, Side, features_of, symmetric
from lovevec.search.records import Table, Vocabulary, Words
from lovevec.search.terms import Model
from lovevec.search.terms import Vocabulary as Terms
from lovevec.units.ragged import Ragged, offsets_of

LONG_TABLE = 20_000  # records: shorter ones are done before anybody would look at a progress bar
TEXTS_PER_BATCH = 4096
LEAST_SHARE = 0.2  # of a pair of records of one table: half of all pairs have less, of those that are the same 2 %
READ_SHARE = 0.1  # of what a word may mean: so much, and its keys are looked for too


class Pairs(NamedTuple):
    """Pairs of records, and their features [pairs, len(FEATURES)]."""

    candidates: Candidates
    features: NDArray[np.float32]


def progress_of(progress: Progress | bool | None, count: int) -> Progress:
    """Where progress is shown: as asked, and if not said, of many records on a terminal."""
    if isinstance(progress, Progress):
        return progress
    return Progress(quiet=not wanted(progress, count, LONG_TABLE))


def compare(model: Model, left: Table, right: Table, most: int, progress: Progress) -> Pairs:
    """For each right record the `most` left ones that share most with it. Of left records with the same words the
    first stands for all."""
    vocabulary = Vocabulary()
    with progress.phase("words", unit="records"):
        left_words = vocabulary.words_of(left)
        right_words = vocabulary.words_of(right)
        strings, columns = vocabulary.strings, vocabulary.columns
        first, _ = equal_records(left_words, strings)
        texts = left.texts
        own = model_of(model, [texts[row] for row in first.tolist()])
        readings = readings_of(model, strings, columns, left_words, right_words)
    pairs = candidates_of(_take(left_words, first), _with_read(right_words, readings), strings, most, progress)
    pairs = pairs._replace(records=first[pairs.records])
    sides = [
        Side.of(words, strings, encode(own, table.texts, progress))
        for words, table in ((left_words, left), (right_words, right))
    ]
    lexicon = Lexicon.of(strings, columns, left_words, readings, channel_of(model))
    with progress.phase("comparing", len(pairs.queries), "pairs") as phase:
        return Pairs(pairs, features_of(sides[0], sides[1], lexicon, pairs, phase))


def compare_within(model: Model, table: Table, most: int, progress: Progress) -> Pairs:
    """For each record of a table the `most` other ones that share most with it, and at least LEAST_SHARE; each pair
    once, the later record as the query. No two records have the same words."""
    vocabulary = Vocabulary()
    with progress.phase("words", unit="records"):
        words = vocabulary.words_of(table)
        strings, columns = vocabulary.strings, vocabulary.columns
        own = model_of(model, table.texts)
    found = candidates_of(words, words, strings, most + 1, progress)
    other = (found.queries != found.records) & (found.shares >= LEAST_SHARE)
    found = found.some(other)
    low, high = np.minimum(found.queries, found.records), np.maximum(found.queries, found.records)
    keys, first = np.unique(high * len(table) + low, return_index=True)
    queries, records = np.divmod(keys, max(len(table), 1))
    pairs = Candidates(queries, records, found.shares[first])
    side = Side.of(words, strings, encode(own, table.texts, progress))
    nothing = Readings(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    lexicon = Lexicon.of(strings, columns, words, nothing, channel_of(model))
    with progress.phase("comparing", len(pairs.queries), "pairs") as phase:
        return Pairs(pairs, symmetric(features_of(side, side, lexicon, pairs, phase)))


def equal_records(words: Words, strings: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of the records that have the same words in the same order, sorted by their words, so that where a
    record stands in its table makes no difference; and for each record which of these it equals, -1 for one without
    words."""
    seen: dict[bytes, int] = {}
    values, offsets = np.ascontiguousarray(words.words.values), words.words.offsets.tolist()
    own = np.full(len(words), -1, np.int64)
    first: list[int] = []
    for row in np.flatnonzero(words.cells).tolist():
        own[row] = seen.setdefault(values[offsets[row] : offsets[row + 1]].tobytes(), len(seen))
        if own[row] == len(first):
            first.append(row)
    order = sorted(range(len(first)), key=lambda one: [strings[word] for word in words.words.row(first[one]).tolist()])
    place = np.full(len(first) + 1, -1, np.int64)
    place[order] = np.arange(len(first))
    return np.array(first, np.int64)[order], place[own]


def model_of(model: Model, texts: Sequence[str]) -> Model:
    """The model that knows the words of a table, and by which what many records have counts less."""
    if model.spelling_only or not texts:
        return model
    known = model.with_words(sorted(set(texts)))
    fitted: Model = known.fitted(texts)
    return fitted


def channel_of(model: Model) -> Channel:
    """What slips cost."""
    return DEFAULT if model.orthography is None else model.orthography.channel


def encode(model: Model, texts: Sequence[str], progress: Progress) -> NDArray[np.float16]:
    """[len(texts), dim]: the meaning of records."""
    result = np.zeros((len(texts), model.dim), np.float16)
    with progress.phase("encoding", len(texts), "records") as phase:
        for low in range(0, len(texts), TEXTS_PER_BATCH):
            part = list(texts[low : low + TEXTS_PER_BATCH])
            result[low : low + len(part)] = model.encode(part)
            phase.advance(len(part))
    return result


def candidates_of(left: Words, right: Words, strings: Sequence[str], most: int, progress: Progress) -> Candidates:
    """For each right record the left ones that share most of its keys."""
    with progress.phase("looking for candidates", len(right), "records") as phase:
        keys = keys_of(left, strings)
        found = Blocks(keys).candidates(keys if right is left else keys_of(right, strings), most, phase)
    there = (left.cells[found.records] > 0) & (right.cells[found.queries] > 0)
    return found.some(there)


def readings_of(
    model: Model, strings: Sequence[str], columns: NDArray[np.int64], left: Words, right: Words
) -> Readings:
    """For each word of the right records that no left one has: the words of the left ones, in the same column, that it
    may mean."""
    having = np.bincount(left.words.values, minlength=len(strings))
    asked = np.unique(right.words.values)
    asked = asked[having[asked] == 0]
    found: list[tuple[int, int, float]] = []
    for column in np.unique(columns[asked]).tolist():
        words = [number for number in asked[columns[asked] == column].tolist() if strings[number]]
        known = np.flatnonzero((columns == column) & (having > 0)).tolist()
        known = sorted((one for one in known if strings[one]), key=lambda one: (-having[one], strings[one]))
        if not known or not words:
            continue
        no_stems: list[str] = []  # another form of a word is read, too
        known_strings = [strings[number] for number in known]
        terms = Terms(known_strings, having[known], no_stems, np.zeros(0, np.int32), model)
        read = terms.read([strings[number] for number in words])
        for number in words:
            terms_of, shares, _ = read[strings[number]]
            found += [(known[term], number, share) for term, share in zip(terms_of, shares, strict=True)]
    left_words, right_words, shares_ = zip(*found, strict=True) if found else ((), (), ())
    return Readings(np.array(left_words, np.int64), np.array(right_words, np.int64), np.array(shares_, np.float64))


def _with_read(words: Words, readings: Readings) -> Words:
    """The words of records with what they may mean behind them, for their keys."""
    likely = readings.shares >= READ_SHARE
    if not likely.any():
        return words
    order = np.argsort(readings.right[likely], kind="stable")
    right, left = readings.right[likely][order], readings.left[likely][order]
    count = int(max(words.words.values.max(initial=0), right.max(initial=0))) + 1
    of_words = Ragged(left, offsets_of(np.bincount(right, minlength=count))).take(words.words.values)
    owners = np.concatenate([words.words.owners, np.repeat(words.words.owners, of_words.lengths)])
    values = np.concatenate([words.words.values, of_words.values])
    order = np.argsort(owners, kind="stable")
    lengths = np.bincount(owners, minlength=len(words))
    return replace(words, words=Ragged(values[order], offsets_of(lengths)))


def _take(words: Words, rows: NDArray[np.int64]) -> Words:
    aside = Ragged(words.aside.astype(np.int8), words.words.offsets).take(rows).values.astype(np.bool_)
    return Words(words.words.take(rows), aside, words.cells[rows])
