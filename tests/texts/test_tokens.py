"""The words of a text, as the table in lovevec/texts/tokens.py has them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lovevec.texts.tokens import VARIANTS, parts_of, runs_of, spans_of

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


@given(st.text(st.sampled_from("ab'’.-,# 1é\u0301\u0308\ufe0f🙂❤가각\u0bc6\u0bbeAÅ\u212b\u00ad\n"), max_size=40))
@example("e\u0301t\u00e9 ❤\ufe0f 가ᄀ\u1161\u11a8 A\u030a\u0301x")
@example("\u0301a \ufe0fb")
def test_runs_stand_where_they_are_said_to(text):
    runs, spans = runs_of(text), spans_of(text)
    assert len(spans) == len(runs)
    ends = [0]
    for run, (start, end) in zip(runs, spans, strict=True):
        assert ends[-1] <= start < end <= len(text)
        ends.append(end)
        assert run in unicodedata.normalize("NFC", VARIANTS.sub("", text[start:end]))
    if text.isascii():
        assert [text[start:end] for start, end in spans] == runs


def test_words_of_a_run_stand_inside_it(shipped_love):
    text = "A well-known e-mail, #ThrowbackThursday 🙂 cafe\u0301 the the-the"
    tokens = shipped_love.tokens(text)
    assert [token.text for token in tokens] == [text[token.start : token.end] for token in tokens]
    shown = [(token.text, token.word) for token in tokens]
    assert shown[:3] == [("A", "a"), ("well", "well"), ("known", "known")]
    assert ("e-mail", shown[3][1]) == shown[3]
    assert ("Throwback", "throwback") in shown
    assert ("Thursday", "thursday") in shown
    assert [word for part, word in shown if part == "🙂"][-1] == "face"
    assert [part for part, _ in shown][-4:] == ["cafe\u0301", "the", "the", "the"]
    assert len({(token.start, token.end) for token in tokens[-3:]}) == 3
    assert shipped_love.tokens("") == []
