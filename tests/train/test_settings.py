from __future__ import annotations

import json

import pytest

from lovevec.errors import LovevecError
from lovevec.train.augmentation import AUGMENTATIONS
from lovevec.train.settings import PrepareSettings, Settings


def test_defaults_are_the_papers():
    settings = Settings()
    assert settings.augmentation == {
        "swap": 0.07,
        "drop": 0.07,
        "insert": 0.07,
        "keyboard": 0.07,
        "sound": 0.0,
        "scan": 0.0,
        "synonym": 0.36,
        "none": 0.36,
    }
    assert (settings.temperature, settings.learning_rate, settings.dropout, settings.epochs) == (0.07, 0.002, 0.2, 20)
    assert (settings.hard_negatives, settings.negatives, settings.vocabulary_size) == (3, 100, 30_000)
    assert (settings.encoder, settings.input, settings.loss, settings.shrink) == (
        "positional",
        "mixed",
        "contrastive",
        "stem",
    )


def test_kinds_of_augmentation_are_settings_in_an_order_that_decides_the_draws():
    assert list(Settings().augmentation) == list(AUGMENTATIONS)
    assert list(AUGMENTATIONS) == ["swap", "drop", "insert", "keyboard", "sound", "scan", "synonym", "none"]
    probabilities = {kind: (1 + number) / 100 for number, kind in enumerate(AUGMENTATIONS)}
    assert Settings(**probabilities).augmentation == probabilities


def test_json_round_trip():
    settings = Settings(epochs=3, encoder="cnn", lowercase=False, temperature=0.1, limit=7)
    assert Settings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epochs": 0}, "epochs is 0: must be at least 1"),
        ({"key_width": 100_000_000}, "key_width is 100000000: must be from 1 to 16,384"),
        ({"epochs": 2.5}, "epochs is 2.5: expected int"),
        ({"dropout": 1.0}, "below 1"),
        ({"dropout": -0.1}, "dropout is -0.1: must be from 0 to 1"),
        ({"temperature": 0.0}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"learning_rate": float("inf")}, "learning_rate"),
        ({"seed": 2**63}, "seed"),
        ({"encoder": "transformer"}, "encoder is 'transformer': choose one of positional, authors"),
        ({"loss": "l1"}, "choose one of contrastive, mse, alignment"),
        ({"shrink": "squeeze"}, "choose one of none, stem, top, hash, factor"),
        ({"lowercase": "yes"}, "lowercase is 'yes': expected bool"),
        ({"swap": 0, "drop": 0, "insert": 0, "keyboard": 0, "synonym": 0, "none": 0}, "all zero"),
    ],
)
def test_wrong_values_are_refused_by_name(wrong, message):
    with pytest.raises(LovevecError, match=message):
        Settings(**wrong)


def test_unknown_names_are_refused():
    with pytest.raises(LovevecError, match="unknown settings: epoch;"):
        Settings.from_dict({"epoch": 3})


def test_whole_numbers_do_for_fractions():
    assert Settings(dropout=0).dropout == 0.0
    assert isinstance(Settings(dropout=0).dropout, float)


def test_the_part_for_preparation_carries_over():
    assert Settings(limit=5, shrink="hash", epochs=2).prepare_part() == PrepareSettings(limit=5, shrink="hash")
