"""What the package must survive, tried on the models that it ships, in Python and on the command line."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from lovevec import LOVE, LovevecError
from lovevec.cli import main
from lovevec.model.folder import write_model
from lovevec.model.shipped import shipped
from lovevec.model.validation import checksums
from lovevec.vectors import read_vectors
from tests.command_line import ENVIRONMENT, command, run_here, run_process, small_files
from tests.factories import at_once, random_parts, toy_vectors, toy_words

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
FILES = ("config.json", "model.safetensors", "tokenizer.json", "words.json", "rows.safetensors")
FILES += ("lexicon.safetensors", "forms.json", "context.safetensors")
NASTY = [
    *("", " ", "\t", "\n", "\r\n", " \u3000\u2028", "a\nb", "\0", "nul\0inside", "🙂", "👩\u200d👩\u200d👧", "🏳️"),
    *("e\u0301", "\u0301", "a" + "\u0300" * 500, "\ud800", "\udfff\ud800", "caf\udce9", "שלום", "\u202eevil", "مرحبا"),
    *(
        "x" * 1_000_000,
        "🙂" * 1_000_000,
        "İ" * 300,
        "ß",
        "ﬁ",
        "\uffff",
        "\U0010ffff",
        "[CLS]",
        "##ing",
        "<be>",
        "known",
    ),
]


def next_line(process: subprocess.Popen[bytes]) -> bytes:
    """The next line that it writes, within 20 seconds."""
    if not select.select([process.stdout], [], [], 20)[0]:
        process.kill()
        return b""
    return process.stdout.readline()


@pytest.fixture(scope="module")
def love(shipped_love) -> LOVE:
    return shipped_love


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """A model that loads at once, where only streams matter."""
    folder = tmp_path_factory.mktemp("small") / "m"
    write_model(folder, random_parts(ngrams=20), "card", "int8")
    return folder


@pytest.fixture
def copy(tmp_path) -> Path:
    """The default model, to be damaged."""
    return Path(shutil.copytree(shipped()["default"], tmp_path / "copy"))


@pytest.fixture(scope="module")
def own_vectors(love, tmp_path_factory) -> Path:
    """A vector file of known words, in the model's own space, at lengths of its own."""
    path = tmp_path_factory.mktemp("own") / "mine.npz"
    words = list(love.words[:1_500])
    np.savez(path, words=np.array(words), vectors=love.embed(words) * np.linspace(2, 5, len(words))[:, None])
    return path


# Any string


@pytest.mark.parametrize("name", ["default", "minilm-input"])
def test_any_string_has_a_finite_vector_of_length_1_in_both_engines(name):
    alone = LOVE.load(name)
    vectors = alone.embed(NASTY)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    order = np.random.default_rng(0).permutation(len(NASTY))
    assert np.array_equal(alone.embed([NASTY[place] for place in order]), vectors[order])
    for word, vector in zip(NASTY, vectors, strict=True):
        assert np.array_equal(alone[word], vector)
    np.testing.assert_allclose(LOVE.load(name, engine="numpy").embed(NASTY), vectors, atol=1e-6)


def test_any_string_can_be_asked_about(love):
    words = [word for word in NASTY if len(word) < 1_000] + ["x" * 1_000_000]
    for word, near, sure in zip(words, love.neighbors(words, k=3), love.confidence(words), strict=True):
        empty = not word.strip()
        assert len(near) == (0 if empty else 3)
        assert 0 <= sure <= 1
        assert not (empty and sure)
        found = love.explain(word, 3)
        known = love.readings(word) == "known"  # itself, or what a string holds: nul\0 holds nul
        assert (found.empty, found.known, found.neighbors) == (empty, known, tuple(near))
        assert known or word not in love
        assert sum(unit.share for unit in found.units) + found.head == pytest.approx(1, abs=1e-6)
        assert json.loads(json.dumps(found.as_dict()))["word"] == word
        lines = str(found).split("\n")
        assert all(line.isprintable() for line in lines)
        assert len(lines) <= 45


