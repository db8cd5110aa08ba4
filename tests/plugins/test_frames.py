"""Columns of vectors are of the caller's library, lie over what the model wrote, and hold its vectors."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories import toy_words

pytest.importorskip("pyarrow")
pytest.importorskip("pandas")
pytest.importorskip("polars")
import pandas as pd
import polars as pl
import pyarrow as pa

from lovevec import LOVE, LovevecError
from lovevec.plugins import frames

WORDS = ["oxygen", "oxgen", "cryptobros", "Reykjavik", "", "🦊", *toy_words(20)]
COLUMNS = {
    "pandas": lambda words: pd.Series(words, dtype=object),
    "pandas, Arrow": lambda words: pd.Series(words, dtype=pd.ArrowDtype(pa.string())),
    "pandas, categories": lambda words: pd.Series(words, dtype="category"),
    "polars": lambda words: pl.Series("word", words, dtype=pl.String),
    "pyarrow": lambda words: pa.array(words, pa.string()),
    "pyarrow, dictionary": lambda words: pa.array(words, pa.string()).dictionary_encode(),
    "pyarrow, pieces": lambda words: pa.chunked_array([words[:3], words[3:]], pa.string()),
}
RESULTS = {"pandas": pd.Series, "polars": pl.Series, "pyarrow": (pa.FixedSizeListArray, pa.ChunkedArray)}
columns = pytest.mark.parametrize("kind", COLUMNS)


class Keeping(LOVE):
    """A model that keeps the array which it gave last."""

    def embed(self, words, **options):
        self.last = super().embed(words, **options)
        return self.last


def numbers_of(column) -> pa.Array:
    """The numbers of a column, by its library's own way to Arrow."""
    arrow = column.to_arrow() if isinstance(column, pl.Series) else column
    arrow = pa.array(arrow) if isinstance(arrow, pd.Series) else arrow
    return (arrow.chunk(0) if isinstance(arrow, pa.ChunkedArray) else arrow).values


@columns
def test_the_same_vectors(kind, shipped_love):
    """The bar of all plug-ins: a cosine of at least 0.99999; here they are equal."""
    column = frames.embed(COLUMNS[kind](WORDS), shipped_love)
    assert isinstance(column, RESULTS[kind.partition(",")[0]])
    assert np.array_equal(frames.matrix(column), shipped_love.embed(WORDS))
    texts = frames.encode(COLUMNS[kind](["a wonderfull fi1m", "oxgen", "…"]), shipped_love)
    assert np.array_equal(frames.matrix(texts), shipped_love.encode(["a wonderfull fi1m", "oxgen", "…"]))


@columns
def test_nothing_is_copied(kind, shipped_love):
    love = Keeping(shipped_love.parts)
    column = frames.embed(COLUMNS[kind](WORDS), love)
    address = love.last.ctypes.data
    assert numbers_of(column).buffers()[1].address == address
    assert frames.matrix(column).ctypes.data == address
    assert frames.matrix(column[2:5]).ctypes.data == address + 2 * love.dim * 4
    assert not frames.matrix(column).flags.writeable


@columns
def test_what_is_missing_stays_missing(kind, shipped_love):
    column = frames.embed(COLUMNS[kind](["oxygen", None, "oxgen", None]), shipped_love)
    values = column.to_list() if not isinstance(column, (pa.Array, pa.ChunkedArray)) else column.to_pylist()
    there = [isinstance(value, (list, np.ndarray, pl.Series)) for value in values]
    assert there == [True, False, True, False]
    assert np.array_equal(np.array(values[2], dtype=np.float32), shipped_love["oxgen"])
    with pytest.raises(LovevecError, match="2 of 4 vectors are missing: leave these rows out"):
        frames.matrix(column)


@columns
def test_no_rows(kind, shipped_love):
    column = frames.embed(COLUMNS[kind]([]), shipped_love)
    assert len(column) == 0
    assert frames.matrix(column).shape == (0, shipped_love.dim)


