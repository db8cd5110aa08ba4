"""Lines of text, whatever wrote them."""

from __future__ import annotations

import pytest

from lovevec.errors import FormatError
from lovevec.files import lines as files
from lovevec.files.lines import BOM, split_lines, whole_lines


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (BOM, []),
        (b"\n", [b""]),
        (BOM + b"one\r\ntwo\r\n", [b"one", b"two"]),
        (b"one\n" + BOM + b"two", [b"one", BOM + b"two"]),
        (b"a\r", [b"a"]),
        (BOM + b"one\r\rtwo", [b"one", b"", b"two"]),
        (b"a\rb\r\r\n\n", [b"a\rb\r", b""]),
        ("a\u2028b\x0bc\x85\0".encode(), ["a\u2028b\x0bc\x85\0".encode()]),
    ],
)
def test_lines_end_at_line_feeds_alone_where_there_are_any(content, lines):
    assert split_lines(content) == lines


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("marks", [(), (b"\n",), (b"\n", b" ")])
def test_blocks_are_cut_after_a_mark_and_nothing_is_lost(size, marks):
    content = b"one two\nthree\n\n four"
    blocks = [content[low : low + size] for low in range(0, len(content), size)]
    cut = list(whole_lines(blocks, "x", *marks))
    assert b"".join(cut) == content + b"\n"
    assert all(block.endswith(marks or b"\n") for block in cut)


def test_a_stream_without_line_ends_is_refused(monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    with pytest.raises(FormatError, match="x: a line of more than 1 MB"):
        list(whole_lines(iter(lambda: bytes(1 << 18), b""), "x"))
