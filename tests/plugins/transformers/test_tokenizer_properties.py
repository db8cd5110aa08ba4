"""Whatever the text: positions of the merged encoding tile those of the plain one, and all else is as it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.transformer_factories import NEW, WORDS

from lovevec.plugins.transformers import robustify
from lovevec.plugins.transformers.wire_format import to_bytes, to_numbers, to_words

PIECES = (
    *WORDS[:5],
    *NEW[:5],
    " ",
    ",",
    "'s",
    "12",
    "[MASK]",
    "<mask>",
    "é",
    "ß",
    "字",
    "नमस्ते",
    "😀",
    "\0",
    "#",
    "##",
    "▁",
    "Ġ",
)
TEXTS = st.one_of(st.text(max_size=30), st.lists(st.sampled_from(PIECES), max_size=14).map("".join))


@pytest.fixture(scope="module", params=["bert", "bert-cased", "roberta", "xlm-roberta"])
def both(request, small, love):
    return robustify(small(request.param), love, space="direct")[1], small(request.param)[1]


@settings(max_examples=120, deadline=None)
@given(TEXTS.filter(lambda text: text.isprintable() or max(text) < "\ud800"))
def test_merged_positions_tile_the_plain_ones(both, text):
    robust, plain = both
    asked = {"return_offsets_mapping": True, "return_special_tokens_mask": True}
    merged, pieces = robust(text, **asked), plain(text, **asked)
    spelled = to_words(to_bytes(np.array(merged["love_words"], dtype=np.int64)))
    there = 0
    for place, word in enumerate(spelled):
        if not word:
            for name in pieces:
                assert merged[name][place] == pieces[name][there], name
            assert merged.tokens()[place] == pieces.tokens()[there]
            assert merged.word_ids()[place] == pieces.word_ids()[there]
            there += 1
            continue
        (start, end), first, number = merged["offset_mapping"][place], there, merged.word_ids()[place]
        assert number is not None
        assert start == pieces["offset_mapping"][there][0]
        while pieces.word_ids()[there] == number and pieces["offset_mapping"][there][1] <= end:
            there += 1
        assert there - first > 1
        assert end == pieces["offset_mapping"][there - 1][1]
        whole = robust.pieces.spelling(pieces["input_ids"][first:there])
        assert to_words(to_bytes(np.array([to_numbers(whole)]))) == [word]  # of a long one head and tail
        assert merged["input_ids"][place] == plain.unk_token_id
        assert merged["special_tokens_mask"][place] == 0
        assert any(map(str.isalpha, word))
    assert there == len(pieces["input_ids"])
    if not any(spelled):
        assert {name: merged[name] for name in pieces} == dict(pieces)


@given(st.text().filter(lambda word: "\0" not in word and word.encode("utf-8", "replace").decode() == word))
def test_a_word_survives_as_numbers_and_of_a_long_one_head_and_tail(word):
    (back,) = to_words(to_bytes(np.array([to_numbers(word)])))
    if len(word.encode()) <= 64:
        assert back == word
    else:
        head, tail = back[: len(back) // 2], back[-(len(back) // 2) :]
        assert word.startswith(head[:8])
        assert word.endswith(tail[-8:])
        assert 56 < len(back.encode()) <= 64


@given(st.lists(st.sampled_from([*WORDS[:30], ".", "(", "7", "!"]), max_size=12).map(" ".join))
def test_texts_without_broken_words_are_encoded_as_ever(both, text):
    robust, plain = both
    text = f" {text}"
    found = dict(robust(text))
    assert not np.any(found.pop("love_words"))
    assert found == dict(plain(text))
