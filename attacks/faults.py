"""Disks that fail: every command that writes, with ENOSPC, EIO or EROFS at each call to the system that changes files.

    python -m attacks.faults [--share 1] [--commands embed,train]

A small library (faults.c, built with gcc) stands before the C library and lets the n-th call fail, and all after it
(the disk is full, or gone), or that one alone. For each n: the exit code is 2, one line of stderr names the path, and
what was there before is there still, byte for byte, or the new output is there whole. A model folder that is written
over has one moment more: while its files take their places it says that it holds no model.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

HERE = Path(__file__).resolve().parent
ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS)  # full, broken, read-only
FOREVER = 1 << 40
# Each is run in a folder with t.npz (vectors), t.txt (words) and `model`; `out` is what it writes.
COMMANDS = {
    "embed vec": "embed -i t.txt -m model -o out/v.vec",
    "embed npy": "embed -i t.txt -m model -o out/v.npy",
    "embed npz": "embed -i t.txt -m model -o out/v.npz",
    "embed parquet": "embed -i t.txt -m model -o out/v.parquet",
    "embed jsonl": "embed -i t.txt -m model -o out/v.jsonl",
    "encode": "encode -i t.txt -m model -o out/v.npy",
    "correct": "correct -i t.txt -m model -o out/t.txt",
    "fill": "fill t.npz --words t.txt -m model -o out/v.vec",
    "index": "index t.txt -m model -o out/i",
    "index over": "index t.txt -m model -o out --overwrite",
    "search": "search index -i t.txt -m model -k 1 -o out/t.tsv",
    "export": "export model -o out/m --rows int8",
    "export over": "export model -o out --overwrite --rows int8",
    "explain": "explain -m model brea --plot out/p.png",
    "prepare": "prepare t.npz -o out/p --negatives 2",
    "train": "train t.npz -o out/m --epochs 1 --device cpu --negatives 2 --vocabulary-size 200 --key-width 4",
}


class Outcome(NamedTuple):
    """Of one run: exit code, stderr, and how many calls changed files."""

    code: int
    said: str
    calls: int


def build(folder: Path) -> Path | None:
    """The library, or None where there is no gcc (or it is not Linux)."""
    if shutil.which("gcc") is None or not sys.platform.startswith("linux"):
        return None
    library = folder / "faults.so"
    source = str(HERE / "faults.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-w", "-o", str(library), source, "-ldl"], check=True)
    return library


def furnish(folder: Path) -> None:
    """What the commands read, and old outputs that must not be lost."""
    from tests.factories import toy_vectors, toy_words

    from attacks.good import models
    from lovevec import LOVE

    words = toy_words(150)
    joined = "\n".join(words).encode()
    np.savez(folder / "t.npz", words=np.frombuffer(joined, np.uint8), vectors=toy_vectors(words, 8))
    (folder / "t.txt").write_bytes(joined)
    sample = models()["model as trained"]
    (folder / "model").mkdir()
    sample.write(folder / "model")
    (folder / "out").mkdir()
    LOVE.load(folder / "model").index(words[:40]).save(folder / "index")


def old_outputs(name: str, out: Path) -> None:
    """The folder `out` as it is before each run: with an older output, where the command may replace it."""
    shutil.rmtree(out)
    out.mkdir()
    if name == "export over":
        shutil.copytree(out.parent / "model", out, dirs_exist_ok=True)
    elif name == "index over":
        shutil.copytree(out.parent / "index", out, dirs_exist_ok=True)
    elif not name.startswith(("export", "index", "prepare", "train")):
        target = out / COMMANDS[name].rpartition("/")[2]
        target.write_bytes(b"old")
        if target.suffix == ".npy":
            target.with_suffix(".words.txt").write_bytes(b"old words")


def contents(folder: Path) -> dict[str, bytes]:
    """All files below, but for those that long work keeps to go on."""
    from attacks.good import content_of

    return {name: content for name, content in content_of(folder).items() if ".unfinished" not in name}


def run_in_fork(run: Callable[[], int], said: Path) -> Outcome:
    """Run in a child of this process, in which all is imported; `said` is a file for its stderr."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        library, code = ctypes.CDLL(None), 70
        try:
            code = run()
        except BaseException as error:  # noqa: BLE001  it is what we look for
            sys.stderr.write(f"Traceback {type(error).__name__}: {error}")
        sys.stderr.flush()
        os.write(writing, str(library.fault_calls()).encode())
        os._exit(code)
    os.close(writing)
    with open(reading, "rb") as pipe:
        calls = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return Outcome(code, said.read_text("utf-8", "replace"), int(calls or 0))


