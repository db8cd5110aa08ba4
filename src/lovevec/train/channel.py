"""Learns the channel from the target's words alone: damaged words, words held back, and a conditional logit.

Known words are misspelled as damage/misspell.py does, the frequent ones more often; some of the rarer words are held
back and play the new ones. The costs of slips, what rank counts and what speaks for new are those that make the right
reading of both halves likeliest. Which alignment is the cheapest depends on the costs, so that both are found in
turns. `misspellings` (pairs of right word and misspelling) join the damaged words with as much weight as they.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.misspell import misspell
from lovevec.near.alignment import Slips, slip_counts
from lovevec.near.channel import DEFAULT, MAX_SLIP_COST, RANK_OFFSET, Channel
from lovevec.near.index import Spellings
from lovevec.near.novelty import FEATURES
from lovevec.near.reader import Reader
from lovevec.near.symbols import KINDS
from lovevec.units.ragged import Ragged

MIN_WORDS = 1000  # words of a target that has its own channel
FITTED_TYPOS, MAX_NEW_WORDS, TEST_TYPOS = 6000, 3000, 2000
MAX_NEW_SHARE = 0.1  # of the target's words, at most held back
ROUNDS, STEPS = 3, 30
RIDGE = 1e-3
MIN_COST = 0.1
NAME_FEATURE = FEATURES.index("name")
STRINGS_PER_BLOCK = 1000
GROUP_WEIGHTS = (2.0, 1.0, 2.0)  # of damaged words, words held back, and real misspellings

Numbers = NDArray[np.float64]
Pair = tuple[str | None, str]  # the word that was meant, None for a new one; and what was written


@dataclass(frozen=True, eq=False)
class Examples:
    """Strings with their candidates' features; `right` is the place of the right candidate, -1 for new."""

    slips: Numbers  # [candidates, KINDS + 1], the last the log of rank
    offsets: NDArray[np.int64]
    new: Numbers  # [strings, FEATURES]
    right: NDArray[np.int64]
    weights: Numbers


def fit_channel(
    words: Sequence[str], lowercase: bool, seed: int, misspellings: Sequence[tuple[str, str]] = ()
) -> tuple[Channel, dict[str, Any]]:
    """Fit the channel of a target's words, most frequent first unless they are in the order of the alphabet.

    `misspellings` are pairs of a right word and what was written for it. Returns the channel and a report: how good it
    is on strings that it was not fitted to. A target of few words gets the channel that ships."""
    if sum(map(_is_misspellable, words)) < MIN_WORDS:
        return DEFAULT, {"fitted": False, "why": f"fewer than {MIN_WORDS:,} words to misspell: the channel that ships"}
    rng = np.random.default_rng([seed, 7])
    sorted_by_name = list(words[:MIN_WORDS]) == sorted(words[:MIN_WORDS])
    known, new_words = _split_words(words, rng, even=sorted_by_name)
    reader = Reader(known, DEFAULT, lowercase)
    typos = _typos(reader, frozenset(words), 2 * FITTED_TYPOS, rng, even=sorted_by_name)
    known_set = frozenset(known)
    real: list[Pair] = [pair for pair in misspellings if pair[0] in known_set and pair[1] not in known_set]
    test_words = len(new_words) // 3
    new: list[Pair] = [(None, word) for word in new_words[test_words:]]
    groups = [typos[TEST_TYPOS : TEST_TYPOS + FITTED_TYPOS], new, real]
    channel = DEFAULT
    for _ in range(ROUNDS):
        reader = Reader.like(reader, channel)
        channel = fit(examples(reader, groups), channel)
    report = {"fitted": True, "typos": FITTED_TYPOS, "held_back": len(groups[1]), "misspellings": len(real)}
    return channel, {**report, **_score(Reader.like(reader, channel), typos[:TEST_TYPOS], new_words[:test_words])}


def _is_misspellable(word: str) -> bool:
    return len(word) > 2 and word.isalpha()


