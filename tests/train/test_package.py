"""`lovevec.train` is a package and a function: both ways to call it, and torch only when training begins."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest


def test_the_package_trains_as_its_function_does(tiny_target):
    from lovevec import train
    from lovevec.train import Settings
    from lovevec.train import train as function

    settings = Settings(vocabulary_size=300, epochs=2, negatives=5, device="cpu")
    called, direct = train(tiny_target, settings), function(tiny_target, settings)
    for name, weight in direct.parts.weights.items():
        assert np.array_equal(called.parts.weights[name], weight)
    assert train.Settings is Settings
    assert train.train is function
    with pytest.raises(TypeError, match="outptu"):
        train(tiny_target, settings, outptu="m")


def test_options_reach_the_function(tiny_target, tmp_path):
    from lovevec import LOVE, train

    settings = train.Settings(vocabulary_size=300, epochs=1, negatives=5, device="cpu")
    love = train(tiny_target, settings, output=tmp_path / "m")
    assert np.array_equal(LOVE.load(tmp_path / "m").embed(["wrod"]), love.embed(["wrod"]))


def test_torch_is_imported_only_when_training_begins():
    script = """
import sys
from lovevec import LovevecError, train
assert callable(train)
train.Settings(epochs=2)
from lovevec.train import PrepareSettings, Prepared, prepare
prepare((["cat", "cot"], [[1.0, 0.0], [0.0, 1.0]]), PrepareSettings(vocabulary_size=100))
assert "torch" not in sys.modules
sys.modules["torch"] = None
try:
    train("vectors.txt")
except LovevecError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "this needs torch: pip install 'lovevec[train]'\n"


def test_unknown_names_are_refused():
    import lovevec.train

    with pytest.raises(AttributeError, match="has no attribute 'trian'"):
        lovevec.train.trian  # noqa: B018
