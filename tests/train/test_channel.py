"""The channel learned from words alone: planted damage is found again, and words held back stay new."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.factories import toy_words

from lovevec.near.channel import DEFAULT, Channel
from lovevec.near.forms import Listed
from lovevec.near.joined import FEATURES as JOINED
from lovevec.near.lexicon import Lexicon
from lovevec.near.novelty import CHOSEN, FEATURES
from lovevec.near.orthography import Orthography
from lovevec.near.reader import Reader
from lovevec.near.symbols import KIND, KINDS
from lovevec.train.channel import WEIGHTS, Choices, Example, choices, fit, fit_reader, probabilities

WORDS = toy_words(1500)
HELD_BACK = [word for word in toy_words(1900, seed=1) if word not in set(WORDS)][:200]
EVEN = Channel(dict.fromkeys(KINDS, 2.0), 0.5, DEFAULT.new, DEFAULT.joined)
READER = Reader(WORDS, Orthography(EVEN, Lexicon.of(WORDS)), compiled=False)
NEW = [Example(word) for word in HELD_BACK]


def damaged(how) -> list[Example]:
    """Words with a kind of damage of our own; what is a word itself, or did not change, is left out."""
    rng = np.random.default_rng(0)
    known = set(WORDS)
    pairs = [(word, how(word, rng)) for word in WORDS[:900] if len(word) > 3]
    return [Example(string, word) for word, string in pairs if string != word and string not in known]


def joined(count: int) -> list[Example]:
    rng = np.random.default_rng(0)
    return [Example("".join(rng.choice(WORDS[:300], 2)), joined=True) for _ in range(count)]


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
        reader = Reader.like(READER, Orthography(channel, READER.lexicon))
        channel = fit(choices(reader, {"typos": damaged(how), "new": NEW}), channel)
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
    reader = Reader.like(READER, Orthography(fitted(doubled), READER.lexicon), compiled=None)
    typos = damaged(doubled)
    reading = reader([typo.string for typo in typos])
    right = [WORDS[row] == typo.word for typo, row in zip(typos, reading.rows[:, 0].tolist(), strict=True)]
    assert np.mean(right) > 0.95
    assert reader(HELD_BACK).new.mean() > reading.new.mean() + 0.4


GROUPS = {"typos": damaged(swapped)[:300], "new": NEW[:100], "joined": joined(120), "nonsense": [Example("xqzvkw")]}


def test_the_fit_is_where_the_likelihood_is_greatest():
    """No small step from it is better, but for costs that are held at their least."""
    data = choices(READER, GROUPS)
    found = fit(data, EVEN)
    numbers = [*(found.costs[kind] for kind in KINDS), found.rank, *(found.new[name] for name in FEATURES)]
    weights = np.array([*numbers, *(found.joined[name] for name in JOINED)])
    best, near, last = likelihood(data, weights), len(KINDS) + 1, len(KINDS) + 1 + len(FEATURES)
    chosen = [KIND["bare"], *(near + FEATURES.index(name) for name in CHOSEN)]
    for place in range(len(weights)):
        low = 0.1 if place < near - 1 else 0.0 if place == near - 1 or place > last else -np.inf
        high = 8.0 if place < near or place > last else np.inf
        for step in (-0.02, 0.02):
            moved = weights.copy()
            moved[place] += step
            outside = not low <= moved[place] <= high
            assert place in chosen or outside or likelihood(data, moved) < best + 1e-7, place
    assert found.costs["bare"] == EVEN.costs["bare"]  # not learned
    assert [found.new[name] for name in CHOSEN] == [EVEN.new[name] for name in CHOSEN]  # not learned


def likelihood(data: Choices, weights: np.ndarray) -> float:
    """The mean log probability of the right readings less the ridge, string by string."""
    total = 0.0
    for row in range(len(data.right)):
        utility = data.features[data.offsets[row] : data.offsets[row + 1]] @ weights
        log_of_all = utility.max() + np.log(np.exp(utility - utility.max()).sum())
        total += data.weights[row] * (utility[data.right[row]] - log_of_all)
    held = np.delete(weights, [len(KINDS) + 1, len(KINDS) + 1 + len(FEATURES)])  # all but the constants
    return total - 0.5e-3 * float(held @ held)


def test_chances_are_the_softmax_of_each_string():
    data = choices(READER, GROUPS)
    weights = np.random.default_rng(0).normal(size=data.features.shape[1])
    string = np.repeat(np.arange(len(data.right)), np.diff(data.offsets))
    found = probabilities(data, string, weights)
    for row in range(len(data.right)):
        own = slice(data.offsets[row], data.offsets[row + 1])
        every = np.exp(data.features[own] @ weights - (data.features[own] @ weights).max())
        np.testing.assert_allclose(found[own], every / every.sum(), atol=1e-12)


def test_choices_are_what_the_reader_chooses_among():
    """The utility of each, by the channel's numbers, is that of the reader: the same probabilities."""
    channel = READER.channel
    numbers = [*(channel.costs[kind] for kind in KINDS), channel.rank, *(channel.new[name] for name in FEATURES)]
    weights = np.array([*numbers, *(channel.joined[name] for name in JOINED)])
    for name, group in GROUPS.items():
        data, readings = choices(READER, {name: group}), READER([example.string for example in group])
        string = np.repeat(np.arange(len(data.right)), np.diff(data.offsets))
        found = probabilities(data, string, weights)[data.offsets[:-1] + data.right]
        if name in ("new", "nonsense"):
            np.testing.assert_allclose(found, readings.new, atol=0.02)
        elif name == "joined":
            np.testing.assert_allclose(found, readings.parts[readings.part_rows[:, 0] >= 0], atol=0.02)


