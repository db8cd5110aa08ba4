"""The character model, against dicts of n-grams; known parts, against sets of words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.factories import toy_words

from lovevec.near.novelty import BEGIN, COUNT_BITS, END, FEATURES, ORDER, STRENGTH, WORD_BITS, Novelty
from lovevec.near.symbols import Symbols
from lovevec.units.ragged import Ragged, offsets_of

KNOWN = [*toy_words(60), "s", "un", "friend", "unfriend", "naïve", "don't", "3d"]
SYMBOLS = Symbols.of(KNOWN)
NOVELTY = Novelty(SYMBOLS.encode(KNOWN))
LOW = 0xFFFFFFFF
Gram = tuple[int, ...]


def grams(letters: list[int]) -> Iterator[list[Gram]]:
    """For the begin, each letter and the end of a word: the n-grams that end there, of 1 to ORDER."""
    text = [BEGIN] * ORDER + letters + [END]
    for place in range(ORDER - 1, len(text)):
        yield [tuple(text[place - size : place + 1]) for size in range(ORDER)]


def numbers(word: str) -> list[int]:
    return [int(number) for number in SYMBOLS.encode([word]).values]


COUNTS = Counter(gram for word in KNOWN for each in grams(numbers(word)) for gram in each)
TOTAL = sum(len(word) + 1 for word in KNOWN)


def place(gram: Gram) -> int:
    """Where a gram is counted, in Python's own numbers: only to know when two share a place."""
    state = sum(letter * pow(0x01000193, power, 1 << 32) for power, letter in enumerate(reversed(gram), 1))
    state = (state + 0x9E3779B9 * len(gram)) & LOW
    state = ((state ^ state >> 15) * 0x2C1B3C6D) & LOW
    return (state ^ state >> 12) >> 32 - COUNT_BITS


PLACES: dict[int, set[Gram]] = {}
for seen in COUNTS:
    PLACES.setdefault(place(seen), set()).add(seen)


def alone(gram: Gram) -> bool:
    """Whether no other gram of the known words is counted in the same place."""
    return PLACES.get(place(gram), set()) <= {gram}


def reference(letters: list[int]) -> list[float]:
    """The probability of each letter and of the end, by the formula of the file's first lines."""
    found = []
    for each in list(grams(letters))[1:]:
        chance = 1 / 256
        for gram in each:
            context = COUNTS[gram[:-1]] if len(gram) > 1 else TOTAL
            chance = (COUNTS[gram] + STRENGTH * chance) / (context + STRENGTH)
        found.append(chance)
    return found


def logs(rows: list[list[int]]) -> list[list[float]]:
    """Of the model, a list for each row."""
    offsets = offsets_of(np.array([len(row) for row in rows]))
    values = np.array([number for row in rows for number in row], dtype=np.uint8)
    found, ends = NOVELTY.log_probabilities(Ragged(values, offsets)).tolist(), np.cumsum([len(row) + 1 for row in rows])
    return [found[end - len(row) - 1 : end] for row, end in zip(rows, ends.tolist(), strict=True)]


LETTER = st.sampled_from(sorted(set("".join(KNOWN)) | set("qzé")))


@given(st.lists(st.lists(LETTER, min_size=2, max_size=9).map("".join), min_size=1, max_size=5))
@settings(max_examples=40)
def test_probabilities_are_those_of_the_formula(words):
    rows = [numbers(word) for word in words]
    assume(all(alone(gram) for row in rows for each in grams(row) for gram in each))
    for row, found in zip(rows, logs(rows), strict=True):
        np.testing.assert_allclose(np.exp(found), reference(row), rtol=1e-12)


@pytest.mark.parametrize("context", ["", "f", "fri", "unf", "qz", "friend"])
def test_the_probabilities_of_all_that_may_follow_add_up_to_one(context):
    """256 things can: 255 symbols and the end; one symbol of all is not counted here. Of so few words no two n-grams
    share a place."""
    model = Novelty(SYMBOLS.encode(["friend", "friends", "unfriend", "fire"]))
    letters = numbers(context)
    rows = np.array([[*letters, number, 1] for number in range(255)], dtype=np.uint8)
    following = model.log_probabilities(Ragged(rows.ravel(), np.arange(256) * rows.shape[1]))
    end = model.log_probabilities(SYMBOLS.encode([context, "fire"]))[len(context)]
    following = following.reshape(255, rows.shape[1] + 1)[:, len(letters)]
    assert np.exp([*following, end]).sum() == pytest.approx(1, abs=1e-9)


def test_every_probability_is_one(shipped_love):
    words = [*shipped_love.words[:500], *toy_words(500, seed=5)]
    reader = shipped_love._reader
    chances = np.exp(reader.novelty.log_probabilities(reader.symbols.encode(words)))
    assert (chances > 0).all()
    assert (chances <= 1).all()


