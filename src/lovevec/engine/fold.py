"""The fold: everything of the positional encoder that is linear in the unit vectors, multiplied out once.

    features = E W_V [W_q | W_k] / √√k     unit rows x 2k
    out      = E W_V W_O                   rows x d
    Q, K     = A_n features[ids]           A_n the constant positional attention of length n
    w        = 1ᵀ softmax(Q Kᵀ) A_n
    v        = normalise(Σ_j w_j out[id_j])

So a word costs n rows of two tables and a tiny attention. Its n-grams, where the model has any, add their rows of E.

Here are the description of an encoder (`EncoderSpec`), the folded tables, stored small enough to ship (`Tables`), and
how these come from trained weights (`fold_tables`). No torch is needed for any of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.products import product
from lovevec.errors import LovevecError

Floats = NDArray[np.float32]
EncoderKind = Literal["positional", "authors", "attention", "cnn", "rnn", "sum"]
ENCODERS: tuple[str, ...] = get_args(EncoderKind)
Precision = Literal["float32", "float16", "int8"]
PRECISIONS: tuple[str, ...] = get_args(Precision)
HEAD = ("0.weight", "0.bias", "2.weight", "2.bias")  # the tensors of the word-level MLP, as torch names them
MAX_INT8 = 127  # int8 is used evenly on both sides of zero


@dataclass(frozen=True)
class EncoderSpec:
    """What an encoder is, enough to build it again from a model folder.

    `dim` is that of the target's vectors; `key_width` (k) and `position_scale` (s) shape attention; `head` > 0 adds a
    word-level MLP with that many hidden units.
    """

    kind: EncoderKind
    dim: int
    key_width: int = 32
    position_scale: float = 4.16
    head: int = 0

    @property
    def foldable(self) -> bool:
        """Whether this encoder folds, so that numpy alone can compute it; the others need torch."""
        return self.kind == "positional"

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, as config.json holds them: plain numbers and strings."""
        return asdict(self)

    def head_shapes(self, prefix: str) -> dict[str, list[int]]:
        """The tensors of the word-level MLP, named `prefix`.…, with their shapes; none where there is no head."""
        shapes = ([self.head, self.dim], [self.head], [self.dim, self.head], [self.dim]) if self.head else ()
        return {f"{prefix}.{name}": shape for name, shape in zip(HEAD, shapes, strict=False)}


@dataclass(frozen=True, eq=False)
class Tables:
    """The folded tables: what inference needs of the weights, all of it read-only.

    Rows are float32, float16, or int8. A row stands for `scale * row`; at run time the scale never touches a row, it
    goes into the weight that the row gets. `head` holds the word-level MLP's tensors in the order of HEAD, or nothing.
    """

    out: NDArray[Any]  # [rows, dim]: what a unit, or an n-gram, adds to the vector
    out_scale: Floats  # [rows]
    features: NDArray[Any]  # [unit rows, 2k]: what attention sees of a unit, 1/√k multiplied in
    features_scale: Floats  # [unit rows]
    head: tuple[Floats, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.out, self.out_scale, self.features, self.features_scale, *self.head):
            array.flags.writeable = False

    @property
    def precision(self) -> Precision:
        """The type in which rows are stored: float32, float16 or int8."""
        return cast("Precision", self.out.dtype.name)

    def to(self, precision: Precision) -> Tables:
        """The same tables in another precision; these very ones if they are in it already."""
        if precision == self.precision:
            return self
        if precision not in PRECISIONS:
            raise LovevecError(f"unknown precision {precision!r}: choose one of {', '.join(PRECISIONS)}")
        return Tables(*quantise(self.all_out(), precision), *quantise(self.all_features(), precision), self.head)

    def all_out(self) -> Floats:
        """[rows, dim] `out` as float32, with the scales multiplied in."""
        return self.out * self.out_scale[:, None]

    def all_features(self) -> Floats:
        """[unit rows, 2k] `features` as float32, with the scales multiplied in."""
        return self.features * self.features_scale[:, None]

    def tensors(self) -> dict[str, NDArray[Any]]:
        """All arrays, by the names that they have in model.safetensors."""
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
    """Rows [rows, width] in a precision, and the scale of each one [rows]."""
    if precision == "float32":
        return rows, np.ones(len(rows), dtype=np.float32)
    largest = np.abs(rows).max(axis=1, initial=0)
    largest = np.where(largest > 0, largest, 1)
    if precision == "float16":  # a power of two loses nothing, and no row can overflow
        scale = np.exp2(np.floor(np.log2(largest))).astype(np.float32)
        return (rows / scale[:, None]).astype(np.float16), scale
    scale = (largest / MAX_INT8).astype(np.float32)
    return np.rint(np.clip(rows / scale[:, None], -MAX_INT8, MAX_INT8)).astype(np.int8), scale


def table_sizes(spec: EncoderSpec, rows: int, unit_rows: int) -> dict[str, list[int]]:
    """The shape of each tensor of folded tables, by its name in model.safetensors."""
    sizes = {"out": [rows, spec.dim], "out.scale": [rows]}
    sizes |= {"features": [unit_rows, 2 * spec.key_width], "features.scale": [unit_rows]}
    return sizes | spec.head_shapes("head")


def fold_tables(spec: EncoderSpec, weights: Mapping[str, Floats], unit_rows: int | None = None) -> Tables:
    """Weights as trained -> float32 tables; the rows from `unit_rows` on are those of n-grams."""
    wide = {name: weight.astype(np.float64) for name, weight in weights.items() if name != "table"}
    stretch = wide["factor"] @ wide["encoder.value"] if "factor" in wide else wide["encoder.value"]
    rows = weights["table"]
    table, ngrams = (rows, rows[:0]) if unit_rows is None else (rows[:unit_rows], rows[unit_rows:])
    out = product(table, (stretch @ wide["encoder.output"]).astype(np.float32))
    if len(ngrams):
        out = np.concatenate([out, product(ngrams, weights["factor"]) if "factor" in weights else ngrams])
    query = product(table, (stretch @ wide["encoder.query"] * spec.key_width**-0.5).astype(np.float32))
    key = product(table, (stretch @ wide["encoder.key"]).astype(np.float32))
    features = np.concatenate(_balance(query, key), axis=1)
    head = tuple(np.array(weights[f"encoder.head.{name}"]) for name in HEAD) if spec.head else ()
    return Tables(*quantise(out, "float32"), *quantise(features, "float32"), head)


def _balance(query: Floats, key: Floats) -> tuple[Floats, Floats]:
    """Attention sees only products of a query's column with the same column of a key, so the two may be made equally
    large. They share a row's scale: else the smaller one would lose bits (in int8 the error of w was 10 times that)."""
    of_query, of_key = (np.sqrt(np.square(half).mean(axis=0)) for half in (query, key))
    ratio = np.sqrt(of_key / np.where(of_query > 0, of_query, 1))
    ratio = np.where((of_query > 0) & (of_key > 0), ratio, 1).astype(np.float32)
    return query * ratio, key / ratio


def fold_sizes(spec: EncoderSpec, rows: int, factor: int) -> dict[str, list[int]]:
    """The shape of each trained tensor that `fold_tables` needs; `factor` is the width of a factored unit table, or
    0."""
    dim, key = spec.dim, spec.key_width
    sizes = {"table": [rows, factor or dim], "encoder.value": [dim, dim], "encoder.output": [dim, dim]}
    sizes |= {"encoder.query": [dim, key], "encoder.key": [dim, key]}
    if factor:
        sizes["factor"] = [factor, dim]
    return sizes | spec.head_shapes("encoder.head")
