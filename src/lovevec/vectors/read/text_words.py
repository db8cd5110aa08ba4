"""The words of running text, counted: split at white space, punctuation taken off their ends."""

from __future__ import annotations

import string
import unicodedata
from collections import Counter
from collections.abc import Container
from functools import cache

from lovevec.vectors.read.word_stream import WordStream


def count_text(stream: WordStream, known: Container[str], lowercase: bool) -> Counter[str]:
    """How often each word comes in a text.

    A word is what stands between white space. If it is not known as it stands (`U.S.`, `C++`), the punctuation
    before and after it is taken off: `"leukamia,"` is leukamia, `don't` stays. What is punctuation alone is no word.
    """
    tokens: Counter[str] = Counter()
    for block in stream.text_blocks():
        tokens.update(block.split())
    counts: Counter[str] = Counter()
    for token, count in tokens.items():
        word = token.lower() if lowercase else token
        if word not in known:
            word = word.strip(punctuation())
        if word:
            counts[word] += count
    return counts


def count_list(stream: WordStream, lowercase: bool) -> Counter[str]:
    """The same for a list of words, one a line, each as it is; lines of nothing but white space are passed over."""
    counts: Counter[str] = Counter()
    for words in stream.batches():
        counts.update([word.lower() for word in words] if lowercase else words)
    for blank in [word for word in counts if not word.strip()]:
        del counts[blank]
    return counts


@cache
def punctuation() -> str:
    """ASCII's and Unicode's punctuation, the latter without the rare scripts beyond the first 65,536 characters."""
    more = (chr(code) for code in range(0x80, 0x10000) if unicodedata.category(chr(code))[0] == "P")
    return string.punctuation + "".join(more)
