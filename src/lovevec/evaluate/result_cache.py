"""Results that are computed once: long work can be stopped, and the same command goes on where it was.

A cell is one number or a few, in a JSON file of its own, under a key that says all that it depends on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from lovevec.files import write_json

Score = dict[str, Any]


class ResultCache:
    """`folder` keeps what was computed; without one nothing is kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    def __call__(self, key: Mapping[str, Any], compute: Callable[[], Score]) -> Score:
        """The result under `key` (plain values that JSON can hold): read, or computed and kept."""
        if self.folder is None:
            return compute()
        key_text = json.dumps(key, sort_keys=True)
        file = self.folder / f"{blake2b(key_text.encode(), digest_size=10).hexdigest()}.json"
        try:
            found = json.loads(file.read_text("utf-8"))
            if found["key"] == json.loads(key_text):
                result: Score = found["result"]
                return result
        except (OSError, ValueError, KeyError, TypeError):
            pass  # not there, or cut short by a full disk: computed again
        result = json.loads(json.dumps(compute()))  # as it will be read, so that both are the same
        self.folder.mkdir(parents=True, exist_ok=True)
        write_json(file, {"key": key, "result": result})
        return result
