"""Attached vectors: known words untouched, unknown ones in the same space, whatever that is."""

from __future__ import annotations

import json
import pickle
import re

import numpy as np
import pytest
from tests.factories import at_once, needs_core, toy_vectors, toy_words

from lovevec import LOVE, LovevecError
from lovevec.attach import Attached, PlainModel
from lovevec.attach.lengths import ConfidenceLength
from lovevec.damage.edits import damage
from lovevec.train import Settings, train
from lovevec.train.target import load_target
from lovevec.vectors import convert_vectors, read_vectors

DIM = 16
WORDS = toy_words(600)
VECTORS = toy_vectors(WORDS, DIM) * np.linspace(1, 4, len(WORDS), dtype=np.float32)[:, None]
SEEN, HELD = WORDS[:500], WORDS[500:]
NASTY = ["", " ", "\0", "🙂", "\ud800", "שלום", "x" * 100_000, "İstanbul"]


@pytest.fixture(scope="module")
def love(tmp_path_factory) -> LOVE:
    """A model of the first 500 words; the other 100 it has never seen."""
    path = tmp_path_factory.mktemp("models") / "m"
    settings = Settings(vocabulary_size=400, epochs=15, batch=32, negatives=20, device="cpu", learning_rate=0.01)
    train((SEEN, VECTORS[:500]), settings, output=path)
    return LOVE.load(path)


def turned(dim: int) -> np.ndarray:
    """The same words in a space of their own: turned by a random matrix into `dim` columns, moved, and longer."""
    rng = np.random.default_rng(1)
    return (VECTORS @ rng.normal(size=(DIM, dim)) + 0.3 * rng.normal(size=dim)).astype(np.float32)


@pytest.fixture(scope="module")
def direct(love) -> Attached:
    return love.attach((SEEN, VECTORS[:500]))


@pytest.fixture(scope="module")
def mapped(love) -> Attached:
    return love.attach((SEEN, turned(24)[:500]))


def cosines(made: np.ndarray, own: np.ndarray) -> np.ndarray:
    return (made * own).sum(axis=1) / np.linalg.norm(made, axis=1) / np.linalg.norm(own, axis=1)


def test_known_words_keep_their_vector_bit_for_bit(direct, mapped):
    assert np.array_equal(direct.embed(SEEN), VECTORS[:500])
    assert np.array_equal(mapped.embed(SEEN[::-1]), turned(24)[:500][::-1])
    assert np.array_equal(mapped[SEEN[7]], turned(24)[7])


def test_in_the_models_own_space_directions_are_the_models(love, direct):
    made = love.attach((SEEN, VECTORS[:500]), near=False).embed(HELD)
    np.testing.assert_allclose(made / np.linalg.norm(made, axis=1, keepdims=True), love.impute(HELD), atol=1e-6)
    assert direct.metadata["space"] == "direct"
    assert "direct" in repr(direct)


@pytest.mark.parametrize("dim", [8, DIM, 24])
def test_in_another_space_unknown_words_land_near_their_own_vector(love, dim):
    robust = love.attach((SEEN, turned(dim)[:500]))
    assert robust.metadata["space"] == "mapped"
    assert robust.dim == dim
    near = cosines(robust.embed(HELD), turned(dim)[500:]).mean()
    in_own_space = cosines(love.embed(HELD), VECTORS[500:]).mean()
    assert near > in_own_space - 0.05
    assert robust.metadata["mapped"]["cosine"] > 0.3


def test_a_typo_is_near_the_word_it_stands_for(mapped):
    words = [word for word in SEEN if len(word) > 6][:150]
    typos = damage(words, np.random.default_rng(0), ["insert", "swap"])
    own, other = mapped.embed(words), mapped.embed(words[1:] + words[:1])
    made = mapped.embed(typos)
    assert cosines(made, own).mean() > cosines(made, other).mean() + 0.3


