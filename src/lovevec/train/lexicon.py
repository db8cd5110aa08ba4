"""Learns what words look like: weights of n-grams of letters, by which words differ from misspellings.

Logistic regression over the n-grams of strings (near/lexicon.py): words have the answer 1, misspellings 0. Weights go
by Adagrad with a little ridge, a batch at a time, in float32 by numpy, so that they are the same in every run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.near.lexicon import GRAM_BITS, MAX_WEIGHT, Lexicon, gram_places
from lovevec.units.characters import to_codes
from lovevec.units.ragged import Ragged, offsets_of

EPOCHS, STRINGS_PER_BATCH = 12, 4096
RATE, RIDGE = 0.3, 0.3

Floats = NDArray[np.float32]


def grams_of(strings: Sequence[str], lowercase: bool = True) -> Ragged:
    """For each string the places of its n-grams."""
    owners, places = zip(*gram_places(to_codes(strings, lowercase)), strict=True)
    owner, place = np.concatenate(owners), np.concatenate(places)
    order = np.argsort(owner, kind="stable")
    return Ragged(place[order].astype(np.int32), offsets_of(np.bincount(owner, minlength=len(strings))))


def learn_grams(
    words: Sequence[str], misspellings: Sequence[str], rng: np.random.Generator, lowercase: bool = True
) -> tuple[NDArray[np.int8], float]:
    """The weights of n-grams as small numbers, and what one of these counts. Words and misspellings count as much as
    each other, however many there are."""
    strings, is_word = [*words, *misspellings], np.arange(len(words) + len(misspellings)) < len(words)
    places, size = grams_of(strings, lowercase), 1 << GRAM_BITS
    shares = np.where(is_word, 0.5 / max(len(words), 1), 0.5 / max(len(misspellings), 1))
    shares = (shares * len(strings)).astype(np.float32)
    table, squares = np.zeros(size, dtype=np.float32), np.full(size, 1e-6, dtype=np.float32)
    for _ in range(EPOCHS):
        order = rng.permutation(len(strings))
        for low in range(0, len(order), STRINGS_PER_BATCH):
            batch = order[low : low + STRINGS_PER_BATCH]
            rows = places.take(batch)
            logit = np.add.reduceat(table[rows.values], rows.offsets[:-1])
            pull = (shares[batch] * (1 / (1 + np.exp(-logit)) - is_word[batch]) / len(batch)).astype(np.float32)
            slope = np.bincount(rows.values, np.repeat(pull, rows.lengths), size).astype(np.float32)
            slope += table * np.float32(2 * RIDGE / len(strings))
            squares += slope * slope
            table -= np.float32(RATE) * slope / np.sqrt(squares)
    largest = max(float(np.abs(table).max(initial=0)), 1e-6)
    return np.rint(table * (MAX_WEIGHT / largest)).astype(np.int8), float(np.float32(largest / MAX_WEIGHT))


def learn_lexicon(
    words: Sequence[str], misspellings: Sequence[str], rng: np.random.Generator, lowercase: bool = True
) -> Lexicon:
    """A lexicon of these words, told from `misspellings`."""
    plain = [word for word in words if word.isalpha()]
    return Lexicon.of(words, lowercase, *learn_grams(plain, misspellings, rng, lowercase))
