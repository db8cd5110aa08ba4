"""Augmentation: the replacement that a step shows in a word's place, so that damage and synonyms lead to its vector.

swap, drop, insert, keyboard    the word with one edit, `keyboard` being the replacement of a character by one of a
                                neighboring key (see damage/edits.py)
sound, scan                     the same with a spelling that sounds alike, a character that prints alike: not in
                                the paper
synonym                         synonym replacement: a near neighbor in the target (see synonyms.py)
none                            the word itself
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.edits import EDITS, UNTOUCHED, edit
from lovevec.damage.languages import ENGLISH, Language
from lovevec.units.mixed_input import Units
from lovevec.units.ragged import Ragged, merge

SYNONYM, NONE = UNTOUCHED, UNTOUCHED + 1
AUGMENTATIONS: Mapping[str, int] = {**EDITS, "synonym": SYNONYM, "none": NONE}


class Augmentation:
    """Draws a replacement for each word of a batch: its kind by the `probabilities`, then what it is.

    `codes` are all words of the target as code points, `encoded` their units, `synonyms` the rows of their synonyms. Of
    the damaged words a share of `twice` is damaged once more."""

    def __init__(
        self,
        codes: Ragged,
        encoded: Ragged,
        units: Units,
        synonyms: Ragged,
        probabilities: Mapping[str, float],
        twice: float = 0.0,
        language: Language = ENGLISH,
    ) -> None:
        self.codes, self.encoded, self.units, self.synonyms = codes, encoded, units, synonyms
        self.kinds = np.array([AUGMENTATIONS[name] for name in probabilities])
        weights = np.array(list(probabilities.values()), dtype=np.float64)
        self.bounds = np.cumsum(weights / weights.sum())[:-1]
        self.twice, self.language = twice, language

    def __call__(self, words: NDArray[np.integer], rng: np.random.Generator) -> Ragged:
        """Words, as rows of the target -> the units of what is shown for each: a row of unit ids a word."""
        kinds = self.kinds[np.searchsorted(self.bounds, rng.random(len(words)), side="right")]
        shown = np.where(kinds == SYNONYM, self.synonyms.draw(words, words, rng), words)
        typo = kinds < SYNONYM
        damaged = edit(self.codes.take(shown[typo]), kinds[typo], rng, self.language)
        if self.twice:  # the second kind is that of another damaged word, so kinds keep their shares
            again = rng.random(len(damaged)) < self.twice
            damaged = edit(damaged, np.where(again, rng.permutation(kinds[typo]), NONE), rng, self.language)
        return merge(typo, self.units.encode_codes(damaged), self.encoded.take(shown[~typo]))
