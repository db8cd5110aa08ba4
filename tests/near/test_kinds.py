"""Kinds of strings that are no words: which strings are of which kind, what parts they stand for, and that none of them
is ever read as another number."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, random_love
from tests.near.strings import NASTY, STRINGS, UNREADABLE

from lovevec.near.kinds import (
    DIGIT,
    KINDS,
    MAX_LENGTH,
    MAX_PARTS,
    NAME,
    NUMBER,
    UNITS,
    WORD,
    kind_of,
    number_form,
    parts_of_kind,
    plain_form,
)

# Two of each row of the table at least, and what is like it but is none.
EXAMPLES = {
    "address": ["https://a.com/x?y=1", "www.lovevec.io", "bit.ly/abc", "a-b.co.uk:80", "10.0.0.1:80", ":8080"],
    "email": ["foo@bar.com", "mailto:a.b@c.de", "x+y@z-z.org"],
    "date": ["2024-05-12", "12.5.24", "2024/1/2", "2024-05-12T10:33:00Z", "5may", "5th-May-2020", "Jan-31", "sept11"],
    "time": ["10:30", "9:05:59.5", "7p.m.", "11pm", "10:30pm", "14h30"],
    "decade": ["1990s", "'90s", "90's"],
    "ordinal": ["1st", "101st", "33rd", "1,000th", "12th", "2ND"],
    "money": ["$500", "€3.50", "500usd", "usd500", "-$5", "$1.5bn", "3.5m$", "£5k", "100€"],
    "percentage": ["99.9%", "~5%", "50-60%", "12‰", "5percent", "+3pct"],
    "dimensions": ["1920x1080", "5mmx6mm", "3×4", "2x4x8"],
    "id": ["550e8400-e29b-41d4-a716-446655440000", "00:1A:2B:3C:4D:5E"],
    "hex": ["0xdeadbeef", "#ff00a0", "deadbeef1234"],
    "code": ["a1b2c3d4"],
    "version": ["v1.2.3", "v2", "1.22.3", "2.0-beta1", "1.0rc2", "3.11.4-alpine"],
    "phone": ["+49-30-1234567", "(030)1234567", "555-123-4567", "555-1234"],
    "number": ["5", "-5", "1,000,000", "1'000", "3.14", "1e10", "3/4", "24/7", "007", ".5", "1-2", "4:3", "98765"],
    "quantity": ["500mg", "5.5mg", "100k", "10ft", "37°C", "10km/h", "~5kg", "5-inch", "3-4h", "5GB", "<2h"],
    "file": ["report.pdf", "src/main.py", "~/foo", "C:\\Windows\\x", "../x.tar.gz", "a.b.csv", "/etc/passwd"],
}  # fmt: skip
NONE = [
    "dog",
    "e-mail",
    "U.S.A",
    "covid19",
    "bl00d",
    "fi1m",
    "l33t",
    "gr8",
    "iphone15",
    "and/or",
    "a@b",
    "#1!",
    "3-bedroom",
]
NONE += ["", " ", "...", "-", "%", "$", "café", "mp3", "KCFT-32A", "x86_64", "Dr.No", "hello.world", "12ab34"]


@pytest.mark.parametrize(("kind", "string"), [(kind, one) for kind, some in EXAMPLES.items() for one in some])
def test_strings_of_each_kind(kind, string):
    found = parts_of_kind(string)
    assert found is not None
    assert found[0].name == kind


@pytest.mark.parametrize("string", NONE)
def test_words_and_what_may_be_one_are_of_no_kind(string):
    assert parts_of_kind(string) is None


def test_the_table_has_an_example_of_each_row():
    assert {kind.name for kind in KINDS} == set(EXAMPLES)
    matched = {kind_of(plain_form(one)) for some in EXAMPLES.values() for one in some}
    assert set(KINDS) == matched


def test_every_unit_stands_behind_a_number():
    for unit in sorted(set(UNITS.split())):
        kind, parts = parts_of_kind(f"547{unit}")
        assert kind.name in ("quantity", "ordinal", "time", "money", "decade"), unit
        assert any((part.text, part.how) == ("547", NUMBER) for part in parts), unit


@pytest.mark.parametrize(
    ("string", "parts"),
    [
        ("500mg", "500/number mg/word"),
        ("5in", "5/number inches/word"),
        ("101st", "ordinal/word 101/number"),
        ("10:30pm", "time/word 10/number 30/number pm/word"),
        ("2024-05-12", "date/word 2024/number 5/number 12/number"),
        ("$1,500.50", "dollars/word 1500.50/number"),
        ("1920x1080", "1920/number times/word 1080/number"),
        ("99.9%", "99.9/number percent/word"),
        ("v1.2", "version/word v/name 1.2/number"),
        ("0xFF", "code/word 0xff/number"),
        ("https://www.example.com/some-page?x=1", "website/word example/word some/word page/word"),
        ("anna.smith@web.de", "email/word anna/word smith/word web/word"),
        ("src/main.py", "file/word src/word main/word"),
        ("1,000,000", "1000000/number"),
        ("+007", "7/number"),
        ("½", "1/number 2/number"),
        ("5½", "5/number 1/number 2/number"),
        ("1\u202f000", "1000/number"),
        ("٥٠٠mg", "500/number mg/word"),
        ("１０：３０", "time/word 10/number 30/number"),
        ("−5", "-5/number"),
        ("١٬٠٠٠٫٥", "1000.5/number"),
    ],
)
def test_parts_by_example(string, parts):
    assert " ".join(f"{part.text}/{part.how}" for part in parts_of_kind(string)[1]) == parts


SCRIPTS = [chr(zero) for zero in (0x30, 0x660, 0x6F0, 0x966, 0x9E6, 0xE50, 0xFF10, 0x1D7CE)]


@given(st.sampled_from([one for some in EXAMPLES.values() for one in some if "'" not in one]), st.sampled_from(SCRIPTS))
def test_digits_of_any_script_are_digits(string, zero):
    other = re.sub(r"[0-9]", lambda found: chr(ord(zero) + int(found.group())), string)
    kind, parts = parts_of_kind(string)
    other_kind, other_parts = parts_of_kind(other)
    assert (kind, [part.text for part in parts]) == (other_kind, [part.text for part in other_parts])


DIGITAL = st.one_of(
    st.from_regex(r"\A[~$€+-]?[0-9]{1,6}([.,:/-][0-9]{1,4}){0,3}(mg|k|%|st|th|pm|x|GB|°C|€)?\Z"),
    st.text("0123456789.,:-/xkmgth%$ab", max_size=12),
    st.text(st.characters(categories=["Nd", "No", "Po", "Sc", "Pd", "Zs", "Ll"]), max_size=10),
)


@given(st.one_of(DIGITAL, STRINGS, st.sampled_from([*NASTY, *UNREADABLE])))
@example("a@" + "b." * 140 + "c")
@example("1" * MAX_LENGTH)
@example("1," * (MAX_LENGTH // 2))
@example("/" * MAX_LENGTH)
@example("1a" * (MAX_LENGTH // 2 - 1) + "!")
@settings(max_examples=200)
def test_the_parts_of_any_string_lie_within_it(string):
    found = parts_of_kind(string)
    if found is None:
        return
    kind, parts = found
    assert len(string) <= MAX_LENGTH
    assert kind in KINDS
    assert 0 < len(parts) <= MAX_PARTS + 1
    for part in parts:
        assert 0 <= part.start < part.end <= len(string)
        assert part.how in (WORD, NAME, NUMBER)
        assert part.text
        assert 0 < part.share <= 1
        assert part.how != NUMBER or DIGIT.search(part.text)
    assert DIGIT.search(plain_form(string)) or kind.parts == "words"


LOVED = random_love(
    [*KNOWN_WORDS, *map(str, range(1, 120)), "1st", "2nd", "3rd", "5mg", "1k", "10ft", "4th", "mg", "b2b", "k9"]
)


@given(st.lists(DIGITAL, min_size=1, max_size=6))
@settings(max_examples=60)
def test_nothing_of_a_kind_is_near_anything_but_itself(strings):
    """Nor is what has no letter. For other strings test_alignment.py has the rule."""
    lookup = LOVED.lookup(strings)
    for string, near, kind in zip(strings, lookup.near(), lookup.kinds, strict=True):
        if kind is not None or not any(map(str.isalpha, string)):
            assert near == [] or near[0][1] == 1.0
            assert near == [] or re.sub(r"\D", "", near[0][0]) == re.sub(r"\D", "", plain_form(string))


@pytest.mark.parametrize(
    ("string", "word"), [("bl00d", "blood"), ("fi1m", "film"), ("h0use", "house"), ("he1p", "help"), ("w0rld", "world")]
)
def test_letters_damaged_by_digits_stay_misspellings(shipped_love, string, word):
    assert shipped_love.near(string)[0][0] == word
    assert shipped_love.readings(string) == "near"
    assert shipped_love.lookup(string).kinds == [None]


@pytest.mark.parametrize(
    "string", ["500mg", "101st", "33rd", "100k", "11pm", "20th", "10ft", "3rd", "1990s", "555-1234"]
)
def test_the_numbers_of_the_issue_are_no_misspellings(shipped_love, string):
    lookup = shipped_love.lookup([string, string.upper(), f"({string})", f"{string},"])
    assert all(near in ([], [(string, 1.0)], [(string.lower(), 1.0)]) for near in lookup.near())
    assert "near" not in lookup.readings


def test_numbers_have_something_in_common_and_differ_as_their_digits_do(shipped_love):
    assert shipped_love.similar("500mg", "5mg") < 0.9
    assert (
        shipped_love.similar("8837", "8838")
        > shipped_love.similar("8837", "1204")
        > shipped_love.similar("8837", "owl")
    )
    assert shipped_love.similar("547mg", "812mg") > shipped_love.similar("547mg", "812pm")


@given(st.from_regex(r"\A[+]?[0-9]{1,9}\Z"))
def test_a_number_has_one_spelling(digits):
    assert number_form(digits) == str(int(digits))
    assert number_form(f"{int(digits):,}") == str(int(digits))
