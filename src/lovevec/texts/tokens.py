"""The words of a text, before they are looked at one by one.

| in the text | its words | |
|---|---|---|
| `Don't`, `U.S.`, `well-known` | `Don't`, `U.S`, `well-known` | inside of words apostrophes, dots, hyphens |
| `and/or`, `a_b`, `(yes)` | `and`, `or`, `a`, `b`, `yes` | |
| `5km/h,`, `$1,000`, `a.b@c.org` | `5km/h`, `$1,000`, `a.b@c.org` | strings of a kind are one word (near/kinds.py) |
| `#ThrowbackThursday`, `@anna_b` | `#ThrowbackThursday`, `@anna_b` | |
| `❤`, `😀😀` | `❤`, `😀😀` | |
| `,` `(` `…` | none | |

What a word holds besides itself (`well` and `known`, the words of a hashtag, the name of an emoji) is seen by
near/parts.py when it is not known. Scripts without blanks (Han, kana, Thai) are not parted here: a run of them is one
word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from lovevec.near.kinds import kind_of, plain_form

JOINTS = "'’ʼ.,\\-‐‑"
CHUNK = re.compile("[^\t\n\v\f\r ]+")  # what stands between blanks
PLAIN = re.compile(r"[A-Za-z0-9]+(?:['.,\-][A-Za-z0-9]+)*")
SIGNED = re.compile(r"[#@][^\W_][\w'’-]*")
OPENING, CLOSING = "([{<\"'“‘«‚„¿¡*", ")]}>\"'”’»;:!?.,…*"
PLAIN_CLOSING = ",.;:!?)\"'"
MAY_BE_OF_A_KIND = re.compile(r"[\d@#/\\]|\.[a-z]", re.IGNORECASE)
FIRST_MARK, LAST_MARK = 0x300, 0x1E950  # code points between which all marks of scripts lie
INVISIBLE = "\u00ad\u200c\u200d\u2060"  # inside a word they are part of it
EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
VARIANTS = re.compile("[\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")


class Word(NamedTuple):
    """A word of a text, and where it stands."""

    text: str
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    """The words of a text, in their order."""
    words = []
    for found in CHUNK.finditer(text):
        chunk, start = found.group(), found.start()
        inner = chunk.rstrip(PLAIN_CLOSING)
        if inner.isalpha() and chunk.isascii():  # as most are
            words.append(Word(inner, start, start + len(inner)))
            continue
        for word in _words_of_chunk(chunk):
            words.append(Word(word.text, start + word.start, start + word.end))
    return words


def runs_of(text: str) -> list[str]:
    """The words of a text, without their places."""
    return [word for chunk in CHUNK.findall(text) for word in runs_of_chunk(chunk)]


def runs_of_chunk(chunk: str) -> list[str]:
    """The words of what stands between two blanks."""
    if whole := of_a_kind(chunk):
        return [whole.text]
    if chunk.isascii():
        return PLAIN.findall(chunk)
    return _any_script().findall(unicodedata.normalize("NFC", VARIANTS.sub("", chunk)))


def _words_of_chunk(chunk: str) -> Iterator[Word]:
    if whole := of_a_kind(chunk):
        yield whole
    elif chunk.isascii():
        for found in PLAIN.finditer(chunk):
            yield Word(found.group(), *found.span())
    else:
        normal, places = _normal_form(chunk)
        for found in _any_script().finditer(normal):
            yield Word(found.group(), places[found.start()][0], places[found.end() - 1][1])


def of_a_kind(chunk: str) -> Word | None:
    """The hashtag, name, or string of some kind that a chunk is, without the marks around it."""
    if not MAY_BE_OF_A_KIND.search(chunk) and chunk.isascii():
        return None
    inner = chunk.lstrip(OPENING).rstrip(CLOSING)
    start = len(chunk) - len(chunk.lstrip(OPENING))
    if SIGNED.fullmatch(inner):
        return Word(inner, start, start + len(inner))
    for text, place in ((inner, start), (chunk.rstrip(CLOSING), 0)):
        if text and kind_of(plain_form(text)) is not None:
            return Word(text, place, place + len(text))
    return None


def _normal_form(text: str) -> tuple[str, list[tuple[int, int]]]:
    """A text without variants in composed form, and where each of its characters comes from, (start, end) in `text`."""
    normal, places, start = "", [], 0
    while start < len(text):
        end = start + 1
        while end < len(text) and _composes(text[start:end], text[end]):
            end += 1
        piece = unicodedata.normalize("NFC", VARIANTS.sub("", text[start:end]))
        normal += piece
        places += [(start, end)] * len(piece)
        start = end
    return normal, places


def _composes(before: str, character: str) -> bool:
    """Whether a character has to be normalised together with what stands before it: a mark, a jamo, a variant."""
    if character.isascii():
        return False
    if unicodedata.combining(character) or VARIANTS.match(character):
        return True
    before = VARIANTS.sub("", before)
    apart = unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", character)
    return unicodedata.normalize("NFC", before + character) != apart


@cache
def _any_script() -> re.Pattern[str]:
    """As PLAIN for all letters, digits and marks; and runs of emoji."""
    marks = [code for code in range(FIRST_MARK, LAST_MARK) if unicodedata.category(chr(code)).startswith("M")]
    starts = [code for place, code in enumerate(marks) if place == 0 or marks[place - 1] != code - 1]
    ends = [code for place, code in enumerate(marks) if place + 1 == len(marks) or marks[place + 1] != code + 1]
    ranges = "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))
    letter = rf"(?:[^\W_]|[{ranges}{INVISIBLE}])"
    return re.compile(rf"[^\W_]{letter}*(?:[{JOINTS}]{letter}+)*|[{EMOJI}]+(?:\u200d[{EMOJI}]+)*")
