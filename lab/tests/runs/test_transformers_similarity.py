"""How near noisy copies stay to their sentences, against a search by hand and sentence-transformers' own vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.factories import toy_words
from transformer_factory import save_transformer
from transformers_similarity import embedder, nearness, reader, those_with

from lovevec.damage.noise import Noise, damaged
from lovevec.errors import LovevecError
from lovevec_lab.evaluate.finetune import Transformer
from lovevec_lab.evaluate.similarity import GoldPairs

WORDS = toy_words(60)
SENTENCES = [[WORDS[i] for i in np.random.default_rng(row).integers(0, 60, 6)] for row in range(30)]
NOISES = [Noise("typo", 0.0), Noise("typo", 0.5), Noise("typo", 1.0)]


def letters(sentences) -> np.ndarray:
    """How often each letter occurs."""
    return np.array([[" ".join(words).count(letter) for letter in "aeioubdgklmnprstv"] for words in sentences], "f4")


def test_nearness_is_that_of_a_search_by_hand():
    found = nearness(letters, SENTENCES, NOISES, seed=3)
    assert list(found) == ["original", "typo 50 %", "typo 100 %"]
    assert found["original"].own == pytest.approx(1)
    assert found["original"].found == 100
    noisy, clean = letters(damaged(SENTENCES, NOISES[2], 3)), letters(SENTENCES)
    own, others, right = [], [], 0
    for row, vector in enumerate(noisy):
        near = [float(vector @ one / np.linalg.norm(vector) / np.linalg.norm(one)) for one in clean]
        own.append(near[row])
        others += near[:row] + near[row + 1 :]
        right += max(near) == near[row]
    worst = found["typo 100 %"]
    assert worst == pytest.approx((np.mean(own), np.mean(others), 100 * right / 30), abs=1e-5)
    assert worst.own < found["typo 50 %"].own < 1


def test_an_encoder_that_sees_no_difference_finds_nothing():
    found = nearness(lambda sentences: np.ones((len(sentences), 4), "f4"), SENTENCES, NOISES[1:2], 0)["typo 50 %"]
    assert (found.own, found.others) == pytest.approx((1, 1))
    assert found.found == pytest.approx(100 / 30)  # the first one, by chance


def test_the_same_sentence_twice_is_one():
    assert nearness(letters, [*SENTENCES, *SENTENCES], NOISES, 3) == nearness(letters, SENTENCES, NOISES, 3)
    with pytest.raises(LovevecError, match="two different sentences"):
        nearness(letters, [["a"], ["a"]], NOISES, 0)


def test_vectors_are_those_of_sentence_transformers(tmp_path):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from sentence_transformers.sentence_transformer.modules import Transformer as Module

    folder = str(save_transformer(tmp_path, WORDS))
    module = Module(folder)
    theirs = SentenceTransformer(modules=[module, Pooling(16, "mean")], device="cpu")
    sentences = damaged(SENTENCES, replace(NOISES[1], share=0.3), 1)
    expected = theirs.encode([" ".join(words) for words in sentences])
    np.testing.assert_allclose(embedder(Transformer(folder), torch.device("cpu"))(sentences), expected, atol=1e-5)


def test_pairs_with_a_word():
    pairs = GoldPairs("made", ["ab cd.", "kkk", "ei"], ["ab", "kkl", "oo"], np.array([5.0, 3.0, 0.0]))
    found = those_with(lambda word: word in ("oo", "cd"), pairs, pairs)
    assert (found.one, found.other) == (["ab cd.", "ei"] * 2, ["ab", "oo"] * 2)
    assert found.gold.tolist() == [5.0, 0.0] * 2
    np.testing.assert_array_equal(reader(letters)(["ab, k", "oo"]), letters([["ab", ",", "k"], ["oo"]]))
