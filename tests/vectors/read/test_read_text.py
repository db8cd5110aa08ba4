"""Text files: every layout people write, and every rule about odd rows."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import example, given
from hypothesis import strategies as st

from lovevec.errors import FormatError, LovevecError
from lovevec.vectors import Oddity, read_vectors

ROWS = "cat 0.5 -1.25 3\ndog 0.25 1e-05 -2.5\nbird 1 2 3\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("text")


def read(folder, text, **options):
    path = folder / "v.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_vectors(path, **options)


def notes(table):
    return {what.name: (note.count, note.first) for what, note in table.report.notes.items()}


@pytest.mark.parametrize("header", ["", "3 3\n", "3\t3 \n"])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace("\n", " \n"),
        lambda text: text.replace("\n", "  \t\n"),
        lambda text: text.replace(" ", "\t"),
        lambda text: re.sub(r"^([a-z]+) ", r"\1\t", text, flags=re.M),
        lambda text: text.replace(" ", "   "),
        lambda text: text.rstrip("\n"),
        lambda text: "\ufeff" + text,
    ],
    ids=[
        "plain",
        "windows",
        "old Mac",
        "space at end",
        "more at end",
        "tabs",
        "tab after word",
        "wide",
        "no last newline",
        "bom",
    ],
)
def test_every_layout_gives_the_same_table(folder, header, change):
    table = read(folder, change(header + ROWS))
    assert table.words == ["cat", "dog", "bird"]
    expected = np.array([[0.5, -1.25, 3], [0.25, 1e-05, -2.5], [1, 2, 3]], np.float32)
    assert table.vectors.dtype == np.float32
    np.testing.assert_array_equal(table.vectors, expected)
    assert table.report.notes == {}
    assert table.report.format == ("word2vec text" if header else "GloVe text")
    assert (table.report.read, table.report.kept, table.report.dim) == (3, 3, 3)


@pytest.mark.parametrize("header", ["", "9000 40\r"])
def test_carriage_returns_alone_end_lines_in_a_long_file(folder, header):
    rows = [f"w{n} {' '.join(['0.25'] * 40)}" for n in range(9000)]  # more than is looked at to find out
    table = read(folder, header + "\r".join(rows))
    assert table.words == [f"w{n}" for n in range(9000)]
    assert (table.vectors == 0.25).all()
    assert table.report.notes == {}


def test_gensim_writes_what_we_read(folder):
    rng = np.random.default_rng(0)
    keyed = KeyedVectors(40)
    words = [f"wörd{n}" for n in range(700)] + ["東京", "it's", "1.5", "-", "a\u00a0b", "nan"]
    keyed.add_vectors(words, rng.normal(0, 0.1, (len(words), 40)).astype(np.float32))
    path = folder / "gensim.vec"
    keyed.save_word2vec_format(str(path), binary=False)
    table = read_vectors(path)
    assert table.words == keyed.index_to_key
    np.testing.assert_array_equal(table.vectors, keyed.vectors)
    assert table.report.format == "fastText .vec"


WORD = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n"), min_size=1, max_size=12)
NUMBER = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(st.data(), st.integers(2, 6), st.booleans())
@example(None, 2, True)
def test_any_words_come_back(folder, data, dim, header):
    if data is None:
        words, vectors = ["in 2009", "a\tb", "x\r", " lead", "plain"], np.ones((5, dim), np.float32)
    else:
        # A word cannot end in a space, which looks like the separator; a plain word shows the width.
        words = data.draw(st.lists(WORD.filter(lambda w: not w.isspace()), unique_by=lambda w: w.rstrip(" \t")))
        words = [stripped for word in words if (stripped := word.rstrip(" \t")).strip()]
        words = ["plain", *(word for word in words if word != "plain" and not word.startswith("\ufeff"))]
        rows = st.lists(NUMBER, min_size=dim, max_size=dim).filter(any)
        vectors = np.array([data.draw(rows) for _ in words], np.float32)
    text = "".join(f"{word} {' '.join(map(str, row.tolist()))}\n" for word, row in zip(words, vectors, strict=True))
    # Without a header the width is that of most lines; many words with numbers inside would mislead it.
    if not header and any(word.split()[-1:] != [word] for word in words):
        text += "".join(f"filler{n} {'1 ' * dim}\n" for n in range(2 * len(words)))
    head = f"{len(words)} {dim}\n" if header else ""
    table = read(folder, head + text)
    if header:  # it says how many numbers there are: one more is no part of the word
        kept = [not ends_in_number(word) for word in words]
        assert table.report.count(Oddity.TOO_LONG) == kept.count(False)
        words, vectors = [word for word, keep in zip(words, kept, strict=True) if keep], vectors[kept]
    assert table.words[: len(words)] == words
    np.testing.assert_array_equal(table.vectors[: len(words)], vectors)
    assert table.report.count(Oddity.SPACED) == sum(" " in word for word in words)


def ends_in_number(word: str) -> bool:
    """By another way than the reader's."""
    found = re.search(r"[ \t]([^ \t]+)\Z", word)
    if found is None or "_" in found[1] or found[1].encode().strip() != found[1].encode():
        return False
    try:
        return bool(np.isfinite(float(found[1].encode())))
    except ValueError:
        return False


