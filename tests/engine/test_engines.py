"""Both engines against the unfolded encoder in float64, and against themselves: same word, same bits."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.reference import reference_vectors
from tests.factories import at_once, needs_core, random_parts, toy_words
from tests.nasty import NASTY

from lovevec.engine.engine import FoldEngine
from lovevec.engine.fold import PRECISIONS
from lovevec.model.folder import ModelParts

ENGINES = ("numpy", pytest.param("compiled", marks=needs_core))
SHAPES: dict[str, dict[str, Any]] = {
    "plain": {},
    "odd sizes": {"dim": 17, "key_width": 5},
    "wide": {"dim": 300, "key_width": 32},
    "head": {"head": 7},
    "factor": {"factor": 5},
    "n-grams": {"ngrams": 50},
    "all": {"dim": 40, "key_width": 6, "head": 12, "factor": 9, "ngrams": 30, "buckets": 60},
    "characters": {"mode": "chars"},
    "pieces": {"mode": "pieces", "ngrams": 20},
    "with case": {"lowercase": False, "ngrams": 20},
}
STRINGS = st.one_of(
    st.text(max_size=30),
    st.text("abelngrst", max_size=120),
    st.text(st.characters(), max_size=8),
    st.sampled_from([*NASTY, *toy_words(60)]),
)


def engine(parts: ModelParts, mode: Any, precision: Any = "float32", threads: int | None = None) -> FoldEngine:
    return FoldEngine(parts.spec, parts.folded.to(precision), parts.units, mode, threads)


@pytest.fixture(scope="module")
def words() -> list[str]:
    return [*toy_words(300), *(word + word[::-1] for word in toy_words(60, seed=4)), *NASTY]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ENGINES)
def test_vectors_are_those_of_the_unfolded_encoder(shape, mode, words):
    parts = random_parts(**SHAPES[shape])
    expected, lengths = reference_vectors(parts, words)
    for precision in PRECISIONS:
        norms = np.empty(len(words), dtype=np.float32)
        found = engine(parts, mode, precision).embed(words, norms)
        assert found.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
        cosine = (found * expected).sum(axis=1)
        assert cosine.min() >= (0.999 if precision == "int8" else 0.99999), precision
        np.testing.assert_allclose(norms, lengths, rtol=0.05 if precision == "int8" else 2e-3)
        if precision == "float32":
            np.testing.assert_allclose(found, expected, atol=1e-5)


@given(st.lists(STRINGS, min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_any_string_gets_the_vector_of_the_unfolded_encoder(batch):
    parts = PARTS["all"]
    expected, _ = reference_vectors(parts, batch)
    np.testing.assert_allclose(engine(parts, "auto").embed(batch), expected, atol=1e-5)
    np.testing.assert_allclose(engine(parts, "auto").embed(batch), engine(parts, "numpy").embed(batch), atol=1e-6)


PARTS = {name: random_parts(**SHAPES[name]) for name in ("plain", "all")}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("mode", ENGINES)
@given(st.lists(STRINGS, min_size=1, max_size=30), st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_a_words_bits_do_not_depend_on_its_company(mode, precision, batch, random):
    for parts in PARTS.values():
        made = engine(parts, mode, precision)
        norms = np.empty(len(batch), dtype=np.float32)
        together = made.embed(batch, norms)
        order = random.sample(range(len(batch)), len(batch))
        shuffled = made.embed([batch[place] for place in order])
        assert np.array_equal(shuffled, together[order])
        alone = np.empty(1, dtype=np.float32)
        for word, row, norm in zip(batch, together, norms, strict=True):
            assert np.array_equal(made.embed([word], alone)[0], row)
            assert alone[0] == norm


@pytest.mark.parametrize("shape", ["plain", "wide", "all"])
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("mode", ENGINES)
def test_bits_depend_neither_on_the_threads_nor_on_the_place_in_a_long_call(mode, precision, shape):
    parts = random_parts(**SHAPES[shape])
    base = [*toy_words(1500, seed=3), *NASTY[:15]]
    words = base * 12  # several chunks of both engines, and enough to widen float16 tables whole
    expected = engine(parts, mode, precision, threads=1).embed(base)
    for threads in (1, 2, 3, 16):
        found = engine(parts, mode, precision, threads).embed(words)
        assert np.array_equal(found, np.tile(expected, (12, 1)))


@pytest.mark.parametrize("mode", ENGINES)
def test_sixteen_callers_at_once_get_the_same_bits(mode, words):
    made = engine(PARTS["all"], mode, threads=2)
    many = words[:300] * 30
    expected = np.tile(engine(PARTS["all"], mode, threads=1).embed(words[:300]), (30, 1))
    assert all(np.array_equal(result, expected) for result in at_once(lambda: made.embed(many)))


def test_numpys_bits_do_not_depend_on_the_threads_of_its_blas():
    script = """
