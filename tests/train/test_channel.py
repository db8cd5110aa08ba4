"""The channel learned from words alone: planted damage is found again, and words held back stay new."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.factories import toy_words

from lovevec.near.channel import DEFAULT, Channel
from lovevec.near.novelty import FEATURES
from lovevec.near.reader import Reader
from lovevec.near.symbols import KINDS
from lovevec.train.channel import Examples, examples, fit, fit_channel, probabilities

WORDS = toy_words(1500)
HELD_BACK = [word for word in toy_words(1900, seed=1) if word not in set(WORDS)][:200]
EVEN = Channel(dict.fromkeys(KINDS, 2.0), 0.5, DEFAULT.new)
READER = Reader(WORDS, EVEN)


def damaged(how) -> list[tuple[str, str]]:
    """(word, string) pairs of a kind of damage of our own; what is a word itself, or did not change, is left out."""
    rng = np.random.default_rng(0)
    known = set(WORDS)
    pairs = [(word, how(word, rng)) for word in WORDS[:900] if len(word) > 3]
    return [(word, string) for word, string in pairs if string != word and string not in known]


def doubled(word: str, rng: np.random.Generator) -> str:
    at = int(rng.integers(len(word)))
    return word[: at + 1] + word[at:]


def inserted(word: str, rng: np.random.Generator) -> str:
    """A consonant that stands nowhere in the word."""
    at = int(rng.integers(1, len(word)))
    return word[:at] + str(rng.choice([letter for letter in "bdfgklmnpqrstvz" if letter not in word])) + word[at:]


def swapped(word: str, rng: np.random.Generator) -> str:
    at = int(rng.integers(len(word) - 1))
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def undone(word: str, rng: np.random.Generator) -> str:
    at = int(rng.integers(1, len(word) - 1))
    return word[:at] + word[at + 1 :]


@cache
def fitted(how) -> Channel:
    """From a start that knows no kind from another."""
    channel = EVEN
    for _ in range(2):
        reader = Reader.like(READER, channel)
        channel = fit(examples(reader, [damaged(how), [(None, word) for word in HELD_BACK], []]), channel)
    return channel


def test_doubled_letters_make_twins_cheap():
    costs = fitted(doubled).costs
    assert costs["extra twin"] < costs["extra"] - 1
    assert costs["extra twin"] < min(costs["swap"], costs["lost"], costs["other"])


def test_letters_put_in_make_extra_ones_cheap():
    """There are no twins among them, so that only the cost of the others is learned."""
    costs, by_doubled = fitted(inserted).costs, fitted(doubled).costs
    assert costs["extra"] < min(EVEN.costs["extra"], by_doubled["extra"] - 1)
    assert costs["extra twin"] > by_doubled["extra twin"]


def test_letters_that_change_places_make_swaps_cheap():
    costs = fitted(swapped).costs
    assert costs["swap"] == min(costs[kind] for kind in KINDS if kind not in ("first", "last"))


def test_letters_lost_inside_make_slips_at_the_ends_dear():
    costs = fitted(undone).costs
    assert costs["lost"] < costs["extra"]
    assert costs["lost vowel"] < costs["extra vowel"]
    assert costs["first"] > 1


def test_planted_typos_are_read_and_words_held_back_stay_new():
    reader = Reader(WORDS, fitted(doubled))
    typos = damaged(doubled)
    reading = reader([string for _, string in typos])
    right = [WORDS[row] == word for (word, _), row in zip(typos, reading.rows[:, 0].tolist(), strict=True)]
    assert np.mean(right) > 0.95
    assert reader(HELD_BACK).new.mean() > reading.new.mean() + 0.4


def test_the_fit_is_where_the_likelihood_is_greatest():
    """No small step from it is better, but for costs that are held at their least."""
    data = examples(READER, [damaged(swapped)[:300], [(None, word) for word in HELD_BACK[:100]], []])
    found = fit(data, EVEN)
    weights = np.array([*(-found.costs[kind] for kind in KINDS), -found.rank, *(found.new[name] for name in FEATURES)])
    best = likelihood(data, weights)
    name = len(KINDS) + 1 + FEATURES.index("name")
    for place in range(len(weights)):
        for step in (-0.02, 0.02):
            moved = weights.copy()
            moved[place] += step
            outside = place <= len(KINDS) and not -8 <= moved[place] <= (-0.1 if place < len(KINDS) else 0)
            assert place == name or outside or likelihood(data, moved) < best + 1e-7, place
    assert found.new["name"] == EVEN.new["name"]  # chosen, not learned


def likelihood(data: Examples, weights: np.ndarray) -> float:
    """The mean log probability of the right readings less the ridge, string by string."""
    size, total = data.slips.shape[1], 0.0
    for row in range(len(data.new)):
        utility = data.slips[data.offsets[row] : data.offsets[row + 1]] @ weights[:size]
        new = float(data.new[row] @ weights[size:])
        every = np.append(utility, new)
        right = new if data.right[row] < 0 else utility[data.right[row]]
        total += data.weights[row] * (right - every.max() - np.log(np.exp(every - every.max()).sum()))
    held = np.delete(weights, size)  # all but the constant
    return total - 0.5e-3 * float(held @ held)


def test_chances_are_the_softmax_of_each_string():
    data = examples(READER, [damaged(swapped)[:40], [(None, word) for word in HELD_BACK[:20]], []])
    rng = np.random.default_rng(0)
    weights = rng.normal(size=data.slips.shape[1] + data.new.shape[1])
    string = np.repeat(np.arange(len(data.new)), np.diff(data.offsets))
    found, new = probabilities(data, string, weights)
    for row in range(len(data.new)):
        own = slice(data.offsets[row], data.offsets[row + 1])
        every = np.append(
            data.slips[own] @ weights[: data.slips.shape[1]], data.new[row] @ weights[data.slips.shape[1] :]
        )
        every = np.exp(every - every.max())
        np.testing.assert_allclose(np.append(found[own], new[row]), every / every.sum(), atol=1e-12)


def test_examples_name_the_right_candidate_and_weigh_as_documented():
    typos, real = damaged(swapped)[:100], damaged(doubled)[:50]
    data = examples(READER, [typos, [(None, word) for word in HELD_BACK[:20]], real])
    pairs = [*typos, *((None, word) for word in HELD_BACK[:20]), *real]
    assert len(data.new) == len(pairs)
    assert data.weights.sum() == pytest.approx(1)
    sums = [data.weights[:100].sum(), data.weights[100:120].sum(), data.weights[120:].sum()]
    np.testing.assert_allclose(sums, [0.4, 0.2, 0.4])
    ranks = np.log(np.arange(len(WORDS)) + 30)
    for row, (word, _) in enumerate(pairs):
        if word is None:
            assert data.right[row] == -1
        elif data.right[row] >= 0:
            assert data.slips[data.offsets[row] + data.right[row], -1] == pytest.approx(ranks[WORDS.index(word)])
    assert (data.right[:100] >= 0).mean() > 0.9


# The whole of it, with fewer typos than in earnest.


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr("lovevec.train.channel.FITTED_TYPOS", 400)
    monkeypatch.setattr("lovevec.train.channel.TEST_TYPOS", 100)


@pytest.fixture(scope="module")
def shipped_words() -> list[str]:
    from lovevec import LOVE

    return list(LOVE.load().words[:2500])


def test_held_back_words_are_newer_than_typos(small, shipped_words):
    channel, report = fit_channel(shipped_words, True, 3)
    assert report["fitted"] is True
    assert report["held_back"] == 250 - 250 // 3
    assert report["new_on_held_back"] > report["new_on_typos"] + 0.2
    assert report["right_first"] > 0.5
    assert channel.rank > 0.5  # of words that are in the order of frequency
    assert Channel.from_dict(channel.as_dict()).as_dict() == channel.as_dict()


def test_the_same_seed_gives_the_same_numbers_and_another_others(small):
    state = np.random.get_state()[1].tolist()  # noqa: NPY002  the one we must not touch
    one, same, other = (fit_channel(WORDS[:1000], True, seed) for seed in (0, 0, 1))
    assert (one[0].as_dict(), one[1]) == (same[0].as_dict(), same[1])
    assert one[0].as_dict() != other[0].as_dict()
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


def test_real_misspellings_move_the_numbers(small):
    plain, _ = fit_channel(WORDS, True, 0)
    real = damaged(doubled)
    moved, report = fit_channel(WORDS, True, 0, [*real, ("nowhere", "nowhre"), (WORDS[0], WORDS[1])])
    assert 0.85 * len(real) < report["misspellings"] <= len(real)  # less those of words held back, or no misspellings
    assert moved.costs["extra twin"] < plain.costs["extra twin"] - 0.2


def test_a_table_in_alphabetical_order_says_nothing_by_rank(small, shipped_words):
    assert fit_channel(sorted(shipped_words), True, 0)[0].rank < 0.25


def test_a_small_target_has_the_channel_that_ships():
    channel, report = fit_channel(WORDS[:999], True, 0)
    assert channel is DEFAULT
    assert report["fitted"] is False
    assert "1,000" in report["why"]


def test_words_are_held_back_for_the_fit_of_a_small_target_too(monkeypatch):
    """Without any, nothing teaches what is new."""
    monkeypatch.setattr("lovevec.train.channel.FITTED_TYPOS", 1200)
    assert fit_channel(WORDS[:1000], True, 0)[1]["held_back"] > 20


@pytest.mark.parametrize(
    "words",
    [
        [chr(0x1F300 + place) for place in range(1000)],
        [str(place) for place in range(1000)],
        [chr(0x4E00 + place) + chr(0x4E00 + place * 7 % 997) for place in range(1000)],
    ],
    ids=["emoji", "numbers", "two letters each"],
)
def test_a_target_without_words_to_misspell_still_has_a_channel(small, words):
    channel, _ = fit_channel(words, True, 0)
    assert Channel.from_dict(channel.as_dict())
