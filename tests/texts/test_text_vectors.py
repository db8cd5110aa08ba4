"""Vectors of texts are what a float64 sum by hand gives; alone, in company, from any thread, after save and load."""

from __future__ import annotations

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, needs_core, random_love
from tests.near.strings import NASTY, UNREADABLE

from lovevec import LOVE, LovevecError
from lovevec.damage.misspell import misspell
from lovevec.near.readings import MIN_PROBABILITY
from lovevec.texts.encoder import NEW_SIGNATURE_LENGTH, SIGNATURE_LENGTH
from lovevec.texts.signatures import Signatures
from lovevec.texts.sums import sum_rows
from lovevec.texts.text_reader import weights_by_rank

LOVED = random_love()
RNG = np.random.default_rng(1)
PLAIN = [word for word in KNOWN_WORDS if word.isalpha() and word.islower() and len(word) > 2]
TYPOS = [typo for typo in misspell(PLAIN, RNG) if typo.isalpha() and typo.islower() and typo not in LOVED]
TEXTS = [" ".join(RNG.choice([*PLAIN, *TYPOS], RNG.integers(1, 9))) for _ in range(60)]
# With marks, capitals, other scripts, parts and blanks of all kinds.
MARKED = [
    *NASTY,
    *(text.title() + "!" for text in TEXTS[:9]),
    *(f"({text.replace(' ', ', ', 1)})." for text in TEXTS[:9]),
    *(f"“{text}” – it’s {text.replace(' ', '-')}" for text in TEXTS[:9]),
    *(f"{text.replace(' ', '/')}\t#{text.title().replace(' ', '')}\u00a0{text.upper()}" for text in TEXTS[:9]),
    "'tis   the dogs' rock'n'roll, 1,000.50 (U.S.A.) e-mail ... -- well-known??",
    "house " * 700 + "hosue " * 300,
]
BY_BOTH = [LOVE(LOVED.parts, engine=engine) for engine in ("numpy", "auto")]


def signature(word: str, dim: int) -> np.ndarray:
    """By the definition: the sum over pairs of neighboring letters, with the begin and the end of the word."""
    directions = Signatures(dim)._directions.astype(np.float64)
    codes = [0, *map(ord, word.lower()), 0]
    total = np.zeros(dim)
    for one, two in itertools.pairwise(codes):
        total += directions[((one * 0x9E3779B1 + two) * 0x9E3779B97F4A7C15 % 2**64) >> 52]
    return total / np.linalg.norm(total)


