"""Robust backed-off estimation: its definition, and that its weights are learned."""

from __future__ import annotations

import numpy as np
import pytest
from rapidfuzz.distance import OSA
from tests.methods.made_tables import made_table, table_of

from lovevec.damage.edits import damage
from lovevec.methods.backed_off import FEATURES, BackedOff

TABLE = made_table(700)
KNOWN = table_of(TABLE.words[:600], TABLE.vectors[:600])
HELD, OWN = TABLE.words[600:], TABLE.vectors[600:].astype(np.float64)


@pytest.fixture(scope="module")
def rival() -> BackedOff:
    return BackedOff(KNOWN)


def common(one: str, other: str) -> int:
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def cosines(made: np.ndarray) -> np.ndarray:
    return (made * OWN).sum(axis=1) / np.maximum(np.linalg.norm(made, axis=1) * np.linalg.norm(OWN, axis=1), 1e-9)


def test_features_are_those_of_the_first_lines(rival):
    words = [*HELD[:20], KNOWN.words[3] + KNOWN.words[40], "qq" + KNOWN.words[9]]
    found = rival.candidates(words)
    for n, word in enumerate(words):
        for k in np.flatnonzero(found.there[n]).tolist():
            other, features = KNOWN.words[found.rows[n, k]], found.features[n, k]
            longer = max(len(word), len(other))
            assert features[1] == pytest.approx(common(word, other) / longer)
            assert features[2] == pytest.approx(common(word[::-1], other[::-1]) / longer)
            assert features[3] == pytest.approx(1 - OSA.distance(word, other) / longer)
            if k >= 20:
                assert other in word
                assert features[[0, 4, 5]].tolist() == pytest.approx([0, 1, len(other) / len(word)])
            else:
                assert features[0] > 0
                assert not features[4:].any()
    assert found.there[20:, 20:].any(axis=1).all()


def test_the_vector_is_the_weighted_sum(rival):
    found, made = rival.candidates(HELD), rival.embed(HELD)
    for n in range(len(HELD)):
        there = found.there[n]
        grown = np.exp(found.features[n, there] @ rival.theta)
        expected = (grown / grown.sum()) @ KNOWN.vectors[found.rows[n, there]].astype(np.float64)
        np.testing.assert_allclose(made[n], expected, rtol=1e-4, atol=1e-5)


def test_learned_weights_do_better_on_words_never_seen(rival):
    learned = cosines(rival.embed(HELD)).mean()
    theta = rival.theta
    rival.theta = np.zeros_like(theta)
    even = cosines(rival.embed(HELD)).mean()
    rival.theta = theta
    assert learned > even + 0.05
    assert learned > 0.5


def test_a_typo_is_nearest_to_its_word(rival):
    words = [word for word in KNOWN.words if len(word) > 6][:100]
    typos = damage(words, np.random.default_rng(0), ["drop", "insert"])
    made = rival.embed(typos)
    unit = KNOWN.vectors / np.linalg.norm(KNOWN.vectors, axis=1, keepdims=True)
    nearest = (made @ unit.T).argmax(axis=1)
    assert np.mean([KNOWN.words[row] == word for row, word in zip(nearest, words, strict=True)]) > 0.4


def test_examples_never_see_their_own_word(rival):
    found = rival.candidates(KNOWN.words, np.arange(600))
    assert not ((found.rows == np.arange(600)[:, None]) & found.there).any()


def test_what_shares_nothing_has_no_vector_and_the_same_seed_gives_the_same(rival):
    assert rival.covers(["世界", HELD[0]]).tolist() == [False, True]
    assert not rival.embed(["世界"]).any()
    assert np.array_equal(BackedOff(KNOWN, examples=200, seed=3).theta, BackedOff(KNOWN, examples=200, seed=3).theta)
    assert rival.parameters == (KNOWN.vectors.size, len(FEATURES))


def test_a_table_of_two_words():
    rival = BackedOff(table_of(["one", "two"]))
    assert np.isfinite(rival.embed(["onee", "twoo", "x"])).all()
    np.testing.assert_allclose(rival.embed(["onee"])[0], rival.table.vectors[0], rtol=1e-5)
