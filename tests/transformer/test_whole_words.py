"""Whole words of a vocabulary, for every kind of tokenizer: what is one, what is not, and what is refused."""

from __future__ import annotations

import re

import pytest
from tests.transformer_factories import sentencepiece, wordpiece
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

from lovevec.errors import LovevecError
from lovevec.transformer.pieces import lowercases, whole_words


def test_all_of_bert_s_vocabulary_but_pieces_and_specials(minilm):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(minilm)
    entries = (minilm / "vocab.txt").read_text("utf-8").split("\n")[:30522]
    expected = {
        row: entry
        for row, entry in enumerate(entries)
        if not re.match(r"##|\[(PAD|UNK|CLS|SEP|MASK|unused\d+)\]", entry)
    }
    words, rows = whole_words(tokenizer)
    assert dict(zip(rows.tolist(), words, strict=True)) == expected
    assert len(words) == 23_695
    assert rows.tolist() == sorted(rows)
    assert {"the", "!", "[", "東", "misspelled"[:3]} <= set(words)


def fast(model, pre, decoder, **more) -> PreTrainedTokenizerFast:
    backend = Tokenizer(model)
    backend.pre_tokenizer, backend.decoder = pre, decoder
    return PreTrainedTokenizerFast(tokenizer_object=backend, **more)


def test_byte_level_entries_that_begin_with_a_space():
    entries = ["<s>", "Ġrun", "run", "ning", "Ġ", "Ġ!", "ĠcafÃ©", "ĠÃ", "ĠĠrun", "Ġ\u010a", "ĠRun", "Ġæĸ°"]
    tokenizer = fast(
        models.BPE({entry: row for row, entry in enumerate(entries)}, []),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        decoders.ByteLevel(),
        bos_token="<s>",
    )
    words, rows = whole_words(tokenizer)
    assert dict(zip(words, rows.tolist(), strict=True)) == {"run": 1, "!": 5, "café": 6, "Run": 10, "新": 11}
    assert not lowercases(tokenizer)


def test_sentencepiece_entries_that_begin_with_the_mark():
    entries = ["<unk>", "▁run", "run", "▁", "▁!", "▁of▁the", "▁▁run", "▁café", "▁新", "ning"]
    tokenizer = fast(
        models.Unigram([(entry, -1.0) for entry in entries], 0),
        pre_tokenizers.Metaspace(),
        decoders.Metaspace(),
        unk_token="<unk>",
    )
    words, rows = whole_words(tokenizer)
    assert dict(zip(words, rows.tolist(), strict=True)) == {"run": 1, "!": 4, "café": 7, "新": 8}


def test_added_tokens_are_none_of_the_vocabulary_s_words():
    tokenizer = wordpiece()
    before = whole_words(tokenizer)[0]
    tokenizer.add_tokens(["covfefe"])
    assert whole_words(tokenizer)[0] == before
    assert "[unused0]" not in before
    assert not any(word.startswith("##") for word in before)


def test_a_whole_word_is_one_piece_to_its_tokenizer():
    """The property that matters: in a text, each of these words is that one row."""
    for tokenizer in (wordpiece(), sentencepiece()):
        words, rows = whole_words(tokenizer)
        assert len(words) > 30
        for word, row in zip(words, rows.tolist(), strict=True):
            assert row in tokenizer.encode(f"a {word}", add_special_tokens=False)


@pytest.mark.parametrize(("lower", "expected"), [(True, True), (False, False)])
def test_case_is_asked_of_the_tokenizer(lower, expected):
    assert lowercases(wordpiece(lower)) is expected


def test_tokenizers_that_do_not_tell_are_refused():
    ends = fast(
        models.BPE({"run</w>": 0, "r": 1}, [], end_of_word_suffix="</w>"),
        pre_tokenizers.Whitespace(),
        decoders.BPEDecoder(),
    )
    with pytest.raises(LovevecError, match="does not mark where words begin"):
        whole_words(ends)
    with pytest.raises(LovevecError, match="no fast tokenizer"):
        whole_words(ByT5Tokenizer())
    level = fast(models.WordLevel({"run": 0}, "run"), pre_tokenizers.Whitespace(), None)
    level.backend_tokenizer.normalizer = normalizers.Lowercase()
    with pytest.raises(LovevecError, match="WordPiece, byte-level BPE and SentencePiece"):
        whole_words(level)
