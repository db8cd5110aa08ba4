"""Confidence: the probability that a word's vector is right, from what the model sees while it makes it.

What it is the probability of, for a word that is not known: that the vector which the target has for this word (for a
misspelling: for the word that was meant) would be among the 10 nearest of all target vectors. It is calibrated at the
end of training over a mix: words held back from training, misspelled known words, and nonsense, which is never right.

An imputed vector is judged by a logistic regression on five features:

    length      log of the vector's length before normalisation, per unit: units that agree add up
    characters  log of how many characters the word has
    pieces      log of how many pieces it falls into
    longest     the longest piece's share of the word's characters
    familiar    the mean log probability of its letters (near/novelty.py)

A reading is right if one of its more probable words is the one that was meant, or if it is new and the imputed vector
right; that sum is calibrated once more:

    mixed = (Σ p(word) + p(parts)) · known + p(new) · imputed
    confidence = sigmoid(intercept + slope · logit(mixed))

Not fitted: a known word has the share that was measured for known words; an empty word has 0; characters that the model
cannot read ([UNK]), and those by which a word is longer than nearly all words of the mix, take away their share of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.units.mixed_input import Units

Numbers = NDArray[np.float64]
FEATURES = ("length", "characters", "pieces", "longest", "familiar")
EVENT = (
    "the word's own target vector is among the 10 nearest of all target vectors,"
    " over a mix of words held back from training, misspelled known words, and nonsense"
)
PROBABLE = 0.05  # a word with less does not bring the mean near its vector
EDGE = 1e-4  # probabilities are held this far from 0 and 1
MAX_NUMBER = 1e6  # in a calibration


@dataclass(frozen=True)
class Feature:
    """A feature's part in the sum: its coefficient, and the range seen while fitting, at whose ends it is held."""

    coefficient: float
    low: float
    high: float


@dataclass(frozen=True)
class Confidence:
    """A fitted calibration: logit = intercept + Σ coefficient x feature. `known` is the share of known words;
    `readings` are intercept and slope of what is mixed."""

    intercept: float
    features: Mapping[str, Feature]
    known: float
    readings: tuple[float, float] = (0.0, 1.0)

    def __call__(self, measured: Mapping[str, Numbers]) -> Numbers:
        """The probability for words of which `measured` holds the features, and `unread`, the share of [UNK]."""
        logit = np.full(len(measured["unread"]), self.intercept)
        for name, feature in self.features.items():
            # np.clip takes three times as long for one word
            logit += feature.coefficient * np.minimum(np.maximum(measured[name], feature.low), feature.high)
        longer = np.exp(np.minimum(self.features["characters"].high - measured["characters"], 0))
        probability: Numbers = (1 - measured["unread"]) * longer * sigmoid(logit)
        return probability

    def mixed(self, readings: Probabilities, imputed: Numbers) -> Numbers:
        """How probable it is that one of a string's probable readings is the right one, and its vector right."""
        near = np.where(readings.probabilities >= PROBABLE, readings.probabilities, 0).sum(axis=1)
        mixed: Numbers = (near + readings.parts) * self.known + readings.new * imputed
        return mixed

    def of_readings(self, readings: Probabilities, imputed: Numbers) -> Numbers:
        """The confidence of the mean over readings; `imputed` is that of the imputed vector alone."""
        intercept, slope = self.readings
        mixed = self.mixed(readings, imputed)
        probability: Numbers = (mixed > 0) * sigmoid(intercept + slope * logit(mixed))
        return probability

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> Confidence | None:
        """Read what training stored in a model's config.json; None where the model has no calibration."""
        fit = metadata.get("confidence")
        if fit is None or (isinstance(fit, dict) and "missing" in fit):
            return None
        try:
            features = {name: Feature(**numbers) for name, numbers in fit["features"].items()}
            confidence = cls(fit["intercept"], features, fit["known"], tuple(fit["readings"]))
            numbers = [confidence.intercept, confidence.known, *confidence.readings]
            numbers += [number for part in features.values() for number in (part.coefficient, part.low, part.high)]
            sane = all(type(number) in (int, float) and abs(number) <= MAX_NUMBER for number in numbers)
            sane &= 0 <= confidence.known <= 1 and {"characters"} <= features.keys() <= {*FEATURES}
            sane &= len(confidence.readings) == 2
        except (TypeError, KeyError, AttributeError, OverflowError):
            sane = False
        if not sane:
            raise LovevecError("config.json: `confidence` is not what lovevec writes there; remove it, or train again")
        return confidence


