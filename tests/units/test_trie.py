"""The trie as it is built from units, against longest match done the plain way."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lovevec.units.characters import to_codes
from lovevec.units.ragged import Ragged
from lovevec.units.trie import PieceTrie

UNKNOWN = 1
FIRST = 5


def character_table(letters: str) -> np.ndarray:
    table = np.full(0x110000, UNKNOWN, dtype=np.int32)
    table[[ord(letter) for letter in letters]] = np.arange(FIRST, FIRST + len(letters))
    return table


def longest_match(word: str, units: list[str], letters: str) -> list[int]:
    """WordPiece as the BERT paper has it, one word at a time."""
    usable: dict[tuple[bool, str], int] = {}  # (goes on, spelled) -> id
    for number, unit in list(enumerate(units))[FIRST:]:
        goes_on = unit.startswith("##") and len(unit) > 2
        spelled = unit[2:] if goes_on else unit
        if set(spelled) <= set(letters):
            usable[goes_on, spelled] = number
    found, at = [], 0
    while at < len(word):
        ends = [end for end in range(len(word), at, -1) if (at > 0, word[at:end]) in usable]
        if not ends:
            return [UNKNOWN]
        found.append(usable[at > 0, word[at : ends[0]]])
        at = ends[0]
    return found


@given(
    st.lists(st.text("ab#é", min_size=1, max_size=5), unique=True, max_size=12),
    st.lists(st.text("ab#é", max_size=9), min_size=1, max_size=6),
    st.sampled_from(["ab", "ab#", "abé", "ab#é"]),
)
@settings(deadline=None)
def test_splits_are_longest_matches(pieces, words, letters):
    units = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[SUB]", *pieces]
    table = character_table(letters)
    codes = to_codes(words)
    found = PieceTrie.of(units, table, FIRST, UNKNOWN).split(Ragged(table[codes.values], codes.offsets), UNKNOWN)
    for row, word in enumerate(words):
        assert found.row(row).tolist() == longest_match(word, units, letters)


def test_a_large_trie_keeps_every_piece():
    rng = np.random.default_rng(0)
    words = sorted({"".join(map(chr, rng.integers(97, 123, rng.integers(1, 9)))) for _ in range(20_000)})
    units = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[SUB]", *words]
    table = character_table("abcdefghijklmnopqrstuvwxyz")
    codes = to_codes(words)
    found = PieceTrie.of(units, table, FIRST, UNKNOWN).split(Ragged(table[codes.values], codes.offsets), UNKNOWN)
    assert found.values.tolist() == list(range(FIRST, FIRST + len(words)))


def test_no_units_split_nothing():
    table = character_table("a")
    found = PieceTrie.of(["[PAD]"] * FIRST, table, FIRST, UNKNOWN).split(
        Ragged(np.array([5, 5]), np.array([0, 2, 2])), UNKNOWN
    )
    assert found.values.tolist() == [UNKNOWN]
    assert found.lengths.tolist() == [1, 0]
