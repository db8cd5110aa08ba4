"""docs/reliability.md names a test for each failure mode: every one of them is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def test_every_test_that_the_page_names_exists():
    page = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    named = NAMED.findall(page)
    rows = [line for line in page.splitlines() if line.startswith("| ") and "tests/" in line]
    assert len(named) >= 35
    assert all(NAMED.search(row) for row in rows)
    functions = {
        file: {
            node.name for node in ast.parse((ROOT / file).read_text("utf-8")).body if isinstance(node, ast.FunctionDef)
        }
        for file in {file for file, _ in named}
    }
    assert [f"{file}::{name}" for file, name in named if name not in functions[file]] == []


def test_every_row_of_failure_modes_names_its_test():
    page = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    modes = page.partition("## Failure modes")[2].partition("\n## ")[0]
    rows = [line for line in modes.splitlines() if line.startswith("| ") and not line.startswith("| what")]
    assert len(rows) >= 35
    assert [row for row in rows if not NAMED.search(row)] == []


def test_the_commands_that_the_page_names_are_there():
    page = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    programs = set(re.findall(r"python -m (attacks(?:\.\w+)?)", page)) | set(
        re.findall(r"python (bench/\w+\.py)", page)
    )
    assert len(programs) >= 5
    for name in programs:
        path = ROOT / name if name.startswith("bench") else ROOT / f"{name.replace('.', '/')}.py"
        assert path.is_file() or (path.with_suffix("") / "__main__.py").is_file()