class SpellingJudge:
    """The confidence of vectors that a model makes of unknown strings; NaN for a model without a `calibration`.

    :param units: the model's.
    :param counts: counts characters and pieces of words, as `Units.counts` does.
    :param lengths: gives the lengths of words' imputed vectors before normalisation, or None.
    :param familiarity: gives the mean log probability of words' letters (near/novelty.py).
    :param spelling_only: whether vectors are imputed whatever the readings say.
    """

    def __init__(
        self,
        calibration: Confidence | None,
        units: Units,
        counts: Callable[[Sequence[str]], NDArray[np.int64]],
        lengths: Callable[[Sequence[str]], NDArray[np.float32] | None],
        familiarity: Callable[[Sequence[str]], Numbers],
        spelling_only: bool = False,
    ) -> None:
        self.calibration, self.units, self.spelling_only = calibration, units, spelling_only
        self._counts, self._lengths, self._familiarity = counts, lengths, familiarity
        self.known = np.nan if calibration is None else calibration.known

    def __call__(
        self,
        strings: Sequence[str],
        readings: Probabilities,
        lengths: NDArray[np.float32] | None = None,
        quality: float = 1.0,
    ) -> Numbers:
        """[len(strings)]: the confidence of unknown strings with these readings. `lengths` are those of their imputed
        vectors, where they have been made; `quality` is that of imputed vectors brought into another space."""
        if self.calibration is None:
            return np.full(len(strings), np.nan)
        features = self.features(strings, lengths)
        imputed = self.calibration(features) * quality
        if self.spelling_only:
            return imputed
        return self.calibration.of_readings(readings, imputed) * (1 - features["unread"])

    def imputed(self, strings: Sequence[str], lengths: NDArray[np.float32] | None = None) -> Numbers:
        """[len(strings)]: the confidence of their imputed vectors alone."""
        if self.calibration is None:
            return np.full(len(strings), np.nan)
        return self.calibration(self.features(strings, lengths))

    def features(self, words: Sequence[str], lengths: NDArray[np.float32] | None = None) -> dict[str, Numbers]:
        """The features that imputed vectors are judged by, [len(words)] each."""
        lengths = self._lengths(words) if lengths is None else lengths
        return measure(self.units, self._counts(words), lengths) | {"familiar": self._familiarity(words)}


class Probabilities(Protocol):
    """What confidence needs of readings (near/readings.py)."""

    @property
    def probabilities(self) -> Numbers:
        """[strings, words]: that each of some known words is meant."""

    @property
    def new(self) -> Numbers:
        """[strings]: that the string is a new word."""

    @property
    def parts(self) -> Numbers:
        """[strings]: that it is several known words."""


def sigmoid(logit: Numbers) -> Numbers:
    """The probability that has this logit. Logits beyond ±500 count as ±500, so that exp never overflows."""
    probability: Numbers = 1 / (1 + np.exp(-np.minimum(np.maximum(logit, -500.0), 500.0)))
    return probability


def logit(probability: Numbers) -> Numbers:
    """log(p / (1 - p)), with p held within EDGE and 1 - EDGE, where the logit is finite."""
    inner = np.clip(probability, EDGE, 1 - EDGE)
    result: Numbers = np.log(inner / (1 - inner))
    return result


def measure(units: Units, counts: NDArray[np.int64], lengths: NDArray[np.float32] | None) -> dict[str, Numbers]:
    """The features of words, from what is counted of each (`Units.counts`); `lengths` are their vectors' before
    normalisation, where the engine gives them."""
    size, unread, pieces, longest = counts.T
    characters = np.maximum(size, 1).astype(np.float64)
    measured = {"unread": unread / characters, "characters": np.log(characters)}
    if units.mode != "chars":
        measured["pieces"] = np.log(np.maximum(pieces, 1))
        measured["longest"] = longest / characters
    if lengths is not None:
        measured["length"] = np.log(np.maximum(lengths, np.finfo(np.float32).tiny) / units.count(size, pieces))
    return measured
