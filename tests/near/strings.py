"""Known words of many kinds, strings that break things, and slow plain-Python versions of what near/ computes fast."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from tests.factories import KNOWN_WORDS, toy_words

from lovevec.damage.misspell import misspell
from lovevec.near.channel import DEFAULT, MAX_SLIP_COST, Channel
from lovevec.near.lexicon import GRAM_BITS, Lexicon
from lovevec.near.novelty import FEATURES
from lovevec.near.orthography import Orthography
from lovevec.near.readings import Readings
from lovevec.near.symbols import KINDS
from lovevec.train.lexicon import learn_lexicon

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


def learned_lexicon() -> Lexicon:
    """Of the known words, and as many that have no row, told from misspellings."""
    rng, there = np.random.default_rng(0), [*KNOWN_WORDS, *OTHER_WORDS]
    wrong = {string for string in misspell([word for word in there if word.isalpha()] * 2, rng) if string.isalpha()}
    return learn_lexicon(there, sorted(wrong - set(there)), rng)


OTHER_WORDS = [word for word in toy_words(700, seed=12) if word not in set(KNOWN_WORDS)][:400]
# Of one word, of another that is more probable, of several; one that stands for what is not known, too, and one for no
# known word at all.
LISTED = {
    "dont": (("don't", 1.0),),
    "ppl": (("people", 0.9),),
    "tho": (("though", 0.6), ("the", 0.3)),
    "outta": (("outside of", 0.5), ("of", 0.125)),
    "cuz": (("because", 0.5), ("nobody knows", 0.5)),
    "r2": (("running the house", 1.0),),
    "nope": (("no", 1.0),),
    "é1": (("île", 0.75),),
}
ORTHOGRAPHY = Orthography(DEFAULT, learned_lexicon(), LISTED)


def channels() -> st.SearchStrategy[Channel]:
    """Any that a model may hold, except that no slip is free."""
    cost = st.floats(0.1, MAX_SLIP_COST)
    joined = {"constant": st.floats(-30, 30), **dict.fromkeys(("join", "rank", "short"), st.floats(0, 3))}
    return st.builds(
        Channel,
        st.fixed_dictionaries(dict.fromkeys(KINDS, cost)),
        st.floats(0, 2),
        st.fixed_dictionaries(dict.fromkeys(FEATURES, st.floats(-4, 4))),
        st.fixed_dictionaries(joined),
    )


def lexicons() -> st.SearchStrategy[Lexicon]:
    """Full and empty ones, with all sorts of endings; weights of n-grams by chance, few or many, small or extreme."""

    def made(words: list[str], endings: list[str], seed: int, share: float, most: int, scale: float) -> Lexicon:
        rng = np.random.default_rng(seed)
        grams = rng.integers(-most, most + 1, 1 << GRAM_BITS).astype(np.int8)
        return Lexicon.of(words, True, grams * (rng.random(len(grams)) < share), float(np.float32(scale)), endings)

    return st.builds(
        made,
        st.lists(st.one_of(st.sampled_from([*KNOWN_WORDS, *OTHER_WORDS]), STRINGS), max_size=30),
        st.lists(st.sampled_from(["s", "ed", "ing", "er", "ly", "é", "tion"]), max_size=7, unique=True),
        st.integers(0, 2**32),
        st.sampled_from([0, 0.01, 1]),
        st.sampled_from([1, 20, 127]),
        st.floats(0, 1),
    )


def same_bits(one: Readings, other: Readings) -> bool:
    """Whether two readings are the same in all parts."""
    return all(np.array_equal(first, second) for first, second in zip(one, other, strict=True))


def picked(reading: Readings, rows: list[int] | np.ndarray) -> Readings:
    """The readings of some of the strings."""
    return Readings(*(part[rows] for part in reading))
