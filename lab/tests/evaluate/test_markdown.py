from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lovevec_lab.evaluate.results import markdown, millions


def test_a_table_as_it_is_read():
    told = markdown(["method", "words/s", "RareWord"], [["LOVE", 123456, 42.25], ["FastText", None, 5.0]])
    assert told == (
        "| method   | words/s | RareWord |\n"
        "| -------- | ------: | -------: |\n"
        "| LOVE     | 123,456 |     42.2 |\n"
        "| FastText |       - |      5.0 |\n"
    )


def test_digits_are_chosen():
    assert markdown(["x"], [[0.12345]], digits=3).splitlines()[2].strip("| ") == "0.123"


def test_names_of_files_cannot_break_a_table():
    told = markdown(["method", "a|b"], [["two\nlines|", 1]])
    assert told.splitlines() == ["| method      | a\\|b |", "| ----------- | ---: |", "| two lines\\| |    1 |"]


def split(line: str) -> list[str]:
    """The cells of a line, by the rule of GitHub's Markdown: a bar with a backslash before it ends no cell."""
    cells, current = [], ""
    inside = line.removeprefix("|").removesuffix("|")
    for letter in inside:
        if letter == "|" and not current.endswith("\\"):
            cells.append(current)
            current = ""
        else:
            current += letter
    return [cell.strip().replace("\\|", "|") for cell in [*cells, current]]


TEXT = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"], exclude_characters="\\"), max_size=8)


@given(st.lists(st.tuples(TEXT, TEXT, st.integers(), st.none() | st.floats(-1e6, 1e6)), min_size=1, max_size=6))
def test_what_goes_in_can_be_read_again(rows):
    lines = markdown(["a", "b", "n", "x"], rows).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert split(lines[0]) == ["a", "b", "n", "x"]
    for line, (one, other, number, value) in zip(lines[2:], rows, strict=True):
        cells = split(line)
        assert cells[:2] == [one, other]
        assert int(cells[2].replace(",", "")) == number
        assert cells[3] == "-" if value is None else abs(float(cells[3]) - value) <= 0.05 + 1e-9


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (0, "-"),
        (7, "7"),
        (999, "999"),
        (1000, "1K"),
        (200_123, "200K"),
        (999_499, "999K"),
        (999_999, "1M"),
        (6_300_000, "6.3M"),
        (12_001_500, "12M"),
        (969_000_000, "969M"),
    ],
)
def test_counts_as_the_paper_writes_them(count, told):
    assert millions(count) == told