def test_lengths_fit_the_table(love):
    """Lengths that depend on the word's beginning are found; without any pattern the median is taken."""
    vectors = toy_vectors(WORDS, DIM)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths = np.exp(love.impute(WORDS) @ np.linspace(-2, 2, DIM)).astype(np.float32) * 30
    robust = love.attach((SEEN, vectors[:500] * lengths[:500, None]), near=False)
    made = np.linalg.norm(robust.embed(HELD), axis=1)
    error = np.abs(made / lengths[500:] - 1).mean()
    error_of_the_median = np.abs(np.median(lengths[:500]) / lengths[500:] - 1).mean()
    assert error < error_of_the_median / 2
    assert robust.metadata["length"]["chosen by"] == "regression"

    any_length = np.random.default_rng(2).uniform(1, 5, len(SEEN)).astype(np.float32)
    robust = love.attach((SEEN, vectors[:500] * any_length[:, None]), near=False)
    np.testing.assert_allclose(np.linalg.norm(robust.embed(HELD), axis=1), 3, atol=0.6)


@pytest.mark.parametrize("dim", [DIM, 24])
def test_a_table_of_unit_rows_stays_one(love, dim):
    vectors = turned(dim) if dim != DIM else VECTORS
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)
    robust = love.attach((SEEN, unit[:500]))
    lengths = np.linalg.norm(robust.embed(HELD + NASTY), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-3)  # as even as rows of float16 are


@pytest.mark.parametrize("kind", ["direct", "mapped"])
def test_a_words_vector_does_not_depend_on_its_company(kind, request):
    robust = request.getfixturevalue(kind)
    words = HELD[:40] + NASTY + SEEN[:5] + HELD[:3]
    together = robust.embed(words)
    assert np.isfinite(together).all()
    if kind == "mapped":
        for size in (1, 2, 7):
            parts = [robust.embed(words[low : low + size]) for low in range(0, len(words), size)]
            np.testing.assert_allclose(np.concatenate(parts), together, rtol=1e-4, atol=1e-5)
    assert np.array_equal(together[-3:], together[:3])


def test_what_the_map_does_to_a_row_is_the_same_in_any_batch(love, mapped):
    """Bit for bit: here the model's rows are given, so that only attaching is looked at."""
    made = love.embed(HELD)
    together = mapped._space(made) * mapped._lengths(made)[:, None]
    for size in (1, 3, 64):
        parts = [made[low : low + size] for low in range(0, len(made), size)]
        apart = np.concatenate([mapped._space(part) * mapped._lengths(part)[:, None] for part in parts])
        assert np.array_equal(apart, together)


def test_known_is_exact_and_the_lower_case_word_stands_in(love):
    words = ["Paris", "paris", "Apple", *SEEN]
    vectors = np.concatenate([np.random.default_rng(0).normal(size=(3, DIM)).astype(np.float32), VECTORS[:500]])
    robust = love.attach((words, vectors))
    asked = ["Paris", "PARIS", SEEN[0].upper(), "apple"]
    assert robust.known(asked).tolist() == [True, False, False, False]
    assert "Apple" in robust
    assert "apple" not in robust
    assert 3 not in robust
    assert np.array_equal(robust.embed(asked[:3]), vectors[[0, 1, 3]])
    assert not np.array_equal(robust["apple"], vectors[2])
    strict = love.attach((words, vectors), lowercase=False)
    assert not np.array_equal(strict["PARIS"], vectors[1])
    assert np.array_equal(strict["Paris"], vectors[0])


def test_neighbors_are_the_nearest_known_words(mapped):
    for word in (HELD[3], SEEN[3]):
        cosine = cosines(np.repeat(mapped[word][None], 500, axis=0), turned(24)[:500].astype(np.float64))
        order = [row for row in np.argsort(-cosine, kind="stable") if SEEN[row] != word][:4]
        near = mapped.neighbors(word, k=4)
        assert [name for name, _ in near] == [SEEN[row] for row in order]
        np.testing.assert_allclose([value for _, value in near], cosine[order], atol=1e-5)
    assert mapped.neighbors([HELD[3], ""], k=2) == [mapped.neighbors(HELD[3], k=2), []]
    assert len(mapped.neighbors(SEEN[0], k=10_000)) == 499


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", None])
def test_neighbors_wants_a_whole_number(love, mapped, k):
    for robust in (love, mapped):
        with pytest.raises(LovevecError, match=re.escape(f"k is {k!r}: must be at least 1, a whole number")):
            robust.neighbors("a", k)


UNKNOWN = [*(word + ending for word in WORDS[:400] for ending in ("", "ox", "qua", "ible")), *toy_words(300, seed=9)]


