"""Lines of texts (sentence.py) as the compiled core makes them, for many texts at once.

While it walks through texts, the core notes the row of each plain known word, and the signs beside it, and leaves
places for unknown words and for other chunks. Once these are read, one call of it puts them into their places and gives
the windows of all words that are asked about.

    "He said it, Mr. Blorf: 5km."   ->   he said it PAUSE mr STOP UNKNOWN STOP CHUNK
                                         with 5km. as NUMBER km STOP
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core
from lovevec.near.context import PLACES, Integers
from lovevec.near.kinds import WORD
from lovevec.near.readings import Readings
from lovevec.texts.sentence import CERTAIN, LIKELY, NEW, TextParts, sign_between, sign_of, sign_of_marks

FIRST_STRING = -16  # less the number of a string, in the place of its row: as in native/core.h


class ChunkLines(NamedTuple):
    """What stands between two blanks and is more than a plain word, as parts of lines: those of chunk i are
    ids[starts[i] : starts[i + 1]], rows, signs, and FIRST_STRING - number for the unknown words in `strings`, whose
    signs are `signs`."""

    starts: NDArray[np.int64]
    ids: Integers
    strings: list[str]
    signs: list[int]


def lines_of_chunks(chunks: Sequence[TextParts | None], first: int) -> ChunkLines:
    """Chunks as parts of lines; None for those that no line needs. `first` is the number of the first string."""
    starts, ids, place, signs = [0], list[int](), dict[str, int](), list[int]()
    for chunk in chunks:
        if chunk is not None:
            end = 0
            for part, row in zip(chunk.parts, chunk.rows.tolist(), strict=True):
                # Before the chunk stands a blank: one mark there is more than a blank alone.
                if sign := (sign_between if end else sign_of_marks)(chunk.text, end, part.start):
                    ids.append(sign)
                if row < 0 and part.how == WORD:
                    number = place.setdefault(part.text, len(place))
                    if number == len(signs):
                        signs.append(sign_of(part))
                    ids.append(FIRST_STRING - first - number)
                else:
                    ids.append(row if row >= 0 else sign_of(part))
                end = part.end
            if sign := sign_of_marks(chunk.text, end, len(chunk.text)):
                ids.append(sign)
        starts.append(len(ids))
    return ChunkLines(np.array(starts, dtype=np.int64), np.array(ids, dtype=np.int32), list(place), signs)


class AskedWords(NamedTuple):
    """The words whose readings are not certain, one after the other: what stands around each [n, PLACES], and columns
    [n, 4]: which string each is, in which text, and which of the plain unknown words, -1 for a part of a chunk.

    Of the plain unknown words those are counted that were asked about, and others once for all places: `numbers`
    [words] say which of the counted ones each is, `strings` and `places` [counted] which string that is, and which of
    those asked about, -1 for none.
    """

    windows: Integers
    columns: NDArray[np.int64]
    numbers: NDArray[np.int64]
    strings: NDArray[np.int64]
    places: NDArray[np.int64]


def asked_words(
    line: NDArray[np.int32],
    lengths: NDArray[np.int64],
    words: NDArray[np.int64],
    chunks: NDArray[np.int64],
    parts: ChunkLines,
    readings: Readings,
) -> tuple[AskedWords, NDArray[np.bool_]]:
    """From the line of all texts, in which each has `lengths` [texts] ids. `words` and `chunks` are the numbers of what
    stands at the places of unknown words and of chunks, `readings` those of all strings. And the texts [texts] whose
    lines cannot be told, since words that may be torn in two have a part in a chunk: nothing of them is asked."""
    all_signs = np.full(len(readings.new), NEW, dtype=np.int32)
    if parts.signs:
        all_signs[-len(parts.signs) :] = parts.signs
    odd, alone = np.empty(len(lengths), dtype=np.uint8), readings[:4]
    around, *columns = core().windows(line, lengths, words, chunks, *parts[:2], all_signs, *alone, CERTAIN, LIKELY, odd)
    asked, numbers, strings, places = (np.frombuffer(column, np.int64) for column in columns)
    windows = np.frombuffer(around, np.int32).reshape(-1, PLACES)
    return AskedWords(windows, asked.reshape(-1, 4), numbers, strings, places), odd.view(np.bool_)


NO_CHUNKS = ChunkLines(np.zeros(1, np.int64), np.zeros(0, np.int32), [], [])
