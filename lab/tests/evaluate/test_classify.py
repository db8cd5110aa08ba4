"""Texts are told apart by what their words mean; damage takes that away, and good imputation brings much of it back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab_factories import table_from_rows
from tests.factories import toy_words

from lovevec.damage.noise import Noise
from lovevec.progress import Progress
from lovevec_lab.evaluate.classify import ClassifySettings, TextPart, TextSplit, score_texts
from lovevec_lab.evaluate.nets import CharCNNSettings, CNNSettings
from lovevec_lab.evaluate.nets.char_cnn import WithCharCNN
from lovevec_lab.evaluate.result_cache import ResultCache
from lovevec_lab.methods.edit_distance import EditDistance
from lovevec_lab.methods.table import Table

pytestmark = pytest.mark.usefixtures("on_one_thread")
QUIET = Progress(quiet=True)
SMALL = ClassifySettings(rates=(3e-3,), device="cpu", cnn=CNNSettings(filters=16, epochs=4, batch=20))
SWEEP = [Noise("ocr", share) for share in (0, 0.3, 0.9)]
MOODS = ("bad", "good", "odd")


@pytest.fixture(scope="module")
def table() -> Table:
    """Words of six letters or more; one in three has a mood, which its vector shows."""
    words = [word for word in toy_words(800) if len(word) >= 6][:300]
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(300, 12)).astype(np.float32)
    for row in range(0, 300, 3):
        vectors[row, row // 3 % 3] += 5
    return table_from_rows(dict(zip(words, vectors.tolist(), strict=True)))


def texts(table: Table, count: int, seed: int) -> TextPart:
    """Sentences of 4 to 9 words, one or two of them of the sentence's mood, the others of none."""
    rng = np.random.default_rng(seed)
    moods = rng.integers(0, 3, count)
    sentences = []
    for mood in moods:
        rows = 3 * rng.integers(0, 100, rng.integers(4, 10)) + rng.integers(1, 3)
        for place in rng.choice(len(rows), rng.integers(1, 3), replace=False):
            rows[place] = 9 * rng.integers(0, 33) + 3 * mood
        sentences.append([table.words[row] for row in rows])
    return TextPart(sentences, [MOODS[mood] for mood in moods])


@pytest.fixture(scope="module")
def split(table) -> TextSplit:
    return TextSplit("made", texts(table, 600, 1), texts(table, 100, 2), texts(table, 300, 3))


@pytest.fixture(scope="module")
def scores(table, split) -> dict[str, dict]:
    return {
        method.name: score_texts(method, split, SWEEP, SMALL, ResultCache(), QUIET)
        for method in (table, EditDistance(table))
    }


def test_clean_text_is_told_apart_and_damage_costs_the_table_more_than_imputation(scores):
    alone, imputed = (list(scores[name]["test"].values()) for name in ("made", "Edit Distance"))
    assert list(scores["made"]["test"]) == ["original", "ocr 30 %", "ocr 90 %"]
    assert alone[0] > 90
    assert imputed[0] == alone[0]  # no word is unknown there
    assert alone[0] > alone[1] + 5 > alone[2] + 10
    assert imputed[1] > alone[1] + 3
    assert imputed[2] > alone[2] + 10


def test_scores_are_decided_by_the_seeds(table, split, scores):
    again = score_texts(table, split, SWEEP, SMALL, ResultCache(), QUIET)
    assert again["test"] == scores["made"]["test"]
    assert again["dev"] == scores["made"]["dev"]
    other = score_texts(table, split, SWEEP, replace(SMALL, noise_seed=1, seeds=(1,)), ResultCache(), QUIET)
    assert other["test"] != again["test"]


def test_a_noise_counts_by_itself_whatever_else_is_tested(table, split, scores):
    few = score_texts(table, split, SWEEP[2:], SMALL, ResultCache(), QUIET)
    assert few["test"] == {"ocr 90 %": scores["made"]["test"]["ocr 90 %"]}


def test_kept_runs_are_read_and_missing_ones_computed(table, split, tmp_path):
    quick = replace(SMALL, cnn=CNNSettings(filters=4, epochs=1))
    first = score_texts(table, split, SWEEP[:1], quick, ResultCache(tmp_path), QUIET)
    files = {path: path.stat().st_mtime_ns for path in Path(tmp_path).iterdir()}
    assert len(files) == 1
    more = score_texts(table, split, SWEEP[:1], replace(quick, rates=(3e-3, 1e-4)), ResultCache(tmp_path), QUIET)
    assert more["runs"][0] == first["runs"][0]  # with the seconds that it took then
    now = {path: path.stat().st_mtime_ns for path in Path(tmp_path).iterdir()}
    assert len(now) == 2
    assert {path: now[path] for path in files} == files


def test_a_char_cnn_is_trained_with_the_task(table, split):
    method = WithCharCNN(table, CharCNNSettings(letter_dim=8, filters=8))
    score = score_texts(method, split, SWEEP[:1], SMALL, ResultCache(), QUIET)
    assert score["test"]["original"] > 60  # half of the words are hidden from it in training
