"""Lists of real misspellings (files/misspellings.py): what is written in either format is read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lovevec.errors import FormatError
from lovevec.files.misspellings import read_misspellings

WORD = st.text("abcxyzéß'-_ABC0", min_size=1, max_size=8)
PAIRS = st.lists(st.tuples(WORD, st.lists(WORD, min_size=1, max_size=4)), min_size=1, max_size=5)


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("lists") / "list.dat"


@given(PAIRS, st.sampled_from(["\n", "\r\n"]), st.booleans())
@settings(max_examples=40)
def test_a_marked_list_is_read_back(path, groups, end, counted):
    lines = []
    for right, wrong in groups:
        lines += [f"${right}", *(f"{one} 3" if counted else one for one in wrong)]
    path.write_bytes((end.join(lines) + end).encode())
    assert read_misspellings(path) == [(right.lower(), one.lower()) for right, wrong in groups for one in wrong]


@given(PAIRS, st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=40)
def test_two_columns_are_read_back(path, groups, end):
    pairs = [(right, one) for right, wrong in groups for one in wrong]
    path.write_bytes(end.join(f"{right}\t{one}" for right, one in pairs).encode())
    assert read_misspellings(path) == [(right.lower(), one.lower()) for right, one in pairs]


@given(st.binary(max_size=60))
@settings(max_examples=40)
def test_any_bytes_are_a_list_or_one_named_error(path, content):
    path.write_bytes(content)
    try:
        pairs = read_misspellings(path)
    except FormatError as error:
        pairs = [(str(path), "")] if str(path) in str(error) else []
    assert pairs
    assert all(right for right, _ in pairs)


def test_what_nobody_could_make_out_is_left_out(path):
    path.write_text("$?\nanetes 1\n$ bad \n bav 2\n$good\n\n$?\nx\n")
    assert read_misspellings(path) == [("bad", "bav")]


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ("", None, "holds no data"),
        ("$word\n$other\n", None, "holds no misspellings"),
        ("$?\nx\n", None, "holds no misspellings"),
        ("one two\n", 1, "a tab and its misspelling"),
        ("right\twrong\nthree\tof\tthem\n", 2, "a tab and its misspelling"),
        ("$right\nwrong\n$ \n", 3, "missing behind"),
    ],
)
def test_mistakes_are_named_with_their_line(path, content, line, says):
    path.write_text(content)
    with pytest.raises(FormatError, match=says) as caught:
        read_misspellings(path)
    assert caught.value.line == line


def test_a_missing_file_is_a_named_error(tmp_path):
    with pytest.raises(FormatError, match=r"nowhere\.dat: cannot be read"):
        read_misspellings(tmp_path / "nowhere.dat")
