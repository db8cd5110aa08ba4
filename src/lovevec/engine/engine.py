"""What computes a model's vectors: one interface for the fold and for torch. The fold is computed by the compiled core
where it is there (compiled.py), else by numpy; or by the one that was asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import CompiledFold, Mode, is_compiled
from lovevec.engine.fold import EncoderSpec, Tables
from lovevec.engine.with_numpy import NumpyEngine
from lovevec.units.mixed_input import Units

if TYPE_CHECKING:
    from lovevec._core import Fold

Floats = NDArray[np.float32]


class Engine(ABC):
    """Words -> vectors of unit length.

    `mode` is what was asked for (auto, numpy, compiled), `name` what computes (numpy, compiled, torch). `fold` is the
    numpy engine, which can say what a vector is made of; None where the encoder does not fold.
    """

    mode: str
    name: str
    threads: int | None = None
    fold: NumpyEngine | None = None

    @abstractmethod
    def embed(self, words: Sequence[str], norms: Floats | None = None) -> Floats:
        """[len(words), dim]; `norms` [len(words)] receives each vector's length before it is normalised (only where the
        engine has a fold)."""


class FoldEngine(Engine):
    """The fold, by the compiled core or by numpy. Both agree to 1e-6; each alone agrees to the bit."""

    def __init__(
        self, spec: EncoderSpec, tables: Tables, units: Units, mode: Mode = "auto", threads: int | None = None
    ) -> None:
        self.mode, self.name = mode, "compiled" if is_compiled(mode) else "numpy"
        self.numpy = self.fold = NumpyEngine(spec, tables, units, threads)
        self.threads = self.numpy.threads

    @cached_property
    def _compiled(self) -> CompiledFold:
        return CompiledFold(self.numpy)

    @property
    def core_fold(self) -> Fold:
        """The fold as the compiled core has it."""
        return self._compiled.core

    def embed(self, words: Sequence[str], norms: Floats | None = None) -> Floats:
        """[len(words), dim]; `norms` [len(words)] receives each vector's length before it is normalised."""
        return (self._compiled if self.name == "compiled" else self.numpy).embed(words, norms)
