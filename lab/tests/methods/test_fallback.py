"""What the rivals behind a table share."""

from __future__ import annotations

import numpy as np
import pytest
from lab_factories import NASTY, stem_table, word_table
from tests.factories import toy_words

from lovevec_lab.methods.edit_distance import EditDistance
from lovevec_lab.methods.fallback import FallbackMethod
from lovevec_lab.methods.symspell import SymSpell
from lovevec_lab.methods.unknown import Unk

TABLE = stem_table(200)
RIVALS = [EditDistance(TABLE), SymSpell(TABLE), Unk(TABLE)]


class Counted(FallbackMethod):
    """Remembers what it was asked for; covers words that begin with `y`."""

    def __init__(self, table):
        super().__init__(table, "counted")
        self.asked = []

    def impute(self, words):
        self.asked.append(list(words))
        made = np.array([[len(word)] * self.dim for word in words], np.float32)
        return made, np.array([word.startswith("y") for word in words])


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
def test_known_words_keep_their_vectors_bit_for_bit(rival):
    words = [*TABLE.words[::-1], TABLE.words[3].upper()]
    assert np.array_equal(rival.embed(words[:-1]), TABLE.vectors[::-1])
    assert np.array_equal(rival.embed(words)[-1], TABLE.vectors[3])
    assert rival.covers(words).all()


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
def test_any_string_gets_finite_numbers_and_what_is_empty_gets_none(rival):
    made, covered = rival.embed(NASTY), rival.covers(NASTY)
    assert np.isfinite(made).all()
    empty = [not word.strip() for word in NASTY]
    assert not made[empty].any()
    assert not covered[empty].any()
    assert made[covered].any(axis=1).all()
    assert rival.embed([]).shape == (0, TABLE.dim)
    assert rival.covers([]).shape == (0,)


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.name)
def test_a_words_vector_does_not_depend_on_its_company(rival):
    words = ["plogriks", TABLE.words[0], "stoomed", "zzzzzzzz", "plogriks", "breamly"] * 60
    together = rival.embed(words)
    apart = np.concatenate([rival.embed([word]) for word in words[:6]])
    np.testing.assert_allclose(together, np.tile(apart, (60, 1)), rtol=1e-6, atol=1e-7)


def test_each_unknown_word_is_imputed_once_and_rows_are_the_callers_own():
    table = word_table(["one", "two"])
    rival = Counted(table)
    made = rival.embed(["yes", "one", "no", "yes", " ", "NO", "e\u0301"])
    assert rival.asked == [["yes", "no", "é"]]  # composed, and lower case as the table is
    assert made[:, 0].tolist() == [3, table.vectors[0, 0], 2, 3, 0, 2, 1]
    assert rival.covers(["yes", "one", "no"]).tolist() == [True, True, False]
    made[:] = 0
    assert rival.embed(["one"])[0, 0] == table.vectors[0, 0] != 0


def test_case_counts_where_the_table_has_it():
    cased = Counted(word_table(["One", "two"]))
    cased.embed(["Three", "TWO"])
    assert cased.asked == [["Three"]]  # TWO is known: as in every table the lower-case word stands in
    mostly_lower = Counted(word_table(["One", *toy_words(120)]))
    mostly_lower.embed(["Three", "One"])
    assert mostly_lower.asked == [["three"]]


def test_a_known_word_in_another_unicode_form_is_known():
    table = word_table(["café", "the"])
    assert np.array_equal(Counted(table).embed(["cafe\u0301"])[0], table.vectors[0])


def test_a_long_word_counts_by_its_head_and_tail():
    rival = Counted(word_table(["one", "two"]))
    rival.embed(["a" * 60 + "b" * 5000 + "c" * 60])
    assert rival.asked == [["a" * 50 + "c" * 50]]
