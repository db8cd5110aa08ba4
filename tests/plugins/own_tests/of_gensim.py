"""gensim's own tests of KeyedVectors, with RobustKeyedVectors in their place: a table, the shipped LOVE behind it."""

from __future__ import annotations

import gensim.models
import numpy as np
from tests.plugins.own_tests import expect

from lovevec import LOVE
from lovevec.plugins.gensim import RobustKeyedVectors

Plain = gensim.models.KeyedVectors
love = LOVE.load()

ANY_WORD = "an unknown word has a vector", AssertionError
IMPOSSIBLE = {
    "test_most_similar_raises_keyerror": ANY_WORD,
    "test_vectors_for_all_list": ANY_WORD,
    "test_get_mean_vector": ANY_WORD,  # one of its words is unknown, and counts
}


class KeyedVectors(RobustKeyedVectors):
    """As gensim's is called."""

    def __init__(self, vector_size, count=0, dtype=np.float32, mapfile_path=None):
        super().__init__(Plain(vector_size, count, dtype, mapfile_path), love)


gensim.models.KeyedVectors = KeyedVectors


def pytest_collection_modifyitems(items):
    for item in items:
        item.module.KeyedVectors = KeyedVectors  # its own module needs the name for its own class
    expect(items, IMPOSSIBLE)
