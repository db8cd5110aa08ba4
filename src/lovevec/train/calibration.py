"""Calibrates confidence at the end of training: two logistic regressions, judged on words that they were not fitted to.

Words held back, misspelled known words and nonsense are dealt into two halves. Each half is judged by the regressions
of the other: expected calibration error and AUC come from that. Those that are stored are of both halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.confidence import EVENT, Confidence, Feature, logit
from lovevec.damage.misspell import misspell
from lovevec.love import LOVE
from lovevec.train.score import ranks

Numbers = NDArray[np.float64]
Bools = NDArray[np.bool_]
LEAST, MOST = 50, 1500
NEAR = 10
RIDGE = 1e-3
BINS = 10
OUTER = 0.005
NONSENSE = 4  # one such string for so many held-back words


def calibrate(
    love: LOVE, words: Sequence[str], vectors: NDArray[np.float32], held_back: NDArray[np.int64], seed: int
) -> dict[str, Any]:
    """What goes into config.json as `confidence`: the event, the numbers of the regression, how good they are; or
    {"missing": why}."""
    if len(held_back) < LEAST:
        return {
            "missing": f"confidence needs at least {LEAST} held-back words, this run had {len(held_back)}:"
            " train with a larger holdout"
        }
    rng = np.random.default_rng([seed, 6])
    kept = np.setdiff1d(np.arange(len(words)), held_back)
    unaware = restrict_known(love, kept)  # held-back words are unknown to it
    unseen, typed, known = _some(held_back, rng), _some(kept, rng), _some(kept, rng)
    typos = misspell([words[row] for row in typed], rng)
    typos[::2] = misspell(typos[::2], rng)  # real ones are harder than one pass of these
    real = np.array([typo not in love for typo in typos])  # some come out as they were, or as another word
    nonsense = _nonsense(len(unseen) // NONSENSE, rng)
    shown = [
        *(words[row] for row in unseen),
        *(typo for typo, good in zip(typos, real, strict=True) if good),
        *nonsense,
    ]
    rows = np.concatenate([unseen, typed[real], np.zeros(len(nonsense), dtype=np.int64)])
    group = np.repeat([0, 1, 2], [len(unseen), int(real.sum()), len(nonsense)])
    measured, reading = unaware._judge.features(shown), unaware._read(shown)
    alone = _right(unaware.engine.embed(shown), vectors, rows) & (group < 2)
    right = _right(unaware.embed(shown), vectors, rows) & (group < 2)
    counts = np.maximum(np.bincount(group, minlength=3), 1)
    weights = (np.array([0.45, 0.45, 0.1]) / counts)[group] * len(rows)
    known_share = float(_right(unaware.embed([words[row] for row in known]), vectors, known).mean())

    def fitted(subset: Bools) -> Confidence:
        features = {name: column[subset] for name, column in measured.items()}
        imputed = fit(features, alone[subset], weights[subset], known_share)
        return imputed if love.spelling_only else with_readings(imputed, imputed(measured), subset)

    def with_readings(imputed: Confidence, chance: Numbers, subset: Bools) -> Confidence:
        mixed = logit(imputed.mixed(reading, chance))[subset]
        columns = np.stack([np.ones(len(mixed)), mixed], axis=1)
        intercept, slope = newton(columns, _drawn_in(right[subset]), weights[subset]).tolist()
        return replace(imputed, readings=(intercept, slope))

    def judged_by(calibration: Confidence) -> Numbers:
        imputed = calibration(measured)
        return imputed if love.spelling_only else calibration.of_readings(reading, imputed)

    half = rng.permutation(len(rows)) % 2 == 0
    judged = np.where(half, judged_by(fitted(~half)), judged_by(fitted(half)))
    final = asdict(fitted(np.ones(len(rows), dtype=bool)))
    return {
        "event": EVENT,
        **final,
        "held_back_words": len(unseen),
        "typos": int(real.sum()),
        "nonsense": len(nonsense),
        "right": {"held_back": _round(right[group == 0].mean()), "typos": _round(right[group == 1].mean())},
        "calibration_error": _round(calibration_error(judged, right, weights)),
        "auc": {"held_back": _auc(judged, right, group == 0), "typos": _auc(judged, right, group == 1)},
        "on_nonsense": _round(judged[group == 2].mean()) if len(nonsense) else None,
    }


def restrict_known(love: LOVE, kept: NDArray[np.int64]) -> LOVE:
    """The same model, that knows only these of its words."""
    rows = None if love.parts.rows is None else love.parts.rows.take(kept)
    words = [love.words[row] for row in kept.tolist()]
    return love.copy(parts=replace(love.parts, words=words, rows=rows), engine="numpy")


def _nonsense(count: int, rng: np.random.Generator) -> list[str]:
    """Letters in no order, and one letter again and again."""
    lengths = rng.integers(3, 11, count)
    drawn = [rng.integers(0, 26, length if number % 2 else 1) for number, length in enumerate(lengths.tolist())]
    texts = ["".join(chr(ord("a") + letter) for letter in letters.tolist()) for letters in drawn]
    return [text if len(text) > 1 else text * int(length) for text, length in zip(texts, lengths, strict=True)]


def _some(rows: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    return rows if len(rows) <= MOST else np.sort(rng.choice(rows, MOST, replace=False))


def _right(made: NDArray[np.float32], vectors: NDArray[np.float32], rows: NDArray[np.int64]) -> Bools:
    """The event: its own target vector is among the 10 nearest."""
    among_nearest: Bools = ranks(made, vectors, rows)[1] < NEAR
    return among_nearest


def fit(measured: dict[str, Numbers], right: Bools, weights: Numbers, known: float) -> Confidence:
    """A logistic regression on standardised features by Newton's method, with a little ridge.

    As in Platt's scaling the outcomes are drawn in from 0 and 1, so that it has an end also where one feature
    separates them, or where all are right.
    """
    names = [name for name in measured if name != "unread"]
    columns = np.stack([measured[name] for name in names], axis=1)
    low, high = np.quantile(columns, OUTER, axis=0), np.quantile(columns, 1 - OUTER, axis=0)
    columns = np.clip(columns, low, high)
    total = weights.sum()
    centre = weights @ columns / total
    scale = np.maximum(np.sqrt(weights @ (columns - centre) ** 2 / total), 1e-6)
    rows = np.concatenate([np.ones((len(columns), 1)), (columns - centre) / scale], axis=1)
    coefficients = newton(rows, _drawn_in(right), weights)
    slopes = coefficients[1:] / scale
    features = {
        name: Feature(float(slope), float(least), float(most))
        for name, slope, least, most in zip(names, slopes, low, high, strict=True)
    }
    return Confidence(float(coefficients[0] - slopes @ centre), features, known)


def _drawn_in(right: Bools) -> Numbers:
    hits, misses = float(right.sum()), float((~right).sum())
    return np.where(right, (hits + 1) / (hits + 2), 1 / (misses + 2))


def newton(rows: Numbers, outcome: Numbers, weights: Numbers) -> Numbers:
    """The coefficients that make the outcomes likeliest; all but the first (the intercept) held small by the ridge."""
    penalty = RIDGE * weights.sum() * np.eye(rows.shape[1])
    penalty[0, 0] = 0.0
    coefficients = np.zeros(rows.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-rows @ coefficients))
        slope = rows.T @ (weights * (outcome - chance)) - penalty @ coefficients
        curve = (rows.T * (weights * np.maximum(chance * (1 - chance), 1e-9))) @ rows + penalty
        step = np.linalg.solve(curve, slope)
        coefficients += step * min(1.0, 4.0 / max(np.abs(step).max(), 1e-12))  # far leaps overshoot
        if np.abs(step).max() < 1e-10:
            break
    return coefficients


def calibration_error(chance: Numbers, right: Bools, weights: Numbers) -> float:
    """Expected calibration error: over ten bins of about equal weight, how far the share of right ones is from the mean
    chance that was given."""
    _, value = np.unique(chance, return_inverse=True)  # equal chances stay together
    held = np.bincount(value, weights)
    middle = (np.cumsum(held) - held / 2)[value] / weights.sum()
    place = np.minimum(middle * BINS, BINS - 1).astype(np.int64)
    gap = np.bincount(place, weights * (right - chance), BINS)
    return float(np.abs(gap).sum() / weights.sum())


def auc(chance: Numbers, right: Bools) -> float:
    """The probability that a right one has the higher chance than a wrong one; ties count half."""
    _, place, count = np.unique(chance, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    hits = int(right.sum())
    return float((rank[right].sum() - hits * (hits + 1) / 2) / (hits * (len(right) - hits)))


def _auc(chance: Numbers, right: Bools, subset: Bools) -> float | None:
    """Rounded; None where all are right, or none."""
    return _round(auc(chance[subset], right[subset])) if 0 < right[subset].mean() < 1 else None


def _round(number: float) -> float:
    return round(float(number), 4)
