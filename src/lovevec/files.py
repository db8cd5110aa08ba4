"""Files: written whole or not at all (temporary file beside the goal, fsync, rename), and read as lines of text.

Text comes from anywhere: with or without a byte-order mark, with Unix or Windows ends. A line ends at `\\n` or `\\r\\n`
and nowhere else (not at U+2028, a lone `\\r` or NUL); a last line need not end.
"""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from lovevec.errors import FormatError

BOM = codecs.BOM_UTF8
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LONGEST_LINE = 1 << 26


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a binary file that takes the place of `path` when the block ends well, and vanishes when not."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename inside `folder` survive a power cut, where the system lets us."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` atomically as UTF-8; what UTF-8 cannot hold (odd bytes of a file name) is written as an escape."""
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` atomically as readable JSON."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def split_lines(content: bytes) -> list[bytes]:
    """The lines of a whole file, without their ends and without the mark of UTF-8 at the start."""
    content = content.removeprefix(BOM)
    if content and not content.endswith(b"\n"):
        content += b"\n"
    return plain_ends(content).split(b"\n")[:-1]


def plain_ends(lines: bytes) -> bytes:
    """Windows line ends made plain."""
    return lines.replace(b"\r\n", b"\n") if b"\r" in lines else lines


def whole_lines(blocks: Iterable[bytes], name: str | Path, *marks: bytes) -> Iterator[bytes]:
    """The blocks of a stream cut anew, so that each ends with one of the marks (else with a line end).

    Where the stream itself does not end so, the first mark is put there. A stream without marks is refused before
    memory is full.
    """
    marks = marks or (b"\n",)
    parts: list[bytes] = []
    length = 0
    for block in blocks:
        cut = max(map(block.rfind, marks)) + 1
        if cut:
            yield b"".join([*parts, block[:cut]])
            parts, length = [], 0
        parts.append(block[cut:])
        length += len(block) - cut
        if length > LONGEST_LINE:
            raise FormatError(name, f"a line of more than {LONGEST_LINE >> 20} MB: not words")
    if rest := b"".join(parts):
        yield rest + marks[0]
