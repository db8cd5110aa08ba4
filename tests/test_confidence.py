"""Confidence: the regression against scipy's own, its measures against their definitions, and that it holds."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from scipy.optimize import minimize

from lovevec import LOVE, LovevecError
from lovevec.confidence import EVENT, Confidence, Feature, measure
from lovevec.damage.misspell import misspell
from lovevec.train import Settings, train
from lovevec.train.calibration import RIDGE, auc, calibration_error, fit, newton, restrict_known
from lovevec.train.loop import holdout_rows
from tests.factories import toy_vectors, toy_words

SETTINGS = Settings(
    vocabulary_size=500, epochs=12, batch=64, negatives=20, device="cpu", learning_rate=0.01, holdout=0.2, seed=2
)


@pytest.fixture(scope="module")
def target() -> tuple[list[str], np.ndarray]:
    words = toy_words(1500)
    return words, toy_vectors(words, 16)


@pytest.fixture(scope="module")
def love(target, tmp_path_factory) -> LOVE:
    folder = tmp_path_factory.mktemp("confidence") / "m"
    train(target, SETTINGS, output=folder)
    return LOVE.load(folder)


def is_right(love: LOVE, shown: list[str], rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The event, word by word, by its definition."""
    table = vectors.astype(np.float64) / np.linalg.norm(vectors, axis=1, keepdims=True)
    found = []
    for made, row in zip(love.embed(shown), rows, strict=True):
        cosine = table @ made.astype(np.float64)
        found.append((cosine > cosine[row] + 1e-6).sum() < 10)
    return np.array(found)


def test_it_says_what_it_is_the_probability_of_and_how_well(love):
    stored = love.metadata["confidence"]
    assert stored["event"] == EVENT
    assert stored["held_back_words"] == 300
    assert 900 < stored["typos"] <= 1200
    assert 0 <= stored["calibration_error"] < 0.1
    assert stored["auc"]["held_back"] > 0.5
    assert EVENT in love.card
    assert f"{stored['calibration_error']:.3f}" in love.card


def test_among_words_of_one_confidence_so_many_are_right(love, target):
    words, vectors = target
    unseen = holdout_rows(len(words), SETTINGS.holdout, SETTINGS.seed)
    rows = np.setdiff1d(np.arange(len(words)), unseen)
    rng = np.random.default_rng(99)
    typos = misspell([words[row] for row in rows], rng)
    typos[::2] = misspell(typos[::2], rng)
    real = np.array([typo not in love for typo in typos])
    shown, rows = [typo for typo, good in zip(typos, real, strict=True) if good], rows[real]
    right = is_right(love, shown, rows, vectors)
    given = love.confidence(shown)
    assert 0.1 < right.mean() < 0.99  # or the rest would say nothing
    assert auc(given, right) > 0.6
    assert calibration_error(given, right, np.ones(len(given))) < 0.2
    unaware = restrict_known(love, rows_known(words, unseen))  # never trained on, and now not known by name either
    new = [words[row] for row in unseen]
    assert unaware.confidence(new).mean() == pytest.approx(is_right(unaware, new, unseen, vectors).mean(), abs=0.2)


def rows_known(words, unseen) -> np.ndarray:
    return np.setdiff1d(np.arange(len(words)), unseen)


def test_known_words_have_the_share_measured_for_them(love, target):
    words, vectors = target
    right = is_right(love, words, np.arange(len(words)), vectors)
    assert np.array_equal(np.unique(love.confidence(words)), [love.metadata["confidence"]["known"]])
    assert love.confidence(words[:1])[0] == pytest.approx(right.mean(), abs=1e-9)
    assert love.confidence([words[0].upper()])[0] == pytest.approx(right.mean(), abs=1e-9)


def test_what_cannot_be_read_is_not_trusted(love):
    assert love.confidence(["", " ", "\t\n"]).tolist() == [0, 0, 0]
    assert love.confidence(["▲", "שלום", "\ud800"]).tolist() == [0, 0, 0]
    half, whole = love.confidence(["plogrשלשלש", "plogrxck"])
    assert 0 < half < 0.5
    assert love.confidence(["a" * 100])[0] < 0.2
    every = love.confidence(["plogrikc", "x" * 1_000_000, "\0", "a\nb", "İ", "7"])
    assert ((every >= 0) & (every <= 1)).all()
    assert 0 < whole < 1


def test_explain_says_the_same(love):
    for word in ("plogrikc", love.words[3], "", "🙂"):
        assert love.explain(word).confidence == love.confidence([word])[0]
    assert f"confidence {love.confidence(['plogrikc'])[0]:.2f}" in str(love.explain("plogrikc"))


def test_a_words_confidence_does_not_depend_on_its_company(love):
    words = [*toy_words(50, seed=12), "", "🙂", *love.words[:5]]
    together = love.confidence(np.array(words, dtype=object))
    assert np.array_equal(together, np.concatenate([love.confidence([word]) for word in words]))


def test_smaller_copies_keep_their_calibration(love, tmp_path):
    love.save(tmp_path / "m", precision="int8")
    words = toy_words(100, seed=13)
    np.testing.assert_allclose(LOVE.load(tmp_path / "m").confidence(words), love.confidence(words), atol=0.05)


