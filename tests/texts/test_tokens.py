"""The words of a text, as the table in lovevec/texts/tokens.py has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lovevec.texts.tokens import parts_of, runs_of

KNOWN = {
    "a",
    "well",
    "known",
    "throwback",
    "thursday",
    "email",
    "don't",
    "u.s",
    "deen",
    "it's",
    "dog",
    "heart",
    "sense",
}


def is_known(word: str) -> bool:
    return word.lower().replace("’", "'") in KNOWN


def words(text: str) -> list[str]:
    return [word for run in runs_of(text) for word in parts_of(run, is_known)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't go, o'brien (U.S.)!", ["Don't", "go", "o'brien", "U.S"]),
        ("don’t o’brien", ["don’t", "o’brien"]),
        ("a well-known e-mail", ["a", "well", "known", "email"]),
        ("and/or snake_case a,b", ["and", "or", "snake", "case", "a", "b"]),
        ("Paula Deen's dog, it's", ["Paula", "Deen", "dog", "it's"]),
        ("#dog @anna", ["dog", "anna"]),
        ("#ThrowbackThursday #ThrowbackFriyay", ["Throwback", "Thursday", "ThrowbackFriyay"]),
        ("iPhone NASA", ["iPhone", "NASA"]),
        ("1,000.50 24/7 3.14 2nd v2.0", ["1,000.50", "24", "7", "3.14", "2nd", "v2", "0"]),
        ("❤️ 😀 👍🏽", ["heart", "grinning", "face", "thumbs", "up"]),
        ("cafe\u0301 naïve", ["café", "naïve"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("日本語 テキスト", ["日本語", "テキスト"]),
        ("co\u00adoperate", ["co\u00adoperate"]),
        (" .,!?… «»“”-- ' ’ \n\t", []),
        ("", []),
        ("https://www.dog.com/a?b=c", ["https", "www", "dog", "com", "a", "b", "c"]),
    ],
)  # fmt: skip
def test_what_the_words_are(text, expected):
    assert words(text) == expected


@given(st.text())
def test_any_text_has_words_that_stand_in_it(text):
    for run in runs_of(text):
        assert run
        assert not any(character.isspace() for character in run)
        for word in parts_of(run, is_known):
            assert word


@given(st.text(st.characters(codec="ascii")))
def test_ascii_is_parted_by_the_plain_pattern_as_by_that_for_all_scripts(text):
    from lovevec.texts.tokens import _any_script

    assert runs_of(text) == _any_script().findall(text)


def test_a_megabyte_takes_no_time_to_speak_of():
    for text in ("a" * 1_000_000, "a." * 500_000, "a-" * 500_000, "aB" * 500_000, "é'" * 500_000, "𝒳" * 300_000):
        assert words(text)
