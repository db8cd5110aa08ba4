"""Known words of many kinds, strings that break things, and slow plain-Python versions of what near/ computes fast."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from lovevec.near.channel import MAX_SLIP_COST, Channel
from lovevec.near.novelty import FEATURES
from lovevec.near.readings import Readings
from lovevec.near.symbols import KINDS

# Nothing of these can be a damaged word: no letter, or too many of them.
UNREADABLE = [
    *("", " ", "\t\r\n", "\0", "\0\0", "7", "42", "3.14", "...", "!?", "🙂", "👩‍👩‍👧‍👦", "\ud800", "\udfff", "\u0301"),
    *("a", "x", "ﷺ", "ab" * 20, "ab" * 500_000, "é🙂" * 500_000, "abcdefghijklmnopqrstuvwxyzabcdefg"),
]
NASTY = [
    *(
        "\0dog",
        "do\0g",
        "dog\0",
        "a\ud800b",
        "\ud800dog",
        "dog🙂house",
        "e\u0301cole",
        "ﬁlm",
        "ｄｏｇ",
        "İstanbul",
        "ΑΣ",
    ),
    *(
        "HOUSE",
        "House",
        "hOUSE",
        "ho use",
        " house",
        "house ",
        "h-o-u-s-e",
        "soooooo",
        "hoouuussee",
        "aaaa",
        "zzzz",
        "qx",
    ),
    *(
        "h0u5e",
        "l33t",
        "don’t",
        "dont",
        "o clock",
        "hopital",
        "coeur",
        "strasse",
        "масква",
        "превет",
        "北亰大学",
        "םולש",
    ),
    *("x" * 32, "x" * 1_000_000, "abcdefghijklmnopqrstuvwxyzabcdef", "tHe", "##ing", "[CLS]", "1st", "2nd", "it's"),
]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
STRINGS = st.one_of(
    st.text("aehilmnorst", max_size=10), st.text(LETTERS + "éô'- 03AE", max_size=34), st.text(max_size=12)
)


def channels() -> st.SearchStrategy[Channel]:
    """Any that a model may hold, except that no slip is free."""
    cost = st.floats(0.1, MAX_SLIP_COST)
    return st.builds(
        Channel,
        st.fixed_dictionaries(dict.fromkeys(KINDS, cost)),
        st.floats(0, 2),
        st.fixed_dictionaries(dict.fromkeys(FEATURES, st.floats(-4, 4))),
    )


def same_bits(one: Readings, other: Readings) -> bool:
    """Whether two readings are the same in all three parts."""
    return all(np.array_equal(first, second) for first, second in zip(one, other, strict=True))


def picked(reading: Readings, rows: list[int] | np.ndarray) -> Readings:
    """The readings of some of the strings."""
    return Readings(*(part[rows] for part in reading))
