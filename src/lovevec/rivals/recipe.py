"""LOVE by our own recipe: what the shipped models are trained with (runs/recipe.sh), and look-alike characters.

Beyond the paper: hashed n-grams as a bag beside attention, rows of 165 numbers times a matrix, sound-alike spellings,
double damage, more typos and hard negatives (docs/results/shipped.md measures each). Characters that print alike are
from a table of our own, not from the one that text is damaged with in evaluation.
"""

from __future__ import annotations

from lovevec.train.settings import Settings


def settings() -> Settings:
    """About as many parameters as the paper's LOVE."""
    return Settings(
        ngrams=15_000,
        factor=165,
        negatives=15,
        hard_negatives=7,
        swap=0.09,
        drop=0.09,
        insert=0.09,
        keyboard=0.06,
        sound=0.16,
        ocr=0.24,
        twice=0.35,
        synonym=0.1,
        none=0.2,
        temperature=0.08,
        dropout=0.1,
        learning_rate=0.003,
        epochs=40,
    )