def test_features_are_what_they_are_called(love):
    names = love.parts.units.names("plogrikcs")
    pieces = [name.removeprefix("##") for name in names[names.index("[SUB]") + 1 : names.index("[SEP]")]]
    assert "".join(pieces) == "plogrikcs"
    found = measure(
        love.parts.units, love.parts.units.counts(["", "plogrikcs", "a🙂"]), np.array([1, 2, 3], dtype=np.float32)
    )
    assert found["characters"][1] == pytest.approx(np.log(9))
    assert found["pieces"][1] == pytest.approx(np.log(len(pieces)))
    assert found["longest"][1] == pytest.approx(max(map(len, pieces)) / 9)
    assert found["length"][1] == pytest.approx(np.log(2 / len(names)))
    assert found["unread"].tolist() == [0, 0, 0.5]
    assert found["longest"][0] == 0


@pytest.mark.parametrize("encoder", ["cnn", "sum"])
def test_an_encoder_that_does_not_fold_is_calibrated_too(encoder):
    words = toy_words(400)
    settings = dataclasses.replace(SETTINGS, encoder=encoder, epochs=3, vocabulary_size=300)
    love = train((words, toy_vectors(words, 8)), settings)
    assert set(love.metadata["confidence"]["features"]) == {"characters", "pieces", "longest", "familiar"}
    given = love.confidence(["plogrikc", ""])
    assert 0 < given[0] < 1
    assert given[1] == 0


def test_without_enough_held_back_words_there_is_none(tiny_target):
    love = train(tiny_target, Settings(vocabulary_size=300, epochs=1, negatives=10, device="cpu"))
    assert np.isnan(love.confidence(["plogrikc", "", love.words[0]])).all()
    assert "this run had 3: train with a larger holdout" in love.metadata["confidence"]["missing"]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        [],
        "high",
        {"intercept": "0", "known": 1.0, "features": {}},
        {"intercept": 0.0, "known": 7.0, "features": {"characters": {"coefficient": 1.0, "low": 0.0, "high": 1.0}}},
        {"intercept": 0.0, "known": 1.0, "features": {"characters": {"coefficient": None, "low": 0.0, "high": 1.0}}},
        {"intercept": float("nan"), "known": 1.0, "features": {}},
        {"intercept": 0.0, "known": 1.0, "features": {"magic": {"coefficient": 1.0, "low": 0.0, "high": 1.0}}},
    ],
    ids=str,
)
def test_numbers_that_are_none_are_refused(love, wrong):
    odd = LOVE(dataclasses.replace(love.parts, metadata={"confidence": wrong}))
    assert np.array_equal(odd["plogrikc"], love["plogrikc"])
    with pytest.raises(LovevecError, match="`confidence` is not what lovevec writes there"):
        odd.confidence(["plogrikc"])


def test_a_stored_calibration_is_plain_numbers(love):
    stored = love.metadata["confidence"]
    assert json.loads(json.dumps(stored)) == stored
    assert Confidence.from_metadata({"confidence": stored}) == Confidence.from_metadata(love.metadata)


def test_the_regression_is_the_one_that_scipy_finds():
    rng = np.random.default_rng(0)
    rows = np.concatenate([np.ones((400, 1)), rng.normal(size=(400, 3))], axis=1)
    outcome = (rng.random(400) < 1 / (1 + np.exp(-rows @ [0.3, 1.0, -2.0, 0.0]))).astype(np.float64)
    weights = rng.random(400) + 0.1

    def loss(coefficients: np.ndarray) -> float:
        logit = rows @ coefficients
        likely = weights @ (np.logaddexp(0, logit) - outcome * logit)
        return float(likely + RIDGE * weights.sum() * (coefficients[1:] ** 2).sum() / 2)

    np.testing.assert_allclose(newton(rows, outcome, weights), minimize(loss, np.zeros(4), tol=1e-12).x, atol=1e-4)


@pytest.mark.parametrize("right", [np.ones(60, dtype=bool), np.zeros(60, dtype=bool), np.arange(60) < 30])
def test_the_regression_has_an_end_where_all_are_right_or_a_feature_tells_exactly(right):
    measured = {"unread": np.zeros(60), "characters": np.arange(60.0), "pieces": np.ones(60)}
    chance = fit(measured, right, np.ones(60), 1.0)(measured)
    assert np.isfinite(chance).all()
    assert chance.mean() == pytest.approx(right.mean(), abs=0.05)


def test_features_outside_of_what_was_seen_are_held_at_its_ends():
    made = Confidence(0.0, {"characters": Feature(1.0, 0.0, 1.0), "length": Feature(2.0, -1.0, 1.0)}, 1.0)
    given = made(
        {
            "unread": np.array([0, 0, 0.25]),
            "characters": np.array([0.5, -9, 0]),
            "length": np.array([0, -np.inf, 99]),
        }
    )
    expected = 1 / (1 + np.exp(-np.array([0.5, -2, 2.0]))) * [1, 1, 0.75]
    np.testing.assert_allclose(given, expected)


def test_auc_counts_pairs():
    rng = np.random.default_rng(1)
    chance, right = rng.integers(0, 6, 80) / 5, rng.random(80) < 0.4
    pairs = chance[right][:, None] - chance[~right][None, :]
    assert auc(chance, right) == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())


def test_calibration_error_is_the_gap_in_each_tenth():
    chance = np.repeat(np.arange(10) / 10 + 0.05, 100)
    honest = np.concatenate([np.arange(100) < 10 * tenth + 5 for tenth in range(10)])
    assert calibration_error(chance, honest, np.ones(1000)) == pytest.approx(0, abs=1e-9)
    assert calibration_error(chance, np.ones(1000, dtype=bool), np.ones(1000)) == pytest.approx(0.5)
    doubled = np.where(np.arange(1000) < 500, 2.0, 1.0)
    assert calibration_error(chance, honest, doubled) < 0.05
