"""Long work that keeps what it needs to go on after Ctrl-C, a crash or kill -9."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from lovevec.errors import FormatError, LovevecError, Parameter, reason
from lovevec.files import atomic_write, write_json
from lovevec.files.lines import read_bytes

Arrays = Mapping[str, NDArray[Any]]
UNFINISHED = ".unfinished"  # what the folder is called inside the output folder that it goes with
PLAN = "run.json"
OVERWRITE = Parameter("overwrite", True)  # what replaces a run or its output
SAVING_SHARE = 20  # saving may take a twentieth of the time
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class State(NamedTuple):
    """What a state holds: arrays by name, and whatever else JSON can say."""

    arrays: dict[str, NDArray[Any]]
    values: dict[str, Any]


class CheckpointFolder:
    """The folder of long work under way. Without a folder nothing is kept.

        run.json            the plan: what is to be done. Without it there is nothing to go on with
        NAME.safetensors    the state of this name, with its SHA-256; a new one replaces it atomically

    A state is due `every` seconds.
    """

    def __init__(self, folder: Path | None, every: float = 0.0) -> None:
        self.folder, self.every = folder, every
        self.due = time.monotonic() + every

    @property
    def exists(self) -> bool:
        """Whether there is work to go on with."""
        return self.folder is not None and (self.folder / PLAN).is_file()

    def begin(self, plan: Mapping[str, Any]) -> None:
        """Make the folder and write the plan."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_json(self.folder / PLAN, plan)

    def begin_or_go_on(self, plan: Mapping[str, Any]) -> None:
        """Begin, or go on with what is there; with another plan than this one it is refused."""
        if self.folder is None:
            return
        if not self.folder.exists() or not any(self.folder.iterdir()):  # or killed before there was anything to keep
            self.begin(plan)
            return
        try:
            before = self.plan()
        except FormatError:
            raise LovevecError(f"{self.folder}: no unfinished run, or damaged; delete it, or {OVERWRITE}") from None
        other = [name for name, value in plan.items() if before.get(name) != value]
        if other:
            raise LovevecError(
                f"{self.folder}: an unfinished run with other {', '.join(other)}; give its command again to go on, "
                f"or {OVERWRITE} to begin anew"
            )

    def plan(self) -> dict[str, Any]:
        """The plan that the folder holds."""
        path = (self.folder or Path()) / PLAN
        try:
            plan = json.loads(read_bytes(path))
        except (FormatError, ValueError, RecursionError) as error:
            raise FormatError(path, f"is missing or damaged ({error})") from None
        if not isinstance(plan, dict):
            raise FormatError(path, "is damaged: it holds no plan")
        return plan

    def save(self, name: str, arrays: Arrays, **values: Any) -> None:
        """Write a state in the place of the last one."""
        if self.folder is None:
            return
        start = time.monotonic()
        arrays, text = {key: np.asarray(array, order="C") for key, array in arrays.items()}, json.dumps(values)
        with atomic_write(self.path(name)) as file:
            file.write(save(arrays, {"values": text, "sha256": _digest(arrays, text)}))
        now = time.monotonic()
        self.due = now + max(self.every, SAVING_SHARE * (now - start) if self.every else 0)

    def load(self, name: str) -> State | None:
        """The state of this name, if there is one."""
        if self.folder is None or not self.path(name).exists():
            return None
        if not self.path(name).is_file():
            raise FormatError(self.path(name), "not a regular file")
        with damage_named(self.path(name)):
            with safe_open(self.path(name), "numpy") as file:
                metadata = file.metadata()
                arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118  not a dict
            if metadata["sha256"] != _digest(arrays, metadata["values"]):
                raise ValueError("it is damaged")
            return State(arrays, json.loads(metadata["values"]))

    def path(self, name: str) -> Path:
        """The file of a state."""
        return (self.folder or Path()) / f"{name}.safetensors"

    @property
    def is_due(self) -> bool:
        """Whether a state should be saved now."""
        return self.folder is not None and time.monotonic() >= self.due

    def remove(self) -> None:
        """The work is done. The plan goes first: what is left without it is never gone on with."""
        if self.folder is not None:
            (self.folder / PLAN).unlink(missing_ok=True)
            shutil.rmtree(self.folder, ignore_errors=True)

    def tidy(self) -> None:
        """The work is over, or failed: a folder in which no state was kept goes."""
        if self.folder is not None and self.exists and [file.name for file in self.folder.iterdir()] == [PLAN]:
            self.remove()


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Turn whatever a damaged state raises into the one error that names its file."""
    try:
        yield
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise FormatError(path, f"cannot be continued from ({reason(error)}); delete it to begin again") from None


def _digest(arrays: Arrays, text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}".encode())
        digest.update(arrays[name].data)
    return digest.hexdigest()


class Interruption:
    """Ctrl-C, kill and a closed terminal take effect between steps: a step half done cannot be resumed bit for bit.

    While open, the first such signal is only noted in `asked`; a second one acts at once, as usual.
    """

    def __init__(self) -> None:
        self.asked = 0
        self.usual: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python lets nobody set handlers
            self.usual = {number: signal.signal(number, self._ask) for number in SIGNALS}
        return self

    def __exit__(self, *failure: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._back_to_usual()

    def stop(self) -> None:
        """End the program as the signal would have: KeyboardInterrupt, or the exit code of one that was killed."""
        if self.asked == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + self.asked)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = number
        self._back_to_usual()

    def _back_to_usual(self) -> None:
        for number, handler in self.usual.items():
            signal.signal(number, handler)
        self.usual = {}