def by_hand(love: LOVE, text: str, weights: np.ndarray) -> np.ndarray:
    """Σ weight · vector over the words of a text that has none but letters and blanks."""
    place, rows = {word: row for row, word in enumerate(love.words)}, love.parts.rows.all().astype(np.float64)
    new_weight = weights[len(weights) // 2 :].mean()
    total = np.zeros(love.dim)
    for word in text.split():
        if word in place:
            weight = weights[place[word]]
            vector = weight * rows[place[word]]
        else:
            reading = love._read([word], in_text=True)
            vector = reading.new[0] * new_weight * love.impute([word])[0].astype(np.float64)
            weight = reading.new[0] * new_weight
            parts = [(row, reading.parts[0]) for row in reading.part_rows[0].tolist()]
            for row, chance in [*zip(reading.rows[0].tolist(), reading.probabilities[0].tolist(), strict=True), *parts]:
                weight += chance * (weights[row] if row >= 0 else 0)
                if row >= 0 and chance >= MIN_PROBABILITY:
                    vector += chance * weights[row] * rows[row]
        new = 0 if word in place else reading.new[0]
        length = SIGNATURE_LENGTH * (1 - new) + NEW_SIGNATURE_LENGTH * new
        total += vector + length * weight * signature(word, love.dim)
    return total / np.linalg.norm(total)


def test_texts_are_the_weighted_sum_of_their_words():
    weights = weights_by_rank(len(KNOWN_WORDS)).astype(np.float64)
    found = LOVED.encode(TEXTS)
    assert found.dtype == np.float32
    for text, vector in zip(TEXTS, found, strict=True):
        np.testing.assert_allclose(vector, by_hand(LOVED, text, weights), atol=2e-6)


def test_a_model_may_have_weights_of_its_own(tmp_path):
    from dataclasses import replace

    own = np.random.default_rng(5).random(len(KNOWN_WORDS)).astype(np.float32)
    rows = replace(LOVED.parts.rows, weights=own)
    love = LOVE(replace(LOVED.parts, rows=rows))
    for text, vector in zip(TEXTS, love.encode(TEXTS), strict=True):
        np.testing.assert_allclose(vector, by_hand(love, text, own.astype(np.float64)), atol=2e-6)
    love.save(tmp_path / "m", rows="int8")
    again = LOVE.load(tmp_path / "m")
    assert np.array_equal(again.parts.rows.weights, own)
    np.testing.assert_allclose(again.encode(TEXTS), love.encode(TEXTS), atol=1e-2)  # its encoder is int8 now
    love.save(tmp_path / "n", rows="int4")
    assert np.array_equal(LOVE.load(tmp_path / "n").parts.rows.weights, own)


def test_weights_by_rank_are_those_of_the_formula():
    count = 1000
    chance = (1 / np.arange(1, count + 1)) / (1 / np.arange(1, count + 1)).sum()
    np.testing.assert_allclose(weights_by_rank(count), 1e-3 / (1e-3 + chance), rtol=1e-6)
    assert weights_by_rank(0).shape == (0,)


@pytest.mark.parametrize("engine", ["numpy", pytest.param("compiled", marks=needs_core)])
def test_a_text_has_the_same_bits_alone_in_company_and_again(engine):
    love = LOVE(LOVED.parts, engine=engine)
    together = love.encode(TEXTS * 3)
    assert np.array_equal(together[: len(TEXTS)], together[-len(TEXTS) :])
    assert np.array_equal(love.encode(TEXTS[::-1])[::-1], together[: len(TEXTS)])
    fresh = LOVE(LOVED.parts, engine=engine)
    assert np.array_equal(np.stack([fresh.encode(text) for text in TEXTS]), together[: len(TEXTS)])
    assert np.array_equal(love.encode(TEXTS, batch_size=7), together[: len(TEXTS)])


@needs_core
def test_the_compiled_core_adds_up_to_the_same_bits_as_numpy():
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(40, 9)).astype(np.float32)
    ends = np.append(0, np.cumsum([*rng.integers(0, 30, 200), 700, 0, 256, 257, 70_000]))
    chosen = rng.integers(0, 40, ends[-1])
    found = sum_rows(vectors, chosen, ends)
    assert np.array_equal(sum_rows(vectors, chosen, ends, compiled=True), found)
    for place, (start, end) in enumerate(itertools.pairwise(ends)):
        exact = vectors[chosen[start:end]].astype(np.float64).sum(axis=0)
        np.testing.assert_allclose(found[place], exact, rtol=1e-4, atol=1e-3)
        assert np.array_equal(sum_rows(vectors, chosen[start:end], np.array([0, end - start]))[0], found[place])


@needs_core
def test_signatures_have_the_same_bits_by_the_compiled_core_and_by_numpy():
    words = [*KNOWN_WORDS, "", "Straße", "É" * 120, "a", "\ud800x"]
    scales = np.random.default_rng(4).random(len(words)).astype(np.float32)
    by_numpy, compiled = np.ones((2, len(words), 31), np.float32)
    Signatures(31).add(words, scales, by_numpy)
    Signatures(31, compiled=True).add(words, scales, compiled)
    assert np.array_equal(compiled, by_numpy)


@needs_core
def test_texts_by_the_compiled_core_and_by_numpy_are_equal_to_1e_6():
    by_numpy, compiled = (LOVE(LOVED.parts, engine=engine) for engine in ("numpy", "compiled"))
    for options in ({}, {"normalize_embeddings": False}):
        found, expected = (love.encode(MARKED, **options) for love in (compiled, by_numpy))
        np.testing.assert_allclose(found[:-1], expected[:-1], atol=1e-6)
        np.testing.assert_allclose(found[-1], expected[-1], atol=4e-6)  # of a thousand words


@needs_core
@settings(deadline=None)
@given(st.lists(st.text(alphabet="aB1 .,'-\"(!?\n\té’#@/_€中", max_size=12), max_size=5))
def test_any_text_by_the_compiled_core_and_by_numpy(texts):
    by_numpy, compiled = BY_BOTH
    np.testing.assert_allclose(compiled.encode(texts), by_numpy.encode(texts), atol=2e-6)


@needs_core
def test_many_texts_by_threads_have_the_same_bits_as_one_by_one():
    love = LOVE(LOVED.parts, engine="compiled")
    together = love.encode(MARKED * 100)
    assert len(together) > 1024
    assert np.array_equal(together[-len(MARKED) :], np.stack([love.encode(text) for text in MARKED]))


@needs_core
@pytest.mark.parametrize("options", [{}, {"lowercase": False}, {"near": False}])
def test_attached_texts_by_the_compiled_core_and_by_numpy_are_equal_to_1e_6(options):
    table = list(KNOWN_WORDS), 3 * LOVED.embed(KNOWN_WORDS)
    by_numpy, compiled = (love.attach(table, space="direct", **options).encode(MARKED[:-1]) for love in BY_BOTH)
    np.testing.assert_allclose(compiled, by_numpy, atol=1e-6)