def test_examples_weigh_as_documented():
    data = choices(READER, GROUPS)
    assert data.weights.sum() == pytest.approx(1)
    assert (data.right >= 0).all()
    assert len(data.right) > 0.9 * sum(map(len, GROUPS.values()))  # less those whose word is no candidate
    share = data.weights[-1] / data.weights[0]
    assert share == pytest.approx(WEIGHTS["nonsense"] / (WEIGHTS["typos"] / len(GROUPS["typos"])))


# The whole of it, with fewer typos than in earnest.


@pytest.fixture
def small(monkeypatch):
    for name, count in {"FITTED_TYPOS": 400, "TEST_TYPOS": 100, "JOINED_STRINGS": 200, "NONSENSE": 50}.items():
        monkeypatch.setattr(f"lovevec.train.channel.{name}", count)
    monkeypatch.setattr("lovevec.train.lexicon.EPOCHS", 4)


@pytest.fixture(scope="module")
def shipped_words() -> list[str]:
    from lovevec import LOVE

    return list(LOVE.load().words[:2500])


def test_held_back_words_are_newer_than_typos(small, shipped_words):
    (orthography, report), words = fit_reader(shipped_words, True, 3), shipped_words
    assert report["fitted"] is True
    assert report["new_on_listed"] > report["new_on_held_back"] > report["new_on_typos"] + 0.1
    assert report["right_first"] > 0.5
    channel, lexicon = orthography.channel, orthography.lexicon
    assert channel.rank > 0.4  # of words that are in the order of frequency
    assert channel.new["listed"] > 1
    assert Channel.from_dict(channel.as_dict()).as_dict() == channel.as_dict()
    assert all(word in lexicon for word in words)
    assert {"s", "ing", "ed"} <= set(lexicon.endings)
    assert set(report["strings"]) == set(WEIGHTS)


def test_the_same_seed_gives_the_same_numbers_and_another_others(small):
    state = np.random.get_state()[1].tolist()  # noqa: NPY002  the one we must not touch
    one, same, other = (fit_reader(WORDS[:1000], True, seed) for seed in (0, 0, 1))
    assert (one.orthography.channel.as_dict(), one.report) == (same.orthography.channel.as_dict(), same.report)
    assert np.array_equal(one.orthography.lexicon.grams, same.orthography.lexicon.grams)
    assert one.orthography.channel.as_dict() != other.orthography.channel.as_dict()
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002


def test_real_misspellings_and_words_that_exist_join_in(small):
    real = [(example.word, example.string) for example in damaged(doubled)]
    odd = [("nowhere", "nowhre"), (WORDS[0], WORDS[1])]  # of a word that nobody knows; no misspelling
    plain, moved = fit_reader(WORDS, True, 0), fit_reader(WORDS, True, 0, [*real, *odd], HELD_BACK)
    counts = moved.report["strings"]
    assert 0.4 * len(real) < counts["real"] <= len(real) / 2  # half of them teach the lexicon
    costs = [one.orthography.channel.costs["extra twin"] for one in (plain, moved)]
    assert costs[1] < costs[0] - 0.2
    assert all(word in moved.orthography.lexicon for word in HELD_BACK)
    assert not all(word in plain.orthography.lexicon for word in HELD_BACK)
    assert counts["listed"] > plain.report["strings"]["listed"]


def test_listed_forms_are_kept_as_they_are(small):
    listed: Listed = {"dont": (("don't", 1.0),)}
    assert fit_reader(WORDS[:200], True, 0, listed=listed).orthography.listed == listed
    assert fit_reader(WORDS[:1000], True, 0, listed=listed).orthography.listed == listed


def test_a_table_in_alphabetical_order_says_nothing_by_rank(small, shipped_words):
    assert fit_reader(sorted(shipped_words), True, 0).orthography.channel.rank < 0.25


def test_a_small_target_has_the_channel_that_ships():
    orthography, report = fit_reader(WORDS[:999], True, 0, others=["blorfing"])
    assert orthography.channel is DEFAULT
    assert report["fitted"] is False
    assert "1,000" in report["why"]
    assert all(word in orthography.lexicon for word in [*WORDS[:999], "blorfing"])


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
    channel = fit_reader(words, True, 0).orthography.channel
    assert Channel.from_dict(channel.as_dict()).as_dict() == channel.as_dict()
