"""Many strings that break things: for one and the same vector wherever it is computed."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

NASTY = [
    "",
    " ",
    "\t\r\n",
    "\0",
    "\0\0a",
    "🙂",
    "👩‍👩‍👧‍👦",
    "e\u0301",
    "\u0301",
    "\ud800",
    "a\udfffb",
    "שלום",
    "İstanbul",
    "ΑΣ",
    "ﬁne",
    "ｂｒｅａｄ",
    "x" * 99,
    "y" * 100,
    "z" * 101,
    "ab" * 500_000,
    "é" * 1_000_000,
    "ﬄ" * 60,
    "[CLS]",
    "##ing",
    "BREAD",
    "a",
    "7",
]
# Where letters, marks, digits and signs of many scripts stand; the last are beyond 16 bits.
BLOCKS = (
    *((0x00, 0x7F), (0x80, 0x24F), (0x250, 0x2FF), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x590, 0x5FF)),
    *((0x600, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2100, 0x218F)),
    *((0x3040, 0x30FF), (0x4E00, 0x4EFF), (0xAC00, 0xAC80), (0xD800, 0xDFFF), (0xFB00, 0xFB06), (0xFF00, 0xFFEF)),
    *((0x10400, 0x1044F), (0x1D400, 0x1D4FF), (0x1F300, 0x1F64F)),
)
SLIPS = "abcdefghijklmnopqrstuvwxyz0123456789-'.éÉßñøIİſK"


def nasty_words(known: Sequence[str], count: int, seed: int = 0) -> list[str]:
    """A third known words with slips, a third strings of one script or of several, a third both; all different.

    No high half of a surrogate stands before a low one: strings of 16-bit units have one character there."""
    rng = np.random.default_rng(seed)
    words = dict.fromkeys(NASTY)
    while len(words) < count:
        kind = rng.integers(3)
        slipped = _slipped(known[rng.integers(len(known))], rng) if kind != 1 else ""
        strange = _strange(rng) if kind else ""
        word = (slipped + strange) if rng.random() < 0.5 else (strange + slipped)
        if word.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") == word:
            words[word] = None
    return list(words)


def _slipped(word: str, rng: np.random.Generator) -> str:
    for _ in range(rng.integers(4)):
        at = int(rng.integers(len(word) + 1))
        new = SLIPS[rng.integers(len(SLIPS))]
        word = word[:at] + (new if rng.random() < 0.7 else "") + word[at + int(rng.integers(2)) :]
    case = rng.integers(4)
    return word.upper() if case == 0 else word.title() if case == 1 else word


def _strange(rng: np.random.Generator) -> str:
    length = int(rng.integers(1, 9)) if rng.random() < 0.95 else int(rng.integers(90, 230))
    low, high = BLOCKS[rng.integers(len(BLOCKS))]
    characters = []
    while len(characters) < length:
        if rng.random() < 0.2:
            low, high = BLOCKS[rng.integers(len(BLOCKS))]
        one = chr(rng.integers(low, high + 1))
        if unicodedata.category(one) != "Cn":  # not in this Python's tables, perhaps in those of a browser
            characters.append(one)
    return "".join(characters)
