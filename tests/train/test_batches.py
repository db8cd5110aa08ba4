from __future__ import annotations

import functools
import operator
import threading

import numpy as np
import pytest
import torch
from tests.conftest import made_words

from lovevec.ragged import Ragged
from lovevec.train.augmentation import Augmentation
from lovevec.train.batches import Batches
from lovevec.train.settings import TrainSettings
from lovevec.train.synonyms import Synonyms
from lovevec.units import Units, to_codes
from lovevec.vocabulary import build_vocabulary

WORDS = made_words(200)
UNITS = Units(build_vocabulary(WORDS, size=400, shrink="none"))
ROWS = np.arange(10, 200)
NEGATIVES = Ragged.from_lengths(np.repeat(np.arange(200), 2) * 0 + np.tile([20, 21], 200), np.full(200, 2))


def batches(negatives: Ragged = NEGATIVES, **settings: object) -> Batches:
    chosen = TrainSettings(**{"batch": 16, "epochs": 3, "seed": 4, **settings})  # type: ignore[arg-type]
    synonyms = Synonyms(np.zeros(201, dtype=np.int64), np.empty(0, dtype=np.int32))
    augment = Augmentation(to_codes(WORDS), UNITS.encode(WORDS), UNITS, synonyms, chosen.augmentation)
    return Batches(ROWS, negatives, augment, UNITS.vocabulary.table_rows, chosen, torch.device("cpu"))


def same(a: object, b: object) -> bool:
    return all(
        torch.equal(x, y) if isinstance(x, torch.Tensor) else x == y
        for x, y in ((getattr(a, name), getattr(b, name)) for name in ("step", "words", "units", "index", "lengths"))
    )


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
    assert set(batch.words[16:].tolist()) <= {20, 21}


def test_a_word_without_look_alikes_gets_any_other_word():
    none = Ragged(np.empty(0, dtype=np.int64), np.zeros(201, dtype=np.int64))
    drawn = torch.cat([batch.words[16:] for batch in batches(none)()])
    assert set(drawn.tolist()) <= set(ROWS.tolist())
    assert len(drawn.unique()) > 100


def test_index_leads_back_to_the_units_of_the_words():
    made = batches(swap=0, drop=0, insert=0, keyboard=0, synonym=0, none=1, hard_negatives=0)
    for batch in made():
        for row, word in enumerate(batch.words.tolist()):
            length = int(batch.lengths[row])
            found = batch.units[batch.index[row, :length]].tolist()
            assert found == UNITS.encode([WORDS[word]]).values.tolist()
        assert len(batch.units.unique()) == len(batch.units)


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
    made.negatives = None  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        list(made())


def test_the_thread_ends_when_the_loop_is_left():
    feed = batches(epochs=500)()
    next(feed)
    assert any(thread.name == "lovevec-batches" for thread in threading.enumerate())
    feed.close()
    assert not any(thread.name == "lovevec-batches" for thread in threading.enumerate())
