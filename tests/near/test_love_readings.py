"""Readings of a string in LOVE: known words have their own row, near ones a mean of rows, new ones are imputed, and
what holds several words has the mean of theirs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, needs_core, random_love, toy_words
from tests.near.strings import NASTY, STRINGS, UNREADABLE, same_bits

from lovevec import LOVE, LovevecError
from lovevec.damage.misspell import misspell
from lovevec.near.kinds import NUMBER, WORD
from lovevec.near.parts import UNKNOWN, Composite
from lovevec.near.readings import MIN_PROBABILITY

LOVED = random_love()
TYPOS = [
    string
    for string in dict.fromkeys(misspell([word for word in KNOWN_WORDS if len(word) > 2], np.random.default_rng(4)))
    if LOVED.lookup(string).rows[0] == UNKNOWN
]
ROWS = LOVED.parts.rows.all()


def by_hand(love: LOVE, string: str) -> np.ndarray:
    """Σ p(word) · own row + p(new) · imputed + p(parts) · the mean of their rows by weight, at unit length, in float64;
    next to no probability does not count."""
    reading, weights = love._read([string]), love._texts.weights
    vector = reading.new[0] * love.engine.embed([string])[0].astype(np.float64)
    for row, chance in zip(reading.rows[0].tolist(), reading.probabilities[0].tolist(), strict=True):
        if chance >= MIN_PROBABILITY:
            vector += chance * ROWS[row].astype(np.float64)
    if reading.parts[0] >= MIN_PROBABILITY:
        parts = [row for row in reading.part_rows[0].tolist() if row >= 0]
        vector += reading.parts[0] * np.average(ROWS[parts].astype(np.float64), axis=0, weights=weights[parts])
    return vector / np.linalg.norm(vector)


def parts_by_hand(love: LOVE, composite: Composite) -> np.ndarray:
    """The mean of the parts of a string by weight · share, at unit length, each by itself."""
    total, encoder = np.zeros(love.dim), love._texts
    for part in composite.parts:
        (row,), unknown = love._look_up([part.text])
        weight = encoder.new_weight
        if row >= 0:
            vector, weight = ROWS[row], encoder.weights[row]
        elif part.how == WORD:
            vector, weight = by_hand(love, unknown[0]), encoder.reading_weights(love._read(unknown))[0]
        else:
            vector = (love._number_codes if part.how == NUMBER else love.impute)(unknown)[0]
        total += float(weight) * part.share * vector
    return total / np.linalg.norm(total)


def expected_vector(love: LOVE, string: str) -> np.ndarray:
    """Whatever the string is."""
    lookup = love.lookup(string)
    if lookup.composites:
        return parts_by_hand(love, lookup.composites[0])
    return by_hand(love, lookup.unknown[0]) if lookup.unknown else ROWS[lookup.rows[0]]


def test_known_words_have_their_own_row_bit_for_bit():
    assert np.array_equal(LOVED.embed(KNOWN_WORDS), ROWS)
    order = np.random.default_rng(0).permutation(len(KNOWN_WORDS))
    among_others = LOVED.embed(
        [string for place in order for string in (KNOWN_WORDS[place], TYPOS[place % len(TYPOS)])]
    )
    assert np.array_equal(among_others[::2], ROWS[order])
    for row in range(0, len(KNOWN_WORDS), 17):
        assert np.array_equal(LOVED[KNOWN_WORDS[row]], ROWS[row])


@pytest.mark.parametrize(
    ("string", "word"),
    [
        ("House", "house"),
        ("HOUSE", "house"),
        ("(house)", "house"),
        (" house", "house"),
        ("don’t", "don't"),
        ("ｈouse", "house"),
    ],
)
def test_forms_of_a_known_word_have_its_row(string, word):
    assert np.array_equal(LOVED[string], ROWS[KNOWN_WORDS.index(word)])
    assert string in LOVED
    assert LOVED.near(string) == [(word, 1.0)]
    assert LOVED.readings([string]) == ["known"]
    assert word not in [name for name, _ in LOVED.neighbors(string, 10)]


def test_an_unknown_word_has_the_mean_over_its_readings():
    found = LOVED.embed(TYPOS)
    for place in range(0, len(TYPOS), 6):
        np.testing.assert_allclose(found[place], by_hand(LOVED, TYPOS[place]), atol=1e-6)
    new = LOVED._read(TYPOS).new
    assert (new < 0.1).any()
    assert (new > 0.9).any()


@given(STRINGS)
@settings(max_examples=40)
def test_any_string_has_the_mean_over_its_readings_and_it_is_finite(string):
    vector = LOVED[string]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector.astype(np.float64)) == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(vector, expected_vector(LOVED, string), atol=1e-6)


SEVERAL = [
    *(
        "house-mouse",
        "the_goverment",
        "BreadButter",
        "bread15",
        "15bread",
        "500mg",
        "blorf500x",
        "house/bl00d",
        "House's",
    ),
    *("#housebread", "rock'n'house", "don't-recieve", "3-letter", "@the_house", "12:30pm", "2021-07-04", "a@house.com"),
    *(
        "東京タワー",
        "🙂house",
        "x9z8",
        "https://house.com/bread?id=77",
        "v1.2.3",
        "$5.50",
        "99.9%",
        "1/2",
        "½",
    ),
]


@pytest.mark.parametrize("string", SEVERAL)
def test_what_holds_several_words_has_the_mean_of_theirs(string):
    lookup = LOVED.lookup([string, f"({string})"] if any(map(str.isalpha, string)) else [string])
    assert lookup.composites or string in ("House's", "½")
    for place in lookup.composites:
        np.testing.assert_allclose(lookup.vectors[place], expected_vector(LOVED, string), atol=1e-6)
        assert all(chance < 0.5 for _, chance in lookup.near()[place])  # what it would be if it were one word
        assert lookup.readings[place] in ("parts", "new")


@needs_core
@given(st.lists(st.one_of(STRINGS, st.sampled_from([*SEVERAL, *TYPOS])), min_size=1, max_size=6))
@settings(max_examples=40)
def test_any_strings_have_the_same_readings_and_vectors_by_numpy(strings):
    one, other = LOVED.lookup(strings), BY_NUMPY.lookup(strings)
    assert one.rows.tolist() == other.rows.tolist()
    assert (one.unknown, one.composites, one.readings, one.kinds, one.parts, one.near(3)) == (
        *(other.unknown, other.composites, other.readings, other.kinds, other.parts, other.near(3)),
    )
    assert same_bits(one.probabilities, other.probabilities)
    np.testing.assert_allclose(one.vectors, other.vectors, atol=1e-6)


BY_NUMPY = LOVED.copy(engine="numpy")


@pytest.mark.parametrize("string", [*UNREADABLE, *NASTY], ids=lambda string: ascii(string)[:20])
def test_nasty_strings_alone(string):
    assert np.isfinite(LOVED[string]).all()
    assert all(0 <= chance <= 1 for _, chance in LOVED.near(string))
    assert LOVED.readings([string])[0] in ("known", "near", "parts", "new", "empty")


def test_what_cannot_be_read_is_imputed():
    """From its plain form: without what cannot be seen."""
    strings = [string for string, row in zip(UNREADABLE, LOVED.lookup(UNREADABLE).rows, strict=True) if row == UNKNOWN]
    plain = [string.replace("\u200d", "") for string in strings]
    assert len(strings) > 10
    np.testing.assert_allclose(LOVED.embed(strings), LOVED.impute(plain), atol=1e-6)


def test_a_words_vector_does_not_depend_on_its_company():
    strings = [*TYPOS[:30], *NASTY, *UNREADABLE, *KNOWN_WORDS[:10]]
    together = LOVED.embed(strings)
    assert np.array_equal(LOVED.embed(strings[::-1]), together[::-1])
    for place, string in enumerate(strings):
        np.testing.assert_allclose(LOVED[string], together[place], atol=1e-6)


def test_spelling_only_is_the_engine_alone():
    alone = random_love(spelling_only=True)
    strings = [*KNOWN_WORDS, *TYPOS, *NASTY]
    assert np.array_equal(alone.embed(strings), alone.engine.embed(strings))
    assert np.array_equal(alone.embed(strings), LOVED.impute(strings))
    assert alone.orthography is None
    assert LOVED.orthography is LOVED.parts.orthography
    again = pickle.loads(pickle.dumps(alone))
    assert again.spelling_only
    assert np.array_equal(again.embed(strings), alone.embed(strings))
    assert not pickle.loads(pickle.dumps(LOVED)).spelling_only
    assert "by spelling only" in repr(alone)
    assert "by spelling only" not in repr(LOVED)


def test_near_is_what_read_says():
    strings = [*TYPOS[:30], *KNOWN_WORDS[:10], *NASTY[:20]]
    for k in (1, 50):
        lists = LOVED.near(strings, k)
        assert len(lists) == len(strings)
        for string, near in zip(strings, lists, strict=True):
            assert near == LOVED.near(string, k)
            lookup = LOVED.lookup(string)
            if not lookup.unknown:
                assert near == ([] if lookup.composites else [(KNOWN_WORDS[lookup.rows[0]], 1.0)])
                continue
            reading = LOVED._read(lookup.unknown)
            listed = zip(reading.rows[0].tolist(), reading.probabilities[0].tolist(), strict=True)
            assert near == [(KNOWN_WORDS[row], chance) for row, chance in listed if row >= 0][:k]
            assert sum(chance for _, chance in near) <= 1 - reading.new[0] + 1e-9
    assert LOVED.near([]) == []
    assert LOVED.near(np.array(["recieve"])) == [LOVED.near("recieve")]
    assert LOVED.near("recieve")[0][0] == "receive"
    assert [LOVED.near(string) for string in ("", " ", "42nd 🙂 7", "🙃", "43", "house-bread")] == [[]] * 6


def test_near_refuses_what_is_no_word():
    for wrong in ([1], ["a", None], {"a", "b"}, 7):
        with pytest.raises(LovevecError):
            LOVED.near(wrong)
        with pytest.raises(LovevecError):
            LOVED.readings(wrong)
    for k in (0, -1, 1.5, "1", None):
        with pytest.raises(LovevecError, match="whole number"):
            LOVED.near("recieve", k)


def test_readings_say_what_a_string_is_most_probably():
    strings = [*TYPOS[:60], *KNOWN_WORDS[:20], *toy_words(30, seed=9), *NASTY, "thehouse", "", " ", "\t\n", "\u3000"]
    for string, reading in zip(strings, LOVED.readings(strings), strict=True):
        lookup = LOVED.lookup(string)
        if not string.strip():
            assert reading == "empty"
        elif lookup.composites:
            (composite,) = lookup.composites.values()
            assert reading == ("new" if [part.how for part in composite.parts] in (["number"], ["name"]) else "parts")
        elif not lookup.unknown:
            assert reading == "known"
        else:
            found = LOVED._read(lookup.unknown)
            names = (found.new[0], "new"), (found.probabilities.sum(), "near"), (found.parts[0], "parts")
            assert reading == max(names, key=lambda one: one[0])[1]
    assert {"known", "near", "parts", "new", "empty"} == set(LOVED.readings(strings))
    assert LOVED.readings([]) == []


def test_of_two_cases_of_a_word_each_leaves_out_itself_among_its_neighbors():
    love = random_love(["Apple", "apple", "pear", "house"], lowercase=False)
    assert [name for name, _ in love.neighbors("Apple", 9)] == sorted(
        ["apple", "pear", "house"], key=lambda word: -love.similar("Apple", word)
    )


@pytest.mark.parametrize("precision", ["float16", "int8", "int4"])
def test_however_the_rows_are_stored(precision):
    love = random_love(precision=precision)
    assert np.array_equal(love.embed(KNOWN_WORDS), love.parts.rows.all())
    assert love.near(TYPOS[:20]) == LOVED.near(TYPOS[:20])


@pytest.mark.parametrize(("precision", "dim"), [("int4", 24), ("int4", 25), ("int8", 24), ("float16", 24)])
def test_with_many_strings_the_mean_has_the_same_bits_as_with_few(precision, dim):
    """Many are added up by compiled code where rows are int4."""
    love = LOVE(random_love(precision=precision, dim=dim).parts)
    strings = list(dict.fromkeys([*TYPOS, *(f"{a}{b}" for a in TYPOS[:60] for b in TYPOS[60:100])]))
    assert len(strings) > 2000
    many = love.embed(strings)
    assert np.array_equal(
        np.concatenate([love.embed(strings[low : low + 500]) for low in range(0, 2000, 500)]), many[:2000]
    )


@needs_core
@pytest.mark.parametrize("precision", ["float16", "int8", "int4"])
def test_the_compiled_core_gives_the_same(precision):
    love = LOVE(random_love(precision=precision).parts, engine="numpy")
    strings = list(dict.fromkeys([*TYPOS, *(f"{a}{b}" for a in TYPOS[:60] for b in TYPOS[60:100])]))
    assert len(strings) > 2000
    compiled = LOVE(love.parts, engine="compiled")
    assert compiled.near(strings) == love.near(strings)
    np.testing.assert_allclose(compiled.embed(strings), love.embed(strings), atol=1e-6)
    assert np.array_equal(compiled.embed(love.words), love.embed(love.words))


# The shipped default.

MEANT = {
    "oxgen": "oxygen",
    "archiitect": "architect",
    "recieve": "receive",
    "tommorow": "tomorrow",
    "wierd": "weird",
    "bl00d": "blood",
    "restaraunt": "restaurant",
    "goverment": "government",
    "tlie": "the",
    "rnodern": "modern",
}


@pytest.mark.parametrize(("string", "word"), MEANT.items())
def test_the_showcase_words_come_first(shipped_love, string, word):
    near = shipped_love.near(string)
    assert near[0][0] == word
    assert near[0][1] > 0.5
    assert shipped_love.readings([string]) == ["near"]
    assert word in dict(shipped_love.neighbors(string, 3))
    assert string not in shipped_love


def test_known_words_are_related_by_meaning(shipped_love):
    assert shipped_love.similar("cat", "dog") > shipped_love.similar("cat", "car") + 0.1
    assert shipped_love.similar("apple", "pear") > shipped_love.similar("apple", "apply") + 0.1


@pytest.mark.parametrize(
    ("string", "word"),
    [("ﬁlm", "film"), ("don’t", "don't"), ("(dog)", "dog"), (" dog", "dog"), ("Dog", "dog"), ("dog!", "dog")],
)
def test_forms_are_known(shipped_love, string, word):
    assert string in shipped_love
    assert np.array_equal(shipped_love[string], shipped_love[word])
    assert shipped_love.readings([string]) == ["known"]


def test_known_words_are_known_to_the_bit(shipped_love):
    places = np.arange(0, len(shipped_love.words), 997)
    words = [shipped_love.words[place] for place in places]
    assert np.array_equal(shipped_love.embed(words), shipped_love.parts.rows[places])
    assert len(shipped_love.parts.rows) == len(shipped_love.words)
    np.testing.assert_allclose(np.linalg.norm(shipped_love.parts.rows[places], axis=1), 1, atol=1e-6)


NONSENSE = ["qqqqq", "zzzzzzz", "xqzjv", "asdfgh", "wrtzpl", "jjkkww", "xxyyzz", "vbnmcx"]


def test_confidence_is_a_probability_and_low_for_nonsense(shipped_love):
    strings = [*MEANT, *NONSENSE, *NASTY, *UNREADABLE, "dog", "blorfing", "unfriended"]
    sure = dict(zip(strings, shipped_love.confidence(strings).tolist(), strict=True))
    assert all(0 <= chance <= 1 for chance in sure.values())
    assert max(sure[string] for string in NONSENSE) < min(sure[string] for string in MEANT)
    assert sure[""] == sure[" "] == 0
    assert sure["dog"] > 0.9
    assert sure["dog"] >= sure["goverment"] > sure["xqzjv"]


def test_confidence_does_not_depend_on_the_company(shipped_love):
    strings = [*MEANT, *NONSENSE, "", "dog"]
    together = shipped_love.confidence(strings)
    for string, chance in zip(strings, together, strict=True):
        assert shipped_love.confidence([string])[0] == pytest.approx(chance, abs=1e-9)


@given(st.text(max_size=20))
@settings(max_examples=20)
def test_any_text_by_the_shipped_model(shipped_love, string):
    assert np.isfinite(shipped_love[string]).all()
    near = shipped_love.near(string)
    assert sum(chance for _, chance in near) <= 1 + 1e-9
    assert all(word in shipped_love for word, _ in near)
