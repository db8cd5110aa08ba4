"""`love.dedupe`: which records of a table are the same thing."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from lovevec import LovevecError
from lovevec.damage.misspell import misspell
from lovevec.search.blocking import Candidates
from lovevec.search.dedupe import grouped
from tests.nasty import NASTY

RECORDS = [
    "Vestergaard Foods Ltd",
    "Kowalski Systems",
    "Vestergard Foods Ltd",
    "Okonkwo Shipping",
    "kowalski  systems!",
    "Zentora Robotics",
    "Vestergaard Food Ltd.",
]

FIRSTS = "Alder Birch Cedar Dogwood Elder Fir Gorse Hazel Ivy Juniper"
LASTS = "Bakery Capital Dairies Energy Foundry Gardens Hotels Insurance Joinery Kitchens"


def test_what_is_the_same_is_one_group(shipped_love):
    groups = shipped_love.dedupe(RECORDS)
    assert list(groups) == [[0, 2, 6], [1, 4]]
    assert groups.first == [0, 1, 3, 5]
    assert groups.labels.tolist() == [0, 1, 0, 3, 1, 5, 0]
    assert groups.probabilities[[3, 5]].tolist() == [1, 1]
    assert groups.probabilities[4] == 1  # the same words
    assert all(0.5 < chance < 1 for chance in groups.probabilities[[0, 2, 6]])
    assert repr(groups) == "Groups(2 groups; 4 of 7 records stay)"
    assert groups[0] == [0, 2, 6]
    assert groups[:] == list(groups)


def test_names_and_their_mistyped_twins(shipped_love):
    rng = np.random.default_rng(2)
    names = [f"{first} {last}" for first in FIRSTS.split() for last in LASTS.split()]
    twins = [" ".join([misspell([words[0]], rng)[0], *words[1:]]) for words in map(str.split, names[:40])]
    groups = shipped_love.dedupe(names + twins)
    pairs = {(one, other) for group in groups for one in group for other in group if one < other}
    right = {(row, len(names) + row) for row in range(len(twins))}
    assert len(pairs & right) >= 0.25 * len(right)  # a letter away there are others: Elder Bakery, Alder Bakery
    assert len(pairs & right) >= 0.8 * len(pairs)


def test_the_order_of_records_does_not_matter(shipped_love):
    order = np.random.default_rng(0).permutation(len(RECORDS))
    turned = shipped_love.dedupe([RECORDS[row] for row in order])
    assert sorted(sorted(int(order[row]) for row in group) for group in turned) == [[0, 2, 6], [1, 4]]


def test_more_precision_makes_fewer_pairs(shipped_love):
    sizes = [
        sum(len(group) for group in shipped_love.dedupe(RECORDS, precision=share)) for share in (0.5, 0.9, 0.99999)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert [1, 4] in list(shipped_love.dedupe(RECORDS, precision=1.0))  # what has the same words is the same


@given(st.integers(0, 10_000))
@settings(max_examples=150)
def test_groups_are_those_of_average_linkage(seed):
    """Of scipy, where no two means are equal."""
    rng = np.random.default_rng(seed)
    count, least = int(rng.integers(2, 16)), float(rng.uniform(0.3, 0.9))
    chances = rng.random((count, count)) ** rng.choice([0.3, 1, 3])
    chances = np.triu(chances, 1) + np.triu(chances, 1).T
    low, high = np.triu_indices(count, 1)
    labels = grouped(Candidates(high, low, chances[low, high]), chances[low, high], least, count, weakest=0.0)
    expected = fcluster(
        linkage(squareform(1 - chances * (1 - np.eye(count)) - np.eye(count), checks=False), "average"),
        1 - least,
        "distance",
    )
    np.testing.assert_array_equal(labels[:, None] == labels, expected[:, None] == expected)


def test_a_chain_of_weak_links_makes_no_group():
    """0.6 from each to the next, nothing between others: pairs, not a chain of six."""
    low = np.arange(5)
    labels = grouped(Candidates(low + 1, low, np.full(5, 0.6)), np.full(5, 0.6), 0.5, 6)
    assert np.bincount(labels).max() == 2


def test_frames(shipped_love):
    frame = pandas.DataFrame(
        {"name": RECORDS, "town": ["Oslo", "Riga", "Oslo", None, "Riga", "Bonn", "Oslo"], "year": range(7)},
        index=[3] * 7,
    )
    groups = shipped_love.dedupe(frame)
    assert list(groups) == [[0, 2, 6], [1, 4]]
    assert list(shipped_love.dedupe(frame, columns=["name"])) == [[0, 2, 6], [1, 4]]
    assert groups.to_pandas()["group"].tolist() == groups.labels.tolist()
    assert groups.to_arrow().column_names == ["group", "probability"]


@pytest.mark.parametrize("records", [[], [""], ["", None, float("nan")], ["a"], ["!", "?"]])
def test_what_is_empty_or_alone_has_no_group(shipped_love, records):
    groups = shipped_love.dedupe(records)
    assert list(groups) == []
    assert groups.first == list(range(len(records)))


def test_nasty_strings(shipped_love):
    groups = shipped_love.dedupe(NASTY + NASTY)
    assert groups == shipped_love.dedupe(NASTY + NASTY)
    assert np.isfinite(groups.probabilities).all()
    assert (groups.probabilities <= 1).all()


def test_bad_input_is_one_clear_error(shipped_love):
    with pytest.raises(LovevecError, match="precision is 2"):
        shipped_love.dedupe(RECORDS, precision=2)
    with pytest.raises(LovevecError, match="records: there is no column 'b' but 'a'"):
        shipped_love.dedupe([{"a": "x"}], columns=["b"])
    with pytest.raises(LovevecError, match="records is one string"):
        shipped_love.dedupe("Acme")
