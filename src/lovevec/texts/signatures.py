"""A signature for each spelling: a random direction, alike for spellings that are alike.

It is the sum of random directions of the spelling's pairs of letters. Beside the vectors of words it keeps apart two
texts whose words mean the same but are spelled otherwise, above all names.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core as compiled_core
from lovevec.engine.compiled import prepare
from lovevec.texts.sums import sum_rows
from lovevec.units.characters import to_codes
from lovevec.vectors.rows import normalized

if TYPE_CHECKING:
    from lovevec._core import Signatures as CoreSignatures

Floats = NDArray[np.float32]
PAIR_BITS = 12
PAIR_CLASSES, PAIR_SHIFT = 1 << PAIR_BITS, np.uint64(64 - PAIR_BITS)  # pairs of letters are hashed into so few classes


class Signatures:
    """Words -> signatures of unit length. `compiled` says whether the compiled core adds them, with the same bits."""

    def __init__(self, dim: int, compiled: bool = False) -> None:
        self.dim, self.compiled = dim, compiled

    @cached_property
    def _directions(self) -> NDArray[np.int8]:
        """[PAIR_CLASSES, dim] of 1 and -1. They are part of what vectors of texts are, so they must never change."""
        numbers = np.random.PCG64(0).random_raw(PAIR_CLASSES * self.dim // 64 + 1)
        bits = np.unpackbits(numbers.astype("<u8").view(np.uint8))[: PAIR_CLASSES * self.dim]
        return (2 * bits.reshape(PAIR_CLASSES, self.dim).astype(np.int8) - 1).astype(np.int8)

    def __call__(self, words: Sequence[str]) -> Floats:
        """[len(words), dim]"""
        codes = to_codes(words, True)
        text, offsets = np.zeros(len(codes.values) + len(codes) + 1, dtype=np.uint64), codes.offsets
        text[np.arange(len(codes.values)) + np.repeat(np.arange(1, len(codes) + 1), codes.lengths)] = codes.values
        pairs = (text[:-1] * np.uint64(0x9E3779B1) + text[1:]) * np.uint64(0x9E3779B97F4A7C15) >> PAIR_SHIFT
        ends = offsets + np.arange(len(offsets))
        return normalized(sum_rows(self._directions, pairs.astype(np.int64), ends))

    def add(self, words: Sequence[str], scales: Floats, vectors: Floats) -> None:
        """Add each word's signature times its scale to its vector: scales [len(words)], vectors [len(words), dim]."""
        if self.compiled:
            self.core.add(words, scales, vectors)
        else:
            vectors += self(words) * scales[:, None]

    @cached_property
    def core(self) -> CoreSignatures:
        """The same for the compiled core."""
        parts = {"directions": self._directions, "prepare": partial(prepare, lowercase=True), "lowercase": True}
        signatures: CoreSignatures = compiled_core().Signatures(**parts)
        return signatures
