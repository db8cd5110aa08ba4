"""The words of a text, whole.

| in the text | its words | |
|---|---|---|
| `Don't`, `o’brien`, `U.S.` | `Don't`, `o’brien`, `U.S` | letters, digits, accents; inside apostrophes and dots |
| `well-known`, `and/or`, `a_b` | `well`, `known`, `and`, `or`, `a`, `b` | |
| `e-mail` | `email` | where that is known |
| `Deen's` | `Deen` | where `deen's` is not known |
| `#dog`, `@anna` | `dog`, `anna` | |
| `#ThrowbackThursday` | `Throwback`, `Thursday` | where all parts are known, and the whole is not |
| `1,000.50`, `24/7` | `1,000.50`, `24`, `7` | |
| `❤`, `😀` | `heart`, `grinning`, `face` | by the names that Unicode has for emoji |
| `,` `(` `…` | none | |

Scripts without blanks (Han, kana, Thai) are not parted: a run of them is one word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

JOINTS = "'’ʼ.,\\-‐‑"
PLAIN = re.compile(r"[A-Za-z0-9]+(?:['.,\-][A-Za-z0-9]+)*")
PARTS = re.compile(r"[.,\-‐‑]")
POSSESSIVE = re.compile(r"['’ʼ][sS]$")
HUMP = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]|[^\x00-\x7f]")
HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+|\d+")
FIRST_MARK, LAST_MARK = 0x300, 0x1E950  # code points between which all marks of scripts lie
INVISIBLE = "\u00ad\u200c\u200d\u2060"  # inside a word they are part of it
EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
VARIANTS = re.compile("[\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
OF_PRINT = {"heavy", "black", "white", "sign", "symbol"}
NUMBER = re.compile(r"[\d.,]+$")

IsKnown = Callable[[str], bool]


def runs_of(text: str) -> list[str]:
    """What stands between blanks and marks, before it is looked at more closely."""
    if text.isascii():
        return PLAIN.findall(text)
    return _any_script().findall(unicodedata.normalize("NFC", VARIANTS.sub("", text)))


def spans_of(text: str) -> list[tuple[int, int]]:
    """Where the runs of `runs_of` stand in the text as it is: (start, end) each."""
    if text.isascii():
        return [found.span() for found in PLAIN.finditer(text)]
    normal, places = _normal_form(text)
    return [(places[found.start()][0], places[found.end() - 1][1]) for found in _any_script().finditer(normal)]


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
    apart = unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", character)
    return unicodedata.normalize("NFC", before + character) != apart


def span_of(part: str, run: str, start: int) -> tuple[int, int]:
    """Where a part stands in its run, not before `start`; the whole run if it is not spelled out there."""
    place = run.find(part, start)
    return (place, place + len(part)) if place >= 0 else (0, len(run))


def parts_of(found: str, is_known: IsKnown) -> list[str]:
    """The words that a run stands for: itself, or what it is put together from."""
    if found.isalnum() and (found[1:].islower() or not HUMP.search(found)):  # as nearly all are
        return [found]
    if is_known(found):
        return [found]
    if len(found) == 1 and not found.isalnum():
        return emoji_words(found)
    if NUMBER.match(found):
        return [found]
    if base := POSSESSIVE.sub("", found):
        found = base
    if PARTS.search(found):
        together = PARTS.sub("", found)
        if together.isalpha() and is_known(together):
            return [together]
        return [word for part in PARTS.split(found) if part for word in parts_of(part, is_known)]
    humps = HUMPS.findall(found) if not found.islower() else []
    if len(humps) > 1 and "".join(humps) == found and all(len(hump) > 1 and is_known(hump) for hump in humps):
        return humps
    return [found]


def emoji_words(emoji: str) -> list[str]:
    """The words of its name, without those that tell shapes of print: ❤ is a heavy black heart."""
    words = unicodedata.name(emoji, "").lower().replace("-", " ").split()
    return [word for word in words if word not in OF_PRINT] or words


@cache
def _any_script() -> re.Pattern[str]:
    """As PLAIN for all letters, digits and marks; an emoji alone."""
    marks = [code for code in range(FIRST_MARK, LAST_MARK) if unicodedata.category(chr(code)).startswith("M")]
    starts = [code for place, code in enumerate(marks) if place == 0 or marks[place - 1] != code - 1]
    ends = [code for place, code in enumerate(marks) if place + 1 == len(marks) or marks[place + 1] != code + 1]
    ranges = "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))
    letter = rf"(?:[^\W_]|[{ranges}{INVISIBLE}])"
    return re.compile(rf"[^\W_]{letter}*(?:[{JOINTS}]{letter}+)*|[{EMOJI}]")
