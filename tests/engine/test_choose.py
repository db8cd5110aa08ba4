"""Which engine computes: the compiled core where it is there, unless the environment or the caller says otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.factories import needs_core, random_parts, toy_words

from lovevec import LOVE
from lovevec.engine.compiled import core_or_none
from lovevec.engine.engine import FoldEngine
from lovevec.errors import LovevecError

SCRIPT = """
import sys
if {hidden}:
    sys.modules["lovevec._core"] = None
from lovevec import LOVE
from tests.factories import random_love
try:
    love = LOVE(random_love().parts, engine={mode!r})
    print(love.engine.name, len(love.embed(["recieve", "a"])), love.near("recieve", k=1)[0][0])
except Exception as error:
    print(type(error).__name__, error)
"""


def run(mode: str, variable: str | None = None, hidden: bool = False) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "LOVEVEC_ENGINE"}
    environment |= {} if variable is None else {"LOVEVEC_ENGINE": variable}
    program = [sys.executable, "-c", SCRIPT.format(hidden=hidden, mode=mode)]
    return subprocess.run(program, capture_output=True, text=True, check=True, env=environment).stdout


def engine(mode: Any) -> FoldEngine:
    parts = random_parts()
    return FoldEngine(parts.spec, parts.folded, parts.units, mode)


@needs_core
@pytest.mark.parametrize(
    ("mode", "variable", "name"),
    [
        ("auto", None, "compiled"),
        ("auto", "auto", "compiled"),
        ("auto", "numpy", "numpy"),
        ("compiled", "numpy", "compiled"),
        ("numpy", "compiled", "numpy"),
    ],
)
def test_the_caller_comes_before_the_environment(mode, variable, name):
    assert run(mode, variable).startswith(f"{name} 2 ")


def test_numpy_computes_where_the_core_was_not_built():
    assert run("auto", hidden=True).startswith("numpy 2 ")


def test_asking_for_a_core_that_is_not_there_says_what_to_do():
    assert "was not built when lovevec was installed; install it anew" in run("compiled", hidden=True)
    assert "was not built when lovevec was installed" in run("auto", "compiled", hidden=True)


def test_an_unknown_engine_in_the_environment_is_refused():
    assert "LOVEVEC_ENGINE is 'cuda': choose one of auto, numpy, compiled" in run("auto", "cuda")


def test_unknown_engines_are_refused():
    for mode in ("cuda", "numba"):
        with pytest.raises(LovevecError, match=f"unknown engine '{mode}': choose one of auto, numpy, compiled"):
            engine(mode)


@needs_core
def test_one_word_and_many_are_computed_by_the_same_engine(monkeypatch):
    monkeypatch.delenv("LOVEVEC_ENGINE", raising=False)
    words = toy_words(9000)
    auto = engine("auto")
    together = auto.embed(words)
    assert auto.name == "compiled"
    assert np.array_equal(np.concatenate([auto.embed([word]) for word in words[:200]]), together[:200])
    np.testing.assert_allclose(together, engine("numpy").embed(words), atol=1e-6)


@needs_core
def test_the_shipped_model_has_the_same_bits_on_an_older_processor(shipped_love):
    script = """
import hashlib
from lovevec import LOVE, _core
love = LOVE.load()
words = [word[:-1] + "q" for word in love.words[2000:2300]] + ["Straße", "x" * 60]
lookup = love.lookup(words)
print(_core.PROCESSOR, hashlib.sha256(lookup.vectors.tobytes() + lookup.probabilities.new.tobytes()).hexdigest())
"""
    outputs = []
    for processor in ("", "base"):
        environment = {**os.environ, "LOVEVEC_PROCESSOR": processor}
        program = [sys.executable, "-c", script]
        outputs.append(subprocess.run(program, capture_output=True, text=True, check=True, env=environment).stdout)
    assert outputs[1].split()[0] == "base"
    assert outputs[0].split()[1] == outputs[1].split()[1]
    assert isinstance(shipped_love, LOVE)


@needs_core
def test_numbers_that_c_and_python_both_state_are_equal():
    from lovevec.attach import neighbors
    from lovevec.engine import compiled
    from lovevec.near import alignment, channel, index, joined, lexicon, novelty, reader, readings, symbols, torn
    from lovevec.search import blocking
    from lovevec.texts import signatures
    from lovevec.units import characters

    module = core_or_none()
    assert module is not None
    constants = dict(module.CONSTANTS)
    for name in [name for name in constants if name.startswith("KIND_")]:
        assert constants.pop(name) == symbols.KIND[name[5:].lower().replace("_", " ")], name
    others = {
        "DIGIT_COST": alignment.DIGIT_COST,
        "DIGIT_CLASS": alignment.DIGIT_CLASS,
        "FAR_CUT": joined.FAR,
        "MULTIPLE": joined._MULTIPLE,
        "MIN_TORN_LENGTH": torn.MIN_LENGTH,
        "MAX_STRETCHED": reader.MAX_STRETCHED_LENGTH,
        "FAR_COST": alignment.FAR,
        "FEATURES": len(novelty.FEATURES),
        "KINDS": len(symbols.KINDS),
        "MAX_UNITS": 2 * characters.LONGEST + 3,
        "UNIT": channel.UNIT,
    }
    places = (characters, index, readings, novelty, lexicon, joined, torn, compiled, signatures, neighbors, blocking)
    for name, number in constants.items():
        stated = others.get(name, next((getattr(place, name) for place in places if hasattr(place, name)), None))
        assert stated == number, name
