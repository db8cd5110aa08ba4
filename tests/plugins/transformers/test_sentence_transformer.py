"""A SentenceTransformer made robust in one call: encode, save, load."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from tests.factories import minilm_folder

from lovevec import LovevecError
from lovevec.plugins.transformers import robustify

sentence_transformers = pytest.importorskip("sentence_transformers")
CLEAN = ["this film was absolutely wonderful and moving", "the director made a terrible mistake", "12345678 !"]
NOISY = ["this flim was absolutly wonderfull and movng", "the directr made a terible mistke", "12345678 !"]


@pytest.fixture(scope="module")
def plain():
    return sentence_transformers.SentenceTransformer(str(minilm_folder()), device="cpu")


@pytest.fixture(scope="module")
def robust(plain):
    return robustify(plain)


def test_clean_text_to_the_bit_and_noisy_text_nearer(plain, robust):
    expected = plain.encode(CLEAN)
    assert np.array_equal(robust.encode(CLEAN), expected)
    assert np.array_equal(robust.encode(CLEAN[0]), plain.encode(CLEAN[0]))
    near, plain_near = ((one.encode(NOISY) * expected).sum(axis=1)[:2] for one in (robust, plain))
    assert (near > plain_near + 0.2).all()
    assert type(plain[0].auto_model).__name__ == "BertModel"


def test_saved_loaded_and_copied(robust, tmp_path):
    expected = robust.encode(NOISY)
    robust.save(str(tmp_path))
    loaded = sentence_transformers.SentenceTransformer(str(tmp_path), device="cpu")
    assert np.array_equal(loaded.encode(NOISY), expected)
    assert np.array_equal(copy.deepcopy(robust).encode(NOISY), expected)


def test_one_without_a_transformer_is_refused(plain):
    static = sentence_transformers.SentenceTransformer(modules=[plain[1]])
    with pytest.raises(LovevecError, match="no transformers model"):
        robustify(static)


def test_a_robust_one_is_refused(robust):
    with pytest.raises(LovevecError, match="robust already"):
        robustify(robust)