def test_any_line_goes_through_every_command(small):
    lines = [
        b"\xef\xbb\xbfoxgen",
        b"",
        b" ",
        b"nul\0",
        b"\xff\xfe",
        "e\u0301".encode(),
        "שלום".encode(),
        b"x" * 1_000_000,
    ]
    text = b"\r\n".join(lines)
    done = run_here("neighbors", "-m", small, input=text)
    assert (done.returncode, done.stderr) == (0, b"")
    out = done.stdout.split(b"\n")[:-1]
    shown = [line.replace(b"\0", b"\\x00") for line in lines]  # what a terminal might act on is spelled out
    assert [line.split(b"\t")[0] for line in out] == [shown[0][3:], *shown[1:]]
    states = [line.split(b"\t")[1] for line in out[:4]]
    assert states[1:3] == [b"empty", b"empty"]
    assert {states[0], states[3]} <= {b"near", b"new"}
    done = run_here("explain", "-m", small, "--json", input=text)
    assert (done.returncode, done.stderr) == (0, b"")
    words = [json.loads(line)["word"].encode("utf-8", "surrogateescape") for line in done.stdout.splitlines()]
    assert words == [lines[0][3:], *lines[1:]]
    done = run_here("similar", "-m", small, input=b"\r\n".join(line + b"\tword" for line in lines))
    assert (done.returncode, done.stderr) == (0, b"")
    assert [line.split(b"\t")[2] == b"nan" for line in done.stdout.split(b"\n")[:3]] == [False, True, True]


def test_any_text_fills(own_vectors, tmp_path, love):
    text = (
        b'\xef\xbb\xbfOxgen, "archiitect"\r\n\r\n\xff\xfe \0nul ' + "🙂 שלום e\u0301\u2028".encode() + b"x" * 1_000_000
    )
    (tmp_path / "text").write_bytes(text)
    assert (
        main(["fill", str(own_vectors), "--words", str(tmp_path / "text"), "-o", str(tmp_path / "o.jsonl"), "-q"]) == 0
    )
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text("utf-8").split("\n")[:-1]]
    added = [row["word"] for row in rows if not row["known"]]
    assert added == ["oxgen", "archiitect", "\udcff\udcfe", "\0nul", "🙂", "שלום", "e\u0301", "x" * 1_000_000]
    imputed = np.array([row["vector"] for row in rows[-len(added) :]])
    direction = imputed / np.linalg.norm(imputed, axis=1, keepdims=True)
    alone = [love.readings([word])[0] in ("new", "empty") and love.near(word) == [] for word in added]
    assert sum(alone) >= 3
    np.testing.assert_allclose(direction[alone], love.impute(added)[alone], atol=1e-5)


def test_a_million_empty_lines(love, small, tmp_path):
    rows = 0
    for batch in love.embed(iter([""] * 1_000_000)):
        assert (batch[[0, -1]] == love[""]).all()
        rows += len(batch)
    assert rows == 1_000_000
    (tmp_path / "w").write_bytes(b"\r\n" * 1_000_000)
    done = run_here("embed", "-m", small, "-i", tmp_path / "w", "--format", "npy", "-o", os.devnull)
    assert done.returncode == 0
    assert b"empty lines: 1,000,000;" in done.stderr


# Streams


