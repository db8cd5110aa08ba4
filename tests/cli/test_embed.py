"""`lovevec embed` as people run it: streams, formats, nasty input, and every way to be stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.command_line import command, small_files
from tests.factories import toy_words

from lovevec import LOVE
from lovevec.vectors import read_vectors

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
NASTY = [b"", b" ", b"\t", b"two words", b"nul\0", b"caf\xe9", b"\xff\xfe", "🙂".encode(), "e\u0301".encode(), b"a\rb"]
NASTY += ["\u2028x".encode(), "שלום".encode(), b"x" * 1_000_000, b"known"]


@pytest.fixture(scope="module")
def love(tiny_model) -> LOVE:
    return LOVE.load(tiny_model)


def rows_of(content: bytes, dim: int = 16) -> tuple[list[bytes], np.ndarray]:
    """The words and numbers of text rows, read in the plainest way."""
    words, numbers = [], []
    for line in content.split(b"\n")[:-1]:
        word, *fields = line.rsplit(b" ", dim)
        words.append(word)
        numbers.append([float(field) for field in fields])
    return words, np.array(numbers, np.float32).reshape(-1, dim)


def test_words_of_the_command_line(program, love, tiny_model):
    done = program("embed", "-m", tiny_model, "oxgen", b"caf\xe9", "")
    assert done.returncode == 0, done.stderr
    head, rest = done.stdout.split(b"\n", 1)
    assert head == b"3 16"
    words, vectors = rows_of(rest)
    assert words == [b"oxgen", b"caf\xe9", b""]
    np.testing.assert_allclose(vectors, love.embed(["oxgen", "caf\udce9", ""]), atol=1e-6)


@pytest.mark.parametrize("kind", ["vec", "npy", "npz", "parquet", "jsonl"])
@pytest.mark.parametrize("piped", [False, True], ids=["file", "pipe"])
def test_every_format_from_files_and_pipes(program, love, tiny_model, tmp_path, kind, piped):
    words = [*toy_words(40, seed=3), "größe", "東京"]
    source, out = tmp_path / "words.txt", tmp_path / f"out.{kind}"
    source.write_text("\n".join(words), "utf-8")
    given = {"input": source.read_bytes()} if piped else {}
    done = program("embed", "-m", tiny_model, *(() if piped else ("-i", source)), "-o", out, **given)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    expected = love.embed(words)
    if kind == "parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(out)
        found, vectors = table["word"].to_pylist(), np.array(table["vector"].to_pylist())
    elif kind == "jsonl":
        rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
        found, vectors = [row["word"] for row in rows], np.array([row["vector"] for row in rows])
        assert [row["known"] for row in rows] == [word in love for word in words]
    else:
        beside = tmp_path / "out.words.txt" if kind == "npy" else None
        table = read_vectors(out, words=beside)
        found, vectors = table.words, table.vectors
    assert found == words
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert (b"out.words.txt" in done.stderr) == (kind == "npy")


def test_gensim_reads_what_is_redirected(program, tiny_model, tmp_path):
    keyed = pytest.importorskip("gensim.models").KeyedVectors
    words = toy_words(50, seed=4)
    with open(tmp_path / "v.vec", "wb") as out:
        assert program("embed", "-m", tiny_model, input="\n".join(words).encode(), stdout=out).returncode == 0
    table = keyed.load_word2vec_format(str(tmp_path / "v.vec"))
    assert table.index_to_key == words
    through = program("embed", "-m", tiny_model, input="\n".join(words).encode()).stdout
    (tmp_path / "bare.vec").write_bytes(through)
    bare = keyed.load_word2vec_format(str(tmp_path / "bare.vec"), no_header=True)
    assert bare.index_to_key == words
    np.testing.assert_array_equal(bare.vectors, table.vectors)
    assert read_vectors(tmp_path / "bare.vec").words == words


def test_appending_does_not_touch_what_is_there(program, tiny_model, tmp_path):
    (tmp_path / "v.vec").write_bytes(b"mine\n")
    with open(tmp_path / "v.vec", "ab") as out:
        assert program("embed", "-m", tiny_model, input=b"one\ntwo\n", stdout=out).returncode == 0
    lines = (tmp_path / "v.vec").read_bytes().split(b"\n")
    assert [line.split(b" ")[0] for line in lines] == [b"mine", b"one", b"two", b""]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_row_i_is_line_i_whatever_the_line_holds(program, love, tiny_model, end, mark):
    done = program("embed", "-m", tiny_model, input=mark + end.join(NASTY))
    assert done.returncode == 0, done.stderr
    words, vectors = rows_of(done.stdout)
    assert words == NASTY
    expected = love.embed([word.decode("utf-8", "surrogateescape") for word in NASTY])
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    notes = done.stderr.decode().splitlines()
    assert notes[0].startswith("lovevec: empty lines: 1;")
    assert notes[1].startswith("lovevec: words with white space inside: 5;")
    assert len(notes) == 2
    assert program("embed", "-q", "-m", tiny_model, input=mark + end.join(NASTY)).stderr == b""


def test_a_million_empty_lines(program, love, tiny_model, tmp_path):
    done = program("embed", "-m", tiny_model, "-o", tmp_path / "v.npy", input=b"\n" * 1_000_000)
    assert done.returncode == 0, done.stderr
    assert b"empty lines: 1,000,000;" in done.stderr
    rows = np.load(tmp_path / "v.npy", mmap_mode="r")
    assert rows.shape == (1_000_000, 16)
    assert (rows == rows[0]).all()
    np.testing.assert_allclose(rows[0], love[""], atol=1e-6)


def test_a_word_has_the_same_bits_in_every_batch(program, tiny_model, tmp_path):
    """Across batches, with and without repeats, in the last short one: 40,000 words in batches of 16,384."""
    fresh = toy_words(20_000, seed=5)
    words = [*fresh, *(["again"] * 12_000), *fresh[:8_000]]
    (tmp_path / "w").write_text("\n".join(words))
    assert program("embed", "-m", tiny_model, "-i", tmp_path / "w", "-o", tmp_path / "v.npy").returncode == 0
    rows = np.load(tmp_path / "v.npy")
    np.testing.assert_array_equal(rows[:8_000], rows[32_000:])
    assert (rows[20_000:32_000] == rows[20_000]).all()


def test_npy_can_go_through_a_pipe_when_the_words_are_counted(program, love, tiny_model, tmp_path):
    (tmp_path / "w").write_text("one\ntwo\n")
    done = program("embed", "-m", tiny_model, "-i", tmp_path / "w", "--format", "npy", "--precision", "float16")
    (tmp_path / "got.npy").write_bytes(done.stdout)
    np.testing.assert_allclose(np.load(tmp_path / "got.npy"), love.embed(["one", "two"]), atol=1e-3)
    done = program("embed", "-m", tiny_model, "--format", "npy", input=b"one\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"use -o FILE" in done.stderr


def test_npz_and_parquet_can_go_through_a_pipe(program, love, tiny_model, tmp_path):
    for kind in ("npz", "parquet"):
        done = program("embed", "-m", tiny_model, "--format", kind, input=b"one\ntwo\n")
        assert done.returncode == 0, done.stderr
        (tmp_path / f"v.{kind}").write_bytes(done.stdout)
    table = read_vectors(tmp_path / "v.npz")
    assert table.words == ["one", "two"]
    np.testing.assert_allclose(table.vectors, love.embed(["one", "two"]), atol=1e-6)
    table = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / "v.parquet")
    assert table["word"].to_pylist() == ["one", "two"]


def test_a_partner_program_gets_each_answer_at_once(tiny_model):
    jsonl = command("embed", "-m", tiny_model, "--format", "jsonl")
    with subprocess.Popen(jsonl, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as partner:
        for word in ("first", "second"):
            partner.stdin.write(f"{word}\n".encode())
            partner.stdin.flush()
            assert json.loads(partner.stdout.readline())["word"] == word
        partner.stdin.close()
        assert partner.wait(20) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-i", "none.txt"), "none.txt: no such file"),
        (("-i", "words.txt", "word"), "name one of the two"),
        (("-i", "words.txt", "-o", "words.txt"), "words.txt: is the input too"),
        (("-i", "words.txt", "-o", "link.vec"), "link.vec: is the input too"),
        (("-i", "v.words.txt", "-o", "v.npy"), "v.words.txt: is the input too"),
        (("word", "-o", "v.pkl"), "v.pkl: its name does not say the format"),
        (("word", "-o", "no/v.vec"), "no/v.vec: cannot be written: No such file or directory"),
        (("word", "--precision", "float16"), "float16 is for npy, npz, safetensors and parquet"),
        (("a\nb",), "holds a line end"),
    ],
)
def test_mistakes_are_one_line_and_change_nothing(program, tiny_model, tmp_path, arguments, message):
    (tmp_path / "words.txt").write_text("one\ntwo\n")
    (tmp_path / "v.words.txt").write_text("one\ntwo\n")
    (tmp_path / "link.vec").symlink_to("words.txt")
    done = program("embed", "-m", tiny_model, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
    assert {file.name for file in tmp_path.iterdir()} == {"words.txt", "v.words.txt", "link.vec"}
    assert (tmp_path / "words.txt").read_text() == "one\ntwo\n"


def test_the_same_file_through_the_shell_is_refused(program, tiny_model, tmp_path):
    (tmp_path / "w").write_text("one\ntwo\n")
    with open(tmp_path / "w", "rb") as source, open(tmp_path / "w", "ab") as out:
        done = program("embed", "-m", tiny_model, stdin=source, stdout=out)
    assert done.returncode == 2
    assert b"standard output: is the input too" in done.stderr
    assert (tmp_path / "w").read_text() == "one\ntwo\n"


def test_a_closed_pipe_ends_it_quietly(tiny_model, tmp_path):
    (tmp_path / "w").write_text("\n".join(toy_words(20_000)))
    embed = command("embed", "-m", tiny_model, "-i", tmp_path / "w")
    with subprocess.Popen(embed, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"20000 16\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 141


@LINUX
@pytest.mark.parametrize("kind", ["vec", "npy", "npz", "parquet", "jsonl"])
def test_a_full_disk_is_one_error_and_leaves_nothing(program, tiny_model, tmp_path, kind):
    (tmp_path / "w").write_text("\n".join(toy_words(4_000)))
    (tmp_path / f"v.{kind}").write_text("old")
    with small_files():
        done = program("embed", "-m", tiny_model, "-i", "w", "-o", f"v.{kind}", cwd=tmp_path)
    assert done.returncode == 2
    name = "v.words.txt" if kind == "npy" else f"v.{kind}"  # the words are flushed last, so fail first
    assert done.stderr.decode() == f"lovevec: {name}: cannot be written: File too large\n"
    assert {file.name for file in tmp_path.iterdir()} == {"w", f"v.{kind}"}
    assert (tmp_path / f"v.{kind}").read_text() == "old"


@LINUX
@pytest.mark.parametrize("words", [1, 4_000])
@pytest.mark.parametrize("kind", ["vec", "npz", "parquet", "jsonl"])
def test_a_full_standard_output_is_one_error(program, tiny_model, words, kind):
    text = "\n".join(toy_words(words)).encode()
    with open("/dev/full", "wb") as full:
        done = program("embed", "-q", "-m", tiny_model, "--format", kind, input=text, stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"lovevec: standard output: cannot be written: No space left on device\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_half_way_nothing_is_left(tiny_model, tmp_path, number, code):
    out = tmp_path / "out"
    out.mkdir()
    embed = command("embed", "-m", tiny_model, "-o", out / "v.npy")
    with subprocess.Popen(embed, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"word\n" * 1_000)
        process.stdin.flush()
        for _ in range(400):
            if list(out.iterdir()):
                break
            time.sleep(0.05)
        assert list(out.iterdir())
        process.send_signal(number)
        assert process.wait(60) == code
        assert b"Traceback" not in process.stderr.read()
    assert not list(out.iterdir())


MEMORY = """
import sys
from lovevec.cli import main
assert main(sys.argv[1:]) == 0
with open("/proc/self/status") as file:
    print(file.read().split("VmHWM:")[1].split()[0])
