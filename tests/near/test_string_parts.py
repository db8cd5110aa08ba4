"""Strings of several words: what can be seen of them, when one damaged word is likelier, and what `lookup` says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, random_love
from tests.near.strings import NASTY, ORTHOGRAPHY, STRINGS, UNREADABLE

from lovevec.near.kinds import NAME, NUMBER, WORD
from lovevec.near.parts import (
    MAX_LENGTH,
    MAX_PARTS,
    PRIORS,
    Composite,
    as_one_word,
    emoji_words,
    take_all_apart,
    take_apart,
)
from lovevec.near.reader import Reader
from lovevec.near.readings import Readings

LOVED = random_love([*KNOWN_WORDS, "don't", "will", "not", "email", "nato", "iphone", "network", "happy", "birthday"])
KNOWN = {"house", "mouse", "email", "don't", "iphone", "u.s.", "mp3"}


def seen(string: str) -> str:
    """What can be seen of it: how it is held together, and its parts; a number is marked by #, a name by !."""
    composite = take_apart(string, lambda word: word.lower() in KNOWN)
    if composite is None:
        return ""
    marks = {WORD: "", NUMBER: "#", NAME: "!"}
    return f"{composite.how}: " + " ".join(marks[part.how] + part.text for part in composite.parts)


SEEN = {
    "mark": {
        "neural-netwrok": "neural netwrok",
        "Los_Angelos": "Los Angelos",
        "and/or": "and or",
        "hello,world": "hello world",
        "re-cieve": "re cieve",
        "house-mouse-": "house mouse",
        "-house": "house",
        "e-mail": "email",
        "N.A.T.O.": "!NATO",
        "the-house's": "the house",
        "@anna_b": "anna b",
    },
    "capital": {
        "ThrowbackThursday": "Throwback Thursday",
        "#ThrowbackThursday": "Throwback Thursday",
        "getHTTPResponse": "get HTTP Response",
        "LaTeX": "La Te !X",
        "wOrd": "!w Ord",
    },
    "digits": {"covid19": "covid #19", "RTX3080": "RTX #3080", "3-bedroom": "#3 bedroom", "x9": "!x #9"},
    "clitic": {"nothing'll": "nothing will", "goverment’ll": "goverment will", "hasn't": "has not"},
    "apostrophe": {"rock'n'roll": "rock n roll"},
    "ending": {"Deen's": "Deen", "dog’S": "dog", "it's": "it"},
    "script": {"東京タワー": "東京 タワー", "ひらカタ": "ひら カタ"},
    "emoji": {
        "😀": "grinning",
        "😀house😀": "grinning house",
        "❤️": "heart",
        "I❤NY": "heart I NY",
    },
    "quantity": {"500mg": "#500 mg", "#500mg": "#500 mg"},
    "": dict.fromkeys(["", "word", "Word", "...", "#", "##", "LATEX", "日本語", "soooo", "don't"], ""),
}


@pytest.mark.parametrize(
    ("how", "string", "parts"), [(how, *pair) for how, some in SEEN.items() for pair in some.items()]
)
def test_what_can_be_seen(how, string, parts):
    assert seen(string) == (f"{how}: {parts}" if how else "")


def test_the_ways_to_hold_words_together_are_those_of_the_table():
    assert set(PRIORS) == set(SEEN) - {"", "emoji", "quantity"}


PIECES = ["house", "Recieve", "BREAD", "15", "'s", "n't", "東京", "タワ", "😀", "500mg", "x"]
MARKS = st.sampled_from(["", "-", "_", "'", "’", ".", "/", " ", "#", "\u00ad", "--"])
JOINED = st.builds(str.join, MARKS, st.lists(st.sampled_from(PIECES), min_size=1, max_size=5))
ANY = st.one_of(STRINGS, JOINED)


@given(st.lists(ANY, min_size=1, max_size=6))
@settings(max_examples=80)
def test_parts_lie_within_the_string_and_probabilities_add_up(strings):
    lookup = LOVED.lookup(strings)
    for place, composite in lookup.composites.items():
        assert 0 < len(composite.parts) <= MAX_PARTS + 1
        for part in composite.parts:
            assert 0 <= part.start < part.end <= len(strings[place])
            assert part.text
            assert 0 < part.share <= 1
        assert lookup.kinds[place] is None or composite.how not in PRIORS
    readings = lookup.probabilities
    np.testing.assert_allclose(readings.probabilities.sum(axis=1) + readings.parts + readings.new, 1)
    for string, tokens, reading, near in zip(strings, lookup.parts, lookup.readings, lookup.near(10), strict=True):
        assert sum(chance for _, chance in near) <= 1 + 1e-9
        assert all(string[token.start : token.end] == token.text for token in tokens)
        assert all(0 <= token.start < token.end <= len(string) for token in tokens)
        assert all(0 <= token.probability <= 1 + 1e-9 and token.weight >= 0 for token in tokens)
        assert not tokens or reading in ("parts", "new")
        assert reading != "parts" or tokens


