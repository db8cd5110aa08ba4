"""Disks that fail, memory that ends, processes that are killed: what was there is not lost, what is half-done is not
taken for whole. The programs are attacks/faults.py and attacks/kills.py; here a share of what they do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from lovevec import LOVE, LovevecError
from lovevec.files import atomic_write
from lovevec.model.folder import read_model, write_model
from tests.factories import random_parts, toy_words

pytest.importorskip("attacks", reason="the attacks lie in the repository alone")
ROOT = Path(__file__).parents[1]
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
GCC = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc, to build a disk that fails")
SETTINGS = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}


def program(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"attacks.{name}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=SETTINGS, timeout=550)


@LINUX
@GCC
@pytest.mark.parametrize(
    ("share", "commands", "count"),
    [
        ("7", "embed,encode,correct,fill,export", 10),
        pytest.param("5", "prepare,train,explain", 3, marks=pytest.mark.slow),
    ],
)
def test_a_disk_that_fails_at_any_call_loses_nothing_and_is_one_line(share, commands, count):
    done = program("faults", "--share", share, "--commands", commands)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} commands: 0 findings" in done.stdout


@LINUX
@GCC
def test_the_failing_disk_is_seen_to_fail(tmp_path):
    """A writer that ignores errors, and one that writes in place, would be found."""
    from attacks.faults import build

    library = build(tmp_path)
    assert library is not None
    script = """
import ctypes, os, sys
place = sys.argv[1]
shim = ctypes.CDLL(None)
def tried(at):
    shim.fault_arm(place.encode(), ctypes.c_long(at), ctypes.c_long(1), ctypes.c_int(28))
    try:
        with open(place + "/x", "wb") as file:
            file.write(b"new")
            file.flush()
            os.fsync(file.fileno())
        os.rename(place + "/x", place + "/y")
        return "written"
    except OSError as error:
        return error.errno
print([tried(at) for at in range(6)], shim.fault_calls())
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        env=SETTINGS | {"LD_PRELOAD": str(library)},
    )
    assert done.stdout == "['written', 28, 28, 28, 28, 'written'] 4\n", done.stderr


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("command", ["embed", "export"])
def test_kill_9_at_random_moments(command):
    done = program("kills", "--moments", "3", "--commands", command)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith(f"| {command}")]
    assert len(rows) == 2
    assert all(row.endswith("| 0 |") for row in rows)


@pytest.mark.parametrize("moment", range(6))
def test_a_model_that_is_killed_while_it_takes_its_place_is_none_and_never_a_mixture(tmp_path, moment, monkeypatch):
    """Each rename is the last thing that happens: the folder holds the old model, the new one, or says it has none."""
    old, new = random_parts(), random_parts(head=5)
    write_model(tmp_path / "old", old, "card", "int8")
    write_model(tmp_path / "new", new, "card", "int8")
    write_model(tmp_path / "m", old, "card", "int8")
    count, replace = 0, os.replace

    class Killed(BaseException):
        pass

    def stops(source: str, goal: str) -> None:
        nonlocal count
        if count == moment:
            raise Killed
        count += 1
        replace(source, goal)

    monkeypatch.setattr(os, "replace", stops)
    with suppress(Killed):
        write_model(tmp_path / "m", new, "card", "int8")
    monkeypatch.undo()
    try:
        found = read_model(tmp_path / "m")
    except LovevecError as error:
        assert "holds no model" in str(error)  # noqa: PT017
    else:
        assert found.spec in (old.spec, new.spec)
        which = "old" if found.spec == old.spec else "new"
        for name in ("model.safetensors", "tokenizer.json", "words.json"):
            assert (tmp_path / "m" / name).read_bytes() == (tmp_path / which / name).read_bytes()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_one_error_that_names_it(tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    with pytest.raises(PermissionError) as error, atomic_write(tmp_path / "locked" / "x"):
        pass
    assert error.value.filename == str(tmp_path / "locked" / "x")


@LINUX
@pytest.mark.parametrize(
    "arguments",
    [["embed", "-i", "t.txt", "-o", "out.npy"], ["encode", "-i", "t.txt", "-o", "out.npy"]],
    ids=["embed", "encode"],
)
def test_memory_that_ends_is_one_line_and_leaves_the_old_output(tmp_path, arguments):
    """The limit is what the program has in use once it is loaded, and a little: the work itself finds no room."""
    (tmp_path / "t.txt").write_text("\n".join(toy_words(3_000)))
    (tmp_path / "out.npy").write_bytes(b"old")
    script = """
import resource, sys
from lovevec.love import LOVE
import lovevec.cli.embed, lovevec.cli.encode, lovevec.vectors.write.numpy
from lovevec.cli import main
warm = LOVE.load()  # stays, so that the work finds none of its memory free again
warm.embed(["warm"])
with open("/proc/self/status") as file:
    used = int(file.read().split("VmSize:")[1].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + (8 << 20), used + (8 << 20)))
sys.exit(main(sys.argv[1:]))
"""
    settings = SETTINGS | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, cwd=tmp_path, env=settings
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "memory" in done.stderr.strip().splitlines()[-1]
    assert (tmp_path / "out.npy").read_bytes() == b"old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.npy", "t.txt"]


@LINUX
def test_vectors_that_memory_has_no_room_for_are_one_error(tmp_path):
    """400 MB of vectors, most of them a hole in the file, and 100 MB of memory."""
    table = np.lib.format.open_memmap(tmp_path / "v.npy", "w+", np.float32, (2_000, 50_000))
    table[:, 0] = 1
    table.flush()
    (tmp_path / "v.words").write_text("\n".join(toy_words(2_000)))
    script = """
import resource, sys
from lovevec.errors import LovevecError
from lovevec.vectors import read_vectors
import lovevec.vectors.read.numpy, lovevec.vectors.read.text, lovevec.vectors.read.word2vec_bin
with open("/proc/self/status") as file:
    used = int(file.read().split("VmSize:")[1].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20), used + (100 << 20)))
try:
    read_vectors(sys.argv[1])
except LovevecError as error:
    print(error)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "v.npy")]
    done = subprocess.run(command, capture_output=True, text=True, env=SETTINGS, check=True)
    assert done.stdout.startswith(f"{tmp_path / 'v.npy'}: ")
    assert "memory" in done.stdout


def test_the_shipped_model_is_not_written_to():
    """Loading and asking leave the folder as it is: no caches, no locks."""
    from lovevec.model.shipped import shipped

    folder = shipped()["default"]
    before = {file.name: (file.stat().st_mtime_ns, file.stat().st_size) for file in folder.iterdir()}
    LOVE.load().neighbors("brea")
    assert {file.name: (file.stat().st_mtime_ns, file.stat().st_size) for file in folder.iterdir()} == before
