"""Running text from files, block by block in constant memory, with places from which reading can go on.

Files are UTF-8, plain or packed (gzip, xz, zip with one file); a line is a text. Lines without an end in sight are cut
at a space. What stands between white space and holds bytes that are not UTF-8 is left out and counted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lovevec.errors import FormatError, LovevecError
from lovevec.files.lines import BOM, UTF16_MARKS
from lovevec.vectors.read.source import ByteSource, open_source
from lovevec.vectors.read.words import STDIN

TEXT_BLOCK_BYTES = 1 << 17
UNREADABLE = re.compile(r"\S*\ufffd\S*")
Place = tuple[int, int]


class Corpus:
    """The lines of several files, one after the other; a path of None is standard input."""

    def __init__(self, paths: Sequence[Path | None], block: int = TEXT_BLOCK_BYTES) -> None:
        for path in paths:
            if path is not None and path.is_dir():
                raise LovevecError(f"{path}: a folder; name the files of text in it")
        self.paths, self.block = list(paths), block
        self.sizes = [_size(path) for path in paths]
        self.read = 0  # bytes, as packed, for progress
        self.unreadable = 0

    @property
    def size(self) -> int | None:
        """All bytes that there are to read, as packed; None when some come from standard input."""
        return None if None in self.paths else sum(self.sizes)

    def bytes_before(self, place: Place) -> int:
        """About how many bytes lie before `place`: an unpacked file counts no more than its packed size."""
        before = sum(self.sizes[: place[0]])
        return before + min(place[1], self.sizes[place[0]]) if place[0] < len(self.sizes) else before

    def blocks(self, place: Place = (0, 0)) -> Iterator[tuple[list[str], Place]]:
        """The texts behind `place`, some lines at a time with the place behind them: which file, and how many of its
        bytes (unpacked) are done. Blocks depend on the place alone, not on where reading began."""
        for number in range(place[0], len(self.paths)):
            at = skip = place[1] if number == place[0] else 0
            before, path = sum(self.sizes[:number]), self.paths[number]
            if path is not None and not self.sizes[number]:
                continue
            with open(0, "rb", closefd=False) if path is None else open_source(path) as source:
                while skip and (data := source.read(min(skip, 1 << 20))):
                    skip -= len(data)
                rest = b""
                while data := rest + source.read(self.block - len(rest)):
                    whole = data.rfind(b"\n") + 1 or data.rfind(b" ") + 1
                    cut = whole if whole and len(data) == self.block else len(data)
                    lines = self._lines(data[:cut], path, first=at == 0)
                    at, rest = at + cut, data[cut:]
                    done = int(source.share() * source.size) if isinstance(source, ByteSource) else at + len(rest)
                    self.read = before + done
                    yield lines, (number, at)

    def _lines(self, data: bytes, path: Path | None, first: bool) -> list[str]:
        if first:
            if data.startswith(UTF16_MARKS):
                raise FormatError(path or STDIN, "is UTF-16; make it UTF-8 first (iconv -f UTF-16 -t UTF-8)")
            data = data.removeprefix(BOM)
        text = data.decode("utf-8", "replace")
        if "\ufffd" in text:
            text, count = UNREADABLE.subn(" ", text)
            self.unreadable += count
        return [line for line in text.split("\n") if line and not line.isspace()]


def _size(path: Path | None) -> int:
    if path is None:
        return 0
    try:
        return os.path.getsize(path)
    except OSError as error:
        raise LovevecError(f"{path}: cannot be read: {error.strerror}") from None
