"""How strings of other languages are read: marks left out, Turkish capitals, other layouts, compounds, elisions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lovevec.damage.edits import damage
from lovevec.damage.languages import ENGLISH, language_of
from lovevec.damage.misspell import misspell
from lovevec.near.channel import DEFAULT, Channel
from lovevec.near.forms import known_form, look_up
from lovevec.near.joined import LINKS
from lovevec.near.lexicon import Lexicon
from lovevec.near.orthography import Orthography
from lovevec.near.parts import elision_of, take_apart
from lovevec.near.reader import WITHOUT_MARKS, Reader

WORDS = {
    code: text.split()
    for code, text in {
        "fr": "le de être électricité électrique garçon garde gardé gardée école élève forêt hôpital ouvrir sœur",
        "de": "und straße über schön mädchen arbeit zimmer größe stunde öffnen fluss nacht frau sonne schein",
        "tr": "bir ılık ilik ışık çiçek güneş öğretmen ağaç istanbul şeker küçük",
        "ru": "и привет чёрный ещё люблю съезд подъезд объём йогурт этаж карова корова сои",
        "pl": "się łódź zażółć gęślą jaźń święto książka córka żaba morze może",
    }.items()
}
CODES = sorted(WORDS)


def reader_of(code: str, compiled: bool | None = False, channel: Channel = DEFAULT) -> Reader:
    return Reader(WORDS[code], Orthography(channel, language=language_of(code)), compiled=compiled)


def best(reader: Reader, string: str) -> tuple[str, float]:
    readings = reader([string])
    return reader.words[readings.rows[0, 0]], float(readings.probabilities[0, 0])


@pytest.mark.parametrize(
    ("code", "string", "word"),
    [
        *(("fr", "electricite", "électricité"), ("fr", "ELECTRICITE", "électricité"), ("fr", "soeur", "sœur")),
        *(("de", "strasse", "straße"), ("de", "uber", "über"), ("de", "ueber", "über"), ("de", "groesse", "größe")),
        *(("tr", "isik", "ışık"), ("ru", "черный", "чёрный"), ("pl", "lodz", "łódź"), ("pl", "zazolc", "zażółć")),
    ],
)
def test_a_word_without_its_marks_is_that_word(code, string, word):
    found, chance = best(reader_of(code), string)
    assert found == word
    assert chance == pytest.approx(WITHOUT_MARKS)


@pytest.mark.parametrize(("string", "word"), [("нравяться", "нравятся"), ("чорный", "черный")])
def test_russian_as_it_is_heard(string, word):
    words = ["нравится", "нравиться", "черный", "чёрный", "нравятся"]
    assert best(Reader(words, Orthography(language=language_of("ru")), compiled=False), string)[0] == word


def test_of_words_that_are_alike_without_marks_the_more_frequent_one_is_likelier():
    reader = Reader(["élevé", "élève"], Orthography(language=language_of("fr")), compiled=False)
    readings = reader(["eleve"])
    assert readings.rows[0, :2].tolist() == [0, 1]
    assert readings.probabilities[0, 0] > readings.probabilities[0, 1] > 0.1
    assert readings.probabilities[0].sum() + readings.new[0] == pytest.approx(1)


def test_what_is_known_or_exists_is_no_word_without_marks():
    reader = Reader(["gardé", "garde"], Orthography(language=language_of("fr")), compiled=False)
    assert "garde" not in reader.listed
    exists = Lexicon.of(["forêt", "foret"])
    assert "foret" not in Reader(["forêt"], Orthography(lexicon=exists, language=language_of("fr"))).listed
    assert "foret" in Reader(["forêt"], Orthography(language=language_of("fr"))).listed
    assert Reader(["café"], Orthography()).listed == {}


def test_marks_left_out_cost_less_than_marks_put_in():
    reader = reader_of("fr")
    assert best(reader, "elecrtricite")[0] == "électricité"  # with a slip beside
    costs = reader.slips.substitution
    number = reader.symbols.number
    assert 0 < costs[number["é"], number["e"]] < costs[number["e"], number["é"]]
    assert reader.slips.free == costs[number["é"], number["e"]]


@pytest.mark.parametrize("code", CODES)
@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_both_engines_read_the_same_to_the_bit(code, seed):
    rng, own = np.random.default_rng(seed), language_of(code).with_words(WORDS[code])
    strings = [*misspell(WORDS[code] * 3, rng, own), *damage(WORDS[code], rng, ["plain", "keyboard", "scan"], own)]
    strings += [one + two for one, two in zip(WORDS[code], WORDS[code][3:], strict=False)]
    costs = {
        kind: float(cost) for kind, cost in zip(DEFAULT.costs, rng.uniform(0.1, 4, len(DEFAULT.costs)), strict=True)
    }
    channel = replace(DEFAULT, costs=costs)
    one, other = (reader_of(code, compiled, channel)(strings) for compiled in (False, None))
    for left, right in zip(one, other, strict=True):
        assert left.tobytes() == right.tobytes()


@pytest.mark.parametrize("word", ["ILIK", "Ilık", "ıLIK"])
def test_the_turkish_capital_of_dotless_i(word):
    known = {"ılık": 0, "ilik": 1, "istanbul": 2}
    turkish = language_of("tr")
    assert known_form(word, known.get, turkish)[0] == 0
    assert look_up([word, "İLİK", "İstanbul", "ilik"], known, language=turkish)[0].tolist() == [0, 1, 2, 1]
    assert look_up(["ILIK"], known)[0].tolist() == [1]


def test_a_word_that_is_known_as_it_stands_keeps_its_capital():
    assert look_up(["IBM"], {"IBM": 0, "ıbm": 1}, language=language_of("tr"))[0].tolist() == [0]


def test_words_typed_on_the_english_layout():
    known = {"привет": 0, "люблю": 1, "ну": 2}
    russian = language_of("ru")
    rows, unknown = look_up(["ghbdtn", "Ghbdtn", "k.,k.", "ye", "hello", "привет"], known, language=russian)
    assert rows.tolist() == [0, 0, 1, -1, -1, 0]
    assert unknown == ["ye", "hello"]
    assert known_form("ghbdtn", known.get, russian)[0] == 0
    assert known_form("ghbdtn", known.get)[0] == -1


def test_a_letter_that_only_looks_marked_is_no_other():
    assert look_up(["сой"], {"сои": 0})[0].tolist() == [-1]
    assert look_up(["Nguyễn"], {"nguyen": 0})[0].tolist() == [0]


@pytest.mark.parametrize(
    ("code", "string", "word"),
    [
        *(("fr", "j'ai", "ai"), ("fr", "d’eau", "eau"), ("fr", "lorsqu'il", "il"), ("it", "dell'arte", "arte")),
        *(("it", "un'altra", "altra"), ("ca", "l'home", "home")),
    ],
)
def test_what_is_elided_before_a_word_is_left_out(code, string, word):
    composite = take_apart(string, lambda _: False, elision_of(code))
    assert composite is not None
    assert [part.text for part in composite.parts] == [word]


def test_english_elides_as_before():
    assert elision_of("en") is elision_of("de") is elision_of(ENGLISH.code)
    assert take_apart("d'angelo", lambda _: False) != take_apart("d'angelo", lambda _: False, elision_of("fr"))


@pytest.mark.parametrize(
    ("string", "words"), [("arbeitszimmer", ["arbeit", "zimmer"]), ("sonnenschein", ["sonne", "schein"])]
)
def test_compounds_have_letters_between_their_words(string, words):
    reader = reader_of("de")
    readings = reader([string])
    assert [reader.words[row] for row in readings.part_rows[0] if row >= 0] == words
    assert readings.part_ends[0, :2].tolist() == [len(words[0]) + 1, len(string)]
    english = Reader(WORDS["de"], Orthography(), compiled=False)([string])
    assert readings.parts[0] > english.parts[0]
    assert "de" in LINKS
