"""The channel: what was learned of how words get damaged, as plain numbers.

    costs   of each kind of slip, in nats
    rank    what the log of a word's place in the table counts: the prior of a frequent word
    new     what each feature of a string counts for its being new (novelty.py)
    joined  what speaks for and against words that are run together (joined.py)

Learned by `lovevec train` (train/channel.py); stored in config.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.near import exact
from lovevec.near.joined import FEATURES as JOINED_FEATURES
from lovevec.near.joined import SHORT
from lovevec.near.novelty import FEATURES
from lovevec.near.symbols import KINDS

UNIT = 32  # costs are whole numbers of 1/32 nat
MAX_SLIP_COST, MAX_WEIGHT = 8.0, 64.0  # nats, of a slip (and of the rank), and of a feature of new
RANK_OFFSET = 30  # added to a rank before the log is taken


@dataclass(frozen=True, eq=False)
class Channel:
    """The learned numbers: `costs` of each of KINDS, the weight of `rank`, `new`, a weight for each of novelty's
    FEATURES, and `joined`, one for each of joined's."""

    costs: Mapping[str, float]
    rank: float
    new: Mapping[str, float]
    joined: Mapping[str, float]

    @cached_property
    def slip_costs(self) -> NDArray[np.int16]:
        """[KINDS] what each kind of slip costs, in whole UNITs of 1/32 nat."""
        costs: NDArray[np.int16] = np.rint(np.array([self.costs[kind] for kind in KINDS]) * UNIT).astype(np.int16)
        return costs

    @cached_property
    def new_weights(self) -> NDArray[np.float64]:
        """[FEATURES] what each feature of a string counts for its being new."""
        return np.array([self.new[feature] for feature in FEATURES])

    def rank_costs(self, ranks: NDArray[np.integer]) -> NDArray[np.int32]:
        """What these ranks cost words, in whole UNITs of 1/32 nat."""
        return _log_costs(self.rank, ranks)

    def part_costs(self, ranks: NDArray[np.integer], lengths: NDArray[np.integer]) -> NDArray[np.int32]:
        """What words of these ranks and lengths cost as parts of words that are run together."""
        short = np.int32(round(self.joined["short"] * UNIT))
        costs: NDArray[np.int32] = _log_costs(self.joined["rank"], ranks) + short * (lengths <= SHORT)
        return costs

    @property
    def join_cost(self) -> int:
        """What a lacking blank costs, in whole UNITs."""
        return round(self.joined["join"] * UNIT)

    def as_dict(self) -> dict[str, Any]:
        """The numbers as config.json holds them; `from_dict` reads them back."""
        costs = {kind: cost for kind, cost in self.costs.items() if kind != "bare" or cost != self.costs["case"]}
        return {"costs": costs, "rank": self.rank, "new": dict(self.new), "joined": dict(self.joined)}

    @classmethod
    def from_dict(cls, raw: Any) -> Channel:
        """A channel from what `as_dict` wrote; an error for names, types or numbers that cannot come from there."""
        try:
            costs = dict(raw["costs"])
            # Before marks had a kind of their own, one left out cost what any other did.
            channel = cls(
                costs | {"bare": costs.get("bare", costs["case"])}, raw["rank"], dict(raw["new"]), dict(raw["joined"])
            )
            numbers = [channel.rank, *channel.costs.values(), *channel.new.values(), *channel.joined.values()]
            sane = set(raw) == {"costs", "rank", "new", "joined"}
            sane = sane and set(channel.costs) == {*KINDS} and set(channel.new) == {*FEATURES}
            sane = sane and set(channel.joined) == {*JOINED_FEATURES}
            sane = sane and all(type(number) in (int, float) and isfinite(number) for number in numbers)
            sane = sane and all(0 <= cost <= MAX_SLIP_COST for cost in (channel.rank, *channel.costs.values()))
            sane = sane and all(abs(weight) <= MAX_WEIGHT for weight in channel.new.values())
            sane = sane and abs(channel.joined["constant"]) <= MAX_WEIGHT
            sane = sane and all(0 <= channel.joined[name] <= MAX_SLIP_COST for name in ("join", "rank", "short"))
        except (TypeError, KeyError, ValueError, AttributeError, OverflowError):
            sane = False
        if not sane:
            raise LovevecError("`channel` is not what lovevec writes there")
        return channel


def _log_costs(weight: float, ranks: NDArray[np.integer]) -> NDArray[np.int32]:
    costs: NDArray[np.int32] = np.rint(weight * exact.log(ranks.astype(np.float64) + RANK_OFFSET) * UNIT).astype(
        np.int32
    )
    return costs


# That of the shipped default model, rounded: for tables too small to learn a channel from.
DEFAULT = Channel(
    costs={
        "other": 5.18,
        "vowel": 2.05,
        "sound": 2.05,
        "key": 3.49,
        "print": 2.13,
        "case": 1.59,
        "lost twin": 1.42,
        "lost vowel": 1.29,
        "lost h": 1.44,
        "lost end": 0.86,
        "lost": 1.94,
        "extra twin": 2.45,
        "extra vowel": 3.02,
        "extra joint": 3.06,
        "extra": 3.87,
        "swap": 1.2,
        "respelled": 1.65,
        "misprint": 1.42,
        "first": 1.31,
        "last": 0.73,
        "bare": 0.1,
    },
    rank=0.86,
    new={
        "constant": -4.0,
        "likeness": 0.62,
        "letters": -5.8,
        "short": 0.0,
        "begin": 1.9,
        "end": 1.9,
        "sibling": 1.85,
        "listed": 3.45,
        "digits": -0.6,
        "name": 2.0,
        "capitals": 3.0,
    },
    joined={"constant": -5.2, "join": 0.0, "rank": 0.38, "short": 0.0},
)
