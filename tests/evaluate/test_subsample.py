"""A part of a text is random, and always the same."""

from __future__ import annotations

import pytest

from lovevec.evaluate.subsample import subsample


def test_a_part_is_always_the_same_and_from_all_over():
    part = subsample(100, 20)
    assert part == subsample(100, 20)
    assert len(set(part)) == 20
    assert 3 < sum(row < 50 for row in part) < 17


@pytest.mark.parametrize("most", [None, 100, 200])
def test_all_stay_in_their_order(most):
    assert subsample(100, most) == list(range(100))
