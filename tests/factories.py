"""Small random models of every shape, strings that break things, and the encoder of DESIGN.md in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from lovevec.engine.spec import EncoderSpec
from lovevec.model.folder import ModelParts
from lovevec.units.mixed_input import Units
from lovevec.units.vocabulary import SPECIAL, UnitVocabulary
from tests.conftest import made_words

NASTY = [
    "",
    " ",
    "\t\r\n",
    "\0",
    "\0\0a",
    "🙂",
    "👩‍👩‍👧‍👦",
    "e\u0301",
    "\u0301",
    "\ud800",
    "a\udfffb",
    "שלום",
    "İstanbul",
    "ΑΣ",
    "ﬁne",
    "ｂｒｅａｄ",
    "x" * 99,
    "y" * 100,
    "z" * 101,
    "ab" * 500_000,
    "é" * 1_000_000,
    "ﬄ" * 60,
    "[CLS]",
    "##ing",
    "BREAD",
    "a",
    "7",
]


def made_parts(
    dim: int = 24,
    key_width: int = 8,
    head: int = 0,
    factor: int = 0,
    ngrams: int = 0,
    buckets: int = 0,
    mode: Any = "mixed",
    lowercase: bool = True,
    sharp: float = 1.0,
) -> ModelParts:
    """A model with random weights; `sharp` makes attention more decided."""
    rng = np.random.default_rng(dim + key_width + head + factor + ngrams)
    words = made_words(400)
    pieces = {word[:cut] for word in words for cut in (2, 3, 5)} | {
        f"##{word[-cut:]}" for word in words for cut in (1, 3)
    }
    letters = sorted(set("".join(words)) | set("é7#"))
    units = (*SPECIAL, *letters, *sorted(piece for piece in pieces if len(piece) > 1))
    vocabulary = UnitVocabulary(units, buckets, ngrams)
    spec = EncoderSpec("positional", dim, key_width, dim**0.25, head)
    shapes = {
        "table": (vocabulary.table_rows, factor or dim),
        "encoder.value": (dim, dim),
        "encoder.output": (dim, dim),
    }
    shapes |= {"encoder.query": (dim, key_width), "encoder.key": (dim, key_width)}
    if factor:
        shapes["factor"] = (factor, dim)
    if head:
        shapes |= {"encoder.head.0.weight": (head, dim), "encoder.head.0.bias": (head,)}
        shapes |= {"encoder.head.2.weight": (dim, head), "encoder.head.2.bias": (dim,)}
    weights = {name: rng.normal(0, shape[-1] ** -0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    weights["encoder.query"] *= np.float32(sharp * dim**0.5)
    weights["table"][7] = 0  # a unit that training never met
    return ModelParts(spec, weights, Units(vocabulary, mode, lowercase), words, {"name": "made"})


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def reference(parts: ModelParts, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
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
