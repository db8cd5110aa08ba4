"""Misspellings like people's: by the seed, mostly of one slip or several, of kinds and at rates that are documented."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA
from tests.factories import toy_words

from lovevec.damage.confusions import table_of
from lovevec.damage.misspell import PRINTED_ALIKE, misspell
from lovevec.damage.sounds import english_rules
from lovevec.units.characters import to_words

WORDS = toy_words(2000)
SEED = st.integers(0, 99)
ANY = st.lists(st.one_of(st.text("abcdefghijklmnopqrstuvwxyz", max_size=12), st.text(max_size=8)), max_size=8)


def made(words: list[str], seed: int = 0) -> list[str]:
    return misspell(words, np.random.default_rng(seed))


@given(ANY, SEED)
@settings(max_examples=40)
def test_the_same_seed_misspells_in_the_same_way_and_any_string_passes(words, seed):
    before = list(words)
    found = made(words, seed)
    assert found == made(words, seed)
    assert len(found) == len(words)
    assert all(type(string) is str for string in found)
    assert words == before


def test_seeds_differ_and_the_global_generator_is_left_alone():
    state = np.random.get_state()[1].tolist()  # noqa: NPY002  the one we must not touch
    assert made(WORDS, 0) != made(WORDS, 1)
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


def test_most_words_are_changed_by_one_slip_or_a_few():
    pairs = list(zip(WORDS, made(WORDS), strict=True))
    assert sum(old != new for old, new in pairs) > 0.9 * len(pairs)
    distances = [OSA.distance(old, new) for old, new in pairs]
    assert 1 <= np.median(distances) <= 3
    assert np.mean(np.array(distances) <= 2) > 0.5
    assert max(distances) <= 18  # six slips of up to three letters


def test_no_word_becomes_empty():
    assert all(made([word for word in WORDS if len(word) > 7] * 3))


@pytest.mark.parametrize("word", ["a", "e", "ed", "of"])
def test_no_short_word_becomes_empty(word):
    assert all(string for seed in range(3) for string in made([word] * 3000, seed))


@given(st.lists(st.text(min_size=1, max_size=6), max_size=6), SEED)
@settings(max_examples=40)
def test_no_text_becomes_empty(words, seed):
    longer = [word + "xyzxyzxyz" for word in words]
    assert all(made(longer, seed))


def test_the_first_letter_is_kept_more_often_than_by_chance():
    words = [word for word in WORDS if len(word) == 6]
    pairs = [(old, new) for old, new in zip(words * 4, made(words * 4), strict=True) if old != new]
    changed = np.mean([old[0] != new[0] for old, new in pairs])
    assert 0.01 < changed < 0.5 * np.mean([old[-1] != new[-1] for old, new in pairs])


def documented(old: str, new: str) -> set[str]:
    """The kinds of one slip that turn the one into the other."""
    kinds = set()
    if len(new) == len(old) - 1 and any(old[:at] + old[at + 1 :] == new for at in range(len(old))):
        kinds.add("drop")
    if len(new) == len(old) + 1 and any(new[:at] + new[at + 1 :] == old for at in range(len(new))):
        kinds.add("joint" if set(" -") & set(new) - set(old) else "insert")
    differ = [at for at in range(min(len(old), len(new))) if old[at] != new[at]]
    if (
        len(old) == len(new)
        and len(differ) == 2
        and old[differ[0] : differ[1] + 1] == new[differ[0] : differ[1] + 1][::-1]
    ):
        kinds.add("swap")
    if len(old) == len(new) and len(differ) == 1:
        one, other = old[differ[0]], new[differ[0]]
        for name in ("keyboard", "scan"):
            if other in table_of(name).get(one, ""):
                kinds.add(name)
    for one, two in PRINTED_ALIKE:
        if old.replace(one, two, 1) == new or old.replace(two, one, 1) == new:
            kinds.add("print")
    if unicodedata.normalize("NFD", old).encode("ascii", "ignore").decode() == new:
        kinds.add("plain")
    return kinds or {"sound or several"}


def test_every_kind_is_reachable():
    words = [*WORDS, *(word.replace("a", "á").replace("o", "ô") for word in WORDS)] * 3
    kinds = [documented(old, new) for old, new in zip(words, made(words), strict=True) if old != new]
    alone = {kind for found in kinds if len(found) == 1 for kind in found}
    assert alone >= {"drop", "insert", "swap", "keyboard", "scan", "print", "plain", "joint", "sound or several"}


def test_sound_is_the_commonest_kind():
    """Words in which only a sound can be one slip that no other kind makes: ph written as f."""
    assert "f" in to_words(english_rules().replacements)
    found = made(["xphx"] * 6000)
    assert sum(string == "xfx" for string in found) > 20
    assert sum("ph" not in string for string in found) > 0.2 * len(found)


def test_one_letter_is_printed_as_two_and_two_as_one():
    found = made(["xmx", "xrnx"] * 4000)
    assert sum(string == "xrnx" for string in found[::2]) > 20
    assert sum(string == "xmx" for string in found[1::2]) > 20


@pytest.mark.parametrize(("kind", "letters"), [("keyboard", "bcg"), ("scan", "y")])
def test_one_letter_alone_is_taken_for_another(kind, letters):
    """Only such a slip puts these in the place of one v of four."""
    wanted = {"vvvv"[:at] + letter + "vvvv"[at + 1 :] for at in range(4) for letter in letters}
    assert sum(string in wanted for string in made(["vvvv"] * 6000)) > 20


def test_accents_are_left_out_of_three_words_in_ten():
    found = made(["élève"] * 4000)
    assert 0.25 < np.mean([string == "eleve" for string in found]) < 0.36
    assert sum(string == "élève" for string in made(["élève"] * 4000)) < 1000


@pytest.mark.parametrize(
    "word",
    [
        "한국어사전",
        *("日本語辞書", "русский", "שלום"),
    ],
)
def test_what_has_no_accents_does_not_only_look_changed(word):
    """Written in other code points, a word is still the same word."""
    found = made([word] * 400)
    assert not [string for string in found if string != word and unicodedata.normalize("NFC", string) == word]


def test_joints_are_a_blank_or_a_hyphen_inside():
    found = [new for new in made(["outside"] * 8000) if set(new) & set(" -")]
    assert {"out side", "out-side"} <= set(found)
    assert not [new for new in found if new[0] in " -" or new[-1] in " -"]
    assert 0.005 < len(found) / 8000 < 0.03


def test_short_words_and_none():
    assert made([]) == []
    assert made([""] * 3)[0] in ("", *"abcdefghijklmnopqrstuvwxyz") or len(made([""])[0]) <= 6
    assert len(set(made(["the"] * 500))) > 30
