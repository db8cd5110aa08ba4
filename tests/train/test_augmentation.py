from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import DamerauLevenshtein, Levenshtein
from tests.factories import toy_words

from lovevec.damage.confusions import table_of
from lovevec.damage.edits import DROP, INSERT, KEYBOARD, SCAN, SWAP, damage, edit
from lovevec.train.augmentation import AUGMENTATIONS, Augmentation
from lovevec.units.characters import to_codes, to_words
from lovevec.units.mixed_input import Units
from lovevec.units.ragged import Ragged
from lovevec.units.vocabulary import build_vocabulary

WORDS = st.lists(st.text("abcxyz", max_size=9), min_size=1, max_size=30)


def edited(words: list[str], kind: int, seed: int) -> list[str]:
    return to_words(edit(to_codes(words, lowercase=False), np.full(len(words), kind), np.random.default_rng(seed)))


@given(WORDS, st.integers(0, 9))
def test_swap_changes_two_neighbors(words, seed):
    for before, after in zip(words, edited(words, SWAP, seed), strict=True):
        assert sorted(before) == sorted(after)
        assert DamerauLevenshtein.distance(before, after) <= 1
        if len(set(before)) == len(before) > 1:
            assert before != after


@given(WORDS, st.integers(0, 9))
def test_drop_takes_one_character_out_but_leaves_one(words, seed):
    for before, after in zip(words, edited(words, DROP, seed), strict=True):
        assert len(after) == (len(before) - 1 if len(before) > 1 else len(before))
        assert Levenshtein.distance(before, after) == len(before) - len(after)


@given(WORDS, st.integers(0, 9))
def test_insert_adds_one_letter(words, seed):
    for before, after in zip(words, edited(words, INSERT, seed), strict=True):
        assert len(after) == len(before) + 1
        assert Levenshtein.distance(before, after) == 1


@pytest.mark.parametrize(("kind", "name"), [(KEYBOARD, "keyboard"), (SCAN, "scan")])
@given(words=WORDS, seed=st.integers(0, 9))
def test_confusions_come_from_the_map(kind, name, words, seed):
    table = table_of(name)
    for before, after in zip(words, edited(words, kind, seed), strict=True):
        changed = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
        assert len(changed) == (1 if before else 0)
        for old, new in changed:
            assert new in table[old]


@pytest.mark.parametrize("name", ["keyboard", "scan"])
def test_maps_cover_the_alphabet_and_name_no_character_its_own_neighbor(name):
    table = table_of(name)
    for letter in "abcdefghijklmnopqrstuvwxyz0123456789":
        others = table[letter]
        assert others
        assert letter not in others
        assert len(set(others)) == len(others)


def test_neighboring_keys_are_mutual():
    table = table_of("keyboard")
    for key, others in table.items():
        assert all(key in table[other] for other in others)


def test_every_place_of_a_word_is_hit():
    out = {
        kind: set(edited(["abcdef"] * 2000, number, 1))
        for kind, number in AUGMENTATIONS.items()
        if kind in ("swap", "drop")
    }
    assert out["drop"] == {"bcdef", "acdef", "abdef", "abcef", "abcdf", "abcde"}
    assert out["swap"] == {"bacdef", "acbdef", "abdcef", "abcedf", "abcdfe"}
    assert {word[0] for word in edited(["qq"] * 2000, INSERT, 2)} == set("abcdefghijklmnopqrstuvwxyz")


def test_odd_characters_pass_untouched():
    words = ["", "é", "🙂🙂", "\ud800"]
    assert edited(words, KEYBOARD, 0) == words
    assert edited(words, SCAN, 0) == words


def test_damage_is_decided_by_its_generator_and_leaves_the_global_one_alone():
    words = toy_words(500)
    state = np.random.get_state()[1].tolist()  # noqa: NPY002  the one we must not touch
    first = damage(words, np.random.default_rng(3))
    assert first == damage(words, np.random.default_rng(3))
    assert first != damage(words, np.random.default_rng(4))
    assert np.mean([a != b for a, b in zip(words, first, strict=True)]) > 0.9
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


