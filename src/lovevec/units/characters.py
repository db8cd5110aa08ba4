"""A word as characters: normalised, and as code points, many words at once.

Words are brought into Unicode's composed form and lower case. Of a word over 100 characters the first and the last 50
are kept. A character that a vocabulary lacks stands as its base letter where that is known (é as e), else as [UNK].
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lovevec.units.ragged import Ragged

LONGEST = 100
HEAD = LONGEST // 2
# Where a letter with a mark, a ligature or a full-width form may have a plain base letter.
BASED_RANGES = ((0x80, 0x2C00), (0xA640, 0xA800), (0xFB00, 0xFFF0))


def normalise(word: str, lowercase: bool = True) -> str:
    """Composed form, lower case, at most 100 characters (head and tail of a longer word)."""
    if len(word) > LONGEST:
        word = word[:LONGEST] + word[-LONGEST:]  # bounds the work below; the ends are what stays
    if not word.isascii():
        word = unicodedata.normalize("NFC", word)
    if lowercase:
        word = word.lower()
    return word if len(word) <= LONGEST else word[:HEAD] + word[-HEAD:]


def to_codes(words: Sequence[str], lowercase: bool = True) -> Ragged:
    """Normalise words; the result has a row of code points for each. Words in composed form, as nearly all are, are
    lower-cased together, with a line's end between them, so that each becomes what it would by itself."""
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    whole = "\n".join(words) if lengths.max(initial=0) <= LONGEST else ""
    text = whole.lower() if lowercase else whole
    is_plain = whole.isascii() or unicodedata.is_normalized("NFC", whole)
    if is_plain and len(text) == lengths.sum() + len(words) - 1 and whole.count("\n") == len(words) - 1:
        text = text.replace("\n", "")
    else:
        plain = [normalise(word, lowercase) for word in words]
        lengths = np.fromiter(map(len, plain), dtype=np.int64, count=len(plain))
        text = "".join(plain)
    return Ragged.from_lengths(codes_of(text), lengths)


def codes_of(text: str) -> NDArray[np.uint32]:
    """The code points of a text, lone surrogates included."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), dtype=np.uint8).astype(np.uint32)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def to_words(codes: Ragged) -> list[str]:
    """The words that rows of code points spell: the inverse of `to_codes`."""
    text = codes.values.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    return [text[low:high] for low, high in pairwise(codes.offsets.tolist())]


def base_letters(alphabet: dict[int, int]) -> Iterable[tuple[int, int]]:
    """The alphabet, and for each code point outside it whose base letter is inside: that letter's unit."""
    for low, high in BASED_RANGES:
        for code in range(low, high):
            base = ord(unicodedata.normalize("NFKD", chr(code))[0].lower())
            if base in alphabet and code not in alphabet:
                yield code, alphabet[base]
    yield from alphabet.items()