def _split_words(words: Sequence[str], rng: np.random.Generator, even: bool) -> tuple[list[str], list[str]]:
    """The words that play the known ones, and those that play the new: a sample of the rarer two thirds, or with `even`
    of all, where the order is not that of frequency."""
    able = np.arange(0 if even else len(words) // 3, len(words))
    able = able[[any(map(str.isalpha, words[row])) and len(words[row]) > 1 for row in able.tolist()]]
    chosen = rng.choice(able, min(MAX_NEW_WORDS, int(MAX_NEW_SHARE * len(words)), len(able)), replace=False)
    new = set(chosen.tolist())
    return [word for row, word in enumerate(words) if row not in new], [words[row] for row in chosen.tolist()]


def _typos(reader: Reader, known: frozenset[str], count: int, rng: np.random.Generator, even: bool) -> list[Pair]:
    """Misspellings of words drawn by Zipf's law (evenly where the table is not in the order of frequency). People write
    what looks like a word: of two misspellings of each the one is taken that is spelled more like the known words."""
    words = reader.words
    able = np.array([row for row, word in enumerate(words) if _is_misspellable(word)])
    chance = np.ones(len(able)) if even else 1 / (able + RANK_OFFSET)
    right = [words[row] for row in rng.choice(able, count, p=chance / chance.sum()).tolist()]
    versions = [misspell(right, rng) for _ in range(2)]
    likely = [reader.likelihood(version) for version in versions]
    for number, version in enumerate(versions):
        likely[number][[string in known or not string for string in version]] = -np.inf
    wrong = np.where(likely[0] >= likely[1], *(np.array(version, dtype=object) for version in versions)).tolist()
    return [pair for pair in zip(right, wrong, strict=True) if pair[1] not in known and pair[1]]


def examples(reader: Reader, groups: Sequence[Sequence[Pair]]) -> Examples:
    """The features of groups of pairs (right word or None for a new one, string), which weigh as GROUP_WEIGHTS says."""
    pairs = [pair for group in groups for pair in group]
    shares = zip(groups, GROUP_WEIGHTS, strict=True)
    weights = np.concatenate([np.full(len(group), weight / max(len(group), 1)) for group, weight in shares])
    parts = [_features(reader, pairs[low : low + STRINGS_PER_BLOCK]) for low in range(0, len(pairs), STRINGS_PER_BLOCK)]
    slips, lengths, new, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Examples(slips, np.append(0, np.cumsum(lengths)), new, right, weights / weights.sum())


def _features(reader: Reader, pairs: Sequence[Pair]) -> tuple[Numbers, Any, Numbers, Any]:
    strings = reader.strings([string for _, string in pairs])
    asked = Spellings.of(strings.rows, reader.symbols)
    candidates: Ragged = reader.index.candidates(asked)
    rows = reader.known_rows[candidates.values]
    counts = slip_counts(reader.pairs(asked, candidates), Slips(reader.symbols, reader.channel.slip_costs))
    slips = np.concatenate([counts, np.log(rows + float(RANK_OFFSET))[:, None]], axis=1)
    new = reader.novelty.features(strings.rows, strings.digits, strings.names)
    right = np.full(len(pairs), -1, dtype=np.int64)
    for number, (word, _) in enumerate(pairs):
        places = np.flatnonzero(rows[candidates.offsets[number] : candidates.offsets[number + 1]] == reader.row(word))
        right[number] = places[0] if len(places) else -1
    return slips, candidates.lengths, new, right


def fit(data: Examples, start: Channel) -> Channel:
    """The numbers that make the right readings likeliest: Newton's method with a little ridge, costs held above 0."""
    size = len(KINDS) + 1
    # The channel in one row, as coefficients of the logit: minus the costs, minus rank, then what speaks for new.
    weights = np.concatenate([-np.array([start.costs[kind] for kind in KINDS]), [-start.rank], start.new_weights])
    low = np.concatenate([np.full(len(KINDS), -MAX_SLIP_COST), [-MAX_SLIP_COST], np.full(len(FEATURES), -np.inf)])
    high = np.concatenate([np.full(len(KINDS), -MIN_COST), [0.0], np.full(len(FEATURES), np.inf)])
    string = np.repeat(np.arange(len(data.new)), np.diff(data.offsets))
    is_new = data.right < 0
    right = data.offsets[:-1][~is_new] + data.right[~is_new]
    ridge = np.full(len(weights), RIDGE)
    ridge[size] = 0.0  # the constant
    for _ in range(STEPS):
        chance, new = probabilities(data, string, weights)
        share = data.weights[string] * chance
        pull = np.concatenate([-data.slips.T @ share, -data.new.T @ (data.weights * new)])
        pull[:size] += data.slips[right].T @ data.weights[~is_new]
        pull[size:] += data.new[is_new].T @ data.weights[is_new]
        pull -= ridge * weights
        mean = np.zeros((len(data.new), len(weights)))
        begins = np.flatnonzero(np.diff(data.offsets))  # strings that have candidates
        mean[begins, :size] = np.add.reduceat(chance[:, None] * data.slips, data.offsets[begins], axis=0)
        mean[:, size:] = new[:, None] * data.new
        curve = np.diag(ridge + 1e-9) - (mean.T * data.weights) @ mean
        curve[:size, :size] += (data.slips.T * share) @ data.slips
        curve[size:, size:] += (data.new.T * (data.weights * new)) @ data.new
        free = ~((weights <= low) & (pull < 0)) & ~((weights >= high) & (pull > 0))
        free[size + NAME_FEATURE] = False  # words of a target are in lower case, most of them: chosen, not learned
        step = np.zeros(len(weights))
        step[free] = np.linalg.solve(curve[np.ix_(free, free)], pull[free])
        step *= min(1.0, 2.0 / max(np.abs(step).max(), 1e-12))
        weights = np.clip(weights + step, low, high)
        if np.abs(step).max() < 1e-6:
            break
    return Channel(
        {kind: round(float(-weight), 4) for kind, weight in zip(KINDS, weights, strict=False)},
        round(float(-weights[size - 1]), 4),
        {name: round(float(weight), 4) for name, weight in zip(FEATURES, weights[size:], strict=True)},
    )


def probabilities(data: Examples, string: NDArray[np.int64], weights: Numbers) -> tuple[Numbers, Numbers]:
    """The probability of each candidate [candidates], and of a new word [strings]; `string` tells whose each
    candidate is."""
    size = data.slips.shape[1]
    utility, new = data.slips @ weights[:size], data.new @ weights[size:]
    best = new.copy()
    np.maximum.at(best, string, utility)
    exp, own = np.exp(utility - best[string]), np.exp(new - best)
    total = own + np.bincount(string, exp, minlength=len(new))
    return exp / total[string], own / total


def _score(reader: Reader, typos: Sequence[Pair], new_words: Sequence[str]) -> dict[str, float]:
    readings, new = reader([string for _, string in typos]), reader(list(new_words)).new
    first = [reader.row(word) == row for (word, _), row in zip(typos, readings.rows[:, 0].tolist(), strict=True)]
    return {
        "right_first": round(float(np.mean(first)), 4),
        "new_on_typos": round(float(readings.new.mean()), 4),
        "new_on_held_back": round(float(new.mean()), 4),
    }