def test_a_capital_changes_nothing_of_a_known_word():
    fresh = LOVE(LOVED.parts)
    text, title = " ".join(PLAIN[:20]), " ".join(PLAIN[:20]).title()
    assert np.array_equal(fresh.encode(title), LOVED.encode(text))
    assert np.array_equal(fresh.encode(text), LOVED.encode(text))
    assert np.array_equal(fresh.encode(title), LOVED.encode(text))
    cased = random_love(["Apple", "apple", "pear"], lowercase=False)
    assert not np.allclose(cased.encode("apple"), cased.encode("Apple"))


def test_threads_share_one_model():
    fresh = LOVE(LOVED.parts)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda part: fresh.encode(TEXTS[part:] + TEXTS[:part], batch_size=5), range(40)))
    expected = LOVED.encode(TEXTS)
    for part, vectors in enumerate(found):
        assert np.array_equal(vectors, np.concatenate([expected[part:], expected[:part]]))


def test_forms_of_giving_texts():
    expected = LOVED.encode(TEXTS)
    assert LOVED.encode(TEXTS[0]).shape == (LOVED.dim,)
    assert np.array_equal(LOVED.encode(TEXTS[0]), expected[0])
    assert np.array_equal(LOVED.encode(np.array(TEXTS)), expected)
    assert np.array_equal(LOVED.encode(tuple(TEXTS)), expected)
    parts = LOVED.encode(iter(TEXTS), batch_size=7)
    assert [len(part) for part in parts] == [7] * 8 + [4]
    assert np.array_equal(np.concatenate(list(LOVED.encode(iter(TEXTS), batch_size=7))), expected)
    assert LOVED.encode([]).shape == (0, LOVED.dim)
    assert [row.shape for row in LOVED.encode(TEXTS[:2], convert_to_numpy=False)] == [(LOVED.dim,)] * 2
    assert np.array_equal(pickle.loads(pickle.dumps(LOVED)).encode(TEXTS), expected)


def test_tensors_if_asked_for():
    torch = pytest.importorskip("torch")
    found = LOVED.encode(TEXTS, convert_to_tensor=True)
    assert isinstance(found, torch.Tensor)
    assert np.array_equal(found.numpy(), LOVED.encode(TEXTS))


def test_texts_without_words_are_zeros():
    found = LOVED.encode(["", "  \n", "?!", PLAIN[0]])
    assert not found[:3].any()
    assert np.linalg.norm(found[3]) == pytest.approx(1, abs=1e-5)
    center = np.ones(LOVED.dim, dtype=np.float32)
    assert not LOVED.encode(["", "?!"], center=center).any()
    assert not LOVED.encode([""], normalize_embeddings=False).any()


def test_a_mean_that_is_not_normalized_has_the_direction_and_is_shorter():
    found, unit = LOVED.encode(TEXTS, normalize_embeddings=False), LOVED.encode(TEXTS)
    lengths = np.linalg.norm(found, axis=1)
    np.testing.assert_allclose(found / lengths[:, None], unit, atol=1e-5)
    assert (lengths < 1 + SIGNATURE_LENGTH).all()


def test_a_center_is_taken_off():
    unit = LOVED.encode(TEXTS)
    center = unit.mean(axis=0)
    off = (unit - center).astype(np.float64)
    np.testing.assert_allclose(LOVED.encode(TEXTS, center=center, normalize_embeddings=False), off, atol=1e-5)
    off /= np.linalg.norm(off, axis=1, keepdims=True)
    np.testing.assert_allclose(LOVED.encode(TEXTS, center=center), off, atol=1e-5)


@pytest.mark.parametrize(
    ("texts", "options", "says"),
    [
        (["a", 5], {}, "text 1 is not a string but int"),
        (["a", None], {"batch_size": 1}, "text 1 is not a string but NoneType"),
        ({"a", "b"}, {}, "has no order"),
        (["a"], {"batch_size": 0}, "batch_size is 0"),
        (["a"], {"batch_size": 2.5}, "batch_size is 2.5"),
        (["a"], {"center": [1.0, 2.0]}, "center has the shape"),
        (["a"], {"center": np.full(24, np.nan)}, "center has the shape"),
        (7, {}, "expected words"),
    ],
)
def test_bad_input_is_named(texts, options, says):
    with pytest.raises(LovevecError, match=says):
        LOVED.encode(texts, **options)


