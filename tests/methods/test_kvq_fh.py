"""KVQ-FH against the equations of its paper and code, in float64, one word at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.conftest import made_words
from tests.methods.made_models import DIM, check_training, random_model
from tests.methods.made_tables import NASTY

from lovevec.encoders.kvq import KVQ
from lovevec.encoders.network import Network
from lovevec.engine.spec import EncoderSpec
from lovevec.errors import LovevecError
from lovevec.methods.learned import kvq_fh
from lovevec.train import train

WORDS = made_words(60)
SMALL = kvq_fh.settings(frequent=700, rows=150)


def attention(key: np.ndarray, value: np.ndarray, query: np.ndarray) -> np.ndarray:
    """[entries, d] each -> [d]."""
    scores = np.exp(np.sqrt(key.shape[1]) * query.sum(axis=0) * key)
    return (scores / scores.sum(axis=0) * value).sum(axis=0)


def test_a_vector_is_attention_over_the_frequent_substrings():
    model = random_model(SMALL, WORDS)
    vocabulary = model.love.parts.units.vocabulary
    assert len(vocabulary) == 700 + 5
    assert vocabulary.table_rows == 150 + 5
    table = model.love.parts.weights["table"].astype(np.float64)
    rows = dict(zip(vocabulary.units, vocabulary.rows(), strict=True))
    for word in [*WORDS[:20], "bread", "treadbare", "bonobonobo", "zzz"]:
        shown = f"\x02{word}\x03"
        known = [
            rows[shown[low:high]]
            for low in range(len(shown))
            for high in range(low + 3, len(shown) + 1)
            if shown[low:high] in rows
        ]
        entries = np.concatenate(known or [rows["[UNK]"]]).reshape(-1, 3)  # two of each substring
        expected = attention(*(table[entries[:, role]] for role in range(3)))
        np.testing.assert_allclose(model.embed([word])[0], expected / np.linalg.norm(expected), atol=1e-5)


def test_gradients_are_those_of_finite_differences():
    rng = np.random.default_rng(0)
    lengths = torch.tensor([3, 12, 6])
    index = torch.from_numpy(rng.integers(0, 9, (3, 16)))
    encoder = KVQ(EncoderSpec("kvq", 4), 0.0)
    units = torch.from_numpy(rng.normal(size=(9, 4))).requires_grad_()
    assert torch.autograd.gradcheck(lambda rows: encoder(rows, index, lengths), units)


def test_scores_far_out_stay_finite():
    network = Network(EncoderSpec("kvq", 4), 9)
    index = torch.tensor([[6, 7, 8, 5, 7, 8]])
    with torch.no_grad():
        network.table.copy_(torch.linspace(-60, 60, 36).view(9, 4))
        assert network(network.table, index, torch.tensor([6])).isfinite().all()


def test_the_papers_parameter_count():
    counts = Network(kvq_fh.settings().spec(300), 40_000 + 5).parameter_counts()
    assert counts == {"embedding": 12_001_500, "others": 0}


def test_it_learns(tmp_path):
    check_training(replace(SMALL, keep=2000), tmp_path, NASTY)


def test_threes_are_asked_for(tiny_target):
    with pytest.raises(LovevecError, match="3 rows of each substring, or 6: hashes is 2"):
        train(tiny_target, replace(SMALL, hashes=2, device="cpu"))
    with pytest.raises(LovevecError, match="reads substrings, not mixed"):
        train(tiny_target, replace(SMALL, input="mixed", hashes=1, device="cpu"))
    assert DIM == 12
