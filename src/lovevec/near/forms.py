"""Forms of one and the same word: what is looked for among the known words before anything is called a misspelling.

| the string | is looked for as | |
|---|---|---|
| `dog` | itself | |
| `Dog`, `DOG` | lower case | also where the table has both cases: the string itself comes first |
| `ﬁlm`, `ｄｏｇ`, `don’t`, `co–op`, a zero-width space inside | NFKC, plain quotes and dashes, nothing invisible | |
| `(dog)`, ` dog`, `dog!`, `#dog` | without outer punctuation and blanks | where that is a known word, or has letters |

What becomes of the others: accents, doubled letters, blanks and hyphens inside are slips like any other, with their own
costs (`hopital`, `soooo`, `out side`); numbers and strings without a letter are never near anything; a
capitalised unknown word is a name more often, which is a feature of new (novelty.py); CamelCase, hashtags of several
words, hyphenated and run-together words that are not known are read by their spelling; so are other scripts than the
known words'.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′´`ʼ", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f", None),
        "\u00a0": " ",
    }
)
LEADING = " \t\r\n\v\f\"'([{<#@*_~|,;:!?¿¡"
TRAILING = " \t\r\n\v\f\"')]}>*_~|,;:!?.…"
BRACKETS = ' \t\r\n"([{<>}])'  # what is left of a word that ends in a mark: (u.s.)
MAX_FORM_LENGTH = 200  # characters: a longer string is no form of anything


def look_up(
    words: Sequence[str], get: Callable[[str, int], int], forms: bool = True
) -> tuple[NDArray[np.int64], list[str]]:
    """The row of each word, -1 for unknown ones, and the unknown ones in the form in which they are to be read.

    `get(word, -1)` looks a known word up; with `forms` a word that is a form of a known one has its row.
    """
    rows, unknown = [get(word, -1) for word in words], []
    for place, row in enumerate(rows):
        if row < 0:
            rows[place], string = known_form(words[place], get) if forms else (row, words[place])
            if rows[place] < 0:
                unknown.append(string)
    return np.array(rows, dtype=np.int64), unknown


def known_form(word: str, get: Callable[[str, int], int]) -> tuple[int, str]:
    """The row of the known word that a string is a form of, and that form; or -1 and the form in which the string is to
    be read further. `get(word, -1)` looks a known word up."""
    if word.isascii() and word.isalnum():
        row = get(word, -1)
        return (row if row >= 0 else get(word.lower(), -1)), word
    if len(word) > MAX_FORM_LENGTH:
        return -1, word
    plain = word.translate(SAME)
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", plain).translate(SAME)
    inner = plain.lstrip(LEADING).rstrip(TRAILING)
    for form in (word, plain, plain.strip(), plain.strip(BRACKETS), plain.rstrip(TRAILING), inner):
        if form:
            for spelling in (form, form.lower()):
                if (row := get(spelling, -1)) >= 0:
                    return row, form
    return -1, inner if any(map(str.isalpha, inner)) else plain
