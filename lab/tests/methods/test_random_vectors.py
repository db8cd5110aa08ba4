from __future__ import annotations

import numpy as np
from lab_factories import stem_table

from lovevec_lab.methods.unknown import Random

TABLE = stem_table(30, dim=32)


def test_known_words_keep_theirs_and_others_have_one_of_their_own():
    table = TABLE
    method = Random(table, seed=3)
    known, unknown = list(table.words[:5]), ["zzyzx", "qwrtp", "zzyzx", "é", "\ud800"]
    np.testing.assert_array_equal(method.embed(known), table.vectors[:5])
    made = method.embed(unknown)
    np.testing.assert_array_equal(made[0], made[2])
    assert not np.allclose(made[0], made[1])
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), method.length, rtol=1e-5)
    assert method.covers([*known, *unknown]).tolist() == [True] * 5 + [False] * 5


def test_the_seed_decides_and_company_does_not():
    table = TABLE
    alone = Random(table, seed=3).embed(["zzyzx"])
    np.testing.assert_array_equal(Random(table, seed=3).embed(["qwrtp", "zzyzx"])[1:], alone)
    assert not np.allclose(Random(table, seed=4).embed(["zzyzx"]), alone)


def test_directions_are_spread_evenly():
    made = Random(TABLE).embed([f"unknown{i}" for i in range(400)])
    cosine = made @ made.T / np.outer(*[np.linalg.norm(made, axis=1)] * 2)
    assert abs(cosine[np.triu_indices(400, 1)].mean()) < 0.02
