"""What computes a model's vectors: one interface for the fold and for torch; and which computes a call of the
fold: numpy for a few words, numba for many where it is installed, or the one asked for."""

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
MANY_WORDS = 10_000


class Engine(ABC):
    """Words -> vectors of unit length.

    `mode` is what was asked for (auto, numpy, numba, torch), `for_many` what computes a call with many words. `fold`
    tells what a vector is made of, and whether vectors have a length before they are normalised; None where the encoder
    does not fold.
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
        """The same in a call that does not come again: not worth importing or compiling anything for."""
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
        few = self.mode == "auto" and len(words) < MANY_WORDS
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
                from lovevec.engine.kernel import announced
                from lovevec.engine.with_numba import NumbaEngine

                engine = NumbaEngine(self.numpy)
                with announced():
                    engine.embed(["a"])
                self._numba = engine
            return self._numba


@cache
def numba_is_there() -> bool:
    """Whether numba is installed; finding out does not import it."""
    return find_spec("numba") is not None
