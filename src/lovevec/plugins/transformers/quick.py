"""LOVE by numba, where that is installed: inside a model words come a few at a time, but again and again."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

from lovevec.love import LOVE
from lovevec.plugins.transformers.imputed import Imputer

_quick: WeakKeyDictionary[Imputer, Imputer] = WeakKeyDictionary()


def quick(imputer: Imputer) -> Imputer:
    """The same with the faster engine, unless another was asked for. It is no part of the model, so that a pickle can
    be read where numba is missing."""
    love = imputer.love
    if not (love.engine.mode == "auto" and love.engine.for_many == "numba"):
        return imputer
    if imputer not in _quick:
        _quick[imputer] = replace(imputer, love=LOVE(love.parts, love.card, "numba"))
    return _quick[imputer]
