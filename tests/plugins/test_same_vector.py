"""The same word gives the same vector through every plug-in.

A way is a function of (love, words) -> [len(words), dim], in its tool's own manner; a new plug-in adds one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from lovevec import LOVE

WORDS = ["oxygen", "Oxgen", "leukamia", "tommorow", "deplatformed", "bl00d", "cryptobros", "naïve", "don't", "the"]
WAYS: dict[str, Callable[[LOVE, list[str]], np.ndarray]] = {}


def way(function: Callable[[LOVE, list[str]], np.ndarray]) -> Callable[[LOVE, list[str]], np.ndarray]:
    WAYS[function.__name__] = function
    return function


@way
def gensim(love, words):
    from lovevec.plugins.gensim import RobustKeyedVectors

    return RobustKeyedVectors(love=love)[words]


@way
def spacy(love, words):
    from spacy import blank
    from spacy.tokens import Doc

    from lovevec.plugins.spacy import attach

    return np.array([token.vector for token in Doc(attach(blank("en"), love).vocab, words=words)])


@way
def torch(love, words):
    return love.to_torch()(words).detach().numpy()


@pytest.mark.parametrize("name", WAYS)
def test_the_same_word_has_the_same_vector(shipped_love, name):
    found, expected = WAYS[name](shipped_love, WORDS), shipped_love.embed(WORDS)
    cosines = (found * expected).sum(axis=1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.min() >= 0.99999


# Of tools that know texts only a word is a text of one word, whose vector `love.encode` gives.
TEXT_WAYS: dict[str, Callable[[LOVE, list[str]], np.ndarray]] = {}


def text_way(function: Callable[[LOVE, list[str]], np.ndarray]) -> Callable[[LOVE, list[str]], np.ndarray]:
    TEXT_WAYS[function.__name__] = function
    return function


@text_way
def sklearn(love, texts):
    from lovevec.plugins.sklearn import LoveVectorizer

    return LoveVectorizer(love).fit_transform(texts)


@text_way
def sentence_transformers(love, texts):
    from sentence_transformers import SentenceTransformer

    from lovevec.plugins.sentence_transformers import LoveWords

    return SentenceTransformer(modules=[LoveWords(love)], device="cpu").encode(texts)


@text_way
def sentence_transformers_by_torch(love, texts):
    from lovevec.plugins.sentence_transformers import LoveWords

    module = LoveWords(love, trainable=True)
    return module(module.preprocess(texts))["sentence_embedding"].detach().numpy()


@pytest.mark.parametrize("name", TEXT_WAYS)
def test_the_same_text_has_the_same_vector(shipped_love, name):
    texts = [*WORDS, "a wonderfull fi1m, definately recomended", "well-known #ThrowbackThursday"]
    found, expected = TEXT_WAYS[name](shipped_love, texts), shipped_love.encode(texts, context="torch" not in name)
    cosines = (found * expected).sum(axis=1) / np.linalg.norm(found, axis=1)
    assert cosines.min() >= 0.99999
