"""Columns of pandas, polars and pyarrow: words or texts in, a column of vectors out, over the memory they were made in.

    from lovevec.plugins import frames

    frame["vector"] = frames.embed(frame["word"])                            # pandas
    frame = frame.with_columns(vector=frames.encode(frame["title"]))         # polars
    table = table.append_column("vector", frames.encode(table["title"]))     # pyarrow
    frames.matrix(frame["vector"])                                           # numpy [n, dim], of the same memory

A column of vectors has the type that all three share, Arrow's fixed-size list: n · dim float32 numbers in one buffer,
the one that the model wrote. Parquet, DuckDB and Lance take it as it is. A missing word has a missing vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.attach import Attached
from lovevec.errors import LovevecError, MissingExtra
from lovevec.plugins import LoveOption, load_love
from lovevec.units.words import word_list

try:
    import pyarrow
except ImportError:
    raise MissingExtra("pyarrow", "frames") from None

Floats = NDArray[np.float32]
LIBRARIES = ("pandas", "polars", "pyarrow")


def embed(words: Any, love: LoveOption | Attached = None) -> Any:
    """The vectors of a column of words: a column of the same library.

    `words` is a column of pandas, polars or pyarrow; `love` a LOVE, an attached table, or the name of a model (the
    shipped default for None). A missing word has a missing vector.

        frames.embed(pandas.Series(["oxygen", "oxgen"]))
    """
    return _column_of(words, load_love(love).embed)


def encode(texts: Any, love: LoveOption | Attached = None) -> Any:
    """The vectors of a column of texts, by `encode`: a column of the same library. The arguments are those of `embed`.

    frames.encode(pandas.Series(["a wonderfull fi1m", "a boring one"]))
    """
    return _column_of(texts, load_love(love).encode)


def matrix(vectors: Any) -> Floats:
    """A column of vectors, as `embed` and `encode` give it, as one array [n, dim], read-only. It lies in the column's
    own memory; a copy is made only of a column that lies in several pieces.

        frames.matrix(frames.embed(pandas.Series(["oxygen", "oxgen"]))).shape
    """
    library = _library_of(vectors)
    column = vectors.to_arrow() if library == "polars" else pyarrow.array(vectors) if library == "pandas" else vectors
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if isinstance(column, pyarrow.ChunkedArray):  # of no pieces, in older versions
        column = pyarrow.array([], column.type)
    if not pyarrow.types.is_fixed_size_list(column.type):
        raise LovevecError(f"expected a column of vectors, all of one length, not of {column.type}")
    if column.null_count:
        raise LovevecError(f"{column.null_count:,} of {len(column):,} vectors are missing: leave these rows out first")
    dim = column.type.list_size
    numbers = column.values.slice(column.offset * dim, len(column) * dim)
    return np.asarray(numbers.to_numpy()).reshape(len(column), dim)


def _library_of(column: Any) -> str:
    library = type(column).__module__.partition(".")[0]
    if library not in LIBRARIES or hasattr(type(column), "columns"):
        word_list(column)  # raises for a whole frame, and says which column to give
        raise LovevecError(f"expected a column of {', '.join(LIBRARIES)}, not {type(column).__name__}")
    return library


def _column_of(column: Any, vectors_of: Callable[[list[str]], Floats]) -> Any:
    library = _library_of(column)
    items = word_list(column)
    # pandas has more than one mark for what is missing
    missing = np.array(column.isna() if library == "pandas" else [item is None for item in items], np.bool_)
    words = ["" if is_missing else item for item, is_missing in zip(items, missing.tolist(), strict=True)]
    vectors = _vector_array(vectors_of(words), missing)
    if library == "polars":
        import polars

        return polars.from_arrow(vectors).alias(column.name)  # type: ignore[union-attr]
    if library == "pandas":
        import pandas

        series = pandas.Series(column)  # an Index too
        return pandas.Series(pandas.arrays.ArrowExtensionArray(vectors), index=series.index, name=series.name)
    return pyarrow.chunked_array([vectors]) if isinstance(column, pyarrow.ChunkedArray) else vectors


def _vector_array(rows: Floats, missing: NDArray[np.bool_]) -> Any:
    """An Arrow array of vectors [n, dim] over the memory of the rows; those of `missing` are null."""
    numbers = pyarrow.array(np.ascontiguousarray(rows).reshape(-1))
    kind = pyarrow.list_(pyarrow.float32(), rows.shape[1])
    valid = pyarrow.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    return pyarrow.Array.from_buffers(kind, len(rows), [valid], children=[numbers])
