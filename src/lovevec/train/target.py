"""Loads a target, the table to mimic, from wherever word vectors are: a file, a transformer, an object in memory."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec.transformer.load import PREFIX, input_embeddings, is_transformer, load_tokenizer, public_name, weights_file
from lovevec.transformer.pieces import lowercases
from lovevec.vectors import Oddity, VectorTable, read_vectors
from lovevec.vectors.memory import table_from_memory
from lovevec.vectors.read.numpy import read_origin
from lovevec.vectors.read.pipeline import find_pipeline, vectors_file
from lovevec.vectors.read.source import file_hash
from lovevec.vectors.rows import keep_rows, lower_case

MAX_DIM = 16_384  # more than any vectors that are published


def load_target(
    source: Any,
    *,
    limit: int | None = None,
    lowercase: bool = True,
    words: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> VectorTable:
    """Load the words and vectors to mimic, with a name and an origin that are fit to publish.

    `source` is a path, `hf:NAME` for the input embeddings of a transformer (a folder or a hub id), a VectorTable, a
    pair (words, vectors), a dict of word to vector, or gensim's KeyedVectors (or a gensim model). At most
    `limit` usable rows are taken, the first ones, before case is looked at. With `lowercase` words are lower-cased;
    where some then are the same, the row that was lower case already is kept, else the first. An array in memory is
    used as it is when nothing has to be dropped; do not change it afterwards.

        load_target("glove.6B.300d.txt.gz", limit=100_000)
        load_target("hf:bert-base-uncased")
        load_target((["cat", "dog"], np.eye(2)))
    """
    progress = progress or Progress(quiet=True)
    origin: dict[str, Any]
    a_file = isinstance(source, (str, os.PathLike)) and not is_transformer(source)
    if words is not None and not a_file:
        raise LovevecError("words= names the word list of an array file; this source is not a file")
    if limit is not None and limit < 1:
        raise LovevecError(f"limit must be at least 1, not {limit}")
    if a_file:
        path = Path(source)
        table, owned = read_vectors(path, limit=limit, words=words, progress=progress, mmap=None), True
        name, origin = (
            table.name,
            {"file": path.name, "sha256": file_hash(vectors_file(find_pipeline(path) or path), progress)},
        )
        origin |= {"made": distilled} if (distilled := read_origin(path)) else {}
    elif is_transformer(source):
        model = source.removeprefix(PREFIX)
        table, owned = input_embeddings(model, limit, progress), True
        weights = weights_file(model)
        name = public_name(model).split("/")[-1]
        origin = {"file": PREFIX + public_name(model), "sha256": file_hash(weights, progress) if weights else None}
    else:
        table, owned = table_from_memory(source, limit)
        name, origin = type(source).__name__, {"file": None, "sha256": None}
        if isinstance(source, VectorTable):
            name = source.name or name
            origin |= {"made": source.source} if source.source else {}
    if lowercase:
        lowered, keep = lower_case(table.words)
        if dropped := len(table) - len(lowered):
            table.report.note(Oddity.SAME_IN_LOWER_CASE, count=dropped)
            table.report.kept -= dropped
        table = dataclasses.replace(table, words=lowered, vectors=keep_rows(table.vectors, keep, owned))
    if table.dim > MAX_DIM:
        problem = f"its vectors have {table.dim:,} dimensions, and an encoder has matrices of that square"
        raise LovevecError(f"{name}: {problem}: at most {MAX_DIM:,} can be learned; reduce them first (PCA)")
    if len(table) < 2:
        raise LovevecError(f"{name}: a target needs at least 2 words, this one has {len(table)}")
    origin |= {"format": table.report.format, "compression": table.report.compression}
    origin |= {"rows": table.report.read, "limit": limit, "lowercase": lowercase}
    return dataclasses.replace(table, name=name, source=origin)


def is_cased(source: Any) -> bool:
    """Whether `source` holds vectors of a transformer, its own or distilled, that tells capitals from small letters.
    Words of such a target keep their case unless the settings say otherwise; those of all others lose it."""
    if is_transformer(source):
        return not lowercases(load_tokenizer(source.removeprefix(PREFIX)))
    if isinstance(source, VectorTable):
        return bool(source.source.get("cased"))
    return isinstance(source, (str, os.PathLike)) and bool((read_origin(Path(source)) or {}).get("cased"))
