"""LOVE by our own recipe: what the shipped models are trained with (runs/recipe.sh), and look-alike characters.

Beyond the paper: hashed n-grams as a bag beside attention, rows of 165 numbers times a matrix, sound-alike spellings,
double damage, more typos and hard negatives (docs/results/shipped.md measures each). Characters that print alike are
from a table of our own, not from the one that text is damaged with in evaluation.
"""

from __future__ import annotations

from lovevec.train.settings import RECIPE, Settings


def settings() -> Settings:
    """About as many parameters as the paper's LOVE."""
    return Settings(**RECIPE)
