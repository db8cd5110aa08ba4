"""PBoS (Zhao Jinman, Zhong, Zhang, Liang 2020): BoS with weights, by how likely the word is to be cut so.

    p(s)   from how often words hold the substring s; p(g) = Π p(s) over the segments of a segmentation g of the word
    a(s) = Σ p(g) over the segmentations with the segment s / Σ p(g) over all
    v    = Σ_s a(s) x_s / Σ_s a(s)                    loss: |v - u|², u the word's vector as it is

All substrings of the word itself (no marks at its ends) of any length are units. Frequencies of words are Zipf's, as
targets do not tell them. How the sums are taken: encoders/pbos.py.
"""

from __future__ import annotations

from lovevec.methods.learned.plain import ALL, plain_settings
from lovevec.train.settings import Settings


def settings() -> Settings:
    """As in its paper, but by Adam instead of plain gradient steps."""
    return plain_settings(
        encoder="pbos",
        input="spans",
        lengths="raw",
        shortest=1,
        longest=30,
        vocabulary_size=ALL,
        shrink="none",
        start=0.0,
        optimiser="rows",
        learning_rate=0.01,
        epochs=10,
    )
