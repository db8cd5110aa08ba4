"""spaCy's own tests of vocabularies and vectors, with LoveVectors in the place of its Vectors: a table with the shipped
LOVE behind it. Floret, which has no table, stays spaCy's own."""

from __future__ import annotations

import spacy.training.initialize
import spacy.vectors
import spacy.vocab
from tests.plugins.own_tests import expect

from lovevec import LOVE
from lovevec.plugins.spacy import LoveVectors

Plain = spacy.vectors.Vectors
love = LOVE.load()

ANY_WORD = "an unknown word has a vector", AssertionError
PLAIN = "spaCy would put plain Vectors in the place, without the LOVE: refused, as with floret", ValueError
IMPOSSIBLE = {
    "test_vector_is_oov": ANY_WORD,
    "test_vectors_attr": ANY_WORD,
    "test_vocab_prune_vectors": PLAIN,
    "test_vectors_deduplicate": PLAIN,
    "test_floret_vectors": PLAIN,  # compares with a plain table, whose reader removes duplicates
}


class Vectors(LoveVectors):
    """As `spacy.vectors.Vectors` is called."""

    def __new__(cls, *, mode="default", **table):
        return Plain(mode=mode, **table) if mode == "floret" else super().__new__(cls)

    def __init__(self, **table):
        super().__init__(love, attached=True, **table)


@spacy.registry.vectors("spacy.Vectors.v1")
def create_vectors():
    return lambda vocab: Vectors(strings=vocab.strings)


for module in (spacy.vectors, spacy.vocab, spacy.training.initialize):
    module.Vectors = Vectors


def pytest_collection_modifyitems(items):
    expect(items, IMPOSSIBLE)
