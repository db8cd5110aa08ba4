"""Disks that fail, memory that ends, processes that are killed: what was there is not lost, what is half-done is not
taken for whole. The programs are attacks/faults.py and attacks/kills.py; here a share of what they do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from lovevec import LOVE, Attached, LovevecError
from lovevec.files import atomic_write
from lovevec.model.folder import read_card, read_model, write_model
from tests.factories import random_parts, toy_words
from tests.model.test_known_rows import parts_with_rows

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
        ("7", "embed,encode,correct,fill,export,index,search", 13),
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


CALLS = ("replace", "rename", "unlink", "rmdir", "mkdir", "fsync")  # that change what a folder holds, or settle it


def killed_before_each_call(run: Callable[[], object]) -> Iterator[None]:
    """Do `run` in one process after another, which dies before its first, second, … call to the system."""
    is_killed, moment = True, 0
    while is_killed:
        if (child := os.fork()) == 0:
            left = moment

            def counted(call: Callable[..., object], *arguments: object, **options: object) -> object:
                nonlocal left
                left -= 1
                if left < 0:
                    os._exit(9)
                return call(*arguments, **options)

            for name in CALLS:
                setattr(os, name, partial(counted, getattr(os, name)))
            code = 1
            try:
                run()
                code = 0
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 9)
        is_killed, moment = code == 9, moment + 1
        yield


@LINUX
def test_a_model_that_is_killed_while_it_takes_its_place_is_the_old_one_or_the_new_one_whole(tmp_path):
    """Each call to the system is the last thing that happens: the folder holds the old model or the new one."""
    old, new = parts_with_rows(seed=1), random_parts(head=5)
    folder, seen = tmp_path / "m", []
    write_model(folder, old, "the old card", "int8")
    (folder / "mine.txt").write_text("mine")
    usual = sorted(path.name for path in folder.iterdir())
    for _ in killed_before_each_call(lambda: write_model(folder, new, "the new card", "int8")):
        found = read_model(folder)
        assert found.spec in (old.spec, new.spec)
        assert (found.rows is None) == (found.spec == new.spec)
        assert read_card(folder) == ("the new card" if found.spec == new.spec else "the old card")
        seen.append(found.spec == new.spec)
        write_model(folder, old, "the old card", "int8")
        assert read_model(folder).spec == old.spec
        assert sorted(os.listdir(folder)) == usual
        assert (folder / "mine.txt").read_text() == "mine"
    assert seen == sorted(seen), "once it is new, it stays so"
    assert len(seen) > 15
    assert {seen[0], seen[-1]} == {False, True}


@LINUX
def test_a_first_model_is_there_whole_or_not_at_all(tmp_path):
    folder, seen = tmp_path / "m", []
    for _ in killed_before_each_call(lambda: write_model(folder, random_parts(), "card", "int8")):
        try:
            LOVE.load(folder)
            seen.append(True)
        except LovevecError as error:
            assert "no such model folder" in str(error) or "holds no model" in str(error)  # noqa: PT017
            seen.append(False)
        shutil.rmtree(folder, ignore_errors=True)
    assert seen == sorted(seen)
    assert {seen[0], seen[-1]} == {False, True}


@LINUX
def test_an_attached_table_that_is_killed_while_it_takes_its_place_is_whole(tmp_path):
    loves = [LOVE(random_parts(dim=dim), spelling_only=True) for dim in (24, 20)]
    old, new = (Attached(love, {word: love[word] for word in love.words[:50]}) for love in loves)
    old.save(tmp_path / "t")
    seen = []
    for _ in killed_before_each_call(lambda: new.save(tmp_path / "t")):
        found = Attached.load(tmp_path / "t")
        assert found.dim == found.model.dim
        np.testing.assert_array_equal(found["blorf"], (old if found.dim == 24 else new)["blorf"])
        seen.append(found.dim == 20)
        old.save(tmp_path / "t")
        assert Attached.load(tmp_path / "t").dim == 24
    assert seen == sorted(seen)
    assert {seen[0], seen[-1]} == {False, True}


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
