"""Spellings that sound alike: `nife` for knife, `fotograph` for photograph, `definately` for definitely.

People who cannot spell a word write what they hear, which no slip of the finger gives. data/sounds.json lists English
spellings and what is written for them, data/sounds_of_languages.json those of other languages; one of a word's
spellings is changed, drawn evenly from all changes that fit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.units.characters import codes_of
from lovevec.units.ragged import Ragged, offsets_of, spread

ENGLISH = "en"
BITS = 6  # a spelling is a number, of so many bits a letter; 0 is no letter of any rule
NOTHING = "-"

Sounds = Mapping[str, Sequence[str]]  # spellings, each with what is written for it


@dataclass(frozen=True)
class RulesOfLength:
    """The spellings of one length: `keys` sorted; that of key i has the replacements numbered first[i] … +count[i]."""

    length: int
    keys: NDArray[np.int64]
    first: NDArray[np.int64]
    count: NDArray[np.int64]


class SpellingRules:
    """Spellings and what is written for them, laid out so that those of many words are found at once."""

    def __init__(self, sounds: Sounds) -> None:
        self.letters = np.array(sorted({ord(letter) for spelling in sounds for letter in spelling}), dtype=np.uint32)
        number = {chr(code): place for place, code in enumerate(self.letters.tolist(), 1)}
        self.by_length: list[RulesOfLength] = []
        replacements: list[str] = []
        for length in sorted({len(spelling) for spelling in sounds}):
            keys = {_key(spelling, number): spelling for spelling in sounds if len(spelling) == length}
            chosen = [keys[key] for key in sorted(keys)]
            counts = np.array([len(sounds[spelling]) for spelling in chosen], dtype=np.int64)
            first = len(replacements) + offsets_of(counts)[:-1]
            self.by_length.append(RulesOfLength(length, np.array(sorted(keys), dtype=np.int64), first, counts))
            replacements += [other for spelling in chosen for other in sounds[spelling]]
        codes = codes_of("".join(replacements))
        self.replacements = Ragged.from_lengths(codes, np.array([len(other) for other in replacements], dtype=np.int64))

    def numbers(self, values: NDArray[np.integer]) -> NDArray[np.int64]:
        """The number of each character among the letters of the rules, from 1 up; 0 for others."""
        place = np.searchsorted(self.letters, values)
        numbers: NDArray[np.int64] = np.where(np.append(self.letters, 0)[place] == values, place + 1, 0)
        return numbers


def _key(spelling: str, number: Mapping[str, int]) -> int:
    key = 0
    for letter in spelling:
        key = key << BITS | number[letter]
    return key


def _data(name: str) -> Any:
    return json.loads((files("lovevec.damage") / "data" / f"{name}.json").read_text("utf-8"))["sounds"]


@cache
def sounds_of(code: str) -> Sounds:
    """The spellings of a language, each with what is written for it; none for a language without a list."""
    if code == ENGLISH:
        english: Sounds = _data("sounds")
        return english
    found: dict[str, list[str]] = {}
    for rule in filter(None, _data("sounds_of_languages").get(code, "").split(" | ")):
        written, _, instead = rule.partition(" > ")
        for one in written.split():
            for other in (instead or written).split():
                if one not in (other, NOTHING):
                    found.setdefault(one, []).append("" if other == NOTHING else other)
    return {one: list(dict.fromkeys(others)) for one, others in found.items()}


@cache
def english_rules() -> SpellingRules:
    """The rules for English."""
    return SpellingRules(sounds_of(ENGLISH))


def respell(codes: Ragged, rng: np.random.Generator, rules: SpellingRules | None = None) -> Ragged:
    """Each word with one spelling changed, by the rules for English unless others are given; a word where none fits
    stays as it is."""
    rules = english_rules() if rules is None else rules
    by_length = rules.by_length
    if not by_length:
        return codes
    first, count = _matches(codes, rules)  # [characters, lengths]
    before = offsets_of(count.ravel())  # changes before each (character, length)
    low, high = before[codes.offsets[:-1] * len(by_length)], before[codes.offsets[1:] * len(by_length)]
    words = np.flatnonzero(high > low)
    drawn = low[words] + (rng.random(len(words)) * (high - low)[words]).astype(np.int64)
    cell = np.searchsorted(before, drawn, side="right") - 1
    place, which = np.divmod(cell, len(by_length))
    rule = first.ravel()[cell] + drawn - before[cell]
    span = np.array([group.length for group in by_length])[which]
    return _replace(codes, words, place - codes.offsets[words], span, rules.replacements.take(rule))


def _matches(codes: Ragged, rules: SpellingRules) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each character and each length: the first replacement of the spelling that begins there, and how many."""
    by_length, letters = rules.by_length, rules.numbers(codes.values)
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
