"""JSON lines: one object a word, or a text. Any string goes: a lone surrogate (a byte that was no UTF-8) as its JSON
escape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from json.encoder import encode_basestring as quote

import numpy as np
from numpy.typing import NDArray

from lovevec.vectors.write.vec import format_rows
from lovevec.vectors.write.writer import Shape, Sink, Writer

ENDS = (b'], "known": false}\n', b'], "known": true}\n', b"]}\n")


class _JsonlWriter(Writer):
    def __init__(self, sink: Sink, shape: Shape) -> None:
        self.sink, self.exact, self.item = sink, shape.exact, shape.item

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        names = [quote(word).encode("utf-8", "backslashreplace") for word in words]
        numbers = format_rows(rows, b",", self.exact)
        begin = f'{{"{self.item}": '.encode()
        ends = known if self.item == "word" else [2] * len(words)
        lines = [
            begin + name + b', "vector": [' + row[1:] + ENDS[end]
            for name, row, end in zip(names, numbers, ends, strict=True)
        ]
        self.sink.file.write(b"".join(lines))
        self.sink.pass_on()


@contextmanager
def write_jsonl(sink: Sink, shape: Shape) -> Iterator[Writer]:
    """Write one JSON object a row: `word` (or `text`), `vector`, and for words whether it is `known`."""
    yield _JsonlWriter(sink, shape)
