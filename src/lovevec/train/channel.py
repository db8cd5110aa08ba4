"""Learns how strings are read: the lexicon and the channel, from words alone, by damaged words and words held back.

Known words are misspelled as damage/misspell.py does, the frequent ones more often; some of the rarer words are held
back and play the new ones, half of them listed in the lexicon, half not; frequent words are run together; letters at
random are new, too. The costs of slips, what rank counts, and what speaks for new and for several words are those that
make the right readings likeliest: a conditional logit, by Newton's method. Which alignment and which cut is the
cheapest depends on the costs, so that both are found in turns.

What else is at hand joins in: `misspellings`, pairs of right word and misspelling, with as much weight as the damaged
words, and `others`, words that exist but are not known ones, which make the lexicon larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.languages import ENGLISH, Language
from lovevec.damage.misspell import misspell
from lovevec.near.alignment import slip_counts
from lovevec.near.channel import DEFAULT, MAX_SLIP_COST, RANK_OFFSET, Channel
from lovevec.near.forms import Listed
from lovevec.near.index import Spellings
from lovevec.near.joined import FAR, SHORT
from lovevec.near.joined import FEATURES as JOINED
from lovevec.near.lexicon import Lexicon
from lovevec.near.novelty import CHOSEN, FEATURES, score
from lovevec.near.orthography import Orthography
from lovevec.near.reader import NO_CANDIDATE_COST, Reader
from lovevec.near.symbols import KIND, KINDS
from lovevec.train.lexicon import learn_lexicon
from lovevec.units.ragged import Ragged, offsets_of

MIN_WORDS = 1000  # words of a target that has its own channel
FITTED_TYPOS, MAX_NEW_WORDS, TEST_TYPOS, JOINED_STRINGS, NONSENSE = 6000, 6000, 2000, 2500, 600
MAX_NEW_SHARE = 0.1  # of the target's words, at most held back
TYPOS_PER_WORD, MAX_TYPOS = 4, 400_000  # from which the lexicon learns what misspellings look like
ROUNDS, STEPS = 3, 30
RIDGE = 1e-3
MIN_COST = 0.1
STRINGS_PER_BLOCK = 1000
CANDIDATES_PER_STRING = 16
# How much each group counts. New words count more than they come, because to take one for another word is worse.
WEIGHTS = {"typos": 1.5, "real": 1.5, "listed": 1.5, "new": 1.3, "joined": 0.5, "nonsense": 0.2}

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


class Example(NamedTuple):
    """A string, and what it is: `word` the known word that was meant, or none; `joined` where it is several words."""

    string: str
    word: str | None = None
    joined: bool = False


Groups = dict[str, list[Example]]


@dataclass(frozen=True, eq=False)
class Choices:
    """The readings that strings may have, as a conditional logit wants them: rows of `features` [readings, all weights]
    for each string, from `offsets` on; `right` [strings] the one that is right; `weights` [strings]."""

    features: Numbers
    offsets: Integers
    right: Integers
    weights: Numbers


class Fit(NamedTuple):
    """What was learned, and how good it is on strings that it was not fitted to."""

    orthography: Orthography
    report: dict[str, Any]


def fit_reader(
    words: Sequence[str],
    lowercase: bool,
    seed: int,
    misspellings: Sequence[tuple[str, str]] = (),
    others: Sequence[str] = (),
    listed: Listed | None = None,
    language: Language = ENGLISH,
) -> Fit:
    """Learn how strings are read by a target's words, most frequent first unless they are in the order of the alphabet.

    `misspellings` are pairs of a right word and what was written for it; `others` words that exist but are not among
    `words`; `listed` forms that stand for words, which are not learned but kept beside; `language` how words get
    damaged. A target of few words gets the channel that ships, and a lexicon of its words."""
    listed = listed or {}
    rng = np.random.default_rng([seed, 7])
    if sum(map(_is_misspellable, words)) < MIN_WORDS:
        why = f"fewer than {MIN_WORDS:,} words to misspell: the channel that ships"
        lexicon = Lexicon.of([*words, *others], lowercase)
        return Fit(Orthography(DEFAULT, lexicon, listed, language), {"fitted": False, "why": why})
    is_sorted = list(words[:MIN_WORDS]) == sorted(words[:MIN_WORDS])
    exist = frozenset(words).union(others)
    known, held = _split_words(words, rng, even=is_sorted)
    wrong = _many_typos(words, exist, rng, even=is_sorted, language=language)
    real = [pair for pair in misspellings if pair[0] in exist and pair[1] not in exist]
    more = list(np.array(others, dtype=object)[rng.permutation(len(others))])
    half = len(more) // 2
    # what is odd is for fitting; the lexicon meanwhile knows nothing of it
    lexicon = learn_lexicon(
        [*known, *held[::2], *more[:half]], [*wrong, *(string for _, string in real[::2])], rng, lowercase
    )
    reader = Reader(known, Orthography(DEFAULT, lexicon, language=language), lowercase, compiled=False)
    typos = _typos(reader, exist, 2 * FITTED_TYPOS, rng, even=is_sorted)
    groups, test = _groups(reader, typos, real[1::2], held, more, rng)
    channel = DEFAULT
    for _ in range(ROUNDS):
        channel = fit(choices(reader, groups), channel)
        reader = Reader.like(reader, Orthography(channel, lexicon, language=language))
    counts = {name: len(group) for name, group in groups.items()}
    report = {"fitted": True, "strings": counts, **_score(reader, test)}
    whole = learn_lexicon([*words, *more], [*wrong, *(string for _, string in real)], rng, lowercase)
    return Fit(Orthography(channel, whole, listed, language), report)


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


def _draw(words: Sequence[str], count: int, rng: np.random.Generator, even: bool, offset: float) -> list[str]:
    """Words of letters alone, by Zipf's law (evenly where the table is not in the order of frequency)."""
    able = np.array([row for row, word in enumerate(words) if _is_misspellable(word)])
    chance = np.ones(len(able)) if even else 1 / (able + offset)
    return [words[row] for row in rng.choice(able, count, p=chance / chance.sum()).tolist()]


