"""Rows of parquet files, a page at a time, whatever the file promises.

A parquet file writes a string that comes again only once (its dictionary), so a few hundred bytes can stand for
gigabytes. Columns of strings are therefore read as dictionaries, of which each string is made once, and pages are cut
by how long their strings are, beside how many there are. A file that stands for too many times its size is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError, MissingExtra, reason
from lovevec.files.lines import open_plain, unreadable
from lovevec.vectors.read.source import check_compression

TEXTS_PER_READ = 4096
BYTES_PER_PAGE = 1 << 22
MAX_TEXT_BYTES = 1 << 24  # four a character at most: as many characters as a line may have
SHORT_TEXT = 1024  # bytes: a column of categories stands for many times its size, and does no harm


class ParquetPage(NamedTuple):
    """Some rows: their texts, and the record batch that they come from."""

    texts: list[str]
    batch: Any


class ParquetTexts:
    """A parquet file with a column of texts.

    :param path: by which errors name it.
    :param source: the file, open for pyarrow (a NativeFile).
    """

    def __init__(self, path: str | Path, source: Any, column: str) -> None:
        self.path, self.column, self.size = path, column, source.size()
        with naming(path, "is no parquet file"):
            pyarrow_file = _parquet_file(source)
            self.schema, self.metadata = pyarrow_file.schema_arrow, pyarrow_file.metadata
            if column not in self.schema.names:
                raise FormatError(path, f"has no column {column!r} but {', '.join(map(repr, self.schema.names))}")
            strings = [field.name for field in self.schema if _is_plain_string(field.type)]
            source.seek(0)
            self._file = _parquet_file(source, strings)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.metadata.num_rows)

    @property
    def kind(self) -> Any:
        """The type of the column; of a dictionary that of its values."""
        from pyarrow import types

        kind = self.schema.field(self.column).type
        return kind.value_type if types.is_dictionary(kind) else kind

    def pages(
        self, whole: bool = False, start: int = 0, stop: int | None = None, rows: int = TEXTS_PER_READ
    ) -> Iterator[ParquetPage]:
        """The rows from `start` to `stop` in pages of up to `rows`, each with its texts; what is null is an empty text.
        The batches have the column of texts alone, or are `whole`."""
        stop = self.rows if stop is None else stop
        names = self.schema.names if whole else [self.column]
        groups, first = self._groups(start, stop, names, whole)
        if not groups:
            return
        with naming(self.path, "is damaged"):
            batches = self._file.iter_batches(rows, row_groups=groups, columns=None if whole else names)
        unpacked = 0
        while first < stop:
            with naming(self.path, "is damaged"):
                batch = next(batches, None)
                if batch is None:
                    return
                low, first = first, first + len(batch)
                batch = batch.slice(max(start - low, 0), min(stop, first) - max(start, low))
                sizes = _row_sizes(batch)
            if sizes.max(initial=0) > MAX_TEXT_BYTES:
                row = max(start, low) + int(sizes.argmax())
                raise FormatError(self.path, f"row {row}: has more than {MAX_TEXT_BYTES >> 20} million bytes")
            unpacked += int(np.maximum(sizes - SHORT_TEXT, 0).sum())
            check_compression(Path(self.path), unpacked, self.size)
            for page in _cuts(sizes):
                yield self._page(batch.slice(page.start, page.stop - page.start), max(start, low) + page.start)

    def _groups(self, start: int, stop: int, names: Sequence[str], whole: bool) -> tuple[list[int], int]:
        """The row groups in which some of the rows are, and the number of the first row of them; refused where they
        unpack to too much."""
        groups, end, first, unpacked = list[int](), 0, 0, 0
        for number in range(self.metadata.num_row_groups):
            group = self.metadata.row_group(number)
            low, end = end, end + group.num_rows
            if low < stop and end > start:
                first = low if not groups else first
                groups.append(number)
                chunks = map(group.column, range(group.num_columns))
                sizes = (one.total_uncompressed_size for one in chunks if whole or one.path_in_schema in names)
                unpacked = max(unpacked, sum(sizes))
        check_compression(Path(self.path), unpacked, self.size)
        return groups, first

    def _page(self, batch: Any, first: int) -> ParquetPage:
        """Rows with strings in place of the places of strings, which number `first` and so on."""
        import pyarrow

        place = batch.schema.names.index(self.column)
        with naming(self.path, "is damaged"):
            texts = _texts(batch.column(place))
            fields = list(self.schema) if len(batch.columns) == len(self.schema) else [self.schema.field(self.column)]
            columns = [_as(column, field.type) for column, field in zip(batch.columns, fields, strict=True)]
            batch = pyarrow.RecordBatch.from_arrays(columns, schema=pyarrow.schema(fields, self.schema.metadata))
        odd = next((place for place, text in enumerate(texts) if not isinstance(text, str)), None)
        if odd is not None:
            kind = type(texts[odd]).__name__
            raise FormatError(self.path, f"row {first + odd}: {self.column!r} holds {kind}, no text")
        return ParquetPage(texts, batch)


def open_parquet(path: Path, column: str) -> ParquetTexts:
    """A parquet file on the disk that has the column."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    try:
        open_plain(path).close()
        source = pyarrow.OSFile(str(path))
    except OSError as error:
        raise unreadable(path, error) from None
    return ParquetTexts(path, source, column)


