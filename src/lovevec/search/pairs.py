"""What speaks for two records being the same thing: the features of pairs.

A word counts by its rarity among the left records, from 0 (all have it) to 1 (none has it). A word meets the word of
the other record, in the same column, that is spelled most alike; numbers meet the same number only. What a record has
in a column that is empty in the other says nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.threads import engine_threads, in_chunks
from lovevec.near.alignment import Pairs as Spellings
from lovevec.near.alignment import Slips, align
from lovevec.near.channel import UNIT, Channel
from lovevec.near.symbols import Symbols
from lovevec.progress import Phase
from lovevec.search.alignment import common_letters, edits
from lovevec.search.blocking import FEW_RECORDS, Candidates
from lovevec.search.records import Words, letters_of
from lovevec.units.ragged import Ragged, offsets_of

Floats = NDArray[np.float64]
PAIRS_PER_BLOCK = 20_000  # whose features are computed together
ROMAN = re.compile(r"(?=[ivxl])(x{0,3})(ix|iv|v?i{0,3})")
ALIKE = 0.4  # of the letters of two words: what is less alike does not meet
MAX_SLIPS, MIN_SLIP_LETTERS, MAX_SLIP_LETTERS = 3, 3, 32  # of words that may be one, misspelled
MOST_SIZE = 9.0  # the logarithm of how many records the largest tables had that weights were learned on
NATS = 8.0  # that slips cost together: as much, and two words are no slips of one another
FEATURES = (
    "share", "meaning", "exact left", "exact right", "exact least", "exact most", "left", "right", "least", "most",
    "cosine", "slip left", "slip right", "slip conflict", "rarest left", "rarest right", "conflict",
    "exact rarest left", "exact rarest right", "exact conflict", "missing left", "missing right", "missing", "met",
    "core left", "core right", "core rarest left", "core rarest right", "aside left", "aside right",
    "numbers conflict", "numbers left", "numbers right", "numbers met", "first", "last", "words left", "words right",
    "letters", "edits", "beginning", "length", "longer", "same", "size",
)  # fmt: skip


class Side(NamedTuple):
    """One table, as it is compared.

    words     of each record
    letters   [records, LETTERS] of all its words in a row; how many: lengths [records]
    vectors   [records, dim] its meaning, float16
    """

    words: Words
    letters: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    vectors: NDArray[np.float16]

    @classmethod
    def of(cls, words: Words, strings: Sequence[str], vectors: NDArray[np.floating]) -> Side:
        """The side of a table with these words, for the vocabulary's strings."""
        values, offsets = words.words.values.tolist(), words.words.offsets.tolist()
        joined = ["".join([strings[value] for value in values[low:high]]) for low, high in itertools.pairwise(offsets)]
        return cls(words, *letters_of(joined), vectors.astype(np.float16))


