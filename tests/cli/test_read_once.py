"""The commands that tell readings and vectors read each string once."""

from __future__ import annotations

import pytest

from lovevec import LOVE
from lovevec.cli import near, neighbors, similar

WORDS = ["recieve", "word", "tommorow", "zxqj", ""]


class CountingLOVE(LOVE):
    """A model that keeps the strings that it reads."""

    def _read(self, strings, in_text=False):
        self.__dict__.setdefault("strings", []).extend(strings)
        return super()._read(strings, in_text)


@pytest.fixture
def love():
    return CountingLOVE.load()


@pytest.mark.parametrize(
    "lines",
    [
        lambda love: near.lines(love, WORDS, 5, True),
        lambda love: neighbors.lines(love, WORDS, 5, False, True),
        lambda love: similar.lines(love, WORDS[:2], WORDS[2:4], True),
    ],
    ids=["near", "neighbors", "similar"],
)
def test_each_string_is_read_once(love, lines):
    assert len(list(lines(love))) in (2, 5)
    assert {"recieve", "tommorow", "zxqj"} <= set(love.strings)
    assert len(love.strings) == len(set(love.strings))


def test_lookups_answer_as_the_methods_of_their_names(love):
    lookup, other = love.lookup(WORDS), love.lookup(WORDS[::-1])
    assert lookup.neighbors(3) == love.neighbors(WORDS, 3)
    assert lookup.similar(other)[:-1].tolist()[1:] == love.similar(WORDS, WORDS[::-1])[1:-1].tolist()
