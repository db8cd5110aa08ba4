"""The same readings behind somebody's own vectors: their words, their rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.factories import KNOWN_WORDS, needs_core, random_love
from tests.near.strings import NASTY, UNREADABLE

from lovevec import LOVE
from lovevec.damage.misspell import misspell
from lovevec.near.parts import UNKNOWN
from lovevec.near.readings import MIN_PROBABILITY

LOVED = random_love()
IN_TABLE = KNOWN_WORDS[: len(KNOWN_WORDS) // 2]
MODEL_ONLY = [word for word in KNOWN_WORDS[len(KNOWN_WORDS) // 2 :] if len(word) > 3 and word.isalpha()]
LENGTHS = np.random.default_rng(1).uniform(1, 5, (len(IN_TABLE), 1)).astype(np.float32)
VECTORS = LOVED.impute(IN_TABLE) * LENGTHS
TYPOS = [
    string
    for string in misspell([word for word in IN_TABLE if len(word) > 3], np.random.default_rng(4))
    if LOVED.lookup(string).rows[0] == UNKNOWN
]


@pytest.fixture(scope="module")
def robust():
    return LOVED.attach((IN_TABLE, VECTORS), space="direct")


@pytest.fixture(scope="module")
def spelled():
    """Without a look at what is near."""
    return LOVED.attach((IN_TABLE, VECTORS), space="direct", near=False)


def test_words_of_the_table_keep_their_row(robust):
    assert np.array_equal(robust.embed(IN_TABLE), VECTORS)
    assert np.array_equal(robust["(House)"], VECTORS[IN_TABLE.index("house")])
    assert robust.near(IN_TABLE[:30]) == [[(word, 1.0)] for word in IN_TABLE[:30]]


def by_hand(robust, spelled, string: str) -> tuple[np.ndarray, float]:
    """Σ p(word) · the table's row + p(new) · imputed + p(parts) · the mean of their rows, in float64; and the same mean
    of their lengths."""
    near, table = robust.near(string, 10), dict(zip(robust.words, robust.vectors.astype(np.float64), strict=True))
    reading, weights = robust.lookup(string).probabilities, robust._texts.weights
    imputed, rows = spelled[string].astype(np.float64), [row for row in reading.part_rows[0].tolist() if row >= 0]
    vector = reading.new[0] * imputed + sum(chance * table[word] for word, chance in near if chance >= MIN_PROBABILITY)
    length = reading.new[0] * np.linalg.norm(imputed)
    length += sum(chance * np.linalg.norm(table[word]) for word, chance in near)
    if rows:
        own = robust.vectors[rows].astype(np.float64)
        length += reading.parts[0] * np.linalg.norm(own, axis=1).mean()
        if reading.parts[0] >= MIN_PROBABILITY:
            vector += reading.parts[0] * np.average(own, axis=0, weights=weights[rows])
    return vector, length


def test_an_unknown_word_has_the_mean_over_the_tables_rows(robust, spelled):
    """A model that does not know how sure it is leaves it the mean of their lengths too."""
    for string in TYPOS[::8]:
        expected, length = by_hand(robust, spelled, string)
        found = robust[string].astype(np.float64)
        np.testing.assert_allclose(found / np.linalg.norm(found), expected / np.linalg.norm(expected), atol=1e-6)
        assert np.linalg.norm(found) == pytest.approx(length, rel=1e-5)


def test_where_the_model_knows_how_sure_it_is_the_mean_is_the_vector(shipped_love):
    words = list(shipped_love.words[:2000])
    table = (words, 3 * shipped_love.embed(words))
    robust, spelled = shipped_love.attach(table), shipped_love.attach(table, near=False)
    for string in ("recieve", "goverment", "wierd", "blorfing", "peopel"):
        np.testing.assert_allclose(robust[string], by_hand(robust, spelled, string)[0], atol=3e-6)


def test_only_words_of_the_table_are_near(robust):
    assert {word for near in robust.near(TYPOS) for word, _ in near} <= set(IN_TABLE)
    assert robust.near("recieve")[0][0] == "receive"
    assert robust.near(["recieve", "house"], 1) == [robust.near("recieve", 1), [("house", 1.0)]]


def test_what_the_model_knows_is_no_misspelling(robust, spelled):
    """Nothing of it is repaired to a word of the table, however alike."""
    assert len(MODEL_ONLY) > 50
    assert robust.near(MODEL_ONLY) == [[]] * len(MODEL_ONLY)
    np.testing.assert_allclose(robust.embed(MODEL_ONLY), spelled.embed(MODEL_ONLY), atol=1e-6)
    # the very same strings would be repaired if the model did not know them
    rest = random_love([word for word in KNOWN_WORDS if word not in MODEL_ONLY])
    bare = rest.attach((IN_TABLE, VECTORS), space="direct")
    assert any(bare.near(MODEL_ONLY))


def test_forms_of_what_the_model_knows_are_no_misspellings_either(robust):
    word = MODEL_ONLY[0]
    for string in (word.upper(), word.title(), f"({word})", f" {word}"):
        assert robust.near(string) == []


def test_without_near_it_is_what_spelling_alone_gives(spelled):
    alone = random_love(spelling_only=True).attach((IN_TABLE, VECTORS), space="direct")
    strings = [*TYPOS, *IN_TABLE, *MODEL_ONLY, *NASTY, *UNREADABLE]
    assert np.array_equal(spelled.embed(strings), alone.embed(strings))
    assert spelled.near(TYPOS) == alone.near(TYPOS) == [[]] * len(TYPOS)
    made = spelled.embed(TYPOS)
    directions = made / np.linalg.norm(made, axis=1, keepdims=True)
    np.testing.assert_allclose(directions, LOVED.impute(TYPOS), atol=1e-5)


def test_near_changes_the_vectors_of_misspellings(robust, spelled):
    assert np.abs(robust.embed(TYPOS) - spelled.embed(TYPOS)).max(axis=1).mean() > 0.1


def test_lower_case_only_where_asked(robust):
    """`lowercase=False` imputes House also where house is known: it is neither that word nor near it."""
    cased = LOVED.attach((IN_TABLE, VECTORS), space="direct", lowercase=False)
    assert robust.near("House") == [("house", 1.0)]
    assert cased.near("house") == [("house", 1.0)]
    assert cased.near("House") == []  # the model knows it
    lacking = random_love([word for word in KNOWN_WORDS if word != "house"])
    cased = lacking.attach((IN_TABLE, VECTORS), space="direct", lowercase=False)
    imputed = lacking.attach((IN_TABLE, VECTORS), space="direct", lowercase=False, near=False)
    np.testing.assert_allclose(cased["House"], imputed["House"], atol=1e-6)


def test_any_string_alone_and_in_company(robust):
    strings = [*TYPOS[:40], *NASTY, *UNREADABLE, *IN_TABLE[:10], *MODEL_ONLY[:10]]
    together = robust.embed(strings)
    assert np.isfinite(together).all()
    for string, vector in zip(strings, together, strict=True):
        np.testing.assert_allclose(robust[string], vector, atol=1e-6)


def test_a_table_that_nothing_can_be_near(spelled):
    emoji = [chr(0x1F300 + place) for place in range(40)]
    rows = np.random.default_rng(0).normal(size=(40, 24)).astype(np.float32)
    robust = LOVED.attach((emoji, rows), space="direct")
    assert robust.near(["recieve", "🙃", "", *emoji[:1]]) == [[], [], [], [(emoji[0], 1.0)]]
    assert np.isfinite(robust.embed(["recieve", "🙃", ""])).all()


def test_a_pickle_reads_the_same(robust):
    again = pickle.loads(pickle.dumps(robust))
    assert again.near(TYPOS[:30]) == robust.near(TYPOS[:30])
    assert np.array_equal(again.embed(TYPOS[:30]), robust.embed(TYPOS[:30]))


def test_the_shipped_model_behind_a_table_of_its_commonest_words(shipped_love):
    words = list(shipped_love.words[:3000])
    robust = shipped_love.attach((words, 3 * shipped_love.embed(words)))
    near = robust.near(["recieve", "goverment", "tommorow", "wierd"])
    assert [listed[0][0] for listed in near if listed] == ["receive", "government", "tomorrow", "weird"]
    rare = [word for word in shipped_love.words[30000:30400] if len(word) > 5 and word.isalpha()]
    assert robust.near(rare) == [[]] * len(rare)
    assert isinstance(robust.model, LOVE)


def test_readings_have_names(robust, spelled):
    strings = [*IN_TABLE[:9], "(House)", "", " ", *TYPOS[:40], "blorfingly"]
    robust.warm_up()
    for string, name, near in zip(strings, robust.readings(strings), robust.near(strings, 10), strict=True):
        chance = sum(probability for _, probability in near)
        if string in IN_TABLE or string == "(House)":
            expected = "known"
        else:
            parts = robust.lookup(string).probabilities.parts[0]
            expected = max((1 - chance - parts, "new"), (chance, "near"), (parts, "parts"))[1]
        assert name == (expected if string.strip() else "empty")
    assert "near" in robust.readings(TYPOS)
    spelled.warm_up()
    assert set(spelled.readings(TYPOS)) == {"new"}


JOINED = ["houserecieve", "thehouse", "housemouse", "House's", "500mg", "the-blorfing", "house500"]


@needs_core
@pytest.mark.parametrize("precision", [np.float32, pytest.param(np.float16, marks=pytest.mark.slow)])
def test_both_engines_give_the_same(precision):
    table = (IN_TABLE, VECTORS.astype(precision))
    one, other = (LOVED.copy(engine=engine).attach(table, space="direct") for engine in ("compiled", "numpy"))
    strings = [*TYPOS, *JOINED, *NASTY, *UNREADABLE, *IN_TABLE[:9], *MODEL_ONLY[:9]]
    assert one.near(strings) == other.near(strings)
    assert one.lookup(strings).parts == other.lookup(strings).parts
    assert "parts" in one.readings(JOINED)
    np.testing.assert_allclose(one.embed(strings), other.embed(strings), rtol=1e-5, atol=1e-5)
    texts = [" ".join(strings[place : place + 4]) for place in range(0, 400, 4)]
    np.testing.assert_allclose(one.encode(texts), other.encode(texts), atol=1e-5)
