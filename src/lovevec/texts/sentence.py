"""A text as the model of context sees it (near/context.py): the rows of its known words in their order, and signs.

    "He said it, Mr. Blorf: 5 km."   ->   STOP he said it PAUSE mr STOP NEW STOP NUMBER km STOP

A known word is its row, any other word a sign: NEW, NUMBER, or OTHER for what holds several words. Marks between words
are signs of their own, so that the model sees where sentences and clauses end. Every text begins and ends with STOP.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.threads import in_chunks
from lovevec.near.context import PAD, WINDOW, Integers, SentenceReader
from lovevec.near.kinds import NUMBER as A_NUMBER
from lovevec.near.kinds import WORD, Part
from lovevec.near.readings import Readings, in_context

Utility = NDArray[np.float64]

STOP, PAUSE, NEW, NUMBER, OTHER = -1, -2, -3, -4, -5
BEYOND = [PAD] * WINDOW
OFFSETS = np.array([*range(-WINDOW, 0), *range(1, WINDOW + 1)])
MIN_KNOWN = 2  # words around one, for the sentence to be asked
CERTAIN = 0.99  # probability of a reading from which on the sentence is not asked
WINDOWS_PER_THREAD = 256  # that a thread takes at a time
LIKELY = 0.6  # probability of a word from which on it stands for an unknown one in the sentences of others
MARKS = re.compile(r"""([.!?;:…])|[,()\[\]{}"“”«»—–]|--""")


def sign_between(text: str, start: int, end: int) -> int:
    """The sign for what stands between two words of a text: STOP, PAUSE, or 0 for none."""
    return 0 if end - start <= 1 else sign_of_marks(text, start, end)  # a blank, as nearly everywhere


def sign_of_marks(text: str, start: int, end: int) -> int:
    """The sign for the marks in a part of a text, were it one alone."""
    sign = 0
    for mark in MARKS.finditer(text, start, end):
        if mark.group(1):
            return STOP
        sign = PAUSE
    return sign


def sequence(text: str, parts: Sequence[Part], ids: Sequence[int]) -> tuple[list[int], list[int]]:
    """The rows and signs of a text, and the place of each of its words among them. `ids` are the rows of the words, or
    the signs of those that are none."""
    result, places, end = [STOP], [], 0
    for part, row in zip(parts, ids, strict=True):
        sign = sign_between(text, end, part.start)
        if sign and result[-1] != sign and len(result) > 1:
            result.append(sign)
        places.append(len(result))
        result.append(row)
        end = part.end
    result.append(STOP)
    return result, places


class TextParts(NamedTuple):
    """The words of a text, or the parts of those that hold several, and the rows of these that are known words, -1 for
    others."""

    text: str
    parts: Sequence[Part]
    rows: NDArray[np.int64]


def is_unsure(readings: Readings) -> NDArray[np.bool_]:
    """[strings] whether no reading is certain."""
    strongest = np.maximum(readings.probabilities[:, 0], np.maximum(readings.new, readings.parts))
    result: NDArray[np.bool_] = strongest < CERTAIN
    return result


