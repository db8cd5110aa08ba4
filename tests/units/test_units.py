"""Units against Hugging Face's own WordPiece, the paper's example, and strings that break things."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories import toy_words
from tokenizers import Tokenizer

from lovevec.units.characters import LONGEST, normalise, to_codes, to_words
from lovevec.units.mixed_input import Units
from lovevec.units.ragged import Ragged
from lovevec.units.vocabulary import SPECIAL, UNK, UnitVocabulary, build_vocabulary

LETTERS = "abcde"
PIECES = ["ab", "abc", "abcd", "e", "##a", "##b", "##bc", "##cde", "##d", "##e", "##ab", "da"]
NASTY = [
    "",
    " ",
    "\t\n",
    "\0",
    "🙂",
    "e\u0301",
    "\ud800",
    "ab\udfffcd",
    "שלום",
    "İ",
    "ΑΣ",
    "x" * 1_000_000,
    "ﬁne",
    "##a",
    "[CLS]",
]


@pytest.fixture(scope="module")
def learned() -> UnitVocabulary:
    return build_vocabulary(toy_words(2000), size=1500, shrink="none")


def tokenizer(vocabulary: UnitVocabulary) -> Tokenizer:
    return Tokenizer.from_str(vocabulary.to_json())


def pieces(units: Units, word: str) -> list[str]:
    names = units.names(word)
    return names[names.index("[SUB]") + 1 : -1]


@given(st.lists(st.text(LETTERS, min_size=1, max_size=12), min_size=1, max_size=8))
def test_pieces_are_those_of_hugging_face_on_a_vocabulary_full_of_overlaps(words):
    vocabulary = UnitVocabulary((*SPECIAL, *LETTERS, *(piece for piece in PIECES if len(piece) > 1)))
    units, oracle = Units(vocabulary), tokenizer(vocabulary)
    encoded = units.encode(words)
    for row, word in enumerate(words):
        names = [vocabulary.units[unit] for unit in encoded.row(row)]
        assert names == ["[CLS]", *word, "[SUB]", *oracle.encode(word).tokens, "[SEP]"]


def test_pieces_are_those_of_hugging_face_on_a_learned_vocabulary(learned):
    units, oracle = Units(learned), tokenizer(learned)
    words = [*toy_words(3000, seed=5), "a" * 100, "zzzz", "q" * 60]
    assert [pieces(units, word) for word in words] == [oracle.encode(word).tokens for word in words]


def test_the_papers_example_is_split_as_the_paper_says():
    vocabulary = UnitVocabulary((*SPECIAL, *"misplngebc0", "miss", "##pel", "##ling", "mi", "##sp", "##sell", "##ing"))
    units = Units(vocabulary)
    assert pieces(units, "misspelling") == ["miss", "##pel", "##ling"]
    assert pieces(units, "mispselling") == ["mi", "##sp", "##sell", "##ing"]
    assert units.names("Misspelling") == ["[CLS]", *"misspelling", "[SUB]", "miss", "##pel", "##ling", "[SEP]"]


def test_modes(learned):
    both = Units(learned).names("breading")
    cut = both.index("[SUB]")
    assert Units(learned, "chars").names("breading") == [*both[:cut], "[SEP]"]
    assert Units(learned, "pieces").names("breading") == ["[CLS]", *both[cut + 1 :]]


def test_a_word_in_a_batch_has_the_units_it_has_alone(learned):
    words = toy_words(50, seed=9) + NASTY
    units = Units(learned)
    together = units.encode(words)
    for row, word in enumerate(words):
        assert together.row(row).tolist() == units.encode([word]).values.tolist()


@pytest.mark.parametrize("word", NASTY, ids=ascii)
def test_nasty_strings_have_units(learned, word):
    encoded = Units(learned).encode([word])
    assert 3 <= len(encoded.values) <= 2 * LONGEST + 3
    assert encoded.values.min() >= 0
    assert encoded.values.max() < learned.table_rows


def test_long_words_keep_their_head_and_tail(learned):
    word = "ab" * 300 + "cd" * 300
    names = Units(learned).names(word)
    assert names[1 : names.index("[SUB]")] == [*("ab" * 25), *("cd" * 25)]
    assert "[UNK]" not in names


def test_an_unknown_character_leaves_the_others(learned):
    names = Units(learned).names("pl☃nd")
    assert names == ["[CLS]", "p", "l", "[UNK]", "n", "d", "[SUB]", "[UNK]", "[SEP]"]


def test_marks_and_wide_forms_stand_for_their_base_letter(learned):
    units = Units(learned)
    assert units.names("bréàd") == units.names("bread")
    assert units.names("bre\u0301ad") == units.names("bread")
    assert units.names("ｂｒｅａｄ") == units.names("bread")


def test_case_counts_only_when_asked(learned):
    assert Units(learned).names("BREAD") == Units(learned).names("bread")
    assert Units(learned, lowercase=False).names("BREAD") != Units(learned).names("bread")


@given(st.lists(st.text(max_size=150), max_size=10))
def test_code_points_go_there_and_back(words):
    assert to_words(to_codes(words)) == [normalise(word) for word in words]


def test_normalise_keeps_the_length_bounded():
    assert len(normalise("İ" * 10_000)) == LONGEST
    assert normalise("Straße") == "straße"


def test_hashed_units_share_rows_and_stay_in_range(learned):
    hashed = UnitVocabulary(learned.units, buckets=200)
    rows = np.asarray(hashed.rows())
    assert rows[: len(SPECIAL)].tolist() == list(range(len(SPECIAL)))
    assert rows[len(SPECIAL) :].min() >= len(SPECIAL)
    assert rows.max() < hashed.table_rows == 205
    assert len(np.unique(rows)) > 150
    plain, shared = Units(learned).encode(["breading"]), Units(hashed).encode(["breading"])
    assert shared.values.tolist() == rows[plain.values].tolist()


def test_the_hash_of_a_unit_never_changes():
    vocabulary = UnitVocabulary((*SPECIAL, "ab", "##bc"), buckets=20_000)
    assert vocabulary.rows()[len(SPECIAL) :].tolist() == [13107, 18544]  # folders hold no rows


@pytest.mark.parametrize("mode", ["mixed", "chars", "pieces"])
@pytest.mark.parametrize("ngrams", [0, 50])
def test_ids_are_counted_without_being_made(mode, ngrams):
    units = Units(build_vocabulary(toy_words(300), size=200, shrink="none", ngrams=ngrams), mode)
    words = [*toy_words(50), *(word for word in NASTY if len(word) < 100)]
    codes = to_codes(words, units.lowercase)
    pieces = units.trie.split(Ragged(units.character[codes.values], codes.offsets), UNK)
    count = units.count(codes.lengths, 0 if mode == "chars" else pieces.lengths)
    np.testing.assert_array_equal(count, units.encode(words).lengths)
