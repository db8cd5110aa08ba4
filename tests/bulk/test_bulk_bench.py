"""The words of bench/bulk.py: as many distinct ones as said, the same by a seed; what was measured is kept."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("psutil")
pytest.importorskip("pandas")

SPEC = importlib.util.spec_from_file_location("bulk_bench", Path(__file__).parents[2] / "bench/bulk.py")
bench = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = bench  # dataclasses look there
SPEC.loader.exec_module(bench)


def words_of(files):
    return [word for path in files for word in parquet.read_table(path).column("word").to_pylist()]


def test_words_of_a_seed(tmp_path, shipped_love, monkeypatch):
    monkeypatch.setattr(bench, "FILE", 60_000)
    monkeypatch.setattr(bench, "FIRST", 20_000)
    distinct = 100_000  # more than are known
    files = bench.word_files(tmp_path / "one", 5 * distinct, distinct, seed=3)
    words = words_of(files)
    assert len(words) == 5 * distinct
    assert len(set(words)) == distinct
    assert set(shipped_love.words) < set(words)
    assert len(set(words[::5])) == distinct  # each comes for the first time there, at the latest
    fewer = bench.word_files(tmp_path / "two", 70_000, distinct, seed=3)
    assert words_of(fewer) == words[:70_000]
    assert [path.read_bytes() for path in fewer[:2]] == [path.read_bytes() for path in files[:2]]
    dates = [path.stat().st_mtime_ns for path in files]
    assert bench.word_files(tmp_path / "one", 5 * distinct, distinct, seed=3) == files
    assert [path.stat().st_mtime_ns for path in files] == dates  # what is there is not made again


def test_a_benchmark_that_was_cut_knows_its_parts(tmp_path):
    import pyarrow

    out = tmp_path / "out"
    out.mkdir()
    for number in (0, 1):
        parquet.write_table(pyarrow.table({"word": ["a"] * (number + 3)}), out / f"part-{number:05}.parquet")
    bench.Journal(tmp_path / "log").take(out)
    assert [path.stat().st_size for path in sorted(out.iterdir())] == [0, 0]
    again = bench.Journal(tmp_path / "log")
    again.take(out)
    assert [part["rows"] for part in again.parts.values()] == [3, 4]
    assert len((tmp_path / "log").read_text().splitlines()) == 2
    assert again.result is None
