"""Models that all tests of this folder share; nobody changes them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.factories import minilm_folder, one_thread
from tests.transformer_factories import load_small, save_small
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from lovevec import LOVE
from lovevec.plugins.transformers import robustify

logging.disable_progress_bar()


@pytest.fixture(scope="session", autouse=True)
def on_one_thread():
    """One thread from the first model on."""
    with one_thread():
        yield


@pytest.fixture(scope="session")
def love(tiny_model) -> LOVE:
    return LOVE.load(tiny_model)


@pytest.fixture(scope="session")
def small_folder(tmp_path_factory) -> Any:
    """kind -> the folder of a small random model of that kind."""

    @cache
    def make(kind: str) -> Path:
        folder = tmp_path_factory.mktemp(kind)
        save_small(kind, folder)
        return folder

    return make


@pytest.fixture(scope="session")
def small(small_folder) -> Any:
    """kind -> model and tokenizer, plain."""
    return cache(lambda kind: load_small(small_folder(kind)))


@pytest.fixture(scope="session")
def minilm() -> tuple[Any, Any]:
    folder = minilm_folder()
    return AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="session")
def robust_minilm(minilm) -> tuple[Any, Any]:
    """The real model made robust with all defaults; nobody may change it."""
    return robustify(minilm)