def _parquet_file(source: Any, strings: Sequence[str] = ()) -> Any:
    from pyarrow.parquet import ParquetFile

    return ParquetFile(source, read_dictionary=list(strings))


def _is_plain_string(kind: Any) -> bool:
    from pyarrow import types

    tests = types.is_string, types.is_large_string, types.is_string_view, types.is_binary, types.is_large_binary
    return any(test(kind) for test in tests)


def _row_sizes(batch: Any) -> NDArray[np.int64]:
    """How many bytes the strings of each row have: [rows]. What is no string counts for its share of the memory."""
    sizes = np.zeros(len(batch), dtype=np.int64)
    for column in batch.columns:
        strings = _string_sizes(column)
        sizes += column.nbytes // max(len(batch), 1) if strings is None else strings
    return sizes


def _string_sizes(column: Any) -> NDArray[np.int64] | None:
    """How many bytes each string of a column has, 0 for null; None for a column of something else."""
    from pyarrow import types

    if _is_plain_string(column.type):
        return _lengths(column)
    if not types.is_dictionary(column.type) or not _is_plain_string(column.type.value_type):
        return None
    strings, places = _used(column)
    return _lengths(strings)[places]


def _lengths(strings: Any) -> NDArray[np.int64]:
    from pyarrow import compute

    lengths: NDArray[np.int64] = compute.fill_null(compute.binary_length(strings), 0).to_numpy().astype(np.int64)
    return lengths


def _cuts(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Slices of rows of up to BYTES_PER_PAGE; a row that has more is a page of its own."""
    ends, low = np.cumsum(sizes), 0
    while low < len(sizes):
        before = int(ends[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(ends, before + BYTES_PER_PAGE, "right")))
        yield slice(low, high)
        low = high


def _texts(column: Any) -> list[Any]:
    """The strings of a column; a string that comes again is the same object."""
    from pyarrow import types

    if not types.is_dictionary(column.type):
        return ["" if text is None else text for text in column.to_pylist()]
    used, places = _used(column)
    strings = ["" if text is None else text for text in used.to_pylist()]
    return [strings[place] for place in places.tolist()]


def _used(column: Any) -> tuple[Any, NDArray[np.int64]]:
    """Of a column of places in a dictionary the strings that it has, each once, and the place of each row among them.
    A dictionary may be that of many more rows."""
    import pyarrow

    used, places = np.unique(np.asarray(column.indices.fill_null(-1)), return_inverse=True)
    return column.dictionary.take(pyarrow.array(used, mask=used < 0)), places


def _as(column: Any, kind: Any) -> Any:
    """A column in the type that the file gives it."""
    if column.type == kind:
        return column
    return column.dictionary_decode().cast(kind)


@contextmanager
def naming(path: str | Path, problem: str) -> Iterator[None]:
    """Turn what pyarrow raises on a damaged file, at any time, into the one error that names it."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, UnicodeDecodeError, IndexError) as error:
        raise FormatError(path, f"{problem} ({reason(error)})") from None
