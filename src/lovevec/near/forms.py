"""Forms of one and the same word: what is looked for among the known words before anything is called a misspelling.

| the string | is looked for as | |
|---|---|---|
| `dog` | itself | |
| `Dog`, `DOG` | lower case | also where the table has both cases: the string itself comes first |
| `ﬁlm`, `ｄｏｇ`, `don’t`, `co–op`, a zero-width space inside | NFKC, plain quotes and dashes, nothing invisible | |
| `Nguyễn` | without marks, `nguyen` | where the letters with their marks are not known |
| `ILIK` | ılık | in a Turkish model |
| `ghbdtn` | привет | what was typed on the English layout, in a model of a language with another script |
| `(dog)`, ` dog`, `dog!`, `#dog` | without outer punctuation and blanks | where that is a known word, or has letters |

What becomes of the others: accents, doubled letters, blanks and hyphens inside are slips like any other, with their
own costs (`hopital`, `soooo`, `out side`); numbers and strings without a letter are never near anything; a
capitalised unknown word is a name more often, which is a feature of new (novelty.py); strings of several words are
taken apart (parts.py); other scripts than the known words' are read by their spelling.

What no rule can tell is listed: `dont` for don't, `govt` for government, `u` for you nine times of ten. A model may
have such a list of forms (`Listed`), by which the reader reads them; they have no rows of their own.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.languages import ENGLISH, TURKISH, Language
from lovevec.damage.marks import WHOLE
from lovevec.engine.word_map import CompiledWordMap
from lovevec.errors import FormatError
from lovevec.files.lines import filled_lines
from lovevec.near.kinds import digits_apart, kind_of, plain_form

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
LEADING_BUT_SIGNS = LEADING.replace("#", "").replace("@", "")
TRAILING = " \t\r\n\v\f\"')]}>*_~|,;:!?.…"
BRACKETS = ' \t\r\n"([{<>}])'  # what is left of a word that ends in a mark: (u.s.)
MIN_LAYOUT_LENGTH = 3  # of a word typed on another layout: shorter strings are too often something else
LAST_OF_KEYS = 0x7E  # the last character of an English keyboard
MAX_FORM_LENGTH = 200  # characters: a longer string is no form of anything
MAX_LISTED, MAX_WORDS_OF_FORM = 30_000, 8

# Forms, each with the words that it stands for and how probably: {"dont": [("don't", 1.0)], "kinda": [("kind of",
# 0.9)]}
Listed = Mapping[str, Sequence[tuple[str, float]]]


def check_listed(raw: Any) -> Listed:
    """Listed forms as a model folder holds them; a ValueError says what is wrong."""
    if not isinstance(raw, dict) or len(raw) > MAX_LISTED:
        raise ValueError(f"must be an object of at most {MAX_LISTED:,} forms")
    for form, meanings in raw.items():
        sane = (
            isinstance(meanings, list) and 0 < len(meanings) <= MAX_WORDS_OF_FORM and 0 < len(form) <= MAX_FORM_LENGTH
        )
        sane = sane and all(isinstance(one, list) and len(one) == 2 for one in meanings)
        sane = sane and all(isinstance(words, str) and words.split() for words, _ in meanings)
        sane = sane and all(type(chance) in (int, float) and 0 < chance <= 1 for _, chance in meanings)
        if not sane or sum(chance for _, chance in meanings) > 1 + 1e-9:
            raise ValueError(f"{form!r:.60} must have words with probabilities that add up to 1 at most")
    return {form: tuple((words, float(chance)) for words, chance in meanings) for form, meanings in raw.items()}


def read_listed(path: Path) -> Listed:
    """Forms out of a file: in each line the form, the word or words (with blanks between) that it stands for, and how
    probably, with tabs between. A form may have several lines. A first line `form, word, probability` is skipped."""
    found: dict[str, list[list[Any]]] = {}
    for number, line in filled_lines(path):
        cells = line.split("\t")
        if cells == ["form", "word", "probability"]:
            continue
        try:
            form, words, chance = cells
            found.setdefault(form.strip().lower(), []).append([words.strip(), float(chance)])
        except ValueError:
            problem = f"expected a form, a word and a probability with tabs between, not {line[:60]!r}"
            raise FormatError(path, problem, number) from None
    try:
        return check_listed(found)
    except ValueError as error:
        raise FormatError(path, str(error)) from None


def look_up(
    words: Sequence[str], known: Mapping[str, int], forms: bool = True, language: Language = ENGLISH
) -> tuple[NDArray[np.int64], list[str]]:
    """The row of each word, -1 for unknown ones, and the unknown ones in the form in which they are to be read.

    `known` maps known words to their rows; with `forms` a word that is a form of a known one has its row.
    """
    get = known.get
    if forms and language.code in TURKISH:
        words = [_in_turkish(word, get, language) for word in words]
    if isinstance(known, CompiledWordMap):
        rows, odd = known.look_up(words, forms)
    else:
        rows = np.array([get(word, -1) for word in words], dtype=np.int64)
        odd = np.flatnonzero(rows < 0).tolist()
    read_as = {}
    if forms:
        for place in odd:
            rows[place], read_as[place] = known_form(words[place], get)
    if forms and language.is_of_other_script:
        for place in np.flatnonzero(rows < 0).tolist():
            rows[place] = _row_by_layout(words[place], get, language)
    unknown = np.flatnonzero(rows < 0).tolist()
    return rows, [read_as.get(place, words[place]) for place in unknown] if read_as else [
        words[place] for place in unknown
    ]


def known_form(word: str, get: Callable[[str, int], int], language: Language = ENGLISH) -> tuple[int, str]:
    """The row of the known word that a string is a form of, and that form; or -1 and the form in which the string is to
    be read further. `get(word, -1)` looks a known word up."""
    row, form = _known_form(_in_turkish(word, get, language), get)
    if row < 0 and language.is_of_other_script:
        row = _row_by_layout(word, get, language)
    return row, form


def _in_turkish(word: str, get: Callable[[str, int], int], language: Language) -> str:
    """A word as Turkish has its I, but for a word that is known as it stands; in other languages itself."""
    small = language.with_small_i(word)
    return word if small == word or get(word, -1) >= 0 else small


def _row_by_layout(word: str, get: Callable[[str, int], int], language: Language) -> int:
    """The row of a word that was typed on the English layout, -1 where that is no known word."""
    meant = language.on_other_layout(word) if MIN_LAYOUT_LENGTH <= len(word) <= MAX_FORM_LENGTH else word
    if meant == word or any(ord(letter) > LAST_OF_KEYS for letter in word):
        return -1
    row = get(meant, -1)
    return row if row >= 0 else get(meant.lower(), -1)


def _known_form(word: str, get: Callable[[str, int], int]) -> tuple[int, str]:
    if word.isascii() and word.isalnum():
        row = get(word, -1)
        return (row if row >= 0 else get(word.lower(), -1)), word
    if len(word) > MAX_FORM_LENGTH:
        return -1, word
    plain = word.translate(SAME)
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", digits_apart(plain)).translate(SAME)
    inner = plain.lstrip(LEADING).rstrip(TRAILING)
    for form in (word, plain, plain.strip(), plain.strip(BRACKETS), plain.rstrip(TRAILING), inner):
        if form:
            for spelling in (form, form.lower()):
                if (row := get(spelling, -1)) >= 0:
                    return row, form
    if not inner.isascii():
        bare = without_marks(inner)
        for spelling in (bare, bare.lower()):
            if (row := get(spelling, -1)) >= 0:
                return row, inner
    if plain[:1] in ("<", ">") and _is_of_a_kind(plain):
        return -1, plain
    if any(map(str.isalpha, inner)):
        sign = plain.lstrip(LEADING_BUT_SIGNS)[:1]  # a hashtag is read as one
        return -1, sign + inner if sign in ("#", "@") else inner
    return -1, inner if inner != plain and not _is_of_a_kind(plain) and _is_of_a_kind(inner) else plain  # (547), 43%!


def _is_of_a_kind(string: str) -> bool:
    return kind_of(plain_form(string)) is not None


def without_marks(word: str) -> str:
    """A word without the marks of its letters: Nguyễn -> Nguyen. Й is a letter of its own."""
    letters = unicodedata.normalize("NFC", word)
    parts = (one if one in WHOLE else unicodedata.normalize("NFD", one) for one in letters)
    return "".join(one for part in parts for one in part if not unicodedata.combining(one))
