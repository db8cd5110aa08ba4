"""Tables kept as arrays: `.npy` with a word list beside it, and `.npz` with `vectors` and `words` inside."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError
from lovevec.vectors.read.job import Job
from lovevec.vectors.read.npy import ArrayHeader, Read, check_table, read_blocks, read_exactly, read_header
from lovevec.vectors.read.source import DAMAGE, Source, damage, open_member
from lovevec.vectors.read.words import check_count, checked_words, find_word_list, split_words
from lovevec.vectors.report import Noted, ReadReport
from lovevec.vectors.table import VectorTable

MOST_SQUEEZED = 1100  # deflate cannot pack tighter than 1032 to 1


def fill_table(
    job: Job, report: ReadReport, words: Sequence[str | None], blocks: Iterable[NDArray[np.generic]]
) -> VectorTable:
    """Build a table from blocks of rows of any numeric type."""
    start = 0
    with job.build(report, len(words)) as builder, np.errstate(over="ignore"):
        for block in blocks:
            places = range(start + 1, start + 1 + len(block))
            builder.add(words[start : start + len(block)], block.astype(np.float32, copy=False), places)
            start += len(block)
            if builder.full:
                break
        return builder.finish()


def read_npy(source: Source, job: Job) -> VectorTable:
    """Read an array file; its words come from a list."""
    header = read_header(job.path, source.read)
    check_table(job.path, header.shape)
    missing = header.length + header.bytes - source.size
    if missing > 0:
        raise FormatError(job.path, f"the file is cut: {missing:,} bytes of numbers are missing")
    words = find_word_list(job.path, job.words)
    check_count(job.path, words, header.shape[0])
    report = ReadReport("numpy .npy", dim=header.shape[1])
    if missing < 0:
        report.note(Noted.TRAILING, count=-missing)
    return fill_table(job, report, words, read_blocks(job.path, source.read, header, len(words)))


def read_npz(source: Source, job: Job) -> VectorTable:
    """Read an archive of arrays without unpacking all of it at once."""
    try:
        with zipfile.ZipFile(source.raw) as archive:
            names = archive.namelist()
            if "vectors.npy" not in names or ("words.npy" not in names and job.words is None):
                found = ", ".join(name.removesuffix(".npy") for name in names)
                raise FormatError(job.path, f"an .npz needs the arrays vectors and words, this one has {found}")
            words = npz_words(job, archive) if job.words is None else find_word_list(job.path, job.words)
            read, header = open_array(job, archive, "vectors.npy")
            check_table(job.path, header.shape)
            check_count(job.path, words, header.shape[0])
            report = ReadReport("numpy .npz", dim=header.shape[1])
            return fill_table(job, report, words, read_blocks(job.path, read, header, len(words)))
    except DAMAGE as error:
        raise FormatError(job.path, damage(error)) from None


def npz_words(job: Job, archive: zipfile.ZipFile) -> list[str | None]:
    """Read the array of words: text, or uint8 that is UTF-8 with a newline between two words."""
    read, header = open_array(job, archive, "words.npy")
    data = read_exactly(job.path, read, header.bytes)
    if header.dtype.kind == "U":
        return checked_words(np.frombuffer(data, header.dtype).tolist())
    if header.dtype != np.uint8:
        raise FormatError(job.path, f"words must be text or uint8, this array is {header.dtype}")
    return split_words(data)


def open_array(job: Job, archive: zipfile.ZipFile, name: str) -> tuple[Read, ArrayHeader]:
    """Open one array of an .npz, if the sizes that the archive and the array state can be true."""
    member = archive.getinfo(name)
    file = open_member(job.path, archive, member)
    header = read_header(job.path, file.read)
    stated = header.length + header.bytes
    if member.file_size != stated or stated > (member.compress_size + 1) * MOST_SQUEEZED:
        raise FormatError(job.path, f"damaged: {name} should have {stated:,} bytes, has {member.file_size:,}")
    return file.read, header
