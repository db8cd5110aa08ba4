"""How likely each substring is: what PBoS cuts words by.

    p(s) = (how often words hold s) / (how often words hold any substring)

Vector files list words by falling frequency without saying it, so the word of rank r counts 1/r times (Zipf's law).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lovevec.encoders.pbos import NEVER, UNKNOWN_CHARACTER
from lovevec.units.ragged import Ragged
from lovevec.units.vocabulary import SPECIAL, UNK, UnitVocabulary


def log_chances(encoded: Ragged, rows: NDArray[np.int64], vocabulary: UnitVocabulary) -> NDArray[np.float32]:
    """log p of each unit, [units], from the given rows of the words' spans; [UNK] stands for an unknown character, and
    a longer run that is unknown, [PAD], has no chance."""
    spans = encoded.take(rows)
    counts = np.bincount(spans.values, np.repeat(1 / (1.0 + rows), spans.lengths), minlength=len(vocabulary))
    counts[: len(SPECIAL)] = 0
    chances = np.full(len(vocabulary), NEVER)
    chances[UNK] = np.log(UNKNOWN_CHARACTER)
    seen = counts > 0
    chances[seen] = np.log(counts[seen] / counts.sum())
    return chances.astype(np.float32)
