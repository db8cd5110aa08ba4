"""The formats that are text. Of word2vec and fastText: a first line `rows dim`, then a word and its numbers a line;
where the rows are counted only at the end, the first line is padded with spaces, and filled in then. JSON lines: one
object a word, or a text; any string goes, a lone surrogate (a byte that was no UTF-8) as its JSON escape.

Numbers become text a block of rows at once. `"%.8f" %` or `repr` cost 150 to 300 ns a number, and a row has hundreds.
Here a number below 10 becomes an integer (8 or 12 places), each 4 digits of it are fetched as one 32-bit word from a
table of 10,000, and all of a block is one array of bytes. The byte of a minus sign that is not there is 0, and is
dropped in the end. Kept by hand because numpy's own `savetxt` is `%` as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from json.encoder import encode_basestring as quote

import numpy as np
from numpy.typing import NDArray

from lovevec.vectors.write.writer import Shape, Sink, Writer, check_count, join_words

Floats = NDArray[np.float32]
HEADER_WIDTH = 31
WHITE_SPACE = re.compile(r"\s")
PLACES = (8, 12)
GROUP = 10_000
DIGITS = np.frombuffer(b"".join(b"%04d" % number for number in range(GROUP)), "<u4")
NUMBERS_PER_BLOCK = 1 << 17  # the temporary arrays of a block stay in the cache
JSON_ENDS = (b'], "known": false}\n', b'], "known": true}\n', b"]}\n")
LINE_END = np.frombuffer(b"\n\0\0\0", "<u4")[0]


class _VecWriter(Writer):
    def __init__(self, sink: Sink, shape: Shape) -> None:
        self.sink, self.shape = sink, shape
        self.rows = self.spaced = 0
        if sink.patchable or shape.count is not None:
            sink.file.write(self.header(shape.count or 0))

    def header(self, rows: int) -> bytes:
        line = f"{rows} {self.shape.dim}"
        return (f"{line:<{HEADER_WIDTH}}\n" if self.sink.patchable else f"{line}\n").encode()

    def add(self, words: Sequence[str], rows: Floats, known: Sequence[bool]) -> None:
        names = join_words(words, "vec").split(b"\n")
        parts = [b"\n"] * (3 * len(words))
        parts[::3], parts[1::3] = names[:-1], format_rows(rows, exact=self.shape.exact)
        self.sink.file.write(b"".join(parts))
        self.sink.pass_on()
        self.rows += len(words)
        if WHITE_SPACE.search("".join(words)):
            self.spaced += sum(WHITE_SPACE.search(word) is not None for word in words)

    def finish(self) -> None:
        if self.sink.patchable:
            self.sink.patch(self.header(self.rows))
        else:
            check_count(self.sink, self.shape.count, self.rows)

    def notes(self) -> list[str]:
        trap = "lovevec reads them, but fastText and others take the space for the end of the word"
        return [f"words with white space inside: {self.spaced:,}; {trap}"] if self.spaced else []


@contextmanager
def write_vec(sink: Sink, shape: Shape) -> Iterator[Writer]:
    """Write text rows; into a pipe without the first line, where the count is not known."""
    writer = _VecWriter(sink, shape)
    yield writer
    writer.finish()


class _JsonlWriter(Writer):
    def __init__(self, sink: Sink, shape: Shape) -> None:
        self.sink, self.exact, self.item = sink, shape.exact, shape.item

    def add(self, words: Sequence[str], rows: Floats, known: Sequence[bool]) -> None:
        names = [quote(word).encode("utf-8", "backslashreplace") for word in words]
        numbers = format_rows(rows, b",", self.exact)
        begin = f'{{"{self.item}": '.encode()
        ends = known if self.item == "word" else [2] * len(words)
        lines = [
            begin + name + b', "vector": [' + row[1:] + JSON_ENDS[end]
            for name, row, end in zip(names, numbers, ends, strict=True)
        ]
        self.sink.file.write(b"".join(lines))
        self.sink.pass_on()


@contextmanager
def write_jsonl(sink: Sink, shape: Shape) -> Iterator[Writer]:
    """Write one JSON object a row: `word` (or `text`), `vector`, and for words whether it is `known`."""
    yield _JsonlWriter(sink, shape)


def format_rows(rows: Floats, separator: bytes = b" ", exact: bool = False) -> list[bytes]:
    """Each row of float32 [n, dim] as text, a separator before each number.

    Numbers have 8 places, so that they are off by 5e-9 at most. With `exact` every number reads back as the same
    float32: a row gets 12 places, or as many digits as it takes, where 8 do not do. So do rows with a number of
    10 or more, or one that is not finite.

        format_rows(np.float32([[0.5, -1]])) -> [b" 0.50000000 -1.00000000"]
    """
    step = max(1, NUMBERS_PER_BLOCK // max(rows.shape[1], 1))
    lines: list[bytes] = []
    for low in range(0, len(rows), step):
        lines += _format_block(rows[low : low + step], separator, exact)
    return lines


def _format_block(rows: Floats, separator: bytes, exact: bool) -> list[bytes]:
    lines: list[bytes] = [b""] * len(rows)
    todo = np.arange(len(rows))
    for places in PLACES if exact else PLACES[:1]:
        subset = rows[todo]
        numbers, fit = _as_integers(subset, places, exact)
        done, todo = todo[fit], todo[~fit]
        if len(todo):
            numbers, subset = numbers[fit], subset[fit]
        for row, line in zip(done.tolist(), _digits(numbers, np.signbit(subset), places, separator), strict=True):
            lines[row] = line
        if not len(todo):
            break
    for row in todo.tolist():
        lines[row] = separator + separator.join([b"%.9g" % number for number in rows[row].tolist()])
    return lines


def _as_integers(rows: Floats, places: int, exact: bool) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Rows times 10**places as integers, and which rows can be written so: none of 10 or more, with `exact` no loss."""
    scale = 10.0**places
    scaled = np.abs(rows, dtype=np.float64)
    scaled *= scale
    np.rint(scaled, out=scaled)
    fits = np.less(scaled, 10 * scale)
    if exact:
        fits &= (scaled / scale).astype(np.float32) == np.abs(rows)
    fit: NDArray[np.bool_] = np.logical_and.reduce(fits, axis=1)
    if not fit.all():
        scaled[~fit] = 0
    return scaled.astype(np.int64), fit


def _digits(numbers: NDArray[np.int64], negative: NDArray[np.bool_], places: int, separator: bytes) -> list[bytes]:
    """One line a row: `numbers` [n, dim] are the absolute values times 10**places."""
    count, dim = numbers.shape
    groups = places // 4
    out = np.empty((count, dim * (groups + 1) + 1), "<u4")
    out[:, -1] = LINE_END
    fields = out[:, :-1].reshape(count, dim, groups + 1)
    rest = numbers
    for group in range(groups, 0, -1):
        upper = rest // GROUP
        fields[:, :, group] = DIGITS[rest - upper * GROUP]
        rest = upper
    starts = b"".join(separator + sign + b"%d." % whole for sign in (b"\0", b"-") for whole in range(10))
    rest = rest + 10 * negative
    fields[:, :, 0] = np.frombuffer(starts, "<u4")[rest]
    return out.tobytes().translate(None, b"\0").split(b"\n")[:-1]
