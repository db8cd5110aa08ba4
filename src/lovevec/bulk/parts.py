"""An input cut into parts: what one task reads, and one file of the output holds.

Where the cuts lie depends on the input files and on nothing else, so any number of workers gives the same files, byte
for byte, and a job that died knows what is missing.

| file | a part |
|---|---|
| .parquet | 131,072 rows |
| lines (any other name), .jsonl, .ndjson | about 1 MiB, cut behind a line |
| .csv, .tsv | about 1 MiB, cut behind a record: line ends inside quotes are no cuts |
| any of the last two rows as .gz, .bz2, .zst | the whole file: nobody can begin in its middle |
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

from lovevec.errors import FormatError, LovevecError, MissingExtra, Parameter, reason
from lovevec.files.lines import BOM, MARK_BYTES, ends_in_returns, plain_ends, refuse_packed, whole_lines
from lovevec.texts.parquet import ParquetTexts
from lovevec.texts.read import MAX_CHARACTERS, in_pages, limited_lines, object_texts, table_texts
from lovevec.vectors.read.source import check_compression

ROWS_PER_PART = 1 << 17
BYTES_PER_PART = 1 << 20
BYTES_PER_READ = 1 << 18
KINDS = {".parquet": "parquet", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
WILDCARDS = "*?["
FILES_AT_ONCE = 16  # that are cut into parts: a remote store takes its time to answer


class File(NamedTuple):
    """An input file: its path, its size in bytes and when it was written, as a number of the file system."""

    path: str
    size: int
    written: int


class Part(NamedTuple):
    """Rows (parquet) or bytes of a file, from `start` to `stop`; -1 is the end."""

    path: str
    start: int
    stop: int


@dataclass(frozen=True)
class Input:
    """Files of one kind on one file system (pyarrow's), and the column to read; None for lines."""

    filesystem: Any
    files: Sequence[File]
    kind: str
    column: str | None

    def refuse_changed(self) -> None:
        """An error if a file has another size or date than when it was found: it was written while it was read."""
        from pyarrow import fs

        found = self.filesystem.get_file_info([file.path for file in self.files])
        changed = [
            file.path
            for file, info in zip(self.files, found, strict=True)
            if info.type == fs.FileType.NotFound or _as_file(info) != file
        ]
        if changed:
            more = f" (and {len(changed) - 1:,} more files)" if len(changed) > 1 else ""
            problem = "was written anew while it was read, so rows may be mixed; give the command again"
            raise LovevecError(f"{changed[0]}{more}: {problem}")

    def parts(self) -> list[Part]:
        """All parts, in the order of the files; at least one, which may be empty."""
        with ThreadPoolExecutor(FILES_AT_ONCE) as pool:
            parts = list(chain.from_iterable(pool.map(self._parts_of, self.files)))
        return parts or [Part(self.files[0].path, 0, 0)]

    def _parts_of(self, file: File) -> list[Part]:
        with errors_naming(file.path):
            cuts = self._cuts(file)
        return [Part(file.path, start, stop) for start, stop in pairwise(cuts)]

    def _cuts(self, file: File) -> list[int]:
        """Where parts begin, and the end of the last; the first row is looked at, so that a missing column shows."""
        if self.kind == "parquet":
            rows = self._table(file.path).rows
            return [*range(0, rows, ROWS_PER_PART), rows] if rows else []
        if not next(self.rows(Part(file.path, 0, -1), 1), []):
            return []
        if file.path.lower().endswith(COMPRESSED):
            return [0, -1]
        if file.size <= BYTES_PER_PART:
            return [0, file.size]
        cut = self._record_cuts if self.kind in ("csv", "tsv") else self._line_cuts
        with self.filesystem.open_input_file(file.path) as raw:
            return list(dict.fromkeys([0, *cut(raw, file), file.size]))

    def _line_cuts(self, raw: Any, file: File) -> Iterator[int]:
        """Where the first line begins behind each MiB: the places to cut a file of lines."""
        if ends_in_returns(raw.read(BYTES_PER_READ)):
            return
        cut = 0
        while cut + BYTES_PER_PART < file.size:
            cut += BYTES_PER_PART - 1
            raw.seek(cut)
            while (at := (block := raw.read(BYTES_PER_READ)).find(b"\n")) < 0 and block:
                cut += len(block)
            cut += at + 1
            if at >= 0:
                yield cut

    def _record_cuts(self, raw: Any, file: File) -> Iterator[int]:
        """Where the first record begins behind each MiB. Read from the start: whether a line end lies inside quotes
        depends on all quotes before it."""
        read = last = 0

        def count_bytes(lines: Iterable[str]) -> Iterator[str]:
            nonlocal read
            for line in lines:
                read += len(line)
                yield line

        text = io.TextIOWrapper(raw, "latin-1", newline="")  # a character a byte
        lines = count_bytes(limited_lines(Path(file.path), text))
        for _ in _records(file.path, lines, self.kind):
            if read - last >= BYTES_PER_PART:
                last = read
                yield last

    def rows(self, part: Part, size: int) -> Iterator[list[str]]:
        """The texts of a part, in lists of `size`; what cannot be read is one error that names the file."""
        if part.start == part.stop:
            return
        with errors_naming(part.path):
            if self.kind == "parquet":
                pages = self._table(part.path).pages(start=part.start, stop=part.stop)
                yield from in_pages(chain.from_iterable(page.texts for page in pages), most=size)
                return
            with self._open(part) as file:
                yield from in_pages(self._texts(part, file), most=size)

    def _texts(self, part: Part, file: IO[bytes]) -> Iterator[str]:
        if self.kind == "text":
            return _lines(file, part)
        assert self.column is not None
        place = Path(part.path if not part.start else f"{part.path} from byte {part.start}")
        text = io.TextIOWrapper(file, "utf-8" if part.start else "utf-8-sig", "surrogateescape", newline="")
        lines = limited_lines(place, text)
        if self.kind == "jsonl":
            return object_texts(place, lines, self.column)
        names = None
        if part.start:
            with self.filesystem.open_input_file(part.path) as raw:
                first = io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape", newline="")
                names = next(_records(part.path, limited_lines(Path(part.path), first), self.kind), [])
        return table_texts(place, lines, self.column, _delimiter(self.kind), names)

    def _open(self, part: Part) -> IO[bytes]:
        if part.stop < 0:
            size = self.filesystem.get_file_info(part.path).size
            stream = self.filesystem.open_input_stream(part.path, compression="detect")
            return io.BufferedReader(_Unpacked(part.path, stream, size), BYTES_PER_READ)
        with self.filesystem.open_input_file(part.path) as raw:
            raw.seek(part.start)
            return io.BytesIO(raw.read(part.stop - part.start))

    def _table(self, path: str) -> ParquetTexts:
        """A parquet file, open; an error if its column is missing or holds no text."""
        from pyarrow import types

        assert self.column is not None
        table = ParquetTexts(path, self.filesystem.open_input_file(path), self.column)
        if not any(test(table.kind) for test in (types.is_string, types.is_large_string, types.is_string_view)):
            raise FormatError(path, f"the column {self.column!r} holds {table.kind}, no text")
        return table


class _Unpacked(io.RawIOBase):
    """What a packed stream unpacks to; an error once that is too much for a file of `size` bytes."""

    def __init__(self, path: str, stream: Any, size: int) -> None:
        self.path, self.stream, self.size, self.unpacked = path, stream, size, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self.stream.read(len(buffer))
        self.unpacked += len(block)
        check_compression(Path(self.path), self.unpacked, self.size)
        buffer[: len(block)] = block
        return len(block)


def open_input(addresses: Sequence[str], column: str | None, default: str) -> Input:
    """The files that paths, folders, globs or addresses like s3://bucket/words name. `default` is the column of a
    table where none is named."""
    filesystems, lists = zip(*map(_files_at, addresses), strict=True)
    if any(other != filesystems[0] for other in filesystems):
        raise LovevecError(f"{addresses[0]} and others lie on different file systems: name those of one in a run")
    files = sorted(dict.fromkeys(chain.from_iterable(lists)))
    kinds = {_kind(file.path): file.path for file in reversed(files)}
    if len(kinds) > 1:
        shown = ", ".join(f"{kind} ({path})" for kind, path in sorted(kinds.items()))
        raise LovevecError(f"the input holds files of several kinds: {shown}; name those of one in a run")
    kind = next(iter(kinds))
    if kind == "text" and column is not None:
        raise LovevecError(
            f"{files[0].path}: is read as lines, which have no column {column!r}: leave {Parameter('column')} out"
        )
    return Input(filesystems[0], files, kind, None if kind == "text" else column or default)


def _kind(path: str) -> str:
    name = path.lower()
    name = next((name.removesuffix(end) for end in COMPRESSED if name.endswith(end)), name)
    return KINDS.get(os.path.splitext(name)[1], "text")


def filesystem_of(address: str) -> tuple[Any, str]:
    """The file system (pyarrow's own, or any of fsspec's) and the path on it."""
    try:
        from pyarrow import ArrowInvalid, fs
    except ImportError:
        raise MissingExtra("pyarrow", "bulk") from None
    if "://" not in address:
        return fs.LocalFileSystem(), os.path.abspath(address)
    try:
        with suppress(ArrowInvalid):  # a scheme that it does not know
            filesystem, path = fs.FileSystem.from_uri(address)
            return filesystem, path
        from fsspec.core import url_to_fs

        other, path = url_to_fs(address)
    except (OSError, ImportError, ValueError) as error:  # fsspec's own words say which package a scheme needs
        raise LovevecError(f"{address}: cannot be reached: {error}") from None
    return fs.PyFileSystem(fs.FSSpecHandler(other)), path


def _files_at(address: str) -> tuple[Any, list[File]]:
    wild = min((address.find(sign) for sign in WILDCARDS if sign in address), default=-1)
    if wild >= 0 and "://" not in address and os.path.exists(address):
        wild = -1
    if wild < 0:
        root, rest = address, None
    else:
        cut = address.rfind("/", 0, wild) + 1
        root, rest = address[:cut] or ".", address[cut:]
    filesystem, path = filesystem_of(root)
    from pyarrow import fs

    try:
        info = filesystem.get_file_info(path)
        if rest is None and info.is_file:
            return filesystem, [_as_file(info)]
        entries = filesystem.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
    except OSError as error:
        raise LovevecError(f"{address}: cannot be read: {error.strerror or error}") from None
    if rest is None and info.type == fs.FileType.NotFound and not entries:
        raise LovevecError(f"{address}: there is no such file or folder")
    base = path.rstrip("/") + "/"
    pattern = None if rest is None else rest.split("/")
    files = [
        _as_file(one) for one in entries if one.is_file and _matches(one.path.removeprefix(base).split("/"), pattern)
    ]
    if not files:
        raise LovevecError(f"{address}: there are no files" if rest is None else f"{address}: names no files")
    return filesystem, files


def _matches(names: list[str], pattern: list[str] | None) -> bool:
    """Whether a path (its names) matches a pattern. Without one everything does, but for what is hidden or begins
    with `_`, as Spark and Ray mark what is not data."""
    if pattern is None:
        return not any(name.startswith((".", "_")) for name in names)
    return len(names) == len(pattern) and all(map(fnmatchcase, names, pattern))


def _as_file(info: Any) -> File:
    return File(info.path, info.size, info.mtime_ns or 0)


def _delimiter(kind: str) -> str:
    return "\t" if kind == "tsv" else ","


def _records(path: str, lines: Iterable[str], kind: str) -> Iterator[list[str]]:
    csv.field_size_limit(MAX_CHARACTERS)
    rows = csv.reader(lines, delimiter=_delimiter(kind), strict=True)
    try:
        yield from rows
    except csv.Error as error:
        raise FormatError(path, f"line {rows.line_num}: is no line of a table ({error})") from None


def _lines(file: IO[bytes], part: Part) -> Iterator[str]:
    def blocks() -> Iterator[bytes]:
        block = file.read(BYTES_PER_READ)
        if not part.start:
            refuse_packed(part.path, block[:MARK_BYTES])
            block = block.removeprefix(BOM)
        returns = not part.start and ends_in_returns(block)
        while block:
            yield block.replace(b"\r", b"\n") if returns else block
            block = file.read(BYTES_PER_READ)

    for lines in whole_lines(blocks(), part.path):
        yield from plain_ends(lines).decode("utf-8", "surrogateescape").split("\n")[:-1]


@contextmanager
def errors_naming(path: str) -> Iterator[None]:
    """Turn whatever an unreadable file raises into the one error that names it."""
    from pyarrow import ArrowException

    try:
        yield
    except (OSError, ArrowException, EOFError) as error:
        raise FormatError(path, f"cannot be read ({reason(error)})") from None
