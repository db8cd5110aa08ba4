"""The entries of a transformer's vocabulary that are whole words: the rows of its input embeddings to mimic.

    WordPiece                      run, ##ning      -> run
    byte-level BPE, SentencePiece  Ġrun, ▁run, ning -> run

Pieces that go on a word, special and added tokens and [unused…] rows are left out, and so is what is no text by
itself: part of a character, nothing but a space mark, several words in one entry. Punctuation stays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.transformer.pieces import SPACE, Pieces


def whole_words(tokenizer: Any) -> tuple[list[str], NDArray[np.int64]]:
    """The whole words of a fast tokenizer's vocabulary, in its order, and their row numbers."""
    pieces = Pieces(tokenizer)
    words: list[str] = []
    rows: list[int] = []
    for number, (text, begins) in enumerate(zip(pieces.text, pieces.begins, strict=True)):
        if begins and (word := as_word(text)):
            words.append(word)
            rows.append(number)
    return words, np.array(rows, dtype=np.int64)


def as_word(text: bytes) -> str:
    """The word that an entry's bytes spell; empty when they spell none."""
    try:
        word = text.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    one = word.split() == [word] and SPACE not in word and "\ufffd" not in word
    return word if one else ""


def lowercases(tokenizer: Any) -> bool:
    """Whether the tokenizer lower-cases what it reads, so that its model knows no capitals."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    return normalizer is not None and "abc" in normalizer.normalize_str("ABC")
