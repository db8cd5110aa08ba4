"""Words read in their sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, needs_core
from tests.nasty import NASTY
from tests.texts.toy_language import TOPICS, sentences

from lovevec import LOVE, LovevecError
from lovevec.damage.edits import damage
from lovevec.near import exact
from lovevec.near.context import PAD, PLACES, WINDOW
from lovevec.near.readings import Readings, in_context
from lovevec.texts.sentence import NEW, NUMBER, OTHER, PAUSE, STOP, is_unknown, sequence

ENGINES = ["numpy", pytest.param("compiled", marks=needs_core)]


@pytest.fixture(scope="module", params=ENGINES)
def love(request, toy_in_context) -> LOVE:
    return LOVE.load(toy_in_context, engine=request.param)


def mistyped(count: int, seed: int) -> tuple[list[str], list[str], list[int]]:
    """Sentences with one word of their topic misspelled, the word that was meant, and where it stands in the text."""
    rng = np.random.default_rng(seed)
    texts, right, starts = [], [], []
    for text in sentences(count, seed):
        words = text.rstrip(".").split()
        place = int(rng.choice([number for number, word in enumerate(words) if word not in ("the", "of", "and")]))
        right.append(words[place])
        words[place] = damage([words[place]], rng)[0]
        starts.append(len(" ".join([*words[:place], ""])))
        texts.append(" ".join(words) + ".")
    return texts, right, starts


# Strings that are as near to one word as to another, of another topic.
BETWEEN = {
    ("letter", "latter"): ("ltter", "lotter", "lutter", "lztter"),
    ("house", "horse"): ("hose", "hohse", "hoqse"),
}


def share_right(love: LOVE, context: bool) -> float:
    """Of strings between two words, in sentences about one of them, the share for which that one comes first."""
    rng, hits = np.random.default_rng(8), []
    for text in sentences(400, 9):
        for pair, strings in BETWEEN.items():
            for word in pair:
                if f" {word}" in text:
                    wrong = str(rng.choice(strings))
                    tokens = love.tokens(text.replace(word, wrong), context=context)
                    near = [token.candidates[0][0] for token in tokens if token.text == wrong and token.candidates]
                    hits += [one == word for one in near]
    assert len(hits) > 100
    return float(np.mean(hits))


def test_a_line_is_rows_and_signs():
    love = LOVE.load()
    text = "He said it (twice), Mr. Blorfy: 5.30 -- for #you_and_me"
    (parts,) = love.text_encoder().parts_of_texts([text])
    ids = [int(row) if row >= 0 else NEW for row in parts.rows]
    line, places = sequence(text, parts.parts, ids)
    signs = {STOP: "STOP", PAUSE: "PAUSE", NEW: "NEW", NUMBER: "NUMBER", OTHER: "OTHER"}
    shown = " ".join(signs.get(row) or love.words[row] for row in line)
    assert shown == "STOP he said it PAUSE twice PAUSE mr STOP NEW STOP NEW PAUSE for you and me STOP"
    assert [line[place] for place in places] == ids


def test_windows_are_what_stands_around(love):
    texts = ["the hotse of people, and house. mountain", "bread", "", "the " * 40 + "hotse " + "of " * 40]
    encoder = love.text_encoder()
    parts = encoder.parts_of_texts(texts)
    readings = encoder.read_words(parts)
    asked = np.ones(sum(len(one.parts) for one in parts), dtype=np.bool_)
    windows = encoder.source.sentences.windows(parts, readings, asked)
    assert windows.shape == (len(asked), PLACES)
    number = 0
    for text, some, rows in parts:
        probable = readings.rows[readings.probabilities[:, 0] >= 0.6, 0]
        ids = [row if row >= 0 else next((int(one) for one in probable), NEW) for row in rows.tolist()]
        line, places = sequence(text, some, ids)
        for place in places:
            around = [line[at] if 0 <= at < len(line) else PAD for at in range(place - WINDOW, place + WINDOW + 1)]
            assert windows[number].tolist() == around[:WINDOW] + around[WINDOW + 1 :]
            number += 1


def test_the_sentence_decides(love):
    assert share_right(love, context=False) < 0.7
    assert share_right(love, context=True) > 0.85


def test_without_context_and_alone_words_are_read_as_by_a_model_without_one(love):
    plain = love.copy(parts=replace(love.parts, context=None))
    texts, _, _ = mistyped(50, 3)
    words = [word.strip(".") for text in texts for word in text.split()]
    np.testing.assert_array_equal(love.encode(texts, context=False), plain.encode(texts))
    np.testing.assert_array_equal(love.embed(words), plain.embed(words))
    assert love.near(words) == plain.near(words)
    assert love.tokens(texts, context=False) == plain.tokens(texts)
    assert not np.array_equal(love.encode(texts), plain.encode(texts))


def test_a_text_of_one_word_is_read_as_the_word_alone(love):
    plain = love.copy(parts=replace(love.parts, context=None))
    texts = ["hotse", "the hotse", "hose.", "(lutter)", "500 hotse"]
    np.testing.assert_array_equal(love.encode(texts), plain.encode(texts))
    assert love.tokens(texts) == plain.tokens(texts)


def by_hand(love: LOVE, text: str) -> np.ndarray:
    """The vector of a text, from the readings of its words in the sentence."""
    encoder = love.text_encoder()
    (parts,) = encoder.parts_of_texts([text])
    unknown = [part.text for part, row in zip(parts.parts, parts.rows, strict=True) if row < 0 and part.how == "word"]
    readings = encoder.in_sentences([parts], encoder.source.read(unknown))
    vectors = encoder.source.mix(unknown, readings, encoder.weights, encoder.new_weight)
    weights = encoder.reading_weights(readings)
    total = np.zeros(love.dim)
    number = 0
    for part, row in zip(parts.parts, parts.rows.tolist(), strict=True):
        if row >= 0:
            vector, weight, new = love[love.words[row]] * encoder.weights[row], float(encoder.weights[row]), 0.0
        else:
            vector, weight, new = vectors[number], float(weights[number]), float(readings.new[number])
            number += 1
        length = float(encoder.signature_lengths(np.array([new]))[0])
        total += vector + encoder.signatures([part.text])[0] * length * weight
    return total / np.linalg.norm(total)


def test_a_text_is_the_sum_of_its_words_as_the_sentence_reads_them(love):
    texts = [text for text in mistyped(60, 4)[0] if all(word.isalpha() for word in text.rstrip(".").split())]
    assert len(texts) > 30
    for text in texts:
        np.testing.assert_allclose(love.encode(text), by_hand(love, text), atol=2e-6)


def test_a_text_has_the_same_bits_alone_and_in_company(love):
    texts = [*mistyped(60, 5)[0], "bread", "", *mistyped(10, 5)[0]]
    together = love.encode(texts)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_array_equal(love.encode(text), vector)


@needs_core
def test_both_engines_read_alike(toy_in_context):
    slow, fast = (LOVE.load(toy_in_context, engine=engine) for engine in ("numpy", "compiled"))
    texts = [*mistyped(60, 6)[0], *NASTY]
    assert [[token[:5] for token in tokens] for tokens in slow.tokens(texts)] == [
        [token[:5] for token in tokens] for tokens in fast.tokens(texts)
    ]
    np.testing.assert_allclose(slow.encode(texts), fast.encode(texts), atol=2e-6)


def test_attached_tables_are_read_in_sentences_too(love):
    rng = np.random.default_rng(2)
    words = [*love.words[:200], "zebra"]
    assert {word for topic in TOPICS for word in topic} < {*words}
    robust = love.attach((words, rng.normal(size=(len(words), 8)).astype(np.float32)), space="mapped")
    assert share_right(robust, context=False) < 0.7
    assert share_right(robust, context=True) > 0.85
    texts = mistyped(30, 7)[0]
    assert not np.array_equal(robust.encode(texts), robust.encode(texts, context=False))


@given(st.lists(st.text(max_size=40) | st.lists(st.sampled_from(KNOWN_WORDS), max_size=8).map(" ".join), max_size=4))
def test_any_texts(any_love, texts):
    vectors = any_love.encode(texts)
    assert np.isfinite(vectors).all()
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    assert ((np.abs(lengths - 1) < 1e-4) | (lengths == 0)).all()
    for text, tokens in zip(texts, any_love.tokens(texts), strict=True):
        assert all(text[token.start : token.end] == token.text for token in tokens)


@pytest.fixture(scope="module")
def any_love(toy_in_context) -> LOVE:
    return LOVE.load(toy_in_context)


def test_words_of_sentences_have_the_mean_over_their_readings_there(love):
    texts, _, starts = mistyped(100, 6)
    sentences = [[*text.rstrip(".").split(), "."] for text in texts]
    changed = 0
    for text, start, words, vectors in zip(texts, starts, sentences, love.embed_sentences(sentences), strict=True):
        assert vectors.shape == (len(words), love.dim)
        token = next(token for token in love.tokens(text) if token.start == start)
        place = text[:start].count(" ")
        if token.reading == "known":
            np.testing.assert_array_equal(vectors[place], love[words[place]])
        if token.reading != "near" or token.text != words[place]:
            continue
        near, chances = zip(*token.candidates, strict=True)
        mean = np.array(chances) @ love.embed(near) + (1 - sum(chances)) * love.impute(words[place])
        np.testing.assert_allclose(vectors[place], mean / np.linalg.norm(mean), atol=0.03)  # rare readings are left out
        changed += not np.allclose(vectors[place], love[words[place]], atol=1e-3)
    assert changed > 20


SENTENCES = [["The", "hotse", "of", "stone", "."], ["hotse"], [], ["the", "lutter's", "500mg", ",", "hose"], ["", "\0"]]


@pytest.mark.parametrize("attached", [False, True])
def test_words_of_sentences_alone_are_those_of_running_text(love, attached):
    vectors = love.attach((love.words[5:], 2 * love.embed(love.words[5:]))) if attached else love
    for words, made in zip(SENTENCES, vectors.embed_sentences(SENTENCES, context=False), strict=True):
        np.testing.assert_array_equal(made, vectors.lookup(words, in_text=True).vectors)
    in_company, alone = vectors.embed_sentences(SENTENCES), [vectors.embed_sentences([one])[0] for one in SENTENCES]
    for one, other in zip(in_company, alone, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(in_company[1], vectors.lookup(["hotse"], in_text=True).vectors)
    assert [len(one) for one in in_company] == [len(words) for words in SENTENCES]
    assert vectors.embed_sentences([]) == []


def test_vectors_of_any_words_in_sentences_are_finite(love):
    (vectors,) = love.embed_sentences([[*NASTY, "the", "hotse", "of"]])
    assert np.isfinite(vectors).all()


def test_what_is_no_list_of_sentences_is_refused(love):
    with pytest.raises(LovevecError, match="sentences is one string"):
        love.embed_sentences("the house")
    with pytest.raises(LovevecError, match="sentence 1 is one string"):
        love.embed_sentences([["the"], "house"])
    with pytest.raises(LovevecError, match="word 1 is not a string but int"):
        love.embed_sentences([["the", 5]])


PROBABILITIES = st.lists(st.floats(0.01, 1), min_size=12, max_size=12)


@given(PROBABILITIES, st.lists(st.floats(-30, 30), min_size=11, max_size=11), st.integers(0, 10))
def test_readings_in_context_are_those_alone_times_e_to_the_utility(weights, utility, words):
    total = sum(weights)
    chances = np.array(weights) / total
    rows = np.where(np.arange(10) < words, np.arange(10, 20), -1).astype(np.int32)[None]
    known = np.where(rows >= 0, -np.sort(-chances[:10])[None], 0.0)
    none = np.full((1, 6), -1, dtype=np.int32)
    readings = Readings(rows, known, chances[10:11], chances[11:12], none, none, np.zeros(1))
    result = in_context(readings, np.array([utility]))
    expected = {
        int(row): float(p) * np.exp(u) for row, p, u in zip(rows[0], known[0], utility, strict=False) if row >= 0
    }
    new, parts = chances[10] * np.exp(utility[10]), chances[11]
    total = sum(expected.values()) + new + parts
    found = {int(row): float(p) for row, p in zip(result.rows[0], result.probabilities[0], strict=True) if row >= 0}
    assert found.keys() == expected.keys()
    for row, chance in found.items():
        assert chance == pytest.approx(expected[row] / total, rel=1e-9, abs=1e-200)
    assert result.new[0] == pytest.approx(new / total, rel=1e-9, abs=1e-200)
    assert result.probabilities.sum() + result.new[0] + result.parts[0] == pytest.approx(1)
    assert (np.diff(result.probabilities[0]) <= 0).all()
    assert exact.LEAST_EXPONENT < -30


def test_unknown_words_are_those_that_are_read():
    love = LOVE.load()
    parts = love.text_encoder().parts_of_texts(["the hotsee 500mg", "", "qwerz!"])
    words = [part.text for one in parts for part in one.parts]
    assert [word for word, unknown in zip(words, is_unknown(parts), strict=True) if unknown] == ["hotsee", "qwerz"]
