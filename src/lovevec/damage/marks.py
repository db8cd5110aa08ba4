"""Letters without their marks: é -> e, ł -> l, ß -> ss. What is left out first where a keyboard lacks a letter, or a
writer is in a hurry.

Most are told by Unicode's decomposition, the others by a short table. Й stays: nobody takes it for и with a mark. Some
languages write two letters for one where they have to (ü as ue), which the table of the language says.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache

# Letters that Unicode does not take apart.
UNDECOMPOSED = {
    "ß": "ss", "ẞ": "SS", "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ı": "i", "æ": "ae", "Æ": "AE",
    "œ": "oe", "Œ": "OE", "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH", "ħ": "h", "Ħ": "H", "ŧ": "t", "Ŧ": "T", "ŋ": "n",
    "ə": "e", "Ə": "E", "ґ": "г", "Ґ": "Г",
}  # fmt: skip
WHOLE = frozenset("йЙ")
# What stands for a letter in some languages where it cannot be typed.
IN_FULL: Mapping[str, Mapping[str, str]] = {
    "de": {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"},
    "da": {"æ": "ae", "ø": "oe", "å": "aa", "Æ": "Ae", "Ø": "Oe", "Å": "Aa"},
    "nb": {"æ": "ae", "ø": "oe", "å": "aa", "Æ": "Ae", "Ø": "Oe", "Å": "Aa"},
    "uk": {"ї": "йі"},
}
MARKED = ((0xC0, 0x700), (0x1E00, 0x2000))  # Latin, Greek, Cyrillic, Hebrew, Arabic: where marks may be left out


@cache
def plain_letter(letter: str) -> str:
    """A letter without its marks, perhaps two; most letters are what they are."""
    if letter in UNDECOMPOSED:
        return UNDECOMPOSED[letter]
    if letter in WHOLE or not any(low <= ord(letter) < high for low, high in MARKED):
        return letter
    bare = "".join(one for one in unicodedata.normalize("NFD", letter) if not unicodedata.combining(one))
    return UNDECOMPOSED.get(bare, unicodedata.normalize("NFC", bare))


def without_marks(word: str) -> str:
    """A word without the marks of its letters.

    >>> without_marks("électricité"), without_marks("Łódź"), without_marks("Nguyễn"), without_marks("чёрный")
    ('electricite', 'Lodz', 'Nguyen', 'черный')
    """
    if word.isascii():
        return word
    return "".join(map(plain_letter, unicodedata.normalize("NFC", word)))


def in_full(word: str, code: str) -> str:
    """A word as those write it who lack its letters, in the language of this code: für -> fuer; without marks where
    the language has no such way."""
    table = IN_FULL.get(code, {})
    return without_marks("".join(table.get(letter, letter) for letter in unicodedata.normalize("NFC", word)))
