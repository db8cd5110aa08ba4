"""Edits: one slip of a finger, an ear or a scanner in a word.

    swap      mispselling      two neighboring characters change places
    drop      mispelling       one character is left out
    insert    missxpelling     one character too many
    keyboard  misspeliing      a neighboring key instead
    scan      misspe1ling      a character that prints alike instead (`ocr` of noise.py, with a table of our own)
    sound     mispelling       a spelling that sounds alike instead (see sounds.py)

and, of whole words, which many languages have and English does not (languages.py):

    plain     electricite      marks left out, or letters written in full: fuer
    layout    ghbdtn           typed on the English layout
    latin     privet           in Latin letters

Letters, keys, look-alikes and sounds are those of a language. Everything works on flat arrays of code points, many
words at once, with the caller's own generator.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.languages import ENGLISH, Language
from lovevec.damage.sounds import respell
from lovevec.errors import LovevecError
from lovevec.units.characters import codes_of, to_codes, to_words
from lovevec.units.ragged import Ragged, merge, offsets_of, spread

SWAP, DROP, INSERT, KEYBOARD, SCAN, SOUND = range(6)
# Their order decides what training draws by a seed; the number of `sound` is part of the seed of noise.
EDITS = {"swap": SWAP, "drop": DROP, "insert": INSERT, "keyboard": KEYBOARD, "sound": SOUND, "scan": SCAN}
UNTOUCHED = len(EDITS)  # any kind from here on leaves a word as it is
TYPO_KINDS = ("swap", "drop", "insert", "keyboard")
PLAIN, LAYOUT, LATIN = "plain", "layout", "latin"
WORD_KINDS = (PLAIN, LAYOUT, LATIN)
IN_FULL_SHARE = 0.5


def edit(codes: Ragged, kinds: NDArray[np.integer], rng: np.random.Generator, language: Language = ENGLISH) -> Ragged:
    """One edit of its kind to each word; a word too short or without a fitting character stays as it is."""
    lengths = codes.lengths
    swap = (kinds == SWAP) & (lengths > 1)
    drop = (kinds == DROP) & (lengths > 1)
    insert = kinds == INSERT
    at = (rng.random(len(codes)) * (lengths + insert - swap)).astype(np.int64)

    out_lengths = lengths - drop + insert
    offsets = offsets_of(out_lengths)
    inside = np.arange(offsets[-1]) - spread(offsets[:-1], out_lengths)
    there = inside - spread(at, out_lengths)  # 0 at the edit, negative before, positive behind
    source = (
        inside
        + (spread(drop, out_lengths) & (there >= 0))
        - (spread(insert, out_lengths) & (there > 0))
        + np.where(spread(swap, out_lengths), (there == 0).astype(np.int64) - (there == 1), 0)
    )
    source = np.minimum(source + spread(codes.offsets[:-1], out_lengths), max(len(codes.values) - 1, 0))
    values = codes.values[source] if len(codes.values) else np.zeros(offsets[-1], dtype=np.uint32)

    spot = offsets[:-1] + at
    letters = codes_of(language.letters)
    values[spot[insert]] = letters[rng.integers(0, len(letters), int(insert.sum()))]
    for kind, confusions in ((KEYBOARD, language.keys), (SCAN, language.scan)):
        rows = np.flatnonzero((kinds == kind) & (lengths > 0))
        if len(rows):
            values[spot[rows]] = confusions.replaced(values[spot[rows]], rng.random(len(rows)))
    edited, sound = Ragged(values, offsets), kinds == SOUND
    if not sound.any():
        return edited
    return merge(
        sound, respell(edited.take(np.flatnonzero(sound)), rng, language.rules), edited.take(np.flatnonzero(~sound))
    )


def damage(
    words: Sequence[str], rng: np.random.Generator, kinds: Sequence[str] = TYPO_KINDS, language: Language = ENGLISH
) -> list[str]:
    """Give each word one edit, of a kind drawn from `kinds`: for evaluation, and for people to look at.

    damage(["misspelling"], np.random.default_rng(0)) -> ["miaspelling"]
    """
    if unknown := [kind for kind in kinds if kind not in EDITS and kind not in WORD_KINDS]:
        raise LovevecError(f"no damage of the kind {unknown[0]!r}: there are {', '.join([*EDITS, *WORD_KINDS])}")
    drawn = rng.integers(0, len(kinds), len(words))
    numbers = np.array([EDITS.get(kind, UNTOUCHED) for kind in kinds])[drawn]
    damaged = to_words(edit(to_codes(words, lowercase=False), numbers, rng, language))
    for place in np.flatnonzero(numbers == UNTOUCHED).tolist():
        damaged[place] = damage_word(words[place], kinds[drawn[place]], rng, language)
    return damaged


def damage_word(word: str, kind: str, rng: np.random.Generator, language: Language) -> str:
    """A whole word damaged: without marks (where the language writes letters in full, every second time that way),
    typed on the English layout, or in Latin letters."""
    if kind == LAYOUT:
        return language.on_other_layout(word)
    if kind == LATIN:
        return language.in_latin(word)
    return language.plain(word, full=bool(language.in_full) and rng.random() < IN_FULL_SHARE)