def _many_typos(
    words: Sequence[str], exist: frozenset[str], rng: np.random.Generator, even: bool, language: Language
) -> list[str]:
    """Strings that are no words: misspellings, of rarer words too."""
    count = min(TYPOS_PER_WORD * len(words), MAX_TYPOS)
    strings = dict.fromkeys(misspell(_draw(words, count, rng, even, 10 * RANK_OFFSET), rng, language))
    return [string for string in strings if string not in exist and string.isalpha()]


def _typos(
    reader: Reader, exist: frozenset[str], count: int, rng: np.random.Generator, even: bool
) -> list[tuple[str, str]]:
    """Misspellings of words drawn by Zipf's law, (right, wrong). People write what looks like a word: of two
    misspellings of each the one is taken that is spelled more like the known words."""
    right = _draw(reader.words, count, rng, even, RANK_OFFSET)
    versions = [misspell(right, rng, reader.orthography.language) for _ in range(2)]
    likely = [reader.likeness(version) for version in versions]
    for number, version in enumerate(versions):
        likely[number][[string in exist or not string for string in version]] = -np.inf
    wrong = np.where(likely[0] >= likely[1], *(np.array(version, dtype=object) for version in versions)).tolist()
    return [pair for pair in zip(right, wrong, strict=True) if pair[1] not in exist and pair[1]]


