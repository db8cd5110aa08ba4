"""An index as a table of LanceDB, for who wants a store: ids, texts, vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lovevec.errors import LovevecError, Parameter, reason
from lovevec.search.meaning import Meaning
from lovevec.search.texts import Id

ROWS_PER_BATCH = 8192


def write_lance(
    uri: str, name: str, ids: Sequence[Id], texts: Sequence[str], meaning: Meaning, overwrite: bool = False
) -> Any:
    """Write the table `name` of the store at `uri`, which is made if it is not there; returns the table. Texts go to it
    a batch at a time."""
    try:
        import lancedb
        import pyarrow as pa
    except ImportError:
        raise LovevecError("to_lance needs lancedb and pyarrow: pip install lancedb pyarrow") from None
    kind = pa.int64() if all(isinstance(one, int) for one in ids) else pa.string()
    plain = list(ids) if kind == pa.int64() else [str(one) for one in ids]
    width = meaning.codes.shape[1]
    schema = pa.schema([("id", kind), ("text", pa.string()), ("vector", pa.list_(pa.float32(), width))])

    def batches() -> Any:
        for low in range(0, len(plain), ROWS_PER_BATCH):
            part = slice(low, low + ROWS_PER_BATCH)
            rows = meaning.codes[part] * meaning.scale[part][:, None]
            vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.astype(np.float32).reshape(-1)), width)
            encodable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts[part]]
            yield pa.RecordBatch.from_arrays(
                [pa.array(plain[part], kind), pa.array(encodable, pa.string()), vectors], schema=schema
            )

    store = lancedb.connect(uri)
    try:
        return store.create_table(name, batches(), schema=schema, mode="overwrite" if overwrite else "create")
    except (ValueError, OSError, RuntimeError) as error:
        overwritten = Parameter("overwrite", True)
        raise LovevecError(f"{uri}: table {name!r} cannot be written ({reason(error)}); or {overwritten}") from None
