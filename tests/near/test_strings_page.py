"""docs/guide/strings.md: each row of its tables is how the shipped model reads that string."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lovevec import LOVE

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "strings.md"
READINGS = ("known", "near", "parts", "new")


def rows_of_tables() -> list[tuple[str, str, str, str]]:
    """(string, reading, kind, read as), of the tables whose first column is `string`."""
    rows = []
    for table in re.findall(r"^\| string \|.*\n\|[-| ]+\|\n((?:\|.*\n)+)", PAGE.read_text("utf-8"), re.MULTILINE):
        for line in table.splitlines():
            string, reading, *others = (cell.strip() for cell in line.strip("|").split(" | "))
            rows.append((string.strip(" `|"), reading, others[0] if len(others) == 2 else "", others[-1].strip(" |")))
    return rows


ROWS = rows_of_tables()


@pytest.fixture(scope="module")
def love() -> LOVE:
    return LOVE.load()


def test_the_page_has_every_kind_of_string():
    assert len(ROWS) > 80
    assert {reading for _, reading, _, _ in ROWS} == set(READINGS)
    assert len({kind for _, _, kind, _ in ROWS}) > 15


@pytest.mark.parametrize(("string", "reading", "kind", "read_as"), ROWS, ids=[row[0] for row in ROWS])
def test_a_string_is_read_as_the_page_says(love, string, reading, kind, read_as):
    lookup = love.lookup(string)
    assert (lookup.readings[0], lookup.kinds[0] or "") == (reading, kind)
    found = [part.word or part.text for part in lookup.parts[0]] or [word for word, _ in lookup.near(1)[0]]
    if read_as:
        assert " + ".join(found) == read_as
    else:
        assert reading == "new"


def test_no_number_of_the_page_is_read_as_another(love):
    """Every digit stays: those of the parts together are those of the string, ordinals' and dates' zeros aside."""
    for string, reading, _, _ in ROWS:
        if reading == "near" or not re.search(r"\d", string):
            continue
        found = [part.word or part.text for part in love.lookup(string).parts[0]] or [string]
        numbers = [int(number) for number in re.findall(r"\d+", "".join(string.split(",")))]
        shown = [int(number) for number in re.findall(r"\d+", " ".join(found).replace(",", ""))]
        assert shown == numbers, string
