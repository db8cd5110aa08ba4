"""Edits: one slip of a finger, an ear or a scanner in a word.

    swap      mispselling      two neighboring characters change places
    drop      mispelling       one character is left out
    insert    missxpelling     one character too many
    keyboard  misspeliing      a neighboring key instead
    scan      misspe1ling      a character that prints alike instead (`ocr` of noise.py, with a table of our own)
    sound     mispelling       a spelling that sounds alike instead (see sounds.py)

Everything works on flat arrays of code points, many words at once, with the caller's own generator.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.sounds import respell
from lovevec.errors import LovevecError
from lovevec.units.characters import to_codes, to_words
from lovevec.units.ragged import Ragged, merge, offsets_of, spread

SWAP, DROP, INSERT, KEYBOARD, SCAN, SOUND = range(6)
# Their order decides what training draws by a seed; the number of `sound` is part of the seed of noise.
EDITS = {"swap": SWAP, "drop": DROP, "insert": INSERT, "keyboard": KEYBOARD, "sound": SOUND, "scan": SCAN}
UNTOUCHED = len(EDITS)  # any kind from here on leaves a word as it is
TYPO_KINDS = ("swap", "drop", "insert", "keyboard")
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", dtype=np.uint8).astype(np.uint32)
ASCII = 128


@cache
def confusions(name: str) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """A data file's look-alikes: [128, most] code points for each ASCII character, and how many of them count."""
    raw = json.loads((files("lovevec.damage") / "data" / f"{name}.json").read_text("utf-8"))["neighbors"]
    table = np.zeros((ASCII, max(map(len, raw.values()))), dtype=np.uint32)
    count = np.zeros(ASCII, dtype=np.int64)
    for character, others in raw.items():
        table[ord(character), : len(others)] = [ord(other) for other in others]
        count[ord(character)] = len(others)
    return table, count


def edit(codes: Ragged, kinds: NDArray[np.integer], rng: np.random.Generator) -> Ragged:
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
    values[spot[insert]] = LETTERS[rng.integers(0, len(LETTERS), int(insert.sum()))]
    for kind, name in ((KEYBOARD, "keyboard"), (SCAN, "scan")):
        rows = np.flatnonzero((kinds == kind) & (lengths > 0))
        if len(rows):
            _confuse(values, spot[rows], name, rng)
    edited, sound = Ragged(values, offsets), kinds == SOUND
    if not sound.any():
        return edited
    return merge(sound, respell(edited.take(np.flatnonzero(sound)), rng), edited.take(np.flatnonzero(~sound)))


def _confuse(values: NDArray[np.integer], spots: NDArray[np.int64], name: str, rng: np.random.Generator) -> None:
    """Replace the character at each spot by a look-alike, where the data file `name` knows one."""
    table, count = confusions(name)
    codes = np.minimum(values[spots], ASCII - 1)
    choices = np.where(values[spots] < ASCII, count[codes], 0)
    pick = (rng.random(len(spots)) * choices).astype(np.int64)
    values[spots] = np.where(choices > 0, table[codes, pick], values[spots])


def damage(words: Sequence[str], rng: np.random.Generator, kinds: Sequence[str] = TYPO_KINDS) -> list[str]:
    """Give each word one edit, of a kind drawn from `kinds`: for evaluation, and for people to look at.

    damage(["misspelling"], np.random.default_rng(0)) -> ["miaspelling"]
    """
    if unknown := [kind for kind in kinds if kind not in EDITS]:
        raise LovevecError(f"no damage of the kind {unknown[0]!r}: there are {', '.join(EDITS)}")
    numbers = np.array([EDITS[kind] for kind in kinds])[rng.integers(0, len(kinds), len(words))]
    return to_words(edit(to_codes(words, lowercase=False), numbers, rng))
