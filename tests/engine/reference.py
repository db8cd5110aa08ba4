"""The encoder of DESIGN.md in float64, straight from the weights: what engines are compared with."""

from __future__ import annotations

import numpy as np

from lovevec.engine.fold import EncoderSpec
from lovevec.model.folder import ModelParts


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def reference_vectors(parts: ModelParts, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and their lengths before normalisation, straight from the weights in float64, nothing folded."""
    weights = {name: weight.astype(np.float64) for name, weight in parts.weights.items()}
    rows = parts.units.encode(words)
    vectors = np.stack([_one(parts, weights, rows.row(place)) for place in range(len(words))])
    lengths = np.linalg.norm(vectors, axis=1)
    return vectors / lengths[:, None], lengths


def _one(parts: ModelParts, weights: dict[str, np.ndarray], ids: np.ndarray) -> np.ndarray:
    spec, bound = parts.spec, parts.units.vocabulary.unit_rows
    inside, ngrams = ids[ids < bound], ids[ids >= bound]
    stretch = weights.get("factor", np.eye(spec.dim))
    mixed = _positional(len(inside), spec) @ weights["table"][inside] @ stretch @ weights["encoder.value"]
    query, key = mixed @ weights["encoder.query"], mixed @ weights["encoder.key"]
    attended = softmax(query @ key.T / np.sqrt(spec.key_width)) @ mixed @ weights["encoder.output"]
    vector = attended.sum(axis=0)
    if spec.head:
        hidden = weights["encoder.head.0.weight"] @ (vector / np.linalg.norm(vector)) + weights["encoder.head.0.bias"]
        vector = vector + weights["encoder.head.2.weight"] @ np.maximum(hidden, 0) + weights["encoder.head.2.bias"]
    return vector + weights["table"][ngrams].sum(axis=0) @ stretch


def _positional(count: int, spec: EncoderSpec) -> np.ndarray:
    place, column = np.mgrid[:count, : spec.dim]
    angle = place / 10_000.0 ** ((column - column % 2) / spec.dim)
    position = np.where(column % 2, np.cos(angle), np.sin(angle))
    return softmax(position @ position.T / spec.position_scale)
