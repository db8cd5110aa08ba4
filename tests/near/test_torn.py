"""Words torn in two, against the rule as the file's first lines put it; in texts the same by numpy and compiled."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import needs_core, random_love

from lovevec.near.channel import DEFAULT
from lovevec.near.torn import FREQUENT, LEAST_GAIN, RARE, TornWords

# By rank: the frequent ones first, then some of middling rank, then the rare.
FEW = ["a", "in", "to", "the", "some", "thing", "over", "all", "fall"]
WHOLE = ["something", "overall", "infall", "tomorrow", "important", "thefall", "inthe", "ab", "morrowthing"]
REST = ["morrow", "portant"]
WORDS = [*FEW, *(f"filler{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(100)), *WHOLE, *REST]
RANKS = np.array([*range(9), *range(9, 109), *range(200, 200 + len(WHOLE)), 20_000, 30_000], dtype=np.int32)
PLACE = {word: row for row, word in enumerate(WORDS)}
TORN = TornWords.of(DEFAULT, RANKS)


def is_torn(text: str) -> bool:
    first, second = text.split(" ")
    return TORN.is_torn(first, second, lambda word: PLACE.get(word.lower(), -1))


def cost(word: str) -> int:
    return int(DEFAULT.rank_costs(RANKS[[PLACE[word.lower()]]])[0])


def by_the_rule(text: str) -> bool:
    first, second = text.split(" ")
    whole, parts = (first + second).lower(), [first.lower(), second.lower()]
    if whole not in PLACE or not (first + second).isascii() or not (first.isalpha() and second.isalpha()):
        return False
    if not second.islower() or len(whole) < 5:
        return False
    if not all(part in PLACE for part in parts):
        return min(map(len, parts)) >= 2 and len(whole) >= 6
    frequent, rare = DEFAULT.rank_costs(np.array([FREQUENT, RARE])).tolist()
    one, other = sorted(map(cost, parts))
    return one + other - cost(whole) >= LEAST_GAIN and (one >= frequent or other >= rare)


@pytest.mark.parametrize(
    ("text", "torn"),
    [
        *(("to morrow", True), ("To morrow", True), ("im portant", True), ("impor tant", True), ("import ant", True)),
        *(("tomorro w", False), ("t omorrow", False), ("to Morrow", False), ("to MORROW", False)),
        *(("to morrow1", False), ("in the", False), ("a b", False)),
        *(("in fall", False), ("the fall", False), ("no word", False), ("tö morrow", False)),
    ],
)  # fmt: skip
def test_by_example(text, torn):
    assert is_torn(text) is torn


ONE = st.sampled_from([*FEW, *WHOLE, *REST, "im", "port", "ant", "so", "me", "t", "omorrow", "b", "é", "x1", "Some"])
CUT = st.sampled_from([f"{word[:at]} {word[at:]}" for word in WHOLE for at in range(1, len(word))])
WRITTEN = st.sampled_from([str, str.upper, str.title, str.capitalize])


@given(st.one_of(CUT, st.builds("{} {}".format, ONE, ONE)), WRITTEN)
def test_two_neighbors_are_one_word_by_the_rule(text, write):
    assert is_torn(write(text)) == by_the_rule(write(text))


@needs_core
@given(
    st.lists(st.one_of(CUT, ONE, st.sampled_from([",", "\n", "-", "(to", "morrow)", "to,"])), max_size=8),
    st.sampled_from([" ", "  ", "\n", "\t "]),
    WRITTEN,
)
def test_texts_with_torn_words_have_the_same_vectors_by_both_engines(words, blank, write):
    text = write(blank.join(words))
    np.testing.assert_allclose(LOVED.encode(text), BY_NUMPY.encode(text), atol=1e-6)


LOVED = random_love(WORDS)
BY_NUMPY = LOVED.copy(engine="numpy")


def test_a_torn_word_is_one_token(shipped_love):
    (token,) = [one for one in shipped_love.tokens("see you to morrow") if one.word == "tomorrow"]
    assert (token.text, token.start, token.reading) == ("to morrow", 8, "near")
    assert [one.word for one in shipped_love.tokens("in formation")] == ["in", "formation"]
    assert shipped_love.encode("to morrow") @ shipped_love.encode("tomorrow") > 0.99
