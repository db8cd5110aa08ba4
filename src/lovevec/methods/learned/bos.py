"""BoS (Zhao, Mudgal, Liang 2018): a word is the bag of its substrings, its vector the mean of theirs.

    S = all substrings of <word> with 3 to 6 characters, each as often as it stands there
    v = 1/|S| Σ_{s in S} x_s                         loss: |v - u|², u the word's vector as it is

Every substring of the target's words has its own row, which makes the table the largest of all rivals'. Of an unknown
word only the known substrings count; one that has none gets the mean of the target's vectors.
"""

from __future__ import annotations

from lovevec.methods.learned.plain import ALL, plain_settings
from lovevec.train.settings import Settings


def settings() -> Settings:
    """As in its paper, but by Adam instead of plain gradient steps."""
    return plain_settings(
        encoder="mean",
        input="substrings",
        lengths="raw",
        shortest=3,
        longest=6,
        vocabulary_size=ALL,
        shrink="none",
        start=0.0,
        optimiser="rows",
        learning_rate=0.02,
        epochs=20,
    )
