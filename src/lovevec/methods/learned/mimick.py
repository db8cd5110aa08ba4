"""MIMICK (Pinter, Guthrie, Eisenstein 2017): a bidirectional LSTM reads the word and says its vector.

    h = [last state left to right; last state right to left]
    v = O tanh(H h + b) + c                          loss: |v - u|², u the word's vector as it is

Its own paper reads characters: rows of 20 numbers, states of 50. The LOVE paper trained it again "at the same parameter
level" on pieces: 9M in the table (30,000 x 300) and 517K others, which is an LSTM with states of 128 and one matrix
behind it (v = O h + c), to the number: 2 (4·128·(300 + 128) + 8·128) + 256·300 + 300 = 517,420. That is the default.
"""

from __future__ import annotations

from typing import Literal

from lovevec.methods.learned.plain import plain_settings
from lovevec.train.settings import Settings


def settings(input: Literal["pieces", "chars"] = "pieces", dim: int = 300) -> Settings:
    """Over pieces as the LOVE paper has it, or over characters as its own does; `dim` is the target's."""
    if input == "chars":
        return plain_settings(
            encoder="mimick", input="chars", lengths="raw", shrink="none", factor=20, hidden=50, head=dim, epochs=60
        )
    return plain_settings(
        encoder="mimick", input="pieces", lengths="raw", shrink="none", hidden=128, learning_rate=0.005, epochs=20
    )
