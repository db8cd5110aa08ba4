"""Letters that stand for each other, as near neighbors tell, and words in letters of another script."""

from __future__ import annotations

import numpy as np

from lovevec.damage.languages import language_of
from lovevec.train.letters import MIN_COUNT, letters_alike, transliterated
from lovevec.units.ragged import Ragged


def synonyms_of(pairs: list[tuple[int, int]], count: int) -> Ragged:
    rows: list[list[int]] = [[] for _ in range(count)]
    for one, other in pairs:
        rows[one].append(other)
    values = np.array([other for row in rows for other in row], dtype=np.int64)
    return Ragged.from_lengths(values, np.array([len(row) for row in rows], dtype=np.int64))


def test_letters_that_near_neighbors_differ_by_are_alike():
    stems = ["bark", "tall", "mint", "rope", "sump", "lost", "pond"]
    words = [stem + "qxzk" for stem in stems] + [stem + "qyzk" for stem in stems]
    pairs = [(place, place + len(stems)) for place in range(len(stems))]
    assert letters_alike(words, synonyms_of(pairs, len(words))) == ("xy",)


def test_few_pairs_other_lengths_and_ends_tell_nothing():
    words = ["grxy", "grzy"] + [stem + end for stem in ("bark", "tall", "mint", "rope", "sump", "lost") for end in "xz"]
    ends = [(place, place + 1) for place in range(2, len(words), 2)]
    assert len(ends) > MIN_COUNT
    assert letters_alike(words, synonyms_of([(0, 1), *ends], len(words))) == ()
    assert letters_alike([], synonyms_of([], 0)) == ()


def test_words_in_latin_letters_stand_for_the_first_word_that_they_may_be():
    forms = transliterated(["привет", "мэр", "мер", "дом", "дом1", "я"], language_of("ru"), 10)
    assert forms == {"privet": [("привет", 1.0)], "mer": [("мэр", 1.0)], "dom": [("дом", 1.0)]}
    assert len(transliterated(["привет", "дом"], language_of("ru"), 1)) == 1
    assert transliterated(["haus"], language_of("de"), 10) == {}
