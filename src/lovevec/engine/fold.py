"""The fold: everything of the positional encoder that is linear in the unit vectors, multiplied out once.

    features = E W_V [W_q | W_k] / √√k     unit rows x 2k
    out      = E W_V W_O                   rows x d
    Q, K     = A_n features[ids]           A_n the constant positional attention of length n
    w        = 1ᵀ softmax(Q Kᵀ) A_n
    v        = normalise(Σ_j w_j out[id_j])

So a word costs n rows of two tables and a tiny attention. Its n-grams, where the model has any, add their rows of E.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.products import product
from lovevec.engine.spec import EncoderSpec
from lovevec.engine.tables import HEAD, Tables

Floats = NDArray[np.float32]


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
    features = np.concatenate(_balanced(query, key), axis=1)
    head = tuple(np.array(weights[f"encoder.head.{name}"]) for name in HEAD) if spec.head else ()
    return Tables(out, _ones(out), features, _ones(features), head)


def _ones(rows: Floats) -> Floats:
    return np.ones(len(rows), dtype=np.float32)


def _balanced(query: Floats, key: Floats) -> tuple[Floats, Floats]:
    """Attention sees only products of a query's column with the same column of a key, so the two may be made equally
    large. They share a row's scale: else the smaller one would lose bits (in int8 the error of w was 10 times that)."""
    of_query, of_key = (np.sqrt(np.square(half).mean(axis=0)) for half in (query, key))
    ratio = np.sqrt(of_key / np.where(of_query > 0, of_query, 1))
    ratio = np.where((of_query > 0) & (of_key > 0), ratio, 1).astype(np.float32)
    return query * ratio, key / ratio


def fold_sizes(spec: EncoderSpec, rows: int, factor: int) -> dict[str, list[int]]:
    """The tensors that the fold needs, with their shapes."""
    dim, key, head = spec.dim, spec.key_width, spec.head
    sizes = {"table": [rows, factor or dim], "encoder.value": [dim, dim], "encoder.output": [dim, dim]}
    sizes |= {"encoder.query": [dim, key], "encoder.key": [dim, key]}
    if factor:
        sizes["factor"] = [factor, dim]
    if head:
        shapes = ([head, dim], [head], [dim, head], [dim])
        sizes |= {f"encoder.head.{name}": shape for name, shape in zip(HEAD, shapes, strict=True)}
    return sizes
