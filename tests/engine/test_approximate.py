"""The approximate index: against comparing with all."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import lovevec.engine.nearest as nearest_module
from lovevec.cli import main
from lovevec.engine.nearest import NeighborIndex, nearest
from lovevec.errors import LovevecError, MissingExtra

RNG = np.random.default_rng(3)
TOPICS = RNG.normal(size=(60, 16))


def rows_of(count: int) -> np.ndarray:
    return (TOPICS[RNG.integers(0, 60, count)] + 0.7 * RNG.normal(size=(count, 16))).astype(np.float32)


ROWS, QUERIES = rows_of(8000), rows_of(100)
LENGTHS = np.linalg.norm(ROWS.astype(np.float64), axis=1)
WORDS = [f"w{number}" for number in range(8000)]


def embed(words):
    rows = ROWS[[int(word[1:]) for word in words]]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def index():
    pytest.importorskip("faiss")
    return NeighborIndex(WORDS, ROWS, LENGTHS)


def test_nearly_all_neighbors_are_found_and_their_cosines_are_exact(index):
    exact = index.neighbors(QUERIES, 10, embed, approximate=False)
    nearly = index.neighbors(QUERIES, 10, embed, approximate=True)
    shared = [
        len({word for word, _ in one} & {word for word, _ in other}) for one, other in zip(exact, nearly, strict=True)
    ]
    assert np.mean(shared) > 9.5
    true = dict(exact[0])
    assert all(cosine == true[word] for word, cosine in nearly[0] if word in true)
    assert all(near == sorted(near, key=lambda pair: -pair[1]) for near in nearly)


def test_a_word_is_not_its_own_neighbor(index):
    asked = WORDS[:50]
    found = index.neighbors(asked, 5, embed, approximate=True)
    assert all(len(near) == 5 and word not in dict(near) for word, near in zip(asked, found, strict=True))
    exact = index.neighbors(asked, 5, embed, approximate=False)
    assert np.mean([one[0] == other[0] for one, other in zip(found, exact, strict=True)]) > 0.95
    assert index.neighbors(" ", 5, lambda words: np.zeros((1, 16), np.float32), approximate=True) == []


def test_a_few_rows_and_more_neighbors_than_there_are(index):
    small = NeighborIndex(WORDS[:7], ROWS[:7], LENGTHS[:7])
    (found,) = small.neighbors(QUERIES[:1], 20, embed, approximate=True)
    assert found == small.neighbors(QUERIES[:1], 20, embed, approximate=False)[0]
    assert len(found) == 7


def test_half_precision_rows_are_searched_alike(index):
    half = ROWS.astype(np.float16)
    unit = QUERIES / np.linalg.norm(QUERIES, axis=1, keepdims=True)
    by_half = nearest(unit, half, 5, lengths=LENGTHS)
    assert by_half == nearest(unit, half.astype(np.float32), 5, lengths=LENGTHS)
    found = NeighborIndex(WORDS, half, LENGTHS).neighbors(QUERIES, 5, embed, approximate=True)
    exact = [[WORDS[row] for row, _ in near] for near in by_half]
    shared = [len(set(one) & {word for word, _ in other}) for one, other in zip(exact, found, strict=True)]
    assert np.mean(shared) > 4.7


def test_it_is_for_many_words_of_a_large_table(index, monkeypatch):
    fresh = NeighborIndex(WORDS, ROWS, LENGTHS)
    assert not fresh.approximates(10**6)
    monkeypatch.setattr(nearest_module, "LARGE_TABLE_ROWS", 8000)
    assert (fresh.approximates(499), fresh.approximates(500)) == (False, True)
    fresh.neighbors(np.repeat(QUERIES, 5, axis=0), 3, embed)
    assert fresh.approximates(1)


def test_a_missing_library_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtra, match=r"this needs faiss-cpu: pip install 'lovevec\[ann\]'") as raised:
        NeighborIndex(WORDS, ROWS, LENGTHS).neighbors(QUERIES, 3, embed, approximate=True)
    assert isinstance(raised.value, LovevecError)


def test_the_command_finds_the_same_words_by_the_index(capsys):
    pytest.importorskip("faiss")
    answers = []
    for way in ("--exact", "--approximate"):
        assert main(["neighbors", "--json", way, "mispelling", "oxgen"]) == 0
        answers.append([json.loads(line) for line in capsys.readouterr().out.splitlines()])
    for exact, nearly in zip(*answers, strict=True):
        assert exact["neighbors"][0] == nearly["neighbors"][0]
        assert len({near["word"] for near in exact["neighbors"]} & {near["word"] for near in nearly["neighbors"]}) >= 4
    with pytest.raises(SystemExit):
        main(["neighbors", "--exact", "--approximate", "oxgen"])
