"""Characters as numbers, and what a slip between two of them is called."""

from __future__ import annotations

import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS

from lovevec.damage.confusions import table_of
from lovevec.damage.marks import UNDECOMPOSED
from lovevec.near.symbols import KINDS, LIKE_DIGITS, MAX_SYMBOLS, PLAIN, SOUNDS_LIKE, VOWELS, Symbols, base

SYMBOLS = Symbols.of(["hôpital", "École", "naïve", "дом", "ﬁ"])


def kind(word: str, string: str, symbols: Symbols = SYMBOLS) -> str:
    one, other = symbols.encode([word, string]).values.tolist()
    return KINDS[symbols.substitution[one, other]]


@pytest.mark.parametrize(
    ("word", "string", "name"),
    [
        *(("c", "k", "sound"), ("k", "s", "sound"), ("s", "z", "sound"), ("d", "t", "sound"), ("f", "v", "sound")),
        *(("i", "a", "vowel"), ("a", "e", "vowel"), ("y", "i", "vowel")),  # definate
        *(("e", "r", "key"), ("q", "w", "key"), ("1", "2", "key")),  # mistypr
        *(("o", "0", "print"), ("l", "1", "print"), ("s", "5", "print"), ("e", "c", "print")),  # bl00d
        *(("0", "o", "print"), ("5", "s", "print"), ("e", "3", "print"), ("a", "4", "print"), ("t", "7", "print")),
        *(("ô", "o", "bare"), ("o", "ô", "case"), ("É", "e", "case"), ("ï", "i", "bare"), ("É", "É", "case")),
        *(("a", "7", "other"), ("q", "j", "other"), ("д", "м", "other"), ("a", "д", "other"), ("-", "a", "other")),
    ],
)
def test_kinds_of_letters(word, string, name):
    assert kind(word, string) == name


def test_kinds_are_those_of_the_tables_in_their_order():
    """Later names win: key, print, sound, vowel, digits for letters as print (by scanners, then on purpose), accents
    and case."""
    groups = ("bp", "dt", "fv", "gj", "gk", "ckqsxz", "mn", "vw", "lr")
    for one in PLAIN:
        for other in PLAIN:
            found = "key" if other in table_of("keyboard").get(one, "") else "other"
            alike = any(other in table_of(table).get(one, "") for table in ("scan", "ocr"))
            found = "print" if alike else found
            found = "sound" if any(one in group and other in group for group in groups) else found
            found = "vowel" if one in "aeiouy" and other in "aeiouy" else found
            found = "print" if alike and (one.isdigit() or other.isdigit()) else found
            found = "print" if one in LIKE_DIGITS.get(other, "") else found
            assert kind(one, other) == ("case" if one == other else found), (one, other)


def test_what_has_no_symbol_is_like_none_not_even_itself():
    assert SYMBOLS.encode(["☃", "\0", "\ud800", "王🙂"]).values.tolist() == [0, 0, 0, 0, 0]
    for character in ("a", "é", "0", "☂", "☃"):
        assert kind("☃", character) == kind(character, "☃") == "other"
    one, two, _ = SYMBOLS.spellings
    assert one[0] == 0
    assert not two[0].any()
    assert not two[:, 0].any()


@given(st.lists(st.text(max_size=8), max_size=8))
def test_the_plain_letters_come_first_then_the_most_frequent(words):
    symbols = Symbols.of(words)
    count = Counter("".join(words))
    others = sorted(count.keys() - set(PLAIN), key=lambda character: (-count[character], character))
    assert list(symbols.characters) == [*PLAIN, *others][:MAX_SYMBOLS]
    assert symbols.number == {character: place for place, character in enumerate(symbols.characters, 1)}
    rows = symbols.encode(words)
    assert [rows.row(place).tolist() for place in range(len(words))] == [
        [symbols.number.get(character, 0) for character in word] for word in words
    ]


def test_of_more_characters_than_there_are_numbers_the_rarest_have_none():
    words = [chr(0x4E00 + place) * (400 - place) for place in range(400)]
    symbols = Symbols.of(words)
    assert len(symbols.characters) == MAX_SYMBOLS == max(symbols.number.values())
    numbers = [int(row) for row in symbols.encode([word[0] for word in words]).values]
    kept = MAX_SYMBOLS - len(PLAIN)
    assert all(numbers[:kept])
    assert not any(numbers[kept:])


@pytest.mark.parametrize(
    ("character", "letter"),
    [("É", "e"), ("ô", "o"), ("Z", "z"), ("7", "7"), ("ﬁ", "f"), ("İ", "i"), ("д", "д"), ("Ω", "ω")],
)
def test_the_plain_letter(character, letter):
    assert base(character) == letter


@given(st.lists(st.characters(), max_size=12))
@settings(max_examples=40)
def test_tables_by_symbol_against_plain_loops(characters):
    symbols = Symbols.of(characters)
    number = symbols.number
    assert symbols.folded[0] == symbols.sound[0] == symbols.marks("aeiou")[0] == 0
    for character, own in number.items():
        plain = unicodedata.normalize("NFKD", character)[0]
        plain = UNDECOMPOSED.get(plain, plain)[0].lower()[:1]
        assert symbols.folded[own] == number.get(plain, own)
        sound = "й" if character in "йЙ" else plain
        heard = "a" if sound in VOWELS else SOUNDS_LIKE.get(sound, sound)
        assert symbols.sound[own] == (number.get(heard, own) if heard else 0)
        assert symbols.marks("aeiou")[own] == (plain in "aeiou")


def test_spellings_have_a_number_each_and_a_kind_both_ways_where_printed_alike():
    one, two, kinds = Symbols.of(KNOWN_WORDS).spellings
    number = Symbols.of(KNOWN_WORDS).number

    def spelling(text: str) -> int:
        return int(one[number[text]] if len(text) == 1 else two[number[text[0]], number[text[1]]])

    def name(written_for: str, written: str) -> str | None:
        found = kinds[spelling(written_for), spelling(written)]
        return KINDS[found] if found >= 0 else None

    assert name("m", "rn") == name("rn", "m") == "misprint"
    assert name("h", "li") == name("li", "h") == "misprint"  # tlie
    assert name("ph", "f") == name("f", "ph") == "respelled"  # fotograf
    assert name("ck", "k") == "respelled"
    assert name("m", "li") is None
    assert (kinds[0] == -1).all()
    assert (kinds[:, 0] == -1).all()
    used = np.concatenate([one[one > 0], two[two > 0]])
    assert sorted(used.tolist()) == list(range(1, len(kinds)))
