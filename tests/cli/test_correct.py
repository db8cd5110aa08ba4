"""`lovevec correct`: texts in, the same texts without their misspellings out."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.cli.test_embed import MEMORY
from tests.command_line import command, small_files

from lovevec import LOVE
from lovevec.explain import edit_facts
from lovevec.texts.correct import THRESHOLD

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
# What is read alike with a sentence and without.
TEXTS = ["The goverment recieves it", "tommorow!", "", "a house by the river", "alot of wonderfull architecure, 500mg"]
CORRECT = ["The government receives it", "tomorrow!", "", "a house by the river"]
CORRECT += ["a lot of wonderful architecture, 500mg"]


def corrected(love: LOVE, texts: list[str], **limits: object) -> list[str]:
    return [one.text for one in love.correct(texts, **limits)]


def test_texts_on_the_command_line(program, shipped_love):
    done = program("correct", *TEXTS)
    assert (done.returncode, done.stderr) == (0, b"lovevec: texts: 5; words corrected: 6\n")
    assert done.stdout.decode().split("\n") == [*CORRECT, ""]
    assert corrected(shipped_love, TEXTS) == CORRECT
    done = program("correct", "-q", *TEXTS)
    assert done.stderr == b""


@pytest.mark.parametrize("way", ["file", "stream", "output"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_come_out_as_they_went_in(program, tmp_path, way, end):
    """Their ends, a mark of UTF-8, bytes that are no UTF-8; and the end that the last one lacks."""
    content = b"\xef\xbb\xbf" + end.join([*TEXTS, "caf\udce9 of the goverment"]).encode("utf-8", "surrogateescape")
    expected = b"\xef\xbb\xbf" + end.join([*CORRECT, "caf\udce9 of the government"]).encode("utf-8", "surrogateescape")
    (tmp_path / "t.txt").write_bytes(content)
    if way == "stream":
        done = program("correct", input=content)
    else:
        done = program("correct", "-i", "t.txt", *(["-o", "out.txt"] if way == "output" else []), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"lovevec: texts: 6; words corrected: 7\n")
    assert (done.stdout or (tmp_path / "out.txt").read_bytes()) == expected


def test_json_has_the_edits(program, shipped_love, tmp_path):
    def check(lines: list[bytes], texts: list[str]) -> None:
        for line, correction in zip(lines, shipped_love.correct(texts), strict=True):
            found = json.loads(line)
            assert list(found) == ["text", "edits"]
            assert found["text"] == correction.text
            for edit, expected in zip(found["edits"], map(edit_facts, correction.edits), strict=True):
                assert list(edit) == list(expected)
                assert edit["probability"] == pytest.approx(expected["probability"], abs=1e-4)
                assert [one["word"] for one in edit["suggestions"]] == [one["word"] for one in expected["suggestions"]]

    texts = [*TEXTS, 'caf\udce9 "goverment" 👍 tommorow']
    done = program("correct", "--json", *(os.fsencode(text) for text in texts))
    assert done.returncode == 0, done.stderr
    check(done.stdout.splitlines(), texts)
    (tmp_path / "t").write_bytes("\r\n".join(texts).encode("utf-8", "surrogateescape"))
    done = program("correct", "-q", "--json", "-i", tmp_path / "t", "-o", tmp_path / "t.jsonl")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    check((tmp_path / "t.jsonl").read_bytes().splitlines(), texts)


def test_a_column_of_a_table(program, tmp_path):
    """Quotes, line ends in fields, empty fields, blank lines, other columns and rows stay as they are."""
    rows = ['id,"note",n', '1,"The ""goverment""\r\nrecieves it",tommorow', "", '2,"",', "3,tommorow,=1+1"]
    content = b"\xef\xbb\xbf" + "\r\n".join(rows).encode()
    (tmp_path / "t.csv").write_bytes(content)
    done = program("correct", "-i", "t.csv", "--column", "note", "-o", "out.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"lovevec: texts: 4; words corrected: 3\n"
    rows[1], rows[4] = '1,"The ""government""\r\nreceives it",tommorow', "3,tomorrow,=1+1"
    expected = b"\xef\xbb\xbf" + "\r\n".join(rows).encode()
    assert (tmp_path / "out.csv").read_bytes() == expected
    assert program("correct", "-q", "-i", tmp_path / "t.csv", "--column", "note").stdout == expected


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "ndjson", "parquet"])
@pytest.mark.parametrize("suggest", [False, True], ids=["corrected", "suggested"])
def test_every_kind_of_table(program, shipped_love, tmp_path, kind, suggest):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, out = tmp_path / f"t.{kind}", tmp_path / f"out.{kind}"
    table = {"n": list(range(5)), "note": TEXTS, "m": ["goverment"] * 5}
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    if kind == "parquet":
        parquet.write_table(pyarrow.table(table), path)
    elif kind in ("csv", "tsv"):
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter="\t" if kind == "tsv" else ",").writerows([table, *map(dict.values, rows)])
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = program("correct", "-i", path, "--column", "note", *(["--suggest"] if suggest else []), "-o", out)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    assert done.stderr.decode() == f"lovevec: texts: 5; words {'to correct' if suggest else 'corrected'}: 6\n"
    if kind == "parquet":
        found = parquet.read_table(out).to_pylist()
    elif kind in ("csv", "tsv"):
        with out.open(newline="", encoding="utf-8") as file:
            found = list(csv.DictReader(file, delimiter="\t" if kind == "tsv" else ","))
        rows = [row | {"n": str(row["n"])} for row in rows]
    else:
        found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [list(row) for row in found] == [[*table, *(["note_suggestions"] if suggest else [])]] * 5
    if not suggest:
        assert found == [row | {"note": text} for row, text in zip(rows, CORRECT, strict=True)]
        return
    for row, other, correction in zip(found, rows, shipped_love.correct(TEXTS), strict=True):
        edits = row.pop("note_suggestions")
        edits = json.loads(edits) if isinstance(edits, str) else edits
        assert row == other
        assert [(edit["start"], edit["end"], edit["before"], edit["after"]) for edit in edits] == [
            edit[:4] for edit in correction.edits
        ]
        assert all(0 < edit["probability"] <= 1 for edit in edits)


def test_threshold_and_words_to_keep(program, shipped_love, tmp_path):
    (tmp_path / "keep.txt").write_text("GOVERMENT\n\n tommorow \n")
    text = "the goverment, Tommorow, a wonderfull grat film"
    done = program("correct", "-q", "--keep", tmp_path / "keep.txt", text)
    assert done.stdout.decode() == corrected(shipped_love, [text], keep=["goverment", "tommorow"])[0] + "\n"
    assert b"the goverment, Tommorow, a wonderful" in done.stdout
    for threshold in (0.01, 0.9999, 1):
        done = program("correct", "-q", "--threshold", threshold, text)
        assert done.stdout.decode() == corrected(shipped_love, [text], threshold=threshold)[0] + "\n"


def test_another_model(program, small_model):
    love = LOVE.load(small_model)
    texts = ["the hosue of an archiitect", "blorfingly"]
    done = program("correct", "-q", "-m", small_model, *texts)
    assert done.stdout.decode().splitlines() == corrected(love, texts)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("t.csv", "n,note\n1,a\n2\n", "t.csv: line 3: has 1 of 2 columns, not 'note'"),
        ("t.csv", 'n,note\n1,"a\n', "t.csv: line 2: is no line of a table"),
        ("t.csv", "n,name\n1,a\n", "t.csv: has no column 'note' but 'n', 'name'"),
        ("t.csv", "", "t.csv: has no column 'note' but none"),
        ("t.csv", "note,note_suggestions\na,b\n", "t.csv: has a column 'note_suggestions' already"),
        ("t.csv", "note\na,b\n", "t.csv: line 2: has 2 fields for 1 columns"),
        ("t.jsonl", '{"note": "a"}\n{"note": 5}\n', "t.jsonl: line 2: has no text under 'note'"),
        ("t.jsonl", '{"note": "a"\n', "t.jsonl: line 1: is no JSON"),
        ("t.parquet", "PAR1", "t.parquet: is no parquet file"),
        ("t.txt", "a\n", "--column is for files that end in .csv"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_written(program, tmp_path, name, content, says):
    pytest.importorskip("pyarrow")
    (tmp_path / name).write_text(content)
    out = f"out{name[1:]}"
    done = program("correct", "-i", name, "--column", "note", "--suggest", "-o", out, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-i", "there-is-none.txt"], "there-is-none.txt: "),
        (["-i", "there-is-none.csv", "--column", "a"], "there-is-none.csv: cannot be read"),
        (["-i", "t.csv"], "t.csv: has columns; name that of the texts with --column"),
        (["a", "-i", "t.txt"], "name one of the two"),
        (["a", "--column", "a"], "name one of the two"),
        (["--column", "a"], "--column is for files that end in .csv"),
        (["a", "--suggest"], "--suggest adds a column to a table"),
        (["-i", "t.csv", "--column", "a", "--json"], "--json is for plain texts"),
        (["-i", "t.csv", "--column", "a", "-o", "t.csv"], "t.csv: is the input too; write to another file"),
        (["-i", "t.csv", "--column", "a", "-o", "t.parquet"], "t.parquet: the output is csv, as the input is"),
        (["a", "-o", "t.jsonl"], "t.jsonl: the output is lines, as the input is"),
        (["a", "-o", "nowhere/t.txt"], "there is no folder nowhere"),
        (["a", "--threshold", "2"], "--threshold is 2.0: must be a number above 0, at most 1"),
        (["", "--threshold", "nan"], "--threshold is nan"),
        (["a", "--keep", "there-is-none"], "there-is-none: cannot be read"),
        (["a", "-m", "there-is-none"], "there-is-none"),
    ],
)
def test_mistakes_are_told_in_a_line(program, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a\n")
    done = program("correct", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert says in done.stderr.decode()
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_help_teaches(program):
    shown = program("correct", "--help").stdout.decode()
    assert shown.count("\n  lovevec correct") == 5
    assert f"(default {THRESHOLD})" in shown


def test_a_line_comes_out_before_the_next_goes_in():
    start = command("correct", "-q")
    with subprocess.Popen(start, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for line, expected in ((b"tommorow\n", b"tomorrow\n"), (b"a goverment\n", b"a government\n")):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == expected
        process.stdin.close()
        assert process.wait(60) == 0


def test_nothing_makes_a_terminal_act(program, small_model, tmp_path):
    """In a pipe all bytes are as they came; test_terminal.py has the words of models."""
    (tmp_path / "t").write_bytes(b"a \x1b[2J house\r\n")
    assert program("correct", "-q", "-m", small_model, "-i", tmp_path / "t").stdout == b"a \x1b[2J house\r\n"
    leader, follower = os.openpty()
    with open(leader, "rb", buffering=0) as screen, open(follower, "wb", buffering=0) as terminal:
        done = program("correct", "-q", "-m", small_model, "-i", tmp_path / "t", stdout=terminal)
        assert done.returncode == 0, done.stderr
        assert screen.read(100) == b"a \\x1b[2J house\r\n"  # the terminal's own \r


@LINUX
@pytest.mark.parametrize("kind", ["txt", "csv", "parquet"])
def test_a_full_disk_is_one_error_and_leaves_the_old_output(program, small_model, tmp_path, kind):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    lines = [f"the hosue {number}" for number in range(4000)]
    if kind == "parquet":
        parquet.write_table(pyarrow.table({"note": lines}), tmp_path / "t.parquet", compression="none")
    else:
        (tmp_path / f"t.{kind}").write_text("\n".join(["note", *lines]))
    (tmp_path / f"out.{kind}").write_text("old")
    given = ["-m", small_model, "-i", f"t.{kind}", "-o", f"out.{kind}", *(["--column", "note"] * (kind != "txt"))]
    with small_files():
        done = program("correct", "-q", *given, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.decode() == f"lovevec: out.{kind}: cannot be written: File too large\n"
    assert {path.name for path in tmp_path.iterdir()} == {f"t.{kind}", f"out.{kind}"}
    assert (tmp_path / f"out.{kind}").read_text() == "old"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_half_way_nothing_is_left(small_model, tmp_path, number, code):
    start = command("correct", "-m", small_model, "-o", tmp_path / "out.txt")
    with subprocess.Popen(start, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"the hosue\n" * 100)
        process.stdin.flush()
        for _ in range(400):
            if list(tmp_path.iterdir()):
                break
            time.sleep(0.05)
        assert list(tmp_path.iterdir())
        process.send_signal(number)
        assert process.wait(60) == code
        assert b"Traceback" not in process.stderr.read()
    assert not list(tmp_path.iterdir())


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["txt", "csv", "jsonl"])
def test_memory_does_not_grow_with_the_input(small_model, tmp_path, kind):
    peaks = []
    for times in (1, 6):
        lines = io.StringIO()
        for number in range(20_000 * times):
            text = f"{'of the house ' * 8}{number % 7}"
            lines.write({"txt": text, "csv": f"{number},{text}", "jsonl": json.dumps({"note": text})}[kind] + "\n")
        (tmp_path / f"t.{kind}").write_text(("n,note\n" if kind == "csv" else "") + lines.getvalue())
        given = ["correct", "-q", "-m", str(small_model), "-i", str(tmp_path / f"t.{kind}")]
        given += ["-o", str(tmp_path / f"out.{kind}"), *(["--column", "note"] if kind != "txt" else [])]
        done = subprocess.run([sys.executable, "-c", MEMORY, *given], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] < peaks[0] + 16_000  # KB
