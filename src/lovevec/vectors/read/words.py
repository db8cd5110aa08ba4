"""Words apart from vectors: lists, one word a line; streams of any size in constant memory; words of running text.

An empty line is a word, the empty one. Bytes that are not UTF-8 stay what they are (surrogateescape).
"""

from __future__ import annotations

import os
import select
import stat
import string
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path
from typing import IO

from lovevec.errors import FormatError, LovevecError, Parameter
from lovevec.files.lines import BOM, ends_in_returns, plain_ends, refuse_packed, split_lines, whole_lines
from lovevec.vectors.read.source import open_raw, opening

STREAM_BLOCK_BYTES = 1 << 18
BYTES_PER_LOOK = 1 << 18  # at the start, which tell how lines end
WORDS_PER_BATCH = 32_768
SECONDS_PER_WAIT = 0.2
STDIN = "standard input"


def decode_words(words: Sequence[bytes]) -> list[str | None]:
    """Decode words, all at once where they allow it; None where the bytes are not UTF-8."""
    try:
        decoded = b"\n".join(words).decode().split("\n")
    except UnicodeDecodeError:
        decoded = []
    if len(decoded) == len(words):  # not so when a word holds a line end itself
        return list(decoded)
    return [_decode_word(word) for word in words]


def _decode_word(word: bytes) -> str | None:
    try:
        return word.decode()
    except UnicodeDecodeError:
        return None


def mask_surrogates(words: Iterable[str]) -> list[str | None]:
    """Put None in the place of words that cannot be written as UTF-8, since they hold lone surrogates."""
    return [word if word.isascii() or word == word.encode(errors="ignore").decode() else None for word in words]


def split_words(content: bytes) -> list[str | None]:
    """The words of a list that is in memory, one word a line; None where one is not UTF-8."""
    return decode_words(split_lines(content))


def find_word_list(path: Path, words: Path | None) -> list[str | None]:
    """Read the word list that the caller names, or `x.words.txt`, `x.words` or `x.txt` beside `x.npy`."""
    beside = [path.with_suffix(suffix) for suffix in (".words.txt", ".words", ".txt")]
    word_list = words or next((file for file in beside if file.is_file()), None)
    if word_list is None:
        names = " or ".join(file.name for file in beside)
        raise FormatError(
            path, f"holds no words: put {names} beside it, or pass {Parameter('words', 'FILE')}, one word a line"
        )
    with open_raw(word_list) as file:
        return split_words(file.read())


def check_count(path: Path, words: Sequence[str | None], rows: int) -> None:
    """Refuse a list of words that is longer or shorter than the table of `rows` vectors."""
    if len(words) != rows:
        raise FormatError(path, f"holds {rows:,} vectors, but there are {len(words):,} words for them")