def run_with_fault(folder: Path, command: str, at: int, count: int, number: int) -> Outcome:
    """One run of a command whose disk fails."""
    from lovevec.cli import main

    def run() -> int:
        os.chdir(folder)
        ctypes.CDLL(None).fault_arm(
            str(folder / "out").encode(), ctypes.c_long(at), ctypes.c_long(count), ctypes.c_int(number)
        )
        return main(command.split())

    return run_in_fork(run, folder / "stderr")


def findings(folder: Path, name: str, share: int) -> Iterator[tuple[int, str | None]]:
    """(number of the call, what was wrong) for each failure tried on a command."""
    out, command = folder / "out", COMMANDS[name]
    old_outputs(name, out)
    good = run_with_fault(folder, command, 0, 0, 0)
    if good.code != 0 or not good.calls:
        yield 0, f"without faults it ends with {good.code} after {good.calls} calls: {good.said[-300:]}"
        return
    new = contents(out)
    places = range(1, good.calls + 1)
    for at in [*places[::share]]:
        for turn, (number, count) in enumerate((number, count) for number in ERRORS for count in (FOREVER, 1)):
            if share > 1 and turn != at // share % (2 * len(ERRORS)):
                continue
            old_outputs(name, out)
            before = contents(out)
            yield at, _wrong(run_with_fault(folder, command, at, count, number), before, out, new)


def _wrong(done: Outcome, before: dict[str, bytes], out: Path, new: dict[str, bytes]) -> str | None:
    after = contents(out)
    if "Traceback" in done.said:
        return f"a traceback: {done.said[-300:]}"
    if done.code == 0:  # a call that may fail, as that of a progress line
        return None if after.keys() == new.keys() else f"ends well with {sorted(after)}"
    lines = done.said.strip().splitlines()
    if done.code != 2 or not lines or str(out.name) not in lines[-1]:
        return f"exit code {done.code}, last line {lines[-1:]}"
    lost = [file for file in before if after.get(file) not in (before[file], new.get(file, b""))]
    if any("config.json" in file for file in before):  # a model or an index, written over
        from lovevec import LOVE, LovevecError
        from lovevec.search import Index

        what = "index" if any("texts.safetensors" in file for file in before) else "model"
        try:
            Index.load(out, LOVE.load(out.parent / "model")) if what == "index" else LOVE.load(out)
        except LovevecError as error:
            return None if f"holds no {what}" in str(error) else f"half of one: {error}"
        return None
    whole = {file for file in new if file in after and after[file] != before.get(file)}
    half = [file for file in whole if _is_half(file, after[file], new[file])]
    return f"lost {lost}" if lost else f"half {half}" if half else None


def _is_half(file: str, content: bytes, whole: bytes) -> bool:
    """Whether a file is less than what a run without faults writes. A config.json has times in it, of as many digits as
    they take: it is whole if it is JSON."""
    if not file.endswith(".json"):
        return len(content) < len(whole)
    try:
        json.loads(content)
    except ValueError:
        return True
    return False


def main() -> int:
    """A line a finding, and a summary; starts itself again with the library before all others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=int, default=1, help="every so many-th call, one kind of failure each")
    parser.add_argument("--commands", default="", help="by commas (default: all)")
    options = parser.parse_args()
    if "faults.so" not in os.environ.get("LD_PRELOAD", ""):
        with tempfile.TemporaryDirectory() as folder:
            library = build(Path(folder))
            if library is None:
                print("no gcc: the failing disk cannot be built")
                return 3
            settings = os.environ | {"LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            settings["MPLBACKEND"] = "agg"
            return subprocess.run([sys.executable, "-m", "attacks.faults", *sys.argv[1:]], env=settings).returncode
    names = [name for name in COMMANDS if not options.commands or name.split()[0] in options.commands.split(",")]
    found = tried = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(os.path.realpath(place))
        furnish(folder)
        import lovevec.cli.embed
        import lovevec.love

        if any(name == "train" for name in names):
            import torch

            import lovevec.train.run  # noqa: F401

            torch.set_num_threads(1)
        for name in names:
            for at, wrong in findings(folder, name, options.share):
                tried += 1
                if wrong:
                    found += 1
                    print(f"{name}, call {at}: {wrong}", flush=True)
    print(f"{tried:,} failures of the disk in {len(names)} commands: {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
