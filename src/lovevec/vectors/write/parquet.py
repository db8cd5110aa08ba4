"""Parquet: the columns `word` or `text`, and `vector`, a row group a batch; compressing would gain next to nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import MissingExtra
from lovevec.vectors.write.writer import DTYPES, Shape, Sink, Writer

NUMBERS_PER_STEP = 1 << 16  # that pyarrow takes at a time; its 1,024 are three rows of ours


class ParquetWriter(Writer):
    """Writes a record batch a call; `spelled_out` counts the words that were not UTF-8."""

    def __init__(self, arrow: Any, table: Any, shape: Shape) -> None:
        self.arrow, self.table, self.shape = arrow, table, shape
        self.spelled_out = 0

    def add(self, words: Sequence[str], rows: NDArray[np.float32], known: Sequence[bool]) -> None:
        flat = np.ascontiguousarray(rows, DTYPES[self.shape.precision]).reshape(-1)
        vectors = self.arrow.FixedSizeListArray.from_arrays(self.arrow.array(flat), self.shape.dim)
        batch = self.arrow.record_batch([self.arrow.array(self._utf8(words)), vectors], self.table.schema)
        self.table.write_batch(batch)

    def _utf8(self, words: Sequence[str]) -> Sequence[str]:
        """The words; those that were not UTF-8 spelled out, as `caf\\xe9`."""
        try:
            "".join(words).encode()
        except UnicodeEncodeError:
            plain = [word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for word in words]
            self.spelled_out += sum(a != b for a, b in zip(plain, words, strict=True))
            return plain
        return words

    def notes(self) -> list[str]:
        problem = f"{self.shape.item}s that are not UTF-8, which is all that parquet holds"
        return [f"{problem}: {self.spelled_out:,}; written like caf\\xe9"] if self.spelled_out else []


def write_parquet(sink: Sink, shape: Shape) -> AbstractContextManager[Writer]:
    """Write a table of two columns with pyarrow, if the extra `parquet` is there."""
    return write_table(sink.file, shape, {})


@contextmanager
def write_table(file: Any, shape: Shape, metadata: Mapping[str, str]) -> Iterator[ParquetWriter]:
    """Write a table to any open file; `metadata` goes into its schema. Give the writer that takes the rows."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    number = pyarrow.from_numpy_dtype(DTYPES[shape.precision])
    columns = [(shape.item, pyarrow.string()), ("vector", pyarrow.list_(number, shape.dim))]
    schema = pyarrow.schema(columns, dict(metadata) or None)
    # Nobody asks for the least and greatest number of all vectors; with float16 they would be a third of the work.
    options = {"write_statistics": [shape.item], "write_batch_size": NUMBERS_PER_STEP}
    with parquet.ParquetWriter(file, schema, compression="none", use_dictionary=False, **options) as table:
        yield ParquetWriter(pyarrow, table, shape)
