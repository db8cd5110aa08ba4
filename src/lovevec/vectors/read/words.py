"""Word lists: UTF-8, one word a line, for the formats that keep their words apart from their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from lovevec.errors import FormatError
from lovevec.files.lines import split_lines
from lovevec.vectors.read.source import open_raw


def decode_words(words: Sequence[bytes]) -> list[str | None]:
    """Decode words, all at once where they allow it; None where the bytes are not UTF-8."""
    try:
        decoded = b"\n".join(words).decode().split("\n")
    except UnicodeDecodeError:
        decoded = []
    if len(decoded) == len(words):  # not so when a word holds a line end itself
        return list(decoded)
    return [decode_word(word) for word in words]


def decode_word(word: bytes) -> str | None:
    """Decode one word; None when the bytes are not UTF-8."""
    try:
        return word.decode()
    except UnicodeDecodeError:
        return None


def checked_words(words: Iterable[str]) -> list[str | None]:
    """Put None in the place of strings that cannot be written as UTF-8 (lone surrogates)."""
    return [word if word.isascii() or word == word.encode(errors="ignore").decode() else None for word in words]


def split_words(content: bytes) -> list[str | None]:
    """Take a word list apart: one word a line."""
    return decode_words(split_lines(content))


def find_word_list(path: Path, words: Path | None) -> list[str | None]:
    """Read the word list that the caller names, or `x.words.txt`, `x.words` or `x.txt` beside `x.npy`."""
    beside = [path.with_suffix(suffix) for suffix in (".words.txt", ".words", ".txt")]
    path_of_list = words or next((each for each in beside if each.is_file()), None)
    if path_of_list is None:
        names = " or ".join(each.name for each in beside)
        raise FormatError(path, f"holds no words: pass words=FILE (one word a line) or put {names} beside it")
    with open_raw(path_of_list) as file:
        return split_words(file.read())


def check_count(path: Path, words: Sequence[str | None], rows: int) -> None:
    """Refuse a list that is longer or shorter than the table."""
    if len(words) != rows:
        raise FormatError(path, f"holds {rows:,} vectors, but there are {len(words):,} words for them")
