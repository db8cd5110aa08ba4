from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lovevec.damage.sounds import respell
from lovevec.units.characters import to_codes, to_words

RULES: dict[str, list[str]] = json.loads(files("lovevec.damage").joinpath("data", "sounds.json").read_text("utf-8"))[
    "sounds"
]


def respelled(words: list[str], seed: int) -> list[str]:
    return to_words(respell(to_codes(words, lowercase=False), np.random.default_rng(seed)))


def changes(word: str) -> set[str]:
    """All that the list allows for a word, found by plain string search."""
    return {
        word[:at] + other + word[at + len(spelling) :]
        for spelling, others in RULES.items()
        for at in range(len(word))
        if word.startswith(spelling, at)
        for other in others
    }


@given(st.lists(st.text("acehiknoprstuz9é-", max_size=9), max_size=30), st.integers(0, 9))
def test_one_spelling_changes_and_the_rest_stays(words, seed):
    for before, after in zip(words, respelled(words, seed), strict=True):
        allowed = changes(before)
        assert after in allowed if allowed else after == before


def test_every_change_comes_about_as_often_as_any_other():
    word = "knife"
    counts = dict.fromkeys(changes(word), 0)
    for after in respelled([word] * 20_000, 1):
        counts[after] += 1
    rules = sum(len(others) * word.count(spelling) for spelling, others in RULES.items())
    assert min(counts.values()) > 0.5 * 20_000 / rules
    assert counts["nife"] > 0


def test_the_list_names_no_spelling_as_its_own_replacement_and_holds_plain_letters():
    for spelling, others in RULES.items():
        assert spelling.isalpha()
        assert spelling.isascii()
        assert spelling not in others
        assert len(set(others)) == len(others)
        assert all(other == "" or (other.isalpha() and other.islower()) for other in others)


def test_common_misspellings_are_within_reach():
    for right, wrong in {
        "definitely": "definately",
        "receive": "recieve",
        "separate": "seperate",
        "knife": "nife",
        "photo": "foto",
        "necessary": "necesary",
        "tomorrow": "tommorow",
    }.items():
        near = changes(right)
        assert wrong in near or any(wrong in changes(step) for step in near)
