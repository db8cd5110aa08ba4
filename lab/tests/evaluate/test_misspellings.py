"""Lists of misspellings, in the formats that they come in."""

from __future__ import annotations

import pytest

from lovevec.errors import FormatError, LovevecError
from lovevec_lab.evaluate.typos import misspellings


def read(tmp_path, content: str, encoding: str = "utf-8"):
    (tmp_path / "list.dat").write_bytes(content.encode(encoding))
    found = misspellings(str(tmp_path / "list.dat"))
    return list(zip(found.right, found.wrong, strict=True))


def test_marked_lists(tmp_path):
    content = "$Albert\nAb\n$all_right\nalright\nall  rigth\n$none\n$two\nToo 3\nt2 12\n"
    assert read(tmp_path, content) == [
        ("albert", "ab"),
        ("all_right", "alright"),
        ("all_right", "all  rigth"),
        ("two", "too"),
        ("two", "t2"),
    ]


def test_words_that_nobody_could_make_out_are_left_out(tmp_path):
    assert read(tmp_path, "$?\nanetes 1\nbav 1\n$bad\nbav 2\n") == [("bad", "bav")]


def test_two_columns(tmp_path):
    assert read(tmp_path, "Oxygen\toxgen\nall right\talright\n") == [("oxygen", "oxgen"), ("all right", "alright")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_windows_files(tmp_path, encoding):
    assert read(tmp_path, "$Caf\u00e9\r\ncaffe 1\r\n\r\n", encoding) == [("café", "caffe")]


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ("", None, "holds no data"),
        ("$word\n", None, "holds no misspellings"),
        ("right wrong\n", 1, "a tab and its misspelling"),
        ("right\twrong\nright\t\n", 2, "a tab and its misspelling"),
        ("right\twrong\tmore\n", 1, "a tab and its misspelling"),
        ("$right\nwrong\n$\nwrong\n", 3, "missing behind \\$"),
    ],
)
def test_bad_files_are_named_with_their_line(tmp_path, content, line, says):
    with pytest.raises(FormatError, match=says) as caught:
        read(tmp_path, content)
    assert caught.value.line == line


def test_the_sets_are_found_in_the_data_folder(tmp_path):
    (tmp_path / "misspellings").mkdir()
    (tmp_path / "misspellings" / "missp.dat").write_text("$word\nwrod\n")
    found = misspellings("birkbeck", tmp_path)
    assert (found.name, found.wrong) == ("Birkbeck", ["wrod"])
    with pytest.raises(LovevecError, match=r"aspell\.dat is not there.*Aspell"):
        misspellings("aspell", tmp_path)
    with pytest.raises(LovevecError, match="nowhere: no such file"):
        misspellings("nowhere", tmp_path)
