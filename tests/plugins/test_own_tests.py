"""What the makers of gensim and spaCy wrote to test their classes, on ours (see own_tests/)."""

from __future__ import annotations

import re

import pytest
from tests.plugins.own_tests import run

pytestmark = pytest.mark.slow  # whole suites, each in a process of its own; test_gensim.py and test_spacy.py are quick


def passed(line: str, impossible: int) -> int:
    """How many tests passed, where so many could not."""
    return int(re.match(rf"(\d+) passed.*, {impossible} xfailed", line)[1])


def test_gensims_own_tests(tmp_path):
    assert passed(run("of_gensim", "gensim.test.test_keyedvectors", tmp_path), impossible=3) >= 30


def test_spacys_own_tests(tmp_path):
    assert passed(run("of_spacy", "spacy.tests.vocab_vectors", tmp_path), impossible=5) >= 95


def test_a_list_that_says_too_much_fails_the_run(tmp_path, monkeypatch):
    """The list is checked both ways: a listed test that passes fails the run, and so does one that is not there."""
    for name, message in (("test_similarity", "XPASS"), ("test_nothing_of_it", "no test")):
        monkeypatch.setenv("LOVEVEC_ALSO_IMPOSSIBLE", name)
        with pytest.raises(AssertionError, match=message):
            run("of_gensim", "gensim.test.test_keyedvectors", tmp_path)
