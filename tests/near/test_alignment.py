"""The cheapest alignment, against a recursion over the moves that the file's first lines list."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.near.strings import channels

from lovevec.damage.misspell import PRINTED_ALIKE
from lovevec.damage.sounds import sounds_of
from lovevec.near.alignment import DIGIT_COST, FAR, Pairs, Slips, align, slip_counts
from lovevec.near.channel import DEFAULT, Channel
from lovevec.near.symbols import KIND, KINDS, Symbols

SYMBOLS = Symbols.of(["éô"])
# Letters with much between them: vowels, twins, h, e at the end, sound-alikes, look-alikes of one letter and of two.
LETTERS = (st.text("aehcks", max_size=7), st.text("rnmdcliuvw'é-", max_size=7), st.text("phfgtoue", max_size=7))
WORD = st.one_of(*LETTERS, st.text("o0l1es5b83z", max_size=7))
COSTS = st.lists(st.integers(1, 256), min_size=len(KINDS), max_size=len(KINDS))
RULES = {pair: "misprint" for one, two in PRINTED_ALIKE for pair in ((one, two), (two, one))} | {
    (one, other): "respelled" for one, others in sounds_of("en").items() for other in others
}


def pairs_of(words: list[str], strings: list[str], symbols: Symbols = SYMBOLS) -> Pairs:
    left, right = symbols.encode(words), symbols.encode(strings)
    return Pairs(
        left.padded(32).astype(np.uint8), left.lengths, right.padded(32).astype(np.uint8), right.lengths
    )  # fmt: skip


def slips_of(costs: list[int] | np.ndarray, symbols: Symbols = SYMBOLS) -> Slips:
    return Slips(symbols, np.array(costs, dtype=np.int16))


def letter_kind(text: str, place: int, what: str) -> str:
    """What leaving out or putting in the letter at this place is called."""
    letter = text[place]
    if letter.isdigit():
        return "digit"
    if letter in text[max(place - 1, 0) : place] + text[place + 1 : place + 2]:
        return f"{what} twin"
    if what == "lost" and letter == "e" and place == len(text) - 1:
        return "lost end"
    if letter in "aeiouyéô":
        return f"{what} vowel"
    if what == "lost" and letter == "h":
        return "lost h"
    return "extra joint" if what == "extra" and letter in " -_'." else what


def reference(word: str, string: str, costs: list[int]) -> int:
    """D by recursion, straight from the list of moves; costs beyond FAR are all the same."""
    cost = dict(zip(KINDS, costs, strict=True)) | {"digit": int(DIGIT_COST)}
    free = cost["bare"] if cost["bare"] < cost["case"] else 0  # a mark left out costs nothing on top at an end

    def ends(i: int, taken: int) -> int:
        """What is on top of a slip that takes so many letters and ends behind letter i of the word."""
        return (cost["first"] if i == taken else 0) + (cost["last"] if i == len(word) else 0)

    @cache
    def best(i: int, j: int) -> int:
        if i == j == 0:
            return 0
        ways = []
        if i and j:
            one, other = word[i - 1], string[j - 1]
            kind = KINDS[SYMBOLS.substitution[SYMBOLS.number[one], SYMBOLS.number[other]]]
            if (one.isdigit() and other.isdigit()) or ((one.isdigit() or other.isdigit()) and kind != "print"):
                kind = "digit"
            slip = cost[kind] + (cost[kind] == free and kind != "bare")
            ways.append(best(i - 1, j - 1) + (0 if one == other else slip + (slip != free) * ends(i, 1)))
        if i:
            ways.append(best(i - 1, j) + cost[letter_kind(word, i - 1, "lost")] + ends(i, 1))
        if j:
            ways.append(best(i, j - 1) + cost[letter_kind(string, j - 1, "extra")] + ends(i, 0))
        crossed = i > 1 and j > 1 and word[i - 2 : i] == string[j - 2 : j][::-1] and word[i - 1] != word[i - 2]
        if crossed and not any(map(str.isdigit, word[i - 2 : i])):
            ways.append(best(i - 2, j - 2) + cost["swap"] + ends(i, 2))
        for left, right in ((2, 1), (1, 2), (2, 2)):
            if i >= left and j >= right and (rule := RULES.get((word[i - left : i], string[j - right : j]))):
                ways.append(best(i - left, j - right) + cost[rule] + ends(i, left))
        return min(*ways, int(FAR))

    return best(len(word), len(string))


@given(st.lists(st.tuples(WORD, WORD), min_size=1, max_size=6), COSTS)
@settings(max_examples=80)
def test_the_least_cost_is_that_of_the_recursion(listed, costs):
    words, strings = ([pair[side] for pair in listed] + ["rn"] for side in (0, 1))
    found = align(pairs_of(words, strings), slips_of(costs)).tolist()
    assert found == [reference(word, string, costs) for word, string in zip(words, strings, strict=True)]


@given(st.text("aehrnmcl-", min_size=1, max_size=32), st.text("aehrnmcl-", min_size=1, max_size=32))
@settings(max_examples=30)
def test_long_words_too(word, string):
    costs = DEFAULT.slip_costs
    assert align(pairs_of([word], [string]), slips_of(costs)).tolist() == [reference(word, string, costs.tolist())]


@pytest.mark.parametrize(
    ("word", "string", "kinds"),
    [
        ("house", "house", []),
        ("definite", "definate", ["vowel"]),
        ("mistype", "mistypr", ["key", "last"]),
        ("kite", "cite", ["sound", "first"]),
        ("bled", "b1ed", ["print"]),
        ("hôpital", "hopital", ["bare"]),
        ("hopital", "hôpital", ["case"]),
        ("house", "houze", ["sound"]),
        ("letter", "leter", ["lost twin"]),
        ("house", "hose", ["lost vowel"]),
        ("night", "nigt", ["lost h"]),
        ("house", "hous", ["lost end", "last"]),
        ("wind", "wid", ["lost"]),
        ("taker", "takker", ["extra twin"]),
        ("horse", "hoirse", ["extra vowel"]),
        ("outside", "out side", ["extra joint"]),
        ("house", "houqse", ["extra"]),
        ("weird", "wierd", ["swap"]),
        ("photo", "foto", ["respelled", "first"]),
        ("modern", "rnodern", ["misprint", "first"]),
        ("burn", "bum", ["misprint", "last"]),
        ("a", "", ["lost vowel", "first", "last"]),
        ("e", "", ["lost end", "first", "last"]),
        ("éô", "eo", ["bare", "bare"]),
        ("eo", "éô", ["case", "case", "first", "last"]),
        ("", "t", ["extra", "first", "last"]),
        ("", "", []),
        ("x", "x", []),
    ],
)  # fmt: skip
def test_each_slip_has_its_name(word, string, kinds):
    """With the shipped costs, apart from those of `other`, which nothing here should need."""
    costs = DEFAULT.slip_costs.copy()
    costs[KIND["other"]] = 256
    pairs, slips = pairs_of([word, "padding"], [string, "padding"]), slips_of(costs)
    expected = np.zeros(len(KINDS))
    np.add.at(expected, [KIND[kind] for kind in kinds], 1)
    assert dict(zip(KINDS, slip_counts(pairs, slips)[0], strict=True)) == dict(zip(KINDS, expected, strict=True))
    assert align(pairs, slips)[0] == expected @ costs


@given(st.lists(st.tuples(WORD, WORD), min_size=1, max_size=6), COSTS)
@settings(max_examples=40)
def test_the_counted_slips_add_up_to_the_cost(listed, costs):
    listed = [*listed, ("rn", "m")]
    pairs, slips = pairs_of([word for word, _ in listed], [string for _, string in listed]), slips_of(costs)
    if slips.free and costs.count(int(slips.free)) > 1:  # what costs the same as a mark left out costs one more
        return
    counts, least = slip_counts(pairs, slips), align(pairs, slips)
    plain = [not any(map(str.isdigit, word + string)) for word, string in listed]
    possible = plain | (least < DIGIT_COST)  # slips of digits have no count: what they cost is no candidate
    assert (counts >= 0).all()
    assert (counts @ costs)[possible].tolist() == least[possible].tolist()
    slipped = counts[:, : KIND["first"]].sum(axis=1)
    assert (counts[possible, KIND["first"]] <= slipped[possible]).all()
    assert (counts[possible, KIND["last"]] <= slipped[possible]).all()


@given(st.lists(st.tuples(WORD, WORD), min_size=2, max_size=8), channels(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_a_pair_costs_the_same_in_any_company(listed, channel, random):
    slips = Slips(SYMBOLS, channel.slip_costs)
    listed = [*listed, ("modern", "rnodern")]
    together = dict(zip(listed, align(pairs_of(*map(list, zip(*listed, strict=True))), slips).tolist(), strict=True))
    random.shuffle(listed)
    again = align(pairs_of(*map(list, zip(*listed, strict=True))), slips).tolist()
    assert [together[pair] for pair in listed] == again
    for word, string in listed:
        if word and string:
            assert align(pairs_of([word], [string]), slips).tolist() == [together[word, string]]


DIGIT_STRINGS = st.text("0123456789ab", min_size=1, max_size=6)


@given(DIGIT_STRINGS, DIGIT_STRINGS, COSTS)
def test_no_digit_is_lost_put_in_swapped_or_taken_for_another(word, string, costs):
    """Whatever slips cost: each digit has its own in the other string, in the same order, or stands for a letter; else
    the pair costs so much that it is no candidate."""
    least = int(align(pairs_of([word], [string]), slips_of(costs))[0])
    digits = ["".join(filter(str.isdigit, one)) for one in (word, string)]
    if word.isdecimal() and string.isdecimal():
        assert (least < DIGIT_COST) == (least == 0) == (word == string)
    elif not any("0123456789".find(one) >= 0 for one in word):
        assert least >= DIGIT_COST or len(digits[1]) <= len(word)
    else:
        assert least >= DIGIT_COST or abs(len(digits[0]) - len(digits[1])) <= sum(map(str.isalpha, word + string))


@pytest.mark.parametrize(
    ("word", "string", "is_near"),
    [
        *(("5mg", "500mg", False), ("1st", "101st", False), ("1st", "7st", False), ("mp3", "mp4", False)),
        *(("mp3", "mp", False), ("mp", "mp3", False), ("1900s", "1990s", False), ("1910", "1901", False)),
        *(("mp3", "3mp", True), ("mp3", "mpp3", True), ("mp3", "mpe", False), ("mpe", "mp3", True)),
        *(("50s", "5os", True), ("s5s", "sss", True), ("2b2", "22b", True), ("2b3", "3b2", False)),
        *(("blood", "bl00d", True), ("film", "fi1m", True), ("great", "gr8", False), ("house", "h0u5e", True)),
        *(("4x4", "4×4", True), ("4x4", "44x4", False), ("bob", "808", True), ("808", "bob", False)),
    ],
)  # fmt: skip
def test_a_digit_stands_for_a_letter_that_it_looks_like_and_for_nothing_else(word, string, is_near):
    """A letter for a digit where scanners take them for each other. Letters around it may come and go."""
    found = int(
        align(pairs_of([word], [string], Symbols.of(["×"])), slips_of(DEFAULT.slip_costs, Symbols.of(["×"])))[0]
    )
    assert (found < DIGIT_COST) == is_near


def test_a_letter_and_itself_cost_nothing_and_every_slip_something():
    words = ["house", "éôé", "a-b'c", "aa"]
    assert align(pairs_of(words, words), slips_of([1] * len(KINDS))).tolist() == [0, 0, 0, 0]
    assert (align(pairs_of(words, ["mouse", "eoe", "abc", "a"]), slips_of([1] * len(KINDS))) > 0).all()


def test_nothing_to_align_and_nothing_but_empty_strings():
    slips = slips_of(DEFAULT.slip_costs)
    assert align(pairs_of([], []), slips).tolist() == []
    assert align(pairs_of(["", ""], ["", ""]), slips).tolist() == [0, 0]
    assert slip_counts(pairs_of([], []), slips).shape == (0, len(KINDS))


def test_a_character_without_a_symbol_is_no_twin_of_what_lies_behind_the_end():
    """☃ is symbol 0, and so is what fills rows up: a longer string beside it shall not make it cheaper."""
    slips = slips_of(DEFAULT.slip_costs)
    alone = align(pairs_of(["dog"], ["dog☃"]), slips)[0]
    assert alone == DEFAULT.slip_costs[KIND["extra"]] + DEFAULT.slip_costs[KIND["last"]]
    assert align(pairs_of(["dog", "holidays"], ["dog☃", "holidays"]), slips)[0] == alone
    lost = align(pairs_of(["dog☃"], ["dog"]), slips)[0]
    assert align(pairs_of(["dog☃", "holidays"], ["dog", "holidays"]), slips)[0] == lost


def test_unlike_characters_without_a_symbol_do_not_change_places():
    slips = slips_of(DEFAULT.slip_costs)
    assert align(pairs_of(["xa☃x"], ["x☂ax"]), slips)[0] > DEFAULT.slip_costs[KIND["swap"]]


def test_characters_without_a_symbol_are_like_none():
    slips = slips_of(DEFAULT.slip_costs)
    other, last = DEFAULT.slip_costs[KIND["other"]], DEFAULT.slip_costs[KIND["last"]]
    assert align(pairs_of(["do☃s", "dog☃"], ["do☃s", "dog☃"]), slips).tolist() == [other, other + last]


def test_the_dearest_channel_on_the_longest_strings_does_not_overflow():
    dear = Channel(dict.fromkeys(KINDS, 8.0), 0.0, DEFAULT.new, DEFAULT.joined)
    words = ["abcdef", "ab", "zq" * 16, "abcdefghijklmnopqrstuvwxyzabcdef", "12" * 16, "ab", "7" * 32, "a7" * 16]
    strings = ["abcdef" + "zqxwvutsr" * 2 + "zqxwvuts", "z" + "qx" * 15, "ab" * 16, "ab", "34" * 16, "7" * 32, "ab"]
    strings.append("7a" * 16)
    found = align(pairs_of(words, strings), slips_of(dear.slip_costs)).tolist()
    expected = [reference(*pair, dear.slip_costs.tolist()) for pair in zip(words, strings, strict=True)]
    assert found == expected
