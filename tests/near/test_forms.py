"""Forms of one word: the table of the file's first lines row by row, and any string at all."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.near.strings import NASTY, UNREADABLE

from lovevec.near.forms import MAX_FORM_LENGTH, known_form, look_up

WORDS = ["dog", "film", "don't", "co-op", "o'clock", "été", "mp3", "u.s.", "'tis", "dog!", "...", "3", "straße", "c++"]
PLACE = {word: row for row, word in enumerate(WORDS)}


def form(string: str) -> str | None:
    row, _ = known_form(string, PLACE.get)
    return WORDS[row] if row >= 0 else None


@pytest.mark.parametrize(
    ("string", "word"),
    [
        *(("dog", "dog"), ("film", "film"), ("été", "été"), ("don't", "don't"), ("mp3", "mp3"), ("...", "...")),
        *(("Dog", "dog"), ("DOG", "dog"), ("dOg", "dog"), ("Été", "été"), ("ÉTÉ", "été"), ("DON'T", "don't")),
        *(("ﬁlm", "film"), ("ｄｏｇ", "dog"), ("ＤＯＧ", "dog"), ("e\u0301te\u0301", "été"), ("③", "3")),
        *(("don’t", "don't"), ("don‘t", "don't"), ("don´t", "don't"), ("o’clock", "o'clock")),
        *(("co–op", "co-op"), ("co—op", "co-op"), ("co‐op", "co-op"), ("co−op", "co-op"), ("co\u2011op", "co-op")),
        *(("do\u200bg", "dog"), ("do\u00adg", "dog"), ("\ufeffdog", "dog"), ("dog\u200e", "dog"), ("d\u2060og", "dog")),
        *(("(dog)", "dog"), (" dog", "dog"), ("dog ", "dog"), ("\tdog\r\n", "dog"), ("#dog", "dog"), ("@dog", "dog")),
        *(('"dog"', "dog"), ("“dog”", "dog"), ("«dog»", "dog"), ("‘dog’", "dog"), ("dog,", "dog"), ("dog.", "dog")),
        *(("dog…", "dog"), ("¿dog?", "dog"), ("[dog]", "dog"), ("*dog*", "dog"), ("_dog_", "dog"), ("~dog~", "dog")),
        *(("\u00a0dog", "dog"), ("\u3000dog", "dog"), ("(Dog)", "dog"), ("“Don’t”", "don't"), ("(ﬁlm)", "film")),
        *(("dog!", "dog!"), ("dog!!", "dog"), ("'tis", "'tis"), ("u.s.", "u.s."), ("U.S.", "u.s."), ("c++", "c++")),
        *(("STRASSE", None), ("dogs", None), ("d og", None), ("hotdog", None), ("do-g", None), ("", None), (" ", None)),
        *(("()", None), ("#", None), ("\u200b", None), ("\0dog", None), ("dog\0", None), ("dog\ud800", None)),
    ],
)  # fmt: skip
def test_the_table(string, word):
    assert form(string) == word


def test_a_backtick_is_a_quote():
    assert form("“don`t”") == "don't"
    assert form("don`t") == "don't"


def test_the_string_itself_comes_first_where_the_table_has_both_cases():
    """`neighbors` asks by the form alone: of Apple it must leave out Apple, not apple."""
    place = {"apple": 0, "Apple": 1, "APPLE": 2, "naïve": 3, "Naïve": 4}
    assert [known_form(word, place.get)[0] for word in ("naïve", "Naïve", "(Apple)")] == [3, 4, 1]
    assert [known_form(word, place.get)[0] for word in ("apple", "Apple", "APPLE", "aPPLE")] == [0, 1, 2, 0]


@pytest.mark.parametrize(
    ("string", "read"),
    [
        *(("recieve", "recieve"), ("Recieve", "Recieve"), ("(recieve)", "recieve"), (" recieve ", "recieve")),
        *(
            ("“recieve”", "recieve"),
            ("reci\u200beve", "recieve"),
            ("ｒｅｃｉｅｖｅ", "recieve"),
            ("doesn’t", "doesn't"),
        ),
        *(("#1!", "#1!"), ("(42)", "(42)"), ("--", "--"), ("–", "-"), ("", ""), ("🙂", "🙂"), ("#recieve", "recieve")),
    ],
)
def test_what_is_unknown_is_read_further_in_plain_form(string, read):
    assert known_form(string, PLACE.get) == (-1, read)


@given(
    st.one_of(st.text(max_size=30), st.text(st.characters(categories=["Cs", "Mn", "Cf", "Po", "Ps", "Lu"]), max_size=9))
)
@example("a" * 1_000_000)
@example("’" * 1_000_000)
@example("ﷺ" * 1000)
def test_any_string_is_a_known_word_or_read_further(string):
    row, read = known_form(string, PLACE.get)
    assert isinstance(read, str)
    assert -1 <= row < len(WORDS)
    if row < 0:
        assert known_form(read, PLACE.get)[0] < 0  # nothing is known that was not before
        assert bool(read) or not string.strip() or len(string) <= MAX_FORM_LENGTH
    else:
        assert len(string) <= MAX_FORM_LENGTH or string.isascii()


@pytest.mark.parametrize("string", [*NASTY, *UNREADABLE])
def test_nasty_strings_pass(string):
    row, read = known_form(string, PLACE.get)
    assert (row, read) == known_form(string, PLACE.get)
    if len(string) > MAX_FORM_LENGTH:
        assert (row, read) == (-1, string)


@given(
    st.sampled_from([word for word in WORDS if word[0].isalnum() and word[-1].isalnum()]),
    st.sampled_from(["", " ", "(", "“", "#"]),
    st.sampled_from(["", " ", ")", "”", ","]),
)
def test_a_known_word_stays_itself_in_quotes_and_brackets(word, left, right):
    assert form(left + word + right) == word


@pytest.mark.parametrize("word", WORDS)
def test_a_known_word_is_its_own_form(word):
    assert form(word) == word


@pytest.mark.parametrize("string", ["u.s. ", " u.s.", "(u.s.)", "“u.s.”", "'tis,", " 'tis"])
def test_a_known_word_that_ends_in_a_mark_stays_itself_in_quotes_and_brackets(string):
    assert form(string) == ("'tis" if "tis" in string else "u.s.")


@given(st.text(max_size=12))
def test_what_is_read_further_is_read_so_again(string):
    """Twice is once, unless cutting the outside off leaves more to cut (a combining mark, then a quote …)."""
    _, read = known_form(string, lambda word, other: other)
    _, again = known_form(read, lambda word, other: other)
    assert again in (read, known_form(again, lambda word, other: other)[1])


@given(st.lists(st.one_of(st.sampled_from([*WORDS, "Dog", "(film)", "recieve!"]), st.text(max_size=5))))
def test_looked_up_are_words_first_then_their_forms(words):
    rows, unknown = look_up(words, PLACE.get, forms=False)
    assert rows.tolist() == [PLACE.get(word, -1) for word in words]
    assert unknown == [word for word in words if word not in PLACE]
    rows, unknown = look_up(words, PLACE.get)
    assert rows.tolist() == [known_form(word, PLACE.get)[0] for word in words]
    assert unknown == [known_form(word, PLACE.get)[1] for word in words if form(word) is None]