@pytest.mark.parametrize("mode", ["numpy", pytest.param("compiled", marks=needs_core)])
def test_a_word_has_the_same_bits_alone_in_pieces_and_in_a_long_list(love, mode):
    """One engine computes all of them: a list that is long enough would go to another one otherwise."""
    attached = love.copy(engine=mode).attach((SEEN, turned(24)[:500]))
    words = [f"{word}{number}" for number in range(6) for word in UNKNOWN]  # above ten thousand
    whole = attached.embed(words)
    assert len(words) > 10_240
    for size in (700, 5000):
        pieces = [attached.embed(words[low : low + size]) for low in range(0, len(words), size)]
        assert np.array_equal(np.concatenate(pieces), whole)
    for place in range(0, len(words), 700):
        assert np.array_equal(attached[words[place]], whole[place])


@needs_core
def test_the_engines_agree_but_for_words_on_the_edge_of_a_step(love):
    """A number that lies between two steps may fall on either, and with it the last of thirty neighbours."""
    one, other = (love.copy(engine=mode).attach((SEEN, turned(24)[:500])) for mode in ("numpy", "compiled"))
    words = [word for word in UNKNOWN if word not in one]
    apart = np.abs(one.embed(words) - other.embed(words)).max(axis=1)
    assert (apart < 1e-6).mean() > 0.9
    assert apart.max() < 0.05
    assert one.readings(words) == other.readings(words)


def test_a_pickle_is_the_same(mapped):
    again = pickle.loads(pickle.dumps(mapped))
    assert np.array_equal(again.embed(HELD + SEEN[:3]), mapped.embed(HELD + SEEN[:3]))
    assert again.neighbors(HELD[:3]) == mapped.neighbors(HELD[:3])


def test_every_kind_of_vectors_gives_the_same(love, direct, tmp_path):
    from gensim.models import KeyedVectors

    kv = KeyedVectors(DIM)
    kv.add_vectors(SEEN, VECTORS[:500])

    class Model:
        wv = kv

    path = tmp_path / "v.npz"
    np.savez(path, words=np.array(SEEN), vectors=VECTORS[:500])
    target = load_target((SEEN, VECTORS[:500]))
    kinds = [kv, Model, dict(zip(SEEN, VECTORS, strict=False)), read_vectors(path), path, str(path)]
    kinds.append((target.words, target.vectors))
    expected = direct.embed(HELD + SEEN[:3])
    for given in kinds:
        assert np.array_equal(love.attach(given).embed(HELD + SEEN[:3]), expected), type(given)


def test_a_float32_matrix_is_used_in_place_and_never_written(love):
    vectors = VECTORS[:500].copy()
    robust = love.attach((SEEN, vectors))
    assert np.shares_memory(robust.vectors, vectors)
    with pytest.raises(ValueError, match="read-only"):
        robust.vectors[0] = 0
    row = robust[SEEN[0]]
    row[:] = 0
    robust.embed(SEEN[:2])[:] = 0
    assert np.array_equal(vectors, VECTORS[:500])
    assert vectors.flags.writeable


def test_many_threads_agree(mapped):
    words = HELD + SEEN[:50]
    expected = mapped.embed(words)
    assert all(np.array_equal(result, expected) for result in at_once(lambda: mapped.embed(words)))


def test_too_few_shared_words_is_an_error_that_says_what_to_do(love):
    with pytest.raises(LovevecError, match=r"share 20 words.*at least 32.*lovevec train"):
        love.attach((SEEN[:20], turned(24)[:20]))
    with pytest.raises(LovevecError, match="share 0 words"):
        love.attach((["zzz1", "zzz2"], np.eye(2, DIM, dtype=np.float32)))
    few = love.attach((SEEN[:20], VECTORS[:20]))  # its own space needs no map
    assert few.metadata["space"] == "direct"
    assert len(few) == 20


def test_the_space_can_be_told(love):
    assert love.attach((SEEN, VECTORS[:500]), space="mapped").metadata["space"] == "mapped"
    assert love.attach((["zzz1"], np.eye(1, DIM, dtype=np.float32)), space="direct").metadata["shared words"] == 0
    with pytest.raises(LovevecError, match="16 dimensions and the vectors 24"):
        love.attach((SEEN, turned(24)[:500]), space="direct")
    with pytest.raises(LovevecError, match="space is 'other'"):
        love.attach((SEEN, VECTORS[:500]), space="other")


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        ({}, "shape"),
        (([], np.zeros((0, DIM))), "shape"),
        ({"a": [1.0, 2.0], "b": [1.0]}, "one array"),
        (([1, 2], np.eye(2)), "must be strings"),
        ((["a", "b"], np.full((2, DIM), np.nan)), "no usable row"),
        (("a", "b", "c"), "is none of these"),
        ((["a"], np.eye(2)), "1 words and 2 vectors"),
    ],
    ids=[
        "empty dict",
        "empty pair",
        "ragged",
        "numbers for words",
        "nothing but NaN",
        "three things",
        "one word short",
    ],
)
def test_what_is_no_table_is_one_clear_error(love, vectors, problem):
    with pytest.raises(LovevecError, match=problem):
        love.attach(vectors)


