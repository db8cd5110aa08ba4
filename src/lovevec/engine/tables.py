"""The folded tables of a model, as numbers small enough to ship: float32, float16, or int8, each row with a scale.

A row stands for `scale * row`. A scale never touches a row at run time: it goes into the weight that the row gets.

    out       [rows, dim]       E W_V W_O: what a unit adds to the vector; an n-gram adds its row of E
    features  [unit rows, 2k]   E W_V [W_q | W_k], with 1/√k multiplied in: what attention sees of a unit
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.spec import EncoderSpec
from lovevec.errors import LovevecError

Floats = NDArray[np.float32]
Precision = Literal["float32", "float16", "int8"]
PRECISIONS: tuple[str, ...] = get_args(Precision)
HEAD = ("0.weight", "0.bias", "2.weight", "2.bias")
MOST = 127  # int8 is used evenly on both sides of zero


@dataclass(frozen=True, eq=False)
class Tables:
    """What inference needs of the weights; all read-only. `head` holds the word-level MLP's tensors, or nothing."""

    out: NDArray[Any]
    out_scale: Floats
    features: NDArray[Any]
    features_scale: Floats
    head: tuple[Floats, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.out, self.out_scale, self.features, self.features_scale, *self.head):
            array.flags.writeable = False

    @property
    def precision(self) -> Precision:
        """How the rows are stored."""
        return self.out.dtype.name  # type: ignore[return-value]

    def to(self, precision: Precision) -> Tables:
        """The same tables, stored otherwise; themselves if they are so already."""
        if precision == self.precision:
            return self
        if precision not in PRECISIONS:
            raise LovevecError(f"unknown precision {precision!r}: choose one of {', '.join(PRECISIONS)}")
        return Tables(*quantise(self.all_out(), precision), *quantise(self.all_features(), precision), self.head)

    def all_out(self) -> Floats:
        """`out` as plain float32."""
        return self.out * self.out_scale[:, None]

    def all_features(self) -> Floats:
        """`features` as plain float32."""
        return self.features * self.features_scale[:, None]

    def tensors(self) -> dict[str, NDArray[Any]]:
        """The tensors by the names they have in model.safetensors."""
        named = {
            "out": self.out,
            "out.scale": self.out_scale,
            "features": self.features,
            "features.scale": self.features_scale,
        }
        return named | {f"head.{name}": tensor for name, tensor in zip(HEAD, self.head, strict=False)}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]]) -> Tables:
        """The inverse of `tensors`; names, shapes and types have been checked."""
        head = tuple(tensors[f"head.{name}"] for name in HEAD if f"head.{name}" in tensors)
        return cls(tensors["out"], tensors["out.scale"], tensors["features"], tensors["features.scale"], head)


def quantise(rows: Floats, precision: Precision) -> tuple[NDArray[Any], Floats]:
    """Rows -> (rows as `precision`, a scale for each)."""
    if precision == "float32":
        return rows, np.ones(len(rows), dtype=np.float32)
    largest = np.abs(rows).max(axis=1, initial=0)
    largest = np.where(largest > 0, largest, 1)
    if precision == "float16":  # a power of two loses nothing, and no row can overflow
        scale = np.exp2(np.floor(np.log2(largest))).astype(np.float32)
        return (rows / scale[:, None]).astype(np.float16), scale
    scale = (largest / MOST).astype(np.float32)
    return np.rint(np.clip(rows / scale[:, None], -MOST, MOST)).astype(np.int8), scale


def table_sizes(spec: EncoderSpec, rows: int, unit_rows: int) -> dict[str, list[int]]:
    """The tensors of folded tables, with their shapes."""
    sizes = {"out": [rows, spec.dim], "out.scale": [rows]}
    sizes |= {"features": [unit_rows, 2 * spec.key_width], "features.scale": [unit_rows]}
    if spec.head:
        shapes = ([spec.head, spec.dim], [spec.head], [spec.dim, spec.head], [spec.dim])
        sizes |= {f"head.{name}": shape for name, shape in zip(HEAD, shapes, strict=True)}
    return sizes
