"""What tests of downstream models share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def alone():
    """One thread: small products on a busy machine take twenty times as long with two."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
