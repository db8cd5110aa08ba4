from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from tests.factories import toy_words

from lovevec.errors import FormatError, LovevecError
from lovevec.units.mixed_input import Units
from lovevec.units.vocabulary import SPECIAL, UnitVocabulary, build_vocabulary, learn_pieces, read_pieces, stem_pieces

WORDS = toy_words(3000)


def test_learned_pieces_have_the_size_asked_for_and_split_every_word():
    vocabulary = build_vocabulary(WORDS, size=1500, shrink="none")
    assert len(vocabulary) == 1500
    assert vocabulary.units[: len(SPECIAL)] == SPECIAL
    assert all("[UNK]" not in Units(vocabulary).names(word) for word in WORDS[:500])


def test_common_words_become_pieces_of_their_own():
    pieces = set(learn_pieces(WORDS, 1500))
    first = sum(word in pieces for word in WORDS[:200])
    last = sum(word in pieces for word in WORDS[-200:])
    assert first > 150
    assert last < first / 3


def test_learning_gives_the_same_pieces_in_every_process():
    script = (
        "from tests.conftest import toy_words; from lovevec.units.vocabulary import learn_pieces;"
        "import sys; sys.stdout.write(chr(10).join(learn_pieces(toy_words(1500), 900)))"
    )
    runs = {subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout for _ in range(3)}
    assert len(runs) == 1


def test_stemming_takes_endings_and_numerals_but_leaves_single_digits():
    assert stem_pieces(["running", "runs", "##ing", "1990", "a4", "##0", "7", "##12"]) == ["run", "##ing", "##0", "7"]


def test_each_way_to_shrink_has_its_size():
    pieces = learn_pieces(WORDS, 2000)
    none = build_vocabulary(WORDS, pieces, shrink="none")
    stem = build_vocabulary(WORDS, pieces, shrink="stem")
    top = build_vocabulary(WORDS, pieces, shrink="top", keep=800)
    hashed = build_vocabulary(WORDS, pieces, shrink="hash", keep=800)
    assert len(none) == none.table_rows == 2000
    assert len(stem) < 2000
    assert len(top) == top.table_rows == 800
    assert (len(hashed), hashed.table_rows) == (2000, 805)
    letters = [{unit for unit in made.units if len(unit) == 1} for made in (none, stem, top)]
    assert letters[0] == letters[1] == letters[2]


def test_top_keeps_what_common_words_use():
    pieces = learn_pieces(WORDS, 2000)
    top = set(build_vocabulary(WORDS, pieces, shrink="top", keep=800).units)
    whole = [word for word in WORDS[:100] if word in pieces]
    assert len(whole) > 60
    assert sum(word in top for word in whole) / len(whole) > 0.95


def test_a_vocab_txt_is_read_and_its_own_specials_make_room_for_ours(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\ufeff[PAD]\r\n[unused1]\n[UNK]\n[MASK]\nthe\n##s\na\n", encoding="utf-8", newline="")
    vocabulary = build_vocabulary(["the", "bat"], read_pieces(path), shrink="none")
    assert vocabulary.units == (*SPECIAL, "a", "b", "e", "h", "t", "the", "##s")


def test_a_file_that_is_no_vocabulary_is_refused_by_name(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("just\nwords\n")
    with pytest.raises(LovevecError, match=r"words\.txt.*##"):
        read_pieces(path)
    with pytest.raises(LovevecError, match=r"missing\.txt"):
        read_pieces(tmp_path / "missing.txt")


def test_json_round_trip_and_refusals():
    vocabulary = build_vocabulary(WORDS[:200], size=300, shrink="none")
    assert UnitVocabulary.from_json(vocabulary.to_json(), "x") == vocabulary
    gap = json.dumps({"model": {"vocab": {"[PAD]": 0, "[UNK]": 2}}})
    for broken in ("{", "[]", "{}", gap, json.dumps({"model": {"vocab": {"a": 0}}})):
        with pytest.raises(LovevecError):
            UnitVocabulary.from_json(broken, "x")


@pytest.mark.parametrize("length", [1_001, 1_000_000])
def test_a_piece_of_absurd_length_is_refused_at_once(length):
    text = json.dumps({"model": {"vocab": {unit: row for row, unit in enumerate([*SPECIAL, "a", "a" * length])}}})
    start = time.process_time()
    with pytest.raises(FormatError, match=rf"^t\.json: a piece of {length:,} characters: 1,000 are the most"):
        UnitVocabulary.from_json(text, "t.json")
    assert time.process_time() - start < 1


def test_pieces_longer_than_any_word_cost_nothing_and_are_not_learned():
    short, long = ("b" * 100, "##" + "c" * 100), ("b" * 101, "##" + "c" * 101, "d" * 1_000_000)
    start = time.process_time()
    units = Units(UnitVocabulary((*SPECIAL, *"bcd", *short, *long)), lowercase=False)
    assert time.process_time() - start < 1
    assert short[0] in units.names("b" * 300)
    assert not {*long} & {*units.names("b" * 300), *units.names("b" + "c" * 101), *units.names("d" * 1_000_000)}
    learned = build_vocabulary(WORDS[:200], pieces=[*short, *long, "##x"], shrink="none")
    assert {*short} <= {*learned.units}
    assert not {*long} & {*learned.units}


def test_words_with_lone_surrogates_do_not_spoil_the_vocabulary():
    vocabulary = build_vocabulary([*WORDS[:100], "a\ud800b"], size=300, shrink="none")
    assert "\ud800" not in vocabulary.units
    assert UnitVocabulary.from_json(vocabulary.to_json(), "x") == vocabulary


def test_an_unknown_way_to_shrink_is_refused():
    with pytest.raises(LovevecError, match="choose one of none, stem"):
        build_vocabulary(WORDS[:10], shrink="squeeze")  # type: ignore[arg-type]


def test_digits_and_hyphens_are_pieces_even_if_no_word_has_them():
    """Or the first `0` for an o would make all of a word [UNK]."""
    units = Units(build_vocabulary(toy_words(500), size=600))
    for word in ("br0ck", "b-r.o'ck", "0"):
        assert "[UNK]" not in units.names(word)