class Readings(NamedTuple):
    """What words may mean, pair for pair: `right` words, the `left` ones that are meant, and how probably: `shares`."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    shares: Floats


class Lexicon(NamedTuple):
    """The words of both tables.

    letters    [words, LETTERS], and how many: lengths [words]
    rarity     [words] among the left records, from 0 to 1
    is_number  [words] whether it has digits or is a Roman number
    columns    [words]
    records    how many left ones there are
    symbols    [words, MAX_SLIP_LETTERS] as the channel sees them, by `slips`
    read       what words of the right records that are not there on the left may mean: keys, left word times `len` plus
               right word, in order, and how probably
    """

    letters: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    rarity: Floats
    is_number: NDArray[np.bool_]
    columns: NDArray[np.int64]
    records: int
    read: tuple[NDArray[np.int64], Floats]
    symbols: NDArray[np.uint8]
    slips: Slips

    @classmethod
    def of(
        cls, strings: Sequence[str], columns: NDArray[np.int64], left: Words, readings: Readings, channel: Channel
    ) -> Lexicon:
        """For the words of a vocabulary, by how many left records have each."""
        keys = np.unique(left.words.owners * max(len(strings), 1) + left.words.values)
        having = np.bincount(keys % max(len(strings), 1), minlength=len(strings))
        most = max(len(left), FEW_RECORDS) + 1
        rarity = (np.log(most / (having + 1)) + 0.5) / (np.log(most) + 0.5)
        numbers = [ROMAN.fullmatch(one) is not None or any(map(str.isdigit, one)) for one in strings]
        read = readings.left * len(strings) + readings.right
        order = np.argsort(read)
        shares = read[order], readings.shares[order]
        symbols = Symbols.of(strings)
        cut = symbols.encode([one[:MAX_SLIP_LETTERS] for one in strings]).padded(MAX_SLIP_LETTERS).astype(np.uint8)
        slips = Slips(symbols, channel.slip_costs)
        is_number = np.array(numbers, np.bool_)
        return cls(*letters_of(strings), rarity, is_number, columns, len(left), shares, cut, slips)


def features_of(
    left: Side, right: Side, lexicon: Lexicon, pairs: Candidates, phase: Phase | None = None
) -> NDArray[np.float32]:
    """[pairs, len(FEATURES)]: queries are rows of `right`, records of `left`."""
    result = np.empty((len(pairs.queries), len(FEATURES)), np.float32)

    def compute(part: slice) -> None:
        some = pairs.some(part)
        result[part] = _features(left, right, lexicon, some)
        if phase is not None:
            phase.advance(len(some.queries))

    in_chunks(compute, len(result), PAIRS_PER_BLOCK, engine_threads())
    return result


class _Met(NamedTuple):
    """The words of one side of pairs, and how far each is met by the other side.

    starts   [pairs] where the words of each begin
    words    their numbers
    weights  their rarity; 0 in a column that is empty on the other side
    exact    1 where the other side has the word, else 0
    alike    how much the most similar word of the other side is alike, from 0 to 1
    slip     how easily it is a slip of the most similar word of the other side, from 0 to 1
    aside    1 for a word in brackets, else 0
    """

    starts: NDArray[np.int64]
    words: NDArray[np.int64]
    weights: Floats
    exact: Floats
    alike: Floats
    slip: Floats
    aside: Floats

    def sum(self, values: Floats) -> Floats:
        """[pairs] the sum over the words of each."""
        total: Floats = np.add.reduceat(values, self.starts)
        return total

    def most(self, values: Floats) -> Floats:
        """[pairs] the most of the words of each."""
        most: Floats = np.maximum.reduceat(values, self.starts)
        return most

    def share(self, values: Floats, weights: Floats) -> Floats:
        """[pairs] the mean over the words of each by weights; 1 where these are 0."""
        total = self.sum(weights)
        return np.where(total > 0, self.sum(values * weights) / np.where(total > 0, total, 1), 1.0)


def _features(left: Side, right: Side, lexicon: Lexicon, pairs: Candidates) -> Floats:
    one, other, first, last = _meet(left.words, right.words, lexicon, pairs)
    values: dict[str, Any] = {"share": pairs.shares}
    own, theirs = left.vectors[pairs.records].astype(np.float32), right.vectors[pairs.queries].astype(np.float32)
    values["meaning"] = np.einsum("ij,ij->i", own, theirs)
    for name, side in (("left", one), ("right", other)):
        core = side.weights * (1 - side.aside)
        values[f"exact {name}"], values[name] = (
            side.share(side.exact, side.weights),
            side.share(side.alike, side.weights),
        )
        values[f"slip {name}"] = side.share(side.slip, side.weights)
        values[f"rarest slip {name}"] = side.most(side.weights * (1 - side.slip))
        values[f"rarest {name}"] = side.most(side.weights * (1 - side.alike))
        values[f"exact rarest {name}"] = side.most(side.weights * (1 - side.exact))
        values[f"missing {name}"] = np.log1p(side.sum(side.weights * (1 - side.alike)))
        values[f"core {name}"], values[f"core rarest {name}"] = (
            side.share(side.alike, core),
            side.most(core * (1 - side.alike)),
        )
        values[f"aside {name}"] = side.most(side.aside)
        missed = lexicon.is_number[side.words] & (side.exact < 1) & (side.weights > 0)
        values[f"numbers {name}"] = side.most(missed.astype(np.float64))  # whether there is one
        values[f"words {name}"] = np.log1p(np.diff(np.append(side.starts, len(side.words))))
    for name, kind in (("", "rarest"), ("exact ", "exact rarest"), ("slip ", "rarest slip")):
        values[f"{name}conflict"] = np.minimum(values[f"{kind} left"], values[f"{kind} right"])
    for name in ("exact ", ""):
        ends = values[f"{name}left"], values[f"{name}right"]
        values[f"{name}least"], values[f"{name}most"] = np.minimum(*ends), np.maximum(*ends)
    values["missing"] = np.minimum(values["missing left"], values["missing right"])
    values["met"] = other.most(other.weights * other.alike)
    lengths = np.sqrt(one.sum(one.weights**2) * other.sum(other.weights**2))
    values["cosine"] = other.sum(other.weights**2 * other.alike) / np.maximum(lengths, 1e-9)
    values["numbers conflict"] = np.minimum(values["numbers left"], values["numbers right"])
    values["numbers met"] = np.minimum(other.sum(lexicon.is_number[other.words] * other.exact), 3)
    values["first"], values["last"] = first, last
    own_letters, own_lengths = left.letters[pairs.records], left.lengths[pairs.records]
    letters, lengths_ = right.letters[pairs.queries], right.lengths[pairs.queries]
    longest = np.maximum(np.maximum(own_lengths, lengths_), 1)
    common = common_letters(own_letters, own_lengths, letters, lengths_)
    values["letters"] = 2 * common / np.maximum(own_lengths + lengths_, 1)
    values["edits"] = 1 - edits(own_letters, own_lengths, letters, lengths_) / longest
    same = (own_letters == letters) & (own_letters > 0)
    values["beginning"] = np.cumprod(same, axis=1, dtype=np.uint8).sum(axis=1) / longest
    values["length"] = np.minimum(own_lengths, lengths_) / longest
    values["longer"] = np.log(longest)
    values["same"] = (common == longest) & (own_lengths == lengths_)
    values["size"] = np.full(len(common), min(np.log(lexicon.records), MOST_SIZE))
    return np.stack([np.asarray(values[name], np.float64) for name in FEATURES], axis=1)


def _meet(left: Words, right: Words, lexicon: Lexicon, pairs: Candidates) -> tuple[_Met, _Met, Floats, Floats]:
    """The words of the pairs' left and right records as they meet; and how much the first words, and the last ones,
    are alike."""
    own, other = left.words.take(pairs.records), right.words.take(pairs.queries)
    many, count = own.lengths, other.lengths
    grid = offsets_of(many * count)  # all words of one with all of the other, row after row
    pair = np.repeat(np.arange(len(many)), many * count)
    place = np.arange(grid[-1]) - grid[pair]
    row, column = place // count[pair], place % count[pair]
    words = (
        own.values[own.offsets[pair] + row].astype(np.int64),
        other.values[other.offsets[pair] + column].astype(np.int64),
    )
    alike, slip = _alike(*words, lexicon)
    exact = (words[0] == words[1]).astype(np.float64)
    by_row = offsets_of(np.repeat(count, many))[:-1]
    turned = grid[pair] + (place % many[pair]) * count[pair] + place // many[pair]
    by_column = offsets_of(np.repeat(many, count))[:-1]
    sides = []
    for words_, of, rows, starts, order in (
        (own, left, pairs.records, by_row, slice(None)),
        (other, right, pairs.queries, by_column, turned),
    ):
        opposite = right.cells[pairs.queries] if of is left else left.cells[pairs.records]
        number = words_.values.astype(np.int64)
        counts = (opposite[words_.owners] >> np.minimum(lexicon.columns[number], 62) & 1) > 0
        marks = Ragged(of.aside.astype(np.int8), of.words.offsets).take(rows).values.astype(np.float64)
        sides.append(
            _Met(
                words_.offsets[:-1],
                number,
                lexicon.rarity[number] * counts,
                np.maximum.reduceat(exact[order], starts),
                np.maximum.reduceat(alike[order], starts),
                np.maximum.reduceat(slip[order], starts),
                marks,
            )
        )
    return sides[0], sides[1], alike[grid[:-1]], alike[grid[1:] - 1]


def _alike(left: NDArray[np.int64], right: NDArray[np.int64], lexicon: Lexicon) -> tuple[Floats, Floats]:
    """[pairs of words] how much they are spelled alike, and how easily one is a slip of the other, both from 0 to 1.
    Each pair is looked at once."""
    alike = (left == right).astype(np.float64)
    slip = alike.copy()
    able = (left != right) & (lexicon.columns[left] == lexicon.columns[right])
    able &= ~(lexicon.is_number[left] | lexicon.is_number[right])
    shorter = np.minimum(lexicon.lengths[left], lexicon.lengths[right])
    able &= shorter > (1 - ALIKE) / 2 * np.maximum(lexicon.lengths[left], lexicon.lengths[right])
    places = np.flatnonzero(able)
    count = len(lexicon.lengths)
    distinct, where = np.unique(left[places] * count + right[places], return_inverse=True)
    one, other = distinct // max(count, 1), distinct % max(count, 1)
    lengths = lexicon.lengths[one], lexicon.lengths[other]
    changed = edits(lexicon.letters[one], lengths[0], lexicon.letters[other], lengths[1])
    ratio = 1 - changed / np.maximum(np.maximum(*lengths), 1)
    alike[places] = np.clip((ratio - ALIKE) / (1 - ALIKE), 0, 1)[where] ** 1.5
    near = (
        (changed <= MAX_SLIPS) & (np.minimum(*lengths) >= MIN_SLIP_LETTERS) & (np.maximum(*lengths) <= MAX_SLIP_LETTERS)
    )
    slips = np.zeros(len(distinct))
    slips[near] = _slips(one[near], other[near], lexicon)
    slip[places] = slips[where]
    keys, shares = lexicon.read
    if len(keys):
        asked = left * count + right
        at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        read = np.where(keys[at] == asked, shares[at], 0.0)
        alike, slip = np.maximum(alike, read), np.maximum(slip, read)
    return alike, slip


def _slips(one: NDArray[np.int64], other: NDArray[np.int64], lexicon: Lexicon) -> Floats:
    """[pairs of words] how easily one is written for the other: 1 less what the slips cost, the cheaper way round."""
    sides = [(lexicon.symbols[words], lexicon.lengths[words]) for words in (one, other)]
    cost = np.minimum(
        align(Spellings(*sides[0], *sides[1]), lexicon.slips), align(Spellings(*sides[1], *sides[0]), lexicon.slips)
    )
    slips: Floats = np.clip(1 - cost / (UNIT * NATS), 0, 1)
    return slips


def symmetric(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """The features of pairs of one table, where left is not another side than right: the mean of both."""
    result: NDArray[np.float32] = features.copy()
    for column, name in enumerate(FEATURES):
        if name.endswith("left"):
            other = FEATURES.index(name.removesuffix("left") + "right")
            result[:, column] = result[:, other] = (features[:, column] + features[:, other]) / 2
    return result