@pytest.fixture(scope="module")
def words() -> list[str]:
    return toy_words(400)


@pytest.fixture(scope="module")
def units(words) -> Units:
    return Units(build_vocabulary(words, size=500, shrink="none"))


def augmentation(words: list[str], units: Units, synonyms: Ragged, **probabilities: float) -> Augmentation:
    return Augmentation(to_codes(words), units.encode(words), units, synonyms, probabilities)


def no_synonyms(count: int) -> Ragged:
    return Ragged(np.empty(0, dtype=np.int32), np.zeros(count + 1, dtype=np.int64))


def test_none_gives_the_words_own_units(words, units):
    rows = np.array([3, 3, 0, 399])
    made = augmentation(words, units, no_synonyms(400), none=1.0)(rows, np.random.default_rng(0))
    expected = units.encode([words[row] for row in rows])
    assert made.values.tolist() == expected.values.tolist()
    assert made.offsets.tolist() == expected.offsets.tolist()


def test_synonym_gives_the_units_of_a_synonym_or_of_the_word_without_one(words, units):
    synonyms = Ragged(np.array([5, 7, 9], dtype=np.int32), np.concatenate([[0, 2], np.full(399, 3)]))  # 0: 5, 7; 1: 9
    made = augmentation(words, units, synonyms, synonym=1.0)(np.array([0] * 50 + [1, 2]), np.random.default_rng(0))
    rows = [made.row(i).tolist() for i in range(52)]
    spelled = {number: units.encode([words[number]]).values.tolist() for number in (2, 5, 7, 9)}
    assert {tuple(row) for row in rows[:50]} == {tuple(spelled[5]), tuple(spelled[7])}
    assert rows[50:] == [spelled[9], spelled[2]]


def test_typos_have_the_units_of_the_damaged_string(words, units):
    rows = np.arange(400)
    made = augmentation(words, units, no_synonyms(400), drop=1.0)(rows, np.random.default_rng(0))
    own = units.encode(words)
    alphabet = units.vocabulary.units
    for row in rows:
        names = [alphabet[unit] for unit in made.row(row)]
        spelled = "".join(names[1 : names.index("[SUB]")])
        assert len(spelled) == len(words[row]) - 1
        assert names == units.names(spelled)
        assert made.row(row).tolist() != own.row(row).tolist()


def test_kinds_come_as_often_as_their_probabilities_say(words, units):
    rows = np.arange(400).repeat(50)
    made = augmentation(words, units, no_synonyms(400), insert=0.07, drop=0.07, none=0.86)(
        rows, np.random.default_rng(0)
    )
    difference = made.lengths - units.encode(words).lengths[rows]
    alphabet_of = made.take(np.flatnonzero(difference == 0))
    assert len(alphabet_of) / len(rows) == pytest.approx(0.86, abs=0.04)


def test_the_same_generator_gives_the_same_units(words, units):
    augment = augmentation(words, units, no_synonyms(400), swap=0.2, drop=0.2, insert=0.2, keyboard=0.2, none=0.2)
    first, second = (augment(np.arange(400), np.random.default_rng(8)) for _ in range(2))
    assert first.values.tolist() == second.values.tolist()


def test_a_share_of_the_damaged_words_is_damaged_once_more():
    words = ["abcdefghijkl"] * 4000
    units = Units(build_vocabulary(words, pieces=["##x"], shrink="none"), mode="chars")
    kinds = {"swap": 0.0, "drop": 1.0, "none": 1.0}
    augment = Augmentation(to_codes(words), units.encode(words), units, no_synonyms(len(words)), kinds, twice=0.5)
    lost = 14 - augment(np.arange(len(words)), np.random.default_rng(0)).lengths
    shares = np.bincount(lost, minlength=3) / len(words)
    np.testing.assert_allclose(shares, [0.5, 0.25, 0.25], atol=0.03)