def test_a_word_spelled_like_the_known_ones_is_more_probable_than_its_letters_in_another_order():
    known = toy_words(3000)
    unseen = [word for word in toy_words(800, seed=1) if word not in set(known) and len(word) > 4][:300]
    rng = np.random.default_rng(0)
    noise = ["".join(rng.permutation(list(word))) for word in unseen]
    symbols = Symbols.of(known)
    model = Novelty(symbols.encode(known))
    none = np.zeros(len(unseen), dtype=bool)
    likely, less = (model.features(symbols.encode(words), none, none)[:, 1] for words in (unseen, noise))
    assert (likely > less).mean() > 0.95


def longest_known(string: str, known: set[str]) -> float:
    begin = max((cut for cut in range(2, len(string)) if string[:cut] in known), default=0)
    end = max((len(string) - cut for cut in range(1, len(string) - 1) if string[cut:] in known), default=0)
    return (begin + end) / max(len(string), 1)


def bit(string: str) -> int:
    """Which bit says that a string is known, in Python's own numbers: only to know when two share it."""
    state = 0
    for number in numbers(string):
        state = (state * 0x01000193 + number + 1) & LOW
    return ((state ^ state >> 16) * 0x9E3779B1 & LOW) >> 32 - WORD_BITS


BITS = {bit(word): word for word in KNOWN}


@given(
    st.lists(st.lists(st.sampled_from([*KNOWN, "ed", "s", "x", "0"]), max_size=3).map("".join), min_size=1, max_size=6)
)
@settings(max_examples=40)
def test_parts_are_the_longest_known_words_at_both_ends(strings):
    known = {word for word in KNOWN if len(word) > 1}
    parts = {part for string in strings for cut in range(len(string)) for part in (string[:cut], string[cut:])}
    assume(all(BITS.get(bit(part), part) == part for part in parts))
    expected = [longest_known(string, known) for string in strings]
    assert NOVELTY.parts(SYMBOLS.encode(strings)).tolist() == expected


def test_parts_by_example():
    found = NOVELTY.parts(SYMBOLS.encode(["unfriended", "friends", "friend", "un", "", "x", "xxxx"]))
    assert found.tolist() == [8 / 10, 6 / 7, 0, 0, 0, 0, 0]


def test_few_strings_are_taken_for_known_by_chance(shipped_love):
    """The documented 1 in 200, for 80,000 words."""
    reader, known = shipped_love._reader, set(shipped_love.words)
    rng = np.random.default_rng(0)
    noise = ["".join(rng.choice(list("bcdfghjklmnpqrstvwxz"), 9)) for _ in range(500)]
    expected = np.array([longest_known(string, known) for string in noise])
    found = reader.novelty.parts(reader.symbols.encode(noise))
    assert (found >= expected).all()
    assert (found > expected).mean() < 14 * 2 / 200  # 14 beginnings and ends each


def test_a_character_without_a_symbol_is_no_part_of_a_known_word():
    assert NOVELTY.parts(SYMBOLS.encode(["friends", "☃friends", "☃☃un!"]))[1:].tolist() == [0, 0]


@given(st.lists(st.text("abefinrstu3'☃", max_size=8), min_size=1, max_size=6), st.data())
@settings(max_examples=40)
def test_features_are_what_their_names_say(strings, data):
    flags = st.lists(st.booleans(), min_size=len(strings), max_size=len(strings))
    digits, names = np.array(data.draw(flags)), np.array(data.draw(flags))
    rows = SYMBOLS.encode(strings)
    found = NOVELTY.features(rows, digits, names)
    parts = NOVELTY.parts(rows)
    for row, (string, features) in enumerate(zip(strings, found.tolist(), strict=True)):
        total = sum(logs([numbers(string), [1, 2, 3]])[0])
        expected = {
            "constant": 1,
            "total": total,
            "mean": total / (len(string) + 1),
            "letters": math.log(max(len(string), 1)),
            "short": max(4 - len(string), 0),
            "parts": parts[row],
            "digits": digits[row],
            "name": names[row],
        }
        assert features == pytest.approx([float(expected[name]) for name in FEATURES], abs=1e-9)
    weights = np.linspace(-1, 1, len(FEATURES))
    np.testing.assert_allclose(NOVELTY.score(rows, digits, names, weights), found @ weights, atol=1e-9)


@pytest.mark.parametrize("letters", [0, 1, 2, 3])
def test_so_few_letters_in_all_are_enough(letters):
    """Fewer than the longest context."""
    rows = SYMBOLS.encode(["un" * 2][:1] if letters == 3 else ["u" * letters])
    none = np.zeros(1, dtype=bool)
    assert np.isfinite(NOVELTY.features(rows, none, none)).all()


def test_no_words_at_all():
    empty = SYMBOLS.encode([])
    none = np.zeros(0, dtype=bool)
    assert NOVELTY.features(empty, none, none).shape == (0, len(FEATURES))
    model = Novelty(empty)
    one = SYMBOLS.encode(["friend"])
    assert np.isfinite(model.features(one, np.zeros(1, dtype=bool), np.zeros(1, dtype=bool))).all()
