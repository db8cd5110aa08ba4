"""Augmentation: what the model sees in a word's place, so that damage and synonyms lead to the same vector.

    swap, drop, insert, keyboard, sound, scan    the word with one edit (see damage/edits.py)
    synonym                                      a near neighbor in the target
    none                                         the word itself

The paper trains neither on `scan` (look-alike characters) nor on `sound`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.edits import EDITS, UNTOUCHED, edit
from lovevec.units.mixed_input import Units
from lovevec.units.ragged import Ragged, merge

SYNONYM, NONE = UNTOUCHED, UNTOUCHED + 1
AUGMENTATIONS: Mapping[str, int] = {**EDITS, "synonym": SYNONYM, "none": NONE}


class Augmentation:
    """Draws for each word a kind by the given probabilities and returns the units of what comes out; of the damaged
    words a share of `twice` is damaged once more."""

    def __init__(
        self,
        codes: Ragged,
        encoded: Ragged,
        units: Units,
        synonyms: Ragged,
        probabilities: Mapping[str, float],
        twice: float = 0.0,
    ) -> None:
        self.codes, self.encoded, self.units, self.synonyms = codes, encoded, units, synonyms
        self.kinds = np.array([AUGMENTATIONS[name] for name in probabilities])
        weights = np.array(list(probabilities.values()), dtype=np.float64)
        self.bounds = np.cumsum(weights / weights.sum())[:-1]
        self.twice = twice

    def __call__(self, words: NDArray[np.integer], rng: np.random.Generator) -> Ragged:
        """Rows of the target -> rows of units, augmented."""
        kinds = self.kinds[np.searchsorted(self.bounds, rng.random(len(words)), side="right")]
        shown = np.where(kinds == SYNONYM, self.synonyms.draw(words, words, rng), words)
        typo = kinds < SYNONYM
        damaged = edit(self.codes.take(shown[typo]), kinds[typo], rng)
        if self.twice:  # the second kind is that of another damaged word, so kinds keep their shares
            again = rng.random(len(damaged)) < self.twice
            damaged = edit(damaged, np.where(again, rng.permutation(kinds[typo]), NONE), rng)
        return merge(typo, self.units.encode_codes(damaged), self.encoded.take(shown[~typo]))
