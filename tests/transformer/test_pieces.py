"""Which pieces make a word: worked examples for each kind of tokenizer."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from lovevec import LovevecError
from lovevec.transformer.pieces import Pieces

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,'()-"


def wrapped(below: Tokenizer) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=below, unk_token="[UNK]", mask_token="[MASK]")


@pytest.fixture(scope="module")
def wordpiece() -> PreTrainedTokenizerFast:
    entries = ["[UNK]", "[MASK]", "[unused0]", *LETTERS, *(f"##{one}" for one in LETTERS), "mis", "##pel", "##led"]
    entries += ["the", "字"]
    below = Tokenizer(models.WordPiece({one: number for number, one in enumerate(entries)}, unk_token="[UNK]"))
    below.normalizer = normalizers.BertNormalizer()
    below.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return wrapped(below)


@pytest.fixture(scope="module")
def in_bytes() -> PreTrainedTokenizerFast:
    entries = ["[UNK]", "[MASK]", *sorted(pre_tokenizers.ByteLevel.alphabet()), "Ġm", "Ġmi", "Ġmis", "'s", "le", "led"]
    merges = [("Ġ", "m"), ("Ġm", "i"), ("Ġmi", "s"), ("'", "s"), ("l", "e"), ("le", "d")]
    below = Tokenizer(models.BPE({one: number for number, one in enumerate(entries)}, merges, unk_token="[UNK]"))
    below.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    below.decoder = decoders.ByteLevel()
    return wrapped(below)


@pytest.fixture(scope="module")
def unigram() -> PreTrainedTokenizerFast:
    scores = [("[UNK]", 0.0), ("[MASK]", 0.0), ("▁", -2.0), ("▁mis", -1.0), ("led", -1.0), ("'s", -1.0), ("▁the", -1.0)]
    scores += [(one, -5.0) for one in LETTERS] + [("न", -5.0), ("म", -5.0), ("ा", -5.0)]
    below = Tokenizer(models.Unigram(scores, unk_id=0))
    below.pre_tokenizer = pre_tokenizers.Metaspace()
    return wrapped(below)


def found(tokenizer, text: str, **options) -> tuple[list[str], list[str]]:
    """All words of a text, and those that are broken, as they are spelled."""
    pieces, encoded = Pieces(tokenizer), tokenizer(text, **options)
    ids, numbers = encoded["input_ids"], encoded.word_ids()
    every, broken = (
        [pieces.spelling(ids[low:high]) for low, high in spans]
        for spans in (pieces.words(ids, numbers), pieces.broken_words(ids, numbers))
    )
    return every, broken


def test_wordpiece(wordpiece):
    text = "The MISPELLED (a) the1 12345 [MASK] 字."
    assert found(wordpiece, text) == (["the", "mispelled", "a", "the1", "12345", "字"], ["mispelled", "the1"])
    assert found(wordpiece, "[unused0] ☃") == (["unused0"], ["unused0"])  # as text: its row belongs to no word
    ids = [wordpiece.convert_tokens_to_ids("[unused0]")]
    assert Pieces(wordpiece).words(ids, [0]) == []


def test_byte_level(in_bytes):
    assert found(in_bytes, "misled it's 字字 😀 é") == (
        ["misled", "it", "'s", "字字", "😀", "é"],
        ["misled", "it", "é"],
    )
    assert found(in_bytes, "123 , .")[1] == []


def test_sentencepiece(unigram):
    assert found(unigram, "the misled, (misled)'s x-misled") == (
        ["the", "misled", "misled", "'s", "x", "misled"],
        ["misled", "misled", "x", "misled"],
    )
    assert found(unigram, "नाम 123")[1] == ["नाम"]  # a vowel sign goes on its word
    assert found(unigram, "☃ the")[1] == []


def test_given_words_of_several_words(wordpiece):
    every, broken = found(wordpiece, ["the-mispelled", "a's"], is_split_into_words=True)
    assert every == ["the", "mispelled", "a", "s"]
    assert broken == ["mispelled"]


def test_merged_tokens_are_told_from_unknown_ones(wordpiece, in_bytes, unigram):
    for tokenizer, text in ((wordpiece, "mispelled"), (in_bytes, "misledé"), (unigram, "misled")):
        pieces, encoded = Pieces(tokenizer), tokenizer(text)
        ((low, high),) = pieces.broken_words(encoded["input_ids"], encoded.word_ids())
        token = pieces.entry(encoded["input_ids"][low:high], encoded.tokens()[low:high])
        assert pieces.merged_word(token) == text
        assert pieces.merged_word("[UNK]") == ""
    snowman = unigram("☃")
    place = snowman["input_ids"].index(unigram.unk_token_id)
    assert Pieces(unigram).merged_word(snowman.tokens()[place]) == ""


def test_added_tokens_belong_to_no_word(wordpiece):
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(wordpiece.backend_tokenizer.to_str()), unk_token="[UNK]"
    )
    assert found(tokenizer, "a covid b") == (["a", "covid", "b"], ["covid"])
    tokenizer.add_tokens(["covid"])
    assert found(tokenizer, "a covid b") == (["a", "b"], [])


def test_other_tokenizers_are_refused():
    level = Tokenizer(models.WordLevel({"[UNK]": 0, "cat": 1}, unk_token="[UNK]"))
    with pytest.raises(LovevecError, match="does not mark where words begin"):
        Pieces(wrapped(level))
    unmarked = Tokenizer(models.Unigram([("[UNK]", 0.0), ("a", -1.0)], unk_id=0))
    unmarked.pre_tokenizer = pre_tokenizers.Metaspace()
    with pytest.raises(LovevecError, match="does not mark where words begin"):
        Pieces(wrapped(unmarked))
    with pytest.raises(LovevecError, match="no fast tokenizer"):
        Pieces("bert")