def _groups(
    reader: Reader,
    typos: Sequence[tuple[str, str]],
    real: Sequence[tuple[str, str]],
    held: Sequence[str],
    others: Sequence[str],
    rng: np.random.Generator,
) -> tuple[Groups, Groups]:
    """What is fitted to, and what it is tested on. Of words that are held back, and of others, every second one, or the
    first half, is in the lexicon."""
    half, kept = len(others) // 2, frozenset(reader.words)
    listed = [*held[::2], *others[: min(half, MAX_NEW_WORDS // 2)]]
    new = [*held[1::2], *others[half : half + MAX_NEW_WORDS // 2]]
    near = [Example(wrong, right) for right, wrong in typos]
    meant = [Example(wrong, right) for right, wrong in real if right in kept][: 2 * FITTED_TYPOS]
    meant = [meant[place] for place in rng.permutation(len(meant))[:FITTED_TYPOS].tolist()]
    fitted = {
        "typos": near[TEST_TYPOS : TEST_TYPOS + FITTED_TYPOS],
        "real": meant,
        "listed": [Example(word) for word in listed[len(listed) // 3 :]],
        "new": [Example(word) for word in new[len(new) // 3 :]],
        "joined": _joined(reader, rng),
        "nonsense": _nonsense(reader, rng),
    }
    tested = {
        "typos": near[:TEST_TYPOS],
        "listed": [Example(word) for word in listed[: len(listed) // 3]],
        "new": [Example(word) for word in new[: len(new) // 3]],
    }
    return fitted, tested


def _joined(reader: Reader, rng: np.random.Generator) -> list[Example]:
    """Two words or three, drawn by Zipf's law, without the blanks between them."""
    words = [word for word in reader.words[: 10 * MIN_WORDS] if word.isalpha()]
    chance = 1 / (np.arange(len(words)) + RANK_OFFSET)
    drawn = rng.choice(len(words), (JOINED_STRINGS, 3), p=chance / chance.sum())
    damaged = misspell([words[row] for row in drawn[:, 0].tolist()], rng, reader.orthography.language)
    is_damaged = rng.random(JOINED_STRINGS) < 0.3
    count = np.where(rng.random(JOINED_STRINGS) < 0.75, 2, 3)
    strings = []
    for rows, size, slip, use in zip(drawn.tolist(), count, damaged, is_damaged, strict=True):
        parts = [slip if use and len(words[rows[0]]) > SHORT else words[rows[0]], *(words[row] for row in rows[1:size])]
        turn = int(rng.integers(size))
        strings.append("".join([*parts[turn:], *parts[:turn]]))
    known = frozenset(reader.words)
    return [Example(string, joined=True) for string in dict.fromkeys(strings) if string not in known]


def _nonsense(reader: Reader, rng: np.random.Generator) -> list[Example]:
    """Letters at random."""
    letters = sorted({letter for word in reader.words[:MIN_WORDS] for letter in word if letter.isalpha()})
    sizes = rng.integers(3, 12, NONSENSE).tolist()
    return [Example("".join(letters[at] for at in rng.integers(0, len(letters), size).tolist())) for size in sizes]


def choices(reader: Reader, groups: Groups) -> Choices:
    """The readings of groups of strings, which weigh as WEIGHTS says. Strings whose right reading is none of them (the
    word is no candidate, no cut is known) are left out."""
    blocks, weights = [], []
    for name, group in groups.items():
        for low in range(0, len(group), STRINGS_PER_BLOCK):
            blocks.append(_choices(reader, group[low : low + STRINGS_PER_BLOCK]))
            weights.append(np.full(len(blocks[-1][1]), WEIGHTS[name] / max(len(group), 1)))
    features, lengths, right = (np.concatenate(column) for column in zip(*blocks, strict=True))
    share = np.concatenate(weights)
    keep = right >= 0
    inside = np.repeat(keep, lengths)
    return Choices(features[inside], offsets_of(lengths[keep]), right[keep], share[keep] / share[keep].sum())


def _choices(reader: Reader, group: Sequence[Example]) -> tuple[Numbers, Integers, Integers]:
    """Features of the readings of some strings: the cheapest candidates, new, and joined where there is a cut; how many
    readings each string has, and which is right, -1 for none."""
    strings = reader.strings([example.string for example in group])
    asked = Spellings.of(strings.rows, reader.symbols)
    candidates, costs = reader.candidates(asked)
    cheapest = _cheapest(candidates, costs)
    rows, owners = reader.known_rows[cheapest.values], cheapest.owners
    of_new = reader.features(strings)
    least = np.full(len(group), NO_CANDIDATE_COST, dtype=np.int32)
    np.minimum.at(least, candidates.owners, costs)
    cuts, damaged = reader.cuts(strings, of_new, score(of_new, reader.channel.new_weights), least)
    is_cut = cuts.costs < FAR
    lengths = cheapest.lengths + 1 + is_cut
    offsets = offsets_of(lengths)
    near, new = len(KINDS) + 1, len(FEATURES)
    features = np.zeros((offsets[-1], near + new + len(JOINED)))
    at = np.arange(len(rows)) + (offsets[:-1] - cheapest.offsets[:-1])[owners]
    features[at, : near - 1] = -slip_counts(reader.pairs(asked, cheapest), reader.slips)
    features[at, near - 1] = -np.log(rows + float(RANK_OFFSET))
    last = offsets[:-1] + cheapest.lengths
    features[last, near : near + new] = of_new
    features[last[is_cut] + 1, near + new :] = _cut_features(cuts.rows[is_cut], cuts.ends[is_cut])
    if damaged:  # a damaged part counts as a near word does, but for its rank
        slips = [strings.rows.row(one.string)[one.start : one.end] for one in damaged]
        inside = Spellings.of(
            Ragged.from_lengths(np.concatenate(slips), np.array(list(map(len, slips)))), reader.symbols
        )
        meant = Ragged(np.array([one.word for one in damaged]), np.arange(len(damaged) + 1))
        places = last[[one.string for one in damaged]] + 1
        features[places, : near - 1] = -slip_counts(reader.pairs(inside, meant), reader.slips)
    right = np.full(len(group), -1, dtype=np.int64)
    for number, (_, word, joined) in enumerate(group):
        if word is not None:
            places = np.flatnonzero(rows[cheapest.offsets[number] : cheapest.offsets[number + 1]] == reader.row(word))
            right[number] = places[0] if len(places) else -1
        elif not joined or is_cut[number]:
            right[number] = lengths[number] - (1 if joined else 1 + is_cut[number])
    return features, lengths, right


def _cheapest(candidates: Ragged, costs: NDArray[np.int32]) -> Ragged:
    """The CANDIDATES_PER_STRING cheapest of each string."""
    order = np.lexsort((candidates.values, costs, candidates.owners))
    place = np.arange(len(order)) - candidates.offsets[candidates.owners]
    first = place < CANDIDATES_PER_STRING
    return Ragged(candidates.values[order][first], offsets_of(first)[candidates.offsets])


def _cut_features(rows: NDArray[np.int32], ends: NDArray[np.int32]) -> Numbers:
    """[strings, JOINED]"""
    is_part, starts = rows >= 0, np.concatenate([np.zeros((len(ends), 1), np.int32), ends[:, :-1]], axis=1)
    ranks = np.where(is_part, np.log(np.maximum(rows, 0) + float(RANK_OFFSET)), 0).sum(axis=1)
    short = (is_part & (ends - starts <= SHORT)).sum(axis=1)
    return np.stack([np.ones(len(rows)), 1.0 - is_part.sum(axis=1), -ranks, -short], axis=1)


def fit(data: Choices, start: Channel) -> Channel:
    """The numbers that make the right readings likeliest: Newton's method with a little ridge, costs held above 0.

    What a mark left out costs is not learned: who leaves out one mostly leaves out all, which a sum over letters cannot
    say, and would be taken for as many slips."""
    joined = [start.joined[name] for name in JOINED]
    weights = np.array([*(start.costs[kind] for kind in KINDS), start.rank, *start.new_weights, *joined])
    near, size = len(KINDS) + 1, len(weights)
    new, last = slice(near, near + len(FEATURES)), near + len(FEATURES)
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    low[: near - 1], low[near - 1], high[:near] = MIN_COST, 0.0, MAX_SLIP_COST
    low[last + 1 :], high[last + 1 :] = 0.0, MAX_SLIP_COST
    ridge = np.full(size, RIDGE)
    ridge[[near, last]] = 0.0  # the constants
    string = np.repeat(np.arange(len(data.right)), np.diff(data.offsets))
    right = data.offsets[:-1] + data.right
    for _ in range(STEPS):
        chance = probabilities(data, string, weights)
        share = data.weights[string] * chance
        pull = data.features[right].T @ data.weights - data.features.T @ share - ridge * weights
        mean = np.add.reduceat(chance[:, None] * data.features, data.offsets[:-1], axis=0)
        curve = np.diag(ridge + 1e-9) + (data.features.T * share) @ data.features - (mean.T * data.weights) @ mean
        free = ~((weights <= low) & (pull < 0)) & ~((weights >= high) & (pull > 0))
        free[[KIND["bare"], *(near + FEATURES.index(name) for name in CHOSEN)]] = False
        step = np.zeros(size)
        step[free] = np.linalg.solve(curve[np.ix_(free, free)], pull[free])
        step *= min(1.0, 2.0 / max(np.abs(step).max(), 1e-12))
        weights = np.clip(weights + step, low, high)
        if np.abs(step).max() < 1e-6:
            break
    numbers = [round(float(weight), 4) for weight in weights]
    return Channel(
        dict(zip(KINDS, numbers, strict=False)),
        numbers[near - 1],
        dict(zip(FEATURES, numbers[new], strict=True)),
        dict(zip(JOINED, numbers[last:], strict=True)),
    )


def probabilities(data: Choices, string: Integers, weights: Numbers) -> Numbers:
    """The probability of each reading [readings]; `string` tells whose each one is."""
    utility = data.features @ weights
    utility = np.exp(utility - np.maximum.reduceat(utility, data.offsets[:-1])[string])
    chance: Numbers = utility / np.add.reduceat(utility, data.offsets[:-1])[string]
    return chance


def _score(reader: Reader, groups: Groups) -> dict[str, float]:
    """How strings that nothing was fitted to are read."""
    typos = groups["typos"]
    readings = reader([example.string for example in typos])
    first = [reader.row(one.word) == row for one, row in zip(typos, readings.rows[:, 0].tolist(), strict=True)]
    new = {name: reader(_strings(groups[name])).new if groups[name] else np.zeros(1) for name in ("listed", "new")}
    return {
        "right_first": round(float(np.mean(first)), 4),
        "new_on_typos": round(float(readings.new.mean()), 4),
        "new_on_held_back": round(float(new["new"].mean()), 4),
        "new_on_listed": round(float(new["listed"].mean()), 4),
    }


def _strings(group: Iterable[Example]) -> list[str]:
    return [example.string for example in group]
