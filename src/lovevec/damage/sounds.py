"""Spellings that sound alike: `nife` for knife, `fotograph` for photograph, `definately` for definitely.

People who cannot spell a word write what they hear, which no slip of the finger gives. data/sounds.json lists English
spellings and what is written for them; one of a word's spellings is changed, drawn evenly from all changes that fit.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from lovevec.units.ragged import Ragged, offsets_of, spread

# A spelling is a number: five bits a letter, a = 1 … z = 26.
BITS, BEFORE_A = 5, ord("a") - 1


@dataclass(frozen=True)
class SpellingRules:
    """The spellings of one length: `keys` sorted; that of key i has the replacements numbered first[i] … +count[i]."""

    length: int
    keys: NDArray[np.int64]
    first: NDArray[np.int64]
    count: NDArray[np.int64]


@cache
def spellings() -> tuple[list[SpellingRules], Ragged]:
    """All spellings by length, and all replacements as rows of code points."""
    text = (files("lovevec.damage") / "data" / "sounds.json").read_text("utf-8")
    rules: dict[str, list[str]] = json.loads(text)["sounds"]
    found: list[SpellingRules] = []
    replacements: list[str] = []
    for length in sorted({len(spelling) for spelling in rules}):
        chosen = sorted((spelling for spelling in rules if len(spelling) == length), key=_key)
        counts = np.array([len(rules[spelling]) for spelling in chosen], dtype=np.int64)
        first = len(replacements) + offsets_of(counts)[:-1]
        found.append(SpellingRules(length, np.array([_key(spelling) for spelling in chosen]), first, counts))
        replacements += [other for spelling in chosen for other in rules[spelling]]
    codes = np.frombuffer("".join(replacements).encode("ascii"), dtype=np.uint8).astype(np.uint32)
    return found, Ragged.from_lengths(codes, np.array([len(other) for other in replacements]))


def _key(spelling: str) -> int:
    key = 0
    for letter in spelling:
        key = key << BITS | (ord(letter) - BEFORE_A)
    return key


def respell(codes: Ragged, rng: np.random.Generator) -> Ragged:
    """Each word with one spelling changed; a word where none fits stays as it is."""
    by_length, replacements = spellings()
    first, count = _matches(codes, by_length)  # [characters, lengths]
    before = offsets_of(count.ravel())  # changes before each (character, length)
    low, high = before[codes.offsets[:-1] * len(by_length)], before[codes.offsets[1:] * len(by_length)]
    words = np.flatnonzero(high > low)
    drawn = low[words] + (rng.random(len(words)) * (high - low)[words]).astype(np.int64)
    cell = np.searchsorted(before, drawn, side="right") - 1
    place, which = np.divmod(cell, len(by_length))
    rule = first.ravel()[cell] + drawn - before[cell]
    span = np.array([group.length for group in by_length])[which]
    return _replace(codes, words, place - codes.offsets[words], span, replacements.take(rule))


def _matches(codes: Ragged, by_length: list[SpellingRules]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each character and each length: the first replacement of the spelling that begins there, and how many."""
    letters = codes.values.astype(np.int64) - BEFORE_A
    letters[(letters < 1) | (letters > 26)] = 0
    left = spread(codes.offsets[1:], codes.lengths) - np.arange(len(letters))
    first = np.zeros((len(letters), len(by_length)), dtype=np.int64)
    count = np.zeros_like(first)
    for column, group in enumerate(by_length):
        key = np.zeros(len(letters), dtype=np.int64)
        for step in range(group.length):
            key <<= BITS
            key[: max(len(key) - step, 0)] |= letters[step:]
        at = np.minimum(np.searchsorted(group.keys, key), len(group.keys) - 1)
        fits = (group.keys[at] == key) & (left >= group.length)
        first[fits, column], count[fits, column] = group.first[at[fits]], group.count[at[fits]]
    return first, count


def _replace(
    codes: Ragged, words: NDArray[np.int64], place: NDArray[np.int64], span: NDArray[np.int64], new: Ragged
) -> Ragged:
    """In the i-th of `words` the span[i] characters from place[i] on become row i of `new`."""
    grown, fresh, begin = (np.zeros(len(codes), dtype=np.int64) for _ in range(3))
    at = codes.lengths.copy()  # words that stay: an edit of nothing at their end
    at[words], grown[words], fresh[words], begin[words] = place, new.lengths - span, new.lengths, new.offsets[:-1]
    lengths = codes.lengths + grown
    offsets = offsets_of(lengths)
    inside = np.arange(offsets[-1]) - spread(offsets[:-1], lengths)
    there = inside - spread(at, lengths)  # 0 at the edit, negative before, positive behind
    is_new = (there >= 0) & (there < spread(fresh, lengths))
    values = np.empty(offsets[-1], dtype=np.uint32)
    source = inside + spread(codes.offsets[:-1], lengths) - np.where(there >= 0, spread(grown, lengths), 0)
    values[~is_new] = codes.values[source[~is_new]]
    values[is_new] = new.values[(there + spread(begin, lengths))[is_new]]
    return Ragged(values, offsets)
