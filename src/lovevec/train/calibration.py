"""Calibrates confidence at the end of training: two logistic regressions, judged on words that they were not fitted to.

Words held back, misspelled known words and nonsense are dealt into two halves. Each half is judged by the regressions
of the other: expected calibration error and AUC come from that. Those that are stored are of both halves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.confidence import EVENT, Confidence, Feature, logit
from lovevec.damage.misspell import misspell
from lovevec.love import LOVE
from lovevec.train.score import Floats, Rows, ranks, rounded, sample

Numbers = NDArray[np.float64]
Bools = NDArray[np.bool_]
MIN_HOLDOUT = 50
MAX_WORDS_PER_GROUP = 1500  # of words held back, of typos and of known words
NEAREST = 10  # a word's own vector among these is right
RIDGE = 1e-3
BINS = 10
CLIPPED_SHARE = 0.005  # of each feature's values, at either end
WORDS_PER_NONSENSE = 4  # held-back words for each string of nonsense


def calibrate(love: LOVE, words: Sequence[str], vectors: Floats, holdout: Rows, seed: int) -> dict[str, Any]:
    """Fit the confidence of a model whose training never saw the rows `holdout` of its target's words.

    Returns what goes into config.json as `confidence`: the event, the numbers of the regressions, how good they are; or
    {"missing": why} where too few words were held back."""
    if len(holdout) < MIN_HOLDOUT:
        return {
            "missing": f"confidence needs at least {MIN_HOLDOUT} held-back words, this run had {len(holdout)}:"
            " train with a larger holdout"
        }
    rng = np.random.default_rng([seed, 6])
    trained = np.setdiff1d(np.arange(len(words)), holdout)
    unaware = restrict_known(love, trained)  # held-back words are unknown to it
    unseen, typed, known = (sample(rows, MAX_WORDS_PER_GROUP, rng) for rows in (holdout, trained, trained))
    language = love.parts.orthography.language
    typos = misspell([words[row] for row in typed], rng, language)
    typos[::2] = misspell(typos[::2], rng, language)  # real ones are harder than one pass of these
    real = np.array([typo not in love for typo in typos])  # some come out as they were, or as another word
    nonsense = _nonsense(len(unseen) // WORDS_PER_NONSENSE, rng)
    strings = [words[row] for row in unseen] + list(compress(typos, real)) + nonsense
    rows = np.concatenate([unseen, typed[real], np.zeros(len(nonsense), dtype=np.int64)])
    group = np.repeat([0, 1, 2], [len(unseen), int(real.sum()), len(nonsense)])
    features, reading = unaware._judge.features(strings), unaware._read(strings)
    right_alone = _is_right(unaware.engine.embed(strings), vectors, rows) & (group < 2)
    right = _is_right(unaware.embed(strings), vectors, rows) & (group < 2)
    counts = np.maximum(np.bincount(group, minlength=3), 1)
    weights = (np.array([0.45, 0.45, 0.1]) / counts)[group] * len(rows)
    known_share = float(_is_right(unaware.embed([words[row] for row in known]), vectors, known).mean())

    def fit_to(subset: Bools) -> Confidence:
        columns = {name: column[subset] for name, column in features.items()}
        imputed = fit(columns, right_alone[subset], weights[subset], known_share)
        if love.spelling_only:
            return imputed
        mixed = logit(imputed.mixed(reading, imputed(features)))[subset]
        ones_and_mixed = np.stack([np.ones(len(mixed)), mixed], axis=1)
        intercept, slope = newton(ones_and_mixed, _soften(right[subset]), weights[subset]).tolist()
        return replace(imputed, readings=(intercept, slope))

    def probabilities(calibration: Confidence) -> Numbers:
        imputed = calibration(features)
        return imputed if love.spelling_only else calibration.of_readings(reading, imputed)

    half = rng.permutation(len(rows)) % 2 == 0
    judged = np.where(half, probabilities(fit_to(~half)), probabilities(fit_to(half)))
    return {
        "event": EVENT,
        **asdict(fit_to(np.ones(len(rows), dtype=bool))),
        "held_back_words": len(unseen),
        "typos": int(real.sum()),
        "nonsense": len(nonsense),
        "right": {"held_back": rounded(right[group == 0].mean()), "typos": rounded(right[group == 1].mean())},
        "calibration_error": rounded(calibration_error(judged, right, weights)),
        "auc": {"held_back": _auc(judged, right, group == 0), "typos": _auc(judged, right, group == 1)},
        "on_nonsense": rounded(judged[group == 2].mean()) if len(nonsense) else None,
    }


def restrict_known(love: LOVE, rows: Rows) -> LOVE:
    """The same model, but of its known words it knows only those in `rows`."""
    known_rows = None if love.parts.rows is None else love.parts.rows.take(rows)
    words = [love.words[row] for row in rows.tolist()]
    return love.copy(parts=replace(love.parts, words=words, rows=known_rows), engine="numpy")


def _nonsense(count: int, rng: np.random.Generator) -> list[str]:
    """Strings that are no words: half are letters at random, half one letter repeated."""
    lengths = rng.integers(3, 11, count)
    drawn = [rng.integers(0, 26, length if number % 2 else 1) for number, length in enumerate(lengths.tolist())]
    texts = ["".join(chr(ord("a") + letter) for letter in letters.tolist()) for letters in drawn]
    return [text if len(text) > 1 else text * int(length) for text, length in zip(texts, lengths, strict=True)]


def _is_right(queries: Floats, vectors: Floats, rows: Rows) -> Bools:
    """For each query the event of which confidence is the probability: its own target vector is among the nearest."""
    among_nearest: Bools = ranks(queries, vectors, rows)[1] < NEAREST
    return among_nearest


def fit(features: dict[str, Numbers], right: Bools, weights: Numbers, known: float) -> Confidence:
    """Fit a logistic regression of `right` on standardised features by Newton's method, with a little ridge.

    As in Platt's scaling the outcomes are moved a little inwards from 0 and 1, so that the coefficients stay finite
    also where one feature separates them, or where all are right.
    """
    names = [name for name in features if name != "unread"]
    columns = np.stack([features[name] for name in names], axis=1)
    low, high = (np.quantile(columns, share, axis=0) for share in (CLIPPED_SHARE, 1 - CLIPPED_SHARE))
    columns = np.clip(columns, low, high)
    total = weights.sum()
    centre = weights @ columns / total
    scale = np.maximum(np.sqrt(weights @ (columns - centre) ** 2 / total), 1e-6)
    rows = np.concatenate([np.ones((len(columns), 1)), (columns - centre) / scale], axis=1)
    coefficients = newton(rows, _soften(right), weights)
    slopes = coefficients[1:] / scale
    fitted = {
        name: Feature(float(slope), float(least), float(most))
        for name, slope, least, most in zip(names, slopes, low, high, strict=True)
    }
    return Confidence(float(coefficients[0] - slopes @ centre), fitted, known)


def _soften(right: Bools) -> Numbers:
    hits, misses = float(right.sum()), float((~right).sum())
    return np.where(right, (hits + 1) / (hits + 2), 1 / (misses + 2))


def newton(rows: Numbers, outcome: Numbers, weights: Numbers) -> Numbers:
    """The coefficients that make the outcomes likeliest; the ridge keeps all but the first, the intercept, small."""
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
    """Expected calibration error: in ten bins of about equal weight, how far the mean probability `chance` is from the
    share of those that are `right`."""
    _, value = np.unique(chance, return_inverse=True)  # equal chances stay together
    held = np.bincount(value, weights)
    middle = (np.cumsum(held) - held / 2)[value] / weights.sum()
    place = np.minimum(middle * BINS, BINS - 1).astype(np.int64)
    gap = np.bincount(place, weights * (right - chance), BINS)
    return float(np.abs(gap).sum() / weights.sum())


def auc(chance: Numbers, right: Bools) -> float:
    """The probability that one that is right has a higher `chance` than one that is wrong; ties count half."""
    _, place, count = np.unique(chance, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    hits = int(right.sum())
    return float((rank[right].sum() - hits * (hits + 1) / 2) / (hits * (len(right) - hits)))


def _auc(chance: Numbers, right: Bools, subset: Bools) -> float | None:
    return rounded(auc(chance[subset], right[subset])) if 0 < right[subset].mean() < 1 else None
