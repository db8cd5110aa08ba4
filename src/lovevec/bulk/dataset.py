"""Vectors for a Ray Dataset: one more column. The options, and the model in Ray's store, are those of a job too."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lovevec.bulk.cluster import import_ray, most_tasks
from lovevec.engine.compiled import Mode, is_compiled
from lovevec.errors import LovevecError, Parameter
from lovevec.love import LOVE
from lovevec.vectors.write.writer import DTYPES, Precision

if TYPE_CHECKING:
    from ray.data import Dataset

ROWS_PER_BATCH = 16_384


@dataclass(frozen=True)
class BulkOptions:
    """How vectors are made.

    texts      rows are whole texts, not words
    near       misspellings get the vectors of the words that they stand for, else imputed ones
    precision  of the numbers in the files
    batch      rows that are computed together
    engine     the same for all batches: the engines agree to 1e-6, not to the bit
    """

    texts: bool = False
    near: bool = True
    precision: Precision = "float32"
    batch: int = ROWS_PER_BATCH
    engine: Mode = "numpy"

    def __post_init__(self) -> None:
        if self.texts and not self.near:
            raise LovevecError(
                f"{Parameter('near', False)} is for words: what a text's words stand for is part of its vector"
            )
        if self.precision not in DTYPES:
            raise LovevecError(f"precision is {self.precision!r}: choose one of {', '.join(DTYPES)}")
        if self.batch < 1:
            raise LovevecError(f"batch is {self.batch}: must be at least 1")

    def vectors(self, love: LOVE, rows: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of words or texts, [len(rows), dim]."""
        if self.texts:
            encoded: NDArray[np.float32] = love.encode(list(rows), show_progress_bar=False)
            return encoded
        if self.near:
            return love.embed(rows, progress=False)
        known = np.fromiter((word in love for word in rows), bool, len(rows))
        result = np.empty((len(rows), love.dim), np.float32)
        result[known] = love.embed([rows[place] for place in np.flatnonzero(known).tolist()], progress=False)
        result[~known] = love.impute([rows[place] for place in np.flatnonzero(~known).tolist()])
        return result


def embed(
    dataset: Dataset,
    column: str = "word",
    *,
    output: str = "vector",
    model: str | os.PathLike[str] | LOVE | None = None,
    texts: bool = False,
    near: bool = True,
    precision: Precision = "float32",
    batch: int = ROWS_PER_BATCH,
    engine: Mode = "auto",
    workers: int | None = None,
) -> Dataset:
    """A Ray Dataset with one more column: `output`, the vectors (fixed-size lists) of the words in `column`, or with
    `texts` of whole texts. As lazy as any step of Ray Data. `workers` is the highest number of processes, a core each.

        bulk.embed(ray.data.read_parquet("words/"), column="word").write_parquet("vectors/")
    """
    ray = import_ray()
    options = BulkOptions(texts, near, precision, batch, one_engine(engine))
    known = dataset.schema(fetch_if_missing=False)
    if known is not None and column not in known.names:
        raise LovevecError(f"the dataset has no column {column!r} but {', '.join(map(repr, known.names))}")
    return dataset.map_batches(
        add_vectors,
        batch_size=batch,
        batch_format="pyarrow",
        fn_args=(ray.put(load_love(model, options)), options, column, output),
        concurrency=most_tasks(ray, workers),
        num_cpus=1,
    )


def add_vectors(table: Any, model: Any, options: BulkOptions, column: str, output: str) -> Any:
    """Runs in a worker: a table of pyarrow with the vectors as one more column. A null is an empty word."""
    import pyarrow

    love = love_from_store(model)
    if column not in table.column_names:
        raise LovevecError(f"the dataset has no column {column!r} but {', '.join(map(repr, table.column_names))}")
    rows = ["" if text is None else text for text in table.column(column).to_pylist()]
    vectors = options.vectors(love, rows).astype(DTYPES[options.precision], copy=False)
    flat = pyarrow.array(np.ascontiguousarray(vectors).reshape(-1))
    return table.append_column(output, pyarrow.FixedSizeListArray.from_arrays(flat, love.dim))


def one_engine(engine: Mode) -> Mode:
    """The engine for all workers, in place of "auto": that of this machine."""
    return "compiled" if is_compiled(engine) else "numpy"


def load_love(model: str | os.PathLike[str] | LOVE | None, options: BulkOptions) -> LOVE:
    """A model with the engine of these options."""
    if isinstance(model, LOVE):
        return model.copy(engine=options.engine)
    return LOVE.load(model, options.engine)


@lru_cache(maxsize=1)
def love_from_store(model: Any) -> LOVE:
    """The model behind a reference of Ray, fetched once a process; its arrays stay in the memory that all processes of
    a node share."""
    love: LOVE = import_ray().get(model)
    return love
