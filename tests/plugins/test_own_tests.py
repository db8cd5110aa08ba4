"""What the makers of gensim and spaCy wrote to test their classes, on ours (see own_tests/)."""

from __future__ import annotations

import pytest
from tests.plugins.own_tests import run


def test_gensims_own_tests(tmp_path):
    assert run("of_gensim", "gensim.test.test_keyedvectors", tmp_path).startswith("30 passed, 3 xfailed")


def test_spacys_own_tests(tmp_path):
    assert run("of_spacy", "spacy.tests.vocab_vectors", tmp_path).startswith("100 passed, 5 xfailed")


@pytest.mark.slow
def test_a_list_that_says_too_much_fails_the_run(tmp_path, monkeypatch):
    """The list is checked both ways: a listed test that passes fails the run, and so does one that is not there."""
    for name, message in (("test_similarity", "XPASS"), ("test_nothing_of_it", "no test")):
        monkeypatch.setenv("LOVEVEC_ALSO_IMPOSSIBLE", name)
        with pytest.raises(AssertionError, match=message):
            run("of_gensim", "gensim.test.test_keyedvectors", tmp_path)
