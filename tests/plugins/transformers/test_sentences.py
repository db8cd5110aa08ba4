"""The tokenizer of a robust model looks at the sentence, if asked to."""

from __future__ import annotations

import pytest
from tests.factories import minilm_folder

from lovevec import LOVE, robustify


@pytest.fixture(scope="module")
def tokenizers():
    folder = str(minilm_folder())
    return [robustify(folder, sentences=sentences)[1] for sentences in (False, True)]


def test_a_broken_word_goes_along_as_the_word_that_is_meant_in_its_place(tokenizers, tmp_path):
    plain, reading = tokenizers
    text = "They visitted ther new howse, Teh film is wonderfull."
    meant = {(token.start, token.end): token.replacement for token in LOVE.load().tokens(text)}
    assert "wonderful" in meant.values()
    before, after = (tokenizer(text, return_offsets_mapping=True) for tokenizer in tokenizers)
    assert before["offset_mapping"] == after["offset_mapping"]
    assert before["input_ids"] == after["input_ids"]
    assert before["love_words"] != after["love_words"]
    for tokens, tokenizer in ((plain.tokenize(text), plain), (reading.tokenize(text), reading)):
        assert ("wonderful" in tokens) == (tokenizer is reading)
        assert ("wonderfull" in tokens) == (tokenizer is plain)
    reading.save_pretrained(tmp_path)
    again = type(reading).from_pretrained(tmp_path)
    assert again(text)["love_words"] == after["love_words"]


def test_texts_without_broken_words_and_texts_cut_by_the_caller_stay(tokenizers):
    plain, reading = tokenizers
    for text in ("a wonderful film", "", "   "):
        assert plain(text)["love_words"] == reading(text)["love_words"]
    words = ["a", "wonderfull", "fi1m"]
    assert (
        plain(words, is_split_into_words=True)["love_words"] == reading(words, is_split_into_words=True)["love_words"]
    )
