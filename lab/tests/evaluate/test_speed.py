"""Words a second, of methods whose speed is known."""

from __future__ import annotations

import time

import numpy as np
import pytest
from lab_factories import stem_table

from lovevec.errors import LovevecError
from lovevec_lab.evaluate.speed import SAMPLE_WORDS, known_words, running_text, typo_copies, words_per_second
from lovevec_lab.methods.method import Method, Parameters
from lovevec_lab.methods.unknown import Unk

WORDS = [f"w{n}" for n in range(5000)]


class Sleeper(Method):
    """Takes a given time for each word, and a long time for its first words."""

    name, dim, parameters = "sleeper", 1, Parameters(0)

    def __init__(self, per_word: float, start: float = 0.0) -> None:
        self.per_word, self.start, self.asked = per_word, start, []

    def embed(self, words):
        self.asked.append(len(words))
        time.sleep(self.per_word * len(words) + (self.start if len(self.asked) == 1 else 0))
        return np.zeros((len(words), 1), np.float32)

    def covers(self, words):
        return np.ones(len(words), np.bool_)


def test_the_speed_is_that_of_the_method_and_the_start_does_not_count():
    slow, fast = Sleeper(2e-5, start=0.3), Sleeper(2e-6)
    measured = words_per_second(slow, WORDS, repeats=3, seconds=0.05)
    assert 15_000 < measured < 52_000  # 50,000, less what other work on the machine takes
    assert words_per_second(fast, WORDS, repeats=3, seconds=0.02) > 2 * measured


def test_passes_have_as_many_words_as_fit():
    slow = Sleeper(2e-5)
    words_per_second(slow, WORDS, repeats=3, seconds=0.03)
    assert slow.asked[:2] == [SAMPLE_WORDS, SAMPLE_WORDS]
    assert len(slow.asked) == 6
    assert len(set(slow.asked[2:])) == 1
    assert SAMPLE_WORDS <= slow.asked[-1] <= 1600
    quick = Sleeper(0)
    words_per_second(quick, WORDS[:100], repeats=1)
    assert quick.asked == [100] * 4
    with pytest.raises(LovevecError, match="no words"):
        words_per_second(quick, [])


def test_damaged_copies_are_seeded_and_one_edit_away():
    from rapidfuzz.distance import OSA

    table = stem_table(100)
    one, same, other = (typo_copies(table.words, 300, seed) for seed in (0, 0, 1))
    assert one == same != other
    assert len(one) == 300
    assert all(min(OSA.distance(typo, word) for word in table.words) <= 1 for typo in one)
    assert np.mean([typo not in table.row for typo in one]) > 0.8


def test_whose_words_are_damaged():
    table = stem_table(30)
    assert known_words([Sleeper(0), Unk(table)]) is table.words
    with pytest.raises(LovevecError, match="target=FILE"):
        known_words([Sleeper(0)])


def test_running_text(tmp_path):
    (tmp_path / "book.txt").write_bytes(b"It was the\r\n\n  best of times.\n" * 3 + b"caf\xe9")
    assert running_text(tmp_path / "book.txt", 8) == ["It", "was", "the", "best", "of", "times.", "It", "was"]
    assert running_text(tmp_path / "book.txt", 99)[-1] == "caf\N{REPLACEMENT CHARACTER}"
    with pytest.raises(LovevecError, match="nowhere"):
        running_text(tmp_path / "nowhere.txt", 8)
    (tmp_path / "empty.txt").write_text(" \n")
    with pytest.raises(LovevecError, match=r"empty\.txt: holds no words"):
        running_text(tmp_path / "empty.txt", 8)
