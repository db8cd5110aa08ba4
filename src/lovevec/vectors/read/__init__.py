"""Readers of word-vector files, one file a format, and `read_file`, which tells the formats apart: by content first,
and by the end of the name where the content leaves it open. A reader is imported when a file of its format is met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lovevec.errors import FormatError, LovevecError
from lovevec.vectors.read.pipeline import PACKAGE, find_pipeline
from lovevec.vectors.read.source import FASTTEXT, NPY, TAR, TAR_AT, ZIP, ByteSource, open_source

if TYPE_CHECKING:
    from lovevec.vectors.read.builder import ReadRequest
    from lovevec.vectors.table import VectorTable

SUPPORTED = (
    "word2vec text and binary, GloVe, fastText .vec and .bin, numpy .npy (with a word list) and .npz, "
    "safetensors, spaCy pipelines (folder, .whl or the name of the package), navec's .tar; text and word2vec binary "
    "also as gzip, xz or zip"
)
PICKLES = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))


def read_file(request: ReadRequest) -> VectorTable:
    """Read a file in whichever of the formats it is; an error that names them where it is in none."""
    from lovevec.files.lines import BOM, ends_in_returns
    from lovevec.vectors.read.text import find_layout, first_lines, read_text
    from lovevec.vectors.read.word2vec_bin import is_word2vec_bin, read_word2vec_bin

    path = request.path
    if (pipeline := find_pipeline(path)) is not None:
        from lovevec.vectors.read.spacy import read_spacy

        _refuse_mapping(request, "a spaCy pipeline")
        return read_spacy(pipeline, request)
    if not path.exists() and PACKAGE.fullmatch(str(path)):
        raise LovevecError(f"{path}: no such file, nor an installed spaCy package of this name")
    if path.is_dir():
        raise LovevecError(f"{path}: a folder, not a file of word vectors. Read are: {SUPPORTED}")
    with open_source(path) as source:
        head = source.head
        if not head:
            raise FormatError(path, "the file is empty")
        table = _read_array_format(source, request)
        if table is not None:
            return table
        _refuse_mapping(request, "a text or a binary format without an array in it")
        _refuse_word_list(request)
        if head.startswith(PICKLES):
            raise FormatError(
                path,
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
        if is_word2vec_bin(path, head, lines):
            return read_word2vec_bin(source, request)
        layout = find_layout(path, lines) if lines else None
        if layout is None:
            raise FormatError(path, f"not word vectors in a format that is known. Read are: {SUPPORTED}")
        return read_text(source, request, layout)


def _read_array_format(source: ByteSource, request: ReadRequest) -> VectorTable | None:
    head, path = source.head, request.path
    is_npz = source.compression is None and head.startswith(ZIP)
    length = int.from_bytes(head[:8], "little")
    is_navec = source.compression is None and head[TAR_AT : TAR_AT + len(TAR)] == TAR
    is_safetensors = head[8:9] == b"{" and length > 1 and length < max(source.size, len(head))
    if not (is_npz or is_navec or is_safetensors or head.startswith((NPY, FASTTEXT))):
        return None
    if source.compression is not None:
        raise FormatError(path, f"unpack the {source.compression} first: only text and word2vec binary are read packed")
    if is_npz or head.startswith(NPY):
        from lovevec.vectors.read.numpy import read_npy, read_npz

        if is_npz:
            _refuse_mapping(request, "an archive")
        return read_npz(source, request) if is_npz else read_npy(source, request)
    if is_navec:
        from lovevec.vectors.read.navec import read_navec

        _refuse_word_list(request)
        _refuse_mapping(request, "an archive")
        return read_navec(source, request)
    if is_safetensors:
        from lovevec.vectors.read.safetensors import read_safetensors

        return read_safetensors(request)
    from lovevec.vectors.read.fasttext_bin import read_fasttext_bin

    _refuse_word_list(request)
    _refuse_mapping(request, "fastText's own format")
    return read_fasttext_bin(request)


def _refuse_word_list(request: ReadRequest) -> None:
    if request.words is not None:
        raise LovevecError(f"{request.path}: words= is for .npy, .npz and safetensors; this file has its own")


def _refuse_mapping(request: ReadRequest, what: str) -> None:
    if request.mmap:
        raise LovevecError(
            f"{request.path}: {what}; mmap=True is for .safetensors and .npy: lovevec convert makes one of it"
        )