import hashlib
from lovevec.engine.engine import FoldEngine
from tests.factories import toy_words
from tests.factories import random_parts
words = toy_words(600)
long = ["".join(words[i : i + count])[:100] for count in (5, 8, 12, 20) for i in range(0, 400, 20)]
for shape in ({"dim": 300, "key_width": 32}, {"dim": 300, "head": 300, "ngrams": 40}):
    parts = random_parts(**shape)
    vectors = FoldEngine(parts.spec, parts.folded, parts.units, "numpy").embed([*words * 3, *long])
    print(hashlib.sha256(vectors.tobytes()).hexdigest())
"""
    runs = [
        subprocess.run(
            [sys.executable, "-c", script], env=_environment(count), capture_output=True, text=True, check=True
        )
        for count in ("1", "2", "3")
    ]
    assert len({run.stdout for run in runs}) == 1
    assert runs[0].stdout.count("\n") == 2


def _environment(threads: str) -> dict[str, str]:
    return {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}


@pytest.mark.parametrize("mode", ENGINES)
def test_the_engines_agree_on_attention_that_is_very_decided(mode):
    parts = random_parts(sharp=40)
    words = toy_words(200)
    expected, _ = reference_vectors(parts, words)
    assert ((engine(parts, mode).embed(words) * expected).sum(axis=1)).min() > 0.9999


@pytest.mark.parametrize("mode", ENGINES)
def test_no_words_are_no_rows(mode):
    assert engine(PARTS["plain"], mode).embed([]).shape == (0, 24)


@pytest.mark.parametrize("mode", ENGINES)
def test_words_may_come_as_a_tuple_or_an_array(mode, words):
    made = engine(PARTS["plain"], mode)
    expected = made.embed(words[:50])
    assert np.array_equal(made.embed(tuple(words[:50])), expected)
    assert np.array_equal(made.embed(np.array(words[:50])), expected)


def test_what_explains_a_vector_adds_up_to_it(words):
    parts = PARTS["plain"]
    made = engine(parts, "numpy", "int8").numpy
    for word in words[:40]:
        ids = parts.units.encode([word]).values[None]
        weights = made.weights(ids)
        np.testing.assert_allclose(made.attention(ids).sum(axis=2), 1, atol=1e-5)
        np.testing.assert_allclose(
            weights, (made.attention(ids)[0] @ made.window(ids.shape[1])).sum(axis=0)[None], atol=1e-5
        )
        vector = weights[0] @ made.out_rows(ids[0])
        np.testing.assert_allclose(vector / np.linalg.norm(vector), made.embed([word])[0], atol=1e-5)


@needs_core
@pytest.mark.parametrize("mode", ["mixed", "chars", "pieces"])
def test_units_are_counted_alike_by_the_core_and_by_numpy(mode):
    parts = random_parts(mode=mode)
    words = [*toy_words(200), "", "🙂", "a🙂b", "É" * 130, "Straße", "x" * 90]
    counts = np.empty((len(words), 4), dtype=np.int64)
    FoldEngine(parts.spec, parts.folded, parts.units, "compiled").core_fold.count(words, counts)
    assert np.array_equal(counts, parts.units.counts(words))