"""


@LINUX
@pytest.mark.parametrize("kind", ["npy", "vec"])
def test_memory_does_not_grow_with_the_input(tiny_model, tmp_path, kind):
    peaks = []
    for times in (6, 30):
        (tmp_path / "w").write_bytes("".join(f"{word}\n" for word in toy_words(200)).encode() * 100 * times)
        given = ["embed", "-q", "-m", str(tiny_model), "-i", str(tmp_path / "w"), "-o", str(tmp_path / f"v.{kind}")]
        done = subprocess.run([sys.executable, "-c", MEMORY, *given], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] < peaks[0] + 16_000  # KB; the numbers alone are 30 MB more, and a busy machine adds some


def test_help_teaches(program):
    shown = program("embed", "--help").stdout.decode()
    assert shown.count("\n  lovevec embed") == 3
    whole = program("--help").stdout.decode()
    for name in (
        "embed",
        "neighbors",
        "similar",
        "explain",
        "fill",
        "info",
        "evaluate",
        "reproduce",
        "train",
        "prepare",
    ):
        assert f"\n  lovevec {name}" in whole


def test_one_word_loads_nothing_that_it_does_not_need(tiny_model):
    code = (
        f"import sys; from lovevec.cli import main; assert main(['embed', '-m', {str(tiny_model)!r}, 'word']) == 0;"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"torch", "pyarrow", "tokenizers", "rapidfuzz", "gensim"}


def test_a_missing_extra_is_one_line(program, tiny_model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = program("embed", "-m", tiny_model, "word", "-o", tmp_path / "v.parquet")
    assert (done.returncode, done.stderr) == (2, b"lovevec: this needs pyarrow: pip install 'lovevec[parquet]'\n")
    assert not list(tmp_path.iterdir())


@LINUX
def test_a_terminal_is_not_waited_for_and_gets_no_binary(program, tiny_model):
    ours, theirs = os.openpty()
    done = program("embed", "-m", tiny_model, stdin=theirs)
    assert done.returncode == 2
    assert b"no words: name some" in done.stderr
    done = program("embed", "-m", tiny_model, "word", "--format", "npy", stdout=theirs)
    assert done.returncode == 2
    assert b"npy is not for a terminal" in done.stderr
    os.close(ours)
    os.close(theirs)


def test_progress_is_shown_for_what_takes_long(tiny_model, monkeypatch, capsys, tmp_path):
    from lovevec.cli import main, shell

    (tmp_path / "w").write_text("\n".join(toy_words(200)))
    given = ["embed", "-m", str(tiny_model), "-i", str(tmp_path / "w"), "-o", str(tmp_path / "v.vec")]
    assert main(given) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(shell, "SECONDS_BEFORE_PROGRESS", 0.0)
    assert main(given) == 0
    assert "200 words" in capsys.readouterr().err
    assert main([*given, "-q"]) == 0
    assert capsys.readouterr().err == ""
    assert Path(tmp_path / "v.vec").is_file()
