"""Forms of one word: the table of the file's first lines row by row, and any string at all."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.factories import needs_core
from tests.near.strings import NASTY, UNREADABLE

from lovevec.engine.word_map import CompiledWordMap
from lovevec.errors import FormatError
from lovevec.near.forms import MAX_FORM_LENGTH, check_listed, known_form, look_up, read_listed

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
        *(("#1!", "1"), ("(42)", "42"), ("--", "--"), ("–", "-"), ("", ""), ("🙂", "🙂")),
        # a hashtag may be several words, and is read as one
        *(("#recieve", "#recieve"), ("(@recieve)", "@recieve"), ("“#Recieve”!", "#Recieve"), ("*recieve*", "recieve")),
        *(("##recieve", "#recieve"), ("1½", "1-1⁄2"), ("½", "1⁄2"), ("Nguyen", "Nguyen")),
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


@pytest.mark.parametrize(
    ("string", "word"),
    [
        ("Nguyễn", "nguyen"),
        ("nguyễn", "nguyen"),
        ("“Nguyễn”", "nguyen"),
        ("été", "été"),
        ("ètè", None),
        ("naïve", "naïve"),
    ],
)
def test_letters_without_their_marks_where_those_with_them_are_not_known(string, word):
    place = {"nguyen": 0, "été": 1, "naïve": 2, "naive": 3}
    row, _ = known_form(string, place.get)
    assert row == (-1 if word is None else place[word])


ASKED = st.lists(st.one_of(st.sampled_from([*WORDS, "Dog", "(film)", "recieve!", "ETE", "DOG7"]), st.text(max_size=5)))


@pytest.mark.parametrize("place", [PLACE, pytest.param(CompiledWordMap, marks=needs_core)], ids=["dict", "compiled"])
@given(ASKED)
def test_looked_up_are_words_first_then_their_forms(place, words):
    known = place if place is PLACE else place(WORDS)
    rows, unknown = look_up(words, known, forms=False)
    assert rows.tolist() == [PLACE.get(word, -1) for word in words]
    assert unknown == [word for word in words if word not in PLACE]
    rows, unknown = look_up(words, known)
    assert rows.tolist() == [known_form(word, PLACE.get)[0] for word in words]
    assert unknown == [known_form(word, PLACE.get)[1] for word in words if form(word) is None]


# Listed forms, as a model folder and a file hold them.

GOOD = {"dont": [["don't", 1.0]], "tho": [["though", 0.75], ["the", 0.25]], "outta": [["out of", 0.5]]}


def test_listed_forms_are_checked():
    listed = check_listed(GOOD)
    assert listed == {
        "dont": (("don't", 1.0),),
        "tho": (("though", 0.75), ("the", 0.25)),
        "outta": (("out of", 0.5),),
    }
    assert check_listed({}) == {}
    assert check_listed({form: [list(one) for one in meanings] for form, meanings in listed.items()}) == listed


@pytest.mark.parametrize(
    "raw",
    [
        *(None, [], "dont", 7, {"": GOOD["dont"]}),
        *({"dont": meanings} for meanings in ("don't", [], ["don't"], [["don't"]])),
        *({"a": [["b", chance]]} for chance in (0, -1, 1.5, float("nan"), float("inf"), "1", None, True)),
        *({"a": [[word, 0.5]]} for word in (None, 7, "", "  ", ["b"])),
        *({"a": [["b", 0.75], ["c", 0.75]]}, {"a": [["b", 0.1]] * 9}, {"x" * 201: [["b", 1]]}, {"a": [["b", 1, 1]]}),
    ],
    ids=lambda raw: ascii(raw)[:24],
)  # fmt: skip
def test_other_forms_are_refused(raw):
    with pytest.raises(ValueError, match="must"):
        check_listed(raw)


def test_forms_are_read_out_of_a_file(tmp_path):
    path = tmp_path / "forms.tsv"
    path.write_text("form\tword\tprobability\ndont\tdon't\t1\ntho\tthough\t0.75\n\nTho\tthe\t0.25\nouttA\tout of\t.5\n")
    assert read_listed(path) == check_listed(GOOD)
    for line, says in [
        ("a\tb", ":2: expected a form"),
        ("a\tb\tmany", ":2: expected a form"),
        ("a\tb\t1\tc", ":2: expected a form"),
        ("a\tb\t2", "add up to 1"),
        ("a\t \t1", "must have words"),
        ("dont\tdo\t0.5", "add up to 1"),
    ]:
        path.write_text(f"dont\tdon't\t1\n{line}\n")
        with pytest.raises(FormatError, match=says) as caught:
            read_listed(path)
        assert str(path) in str(caught.value)
