"""Short names for long things: what a kept result was computed from, so that it is not taken for another's."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.noise import Noise
from lovevec.evaluate.datasets import TagSplit, TextSplit
from lovevec.evaluate.nets.char_cnn import WithCharCNN
from lovevec.evaluate.nets.lookup import Lookup
from lovevec.methods.method import Method

NUMBERS = 6
STEP = 1e-3
# A run's own rate and seed are added to its key. The device changes numbers only as another seed would.
APART = ("rates", "seeds", "device")


def content_hash(value: Any) -> str:
    """A hash of plain values that JSON can hold: texts, labels, lists of them."""
    return blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=10).hexdigest()


def vectors_fingerprint(vectors: NDArray[np.floating]) -> list[int]:
    """A few whole numbers that tell [rows, dim] vectors from others, yet not from those of another engine or machine.

    Each is a random sum of all entries, in thousandths of what such sums come to: rounding errors of 1e-6 pass, one
    row that is another among 100,000 does not.
    """
    rng = np.random.default_rng(0)
    across = rng.standard_normal((vectors.shape[1], NUMBERS))
    down = rng.standard_normal((len(vectors), NUMBERS))
    sums = np.einsum("ri,ri->i", down, vectors.astype(np.float64) @ across)
    scale = float(np.sqrt(np.square(vectors, dtype=np.float64).sum())) or 1.0
    return [*map(int, np.rint(sums / (STEP * scale))), len(vectors)]


def downstream_key(
    task: str, method: Method, lookup: Lookup, split: TextSplit | TagSplit, noises: Sequence[Noise], settings: Any
) -> dict[str, Any]:
    """All that the runs of a downstream task depend on; `settings` is a dataclass. A task that computes something else
    than it did takes another name."""
    return {
        "task": task,
        "method": method.name,
        "parameters": method.parameters,
        "char_cnn": asdict(method.settings) if isinstance(method, WithCharCNN) else None,
        "vectors": vectors_fingerprint(lookup.vectors),
        "data": split.name,
        "content": split.digest or content_hash(asdict(split)),
        "noises": [asdict(noise) for noise in noises],
        "settings": {name: value for name, value in asdict(settings).items() if name not in APART},
    }
