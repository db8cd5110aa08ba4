from __future__ import annotations

import functools
import operator
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.factories import toy_words

from lovevec.train.augmentation import Augmentation
from lovevec.train.batches import Batch, Batches
from lovevec.train.settings import TrainSettings
from lovevec.units.characters import to_codes
from lovevec.units.mixed_input import Units
from lovevec.units.ragged import Ragged
from lovevec.units.vocabulary import build_vocabulary

WORDS = toy_words(200)
UNITS = Units(build_vocabulary(WORDS, size=400, shrink="none"))
ROWS = np.arange(10, 200)
HIDDEN = np.arange(200) < 10
NEGATIVES = np.tile(np.array([3, 20, 21, -1], dtype=np.int32), (200, 1))  # one that is hidden, and no more than three


NO_SYNONYMS = Ragged(np.empty(0, dtype=np.int32), np.zeros(201, dtype=np.int64))


def batches(
    negatives: np.ndarray = NEGATIVES, synonyms: Ragged = NO_SYNONYMS, units: Units = UNITS, **settings: object
) -> Batches:
    chosen = TrainSettings(**{"batch": 16, "epochs": 3, "seed": 4, **settings})  # type: ignore[arg-type]
    augment = Augmentation(to_codes(WORDS), units.encode(WORDS), units, synonyms, chosen.augmentation)
    return Batches(HIDDEN, negatives, synonyms, augment, chosen, torch.device("cpu"))


def flat(batch: Batch) -> list[torch.Tensor]:
    return [batch.words, batch.units, batch.pairs, *(tensor for part in batch.parts for tensor in part)]


def same(a: Batch, b: Batch) -> bool:
    return a.step == b.step and all(torch.equal(x, y) for x, y in zip(flat(a), flat(b), strict=True))


def test_an_epoch_shows_every_word_at_most_once_and_nearly_all():
    made = batches()
    seen = [batch.words[: made.size].tolist() for batch in made()]
    assert len(seen) == made.steps == 3 * (190 // 16)
    for epoch in range(3):
        words = functools.reduce(operator.iadd, seen[epoch * made.per_epoch : (epoch + 1) * made.per_epoch], [])
        assert len(set(words)) == len(words) == 11 * 16
        assert set(words) <= set(ROWS.tolist())
    assert seen[0] != seen[made.per_epoch]


def test_hard_negatives_follow_the_words():
    batch = next(iter(batches()()))
    assert len(batch.words) == 16 * 4
    assert set(batch.words[16:].tolist()) == {20, 21}


def test_a_word_without_look_alikes_gets_any_other_word():
    for nobody in (NEGATIVES[:, :0], NEGATIVES[:, :1], NEGATIVES[:, 3:]):  # none at all; all hidden; none found
        drawn = torch.cat([batch.words[16:] for batch in batches(nobody)()])
        assert set(drawn.tolist()) <= set(ROWS.tolist())
        assert len(drawn.unique()) > 100


def test_index_leads_back_to_the_units_of_the_words():
    made = batches(swap=0, drop=0, insert=0, keyboard=0, synonym=0, none=1, hard_negatives=0)
    for batch in made():
        assert spelled(batch) == [UNITS.encode([WORDS[word]]).values.tolist() for word in batch.words.tolist()]
        assert len(batch.units.unique()) == len(batch.units)


def test_n_grams_have_an_index_of_their_own():
    units = Units(replace(UNITS.vocabulary, ngrams=50))
    made = batches(units=units, swap=0, drop=0, insert=0, keyboard=0, synonym=0, none=1, hard_negatives=0)
    first = units.vocabulary.unit_rows
    for batch in made():
        assert spelled(batch) == [units.encode([WORDS[word]]).values.tolist() for word in batch.words.tolist()]
        for index, lengths, bag, bag_lengths in batch.parts:
            assert batch.units[index[:, 0]].max() < first
            assert all(batch.units[bag[row, : int(n)]].min() >= first for row, n in enumerate(bag_lengths))
            assert lengths.min() > 3


def spelled(batch: Batch) -> list[list[int]]:
    """The table rows of each word of a batch, read back through `parts`."""
    return [
        [
            *batch.units[index[row, : int(lengths[row])]].tolist(),
            *batch.units[bag[row, : int(bag_lengths[row])]].tolist(),
        ]
        for index, lengths, bag, bag_lengths in batch.parts
        for row in range(len(index))
    ]


def test_long_words_go_last_and_do_not_widen_the_others():
    words = [*WORDS[:30], "ab" * 45, "cd" * 50]
    settings = TrainSettings(
        batch=32, epochs=1, hard_negatives=0, none=1, swap=0, drop=0, insert=0, keyboard=0, synonym=0
    )
    none = Ragged(np.empty(0, dtype=np.int32), np.zeros(33, dtype=np.int64))
    augment = Augmentation(to_codes(words), UNITS.encode(words), UNITS, none, settings.augmentation)
    nobody = np.empty((32, 0), dtype=np.int32)
    (batch,) = Batches(np.zeros(32, dtype=bool), nobody, none, augment, settings, torch.device("cpu"))()
    assert set(batch.words[-2:].tolist()) == {30, 31}
    assert [len(part[0]) for part in batch.parts] == [30, 2]
    assert batch.parts[0][0].shape[1] <= 40
    assert spelled(batch) == [UNITS.encode([words[word]]).values.tolist() for word in batch.words.tolist()]


def test_pairs_are_all_synonyms_of_a_batch_both_ways():
    rng = np.random.default_rng(0)
    lists = [np.sort(rng.choice(200, 5, replace=False)) for _ in range(200)]
    synonyms = Ragged(np.concatenate(lists).astype(np.int32), np.arange(0, 1001, 5))
    for batch in batches(synonyms=synonyms, epochs=1)():
        words = batch.words.tolist()
        expected = {(i, j) for i, a in enumerate(words) for j, b in enumerate(words) if b in lists[a] or a in lists[b]}
        assert set(zip(*batch.pairs.tolist(), strict=True)) == expected
        assert expected


@pytest.mark.parametrize("first", [1, 10, 11, 17, 32])
def test_batches_from_any_step_are_those_of_the_whole_run(first):
    whole, rest = list(batches()()), list(batches()(first))
    assert [batch.step for batch in rest] == list(range(first, 33))
    assert all(same(a, b) for a, b in zip(whole[first:], rest, strict=True))


def test_the_seed_decides():
    assert same(next(iter(batches()())), next(iter(batches()())))
    assert not same(next(iter(batches()())), next(iter(batches(seed=5)())))


def test_a_batch_larger_than_the_target_is_cut_to_it():
    made = batches(batch=10_000)
    assert (made.size, made.per_epoch) == (190, 1)
    assert len(list(made())) == 3


def test_an_error_in_the_thread_reaches_the_caller():
    made = batches()
    made.negatives = made.negatives[:5]
    with pytest.raises(IndexError):
        list(made())


def test_the_thread_ends_when_the_loop_is_left():
    feed = batches(epochs=500)()
    next(feed)
    assert any(thread.name.startswith("lovevec-batches") for thread in threading.enumerate())
    feed.close()
    assert not any(thread.name.startswith("lovevec-batches") for thread in threading.enumerate())
