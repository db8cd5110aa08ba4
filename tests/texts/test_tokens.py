"""The words of a text, as the table in lovevec/texts/tokens.py has them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lovevec.near.parts import take_all_apart
from lovevec.texts.tokens import PLAIN, VARIANTS, _any_script, runs_of, words_of

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
    """The words of a text; strings that hold several and are not known are taken apart."""
    found: list[str] = []
    for run in runs_of(text):
        one = run if is_known(run) else take_all_apart([run], is_known)[0]
        found += [one] if isinstance(one, str) else [part.text for part in one.parts]
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't go, o'brien (U.S.)!", ["Don't", "go", "o", "brien", "U.S"]),
        ("don’t o’brien", ["don’t", "o", "brien"]),
        ("a well-known e-mail", ["a", "well", "known", "email"]),
        ("and/or snake_case a,b", ["and", "or", "snake", "case", "a", "b"]),
        ("Paula Deen's dog, it's", ["Paula", "Deen", "dog", "it's"]),
        ("#dog @anna", ["dog", "anna"]),
        ("#ThrowbackThursday #ThrowbackFriyay", ["Throwback", "Thursday", "Throwback", "Friyay"]),
        ("iPhone NASA", ["i", "Phone", "NASA"]),
        ("1,000.50 24/7 3.14", ["1000.50", "24", "7", "3.14"]),
        ("the 2nd v2.0", ["the", "ordinal", "2", "version", "v", "2.0"]),
        ("5km/h, $1,000", ["5", "km", "hours", "dollars", "1000"]),
        ("❤️ 😀 👍🏽 😀😀😀", ["heart", "grinning", "thumbs", "up", "grinning"]),
        ("cafe\u0301 naïve", ["café", "naïve"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("日本語 テキスト", ["日本語", "テキスト"]),
        ("日本語テキスト", ["日本語", "テキスト"]),
        ("co\u00adoperate", ["co\u00adoperate"]),
        (" .,!?… «»“”-- ' ’ \n\t", []),
        ("", []),
        ("(https://www.dog.com/a?b=c)", ["website", "dog"]),
    ],
)  # fmt: skip
def test_what_the_words_are(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    "text",
    ["5km/h", "$1,000", "a.b@c.org", "https://a.b/c_d?e=f", "24/7", "10:30pm", "2024-05-06", "#ThrowbackThursday",
     "@anna_b", "v2.0.1", "50%", "١٢٣", "½"],
)  # fmt: skip
def test_a_string_of_a_kind_is_one_word_of_a_text_whatever_stands_around_it(text):
    assert runs_of(f'see ({text}), then "{text}".') == ["see", text, "then", text]


@given(st.text())
def test_any_text_has_words_that_stand_in_it(text):
    for run in runs_of(text):
        assert run
        assert not any(character.isspace() for character in run)
    assert all(words(text))


@given(st.text(st.characters(codec="ascii")))
def test_ascii_is_parted_by_the_plain_pattern_as_by_that_for_all_scripts(text):
    assert PLAIN.findall(text) == _any_script().findall(text)


def test_a_megabyte_takes_no_time_to_speak_of():
    for text in ("a" * 1_000_000, "a." * 500_000, "a-" * 500_000, "aB" * 500_000, "é'" * 500_000, "𝒳" * 300_000):
        assert words(text)


@given(st.text(st.sampled_from("ab'’.-,# 1é\u0301\u0308\ufe0f🙂❤가각\u0bc6\u0bbeAÅ\u212b\u00ad\n"), max_size=40))
@example("e\u0301t\u00e9 ❤\ufe0f 가ᄀ\u1161\u11a8 A\u030a\u0301x")
@example("\u0301a \ufe0fb")
@example("#\u212b")
@example("\u1100\ufe0f\u1161")
def test_words_stand_where_they_are_said_to(text):
    found = words_of(text)
    assert [word.text for word in found] == runs_of(text)
    end = 0
    for word in found:
        assert end <= word.start < word.end <= len(text)
        end = word.end
        stands = unicodedata.normalize("NFC", VARIANTS.sub("", text[word.start : word.end]))
        assert unicodedata.normalize("NFC", VARIANTS.sub("", word.text)) in stands
    if text.isascii():
        assert [text[word.start : word.end] for word in found] == [word.text for word in found]


def test_words_of_a_run_stand_inside_it(shipped_love):
    text = "A well-known e-mail, #ThrowbackThursday 🙂 cafe\u0301 the the-the"
    tokens = shipped_love.tokens(text)
    assert [token.text for token in tokens] == [text[token.start : token.end] for token in tokens]
    shown = [(token.text, token.word) for token in tokens]
    assert shown[:3] == [("A", "a"), ("well", "well"), ("known", "known")]
    assert ("e-mail", shown[3][1]) == shown[3]
    assert ("Throwback", "throwback") in shown
    assert ("Thursday", "thursday") in shown
    assert [word for part, word in shown if part == "🙂"][-1] == "smiling"
    assert [part for part, _ in shown][-4:] == ["cafe\u0301", "the", "the", "the"]
    assert len({(token.start, token.end) for token in tokens[-3:]}) == 3
    assert shipped_love.tokens("") == []