@given(st.lists(st.text(max_size=60), max_size=5))
@settings(max_examples=60)
def test_any_text_is_finite_of_unit_length_or_zeros(texts):
    found = LOVED.encode(texts)
    assert np.isfinite(found).all()
    lengths = np.linalg.norm(found, axis=1)
    assert (np.isclose(lengths, 1, atol=1e-4) | (lengths == 0)).all()
    for text, vector in zip(texts, found, strict=True):
        assert np.array_equal(LOVED.encode(text), vector)


def test_nasty_strings_and_a_megabyte():
    texts = [*NASTY, *UNREADABLE, "long " * 200_000, "x" * 1_000_000]
    found = LOVED.encode(texts)
    assert np.isfinite(found).all()
    for place, text in enumerate(texts[:-2]):
        assert np.array_equal(LOVED.encode(text), found[place]), ascii(text)


def test_tokens_tell_what_was_seen():
    word, typo = "house", "hosue"
    seen = LOVED.tokens(f"{word.title()} {typo} blorfingly!")
    assert [token.text for token in seen] == [word.title(), typo, "blorfingly"]
    assert [(token.reading, token.word) for token in seen] == [("known", word), ("near", word), ("new", None)]
    assert [(token.start, token.end) for token in seen] == [(0, 5), (6, 11), (12, 22)]
    assert seen[0].probability == 1.0
    readings = LOVED.lookup([typo, "blorfingly"], in_text=True).probabilities
    assert (seen[1].probability, seen[2].probability) == (readings.probabilities[0, 0], readings.new[1])
    assert [token.replacement for token in seen] == [word.title(), word, "blorfingly"]
    assert [token.replacement for token in LOVED.tokens("Hosue HOSUE hosue")] == ["House", "HOUSE", "house"]
    assert LOVED.tokens([f"{word} {typo}", ""]) == [LOVED.tokens(f"{word} {typo}"), []]
    assert seen[0].weight == pytest.approx(weights_by_rank(len(KNOWN_WORDS))[KNOWN_WORDS.index(word)])
    assert LOVED.tokens("") == []
    with pytest.raises(LovevecError, match="expected words"):
        LOVED.tokens(5)
    with pytest.raises(LovevecError, match="text 1 is not a string but NoneType"):
        LOVED.tokens(["a", None])


def test_by_spelling_only_every_word_is_imputed():
    alone = LOVE(LOVED.parts, spelling_only=True)
    weights = weights_by_rank(len(KNOWN_WORDS))
    place = {word: row for row, word in enumerate(KNOWN_WORDS)}
    total = np.zeros(alone.dim)
    for word in ("house", "hosue"):
        known = word in place
        weight = weights[place[word]] if known else weights[len(weights) // 2 :].mean()
        length = SIGNATURE_LENGTH if known else NEW_SIGNATURE_LENGTH
        total += weight * (alone.impute([word])[0] + length * signature(word, alone.dim))
    np.testing.assert_allclose(alone.encode("house hosue"), total / np.linalg.norm(total), atol=2e-6)


def test_attached_tables_encode_with_their_words_and_lengths():
    rng = np.random.default_rng(8)
    table = dict(zip(PLAIN[:200], rng.normal(size=(200, 24)).astype(np.float32) * 3, strict=True))
    robust = LOVED.attach(table, space="mapped")
    weights, length = weights_by_rank(200), np.mean([np.linalg.norm(row) for row in table.values()])
    total = np.zeros(24)
    for word in PLAIN[:3]:
        weight = weights[list(table).index(word)]
        total += weight * (table[word] + SIGNATURE_LENGTH * length * signature(word, 24))
    np.testing.assert_allclose(robust.encode(" ".join(PLAIN[:3])), total / np.linalg.norm(total), atol=2e-6)
    assert [token.word for token in robust.tokens(" ".join(PLAIN[:3]))] == PLAIN[:3]
    assert np.isfinite(robust.encode(TEXTS)).all()


# The shipped default.


def test_a_mistyped_text_is_near_its_right_spelling(shipped_love):
    pairs = [
        ("wonderfull fi1m, definately recomended", "wonderful film, definitely recommended"),
        ("cheep restaraunt neer the stashun", "cheap restaurant near the station"),
        ("symptons of diabetis", "symptoms of diabetes"),
    ]
    wrong, right = (shipped_love.encode(list(texts)) for texts in zip(*pairs, strict=True))
    near = wrong @ right.T
    assert (near.diagonal() > 0.65).all()
    assert (near - np.eye(3) < 0.5).all()


def test_texts_of_one_meaning_are_nearer_than_others(shipped_love):
    found = shipped_love.encode(
        ["A man is playing a guitar.", "Someone plays an instrument", "The stock market fell sharply today"]
    )
    assert found[0] @ found[1] > 0.4 > found[0] @ found[2]
