"""Damage of a language stays in its alphabet and on its keyboard; languages are told by their words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lovevec.damage.edits import EDITS, damage
from lovevec.damage.keyboards import layout_names, neighbors, typed_on_other
from lovevec.damage.languages import ENGLISH, OTHER_CODE, Language, _known, guess, language_codes, language_of
from lovevec.damage.marks import plain_letter, without_marks
from lovevec.damage.misspell import misspell
from lovevec.damage.noise import Noise, damaged
from lovevec.damage.sounds import sounds_of
from lovevec.errors import LovevecError

# A few words of some languages, with all that is special to their letters.
WORDS = {
    "fr": ["électricité", "garçon", "où", "sœur", "naïf", "être", "forêt", "hôpital", "dès", "maïs", "cœur", "aiguë"],
    "de": ["straße", "fußball", "über", "schön", "mädchen", "größe", "übung", "öffnen", "ärger", "grüße"],
    "pl": ["łódź", "zażółć", "gęślą", "jaźń", "święto", "książka", "córka", "się", "żaba"],
    "tr": ["ılık", "ışık", "çiçek", "güneş", "öğretmen", "ağaç", "istanbul", "şeker", "küçük"],
    "ru": ["привет", "чёрный", "ещё", "люблю", "съезд", "подъезд", "объём", "йогурт", "мышь", "этаж"],
    "el": ["καλημέρα", "ελλάδα", "άνθρωπος", "ψωμί", "θάλασσα", "ξένος"],
    "da": ["rødgrød", "med", "fløde", "på", "øl", "æble", "år", "blåbær"],
    "uk": ["їжак", "ґанок", "єдність", "привіт", "пʼять", "місяць"],
}
CODES = sorted(WORDS)
SEEDS = st.integers(0, 50)


def language(code: str) -> Language:
    return language_of(code).with_words(WORDS[code])


@pytest.mark.parametrize("layout", layout_names())
def test_keys_are_mutual_neighbors_and_none_is_its_own(layout):
    near = neighbors(layout)
    for key, others in near.items():
        assert key not in others
        assert len(set(others)) == len(others)
        assert all(key in near[other] for other in others)


def test_english_keys_are_those_of_the_computed_layout():
    """data/keyboard.json is older than the layouts, and decides what English training draws: the same in another
    order."""
    computed = neighbors("us")
    assert {key: set(others) for key, others in ENGLISH.neighbors.items()} == {
        key: set(others) for key, others in computed.items() if key in ENGLISH.neighbors
    }


@pytest.mark.parametrize(
    ("code", "key", "near"), [("de", "z", "t"), ("fr", "a", "z"), ("ru", "п", "р"), ("tr", "ı", "o"), ("es", "ñ", "l")]
)
def test_keyboards_are_those_of_the_language(code, key, near):
    assert near in language_of(code).neighbors[key]


@pytest.mark.parametrize("code", ["ru", "uk", "el", "bg", "mk", "he"])
@given(data=st.data())
@settings(max_examples=20)
def test_what_is_typed_on_the_other_layout_twice_is_itself(code, data):
    layout = language_of(code).keyboard
    letters = sorted({one for one in neighbors(layout) if one.isalpha() and typed_on_other(one, layout) != one})
    word = data.draw(st.text(letters, min_size=1, max_size=12))
    assert typed_on_other(typed_on_other(word, layout), layout) == word
    assert typed_on_other(word, layout).isascii()


def test_layouts_of_the_same_script_change_nothing():
    assert language_of("de").on_other_layout("zwei") == "zwei"
    assert language_of("ru").on_other_layout("ghbdtn") == "привет"
    assert language_of("ru").on_other_layout("привет") == "ghbdtn"
    assert language_of("ru").on_other_layout("люблю") == "k.,k."


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        *(("électricité", "electricite"), ("straße", "strasse"), ("łódź", "lodz"), ("ılık", "ilik"), ("œuf", "oeuf")),
        *(("чёрный", "черный"), ("Nguyễn", "Nguyen"), ("mañana", "manana"), ("smørrebrød", "smorrebrod")),
        *(("ΑΘΉΝΑ", "ΑΘΗΝΑ"), ("йод", "йод"), ("한국어", "한국어"), ("हिन्दी", "हिन्दी"), ("e\u0301te\u0301", "ete")),
    ],
)
def test_marks_are_left_out(word, plain):
    assert without_marks(word) == plain


@given(st.text(max_size=20))
def test_a_word_without_marks_has_none_to_leave_out(word):
    plain = without_marks(word)
    assert without_marks(plain) == plain


@pytest.mark.parametrize(
    ("code", "word", "full"), [("de", "füße", "fuesse"), ("da", "rød", "roed"), ("fr", "été", "ete")]
)
def test_letters_are_written_in_full_where_a_language_has_a_rule(code, word, full):
    assert language_of(code).plain(word, full=True) == full


@pytest.mark.parametrize("code", CODES)
def test_edits_put_in_letters_of_the_language_alone(code):
    own = language(code)
    letters = set(own.letters)
    assert letters <= set("".join(WORDS[code]))
    kinds = ("swap", "drop", "insert", "keyboard")
    for seed in range(20):
        for new in damage(WORDS[code], np.random.default_rng(seed), kinds, own):
            assert set(new) <= letters | set("".join(WORDS[code]))


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("kind", ["insert", "keyboard", "plain", "sound", "scan"])
def test_texts_are_damaged_in_the_language(code, kind):
    own = language(code)
    found = damaged([WORDS[code] * 20], Noise(kind, 1.0), 1, own)[0]
    assert len(found) == len(WORDS[code]) * 20
    if kind == "plain":
        pairs = zip(found, WORDS[code] * 20, strict=True)
        assert all(word in (without_marks(old), own.plain(old, full=True)) for word, old in pairs)
    if kind in ("insert", "keyboard"):
        assert set("".join(found)) <= set(own.letters)
        assert found != WORDS[code] * 20


@pytest.mark.parametrize("code", CODES)
@given(seed=SEEDS)
@settings(max_examples=5)
def test_misspellings_of_a_language_are_by_the_seed(code, seed):
    own = language(code)
    found = misspell(WORDS[code] * 5, np.random.default_rng(seed), own)
    assert found == misspell(WORDS[code] * 5, np.random.default_rng(seed), own)
    assert all(found)
    assert found != WORDS[code] * 5


def test_letters_come_by_their_frequency():
    own = language_of("ru").with_words(["ооооооооо", "я"])
    assert own.letters.count("о") > 5 * own.letters.count("я") > 0
    assert language_of("en").with_words(["ооо"]).letters == ENGLISH.letters


def test_doubled_letters_are_those_of_the_words():
    own = language_of("it").with_words(["bello", "gatto", "casa"])
    assert own.doubled == "lt"
    one = damage(["gato"] * 300, np.random.default_rng(0), ["sound"], own)
    assert "gatto" in one


@pytest.mark.parametrize("code", [code for code in language_codes() if sounds_of(code)])
def test_no_spelling_stands_for_itself(code):
    for spelling, others in sounds_of(code).items():
        assert spelling
        assert spelling not in others
        assert len(set(others)) == len(others) > 0


@pytest.mark.parametrize(
    ("code", "word", "wrong"),
    [
        *(("fr", "photo", "foto"), ("de", "vater", "fater"), ("es", "vaca", "baca"), ("it", "scuola", "squola")),
        *(("pt", "caça", "cassa"), ("nl", "trein", "trijn"), ("pl", "morze", "może"), ("ru", "корова", "карова")),
    ],
)
def test_what_sounds_alike_is_within_reach(code, word, wrong):
    found = damage([word] * 2000, np.random.default_rng(0), ["sound"], language_of(code))
    assert wrong in found


@pytest.mark.parametrize("code", CODES)
def test_a_language_is_told_by_its_words(code):
    words = _known()[code]["words"].split() + WORDS[code]
    assert guess(words).code == code
    assert guess(words[::-1]).code == code


def test_what_nobody_can_tell_is_another_language_or_passes_for_english():
    assert guess(["qwxz", "zzzq"] * 50).code == "en"
    assert guess(["ԱԲԳ", "դեզ"] * 50).code == OTHER_CODE


@pytest.mark.parametrize(
    ("raw", "code"), [("de", "de"), ("pt-BR", "pt"), ("no", "nb"), ("HR", "sh"), ("other", "other")]
)
def test_codes(raw, code):
    assert language_of(raw).code == code


def test_an_unknown_language_is_one_error_that_lists_all():
    with pytest.raises(LovevecError, match=r"language 'klingon' is not known: there are ar, bg.* other"):
        language_of("klingon")


@pytest.mark.parametrize("code", language_codes())
def test_a_language_is_read_back(code):
    own = language_of(code)
    again = Language.from_dict(own.as_dict())
    assert (again.code, again.name, again.keyboard, again.alike) == (own.code, own.name, own.keyboard, ())


def test_letters_that_were_learned_to_be_alike_are_kept():
    own = Language(OTHER_CODE, "another language", "us", alike=("ao", "st"))
    assert Language.from_dict(own.as_dict()).alike == ("ao", "st")
    assert own.sounds == {"a": ["o"], "o": ["a"], "s": ["t"], "t": ["s"]}


@pytest.mark.parametrize(
    "raw", [None, [], {}, {"code": "xx"}, {"code": 3}, {"code": "de", "x": 1}, {"code": "de", "alike": ["abc"]}]
)
def test_what_is_no_language_is_refused(raw):
    with pytest.raises(LovevecError, match="`language` is not what lovevec writes there"):
        Language.from_dict(raw)


def test_kinds_of_words_are_no_edits():
    assert not {"plain", "layout"} & set(EDITS)
    assert plain_letter("ß") == "ss"
    assert damage(["привет"], np.random.default_rng(0), ["layout"], language_of("ru")) == ["ghbdtn"]


@pytest.mark.parametrize(
    ("code", "word", "latin"),
    [("ru", "привет", "privet"), ("ru", "чёрный", "chyornyy"), ("el", "ουρανός", "ouranos"), ("uk", "гриб", "hryb")],
)
def test_words_are_typed_in_latin_letters(code, word, latin):
    assert damage([word], np.random.default_rng(0), ["latin"], language_of(code)) == [latin]
    assert damage([latin], np.random.default_rng(0), ["latin"], language_of(code)) == [latin]
    assert damage(["größe"], np.random.default_rng(0), ["latin"], language_of("de")) == ["größe"]
