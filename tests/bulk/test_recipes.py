"""The recipes of docs/guide/bulk.md, as they stand there: each gives the vectors of `love.embed`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "bulk.md").read_text("utf-8")
RECIPES = dict(re.findall(r"### (\w[\w ]*)\n+(?:<!--.*?-->\n)?```python\n(.*?)```", PAGE, flags=re.DOTALL))
WORDS = ["house", "hosue", "recieve", "deplatformed", "", "naïve", "don't"] * 20


def recipe(name):
    """What the page's code defines."""
    names: dict[str, object] = {}
    exec(compile(RECIPES[name], f"recipe of {name}", "exec"), names)
    return names


def test_all_recipes_are_tried_here():
    assert set(RECIPES) == {"Ray Data", "Spark", "Dask", "polars"}
    assert all(len(code.strip().splitlines()) <= 18 for code in RECIPES.values())


def test_the_function_of_spark_on_frames_as_spark_gives_them(shipped_love):
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame({"word": WORDS[low : low + 50]}) for low in range(0, len(WORDS), 50)]
    found = pandas.concat(recipe("Spark")["add_vectors"](iter(frames)))
    assert found["word"].tolist() == WORDS
    assert np.array_equal(np.stack(found["vector"]), shipped_love.embed(WORDS))


@pytest.mark.slow
def test_spark(shipped_love):
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        frame = session.createDataFrame([(word,) for word in WORDS], "word string")
        rows = recipe("Spark")["spark_recipe"](frame).collect()
    finally:
        session.stop()
    assert [row.word for row in rows] == WORDS
    assert np.array_equal(np.array([row.vector for row in rows], np.float32), shipped_love.embed(WORDS))


def test_dask(shipped_love):
    dask = pytest.importorskip("dask")
    frames = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    with dask.config.set(scheduler="synchronous"):
        table = frames.from_pandas(pandas.DataFrame({"word": WORDS}), npartitions=3)
        found = recipe("Dask")["dask_recipe"](table).compute()
    assert found["word"].tolist() == WORDS
    assert np.array_equal(np.stack(found["vector"]), shipped_love.embed(WORDS))


@pytest.mark.parametrize("lazy", [False, True])
def test_polars(shipped_love, lazy):
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"word": WORDS})
    found = recipe("polars")["polars_recipe"](table.lazy() if lazy else table).lazy().collect()
    assert found["word"].to_list() == WORDS
    assert np.array_equal(found["vector"].to_numpy(), shipped_love.embed(WORDS))


@pytest.mark.slow
def test_ray_data(shipped_love, tmp_path, monkeypatch):
    pytest.importorskip("ray")
    import pyarrow
    from pyarrow import parquet

    from lovevec.bulk.cluster import cluster

    monkeypatch.chdir(tmp_path)
    parquet.write_table(pyarrow.table({"word": WORDS}), "words.parquet")
    with cluster(workers=1):
        found = recipe("Ray Data")["result"].take_all()
    vectors = dict(zip(WORDS, shipped_love.embed(WORDS), strict=True))
    assert len(found) == len(WORDS)
    for row in found:
        np.testing.assert_allclose(row["vector"], vectors[row["word"]], atol=1e-5)
