"""Tells the formats apart, by content first and by the end of the name where the content leaves it open."""

from __future__ import annotations

from lovevec.errors import FormatError, LovevecError
from lovevec.files.lines import BOM, ends_in_returns
from lovevec.vectors.read import fasttext_bin, numpy
from lovevec.vectors.read.builder import Job
from lovevec.vectors.read.source import HEAD, ZIP, Source, open_source
from lovevec.vectors.read.text import HEADER, SAMPLE, find_layout, read_text, trailing_numbers
from lovevec.vectors.read.word2vec_bin import read_word2vec_bin
from lovevec.vectors.table import VectorTable

SUPPORTED = (
    "word2vec text and binary, GloVe, fastText .vec and .bin, numpy .npy (with a word list) and .npz, "
    "safetensors; text and word2vec binary also as gzip, xz or zip"
)
PICKLES = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))


def read_file(job: Job) -> VectorTable:
    """Read a file in whichever format it is."""
    if job.path.is_dir():
        raise LovevecError(f"{job.path}: a folder, not a file of word vectors. Read are: {SUPPORTED}")
    with open_source(job.path) as source:
        head = source.head
        if not head:
            raise FormatError(job.path, "the file is empty")
        arrays = read_array_format(source, job)
        if arrays is not None:
            return arrays
        refuse_mapping(job, "a text or a binary format without an array in it")
        if job.words is not None:
            raise LovevecError(f"{job.path}: words= is for .npy, .npz and safetensors; this file has its own")
        if head.startswith(PICKLES):
            raise FormatError(
                job.path,
                "a Python pickle, which can run code when loaded. If gensim wrote it, load it with gensim "
                "and pass its KeyedVectors, or save it with save_word2vec_format",
            )
        if head.startswith(BOM):
            source.read(len(BOM))
            head = head[len(BOM) :]
        if ends_in_returns(head):
            source.end_lines_at_returns()
            head = head.replace(b"\r", b"\n")
        lines = first_lines(head)
        if is_word2vec_bin(job, head, lines):
            return read_word2vec_bin(source, job)
        layout = find_layout(job.path, lines) if lines else None
        if layout is None:
            raise FormatError(job.path, f"not word vectors in a format that is known. Read are: {SUPPORTED}")
        return read_text(source, job, layout)


def read_array_format(source: Source, job: Job) -> VectorTable | None:
    """Read the formats that are known by their first bytes; None when it is none of them."""
    head = source.head
    is_npz = source.compression is None and head.startswith(ZIP)
    is_fasttext = head.startswith(fasttext_bin.MAGIC)
    is_npy = head.startswith(numpy.MAGIC)
    header = int.from_bytes(head[:8], "little")
    is_safetensors = head[8:9] == b"{" and header > 1 and header < max(source.size, len(head))
    if not (is_npz or is_fasttext or is_npy or is_safetensors):
        return None
    if source.compression is not None:
        raise FormatError(
            job.path, f"unpack the {source.compression} first: only text and word2vec binary are read packed"
        )
    if is_npz:
        refuse_mapping(job, "an archive")
        return numpy.read_npz(source, job)
    if is_npy:
        return numpy.read_npy(source, job)
    if is_safetensors:
        from lovevec.vectors.read.safetensors import read_safetensors

        return read_safetensors(job)
    if job.words is not None:
        raise LovevecError(f"{job.path}: words= is for .npy, .npz and safetensors; this file has its own")
    refuse_mapping(job, "fastText's own format")
    return fasttext_bin.read_fasttext_bin(job)


def refuse_mapping(job: Job, what: str) -> None:
    """An error where a file was to be mapped that cannot be."""
    if job.mmap:
        raise LovevecError(
            f"{job.path}: {what}; mmap=True is for .safetensors and .npy: lovevec convert makes one of it"
        )


def first_lines(head: bytes) -> list[bytes]:
    """Give the first whole lines of a file."""
    lines = head.split(b"\n", SAMPLE)
    if len(lines) > SAMPLE or (len(head) >= HEAD and len(lines) > 1):
        lines.pop()
    return [line.rstrip(b"\r \t") for line in lines]


def is_word2vec_bin(job: Job, head: bytes, lines: list[bytes]) -> bool:
    """Whether what follows a header `n d` is binary: no rows of numbers, and bytes that text has not."""
    header = HEADER.fullmatch(lines[0])
    if header is None or b"\n" not in head:
        return False
    rows = [line for line in lines[1:] if line]
    enough = min(2, int(header[2]))
    if sum(trailing_numbers(row) >= enough for row in rows) * 2 > len(rows):
        return False
    body = head[len(lines[0]) : HEAD]
    has_control = any(byte in body for byte in range(9)) or any(byte in body for byte in range(14, 32))
    return has_control or job.path.suffix == ".bin"