@LINUX
@pytest.mark.parametrize(
    ("run", "given"),
    [
        (run_here, ("neighbors", "x")),
        (run_here, ("similar", "a", "b")),
        (run_here, ("explain", "x")),
        (run_process, ("info",)),  # one is enough to see an interpreter end, which writes what is left
    ],
)
def test_a_full_standard_output_is_one_error(run, given, small):
    with open("/dev/full", "wb") as full:
        done = run(*given, "-m", small, stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"lovevec: standard output: cannot be written: No space left on device\n"


def test_a_closed_standard_output_is_one_error(small):
    done = run_process("neighbors", "x", "-m", small, stdout=None, preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (2, b"lovevec: standard output: is closed\n")


@pytest.mark.parametrize(
    ("run", "given"),
    [
        (run_here, ("neighbors",)),
        (run_here, ("similar",)),
        (run_process, ("explain",)),
        (run_here, ("info",)),
        (run_process, ("info",)),  # all that it writes fits into the buffers
    ],
)
def test_a_closed_pipe_ends_every_command_quietly(run, given, small):
    reading, writing = os.pipe()
    os.close(reading)
    line = b"one\ttwo\n" if given == ("similar",) else b"one\n"
    done = run(*given, "-m", small, input=line * 500, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("given", [("neighbors",), ("similar",), ("explain", "--json")], ids=str)
def test_answers_come_at_once_and_ctrl_c_is_one_line(given, small):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command(*given, "-m", small), env=ENVIRONMENT, **pipes) as partner:
        for word in (b"one", b"two"):
            partner.stdin.write(word + (b"\tother\n" if given == ("similar",) else b"\n"))
            partner.stdin.flush()
            assert word in next_line(partner)
        partner.send_signal(signal.SIGINT)
        assert partner.wait(20) == 130
        assert partner.stderr.read() == b"lovevec: stopped\n"


def test_the_first_of_many_neighbors_need_not_wait_for_all(tmp_path):
    (tmp_path / "w").write_text("word\n" * 20_000)
    code = "from lovevec.cli.neighbors import word_batches; print(*map(len, word_batches([])))"
    with open(tmp_path / "w", "rb") as words:
        done = subprocess.run([sys.executable, "-c", code], stdin=words, capture_output=True, text=True, check=True)
    sizes = [int(size) for size in done.stdout.split()]
    assert sum(sizes) == 20_000
    assert max(sizes) <= 256


@pytest.mark.parametrize("encoding", ["cp1252"])
def test_output_is_utf_8_whatever_the_terminal_speaks(encoding, small):
    done = run_here("explain", "-m", small, "東京", b"caf\xe9", encoding=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "'東京': new" in done.stdout.decode()
    spoken = {**ENVIRONMENT, "PYTHONIOENCODING": encoding}
    done = run_process("neighbors", "-m", small, "東京", b"caf\xe9", env=spoken)
    assert done.stdout.split(b"\t")[0].decode() == "東京"
    assert done.stdout.split(b"\n")[1].split(b"\t")[0] == b"caf\xe9"


def test_without_a_standard_error_the_work_is_done_all_the_same(small, tmp_path, own_vectors):
    def closed() -> None:
        os.close(2)

    done = run_process("embed", "-m", small, "", "oxgen", "-o", tmp_path / "v.npy", stderr=None, preexec_fn=closed)
    assert done.returncode == 0
    assert np.load(tmp_path / "v.npy").shape[0] == 2
    done = run_process(
        *("fill", own_vectors, "--words", "-", "-o", tmp_path / "f.npz"), input=b"oxgen", stderr=None, preexec_fn=closed
    )
    assert done.returncode == 0
    assert read_vectors(tmp_path / "f.npz").words[-1] == "oxgen"


def test_a_pipe_that_does_not_wait_loses_nothing(small):
    """Other programs may leave standard input non-blocking: nothing there yet is not the end."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    pipes = {"stdin": reading, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command("embed", "-m", small, "--format", "jsonl"), env=ENVIRONMENT, **pipes) as process:
        for word in (b"first", b"second"):
            os.write(writing, word + b"\n")
            assert json.loads(next_line(process))["word"] == word.decode()
            time.sleep(0.3)  # so that it finds nothing there
        os.close(writing)
        assert process.wait(20) == 0
    os.close(reading)


def test_a_tab_or_line_end_inside_a_word_makes_no_column_and_no_line(small, capsys):
    assert main(["neighbors", "-m", str(small), "a\tb\nc", "-k", "1"]) == 0
    assert main(["similar", "-m", str(small), "a\tb", "a\r\nb"]) == 0
    near, pair = capsys.readouterr().out.split("\n")[:-1]
    assert near.split("\t")[0] == r"a\tb\nc"
    assert near.count("\t") == 2
    assert pair.split("\t")[:2] == [r"a\tb", r"a\r\nb"]
    assert pair.count("\t") == 4


# Disks


@LINUX
def test_a_full_disk_leaves_nothing_half_written(own_vectors, tmp_path, copy):
    out = tmp_path / "out"
    out.mkdir()
    fill = ("fill", own_vectors, "--words", "-", "-q", "-o", out / "v.npy")
    for each in (fill, ("export", copy, "-o", out)):
        with small_files():
            done = run_here(*each, input=b"oxgen")
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1
        assert b"File too large" in done.stderr
        assert list(out.iterdir()) == []


def test_fill_says_what_cannot_be_written_before_the_work(own_vectors, tmp_path, capsys):
    (tmp_path / "none.txt").write_bytes(b"")
    assert (
        main(["fill", str(own_vectors), "--words", str(tmp_path / "none.txt"), "-o", str(tmp_path / "no" / "v.vec")])
        == 2
    )
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"lovevec: {tmp_path / 'no' / 'v.vec'}: cannot be written: there is no folder {tmp_path / 'no'}\n"


# Threads


def test_16_threads_at_once_agree_to_the_bit(love):
    words = [word for word in NASTY if len(word) < 1_000]
    words += [*love.words[:50], *(word[1:] + word for word in love.words[:50])]
    expected = love.embed(words), love.neighbors(words[-4:]), love.confidence(words), str(love.explain("bec0me"))
    fresh = LOVE.load()

    def work() -> tuple:
        return fresh.embed(words), fresh.neighbors(words[-4:]), fresh.confidence(words), str(fresh.explain("bec0me"))

    for vectors, near, sure, explained in at_once(work):
        assert np.array_equal(vectors, expected[0])
        assert near == expected[1]
        assert np.array_equal(sure, expected[2])
        assert explained == expected[3]


# Folders


def test_the_shipped_models_cut_or_flipped_at_200_places_are_one_named_error_each(copy):
    rng = np.random.default_rng(0)
    whole = {name: (copy / name).read_bytes() for name in FILES}
    for number in range(200):
        name = FILES[number % len(FILES)]
        place = int(rng.integers(len(whole[name]) - 1))  # the last byte may be a newline
        with open(copy / name, "r+b") as file:
            if number % 3:
                file.seek(place)
                file.write(bytes([whole[name][place] ^ 1 << int(rng.integers(8))]))
            else:
                file.truncate(place)
        start = time.process_time()
        with pytest.raises(LovevecError) as error:
            LOVE.load(copy)
        assert time.process_time() - start < 1  # of the processor, so that a busy machine does not matter
        assert str(copy / name) in str(error.value)
        (copy / name).write_bytes(whole[name])
    assert LOVE.load(copy)["oxgen"].any()


@pytest.mark.parametrize(
    "change",
    [
        {"encoder": {"dim": 10**30}},
        {"encoder": {"key_width": -1}},
        {"encoder": {"kind": "../../../evil"}},
        {"units": {"ngrams": 2**31}},
        {"sizes": {"out": [10**18, 10**18]}},
        {"sha256": {"model.safetensors": "../../etc/passwd"}},
        {"sha256": {"../copy/model.safetensors": "0" * 64, "model.safetensors": None}},
    ],
    ids=str,
)
@pytest.mark.parametrize("forged", [False, True], ids=["damaged", "forged"])
def test_absurd_configs_are_one_line_for_every_command(copy, change, forged, capsys):
    config = json.loads((copy / "config.json").read_text("utf-8"))
    config |= {name: {**config[name], **value} for name, value in change.items()}
    if forged:
        config["checksum"] = checksums(config)["checksum"]
    (copy / "config.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(LovevecError, match=str(copy)):
        LOVE.load(copy)
    for given in (["embed", "x"], ["neighbors", "x"], ["similar", "x", "y"], ["explain", "x"], ["info"]):
        assert main([*given, "-m", str(copy)]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"lovevec: {copy}")
        assert err.count("\n") == 1


def test_saving_over_the_folder_it_came_from_changes_nothing(copy, love):
    before = {name: (copy / name).read_bytes() for name in FILES[1:]}
    metadata = json.loads((copy / "config.json").read_text("utf-8"))
    LOVE.load(copy).save(copy)
    assert main(["export", str(copy), "-o", str(copy), "--overwrite"]) == 0
    assert {name: (copy / name).read_bytes() for name in FILES[1:]} == before
    assert json.loads((copy / "config.json").read_text("utf-8")) == metadata
    assert np.array_equal(LOVE.load(copy).embed(NASTY), love.embed(NASTY))
    assert sorted(file.name for file in copy.iterdir()) == sorted([*FILES, "README.md"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "a model is named by its folder"),
        (3, "a model is named by its folder"),
        ("x" * 5_000, "xxx…xxx"),
        ("a\0b", "no such model folder"),
        ("../../etc/passwd", "no such model folder"),
        (os.devnull, "no such model folder"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_names_that_name_no_model(name, message):
    with pytest.raises(LovevecError, match=message) as error:
        LOVE.load(name)
    assert len(str(error.value)) < 400


def test_info_says_what_its_scores_are_of(capsys):
    assert main(["info"]) == 0
    scores = [line for line in capsys.readouterr().out.splitlines() if line.startswith("score")]
    metadata = LOVE.load().metadata["scores"]
    assert f"score        mean: {metadata['mean']}" in scores
    said = f"{metadata['misspellings']:,.0f} real misspellings: right word nearest {metadata['top1']}%"
    assert any(said in line for line in scores)
    assert not any("top1" in line for line in scores)


def test_what_ships_is_as_small_as_promised():
    sizes = [sum(file.stat().st_size for file in folder.iterdir()) for folder in shipped().values()]
    assert len(sizes) == 2
    assert max(sizes) <= 34e6


@pytest.mark.parametrize("scale", ["4.2", 1e-310, True, [4.2], 1e300])
def test_a_position_scale_that_makes_no_sense_is_refused(tmp_path, scale):
    """With the checksum made right again, so that only the number itself can tell."""
    shutil.copytree(shipped()["default"], tmp_path / "m")
    path = tmp_path / "m" / "config.json"
    config = json.loads(path.read_text("utf-8"))
    config["encoder"]["position_scale"] = scale
    config |= checksums(config)
    path.write_text(json.dumps(config), "utf-8")
    with pytest.raises(LovevecError, match=r"config\.json: `encoder` makes no sense"):
        LOVE.load(tmp_path / "m")


def test_help_survives_a_reader_that_is_gone_and_a_full_disk():
    for shell, code in (("--help | true; exit ${PIPESTATUS[0]}", {0, 141}), ("--help > /dev/full", {2})):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m lovevec.cli {shell}"],
            capture_output=True,
            text=True,
            env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
        )
        assert done.returncode in code
        assert "Exception ignored" not in done.stderr
        assert "Traceback" not in done.stderr


def test_an_error_without_a_place_to_tell_it_is_still_an_exit_code(tmp_path):
    command = f"{sys.executable} -m lovevec.cli export {tmp_path / 'nope'} -o {tmp_path / 'x'} 2>&-"
    assert subprocess.run(["bash", "-c", command]).returncode == 2


def test_a_model_says_what_it_is():
    assert "300 dimensions" in repr(LOVE.load())
    with pytest.raises(LovevecError, match=r"k is 2\.5"):
        LOVE.load().neighbors("x", k=2.5)  # type: ignore[call-overload]


@LINUX
@pytest.mark.parametrize(
    "arguments",
    [
        ["train", "t.npz", "-o", "out", "--epochs", "1", "--device", "cpu", "-q"],
        ["prepare", "t.npz", "-o", "out"],
        ["encode", "-i", "t.txt", "-o", "out.npy"],
        ["embed", "-i", "t.txt", "-o", "out.npz"],
        ["export", "default", "-o", "out"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_full_disk_is_one_line_with_the_path_and_leaves_nothing_that_passes_for_whole(tmp_path, arguments):
    """Files that may not grow beyond 20 KB stand for the disk: each write path meets an OSError."""
    words = toy_words(300)
    np.savez(
        tmp_path / "t.npz",
        words=np.frombuffer("\n".join(words).encode(), np.uint8),
        vectors=toy_vectors(words, 8).astype(np.float32),
    )
    (tmp_path / "t.txt").write_text("\n".join(words))
    with small_files():
        done = run_here(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert b"Traceback" not in done.stderr
    assert b"out" in last
    assert not (tmp_path / "out" / "config.json").exists()
    assert not list(tmp_path.glob("out.*"))
