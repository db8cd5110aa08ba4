"""Which engine a call gets: by its size and by what is asked for, with or without numba."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.factories import random_parts, toy_words

from lovevec.engine import engine as choose
from lovevec.engine.engine import MIN_WORDS_FOR_NUMBA, FoldEngine
from lovevec.errors import LovevecError

MADE = """
import sys
from lovevec.engine.engine import FoldEngine
from tests.factories import random_parts
parts = random_parts()
def engine(mode):
    return FoldEngine(parts.spec, parts.folded, parts.units, mode)
"""


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", MADE + script], capture_output=True, text=True, check=True)
    return done.stdout


def made(mode: Any) -> FoldEngine:
    parts = random_parts()
    return FoldEngine(parts.spec, parts.folded, parts.units, mode)


def test_a_small_call_never_imports_numba():
    assert run("engine('auto').embed(['a'] * 500); print('numba' in sys.modules)") == "False\n"


def test_large_calls_go_to_numba_and_small_ones_to_numpy():
    pytest.importorskip("numba")
    words = toy_words(MIN_WORDS_FOR_NUMBA)
    auto, few = made("auto"), words[: MIN_WORDS_FOR_NUMBA - 1]
    assert auto.for_many == "numba"
    assert np.array_equal(auto.embed(few), made("numpy").embed(few))
    assert np.array_equal(auto.embed(words), made("numba").embed(words))
    np.testing.assert_allclose(auto.embed(words)[:-1], auto.embed(few), atol=1e-5)


def test_numpy_serves_all_calls_where_numba_is_missing():
    many = MIN_WORDS_FOR_NUMBA
    script = f"sys.modules['numba'] = None; e = engine('auto'); v = e.embed(['a'] * {many}); print(e.for_many, len(v))"
    assert run(script) == f"numpy {many}\n"


def test_asking_for_a_missing_numba_says_what_to_install():
    script = (
        "sys.modules['numba'] = None\ntry:\n    engine('numba')\nexcept Exception as error:\n    print(repr(error))"
    )
    assert run(script) == """MissingExtra("this needs numba: pip install 'lovevec[fast]'")\n"""


def test_unknown_engines_are_refused():
    with pytest.raises(LovevecError, match="unknown engine 'cuda': choose one of auto, numpy, numba"):
        made("cuda")


def test_the_kernel_compiles_where_nothing_can_be_cached():
    pytest.importorskip("numba")
    script = """
import numba.core.caching
numba.core.caching.CacheImpl._locator_classes = []
import numpy as np
from lovevec.engine.kernel import length_of
print(length_of(np.array([3, 4], dtype=np.float32)))
"""
    assert run(script) == "5.0\n"


def test_finding_out_whether_numba_is_there_does_not_import_it():
    assert run("engine('auto').for_many; print('numba' in sys.modules)") == "False\n"
    assert choose.numba_is_there() == (__import__("importlib.util").util.find_spec("numba") is not None)
