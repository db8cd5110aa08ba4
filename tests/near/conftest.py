"""The shipped default model, loaded once for all of near's tests."""

from __future__ import annotations

import pytest

from lovevec import LOVE


@pytest.fixture(scope="session")
def shipped_love() -> LOVE:
    """By numpy, so that nothing is compiled."""
    return LOVE.load(engine="numpy")
