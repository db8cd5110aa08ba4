"""The channel as plain numbers: what is written is read; whatever else stands there is one error."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.near.strings import channels

from lovevec.errors import LovevecError
from lovevec.near.channel import DEFAULT, MAX_SLIP_COST, MAX_WEIGHT, UNIT, Channel
from lovevec.near.joined import FEATURES as JOINED
from lovevec.near.joined import SHORT
from lovevec.near.novelty import FEATURES
from lovevec.near.symbols import KINDS


@given(channels())
def test_what_is_written_is_read(channel):
    again = Channel.from_dict(json.loads(json.dumps(channel.as_dict())))
    assert again.as_dict() == channel.as_dict()
    assert np.array_equal(again.slip_costs, channel.slip_costs)
    assert np.array_equal(again.new_weights, channel.new_weights)
    assert np.array_equal(again.rank_costs(np.arange(99)), channel.rank_costs(np.arange(99)))
    assert np.array_equal(*(one.part_costs(np.arange(99), np.arange(99) % 5) for one in (again, channel)))
    assert again.join_cost == channel.join_cost


@given(channels())
def test_costs_are_whole_numbers_of_their_unit_in_the_order_of_their_names(channel):
    assert channel.slip_costs.tolist() == [round(channel.costs[kind] * UNIT) for kind in KINDS]
    assert channel.slip_costs.dtype == np.int16
    assert channel.new_weights.tolist() == [channel.new[name] for name in FEATURES]
    rows = [0, 1, 30, 79_999]
    assert channel.rank_costs(np.array(rows)).tolist() == [
        round(channel.rank * math.log(row + 30) * UNIT) for row in rows
    ]
    lengths = [1, SHORT, SHORT + 1, 9]
    assert channel.part_costs(np.array(rows), np.array(lengths)).tolist() == [
        round(channel.joined["rank"] * math.log(row + 30) * UNIT)
        + (round(channel.joined["short"] * UNIT) if length <= SHORT else 0)
        for row, length in zip(rows, lengths, strict=True)
    ]
    assert channel.join_cost == round(channel.joined["join"] * UNIT)


def test_the_default_is_one_that_can_be_stored():
    assert Channel.from_dict(DEFAULT.as_dict()).as_dict() == DEFAULT.as_dict()
    assert (DEFAULT.slip_costs > 0).all()


def changed(path: str, value: Any) -> dict[str, Any]:
    """The default with one thing replaced, or left out (...)."""
    raw = json.loads(json.dumps(DEFAULT.as_dict()))
    *folders, name = path.split("/")
    place = raw
    for folder in folders:
        place = place[folder]
    if value is ...:
        del place[name]
    else:
        place[name] = value
    return raw


NUMBERS = ["rank", "costs/other", "costs/last", "new/constant", "new/name", "joined/constant", "joined/short"]


@pytest.mark.parametrize("path", NUMBERS)
@pytest.mark.parametrize(
    "value",
    [..., None, "1", True, False, [], {}, [1.0], math.nan, math.inf, -math.inf, -65, 65.0, 1e30],
)
def test_a_number_that_is_none_or_far_off_is_one_error(path, value):
    with pytest.raises(LovevecError, match="`channel` is not what lovevec writes there"):
        Channel.from_dict(changed(path, value))


@pytest.mark.parametrize("path", NUMBERS)
def test_a_number_of_400_digits_is_one_error(path):
    for value in (10**400, -(10**400)):
        with pytest.raises(LovevecError, match="`channel` is not what lovevec writes there"):
            Channel.from_dict(changed(path, value))


@pytest.mark.parametrize(
    ("path", "most"),
    [
        *(("rank", MAX_SLIP_COST), ("costs/swap", MAX_SLIP_COST), ("new/listed", MAX_WEIGHT)),
        *(("joined/constant", MAX_WEIGHT), ("joined/join", MAX_SLIP_COST), ("joined/rank", MAX_SLIP_COST)),
    ],
)
def test_the_bounds_themselves_are_allowed(path, most):
    low = -most if most == MAX_WEIGHT else 0
    for value in (most, low, int(most)):
        assert Channel.from_dict(changed(path, value))
    for value in (most + 0.01, low - 0.01):
        with pytest.raises(LovevecError):
            Channel.from_dict(changed(path, value))


@pytest.mark.parametrize(
    "raw",
    [
        *(None, 7, "costs", [], {}, [1, 2, 3], True, {"costs": {}, "rank": 1.0, "new": {}, "joined": {}}),
        *(changed("costs", value) for value in (..., None, 5, "other", [], ["other"], [["other", 1.0]], {})),
        *(changed("new", value) for value in (..., None, 5, "name", [], {}, [[]], [[1, 2, 3]])),
        *(changed("joined", value) for value in (..., None, 5, "rank", [], {}, [[]], [[1, 2, 3]])),
        *(changed("more", 1.0), changed("costs/telepathy", 1.0), changed("new/telepathy", 1.0)),
        *(changed("costs/other", ...), changed("new/sibling", ...), changed("joined/rank", ...)),
        *(changed("joined/telepathy", 1.0), changed("new/total", 1.0)),
    ],
    ids=lambda raw: str(raw)[:40],
)
def test_anything_else_is_one_error(raw):
    with pytest.raises(LovevecError, match="`channel` is not what lovevec writes there"):
        Channel.from_dict(raw)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(
                st.sampled_from(["costs", "rank", "new", "joined", *KINDS, *FEATURES, *JOINED]), st.text(max_size=3)
            ),
            inner,
        ),
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_a_channel_or_one_error(raw):
    with pytest.raises(LovevecError, match="`channel`"):
        Channel.from_dict(raw)
