"""A process that is attacked: it opens one case after another, and says of each how it ended, a line of JSON each.

    python -m attacks.worker --seed 1 --first 0 --last 500

Before each case a line says that it begins, so that the process that started this one knows which case made it hang or
crash. Memory is limited to what lovevec needs itself and `ROOM`; what a case really took is read from the system, which
can be told to forget the highest mark. An audit hook watches what is opened, run and connected.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import shutil
import signal
import sys
import sysconfig
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attacks.doors import DOORS
from attacks.good import samples
from attacks.hostile import CANARY, hostile
from attacks.mutate import draw_case
from lovevec.errors import LovevecError

# A model takes 12 MB of hashed tables for its index, whatever its size, and a door may hold several at once.
SECONDS, TIMES, FLOOR = 2.0, 3, 56 << 20
MORE = {
    "index": 24 << 20
}  # the words of a collection have a reader of their own, whose buckets are as many for 40 words
ROOM = 1 << 30  # of address space beyond what is in use after warming up
WAIT = 60  # seconds by the clock, for what waits and does not compute
LONGEST_MESSAGE = 1000
REPOSITORY = Path(__file__).resolve().parents[1]
OUR_FILES = tuple(
    os.path.realpath(place)
    for place in (
        sys.prefix,
        sys.base_prefix,
        sysconfig.get_path("stdlib"),
        REPOSITORY,
        "/proc/self",
        "/usr/lib",
        "/sys",
    )
)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
FORBIDDEN = (
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "subprocess.Popen",
    "socket.",
    "pickle.find_class",
)
FORBIDDEN += ("ctypes.dlopen", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.chmod")
FORBIDDEN += ("os.truncate", "shutil.", "webbrowser.open", "marshal.loads", "code.__new__")


class TooLong(BaseException):
    """The time is up; no `except Exception` of ours may hide it."""


class Watch:
    """What a case did that no reader of files does."""

    def __init__(self) -> None:
        self.folder = ""
        self.seen: list[str] = []
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook cannot be taken away: it hears only while a folder is set."""
        if not self.folder:
            return
        if event == "open":
            self._check_open(*arguments)
        elif event == "exec" and not arguments[0].co_filename.startswith(OUR_FILES) and not _of_python():
            self.seen.append(f"executed {arguments[0].co_filename}")
        elif event.startswith(FORBIDDEN) and not _of_python():
            self.seen.append(f"{event} {arguments!r:.100}")

    def _check_open(self, path: Any, mode: Any, flags: int) -> None:
        if isinstance(path, int):
            return
        name = os.path.abspath(os.fsdecode(path))
        inside = name.startswith(self.folder)
        if flags & WRITING and name != os.devnull:
            self.seen.append(f"opened {name} to write")
        elif not inside and not name.startswith(OUR_FILES) and not os.path.realpath(name).startswith(OUR_FILES):
            self.seen.append(f"opened {name}")


def _of_python() -> bool:
    """Whether Python itself is at it: an import (of what OUR_FILES hold, else it is seen), or type hints of ours."""
    frame = sys._getframe(2)
    return (
        Path(frame.f_code.co_filename).name in ("typing.py", "dataclasses.py")
        or "importlib" in frame.f_code.co_filename
    )


def memory(name: str) -> int:
    """VmRSS, VmHWM or VmSize, in bytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        return int(file.read().split(name + ":")[1].split()[0]) * 1024


def forget_peak() -> None:
    """Give free memory back, and let the highest mark begin here."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def size_of(folder: Path) -> int:
    """Of all that a case consists of."""
    return sum(os.lstat(os.path.join(at, name)).st_size for at, _, names in os.walk(folder) for name in names)


def attack(door: Callable[[Path], None], path: Path, folder: Path, watch: Watch) -> dict[str, Any]:
    """Open the door once; `finding` says what went wrong, if anything did."""
    size = size_of(folder)
    finding, result = None, "read"
    forget_peak()
    before, start = memory("VmRSS"), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 2 * SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WAIT)
    watch.folder, watch.seen = str(folder), []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            door(path)
    except LovevecError as error:
        result = str(error)
        if "\n" in result or len(result) > LONGEST_MESSAGE:
            finding = f"a message of {len(result):,} characters, {result.count(chr(10))} line ends: {result!r:.120}"
    except TooLong:
        finding = "does not end"
    except AssertionError as error:
        finding = f"wrong: {error}"
    except BaseException as error:  # noqa: BLE001  whatever it is, it is what we look for
        at = error.__traceback__
        while at is not None and at.tb_next is not None:
            at = at.tb_next
        where = f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at is not None else ""
        finding = f"{type(error).__name__} at {where}: {error!s:.200}"
    finally:
        watch.folder = ""
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    seconds, taken = time.process_time() - start, memory("VmHWM") - before
    if finding is None and seconds > SECONDS:
        finding = f"{seconds:.1f} seconds"
    if finding is None and taken > TIMES * size + FLOOR + MORE.get(door.__name__, 0):
        finding = f"{taken / 2**20:.0f} MB of memory for {size / 2**20:.2f} MB of files"
    if finding is None and (watch.seen or (folder / CANARY).exists() or Path(CANARY).exists()):
        finding = "; ".join(watch.seen) or "executed"
    return {"result": result[:200], "finding": finding, "seconds": round(seconds, 3), "bytes": taken, "size": size}


def make(seed: int, number: int, folder: Path) -> tuple[str, str, Path]:
    """Put the case of that number into the folder: (its name, the door, what the door is given). The first are those
    made by hand."""
    by_hand = hostile()
    if number < len(by_hand):
        name = list(by_hand)[number]
        return name, *by_hand[name](folder)
    name, sample = draw_case(seed, number - len(by_hand))
    return name, sample.door, sample.write(folder)


def main() -> None:
    """Cases from the first to the one before the last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int, default=1000)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()

    def stop(number: int, frame: object) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, stop)
    signal.signal(signal.SIGALRM, stop)
    place = Path(tempfile.mkdtemp(prefix="attack-"))
    os.chdir(place)
    watch = Watch()
    folder = place / "case"
    for sample in samples().values():  # whatever is imported late is imported now
        folder.mkdir()
        attack(DOORS[sample.door], sample.write(folder), folder, watch)
        shutil.rmtree(folder)
    hostile()
    most = memory("VmSize") + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for number in range(options.first, options.last, options.every):
        folder.mkdir()
        name, door, path = make(options.seed, number, folder)
        print(json.dumps({"number": number, "name": name}), flush=True)
        print(json.dumps({"number": number, "name": name, **attack(DOORS[door], path, folder, watch)}), flush=True)
        shutil.rmtree(folder)
    os.chdir("/")
    shutil.rmtree(place)


if __name__ == "__main__":
    main()
