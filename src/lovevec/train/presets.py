"""Settings that go together, by one name: `lovevec train … --preset typos`. What is said beside it counts more.

paper    the defaults: those of the paper, but for three that were measured (docs/results/training.md)
recipe   what the shipped models are trained with, and look-alike characters: n-grams as a bag beside attention,
         rows of 165 numbers times a matrix, sound-alike spellings, double damage (docs/results/shipped.md)
typos    the same with three times the parameters, more and harder damage, a lower temperature: for words that are
         meant to be found again, as inside BERT-like models (docs/results/transformers.md). Similarity suffers
"""

from __future__ import annotations

from typing import Any

RECIPE: dict[str, Any] = {
    "ngrams": 15_000,
    "factor": 165,
    "negatives": 15,
    "hard_negatives": 7,
    "swap": 0.09,
    "drop": 0.09,
    "insert": 0.09,
    "keyboard": 0.06,
    "sound": 0.16,
    "ocr": 0.24,
    "twice": 0.35,
    "synonym": 0.1,
    "none": 0.2,
    "temperature": 0.08,
    "dropout": 0.1,
    "learning_rate": 0.003,
    "epochs": 40,
}
TYPOS: dict[str, Any] = RECIPE | {
    "ngrams": 30_000,
    "factor": 0,
    "sound": 0.12,
    "ocr": 0.4,
    "twice": 0.5,
    "temperature": 0.06,
    "epochs": 70,
}
PRESETS: dict[str, dict[str, Any]] = {"paper": {}, "recipe": RECIPE, "typos": TYPOS}