@settings(max_examples=30)
@given(st.lists(st.none() | st.text(max_size=5), max_size=20), st.data())
def test_libraries_agree_on_any_column(shipped_love, words, data):
    low = data.draw(st.integers(0, len(words)))
    arrow = frames.embed(pa.array(words, pa.string())[low:], shipped_love)
    assert arrow.validate(full=True) is None
    polars = frames.embed(pl.Series("w", words, dtype=pl.String)[low:], shipped_love)
    pandas = frames.embed(pd.Series(words, dtype=object)[low:], shipped_love)
    assert polars.to_arrow().to_pylist() == arrow.to_pylist() == pa.array(pandas).to_pylist()


def test_names_and_labels_stay(shipped_love):
    series = pd.Series(["oxgen", "dog"], index=["x", "y"], name="word")
    column = frames.embed(series, shipped_love)
    assert column.name == "word"
    assert list(column.index) == ["x", "y"]
    assert frames.embed(pl.Series("word", ["oxgen"]), shipped_love).name == "word"
    assert np.array_equal(frames.matrix(frames.embed(pd.Index(["dog"]), shipped_love))[0], shipped_love["dog"])


def test_columns_take_part_in_their_libraries(shipped_love, tmp_path):
    frame = pd.DataFrame({"word": ["oxgen", "dog", "cat"]})
    frame["vector"] = frames.embed(frame["word"], shipped_love)
    frame.to_parquet(tmp_path / "frame.parquet")
    back = pl.read_parquet(tmp_path / "frame.parquet")
    assert np.array_equal(frames.matrix(back["vector"]), shipped_love.embed(["oxgen", "dog", "cat"]))
    kind = pl.Array(pl.Float32, shipped_love.dim)
    lazy = pl.LazyFrame({"word": ["oxgen", "dog"]}).with_columns(
        vector=pl.col("word").map_batches(lambda words: frames.embed(words, shipped_love), return_dtype=kind)
    )
    assert lazy.collect_schema()["vector"] == kind
    assert np.array_equal(frames.matrix(lazy.collect()["vector"])[0], shipped_love["oxgen"])
    table = pa.table({"word": ["oxgen", "dog"]})
    table = table.append_column("vector", frames.embed(table["word"], shipped_love))
    assert table.schema.field("vector").type == pa.list_(pa.float32(), shipped_love.dim)


def test_an_attached_table_and_a_name_will_do(shipped_love):
    words = list(shipped_love.words[:700])
    robust = shipped_love.attach((words, shipped_love.embed(words)))
    assert np.array_equal(frames.matrix(frames.embed(pa.array(["teh"]), robust)), robust.embed(["teh"]))
    assert frames.embed(pa.array(["teh"]), "minilm-input").type.list_size == 384


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["oxgen"], "expected a column of pandas, polars, pyarrow, not list"),
        (pd.DataFrame({"word": ["dog"]}), r'not a whole DataFrame: give one of its columns, as frame\["word"\]'),
        (pl.DataFrame({"word": ["dog"]}), r'not a whole DataFrame: give one of its columns, as frame\["word"\]'),
        (pa.table({"word": ["dog"]}), r'not a whole Table: give one of its columns, as frame\["word"\]'),
        (pd.Series(["dog", 1]), "word 1 is not a string but int"),
        (pa.array([1.5]), "word 0 is not a string but float"),
    ],
)
def test_what_is_no_column_of_words_is_refused(column, message, shipped_love):
    with pytest.raises(LovevecError, match=message):
        frames.embed(column, shipped_love)


def test_what_is_no_column_of_vectors_is_refused():
    with pytest.raises(LovevecError, match="all of one length, not of list"):
        frames.matrix(pa.array([[1.0], [2.0, 3.0]]))
    with pytest.raises(LovevecError, match="not of large_string"):
        frames.matrix(pa.array(["dog"], pa.large_string()))


def test_a_missing_library_is_one_line():
    code = "import sys; sys.modules['pyarrow'] = None; import lovevec.plugins.frames"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].endswith("this needs pyarrow: pip install 'lovevec[frames]'")


def test_lovevec_imports_none_of_them():
    others = {"pandas", "polars", "pyarrow", "langchain_core", "llama_index", "haystack", "huggingface_hub"}
    code = f"import sys; from lovevec import LOVE; LOVE.load()['dog']; print({others!r} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr
