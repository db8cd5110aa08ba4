"""Strings that hold several words: `neural-netwrok`, `Los_Angelos`, `iphone15`, `#ThrowbackThursday`, `500mg`.

What holds words together can be seen: marks, capitals inside, digits beside letters, or that the string is of a kind
(kinds.py). Such a string is taken apart and each part is read by itself, known, near or new; words that are run
together without a mark are found by the reader (joined.py).

    mark        well-known, and/or, snake_case                  split at marks; e-mail is email where that is known
    clitic      nothing'll, who'd've                            'll is will
    apostrophe  rock'n'roll                                     split there
    capital     ThrowbackThursday, iPhone                       split where a capital begins a part
    digits      covid19, 3-bedroom, RTX3080                     letters and digits apart
    script      東京タワー                                       Han, kana and others apart
    ending      Deen's, l'homme                                 the word before the 's, behind the article
    emoji       😀                                              the words of its name

A string may still be one damaged word (`re-cieve`, `bl00d`, `did'nt`). Then both readings compete by probability:

    u(parts) = prior of this way to hold words together + Σ u(part)
    u(whole) = log Σ e^u over the known words that the string may stand for

with u of the channel (near/__init__.py): for a known part what its rank counts, for any other the evidence of its
readings.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.near import exact
from lovevec.near.kinds import NAME, NUMBER, WORD, Part, number_form, parts_of_kind, plain_form
from lovevec.near.readings import Readings

PIECE = re.compile(r"(?:[^\W_]|['’ʼ\u00ad\u200c\u200d\u0300-\u036f\u0900-\u0e7f])+")
PARTS_TOGETHER = re.compile(r"[.\-‐‑]")  # marks that some write inside of one word: e-mail, U.S.A
NO_SLIP = re.compile(r"[^\w\s'’ʼ‐‑-]")  # marks that nobody writes into a word by mistake
POSSESSIVE = re.compile(r"['’ʼ][sS]$")
ELISION = re.compile(r"^(?:l|j|qu|dell|nell|sull|dall|all)['’ʼ](?=\w{3})", re.IGNORECASE)
# Before which apostrophes in other languages than English, which has ELISION for French and Italian names.
ELISIONS = {
    "fr": "l|d|j|m|t|s|c|n|qu|lorsqu|puisqu|jusqu|quoiqu|quelqu|presqu",
    "it": "l|un|d|dell|nell|sull|dall|all|coll|quest|quell|bell|sant|c|v|s|m|t|n|gl|degl|negl|dagl|agl|tutt|cent",
    "ca": "l|d|n|s|m|t|qu",
}
CLITIC = re.compile(r"(?<=[^\W\d_])(n['’ʼ]t|['’ʼ](?:ll|ve|re|d|m))$", re.IGNORECASE)
CLITICS = {"nt": "not", "ll": "will", "ve": "have", "re": "are", "d": "would", "m": "am"}
APOSTROPHE = re.compile("['’ʼ]")
NUMBERED = re.compile(r"[^\d]{2,}\d*[2-9]")
HUMP = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]|[^\x00-\x7f]")
HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]+")
RUNS = re.compile(r"\d+(?:[.,]\d+)*|[^\d]+")
EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
AN_EMOJI = re.compile(f"(?![\U0001f3fb-\U0001f3ff])[{EMOJI}]")  # the colours of skin are none
OF_PRINT = {"heavy", "black", "white", "sign", "symbol", "with", "and", "of", "the", "face", "emoji", "mark"}
MAX_PARTS = 12
MAX_LENGTH = 1000  # characters: a longer string is one string
MIN_WORD = 3  # letters beside digits that are read; fewer are a name
MAX_EMOJI_WORDS = 3
# In nats: what speaks for parts, by what holds them together.
PRIORS = {"mark": 0.0, "clitic": 0.0, "apostrophe": -4.0, "capital": 0.0, "digits": -2.0, "script": 0.0, "ending": 0.0}
NATS_PER_DIGIT = 1.0
UTILITY_OF_NAME = -8.0

IsKnown = Callable[[str], bool]
LookUp = Callable[[Sequence[str]], tuple[NDArray[np.int64], list[str]]]
UNKNOWN, COMPOSITE = -1, -2  # in the place of a known word's row


class Composite(NamedTuple):
    """What can be seen of a string that is not simply a word: its parts (one, where the word stands in something), what
    holds them together (or the name of its kind), whether it may be one damaged word after all, and then which known
    words, as (row, probability), most probable first: police-man may be policeman."""

    parts: tuple[Part, ...]
    how: str
    may_be_whole: bool
    near: tuple[tuple[int, float], ...] = ()


class Found(NamedTuple):
    """Strings looked up: `rows` [strings] of known words, UNKNOWN or COMPOSITE; `unknown`, those that are read as one
    word each, in their order and as they are read; `composites`, by their places; and `words`, by their places, for
    strings that hold one word and something else (Deen for `Deen's`)."""

    rows: NDArray[np.int64]
    unknown: list[str]
    composites: dict[int, Composite]
    words: dict[int, str]


def find(
    strings: Sequence[str], look_up: LookUp, take_apart: Callable[[Sequence[str]], Sequence[str | Composite]]
) -> Found:
    """Look strings up, and take apart those that are not known. `look_up` gives the rows of known words, -1 for others,
    and these others; `take_apart` what each of these is: one word, as it is to be read, or several."""
    rows, unknown = look_up(strings)
    taken = take_apart(unknown)
    if taken is unknown:
        return Found(rows, unknown, {}, {})
    composites: dict[int, Composite] = {}
    words: dict[int, str] = {}
    left: list[str] = []
    for place, one, string in zip(np.flatnonzero(rows < 0).tolist(), taken, unknown, strict=True):
        if one is string:
            left.append(string)
        elif isinstance(one, str):
            words[place] = one
            (rows[place],), as_read = look_up([one])
            left += as_read
        else:
            composites[place], rows[place] = placed(one, string, strings[place]), COMPOSITE
    return Found(rows, left, composites, words)


def placed(composite: Composite, form: str, string: str) -> Composite:
    """What a string holds, by the places in the string itself instead of those in the form in which it is read: without
    the marks around it, normalised. Where the form does not stand in the string nobody knows what stands where."""
    if form == string:
        return composite
    if (start := string.find(form)) >= 0:
        return _shifted(composite, start)
    if len(form) == len(string):
        return composite
    return composite._replace(parts=tuple(part._replace(start=0, end=len(string)) for part in composite.parts))


def take_apart(string: str, is_known: IsKnown, elision: re.Pattern[str] = ELISION) -> Composite | None:
    """The parts of a string that is not known; None for one that holds one word at most, as far as one can see.
    `elision` fits the articles and pronouns that a language writes before a word, with an apostrophe."""
    if string.isalpha() and (string[1:].islower() or not HUMP.search(string)):  # as nearly all are
        return None
    if len(string) > MAX_LENGTH:
        return None
    body = string.lstrip("#@")
    if not body:
        return None
    for whole in (string, body):  # of #ff00aa the sign is a part
        if (found := parts_of_kind(whole)) is not None:
            kind, parts = found
            return _shifted(Composite(parts, kind.name, False), len(string) - len(whole))
    composite = _split(body, is_known, elision)
    return None if composite is None else _shifted(composite, len(string) - len(body))


def _shifted(composite: Composite, by: int) -> Composite:
    if not by:
        return composite
    parts = tuple(part._replace(start=part.start + by, end=part.end + by) for part in composite.parts)
    return composite._replace(parts=parts)


def _split(string: str, is_known: IsKnown, elision: re.Pattern[str]) -> Composite | None:
    if (emoji := AN_EMOJI.findall(string)) and (emoji_parts := _emoji_parts(string, emoji)):  # some have no name yet
        return Composite(tuple(emoji_parts), "emoji", False)
    if POSSESSIVE.search(string) and len(string) > 3:
        base = string[:-2]
        return take_apart(base, is_known, elision) or Composite((Part(base, WORD, 0, len(base)),), "ending", False)
    if article := elision.match(string):
        start, rest = article.end(), string[article.end() :]
        composite = take_apart(rest, is_known, elision) or Composite((Part(rest, WORD, 0, len(rest)),), "ending", False)
        return _shifted(composite, start)
    pieces = [found.span() for found in PIECE.finditer(string)]
    pieces = [(start, end) for start, end in pieces if any(map(str.isalnum, string[start:end]))]
    if not pieces:
        return None
    if len(pieces) > 1:
        together = PARTS_TOGETHER.sub("", string)
        if together.isalpha() and is_known(together):
            return Composite((Part(together, WORD, 0, len(string)),), "mark", False)
        if together.isalpha() and all(end - start == 1 for start, end in pieces):  # N.A.T.O.
            return Composite((Part(together, NAME, 0, len(string)),), "mark", False)
    parts: list[Part] = []
    held = {"mark"} if len(pieces) > 1 else set()
    for start, end in pieces:
        for part, how in _split_piece(string[start:end], is_known):
            parts.append(part._replace(start=part.start + start, end=part.end + start))
            held.add(how)
    if len(parts) == 1 and parts[0].how == WORD:
        return None if parts[0].text == string else Composite(tuple(parts), "mark", False)
    how = next((how for how in ("digits", "mark", "clitic", "apostrophe", "capital", "script") if how in held), "mark")
    return Composite(tuple(parts[:MAX_PARTS]), how, _may_be_whole(string, how))


def _may_be_whole(string: str, how: str) -> bool:
    """Whether a string may be one word, damaged: with digits only where some of few stand for letters. What ends in a
    number is numbered (room5), but for 0 and 1, which are often o and l (wil1)."""
    if how == "digits":
        digits = re.findall(r"\d+", string)
        if NUMBERED.fullmatch(string):
            return False
        return max(map(len, digits)) <= 2 and sum(map(len, digits)) <= sum(map(str.isalpha, string))
    return how != "script" and NO_SLIP.search(string) is None


def _split_piece(piece: str, is_known: IsKnown) -> list[tuple[Part, str]]:
    """The parts of what stands between marks, and what holds each of them to the others."""
    if piece.isalpha() and piece.isascii() and (piece[1:].islower() or not HUMP.search(piece)):
        return [(Part(piece, WORD, 0, len(piece)), "mark")]
    if is_known(piece):
        return [(Part(piece, WORD, 0, len(piece)), "mark")]
    if (found := parts_of_kind(piece)) is not None:
        return [(part, "digits") for part in found[1]]
    if any(map(str.isdecimal, piece)):
        parts = []
        for found_run in RUNS.finditer(piece):
            text, (start, end) = found_run.group(), found_run.span()
            if text[0].isdecimal():
                parts.append((Part(number_form(plain_form(text)), NUMBER, start, end), "digits"))
                continue
            letters = sum(map(str.isalpha, text))
            if letters < MIN_WORD and not is_known(text):
                parts += [(Part(text, NAME, start, end), "digits")] if letters else []
                continue
            inner = _split_piece(text, is_known)
            parts += [(part._replace(start=part.start + start, end=part.end + start), "digits") for part, _ in inner]
        return parts
    if clitic := CLITIC.search(piece):
        start, short = clitic.start(), APOSTROPHE.sub("", clitic.group()).lower()
        inner = [(part, "clitic") for part, _ in _split_piece(piece[:start], is_known)]
        return [*inner, (Part(CLITICS[short], WORD, start, len(piece)), "clitic")]
    if APOSTROPHE.search(piece):
        sides = [found.span() for found in re.finditer("[^'’ʼ]+", piece)]
        if len(sides) > 1:
            return [(Part(piece[start:end], WORD, start, end), "apostrophe") for start, end in sides]
    if not piece.isascii() and len(scripts := _script_runs(piece)) > 1:
        return [(Part(piece[start:end], WORD, start, end), "script") for start, end in scripts]
    humps = [(found.group(), *found.span()) for found in HUMPS.finditer(piece)]
    if piece.isascii() and 1 < len(humps) <= MAX_PARTS and not piece.islower() and not piece.isupper():
        return [(Part(text, WORD if len(text) > 1 else NAME, start, end), "capital") for text, start, end in humps]
    return [(Part(piece, WORD, 0, len(piece)), "mark")]


def decide(
    strings: Sequence[str],
    taken: Sequence[Composite | None],
    row_of: Callable[[str], int],
    utility: Callable[[int], float],
    read: Callable[[Sequence[str]], Readings],
) -> list[Composite | None]:
    """Of strings and what can be seen of each: its parts, or None where it is one word. `row_of` gives the row of a
    known word, -1 for others, `utility` what a known word's rank counts, `read` the readings of unknown strings."""
    open_ones = [place for place, one in enumerate(taken) if one is not None and one.may_be_whole]
    if not open_ones:
        return list(taken)
    words = [part.text for place in open_ones for part in taken[place].parts if part.how == WORD]  # type: ignore[union-attr]
    whole_ones = [strings[place] for place in open_ones]
    asked = list(dict.fromkeys([*whole_ones, *(word for word in words if row_of(word) < 0)]))
    readings = read(asked)
    evidence = dict(zip(asked, readings.evidence.tolist(), strict=True))
    near = np.maximum(readings.probabilities.sum(axis=1), 1e-300)
    near_evidence = dict(zip(asked, (readings.evidence + exact.log(near)).tolist(), strict=True))

    def utility_of(part: Part) -> float:
        row = row_of(part.text)
        if row >= 0:
            return utility(row)
        if part.how == NUMBER:
            return -NATS_PER_DIGIT * len(part.text)
        return evidence[part.text] if part.how == WORD else UTILITY_OF_NAME

    result, where = list(taken), {string: at for at, string in enumerate(asked)}
    for place in open_ones:
        composite = taken[place]
        assert composite is not None
        parts, whole = PRIORS[composite.how] + sum(map(utility_of, composite.parts)), near_evidence[strings[place]]
        if whole > parts:
            result[place] = None
            continue
        at = where[strings[place]]
        odds = exact.exp(np.array([whole - parts]))[0]
        chances = readings.probabilities[at] / max(float(near[at]), 1e-300) * odds / (1 + odds)
        pairs = zip(readings.rows[at].tolist(), chances.tolist(), strict=True)
        result[place] = composite._replace(near=tuple((row, chance) for row, chance in pairs if row >= 0))
    return result