@pytest.mark.parametrize("space", [" ", "\t", "  "])
def test_a_row_longer_than_the_header_says_is_dropped_and_counted(folder, space):
    rows = f"a 1 2 3\nb{space}1 2 3 4\nNew York 1 1 1\nc 0 1 2\nto nan 1 1 1\n"
    table = read(folder, "5 3\n" + rows)
    assert table.words == ["a", "New York", "c", "to nan"]
    assert notes(table)["TOO_LONG"] == (1, [3])
    assert "1 rows with more numbers than the header promised: dropped (first: line 3)" in table.report.lines()
    assert (table.report.read, table.report.kept) == (5, 4)
    assert read(folder, rows).words[1] == f"b{space}1"  # without a header it may be a word
    with pytest.raises(FormatError, match=r"no usable rows: .*1 rows with more numbers"):
        read(folder, "2 2\nb 1 2 3\nz 0 0\n")


def test_blank_lines_behind_rows_that_were_not_promised(folder):
    table = read(folder, "1 2\na 1 2\nb 1 2\n" + " \n" * 300_000)
    assert table.words == ["a", "b"]


def test_numbers_too_large_are_dropped_without_a_warning(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read(folder, "a 1 2\nb 1e39 1\nc\t1e39\t1\nd e 1e999 1\n")
    assert notes(table) == {"NOT_FINITE": (3, [2, 3, 4])}


def test_words_with_spaces_are_kept_and_counted(folder):
    table = read(folder, "a 1 2\nNew York 3 4\n. . . 5 6\nin 2009 7 8\nb 9 10\n")
    assert table.words == ["a", "New York", ". . .", "in 2009", "b"]
    np.testing.assert_array_equal(table.vectors.sum(axis=1), [3, 7, 11, 15, 19])
    assert notes(table) == {"SPACED": (3, [2, 3, 4])}


def test_rows_that_cannot_be_used_are_dropped_and_counted(folder):
    text = (
        b"7 2\na 1 2\na 3 4\n\xff\xfe 1 2\n 1 2\nz 0 0\nz -0.0 0.000\nn 1 nan\nn inf 1\nn 1e39 1\n"
        b"\nb 1e-30 0\nz 5 6\nb 1 1\nlast 2 2\n"
    )
    table = read(folder, text)
    assert table.words == ["a", "b", "z", "last"], "a word whose first row was dropped may come back later"
    assert table.vectors.tolist()[0] == [1, 2]
    assert notes(table) == {
        "REPEATED": (2, [3, 14]),
        "NOT_UTF8": (1, [4]),
        "EMPTY": (1, [5]),
        "ZERO": (2, [6, 7]),
        "NOT_FINITE": (3, [8, 9, 10]),
        "BLANK": (1, [11]),
        "EXTRA": (6, [9]),
    }
    lines = table.report.lines()
    assert lines[0] == "4 words × 2 kept of 13 rows read (word2vec text)"
    assert "2 repeated words: the first row kept, the others dropped (first: line 3, 14)" in lines
    assert table.report.as_dict()["notes"]["zero"] == {"count": 2, "first": [6, 7]}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a 1 2\nb 3\nc 1 2\n", 2, "a word and 2 numbers expected, found 1"),
        ("a 1 2\nb 3 x\nc 1 2\n", 2, "'x'"),
        ("a 1 2\nb  2\nc 1 2\n", 2, "found 1"),
        ("a 1 2\nb 1 1_0\nc 1 2\n", 2, "'1_0'"),
        ("a 1 2\nb 3 4\nc 1", 3, "found 1"),
        ("a 1 2\nb 3 4\nc 1 -", 3, "'-'"),
        ("a 1,5 2\nb 3 4\nc 1 2\n", 1, "'1,5'"),
        ("2 3\na 1 2\nb 3 4\n", 1, "promises 3 numbers a row, but the rows hold 2"),
        ("2 1\na 1 2\nb 3 4\n", 1, "promises 1 numbers a row, but the rows hold 2"),
        ("2 999999999999\na 1 2\nb 3 4\n", 1, "rows hold 2"),
        ("5 2\na 1 2\nb 3 4\n", 3, "ends here after 2 rows, its header promises 5; limit=2 takes"),
        ("0 2\n", 1, "no rows"),
        ("5 2\n", 1, "no rows"),
    ],
)
def test_wrong_files_are_refused_with_their_line(folder, text, line, says):
    with pytest.raises(FormatError) as caught:
        read(folder, text)
    assert caught.value.line == line
    assert says in str(caught.value)
    assert f"v.txt:{line}: " in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("\n\n", "Read are: word2vec"),
        ("hello world\n", "Read are: word2vec"),
        ("%PDF-1.7\n%\xe2\xe3\n1 0 obj", "Read are: word2vec"),
        (b"\x00\x01\x02" * 50, "Read are: word2vec"),
        (b"\x80\x04\x95rest of a pickle", "pickle"),
        ("a 0 0\nb nan 1\n", "no usable rows: 1 rows with NaN or Inf"),
    ],
)
def test_files_without_vectors_say_so(folder, text, says):
    with pytest.raises(FormatError, match=says):
        read(folder, text)