class Sentences:
    """Reads the words of texts in their sentences.

    :param reader: what a model of context says of the words of its table.
    :param look_up: the rows of words there, -1 for those that it does not know; None where the texts' words are looked
        up in that very table.
    :param row_of: the same for the words of the table in use, by their rows.
    """

    def __init__(
        self,
        reader: SentenceReader,
        look_up: Callable[[Sequence[str]], NDArray[np.int64]] | None = None,
        row_of: Callable[[], Integers] | None = None,
    ) -> None:
        self.reader, self._look_up, self._row_of = reader, look_up, row_of

    def _rows(self, rows: NDArray[np.integer]) -> Integers:
        """Rows of the table in use as rows of the model's table; -1 where there is none."""
        if self._row_of is None:
            return rows.astype(np.int32, copy=False)
        result: Integers = np.where(rows >= 0, self._row_of()[rows], np.int32(-1)).astype(np.int32)
        return result

    def _ids(self, parts: Sequence[Part], rows: NDArray[np.int64], meant: NDArray[np.integer]) -> list[int]:
        """The rows of words in the model's table, and signs for others. `meant` [parts] are the rows that unknown words
        most probably stand for, -1 where that is doubtful."""
        known = rows if self._look_up is None else self._look_up([part.text for part in parts])
        ids: list[int] = np.where(known >= 0, known, self._rows(meant)).tolist()
        return [row if row >= 0 else sign_of(part) for row, part in zip(ids, parts, strict=True)]

    def read(self, texts: Sequence[TextParts], readings: Readings) -> Readings:
        """The readings of all unknown words of some texts, in their order, each by its own spelling -> each in its
        sentence. Those that are certain stay as they are."""
        unsure = is_unsure(readings)
        if not unsure.any():
            return readings
        asked = is_unknown(texts)
        asked[asked] = unsure
        windows = self.windows(texts, readings, asked)
        enough = has_sentence(windows)
        unsure[unsure] = enough
        utility = self.utility(windows[enough], readings.rows[unsure])
        return readings.put(unsure, in_context(readings.some(unsure), utility))

    @property
    def has_own_rows(self) -> bool:
        """Whether the table in use is the model's own."""
        return self._row_of is None and self._look_up is None

    def scores(self, windows: Integers, rows: NDArray[np.integer], threads: int = 1) -> NDArray[np.float64]:
        """z of the words of some rows [n, k] of the table in use, and of a new word, in their places: [n, k + 1]."""
        candidates = self._rows(rows)
        if threads == 1 or len(windows) <= WINDOWS_PER_THREAD:
            return self.reader.scores(windows, candidates)
        result = np.empty((len(windows), candidates.shape[1] + 1))

        def score(part: slice) -> None:
            result[part] = self.reader.scores(windows[part], candidates[part])

        in_chunks(score, len(windows), WINDOWS_PER_THREAD, threads)
        return result

    def utility(self, windows: Integers, rows: NDArray[np.integer]) -> Utility:
        """λ z of the words of some rows [n, k] of the table in use, and of a new word, in their places: [n, k + 1]."""
        result: Utility = self.scores(windows, rows) * self.reader.context.strength
        return result

    def windows(self, texts: Sequence[TextParts], readings: Readings, asked: NDArray[np.bool_]) -> Integers:
        """What stands around the words of the mask `asked` [words of all texts]: [n, PLACES]. `readings` are those of
        the unknown words, of which the probable ones count as what they stand for."""
        meant = np.full(len(asked), -1, dtype=np.int32)
        meant[is_unknown(texts)] = np.where(readings.probabilities[:, 0] >= LIKELY, readings.rows[:, 0], -1)
        parts, rows = [part for one in texts for part in one.parts], np.concatenate([one.rows for one in texts])
        ids, lines, places, first = self._ids(parts, rows, meant), list(BEYOND), list[int](), 0
        for text, some, _ in texts:
            line, inside = sequence(text, some, ids[first : first + len(some)])
            places += [len(lines) + place for place in inside]
            lines += line
            lines += BEYOND
            first += len(some)
        windows: Integers = np.array(lines, dtype=np.int32)[np.array(places, dtype=np.int64)[asked][:, None] + OFFSETS]
        return windows


def has_sentence(windows: Integers) -> NDArray[np.bool_]:
    """[n] whether there are known words enough around a place for them to be asked: a word alone is read alone."""
    result: NDArray[np.bool_] = (windows >= 0).sum(axis=1) >= MIN_KNOWN
    return result


def is_unknown(texts: Sequence[TextParts]) -> NDArray[np.bool_]:
    """[words of all texts] whether each is not known, and read as a word."""
    rows = [one.rows for one in texts]
    result: NDArray[np.bool_] = np.concatenate(rows) < 0 if rows else np.zeros(0, dtype=np.bool_)
    parts = [part for one in texts for part in one.parts]
    for place in np.flatnonzero(result).tolist():
        result[place] = parts[place].how == WORD
    return result


def sign_of(part: Part) -> int:
    """The sign for a word that is no known one."""
    if part.how == A_NUMBER:
        return NUMBER
    return NEW if part.text.isalpha() else OTHER