def as_one_word(one: str | Composite) -> str | Composite:
    """The word alone where a string holds one, as it is to be read; without the sign of a hashtag."""
    if isinstance(one, str):
        return (one.lstrip("#@") or one) if one.startswith(("#", "@")) else one
    return one.parts[0].text if len(one.parts) == 1 and one.parts[0].how == WORD else one


@cache
def elision_of(code: str) -> re.Pattern[str]:
    """What a language elides before a word, by its code: l'homme, j'ai, dell'arte."""
    listed = ELISIONS.get(code)
    return ELISION if listed is None else re.compile(rf"^(?:{listed})['’ʼ](?=\w)", re.IGNORECASE)


def take_all_apart(strings: Sequence[str], is_known: IsKnown) -> Sequence[str | Composite]:
    """What can be seen of strings, where nobody can read them: never one damaged word."""
    return [as_one_word(take_apart(string, is_known) or string) for string in strings]


def _script_of(character: str) -> str:
    """The script of a letter, for the scripts that put no blanks between words; others are one."""
    code = ord(character)
    if 0x3040 <= code <= 0x309F:
        return "hiragana"
    if 0x30A0 <= code <= 0x30FF or 0xFF66 <= code <= 0xFF9F:
        return "katakana"
    if 0x3400 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x3134F:
        return "han"
    return "other"


def _script_runs(piece: str) -> list[tuple[int, int]]:
    runs: list[list[int]] = []
    before = None
    for place, character in enumerate(piece):
        script = _script_of(character)
        if script == before or (runs and unicodedata.category(character)[0] in "ML" and script == "other" == before):
            runs[-1][1] = place + 1
        else:
            runs.append([place, place + 1])
        before = script
    return [(start, end) for start, end in runs]


def _emoji_parts(string: str, emoji: Sequence[str]) -> list[Part]:
    """The words of the names of the emoji of a string, of each once, and the other words beside them."""
    parts = []
    for one in dict.fromkeys(emoji):
        place = string.index(one)
        parts += [Part(word, WORD, place, place + 1) for word in emoji_words(one)[:MAX_EMOJI_WORDS]]
    parts += [Part(found.group(), WORD, *found.span()) for found in re.finditer(r"[^\W_]+", string)]
    return parts[:MAX_PARTS]


def emoji_words(emoji: str) -> list[str]:
    """The words of its name, without those that tell shapes of print: ❤ is a heavy black heart."""
    words = unicodedata.name(emoji, "").lower().replace("-", " ").split()
    return [word for word in words if word not in OF_PRINT] or words
