"""What computes a model's vectors: one interface for the fold and for torch. The fold is computed by numpy for a few
words and by numba, where it is installed, for many; or by the one that was asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.fold import EncoderSpec, Tables
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
MIN_WORDS_FOR_NUMBA = 10_000


class Engine(ABC):
    """Words -> vectors of unit length.

    `mode` is what was asked for (auto, numpy, numba, torch), `for_many` what computes a call with many words. `fold` is
    the numpy engine, which can say what a vector is made of; None where the encoder does not fold.
    """

    mode: str
    for_many: str
    threads: int | None = None
    fold: NumpyEngine | None = None

    @abstractmethod
    def embed(self, words: Sequence[str], norms: Floats | None = None) -> Floats:
        """[len(words), dim]; `norms` [len(words)] receives each vector's length before it is normalised (only where the
        engine has a fold)."""

    def embed_once(self, words: Sequence[str]) -> Floats:
        """As `embed`, for a call that will not be repeated: nothing is imported or compiled for its sake."""
        return self.embed(words)


class FoldEngine(Engine):
    """The fold, by the engine that suits the call. Both agree to 1e-5; each alone agrees to the bit."""

    def __init__(
        self, spec: EncoderSpec, tables: Tables, units: Units, mode: Mode = "auto", threads: int | None = None
    ) -> None:
        if mode not in MODES:
            raise LovevecError(f"unknown engine {mode!r}: choose one of {', '.join(MODES)}")
        if mode == "numba" and not numba_is_there():
            raise MissingExtra("numba", "fast")
        self.mode = mode
        self.for_many = "numba" if mode == "numba" or (mode == "auto" and numba_is_there()) else "numpy"
        self.numpy = self.fold = NumpyEngine(spec, tables, units, threads)
        self.threads = self.numpy.threads
        self._numba: NumbaEngine | None = None
        self._lock = Lock()

    def embed(self, words: Sequence[str], norms: Floats | None = None) -> Floats:
        """[len(words), dim]; `norms` [len(words)] receives each vector's length before it is normalised."""
        few = self.mode == "auto" and len(words) < MIN_WORDS_FOR_NUMBA
        if few or self.for_many == "numpy":
            return self.numpy.embed(words, norms)
        return self._with_numba().embed(words, norms)

    def embed_once(self, words: Sequence[str]) -> Floats:
        """By numpy unless numba was asked for: importing it, and on a new machine compiling, takes longer than most
        single calls."""
        return self.numpy.embed(words) if self.mode == "auto" else self.embed(words)

    def _with_numba(self) -> NumbaEngine:
        with self._lock:
            if self._numba is None:
                from lovevec.engine.compile import compile_notice
                from lovevec.engine.with_numba import NumbaEngine

                engine = NumbaEngine(self.numpy)
                with compile_notice():
                    engine.embed(["a"])
                self._numba = engine
            return self._numba


@cache
def numba_is_there() -> bool:
    """Whether numba is installed; finding out does not import it."""
    return find_spec("numba") is not None
