"""Misspellings as people and scanners make them: one slip or several, of kinds at rates like those of real ones.

    sound     6 of 10: what is heard is written (sounds.py)            definately
    drop, insert, swap, keyboard                                       goverment
    scan      one look-alike character                                 bl00d
    print     two letters that print like one, or one like two         rnodern
    plain     marks left out, or letters written in full               hopital, fuer
    joint     a blank or hyphen inside                                 out_side

The first letter is right more often than others: of slips that change it, two of three are not made. Kinds and rates
were chosen on the misspellings of one half of Birkbeck's words (lab/runs/near.sh); nothing of that list is stored here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lovevec.damage.edits import EDITS, PLAIN, damage_word, edit
from lovevec.damage.languages import ENGLISH, Language
from lovevec.units.characters import to_codes, to_words

RATES = {"sound": 0.6, "drop": 0.12, "insert": 0.05, "swap": 0.1, "keyboard": 0.04, "scan": 0.05}
PRINT, PLAIN_SHARE, JOINT = 0.03, 0.3, 0.015  # shares of words, before the other slips
ONE_MORE, MAX_SLIPS = 0.65, 6
# Of other languages than English: what people type in messages has fewer slips than what pupils spell in tests.
RATES_ELSEWHERE = {"sound": 0.36, "drop": 0.19, "insert": 0.12, "swap": 0.13, "keyboard": 0.17, "scan": 0.03}
ONE_MORE_ELSEWHERE = 0.35
FIRST_LETTER_KEPT = 0.67
PRINTED_ALIKE = (
    *(("m", "rn"), ("m", "nn"), ("d", "cl"), ("d", "ol"), ("h", "li"), ("h", "ll"), ("w", "vv")),
    *(("n", "ri"), ("n", "ii"), ("u", "ii"), ("u", "li"), ("k", "lc"), ("b", "lo"), ("g", "cj")),
)


def misspell(words: Sequence[str], rng: np.random.Generator, language: Language = ENGLISH) -> list[str]:
    """Each word misspelled as people do who write this language; one without a place for the slip that was drawn stays
    as it is."""
    shown = list(words)
    going = np.arange(len(words))
    special = rng.random(len(words))
    for place in np.flatnonzero(special < PLAIN_SHARE).tolist():
        if not shown[place].isascii():
            shown[place] = damage_word(shown[place], PLAIN, rng, language)
    for place in np.flatnonzero(special > 1 - PRINT - JOINT).tolist():
        shown[place] = (_misprint if special[place] > 1 - PRINT else _split)(shown[place], rng)
    going = np.array([place for place in going.tolist() if shown[place] == words[place]], dtype=np.int64)
    rates_of, one_more = (RATES, ONE_MORE) if language.code == ENGLISH.code else (RATES_ELSEWHERE, ONE_MORE_ELSEWHERE)
    kinds, rates = np.array([EDITS[kind] for kind in rates_of]), np.array(list(rates_of.values()))
    for _ in range(MAX_SLIPS):
        if not len(going):
            break
        drawn = kinds[rng.choice(len(kinds), len(going), p=rates / rates.sum())]
        codes = to_codes([shown[place] for place in going.tolist()], lowercase=False)
        edited = to_words(edit(codes, drawn, rng, language))
        kept = rng.random(len(going)) < FIRST_LETTER_KEPT
        for place, new, first in zip(going.tolist(), edited, kept.tolist(), strict=True):
            if new and (not first or new[:1] == shown[place][:1]):
                shown[place] = new
        going = going[rng.random(len(going)) < one_more]
    return shown


def _misprint(word: str, rng: np.random.Generator) -> str:
    """Replace one letter by two that print alike, or two by one."""
    pairs = [pair for one, two in PRINTED_ALIKE for pair in ((one, two), (two, one)) if pair[0] in word]
    if not pairs:
        return word
    old, new = pairs[int(rng.integers(len(pairs)))]
    return word.replace(old, new, 1)


def _split(word: str, rng: np.random.Generator) -> str:
    """Put a blank or a hyphen inside the word."""
    if len(word) < 4:
        return word
    at = int(rng.integers(2, len(word) - 1))
    return word[:at] + " -"[int(rng.integers(2))] + word[at:]