class WordStream:
    """An open list of words; `count` is their number, where the stream is a plain file and can be read twice."""

    def __init__(self, file: IO[bytes], name: str, block: int = STREAM_BLOCK_BYTES) -> None:
        self.file, self.name, self.block = file, name, block
        self.plain = stat.S_ISREG(os.fstat(file.fileno()).st_mode)

    def count(self) -> int | None:
        """Count the words in advance, by reading the file twice; None where it cannot be, as from a pipe."""
        if not self.plain:
            return None
        start = self.file.seek(0, os.SEEK_CUR)
        lines, last = 0, b"\n"
        for block in self._blocks():
            lines += block.count(b"\n")
            last = block[-1:]
        self.file.seek(start)
        return lines + (last != b"\n")

    def batches(self, most: int = WORDS_PER_BATCH) -> Iterator[list[str]]:
        """The words, at most `most` at a time; from a pipe as soon as they come."""
        for lines in self.line_blocks():
            words = lines.decode("utf-8", "surrogateescape").split("\n")[:-1]
            yield from (words[low : low + most] for low in range(0, len(words), most))

    def line_blocks(self) -> Iterator[bytes]:
        """Whole lines, each ended by `\\n`, a quarter of a megabyte at a time."""
        return map(plain_ends, whole_lines(self._blocks(), self.name))

    def lines(self, most: int = WORDS_PER_BATCH) -> Iterator[list[str]]:
        """The lines as they stand, with their ends and a mark of UTF-8 at the start: joined they are the stream. At
        most `most` at a time; from a pipe as soon as they come."""
        blocks = self._raw_blocks()
        first, over = next(blocks, b""), False
        end = "\r" if ends_in_returns(first) else "\n"

        def counted() -> Iterator[bytes]:
            nonlocal over
            yield first
            yield from blocks
            over = True

        for block in whole_lines(counted(), self.name, end.encode()):
            text = block.decode("utf-8", "surrogateescape")
            if over:  # the last line, with an end that the stream has not
                yield [text[:-1]]
                return
            lines = [line + end for line in text.split(end)[:-1]]
            yield from (lines[low : low + most] for low in range(0, len(lines), most))

    def text_blocks(self) -> Iterator[str]:
        """Running text, a quarter of a megabyte at a time, cut between words and never inside one."""
        for block in whole_lines(self._blocks(), self.name, b"\n", b" "):
            yield block.decode("utf-8", "surrogateescape")

    def _blocks(self) -> Iterator[bytes]:
        """The stream without a mark of UTF-8, and with plain ends where `\\r` alone ends lines."""
        blocks = self._raw_blocks()
        first = next(blocks, b"").removeprefix(BOM)
        returns = ends_in_returns(first)
        for block in chain([first], blocks):
            if block:
                yield block.replace(b"\r", b"\n") if returns else block

    def _raw_blocks(self) -> Iterator[bytes]:
        """The stream as it is; the first block is long enough to tell how lines end."""
        try:
            start = bytearray(self._read())
            while 0 < len(start) < len(BOM) and BOM.startswith(start) and (more := self._read()):
                start += more
            while b"\n" not in start and len(start) < BYTES_PER_LOOK and (more := self._read()):
                start += more
            refuse_packed(self.name, start)
            block = bytes(start)
            while block:
                yield block
                block = self._read()
        except OSError as error:
            raise LovevecError(f"{self.name}: cannot be read: {error.strerror or error}") from None

    def _read(self) -> bytes:
        """The bytes that are there, at least one; none at the end. A pipe may be set not to wait: then we do.

        A signal that comes just before a read blocks would wait as long as the read does: so pipes are waited for in
        short turns.
        """
        data = None
        while data is None:
            if not self.plain and os.name != "nt":
                while not select.select([self.file], [], [], SECONDS_PER_WAIT)[0]:
                    pass
            data = self.file.read(self.block)
        return data


@contextmanager
def open_words(path: Path | None, block: int = STREAM_BLOCK_BYTES) -> Iterator[WordStream]:
    """Open a list of words, or standard input for None, to be read `block` bytes at a time. Named pipes and devices are
    fine."""
    name = STDIN if path is None else str(path)
    with opening(name, "a list of words"):
        file = open(0 if path is None else path, "rb", buffering=0, closefd=path is not None)  # noqa: SIM115
    with file:
        yield WordStream(file, name, block)


def count_text(stream: WordStream, known: Container[str], lowercase: bool) -> Counter[str]:
    """How often each word comes in a running text.

    A word is what stands between white space. If it is not known as it stands (`U.S.`, `C++`), the punctuation
    before and after it is taken off: `"leukamia,"` is leukamia, `don't` stays. What is punctuation alone is no word.
    """
    tokens: Counter[str] = Counter()
    for block in stream.text_blocks():
        tokens.update(block.split())
    counts: Counter[str] = Counter()
    for token, count in tokens.items():
        word = token.lower() if lowercase else token
        if word not in known:
            word = word.strip(_punctuation())
        if word:
            counts[word] += count
    return counts


def count_list(stream: WordStream, lowercase: bool) -> Counter[str]:
    """How often each word comes in a list, one a line, each as it is; blank lines are passed over."""
    counts: Counter[str] = Counter()
    for words in stream.batches():
        counts.update([word.lower() for word in words] if lowercase else words)
    for blank in [word for word in counts if not word.strip()]:
        del counts[blank]
    return counts


@cache
def _punctuation() -> str:
    """ASCII's and Unicode's punctuation, the latter without the rare scripts beyond the first 65,536 characters."""
    more = (chr(code) for code in range(0x80, 0x10000) if unicodedata.category(chr(code))[0] == "P")
    return string.punctuation + "".join(more)
