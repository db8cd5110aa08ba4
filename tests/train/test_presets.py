"""A preset is settings that fit together; what is said beside it counts more."""

from __future__ import annotations

import argparse

import pytest

from lovevec.cli.train import _chosen, add_arguments, run
from lovevec.errors import LovevecError
from lovevec.methods.learned import love
from lovevec.train.presets import PRESETS
from lovevec.train.settings import Settings

RECIPE = love.PRESETS["love-recipe"]


def given(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(arguments)


def chosen(*arguments: str) -> Settings:
    return Settings(**_chosen(given("vectors.txt", "-o", "m", *arguments), Settings))


def test_each_preset_is_what_it_says():
    assert chosen() == chosen("--preset", "paper") == Settings()
    assert chosen("--preset", "recipe") == RECIPE != Settings()
    typos = chosen("--preset", "typos")
    assert typos == Settings(**PRESETS["typos"])
    assert typos.ngrams > RECIPE.ngrams
    assert (typos.factor, typos.ocr, typos.epochs) == (0, 0.4, 70)


def test_what_is_said_counts_more():
    said = chosen("--preset", "typos", "--epochs", "3", "--ocr", "0")
    assert (said.epochs, said.ocr, said.ngrams) == (3, 0.0, 30_000)


def test_a_resumed_run_has_its_settings_already():
    with pytest.raises(LovevecError, match="--resume takes the folder alone"):
        run(given("--resume", "m", "--preset", "typos"))
