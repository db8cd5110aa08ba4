"""KVQ-FH against the equations of its paper and code, in float64, one word at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from lab_factories import NASTY
from rival_factories import check_training, random_rival
from tests.factories import toy_words

from lovevec.units.vocabulary import SPECIAL
from lovevec_lab.methods.learned.kvq_fh import KVQFH, KvqNetwork, KvqSettings, hash_rows

WORDS = toy_words(60)
SMALL = KvqSettings(frequent=700, rows=150)
GOLDEN = [939, 758, 464, 243, 128, 68]


def attention(key: np.ndarray, value: np.ndarray, query: np.ndarray) -> np.ndarray:
    """[entries, d] each -> [d]."""
    scores = np.exp(np.sqrt(key.shape[1]) * query.sum(axis=0) * key)
    return (scores / scores.sum(axis=0) * value).sum(axis=0)


def test_a_vector_is_attention_over_the_frequent_substrings():
    rival = random_rival(KVQFH, WORDS, SMALL)
    assert len(rival.units) == 700 + 5
    table = rival.network.table.detach().double().numpy()
    assert len(table) == 150 + 5
    rows = dict(zip(rival.units, hash_rows(rival.units, 150), strict=True))
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
        np.testing.assert_allclose(rival.embed([word])[0], expected / np.linalg.norm(expected), atol=1e-5)


def test_gradients_are_those_of_finite_differences():
    rng = np.random.default_rng(0)
    lengths = torch.tensor([3, 12, 6])
    index = torch.from_numpy(rng.integers(0, 9, (3, 16)))
    network = KvqNetwork(9, 4).double()

    def vectors(table: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(network, {"table": table}, (index, lengths))

    assert torch.autograd.gradcheck(vectors, torch.from_numpy(rng.normal(size=(9, 4))).requires_grad_())


def test_scores_far_out_stay_finite():
    network = KvqNetwork(9, 4)
    index = torch.tensor([[6, 7, 8, 5, 7, 8]])
    with torch.no_grad():
        network.table.copy_(torch.linspace(-60, 60, 36).view(9, 4))
        assert network(index, torch.tensor([6])).isfinite().all()


def test_rows_are_shared_by_hashes_that_do_not_know_of_each_other():
    units = (*SPECIAL, "ab", "bc", "abc")
    rows = hash_rows(units, 1000)
    assert rows.shape == (len(units), 6)
    assert (rows[: len(SPECIAL)] == np.arange(len(SPECIAL))[:, None]).all()
    assert len(np.unique(rows[len(SPECIAL) :])) > 14
    assert rows[len(SPECIAL)].tolist() == GOLDEN  # folders hold no rows, so the hash may never change


def test_a_word_without_known_substrings_has_six_times_the_row_of_unk():
    rival = random_rival(KVQFH, WORDS, SMALL)
    assert rival.encode(["zzz"]).values.tolist() == [1] * 6
    assert rival.encode([WORDS[0]]).lengths[0] % 6 == 0


def test_the_papers_parameter_count():
    rival = KVQFH(KvqSettings(), SPECIAL, 300)
    assert rival.parameters == (12_001_500, 0)


def test_it_learns(tmp_path):
    check_training(KVQFH, tmp_path, NASTY, replace(SMALL, rows=2000, epochs=12), 0.02)
