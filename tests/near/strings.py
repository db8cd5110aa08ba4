"""Known words of many kinds, strings that break things, and slow plain-Python versions of what near/ computes fast."""

from __future__ import annotations

import dataclasses

import numpy as np
from hypothesis import strategies as st
from tests.conftest import made_words
from tests.factories import made_parts

from lovevec.love import LOVE
from lovevec.model.known_rows import KnownRows
from lovevec.near.channel import MOST_COST, Channel
from lovevec.near.novelty import FEATURES
from lovevec.near.reader import Reading
from lovevec.near.symbols import KINDS

# Accents, digits, apostrophes, joints, other scripts, capitals, long words, and words that are no candidates.
ODD_WORDS = [
    *(
        "hôpital",
        "naïve",
        "cœur",
        "straße",
        "île",
        "año",
        "don't",
        "o'clock",
        "rock'n'roll",
        "co-op",
        "out_side",
        "u.s.",
    ),
    *("mp3", "3d", "4x4", "covid19", "москва", "привет", "дом", "北京大学", "北京", "שלום", "مرحبا", "Berlin", "NASA"),
    *("pneumonoultramicroscopicsilicov", "counterrevolutionaries", "a", "i", "7", "42", "...", "🙂", "x" * 40),
]
ENGLISH = [
    "the",
    "of",
    "and",
    "house",
    "horse",
    "mouse",
    "receive",
    "received",
    "believe",
    "relieve",
    "weird",
    "wired",
    "tomorrow",
    "government",
    "architect",
    "oxygen",
    "restaurant",
    "blood",
    "modern",
    "photograph",
    "definite",
    "definitely",
    "separate",
    "mountain",
    "holiday",
    "hospital",
    "people",
    "because",
    "running",
    "runner",
    "friend",
    "unfriend",
    "play",
    "player",
    "outside",
    "inside",
    "through",
    "though",
    "thought",
    "letter",
    "latter",
    "butter",
    "bread",
]
WORDS = list(dict.fromkeys([*ENGLISH, *made_words(300), *ODD_WORDS]))

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
    cost = st.floats(0.1, MOST_COST)
    return st.builds(
        Channel,
        st.fixed_dictionaries(dict.fromkeys(KINDS, cost)),
        st.floats(0, 2),
        st.fixed_dictionaries(dict.fromkeys(FEATURES, st.floats(-4, 4))),
    )


def same_bits(one: Reading, other: Reading) -> bool:
    """Whether two readings are the same in all three parts."""
    return all(np.array_equal(first, second) for first, second in zip(one, other, strict=True))


def picked(reading: Reading, rows: list[int] | np.ndarray) -> Reading:
    """The readings of some of the strings."""
    return Reading(*(part[rows] for part in reading))


def made_love(
    words: list[str] | None = None,
    precision: str = "int8",
    spelling_only: bool = False,
    lowercase: bool = True,
    dim: int = 24,
) -> LOVE:
    """A model with random weights, and random rows for its known words."""
    words = words or WORDS
    rows = np.random.default_rng(3).normal(size=(len(words), dim)).astype(np.float32)
    parts = made_parts(dim, lowercase=lowercase)
    parts = dataclasses.replace(parts, words=words, rows=KnownRows.of(rows, precision))
    return LOVE(parts, engine="numpy", spelling_only=spelling_only)
