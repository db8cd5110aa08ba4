"""PBoS against all segmentations of a word, enumerated."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise
from math import prod

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lab_factories import NASTY
from rival_factories import check_training, random_rival, rows_of, train_rival
from tests.factories import toy_words

from lovevec.train.loop import holdout_rows
from lovevec_lab.methods.learned.pbos import NEVER, UNKNOWN_CHARACTER, PBoS, PbosSettings, segment_masses

WORDS = [*toy_words(30), "aaaa", "bab"]


def segmentations(word: str) -> list[list[str]]:
    return [
        [word[low:high] for low, high in pairwise((0, *cuts, len(word)))]
        for count in range(len(word))
        for cuts in combinations(range(1, len(word)), count)
    ]


def chances() -> dict[str, float]:
    """p(s): how often the words hold s, the word of rank r 1/r times."""
    counts: dict[str, float] = defaultdict(float)
    for rank, word in enumerate(WORDS, 1):
        for low in range(len(word)):
            for high in range(low + 1, len(word) + 1):
                counts[word[low:high]] += 1 / rank
    total = sum(counts.values())
    return {text: count / total for text, count in counts.items()}


def weights(word: str, chance: dict[str, float]) -> dict[str, float]:
    """a(s) of the known substrings, scaled to sum to 1."""
    unknown = {character: UNKNOWN_CHARACTER for character in word if character not in chance}
    found: dict[str, float] = defaultdict(float)
    for cut in segmentations(word):
        likely = prod({**chance, **unknown}.get(segment, 0.0) for segment in cut)
        for segment in cut:
            found[segment] += likely
    known = {text: mass for text, mass in found.items() if text in chance}
    total = sum(known.values())
    return {text: mass / total for text, mass in known.items()} if total else {}


@pytest.fixture(scope="module")
def rival():
    return random_rival(PBoS, WORDS)


@given(words=st.lists(st.text("abrdentx🙂", min_size=1, max_size=9), min_size=1, max_size=4))
def test_a_vector_is_the_substrings_weighed_by_all_segmentations(rival, words):
    rows, chance = rows_of(rival), chances()
    found = rival.embed(words)
    for word, vector in zip(words, found, strict=True):
        shares = weights(word, chance)
        expected = sum(share * rows[text] for text, share in shares.items()) if shares else rows["[UNK]"]
        np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_known_words_too(rival):
    rows, chance = rows_of(rival), chances()
    for word, vector in zip(WORDS, rival.embed(WORDS), strict=True):
        expected = sum(share * rows[text] for text, share in weights(word, chance).items())
        np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_masses_are_those_of_enumeration_in_a_batch_of_several_lengths():
    rng = np.random.default_rng(0)
    sizes = [1, 4, 7, 2]
    lengths = torch.tensor([size * (size + 1) // 2 for size in sizes])
    logs = np.full((4, 28), NEVER)
    for row, size in enumerate(sizes):
        logs[row, : lengths[row]] = rng.normal(-3, 3, int(lengths[row]))
        if size == 7:
            logs[row, 20] = NEVER  # a span that cannot be a segment
    found = segment_masses(torch.from_numpy(logs), lengths).numpy()
    for row, size in enumerate(sizes):
        place = lambda low, high: high * (high - 1) // 2 + low  # noqa: E731
        masses = np.zeros(28)
        for count in range(size):
            for cuts in combinations(range(1, size), count):
                spans = [place(low, high) for low, high in pairwise((0, *cuts, size))]
                masses[spans] += np.exp(logs[row, spans].sum())
        total = masses[[place(0, high) for high in range(1, size + 1)]].sum()  # every segmentation begins somewhere
        np.testing.assert_allclose(found[row], masses / total, atol=1e-12)


def test_long_words_do_not_underflow(rival):
    vectors = rival.embed(["ab" * 50, "x🙂" * 50, "brea" * 25])
    assert np.isfinite(vectors).all()
    assert (np.linalg.norm(vectors, axis=1) > 1e-3).all()


def test_it_learns(tmp_path):
    check_training(PBoS, tmp_path, NASTY, PbosSettings(epochs=12), 0.2)


def test_a_word_held_back_is_cut_into_parts_that_were_seen():
    """Its own row was never trained, so it must not take the weight."""
    words = toy_words(200)
    vectors = np.random.default_rng(0).normal(size=(200, 8)).astype(np.float32)
    rival = train_rival(PBoS, words, vectors, holdout=0.2, epochs=2, batch=64)
    lengths = np.linalg.norm(rival.embed(words), axis=1)
    assert np.median(lengths[holdout_rows(200, 0.2, 0)]) > 0.2 * np.median(lengths)
