"""Properties of all that can be asked of a model, for any text at all: surrogates, NUL, combining marks, a million
characters. Finite, of unit length or the documented zeros; the same alone, in a batch, in another order, in another
process, after saving and loading."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lovevec import LOVE, LovevecError
from lovevec.damage.edits import damage
from lovevec.damage.noise import NOISE_KINDS as NOISES
from lovevec.damage.noise import Noise, damaged
from lovevec.files.lines import printable

# Every code point, halves of surrogates too; and the neighborhoods where trouble lives.
ANY = st.text(st.characters(exclude_categories=()), max_size=60)
TROUBLE = st.text(
    st.sampled_from(
        "\0\n\r\t \x1b\x85\u00ad\u0300\u0301\u0345\u200b\u200d\u200e\u2028\u202e\u3000\ufe0f\ufeff\uffff"
        "\ud800\udbff\udc00\udcff\udfff\U0001f3fb\U0001f469\U000e0041\U0010ffffİıßﬁΑΣςǅẞaZ09-'._#@[]"
    ),
    max_size=30,
)
LONG = st.builds(
    lambda text, times: text * times, st.text(min_size=1, max_size=8), st.sampled_from([500, 20_000, 100_000])
)
STRINGS = st.one_of(ANY, TROUBLE, st.text(max_size=30), st.sampled_from(["", " ", "the", "recieve", "[CLS]", "##ing"]))
LISTS = st.lists(STRINGS, min_size=1, max_size=8)
MANY = settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
FEW = settings(MANY, max_examples=3)
WORD = 1_000_000

FUNCTIONS = {  # what gives one thing for each word, in their order
    "embed": lambda love, words: love.embed(words),
    "[]": lambda love, words: love[words],
    "impute": lambda love, words: love.impute(words),
    "in text": lambda love, words: love.lookup(words, in_text=True).vectors,
    "encode": lambda love, words: love.encode(words, show_progress_bar=False),
    "near": lambda love, words: love.near(words),
    "readings": lambda love, words: love.readings(words),
    "neighbors": lambda love, words: love.neighbors(words, k=3),
    "confidence": lambda love, words: love.confidence(words),
    "imputed confidence": lambda love, words: love._imputed_confidence(words),
    "similar": lambda love, words: love.similar(words, words[::-1] if len(words) == 1 else words),
    "tokens": lambda love, words: [love.tokens(word) for word in words],
}


@pytest.fixture(scope="module")
def love(shipped_love) -> LOVE:
    return shipped_love


@pytest.fixture(scope="module")
def saved(love, tmp_path_factory) -> LOVE:
    folder = tmp_path_factory.mktemp("saved") / "m"
    love.save(folder)
    return LOVE.load(folder)


@pytest.fixture(scope="module")
def robust(love):
    words = list(love.words[:800])
    return love.attach(dict(zip(words, love.embed(words) * np.float32(3), strict=True)))


def same(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
    return one == other or (isinstance(one, float) and math.isnan(one) and math.isnan(other))


@MANY
@given(words=LISTS)
def test_vectors_are_finite_and_of_unit_length(love, words):
    for vectors in (love.embed(words), love.impute(words), love.lookup(words, in_text=True).vectors):
        assert vectors.shape == (len(words), love.dim)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@MANY
@given(words=LISTS)
def test_texts_are_of_unit_length_or_zeros_where_they_have_no_words(love, words):
    vectors = love.encode(words, show_progress_bar=False)
    lengths = np.linalg.norm(vectors, axis=1)
    has_words = np.array([bool(love.tokens(word)) for word in words])
    np.testing.assert_allclose(lengths, has_words, atol=1e-5)


@pytest.mark.parametrize("name", FUNCTIONS)
@FEW
@given(words=LISTS, seed=st.integers(0, 2**32 - 1))
def test_a_word_has_the_same_answer_alone_in_a_list_and_in_another_order(love, name, words, seed):
    ask = FUNCTIONS[name]
    together = ask(love, words)
    assert len(together) == len(words)
    order = np.random.default_rng(seed).permutation(len(words)).tolist()
    shuffled = ask(love, [words[at] for at in order])
    for place, at in enumerate(order):
        assert same(shuffled[place], together[at])
    for word, found in zip(words[:3], together, strict=False):
        assert same(ask(love, [word])[0], found)


@pytest.mark.parametrize("name", FUNCTIONS)
@FEW
@given(words=LISTS)
def test_the_same_after_saving_and_loading(love, saved, name, words):
    one, other = FUNCTIONS[name](love, words), FUNCTIONS[name](saved, words)
    assert all(map(same, one, other))


@MANY
@given(words=LISTS)
def test_probabilities_are_such_and_known_words_stand_for_themselves(love, words):
    for word, near, reading, sure in zip(
        words, love.near(words), love.readings(words), love.confidence(words), strict=True
    ):
        chances = [chance for _, chance in near]
        assert all(0 <= chance <= 1 for chance in chances)
        assert sum(chances) <= 1 + 1e-9
        assert chances == sorted(chances, reverse=True)
        assert (reading == "empty") == (not word.strip())
        assert reading == "known" or word not in love or not word.strip()
        assert reading != "known" or word in love or love.lookup(word).unknown == []  # a word and something else: dog's
        assert reading != "known" or chances == [1.0]
        assert 0 <= sure <= 1
        assert reading != "empty" or (sure == 0 and near == [])


@MANY
@given(one=STRINGS, other=STRINGS)
def test_likeness_is_a_cosine_and_goes_both_ways(love, one, other):
    found = love.similar(one, other)
    if one.strip() and other.strip():
        assert -1 <= found <= 1
        assert found == love.similar(other, one)
        assert love.similar(one, one) == pytest.approx(1, abs=1e-5)
        assert all(word not in (one, other) for word, _ in love.analogy(one, other, "king", k=2))
    else:
        assert math.isnan(found)
        with pytest.raises(LovevecError, match="empty"):
            love.analogy(one, other, "king")


@FEW
@given(word=STRINGS)
def test_anything_can_be_explained_and_printed(love, word):
    found = love.explain(word, 2)
    assert all(line.isprintable() for line in str(found).split("\n"))
    assert json.loads(json.dumps(found.as_dict()))["word"] == word
    assert printable(word).isprintable()


@FEW
@given(words=LISTS)
def test_attached_tables_have_a_finite_vector_for_anything(robust, words):
    vectors = robust.embed(words)
    assert np.isfinite(vectors).all()
    for place, word in enumerate(words):
        assert np.array_equal(robust[word], vectors[place])
        if word in robust.words:
            assert np.array_equal(vectors[place], robust.vectors[robust.words.index(word)])
    sure = robust.confidence(words)
    assert ((sure >= 0) & (sure <= 1)).all()
    assert len(robust.near(words)) == len(robust.neighbors(words, k=2)) == len(words)
    assert np.isfinite(robust.encode(words)).all()


@settings(FEW, max_examples=3)
@given(word=LONG)
def test_long_words_are_like_any_other(love, word):
    vector = love[word]
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert np.array_equal(love.embed(["the", word])[1], vector)
    assert len(love.near(word)) <= 5


@pytest.mark.parametrize("unit", ["a", "e\u0301", "\ud800", " ", "\0", "ab "])
def test_a_million_characters(love, unit):
    word = (unit * WORD)[:WORD]
    empty = not word.strip()
    assert np.linalg.norm(love[word]) == pytest.approx(1, abs=1e-5)
    assert np.isfinite(love.encode(word)).all()
    assert love.readings([word]) == ["empty" if empty else "new"] or love.near(word)
    assert 0 <= love.confidence([word])[0] <= 1
    assert len(love.neighbors(word, k=2)) == (0 if empty else 2)


@MANY
@given(words=st.lists(STRINGS.filter(bool), min_size=1, max_size=6), seed=st.integers(0, 1000))
def test_damage_gives_strings_and_the_same_ones_by_the_same_seed(words, seed):
    first = damage(words, np.random.default_rng(seed), ("swap", "drop", "insert", "keyboard"))
    assert len(first) == len(words)
    assert all(type(word) is str for word in first)
    assert first == damage(words, np.random.default_rng(seed), ("swap", "drop", "insert", "keyboard"))
    for kind in NOISES:
        noise = Noise(kind, 0.5)
        sentences = [words, words[::-1]]
        assert damaged(sentences, noise, seed) == damaged(sentences, noise, seed)


def test_another_process_gives_the_same_bits(love):
    rng = np.random.default_rng(5)
    codes = [rng.integers(0, 0x110000, size).tolist() for size in rng.integers(0, 30, 300)]
    words = ["".join(map(chr, each)) for each in codes] + [word[1:] + "x" for word in love.words[:200]]
    script = """
import hashlib, json, sys
import numpy as np
from lovevec import LOVE, LovevecError
words = json.loads(sys.stdin.read())
love = LOVE.load()
parts = love.embed(words), love.impute(words), love.encode(words), love.confidence(words)
print([hashlib.sha256(np.ascontiguousarray(part).tobytes()).hexdigest() for part in parts], love.near(words[-20:]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(words), capture_output=True, text=True, check=True
    )
    parts = love.embed(words), love.impute(words), love.encode(words), love.confidence(words)
    ours = [hashlib.sha256(np.ascontiguousarray(part).tobytes()).hexdigest() for part in parts]
    assert done.stdout == f"{ours} {love.near(words[-20:])}\n"
