"""Which engine computes a call: numpy for a few words, numba for many where it is installed, or the one asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.spec import EncoderSpec
from lovevec.engine.tables import Tables
from lovevec.engine.with_numpy import NumpyEngine
from lovevec.errors import LovevecError, MissingExtra
from lovevec.units.mixed_input import Units

if TYPE_CHECKING:
    from lovevec.engine.with_numba import NumbaEngine

Floats = NDArray[np.float32]
Mode = Literal["auto", "numpy", "numba"]
MODES: tuple[str, ...] = get_args(Mode)
# Importing numba and its compiled code takes about as long as numpy takes for 100,000 words, but only once: fewer
# words than these in a call do not pay for it even if many such calls follow. The choice depends on the size of a
# call alone, never on what was computed before, so the same call always gives the same bits.
MANY_WORDS = 10_000


class Engine:
    """Words -> unit vectors, by the engine that suits the call. Both agree to 1e-5; each alone agrees to the bit."""

    def __init__(
        self, spec: EncoderSpec, tables: Tables, units: Units, mode: Mode = "auto", threads: int | None = None
    ) -> None:
        if mode not in MODES:
            raise LovevecError(f"unknown engine {mode!r}: choose one of {', '.join(MODES)}")
        if mode == "numba" and not numba_is_there():
            raise MissingExtra("numba", "fast")
        self.mode = mode
        self.numpy = NumpyEngine(spec, tables, units, threads)
        self.threads = self.numpy.threads
        self._numba: NumbaEngine | None = None
        self._lock = Lock()

    @property
    def fold(self) -> NumpyEngine:
        """The fold, which says what a vector is made of; None for encoders that do not fold."""
        return self.numpy

    @property
    def for_many(self) -> str:
        """The engine of a call with many words: "numpy" or "numba"."""
        return "numba" if self.mode == "numba" or (self.mode == "auto" and numba_is_there()) else "numpy"

    def embed(self, words: Sequence[str], norms: Floats | None = None) -> Floats:
        """[len(words), dim]; `norms` [len(words)] receives each vector's length before it is normalised."""
        few = self.mode == "auto" and len(words) < MANY_WORDS
        if few or self.for_many == "numpy":
            return self.numpy.embed(words, norms)
        return self._with_numba().embed(words, norms)

    def _with_numba(self) -> NumbaEngine:
        with self._lock:
            if self._numba is None:
                from lovevec.engine.with_numba import NumbaEngine

                self._numba = NumbaEngine(self.numpy)
            return self._numba


@cache
def numba_is_there() -> bool:
    """Whether numba is installed; finding out does not import it."""
    return find_spec("numba") is not None
