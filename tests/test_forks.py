"""A forked child answers with the same bits, whatever other threads of its parent were computing at that moment."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from functools import cached_property

import pytest

from lovevec.locks import ForkLock

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
FORKS = int(os.environ.get("LOVEVEC_FORKS", "60"))  # 200 by hand

# Threads compute with a model while it is built, and with one that is; children of both moments have to answer.
LOAD = """
import os, signal, sys, threading, time
import numpy as np
from lovevec import LOVE

WORDS = ["recieve", "blorfing", "the", "zzz-archiitect"]
TEXTS = ["the recieve of 500mg blorf"]

def answers(love):
    near = love.near("recieve"), love.neighbors("recieve", 3), love.confidence(WORDS).tolist()
    return love.embed(WORDS).tobytes(), love.encode(TEXTS).tobytes(), near

love = LOVE.load()
expected, stop = answers(love), False

def work(model):
    while not stop:
        answers(model)

def child_of(model):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(answers(model) != expected)
    return os.waitpid(child, 0)[1]

threading.Thread(target=work, args=[love], daemon=True).start()
results = []
for number in range(4):
    new = love.copy()
    builder = threading.Thread(target=answers, args=[new])
    builder.start()
    time.sleep(0.05 * number)
    results.append(child_of(new))
    builder.join()
for number in range(int(sys.argv[1])):
    time.sleep(number % 7 / 500)
    results.append(child_of(love))
stop = True
print(results.count(0), len(results), flush=True)
os._exit(0)
"""


def test_children_answer_whatever_the_threads_of_their_parent_do():
    result = subprocess.run(
        [sys.executable, "-c", LOAD, str(FORKS)], capture_output=True, text=True, timeout=500, check=True
    )
    assert result.stdout.split() == [str(FORKS + 4)] * 2, result.stderr


def _exit_code_of_child(run) -> int:
    child = os.fork()
    if child == 0:
        done = threading.Event()
        threading.Thread(target=lambda: (run(), done.set()), daemon=True).start()
        os._exit(0 if done.wait(20) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_lock_that_another_thread_holds_is_free_in_a_child():
    lock, is_held, release = ForkLock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            is_held.set()
            release.wait(30)

    def use() -> None:
        with lock, lock:
            pass

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait(30)
    code = _exit_code_of_child(use)
    release.set()
    holder.join()
    assert code == 0
    use()


def test_locks_are_pickled_as_new_ones():
    with pickle.loads(pickle.dumps(ForkLock())):
        pass


def test_no_lock_of_ours_is_a_bare_one():
    """Whatever guards the state of an object must be a ForkLock: a bare lock would stay held in a child."""
    from pathlib import Path

    import lovevec

    folder = Path(str(lovevec.__file__)).parent
    sources = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.py")}
    bare = {name for name, text in sources.items() if "RLock()" in text or "threading.Lock()" in text}
    assert bare == {"locks.py"}


def test_cached_properties_are_computed_in_a_child_while_a_thread_of_the_parent_computes_them():
    """Up to Python 3.11 one lock is shared by all objects of a class."""
    from lovevec.near.orthography import Orthography
    from lovevec.near.reader import Reader

    assert isinstance(vars(Reader)["places"], cached_property)
    is_held, release = threading.Event(), threading.Event()

    def slow_places() -> dict[str, int]:
        is_held.set()
        release.wait(30)
        return {}

    slow = Reader(["a"], Orthography(), places=slow_places)
    quick = Reader(["a"], Orthography())
    holder = threading.Thread(target=lambda: slow.places)
    holder.start()
    is_held.wait(30)
    code = _exit_code_of_child(lambda: quick.places)
    release.set()
    holder.join()
    assert code == 0