def test_limit_takes_the_first_usable_rows_and_looks_no_further(folder):
    table = read(folder, "9 2\na 1 2\nz 0 0\na 3 4\nb 5 6\nbroken", limit=2)
    assert table.words == ["a", "b"]
    assert (table.report.read, table.report.kept) == (4, 2)
    assert set(notes(table)) == {"ZERO", "REPEATED"}
    with pytest.raises(FormatError, match=r"v\.txt:6"):
        read(folder, "9 2\na 1 2\nz 0 0\na 3 4\nb 5 6\nbroken", limit=3)
    with pytest.raises(LovevecError, match="at least 1"):
        read(folder, ROWS, limit=0)


def test_line_numbers_are_right_beyond_the_first_chunk(folder):
    rows = [f"w{n} {' '.join(['0.12345'] * 50)}" for n in range(3000)]
    rows[2500] = "w2500 1 2 3"
    with pytest.raises(FormatError) as caught:
        read(folder, "3000 50\n" + "\n".join(rows) + "\n")
    assert caught.value.line == 2502
    rows[2500] = "two words " + rows[2499].partition(" ")[2]
    rows[2700] = rows[2600]
    table = read(folder, "\n".join(rows) + "\n")
    assert notes(table) == {"SPACED": (1, [2501]), "REPEATED": (1, [2701])}
    assert len(table) == 2999
    assert table.vectors.shape == (2999, 50)
    assert (table.vectors == np.float32(0.12345)).all()


def test_a_very_long_word_is_a_word(folder):
    long = "x" * 1_000_000
    table = read(folder, f"3 2\na 1 2\n{long} 3 4\nb 5 6\n")
    assert table.words == ["a", long, "b"]


def test_a_line_without_end_is_refused(folder):
    with pytest.raises(FormatError, match="a line of more than 64 MB"):
        read(folder, b"a 1 2\nb " + b"x" * (65 << 20))


def test_words_belong_to_array_files_only(folder):
    with pytest.raises(LovevecError, match="this file has its own"):
        read(folder, ROWS, words=folder / "list.txt")


def test_progress_counts_rows(folder, capsys):
    from lovevec.progress import Progress

    read(folder, ROWS, progress=Progress())
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "reading" in shown.err
    assert "3 rows" in shown.err
