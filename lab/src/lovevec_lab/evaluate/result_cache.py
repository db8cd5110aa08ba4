"""Results that are computed once: long work can be stopped, and the same command goes on where it was.

A result is one number or a few, in a JSON file of its own, under a key that says all that it depends on; what is long
(texts, vectors) goes into the key as a hash or a fingerprint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.files import write_json

Score = dict[str, Any]
FINGERPRINT_NUMBERS = 6
FINGERPRINT_STEP = 1e-3


class ResultCache:
    """`folder` keeps what was computed; without one nothing is kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    def __call__(self, key: Mapping[str, Any], compute: Callable[[], Score]) -> Score:
        """The result under `key` (plain values that JSON can hold): read, or computed and kept."""
        kept = self.get(key)
        return self.put(key, compute()) if kept is None else kept

    def get(self, key: Mapping[str, Any]) -> Score | None:
        """The result under `key`, if there is one."""
        if self.folder is None:
            return None
        try:
            stored = json.loads(self._file(key).read_text("utf-8"))
            if stored["key"] == json.loads(_text(key)):
                result: Score = stored["result"]
                return result
        except (OSError, ValueError, KeyError, TypeError):
            pass  # not there, or cut short by a full disk: computed again
        return None

    def put(self, key: Mapping[str, Any], result: Score) -> Score:
        """Write the result down; returned as it will be read, so that both are the same."""
        if self.folder is not None:
            result = json.loads(json.dumps(result))
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(self._file(key), {"key": key, "result": result})
        return result

    def _file(self, key: Mapping[str, Any]) -> Path:
        assert self.folder is not None
        return self.folder / f"{blake2b(_text(key).encode(), digest_size=10).hexdigest()}.json"


def _text(key: Mapping[str, Any]) -> str:
    return json.dumps(key, sort_keys=True)


def content_hash(value: Any) -> str:
    """A hash of plain values that JSON can hold: texts, labels, lists of them."""
    return blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=10).hexdigest()


def vectors_fingerprint(vectors: NDArray[np.floating]) -> list[int]:
    """A few whole numbers that tell [rows, dim] vectors from others, yet not from those of another engine or machine.

    Each is a random sum of all entries, in thousandths of what such sums come to: rounding errors of 1e-6 pass, one
    row that is another among 100,000 does not.
    """
    rng = np.random.default_rng(0)
    across = rng.standard_normal((vectors.shape[1], FINGERPRINT_NUMBERS))
    down = rng.standard_normal((len(vectors), FINGERPRINT_NUMBERS))
    sums = np.einsum("ri,ri->i", down, vectors.astype(np.float64) @ across)
    scale = float(np.sqrt(np.square(vectors, dtype=np.float64).sum())) or 1.0
    return [*map(int, np.rint(sums / (FINGERPRINT_STEP * scale))), len(vectors)]
