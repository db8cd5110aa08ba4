"""Ray once a file, and a small model for its workers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.factories import random_love

from lovevec import LOVE


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("bulk") / "model"
    random_love().save(path)
    return path


@pytest.fixture(scope="session")
def love(folder) -> LOVE:
    return LOVE.load(folder)


@pytest.fixture(scope="module")
def ray():
    pytest.importorskip("ray")
    from lovevec.bulk.cluster import cluster

    with cluster(workers=2) as started:
        yield started
