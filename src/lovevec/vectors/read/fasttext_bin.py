"""fastText's own `.bin` models: the vector of a word is the mean of its own row and the rows of its n-grams.

The file, little-endian: magic, version; twelve int32 and a double of settings; the dictionary (each entry
ends with a zero byte, then its count and its kind); whether the matrix is quantized; its size; its float32.

`where` with n-grams of 3 to 6 characters is `<wh whe her ere re> <whe … where>`; each is hashed to a bucket, a row
of the matrix after those of the words.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError
from lovevec.vectors.read.builder import ReadRequest
from lovevec.vectors.read.source import FASTTEXT, open_raw
from lovevec.vectors.read.words import decode_words
from lovevec.vectors.table import Oddity, ReadReport, VectorTable

SUPERVISED = 3
END_OF_SENTENCE = b"</s>"
MAX_NGRAM = 100
MAX_ENTRY_BYTES = 1 << 16  # bytes: fastText itself reads no longer ones
WORDS_PER_LOOKUP = 1000
FNV_START, FNV_PRIME = np.uint32(2166136261), np.uint32(16777619)
ROWS_PER_GATHER = 8192  # fetched at once, however long the words are


def read_fasttext_bin(request: ReadRequest) -> VectorTable:
    """Compute the vector of each word of the model; labels of supervised models are not words."""
    model = FastTextBin(request.path)
    count = len(model.words)
    report = ReadReport("fastText .bin", None, "row", count, model.dim)
    if model.trailing:
        report.note(Oddity.TRAILING, count=model.trailing)
    with request.build(report, count) as builder:
        for start in range(0, count, WORDS_PER_LOOKUP):
            words = model.words[start : start + WORDS_PER_LOOKUP]
            places = range(start + 1, start + 1 + len(words))
            builder.add(decode_words(words), model.vectors_of_bytes(words), places)
            if builder.full:
                break
        return builder.finish()


class FastTextBin:
    """An open `.bin` model that gives a vector to any string; its matrix stays on disk, mapped.

    FastTextBin("cc.en.300.bin").vector("mispelling").shape     # (300,)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with open_raw(self.path) as file:
            try:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:
                raise FormatError(self.path, "the file is empty") from None
        self._at = 0
        self._read_settings()
        self._read_dictionary()
        self.matrix = self._read_matrix()
        self.trailing = self._read_output()

    def vector(self, word: str) -> NDArray[np.float32]:
        """Give the vector of one word, known or not: float32 [dim]; zeros where nothing is known of it."""
        vector: NDArray[np.float32] = self.vectors([word])[0]
        return vector

    def vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Give the vectors of many words, known or not: float32 [n, dim]."""
        return self.vectors_of_bytes([word.encode(errors="surrogatepass") for word in words])

    def vectors_of_bytes(self, words: Sequence[bytes]) -> NDArray[np.float32]:
        """Give the vectors of words that are bytes, as fastText keeps them, in UTF-8: float32 [n, dim]."""
        out = np.zeros((len(words), self.dim), np.float32)
        for start in range(0, len(words), WORDS_PER_LOOKUP):
            self._fill(out[start : start + WORDS_PER_LOOKUP], words[start : start + WORDS_PER_LOOKUP])
        return out

    def _fill(self, out: NDArray[np.float32], words: Sequence[bytes]) -> None:
        known = [(at, row) for at, word in enumerate(words) if (row := self.rows.get(word)) is not None]
        spelled = np.array([at for at, word in enumerate(words) if word != END_OF_SENTENCE], np.int64)
        owners, buckets = ngram_buckets([words[at] for at in spelled], self.minn, self.maxn, self.buckets)
        own = np.array(known, np.int64).reshape(-1, 2)
        owners = np.concatenate([own[:, 0], spelled[owners]])
        rows = np.concatenate([own[:, 1], buckets + len(self.words)])
        order = np.argsort(owners, kind="stable")
        counts = np.maximum(np.bincount(owners, minlength=len(words)), 1).astype(np.float32)
        with np.errstate(all="ignore"):  # a damaged matrix may hold anything
            for start in range(0, len(order), ROWS_PER_GATHER):
                piece = order[start : start + ROWS_PER_GATHER]
                present, firsts = np.unique(owners[piece], return_index=True)
                out[present] += np.add.reduceat(self.matrix[rows[piece]], firsts, axis=0)
            out /= counts[:, None]

    def _unpack(self, pattern: str) -> tuple[Any, ...]:
        try:
            values = struct.unpack_from("<" + pattern, self._data, self._at)
        except struct.error:
            raise FormatError(self.path, "the file is cut: it ends inside the header") from None
        self._at += struct.calcsize("<" + pattern)
        return values

    def _read_settings(self) -> None:
        magic, version = self._unpack("4si")
        if magic != FASTTEXT:
            raise FormatError(self.path, "not a fastText .bin model")
        if version not in (11, 12):
            raise FormatError(self.path, f"fastText .bin version {version}; versions 11 and 12 can be read")
        self.dim, *_, self.model, self.buckets, self.minn, self.maxn, _, _ = self._unpack("12id")
        if version == 11 and self.model == SUPERVISED:
            self.maxn = 0  # as fastText does: supervised models of that age have no n-grams
        if self.dim < 1 or self.buckets < 0 or self.maxn > MAX_NGRAM:
            raise FormatError(
                self.path, f"damaged: dim {self.dim}, bucket {self.buckets}, maxn {self.maxn} in the header"
            )

    def _read_dictionary(self) -> None:
        size, words, labels, _, pruned = self._unpack("iiiqq")
        if pruned >= 0:
            self._refuse_ftz()
        if min(words, labels) < 0 or words + labels != size or size * 10 > len(self._data):
            raise FormatError(self.path, f"damaged: a dictionary of {words} words and {labels} labels")
        entries: list[bytes] = []
        for index in range(size):
            end = self._data.find(b"\0", self._at)
            if end < 0:
                raise FormatError(self.path, "the file is cut: it ends inside the dictionary")
            if end - self._at > MAX_ENTRY_BYTES:
                raise FormatError(self.path, f"damaged: a word of {end - self._at:,} bytes in its dictionary")
            entries.append(self._data[self._at : end])
            self._at = end + 1
            _, kind = self._unpack("qb")
            if kind != (index >= words):
                raise FormatError(self.path, f"damaged: entry {index + 1} of the dictionary is of kind {kind}")
        self.words, self.labels = entries[:words], entries[words:]
        self.rows: dict[bytes, int] = {}
        for row, word in enumerate(self.words):
            self.rows.setdefault(word, row)

    def _read_matrix(self) -> NDArray[np.float32]:
        (quantized,) = self._unpack("?")
        if quantized:
            self._refuse_ftz()
        rows, columns = self._unpack("qq")
        if columns != self.dim or rows != len(self.words) + self.buckets:
            expected = f"{len(self.words) + self.buckets} × {self.dim}"
            raise FormatError(self.path, f"damaged: a matrix of {rows} × {columns}, {expected} expected")
        if self._at + rows * columns * 4 > len(self._data):
            raise FormatError(self.path, f"the file is cut: its matrix of {rows:,} × {columns} is not whole")
        flat = np.frombuffer(self._data, "<f4", rows * columns, self._at)
        self._at += rows * columns * 4
        return flat.reshape(rows, columns)

    def _read_output(self) -> int:
        quantized, rows, columns = self._unpack("?qq")
        if quantized:
            self._refuse_ftz()
        rest: int = len(self._data) - self._at - rows * columns * 4
        if min(rows, columns, rest) < 0:
            raise FormatError(self.path, f"the file is cut: its output matrix of {rows} × {columns} is not whole")
        return rest

    def _refuse_ftz(self) -> None:
        raise FormatError(
            self.path,
            "a quantized fastText model (.ftz), which lovevec does not read: take the .bin it was made from, "
            "or write its words as text with `fasttext print-word-vectors`",
        )


def ngram_buckets(
    words: Sequence[bytes], minn: int, maxn: int, buckets: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give, for all n-grams of all words (UTF-8), the index of the word and the bucket, sorted by word.

    All places where an n-gram can begin take one more character at each step, so the hash of length n comes
    from that of length n-1. As in fastText, `<` and `>` alone are no n-grams.
    """
    nothing = np.zeros(0, np.int64)
    if maxn < 1 or buckets < 1 or not words:
        return nothing, nothing
    data = np.frombuffer(b"".join(b"<" + word + b">" for word in words), np.uint8)
    begins = np.flatnonzero((data & 0xC0) != 0x80)  # the first byte of each character
    widths = np.diff(begins, append=len(data))
    lengths = np.array([len(word) + 2 for word in words])
    owner = np.repeat(np.arange(len(words)), lengths)[begins]
    first = np.r_[True, owner[1:] != owner[:-1]]
    last = np.r_[owner[1:] != owner[:-1], True]
    # fastText takes its bytes as signed: those above 127 are sign-extended to 32 bits before the XOR.
    signed = data.view(np.int8).astype(np.int32).view(np.uint32)

    starts = np.arange(len(begins))
    hashes = np.full(len(begins), FNV_START)
    ngrams: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for n in range(1, maxn + 1):
        ends = starts + (n - 1)
        inside = ends < len(begins)
        inside[inside] &= owner[ends[inside]] == owner[starts[inside]]
        starts, hashes = starts[inside], hashes[inside]
        if not len(starts):
            break
        ends = starts + (n - 1)
        for step in range(int(widths.max())):
            longer = widths[ends] > step
            byte = signed[begins[ends[longer]] + step]
            hashes[longer] = (hashes[longer] ^ byte) * FNV_PRIME
        if n >= minn:
            keep = ~(first[starts] | last[ends]) if n == 1 else slice(None)
            ngrams.append((owner[starts[keep]], hashes[keep].astype(np.int64) % buckets))
    if not ngrams:
        return nothing, nothing
    owners, rows = (np.concatenate(each) for each in zip(*ngrams, strict=True))
    order = np.argsort(owners, kind="stable")
    return owners[order], rows[order]
