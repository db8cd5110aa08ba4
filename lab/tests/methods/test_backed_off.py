"""Robust backed-off estimation: its definition, and that its weights are learned."""

from __future__ import annotations

import numpy as np
import pytest
from made_tables import made_table, table_of
from rapidfuzz.distance import OSA

from lovevec.damage.edits import damage
from lovevec_lab.methods.backed_off import FEATURES, BackedOff, Examples, attention, cosine_and_slope, fit

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


def made_examples(n: int = 60, k: int = 5, seed: int = 0):
    """Examples in which the first feature tells the right candidate, the second is noise."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(n, 12))
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    vectors = rng.normal(size=(n, k, 12))
    features = rng.normal(size=(n, k, 2)) * [0.2, 1]
    right = rng.integers(0, k - 1, n)
    vectors[np.arange(n), right] = own * 3
    features[np.arange(n), right, 0] += 1
    there = np.ones((n, k), bool)
    there[:, -1] = rng.random(n) < 0.5
    products = (vectors @ own[:, :, None])[:, :, 0]
    return Examples(features, there, products, vectors @ vectors.transpose(0, 2, 1)), vectors, own


def test_the_cosine_is_that_of_the_estimates():
    examples, vectors, own = made_examples()
    theta = np.array([0.7, -1.3])
    weights = attention(examples.features, examples.there, theta)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert not weights[~examples.there].any()
    estimate = (weights[:, :, None] * vectors).sum(axis=1)
    cosine = (estimate * own).sum(axis=1) / np.linalg.norm(estimate, axis=1)
    np.testing.assert_allclose(cosine_and_slope(examples, theta)[0], cosine.mean())


def test_the_gradient_is_that_of_finite_differences():
    examples, _, _ = made_examples()
    theta, step = np.array([0.7, -1.3]), 1e-6
    slope = cosine_and_slope(examples, theta)[1]
    for place in range(2):
        aside = np.eye(2)[place] * step
        above, below = (cosine_and_slope(examples, theta + side)[0] for side in (aside, -aside))
        np.testing.assert_allclose(slope[place], (above - below) / (2 * step), rtol=1e-5)


def test_what_is_learned_holds_for_other_examples():
    theta = fit(made_examples()[0])
    other = made_examples(seed=1)[0]
    before, after = cosine_and_slope(other, np.zeros(2))[0], cosine_and_slope(other, theta)[0]
    assert theta[0] > 3 * abs(theta[1])
    assert after > max(before + 0.15, 0.9)


def test_without_candidates_there_is_nothing_to_weigh():
    assert not attention(np.ones((2, 3, 1)), np.zeros((2, 3), bool), np.ones(1)).any()
    examples = Examples(np.ones((2, 3, 1)), np.zeros((2, 3), bool), np.zeros((2, 3)), np.zeros((2, 3, 3)))
    assert np.isfinite(fit(examples)).all()
