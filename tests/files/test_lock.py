"""One process at a time in a folder; the locks of dead processes are free."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from lovevec import LovevecError
from lovevec.files import LOCK_FILE, Lock

HOLD = """
import sys, time
from pathlib import Path
from lovevec.files import Lock
lock = Lock(Path(sys.argv[1]))
lock.take()
print("taken", flush=True)
time.sleep(60)
"""


def test_a_second_process_is_told_and_a_dead_one_is_no_hindrance(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "taken\n"
        with pytest.raises(LovevecError, match=rf"{tmp_path.name}: another process \({holder.pid}\) is at work there"):
            Lock(tmp_path).take()
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert (tmp_path / LOCK_FILE).exists()  # kill -9 leaves the file, but not the lock
    lock = Lock(tmp_path)
    lock.take()
    lock.release()
    assert not (tmp_path / LOCK_FILE).exists()


def test_taken_and_released_again_and_again(tmp_path):
    for _ in range(3):
        lock = Lock(tmp_path / "new")
        lock.take()
        with pytest.raises(LovevecError, match="is at work there"):
            Lock(tmp_path / "new").take()
        lock.release()
        lock.release()
    assert not any((tmp_path / "new").iterdir())
