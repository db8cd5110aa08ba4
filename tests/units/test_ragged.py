from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lovevec.units.ragged import Ragged, join_rows, merge

ROWS = st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=12)


def ragged(rows: list[list[int]]) -> Ragged:
    return Ragged.from_lengths(
        np.array([x for row in rows for x in row], dtype=np.int64), np.array([*map(len, rows)], int)
    )


def lists(rows: Ragged) -> list[list[int]]:
    return [rows.row(i).tolist() for i in range(len(rows))]


@given(ROWS, st.data())
def test_take_does_what_lists_do(rows, data):
    picks = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=20)) if rows else []
    made = ragged(rows)
    assert lists(made.take(np.array(picks, dtype=np.int64))) == [rows[i] for i in picks]


@given(ROWS, st.integers(0, 7))
def test_padded_keeps_rows_and_fills_behind(rows, width):
    rows = [[x + 1 for x in row] for row in rows]
    made = ragged(rows).padded(width)
    assert made.shape == (len(rows), max([width, *map(len, rows)]))
    assert [[x for x in row if x > 0] for row in made.tolist()] == rows


@given(ROWS, ROWS, st.randoms())
def test_merge_interleaves_in_order(yes, no, random):
    where = [True] * len(yes) + [False] * len(no)
    random.shuffle(where)
    first, second = iter(yes), iter(no)
    expected = [next(first) if take else next(second) for take in where]
    assert lists(merge(np.array(where, dtype=bool), ragged(yes), ragged(no))) == expected


@given(ROWS, st.integers(1, 12))
def test_equal_lengths_hands_out_every_row_once(rows, most):
    found = {}
    for which, values in ragged(rows).equal_lengths(most):
        assert len(which) == len(values)
        assert values.size <= most or len(which) == 1 or values.shape[1] == 0
        found |= {int(row): value.tolist() for row, value in zip(which, values, strict=True)}
    assert [found[i] for i in range(len(rows))] == rows


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 9), max_size=5), st.lists(st.integers(0, 9), max_size=5)), max_size=9)
)
def test_joined_puts_rows_one_behind_the_other(pairs):
    first, second = [row for row, _ in pairs], [row for _, row in pairs]
    assert lists(join_rows(ragged(first), ragged(second))) == [a + b for a, b in pairs]


@given(ROWS, st.integers(0, 10))
def test_split_parts_low_from_high_in_order(rows, bound):
    low, high = ragged(rows).split(bound)
    assert lists(low) == [[x for x in row if x < bound] for row in rows]
    assert lists(high) == [[x for x in row if x >= bound] for row in rows]


@given(ROWS)
def test_owners_name_the_row_of_each_value(rows):
    assert ragged(rows).owners.tolist() == [number for number, row in enumerate(rows) for _ in row]


@given(ROWS, st.integers(0, 9))
def test_draw_takes_a_value_of_its_row_or_the_default(rows, seed):
    default = -1 - np.arange(3 * len(rows)).reshape(len(rows), 3)
    drawn = ragged(rows).draw(np.arange(len(rows))[:, None], default, np.random.default_rng(seed))
    for row, values, otherwise in zip(rows, drawn.tolist(), default.tolist(), strict=True):
        assert set(values) <= set(row) if row else values == otherwise


def test_draw_is_fair():
    uneven = ragged([[4, 5], [], [6, 7, 8]])
    rows = np.array([0, 2]).repeat(3000)
    counts = np.bincount(uneven.draw(rows, rows, np.random.default_rng(0)))
    np.testing.assert_allclose(counts[4:], [1500, 1500, 1000, 1000, 1000], rtol=0.1)