@pytest.mark.parametrize(
    "string", [*NASTY, *UNREADABLE, "-" * MAX_LENGTH, "a-" * 10_000, "A" * 2000, "😀" * 2000, "'" * 2000]
)
def test_nasty_strings_are_taken_apart_or_not_at_once(string):
    composite = take_apart(string, KNOWN.__contains__)
    assert composite is None or len(composite.parts) <= MAX_PARTS
    assert len(string) <= MAX_LENGTH or composite is None
    (found,) = take_all_apart([string], KNOWN.__contains__)
    assert found == as_one_word(composite or string)


def test_a_string_of_one_word_is_that_word():
    assert take_all_apart(["#house", "Deen's", "house", "#"], KNOWN.__contains__) == ["house", "Deen", "house", "#"]
    (several,) = take_all_apart(["the-house"], KNOWN.__contains__)
    assert isinstance(several, Composite)


def test_emoji_have_the_words_of_their_names():
    assert emoji_words("❤") == ["heart"]
    assert emoji_words("🚀") == ["rocket"]
    assert emoji_words("☯") == ["yin", "yang"]


# One damaged word, or several: by probability.

MADE = Reader([*KNOWN_WORDS, "don't"], ORTHOGRAPHY)


def decided(string: str, reader: Reader = MADE) -> object:
    row = {word: place for place, word in enumerate(reader.words)}
    (found,) = reader.take_apart([string], lambda word: row.get(word.lower(), -1))
    return found


@pytest.mark.parametrize("string", ["recei-ve", "govern'ment", "bl00d", "h0use", "to-morrow", "dont"])
def test_a_mark_or_a_digit_may_be_a_slip(string):
    found = decided(string)
    assert isinstance(found, str)
    assert found in (string, string.replace("-", ""))


@pytest.mark.parametrize(
    "string", ["house-mouse", "bread/butter", "blood15", "house_recieve", "HouseMouse", "mouse1234"]
)
def test_but_known_words_side_by_side_are_not(string):
    assert isinstance(decided(string), Composite)


def test_a_string_that_is_listed_is_one_word():
    assert decided("r2") == "r2"
    assert decided("x2") != "x2"


def test_the_better_of_both_is_taken():
    """The near words' evidence against the parts': what the channel says of each."""
    asked: list[str] = []

    def read(words: list[str]) -> Readings:
        asked.extend(words)
        return MADE(words)

    for string in ("recei-ve", "house-mouse", "hou-se", "mou-rning"):
        found, whole = decided(string), MADE([string])
        composite = take_apart(string, MADE.places.__contains__)
        if composite is None or not composite.may_be_whole:
            continue
        words = [part.text for part in composite.parts]
        utility = PRIORS[composite.how] + sum(
            MADE.utility(MADE.row(word)) if word in MADE.places else float(MADE([word]).evidence[0]) for word in words
        )
        near = float(whole.evidence[0] + np.log(whole.probabilities.sum()))
        assert isinstance(found, str) == (near > utility)


# The shipped model.


@pytest.mark.parametrize(
    ("string", "words"),
    [
        *(("neural-netwrok", "neural network"), ("Los_Angelos", "los angelos"), ("alot", "a lot")),
        *(("infact", "in fact"),),
        *(("blacklivesmatter", "black lives matter"), ("#blacklivesmatter", "black lives matter"), ("inthe", "in the")),
        *(("iphone15", "iphone 15"), ("#ThrowbackThursday", "throwback thursday"), ("hapybirthday", "happy birthday")),
        *(("nothing'll", "nothing will"), ("state-of-the-art", "state of the art")),
        *(("prompt-engineer", "prompt engineer"),),
        *(("machinelerning", "machine learning"), ("(thank-you)", "thank you"), ("3-bedroom", "3 bedroom")),
    ],
)  # fmt: skip
def test_parts_are_read(shipped_love, string, words):
    lookup = shipped_love.lookup(string)
    assert lookup.readings == ["parts"]
    assert lookup.kinds == [None]
    assert all(chance < 0.5 for _, chance in lookup.near()[0])
    assert " ".join(token.word or token.text for token in lookup.parts[0]) == words
    assert shipped_love.similar(string, words.replace(" ", "-")) > 0.6


@pytest.mark.parametrize(
    "string", ["sunrays", "icecream", "unfriended", "recieve", "understanding", "chanyeol", "about"]
)
def test_what_is_one_word_has_no_parts(shipped_love, string):
    lookup = shipped_love.lookup(string)
    assert lookup.parts == [()] or lookup.readings == ["parts"]
    assert string == "icecream" or lookup.readings != ["parts"]


def test_confidence_of_several_words_is_the_mean_of_theirs(shipped_love):
    one, two = shipped_love.confidence(["neural", "netwrok"])
    assert shipped_love.confidence("neural-netwrok") == pytest.approx((one + two) / 2)
    assert shipped_love.confidence("98765") == 1
    assert np.isnan(LOVED.confidence(["98765", "house-98765", "500mg"])).all()
