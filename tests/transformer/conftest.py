"""The real all-MiniLM-L6-v2, which a package carries."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.factories import minilm_folder


@pytest.fixture(scope="session")
def minilm() -> Path:
    """Its folder."""
    return minilm_folder()
