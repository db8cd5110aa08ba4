from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from lab_factories import table_from_rows
from scipy import stats
from tests.factories import toy_words

from lovevec.errors import LovevecError
from lovevec_lab.evaluate.similarity import GoldPairs, score_similarity

WORDS = toy_words(60)


def made_rows(seed: int = 0, dim: int = 6) -> dict[str, np.ndarray]:
    rows = np.random.default_rng(seed).normal(size=(len(WORDS), dim)).astype(np.float32)
    return dict(zip(WORDS, rows.astype(np.float64), strict=True))


def made_pairs(name: str = "made", count: int = 100, seed: int = 0) -> GoldPairs:
    rng = np.random.default_rng([seed, 1])
    left, right = rng.integers(len(WORDS), size=(2, count))
    gold = rng.integers(0, 10, size=count).astype(np.float64)
    return GoldPairs(name, [WORDS[row] for row in left], [WORDS[row] for row in right], gold)


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return round(float(one @ other / np.linalg.norm(one) / np.linalg.norm(other)), 9)


def test_as_scipy_has_it_from_cosines_one_by_one():
    rows = made_rows()
    sets = [made_pairs("one"), made_pairs("other", 40, seed=1)]
    found = score_similarity(table_from_rows(rows), sets, resamples=20)
    assert [score.name for score in found.sets] == ["one", "other"]
    for score, pairs in zip(found.sets, sets, strict=True):
        cosines = [cosine(rows[a], rows[b]) for a, b in zip(pairs.left, pairs.right, strict=True)]
        assert score.spearman == pytest.approx(100 * stats.spearmanr(cosines, pairs.gold).statistic, abs=1e-9)
        assert (score.pairs, score.covered) == (len(pairs.gold), len(pairs.gold))
        assert score.spearman_covered == score.spearman
    assert found.mean == pytest.approx(np.mean([score.spearman for score in found.sets]))
    assert found.mean_covered == pytest.approx(found.mean)
    assert found.parameters == (60 * 6, 0)


def test_pairs_with_a_word_that_is_not_there_count_with_cosine_0_and_the_others_once_more():
    rows = made_rows()
    pairs = made_pairs()
    known = {word: row for word, row in rows.items() if word not in WORDS[:15]}
    found = score_similarity(table_from_rows(known), [pairs], resamples=20).sets[0]
    both = np.array([a in known and b in known for a, b in zip(pairs.left, pairs.right, strict=True)])
    cosines = np.array([cosine(rows[a], rows[b]) for a, b in zip(pairs.left, pairs.right, strict=True)])
    assert found.covered == both.sum() < len(both)
    expected = stats.spearmanr(np.where(both, cosines, 0), pairs.gold).statistic
    assert found.spearman == pytest.approx(100 * expected, abs=1e-9)
    expected = stats.spearmanr(cosines[both], pairs.gold[both]).statistic
    assert found.spearman_covered == pytest.approx(100 * expected, abs=1e-9)


def test_a_zero_vector_is_near_nothing_and_far_from_nothing():
    pairs = GoldPairs("made", ["a", "a", "a"], ["b", "zero", "c"], np.array([3.0, 2.0, 1.0]))
    table = table_from_rows({"a": [1, 0], "b": [1, 0.1], "zero": [0, 0], "c": [-1, 0.1]})
    assert score_similarity(table, [pairs], resamples=5).sets[0].spearman == pytest.approx(100)


def test_a_word_is_as_near_to_itself_as_any_other_to_itself():
    pairs = GoldPairs("made", [*WORDS, WORDS[0]], [*WORDS, WORDS[1]], np.array([1.0] * len(WORDS) + [0.0]))
    assert score_similarity(table_from_rows(made_rows()), [pairs], resamples=5).sets[0].spearman == pytest.approx(100)


def test_the_interval_is_of_resampled_pairs_and_narrows_with_their_number():
    rng = np.random.default_rng(0)
    rows = made_rows(dim=30)
    widths = []
    for count in (50, 800):
        pairs = made_pairs(count=count)
        near = [cosine(rows[a], rows[b]) for a, b in zip(pairs.left, pairs.right, strict=True)]
        pairs = replace(pairs, gold=np.array(near) + 0.2 * rng.normal(size=count))
        found = score_similarity(table_from_rows(rows), [pairs], resamples=300).sets[0]
        assert found.low < found.spearman < found.high
        widths.append(found.high - found.low)
    assert widths[1] == pytest.approx(widths[0] / 4, rel=0.35)  # 16 times the pairs


def test_the_same_seed_gives_the_same_numbers_and_another_other_intervals():
    table, sets = table_from_rows(made_rows()), [made_pairs()]
    first, again, other = (score_similarity(table, sets, resamples=50, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert (first.sets[0].spearman, first.sets[0].low) != (other.sets[0].spearman, other.sets[0].low)
    assert first.sets[0].spearman == other.sets[0].spearman


def test_lengths_do_not_matter_nor_the_order_of_pairs():
    rows, pairs = made_rows(), made_pairs()
    longer = {word: row * 2.0 ** (number % 40 - 20) for number, (word, row) in enumerate(rows.items())}
    turned = GoldPairs("made", pairs.right[::-1], pairs.left[::-1], pairs.gold[::-1])
    plain = score_similarity(table_from_rows(rows), [pairs], resamples=5).mean
    assert score_similarity(table_from_rows(longer), [pairs], resamples=5).mean == pytest.approx(plain, abs=1e-9)
    assert score_similarity(table_from_rows(rows), [turned], resamples=5).mean == pytest.approx(plain, abs=1e-9)


def test_a_method_that_knows_nothing_scores_0_and_its_result_is_plain_json():
    found = score_similarity(table_from_rows({"nothing": [1.0, 0.0]}), [made_pairs()], resamples=5)
    assert (found.mean, found.low, found.high, found.mean_covered) == (0, 0, 0, None)
    told = json.loads(json.dumps(found.plain(), allow_nan=False))
    scores = {"spearman": 0, "low": 0, "high": 0, "spearman_covered": None}
    assert told["sets"] == [{"name": "made", "pairs": 100, "covered": 0, **scores}]
    assert told["parameters"] == {"embedding": 2, "others": 0}


def test_vectors_that_are_not_finite_are_told_with_their_word():
    rows = made_rows()
    rows[WORDS[3]] = np.array([np.nan, 0, 0, 0, 0, 0])
    pairs = GoldPairs("made", WORDS[:4], WORDS[1:5], np.arange(4.0))
    with pytest.raises(LovevecError, match=f"made: its vector of '{WORDS[3]}' holds numbers that are not finite"):
        score_similarity(table_from_rows(rows), [pairs])


def test_no_sets_are_refused():
    with pytest.raises(LovevecError, match="no sets"):
        score_similarity(table_from_rows(made_rows()), [])
