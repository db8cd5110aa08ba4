"""Words from streams: lines in, the same bytes out, whatever they hold and however they arrive."""

from __future__ import annotations

import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lovevec.errors import FormatError, LovevecError
from lovevec.files import lines as files
from lovevec.files.lines import split_lines
from lovevec.vectors.read.words import count_list, count_text, open_words, split_words

BOM = b"\xef\xbb\xbf"


def words_of(path, most=3, **options) -> list[str]:
    with open_words(path, **options) as stream:
        count = stream.count()
        batches = list(stream.batches(most))
        assert all(0 < len(batch) <= most for batch in batches)
        words = [word for batch in batches for word in batch]
        assert count == len(words)
        return words


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", []),
        (BOM, []),
        (b"\n", [""]),
        (b"\r\n", [""]),
        (b"one", ["one"]),
        (b"one\ntwo\n", ["one", "two"]),
        (BOM + b"one\r\ntwo\r\n", ["one", "two"]),
        (b"one\n" + BOM + b"two", ["one", "\ufefftwo"]),
        (b"a\n\n\nb\n\n", ["a", "", "", "b", ""]),
        (b"a\rb\n", ["a\rb"]),
        (b"a\r", ["a"]),
        (BOM + b"one\rtwo\r\rthree", ["one", "two", "", "three"]),
        (b"a\n\r", ["a", ""]),
        (b"a\r\r\n", ["a\r"]),
        ("a\u2028b\x0bc\x0cd\x85\x1ce\n".encode(), ["a\u2028b\x0bc\x0cd\x85\x1ce"]),
        (b"nul\0\0x\n", ["nul\0\0x"]),
        (b"caf\xe9\n\xff\xfe\n", ["caf\udce9", "\udcff\udcfe"]),
        (b" two words \t\n", [" two words \t"]),
        (b"\xed\xa0\x80\n", ["\udced\udca0\udc80"]),
    ],
)
def test_lines(tmp_path, content, words):
    (tmp_path / "w").write_bytes(content)
    assert words_of(tmp_path / "w") == words


@settings(deadline=None)
@given(st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b"\xc3", b"\xa4", BOM, b"\0", b"long" * 9]), max_size=40))
def test_blocks_of_any_size_give_the_same_lines(tmp_path_factory, parts):
    content = b"".join(parts)
    path = tmp_path_factory.mktemp("w") / "w"
    path.write_bytes(content)
    body = content.removeprefix(BOM)
    if b"\n" not in body:
        body = body.replace(b"\r", b"\n")
    lines = body.replace(b"\r\n", b"\n").split(b"\n")
    expected = (
        lines[:-1] if not lines[-1] and not body.endswith(b"\r") else [*lines[:-1], lines[-1].removesuffix(b"\r")]
    )
    for block in (1, 2, 3, 7, 1 << 20):
        assert [word.encode("utf-8", "surrogateescape") for word in words_of(path, block=block)] == expected
    assert split_lines(content) == expected
    if b"\xc3" not in body and b"\xa4" not in body:
        assert split_words(content) == [word.decode() for word in expected]


def test_a_word_of_a_megabyte_and_a_million_empty_lines(tmp_path):
    (tmp_path / "w").write_bytes(b"x" * (1 << 20) + b"\n" * 1_000_001)
    words = words_of(tmp_path / "w", 100_000)
    assert words[0] == "x" * (1 << 20)
    assert words[1:] == [""] * 1_000_000


def test_words_of_a_pipe_are_there_as_soon_as_they_come(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    seen = threading.Event()

    def feed():
        with open(tmp_path / "pipe", "wb", buffering=0) as pipe:
            pipe.write(BOM[:2])
            pipe.write(BOM[2:] + b"first\nsec")
            assert seen.wait(20)
            pipe.write(b"ond\n")

    thread = threading.Thread(target=feed)
    thread.start()
    with open_words(tmp_path / "pipe") as stream:
        assert stream.count() is None
        batches = stream.batches()
        assert next(batches) == ["first"]
        seen.set()
        assert list(batches) == [["second"]]
    thread.join()


def test_a_file_without_lines_is_refused_before_memory_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    (tmp_path / "w").write_bytes(bytes(3 << 20))
    with pytest.raises(FormatError, match="a line of more than 1 MB"):
        words_of(tmp_path / "w")


@pytest.mark.parametrize(("name", "says"), [("none", "no such file"), (".", "a folder"), ("nul\0", "cannot be opened")])
def test_what_cannot_be_opened(tmp_path, name, says):
    with pytest.raises(LovevecError, match=says), open_words(tmp_path / name):
        pass


def test_words_of_running_text(tmp_path):
    text = (
        "“The U.S. (leukamia), leukamia!” — said C++'s don't… #tag\u00a0x\ny-z ... Apple 'apple' \u3002東京\u3002 the"
    )
    (tmp_path / "t").write_text(text, "utf-8")
    with open_words(tmp_path / "t") as stream:
        counts = count_text(stream, {"u.s.", "the"}, lowercase=True)
    assert counts == {
        "the": 2,
        "u.s.": 1,
        "leukamia": 2,
        "said": 1,
        "c++'s": 1,
        "don't": 1,
        "tag": 1,
        "x": 1,
        "y-z": 1,
        "apple": 2,
        "東京": 1,
    }
    with open_words(tmp_path / "t") as stream:
        counts = count_text(stream, set(), lowercase=False)
    assert (counts["The"], counts["the"], counts["Apple"], counts["U.S"]) == (1, 1, 1, 1)


@pytest.mark.parametrize("block", [1, 5, 1 << 20])
def test_text_is_never_cut_inside_a_word(tmp_path, block):
    (tmp_path / "t").write_bytes("größe größe\ngröße\tgröße größe".encode())
    with open_words(tmp_path / "t", block) as stream:
        assert count_text(stream, set(), lowercase=False) == {"größe": 5}


def test_words_of_a_list_are_as_they_are(tmp_path):
    (tmp_path / "t").write_text("New York\n\n  \nC++!\nnew york\n", "utf-8")
    with open_words(tmp_path / "t") as stream:
        assert count_list(stream, lowercase=False) == {"New York": 1, "C++!": 1, "new york": 1}
    with open_words(tmp_path / "t") as stream:
        assert count_list(stream, lowercase=True) == {"new york": 2, "c++!": 1}
