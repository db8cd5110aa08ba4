"""JSON lines: one object a word, or a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from json.encoder import encode_basestring as quote

import numpy as np
from numpy.typing import NDArray

from lovevec.vectors.write.numbers import format_rows
from lovevec.vectors.write.sink import Sink
from lovevec.vectors.write.writer import Shape, Writer


class JsonWriter:
    """Writes one object a row. Any string goes: a lone surrogate (a byte that was no UTF-8) as its JSON escape."""

    def __init__(self, sink: Sink, shape: Shape) -> None:
        self.sink, self.exact, self.item = sink, shape.exact, shape.item

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        """Write one batch."""
        names = [quote(word).encode("utf-8", "backslashreplace") for word in words]
        numbers = format_rows(rows, b",", self.exact)
        begin = f'{{"{self.item}": '.encode()
        ends = (b'], "known": false}\n', b'], "known": true}\n', b"]}\n")
        which = known if self.item == "word" else [2] * len(words)
        self.sink.file.write(
            b"".join(
                [
                    begin + name + b', "vector": [' + row[1:] + ends[end]
                    for name, row, end in zip(names, numbers, which, strict=True)
                ]
            )
        )
        self.sink.pass_on()

    def notes(self) -> list[str]:
        """Nothing to say."""
        return []


@contextmanager
def write(sink: Sink, shape: Shape) -> Iterator[Writer]:
    """Write JSON lines."""
    yield JsonWriter(sink, shape)
