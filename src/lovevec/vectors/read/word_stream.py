"""Words from a stream, one a line, in batches: any size in constant memory, nothing lost.

A line ends at `\\n` or `\\r\\n` and nowhere else (not at U+2028, a lone `\\r` or NUL). An empty line is a word, the
empty one; a last line need not end. A byte-order mark at the start is dropped. Bytes that are not UTF-8 stay what
they are (surrogateescape).
"""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lovevec.errors import FormatError, LovevecError
from lovevec.vectors.read.words import BOM

BLOCK = 1 << 18
BATCH = 32_768
LONGEST_LINE = 1 << 26
STDIN = "standard input"


class WordStream:
    """An open list of words; `count` is their number, where the stream is a plain file and can be read twice."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.file, self.name = file, name
        self.plain = stat.S_ISREG(os.fstat(file.fileno()).st_mode)

    def count(self) -> int | None:
        """Count the lines in advance, if that is possible."""
        if not self.plain:
            return None
        start = self.file.seek(0, os.SEEK_CUR)
        lines, last = 0, b"\n"
        for block in self._blocks():
            lines += block.count(b"\n")
            last = block[-1:]
        self.file.seek(start)
        return lines + (last != b"\n")

    def batches(self, most: int = BATCH) -> Iterator[list[str]]:
        """The words, at most so many at a time; from a pipe as soon as they come."""
        for lines in self.line_blocks():
            words = lines.decode("utf-8", "surrogateescape").split("\n")
            words.pop()
            if len(words) <= most:
                yield words
            else:
                yield from (words[low : low + most] for low in range(0, len(words), most))

    def line_blocks(self) -> Iterator[bytes]:
        """Whole lines, each ended by `\\n`, a quarter of a megabyte at a time."""
        return map(plain, self._cut(b"\n"))

    def text_blocks(self) -> Iterator[str]:
        """Running text, a quarter of a megabyte at a time, cut between words and never inside one."""
        for block in self._cut(b"\n", b" "):
            yield block.decode("utf-8", "surrogateescape")

    def _cut(self, *marks: bytes) -> Iterator[bytes]:
        """Blocks that end with one of the marks; at the end of a stream that does not, the first is put there."""
        parts: list[bytes] = []
        length = 0
        for block in self._blocks():
            cut = max(map(block.rfind, marks)) + 1
            if cut:
                yield b"".join([*parts, block[:cut]])
                parts, length = [], 0
            parts.append(block[cut:])
            length += len(block) - cut
            if length > LONGEST_LINE:
                raise FormatError(self.name, f"{LONGEST_LINE >> 20} MB without a line end: not words")
        if rest := b"".join(parts):
            yield rest + marks[0]

    def _blocks(self) -> Iterator[bytes]:
        """The bytes as they come, without the mark that may stand at the start."""
        try:
            first = self._read()
            while 0 < len(first) < len(BOM) and BOM.startswith(first) and (more := self._read()):
                first += more
            block = first.removeprefix(BOM) or self._read()
            while block:
                yield block
                block = self._read()
        except OSError as error:
            raise LovevecError(f"{self.name}: cannot be read: {error.strerror or error}") from None

    def _read(self) -> bytes:
        """What is there, at least a byte; nothing at the end. A pipe may be set not to wait: then we do."""
        while (found := self.file.read(BLOCK)) is None:
            select.select([self.file], [], [])
        return found


def plain(lines: bytes) -> bytes:
    """Make Windows line ends plain."""
    return lines.replace(b"\r\n", b"\n") if b"\r" in lines else lines


@contextmanager
def open_words(path: Path | None) -> Iterator[WordStream]:
    """Open a list of words, or standard input for None. Named pipes and devices are fine."""
    name = STDIN if path is None else str(path)
    try:
        file = (
            open(0, "rb", buffering=0, closefd=False)  # noqa: SIM115
            if path is None
            else open(path, "rb", buffering=0)  # noqa: SIM115
        )
    except FileNotFoundError:
        raise LovevecError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise LovevecError(f"{name}: a folder, not a list of words") from None
    except (OSError, ValueError) as error:
        raise LovevecError(f"{name}: cannot be opened: {error}") from None
    with file:
        yield WordStream(file, name)
