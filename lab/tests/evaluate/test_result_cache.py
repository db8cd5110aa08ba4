"""A cache keeps what was computed, and only that, through crashes and damage; a result is found again by its key."""

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

from lovevec_lab.evaluate.result_cache import ResultCache, content_hash, vectors_fingerprint

KEY = {"method": "LOVE", "rate": 0.001, "seed": 0}
LINUX = pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")


class Counted:
    """A computation that says how often it ran."""

    def __init__(self, value: float = 1.5) -> None:
        self.value, self.runs = value, 0

    def __call__(self) -> dict[str, float]:
        self.runs += 1
        return {"dev": self.value}


def test_computed_once_then_read_by_this_and_later_programs(tmp_path):
    work = Counted()
    assert ResultCache(tmp_path / "new")(KEY, work) == ResultCache(tmp_path / "new")(KEY, work) == {"dev": 1.5}
    assert work.runs == 1


def test_the_key_is_its_content_not_its_order(tmp_path):
    cache, work = ResultCache(tmp_path), Counted()
    cache(KEY, work)
    cache(dict(reversed(KEY.items())), work)
    assert work.runs == 1
    for other in ({**KEY, "seed": 1}, {**KEY, "more": None}, {**KEY, "rate": 0.01}, {**KEY, "seed": "0"}):
        cache(other, work)
    assert work.runs == 5


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    work = Counted()
    assert ResultCache()(KEY, work) == ResultCache()(KEY, work) == {"dev": 1.5}
    assert work.runs == 2
    assert list(tmp_path.iterdir()) == []


def test_a_file_cut_short_at_any_byte_is_computed_again(tmp_path):
    cache = ResultCache(tmp_path)
    cache(KEY, Counted())
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for length in range(len(whole.rstrip())):
        file.write_bytes(whole[:length])
        work = Counted(length)
        assert cache(KEY, work) == {"dev": length}
        assert work.runs == 1


@pytest.mark.parametrize("content", [b"\xff\xfe", b"null", b"[]", b"7", b"{}", b'{"key": {}, "result": {"dev": 9}}'])
def test_a_file_that_is_no_result_of_this_key_is_replaced(tmp_path, content):
    cache = ResultCache(tmp_path)
    cache(KEY, Counted())
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    assert cache(KEY, Counted(2.5)) == {"dev": 2.5}
    assert json.loads(file.read_bytes()) == {"key": KEY, "result": {"dev": 2.5}}


def test_a_computation_that_fails_leaves_nothing(tmp_path):
    def fail() -> dict[str, float]:
        raise RuntimeError("out of memory")

    cache = ResultCache(tmp_path)
    with pytest.raises(RuntimeError, match="memory"):
        cache(KEY, fail)
    assert cache(KEY, Counted(3.0)) == {"dev": 3.0}


PROGRAM = """
import os, sys
from pathlib import Path
from lovevec_lab.evaluate.result_cache import ResultCache

folder, die_at = Path(sys.argv[1]), int(sys.argv[2])
cache = ResultCache(folder)
for number in range(10):
    def compute():
        if number == die_at:
            os.kill(os.getpid(), 9)
        sys.stderr.write(f"{number} ")
        return {"square": number * number}
    print(cache({"number": number}, compute)["square"])
"""


def run(folder: Path, die_at: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", PROGRAM, folder, str(die_at)], capture_output=True, text=True)


@LINUX
def test_work_that_was_killed_goes_on_where_it_was(tmp_path):
    first = run(tmp_path, die_at=6)
    assert first.returncode == -signal.SIGKILL
    assert first.stderr.split() == ["0", "1", "2", "3", "4", "5"]
    again = run(tmp_path, die_at=-1)
    assert again.stderr.split() == ["6", "7", "8", "9"]
    assert again.stdout.split() == [str(number * number) for number in range(10)]


WRITER = """
import sys
from pathlib import Path
from lovevec_lab.evaluate.result_cache import ResultCache

cache = ResultCache(Path(sys.argv[1]))
for number in range(100_000):
    cache({"number": number}, lambda: {"squares": [number * number] * 2000})
"""


@LINUX
def test_killed_while_writing_nothing_wrong_is_read_later(tmp_path):
    with subprocess.Popen([sys.executable, "-c", WRITER, tmp_path]) as writer:
        until = time.monotonic() + 20
        while len(list(tmp_path.glob("*.json"))) < 20 and time.monotonic() < until:
            time.sleep(0.005)
        writer.kill()
    kept = len(list(tmp_path.glob("*.json")))
    assert kept >= 20
    fresh = 0
    for number in range(kept + 5):

        def compute(number: int = number) -> dict[str, list[int]]:
            nonlocal fresh
            fresh += 1
            return {"squares": [number * number] * 2000}

        assert ResultCache(tmp_path)({"number": number}, compute) == {"squares": [number * number] * 2000}
    assert fresh == 5


def unit_rows(rows: int, dim: int, seed: int) -> np.ndarray:
    made = np.random.default_rng(seed).normal(size=(rows, dim)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_rounding_errors_pass_and_other_vectors_do_not():
    for seed in range(3):
        vectors = unit_rows(20_000, 50, seed)
        own = vectors_fingerprint(vectors)
        rng = np.random.default_rng(seed)
        assert vectors_fingerprint(vectors * (1 + 1e-6 * rng.normal(size=vectors.shape).astype(np.float32))) == own
        other = vectors.copy()
        other[rng.integers(len(other))] *= -1
        assert vectors_fingerprint(other) != own
        assert vectors_fingerprint(vectors[::-1]) != own
        assert vectors_fingerprint(unit_rows(20_000, 50, seed + 9)) != own


def test_nothing_and_zeros_have_one_too():
    assert vectors_fingerprint(np.zeros((3, 4), np.float32)) != vectors_fingerprint(np.zeros((2, 4), np.float32))


def test_content_is_told_apart():
    assert content_hash([["a", "b"]]) == content_hash([["a", "b"]])
    assert content_hash([["a", "b"]]) != content_hash([["a"], ["b"]])