def test_rows_that_are_no_vectors_are_imputed_and_counted(love):
    vectors = VECTORS[:500].copy()
    vectors[3], vectors[4, 1] = 0, np.nan
    robust = love.attach((SEEN, vectors))
    assert robust.known(SEEN[2:6]).tolist() == [True, False, False, True]
    assert np.isfinite(robust.embed(SEEN)).all()
    assert robust[SEEN[3]].any()
    assert any("NaN" in line for line in robust.metadata["dropped"])
    assert any("zeros" in line for line in robust.metadata["dropped"])


@pytest.mark.parametrize("words", [b"one", 1, [1], ["a", None], {"a", "b"}])
def test_embed_takes_a_list_of_words(direct, words):
    with pytest.raises(LovevecError):
        direct.embed(words)


def test_embed_of_nothing_and_of_arrays(direct):
    assert direct.embed([]).shape == (0, DIM)
    assert np.array_equal(direct.embed(np.array(HELD)), direct.embed(HELD))


def test_about_can_be_published(mapped):
    metadata = json.loads(json.dumps(mapped.metadata))
    assert metadata["shared words"] == metadata["words"] == 500
    assert metadata["mapped"]["cosine"] > 0.3
    assert "500 shared words, cosine 0." in repr(mapped)


def test_the_less_sure_the_model_is_the_shorter_the_vector():
    """Known words keep their rows; imputed ones have the usual length times the root of the confidence."""
    love = LOVE.load()
    words = list(love.words[:3000])
    table = (words, 2 * love.embed(words))
    sure, plain = love.attach(table, near=False), love.attach(table, by_confidence=False, near=False)
    unknown = ["performence", "xqzvj", "bec0me", "hospitall", "hyperloop"]
    assert not sure.known(unknown).any()
    length = np.linalg.norm(sure.embed(unknown), axis=1) / np.linalg.norm(plain.embed(unknown), axis=1)
    np.testing.assert_allclose(length, np.sqrt(np.maximum(love._imputed_confidence(unknown), 0.05)), rtol=1e-5)
    assert length[0] > length[1]
    np.testing.assert_array_equal(sure.embed(words[:50]), plain.embed(words[:50]))
    assert sure.metadata["length"]["by confidence"] is True
    assert plain.metadata["length"]["by confidence"] is False


def test_a_model_without_confidence_leaves_the_lengths():
    def embed(words):
        return np.eye(4, dtype=np.float32)[[len(word) % 4 for word in words]]

    factors = ConfidenceLength(PlainModel(("a", "b"), 4, embed))
    assert factors.known is False
    np.testing.assert_array_equal(factors(["x", "yy"]), [1, 1])


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_mapped_table_is_attached_where_it_is(love, tmp_path, dtype):
    """The same vectors as from memory; the file stays a file."""
    vectors = turned(24)[:500].astype(dtype)
    np.savez(tmp_path / "a.npz", vectors=vectors, words=np.array(SEEN))
    convert_vectors(tmp_path / "a.npz", tmp_path / "a.safetensors", dtype=dtype)
    table = read_vectors(tmp_path / "a.safetensors", mmap=True)
    robust, expected = love.attach(table), love.attach((SEEN, vectors.astype(np.float32)))
    assert np.shares_memory(robust.vectors, table.vectors)
    assert robust.embed(SEEN).dtype == np.float32
    np.testing.assert_array_equal(robust.embed(HELD + SEEN[:9]), expected.embed(HELD + SEEN[:9]))
    assert [word for word, _ in robust.neighbors(SEEN[3])] == [word for word, _ in expected.neighbors(SEEN[3])]
    np.testing.assert_array_equal(robust.encode(["a " + SEEN[0]]), expected.encode(["a " + SEEN[0]]))
