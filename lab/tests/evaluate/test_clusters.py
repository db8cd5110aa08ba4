from __future__ import annotations

import json
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab_factories import table_from_rows
from tests.factories import toy_words

from lovevec.errors import LovevecError, MissingExtra
from lovevec_lab.evaluate.clusters import WordClasses, kmeans, purity, score_clusters

ITEMS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)
WORDS = toy_words(80)
CLASSES = [f"class {number % 8}" for number in range(80)]


def topics(noise: float, seed: int = 0) -> dict[str, np.ndarray]:
    """Words of a class lie around a point of their own, at any length."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(8, 12))
    return {
        word: (centres[number % 8] + noise * rng.normal(size=12)) * rng.uniform(0.1, 10)
        for number, word in enumerate(WORDS)
    }


def test_the_example_of_the_textbook():
    """Manning, Raghavan and Schütze, Introduction to Information Retrieval, figure 16.4: 12 of 17."""
    labels = np.repeat([0, 1, 2], [6, 6, 5])
    classes = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 2, 2, 2, 2, 0, 0])
    assert purity(labels, classes) == pytest.approx(12 / 17)


@given(ITEMS)
def test_purity_by_its_definition(items):
    labels, classes = np.array(items).T
    most = [Counter(kind for label, kind in items if label == one).most_common(1)[0][1] for one in set(labels.tolist())]
    assert purity(labels, classes) == pytest.approx(sum(most) / len(items))


@given(ITEMS, st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(items, random):
    labels, classes = np.array(items).T
    names = random.sample(range(10), 10)
    order = random.sample(range(len(items)), len(items))
    other = np.array(names)[labels], np.array(names)[classes]
    assert purity(other[0][order], other[1][order]) == pytest.approx(purity(labels, classes))


def test_classes_far_apart_come_out_pure_whatever_the_lengths():
    found = score_clusters(table_from_rows(topics(0.05)), [WordClasses("made", WORDS, CLASSES)], seeds=3)
    assert found.sets[0].purities == [100, 100, 100]
    assert (found.mean, found.sets[0].deviation) == (100, 0)
    assert (found.sets[0].words, found.sets[0].classes, found.sets[0].k, found.sets[0].covered) == (80, 8, 8, 80)


def test_mean_and_deviation_are_over_the_seeds_and_means_over_the_sets():
    sets = [WordClasses("made", WORDS, CLASSES), WordClasses("half", WORDS[:40], CLASSES[:40])]
    found = score_clusters(table_from_rows(topics(1.0)), sets, seeds=6, restarts=1)
    for score in found.sets:
        assert len(set(score.purities)) > 1
        assert score.purity == pytest.approx(np.mean(score.purities))
        assert score.deviation == pytest.approx(np.std(score.purities, ddof=1))
    assert found.mean == pytest.approx(np.mean([score.purity for score in found.sets]))
    again = score_clusters(table_from_rows(topics(1.0)), sets, seeds=6, restarts=1)
    assert again == found
    other = score_clusters(table_from_rows(topics(1.0)), sets, seeds=6, restarts=1, seed=1)
    assert other.sets[0].purities != found.sets[0].purities


def test_words_that_are_not_there_stay_in_and_are_counted():
    rows = topics(0.05)
    for word in WORDS[8:40]:
        del rows[word]
    found = score_clusters(table_from_rows(rows), [WordClasses("made", WORDS, CLASSES)], seeds=2).sets[0]
    assert (found.words, found.covered) == (80, 48)
    # The 32 zeros make a cluster of their own, of which 4 are of one class; two classes then share a cluster.
    assert found.purity == pytest.approx(100 * (48 - 6 + 4) / 80)


def test_k_can_be_chosen():
    table, sets = table_from_rows(topics(0.05)), [WordClasses("made", WORDS, CLASSES)]
    assert score_clusters(table, sets, k=1, seeds=1).mean == pytest.approx(100 * 10 / 80)
    assert score_clusters(table, sets, k=80, seeds=1).mean == 100
    with pytest.raises(LovevecError, match="81 clusters of 80 points"):
        score_clusters(table, sets, k=81)


def test_kmeans_is_decided_by_its_seed_and_takes_fewer_distinct_points_than_clusters(recwarn):
    points = np.random.default_rng(0).normal(size=(60, 5))
    assert np.array_equal(kmeans(points, 6, [0, 1], 1), kmeans(points, 6, [0, 1], 1))
    assert not np.array_equal(kmeans(points, 6, [0, 1], 1), kmeans(points, 6, [0, 2], 1))
    assert len(set(kmeans(np.repeat(np.eye(2), 5, axis=0), 4, [0], 2).tolist())) == 2
    assert not recwarn.list


def test_without_scikit_learn_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    with pytest.raises(MissingExtra, match=r"scikit-learn: pip install 'lovevec\[evaluate\]'"):
        kmeans(np.eye(3), 2, [0])


def test_one_seed_has_no_spread_and_results_are_plain_json():
    found = score_clusters(table_from_rows(topics(1.0)), [WordClasses("made", WORDS, CLASSES)], seeds=1)
    told = json.loads(json.dumps(found.plain(), allow_nan=False))
    assert told["sets"][0]["deviation"] == 0
    assert told["sets"][0]["purities"] == [told["mean"]]


def test_no_sets_are_refused():
    with pytest.raises(LovevecError, match="no sets"):
        score_clusters(table_from_rows(topics(1.0)), [])
