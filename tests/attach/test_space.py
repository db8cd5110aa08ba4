"""The same space, else a map: against spaces that are known to be one, turned, or another."""

from __future__ import annotations

import numpy as np
import pytest

from lovevec.attach.space import SAME_SPACE, Sample, fit_space, mean_cosine, ridge, shared_words
from lovevec.errors import LovevecError

WORDS = [f"word{number}" for number in range(300)]
RNG = np.random.default_rng(4)
VECTORS = RNG.normal(size=(300, 8)).astype(np.float32)
VECTORS /= np.linalg.norm(VECTORS, axis=1, keepdims=True)
TURN = np.linalg.qr(RNG.normal(size=(8, 8)))[0].astype(np.float32)


def directions(words):
    """A model that knows these words gives them these vectors."""
    return VECTORS[[WORDS.index(word) for word in words]]


def sample_of(table: np.ndarray) -> Sample:
    return shared_words(WORDS, directions, {word: row for row, word in enumerate(WORDS)}, table)


def test_the_map_is_what_least_squares_finds():
    rng = np.random.default_rng(3)
    source, result = rng.normal(size=(200, 5)) + 1, rng.normal(size=(200, 3)) - 2
    slope, offset = ridge(source, result, 0.5)
    centred = source - source.mean(axis=0)
    extra = np.sqrt(0.5 * np.square(centred).sum() / 5) * np.eye(5)  # ridge is least squares with rows for the penalty
    expected = np.linalg.lstsq(
        np.vstack([centred, extra]), np.vstack([result - result.mean(axis=0), np.zeros((5, 3))]), rcond=None
    )[0]
    np.testing.assert_allclose(slope, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(source.mean(axis=0) @ slope + offset, result.mean(axis=0), rtol=1e-4)


def test_a_turned_space_is_turned_back_by_the_map_alone():
    space = fit_space(sample_of(5 * VECTORS @ TURN))
    assert space.map is not None
    assert abs(space.agreement) < SAME_SPACE
    np.testing.assert_allclose(space.map.slope, TURN, atol=0.03)
    np.testing.assert_allclose((space(VECTORS) * (VECTORS @ TURN)).sum(axis=1), 1, atol=1e-3)
    assert space.mapped.cosine > 0.999
    assert space.mapped.top10 == 1
    assert space.metadata["direct"]["cosine"] == round(space.direct.cosine, 4)


def test_the_same_space_stays_as_it_is():
    noisy = 3 * (VECTORS + 0.2 * RNG.normal(size=VECTORS.shape).astype(np.float32))
    space = fit_space(sample_of(noisy))
    assert (space.map, space.mapped) == (None, None)
    cosine = (VECTORS * noisy).sum(axis=1) / np.linalg.norm(noisy, axis=1)
    assert space.agreement == pytest.approx(cosine.mean(), abs=1e-6)
    assert space(VECTORS) is VECTORS


def test_too_few_words_and_other_options_are_refused():
    few = {word: row for row, word in enumerate(WORDS[:15])}
    with pytest.raises(LovevecError, match=r"share 15 words, too few .*at least 16"):
        fit_space(shared_words(WORDS, directions, few, -VECTORS))
    with pytest.raises(LovevecError, match="space is 'other': choose one of auto, direct, mapped"):
        fit_space(sample_of(VECTORS), "other")


def test_rows_of_zeros_say_nothing_about_the_space():
    some = VECTORS.copy()
    some[::2] = 0
    assert mean_cosine(some, VECTORS) == pytest.approx(1, abs=1e-6)
    assert mean_cosine(np.zeros_like(VECTORS), VECTORS) == 0
    assert mean_cosine(VECTORS[:, :4], VECTORS) == 0
    assert mean_cosine(VECTORS[:0], VECTORS[:0]) == 0
