"""Text from anywhere as lines: with or without a byte-order mark, with Unix, Windows or old Mac ends.

A line ends at `\\n` or `\\r\\n` and nowhere else (not at U+2028, a lone `\\r` or NUL); a last line need not end. Where
there is no `\\n` at all, `\\r` ends lines: so old Macs and some spreadsheets write them.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from lovevec.errors import FormatError, LovevecError

BOM = codecs.BOM_UTF8
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
LONGEST_LINE = 1 << 26
PACKED = {
    "gzip": b"\x1f\x8b\x08",
    "xz": b"\xfd7zXZ\x00",
    "zip": b"PK\x03\x04",
    "zstd": b"\x28\xb5\x2f\xfd",
    "lz4": b"\x04\x22\x4d\x18",
    **{f"bzip2 -{level}": b"BZh%d1AY&SY" % level for level in range(1, 10)},
}
PARQUET = b"PAR1\x15"  # behind the mark the header of the first page, or of the file
MARK_BYTES = 10  # that tell all of these


def printable(text: str) -> str:
    """A text as part of a line for people: a line end, an escape character or half a surrogate would spoil it, and is
    spelled out, as in `a\\nb`."""
    return text if text.isprintable() else repr(text)[1:-1]


def split_lines(content: bytes) -> list[bytes]:
    """The lines of a whole file, without their ends and without the mark of UTF-8 at the start."""
    content = content.removeprefix(BOM)
    if ends_in_returns(content):
        content = content.replace(b"\r", b"\n")
    if content and not content.endswith(b"\n"):
        content += b"\n"
    return plain_ends(content).split(b"\n")[:-1]


def ends_in_returns(start: bytes | bytearray) -> bool:
    """Whether `\\r` alone ends the lines of what begins so."""
    return b"\r" in start and b"\n" not in start


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
    if length:
        rest = b"".join([*parts, marks[0]])
        parts.clear()  # a long line is there once, not twice
        yield rest


def open_plain(path: str | Path) -> IO[bytes]:
    """Open a file that is one: a named pipe would keep us waiting until somebody writes to it, a device never end."""
    file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115  (the caller closes it)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise FormatError(path, "not a regular file; write what it gives to a file first")
    return file


def unreadable(path: str | Path, error: OSError) -> LovevecError:
    """The error of a file that the system does not let us read."""
    return LovevecError(f"{path}: cannot be read: {error.strerror or error}")


def refuse_packed(name: str | Path, start: bytes | bytearray) -> None:
    """Refuse what begins as a file of another kind than text does: its bytes would be read as words."""
    for kind, mark in PACKED.items():
        if start.startswith(mark):
            raise FormatError(name, f"is packed ({kind}), not text; unpack it first")
    if start.startswith(PARQUET):
        readers = "`lovevec encode --column NAME` reads its texts, `lovevec bulk` its words"
        raise FormatError(name, f"is a parquet file, not lines of text; {readers}")
    if start.startswith(UTF16_MARKS):
        raise FormatError(name, "is UTF-16 text; save it as UTF-8")


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """All of a file, which may have `most` bytes; an error names it."""
    try:
        with open_plain(path) as file:
            content = file.read(-1 if most is None else most + 1)
    except OSError as error:
        raise FormatError(path, f"cannot be read ({error.strerror})") from None
    if content is None:  # a file of /proc that we would have to wait for
        raise FormatError(path, "not a regular file; write what it gives to a file first")
    if most is not None and len(content) > most:
        raise FormatError(path, f"has more than {most:,} bytes")
    return content


def lines_of(path: Path, encoding: str = "utf-8") -> list[str]:
    """The lines without their ends, as above; UTF-16 is known by its mark."""
    content = read_bytes(path).removeprefix(BOM)
    if not content.startswith(UTF16_MARKS):
        refuse_packed(path, content[:MARK_BYTES])
    expected = "utf-16" if content.startswith(UTF16_MARKS) else encoding
    try:
        text = content.decode(expected)
    except UnicodeDecodeError as error:
        line = content.count(b"\r" if ends_in_returns(content) else b"\n", 0, error.start) + 1
        raise FormatError(path, f"is not {expected.upper()} text; save it as UTF-8", line) from None
    del content  # a long file is never held three times
    end = "\n"
    if "\r" in text:
        if end in text:
            text = text.replace("\r\n", end)
        else:
            end = "\r"  # and no copy
    lines = text.removesuffix(end).split(end)
    return lines if lines != [""] else []


def filled_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """(number from 1, line) of the lines that hold something; an error when none does."""
    filled = [(number, line) for number, line in enumerate(lines_of(path, encoding), 1) if line.strip()]
    if not filled:
        raise FormatError(path, "holds no data")
    return iter(filled)


def read_word_list(path: Path) -> list[str]:
    """The words of a list, one a line, without blanks around them, each once; an error when there are none."""
    return list(dict.fromkeys(line.strip() for _, line in filled_lines(path)))
