"""UNK: one vector for all that is not known."""

from __future__ import annotations

import numpy as np
from lab_factories import stem_table

from lovevec_lab.methods.unknown import Unk


def test_unknown_words_have_the_mean_and_do_not_count_as_covered():
    table = stem_table(120)
    rival = Unk(table)
    words = [table.words[5], "qwrtz", "zzz"]
    made = rival.embed(words)
    assert np.array_equal(made[0], table.vectors[5])
    np.testing.assert_allclose(made[1], table.vectors.astype(np.float64).mean(axis=0), rtol=1e-6)
    assert np.array_equal(made[1], made[2])
    assert rival.covers(words).tolist() == [True, False, False]
    assert rival.parameters == (121 * table.dim, 0)
