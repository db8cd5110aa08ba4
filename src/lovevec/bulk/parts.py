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
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

from lovevec.errors import FormatError, LovevecError, MissingExtra, Parameter, reason
from lovevec.files.lines import BOM, ends_in_returns, plain_ends, whole_lines
from lovevec.texts.read import object_texts, table_texts

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
            rows = self._table(file.path).metadata.num_rows
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

        lines = count_bytes(io.TextIOWrapper(raw, "latin-1", newline=""))  # a character a byte
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
                yield from self._parquet_rows(part, size)
                return
            with self._open(part) as file:
                yield from _batches(self._texts(part, file), size)

    def _texts(self, part: Part, file: IO[bytes]) -> Iterator[str]:
        if self.kind == "text":
            return _lines(file, part)
        assert self.column is not None
        place = Path(part.path if not part.start else f"{part.path} from byte {part.start}")
        lines = io.TextIOWrapper(file, "utf-8" if part.start else "utf-8-sig", "surrogateescape", newline="")
        if self.kind == "jsonl":
            return object_texts(place, lines, self.column)
        names = None
        if part.start:
            with self.filesystem.open_input_file(part.path) as raw:
                first = io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape", newline="")
                names = next(_records(part.path, first, self.kind), [])
        return table_texts(place, lines, self.column, _delimiter(self.kind), names)

    def _open(self, part: Part) -> IO[bytes]:
        if part.stop < 0:
            stream: IO[bytes] = self.filesystem.open_input_stream(part.path, compression="detect")
            return stream
        with self.filesystem.open_input_file(part.path) as raw:
            raw.seek(part.start)
            return io.BytesIO(raw.read(part.stop - part.start))

    def _table(self, path: str) -> Any:
        """A parquet file, open; an error if its column is missing or holds no text."""
        from pyarrow import types
        from pyarrow.parquet import ParquetFile

        table: Any = ParquetFile(self.filesystem.open_input_file(path))
        names = table.schema_arrow.names
        if self.column not in names:
            raise FormatError(path, f"has no column {self.column!r} but {', '.join(map(repr, names))}")
        kind = table.schema_arrow.field(self.column).type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)):
            raise FormatError(path, f"the column {self.column!r} holds {kind}, no text")
        return table

    def _parquet_rows(self, part: Part, size: int) -> Iterator[list[str]]:
        """The part's own rows, out of the row groups in which it has a share."""
        table, groups, first, end = self._table(part.path), [], None, 0
        for group in range(table.num_row_groups):
            start, end = end, end + table.metadata.row_group(group).num_rows
            if start < part.stop and end > part.start:
                groups.append(group)
                first = start if first is None else first
        low, high = part.start - (first or 0), part.stop - (first or 0)

        def lists() -> Iterator[list[Any]]:
            """Rows before the part are decoded, but never turned into strings; rows behind it are not even decoded."""
            nonlocal low, high
            for batch in table.iter_batches(size, row_groups=groups, columns=[self.column]):
                yield batch.column(0)[max(low, 0) : high].to_pylist()
                low, high = low - len(batch), high - len(batch)
                if high <= 0:
                    return

        for texts in _batches(chain.from_iterable(lists()), size):
            yield ["" if text is None else text for text in texts] if None in texts else texts


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
    csv.field_size_limit(sys.maxsize)
    rows = csv.reader(lines, delimiter=_delimiter(kind), strict=True)
    try:
        yield from rows
    except csv.Error as error:
        raise FormatError(path, f"line {rows.line_num}: is no line of a table ({error})") from None


def _lines(file: IO[bytes], part: Part) -> Iterator[str]:
    def blocks() -> Iterator[bytes]:
        block = file.read(BYTES_PER_READ)
        block = block if part.start else block.removeprefix(BOM)
        returns = not part.start and ends_in_returns(block)
        while block:
            yield block.replace(b"\r", b"\n") if returns else block
            block = file.read(BYTES_PER_READ)

    for lines in whole_lines(blocks(), part.path):
        yield from plain_ends(lines).decode("utf-8", "surrogateescape").split("\n")[:-1]


def _batches(texts: Iterator[str], size: int) -> Iterator[list[str]]:
    while batch := list(islice(texts, size)):
        yield batch


@contextmanager
def errors_naming(path: str) -> Iterator[None]:
    """Turn whatever an unreadable file raises into the one error that names it."""
    from pyarrow import ArrowException

    try:
        yield
    except (OSError, ArrowException, EOFError) as error:
        raise FormatError(path, f"cannot be read ({reason(error)})") from None
