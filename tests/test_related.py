"""What is related in meaning is nearer than what only looks alike: 200 triples of our own, with the shipped model."""

from __future__ import annotations

from pathlib import Path

import pytest

from lovevec import LOVE

TRIPLES = [
    tuple(line.split("\t")) for line in (Path(__file__).parent / "data" / "related.tsv").read_text("utf-8").splitlines()
]
LEAST = 0.95


def edits(one: str, other: str) -> int:
    """Levenshtein's distance."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, there in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (letter != there))
    return row[-1]


@pytest.fixture(scope="module")
def love() -> LOVE:
    return LOVE.load()


def test_the_list_holds_200_triples_of_known_words_whose_last_is_spelled_like_the_first(love):
    assert len(set(TRIPLES)) == 200
    assert all(word in love for triple in TRIPLES for word in triple)
    for word, related, look_alike in TRIPLES:
        assert edits(word, look_alike) <= 2 < edits(word, related)


def test_the_related_word_is_nearer_than_the_look_alike(love):
    wrong = [triple for triple in TRIPLES if not love.similar(*triple[:2]) > love.similar(triple[0], triple[2])]
    assert len(wrong) <= (1 - LEAST) * len(TRIPLES), wrong
