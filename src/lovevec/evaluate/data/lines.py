"""Lines of a text file, whatever wrote it: UTF-8 with or without a mark, UTF-16 with one, Unix or Windows ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from lovevec.errors import FormatError
from lovevec.files.lines import UTF16_MARKS, split_lines


def read_bytes(path: Path) -> bytes:
    """All of a file; an error names it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FormatError(path, f"cannot be read ({error.strerror})") from None


def lines_of(path: Path, encoding: str = "utf-8") -> list[str]:
    """The lines without their ends, as `lovevec.files` cuts them; UTF-16 is known by its mark."""
    content = read_bytes(path)
    expected = "utf-16" if content.startswith(UTF16_MARKS) else encoding
    try:
        if expected == "utf-16":
            content, encoding = content.decode(expected).encode(), "utf-8"
        text = b"\n".join(split_lines(content)).decode(encoding)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise FormatError(path, f"is not {expected.upper()} text; save it as UTF-8", line) from None
    return text.split("\n") if text else []


def filled_lines(path: Path, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """(number from 1, line) of the lines that hold something; an error when none does."""
    filled = [(number, line) for number, line in enumerate(lines_of(path, encoding), 1) if line.strip()]
    if not filled:
        raise FormatError(path, "holds no data")
    return iter(filled)


def digest_of(paths: Sequence[Path]) -> str:
    """A short name for the content of files, so that results are kept for that content and no other."""
    digest = blake2b(digest_size=8)
    for path in paths:
        digest.update(blake2b(read_bytes(path)).digest())
    return digest.hexdigest()
