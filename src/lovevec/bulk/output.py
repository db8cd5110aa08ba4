"""The folder of vectors: whole files or none, and the plan by which the same command goes on.

OUT/part-00000.parquet …    the column of the input, and `vector`: a fixed-size list of floats
OUT/_plan.json              what the job is; the same command goes on with the parts that are missing
OUT/_unfinished/            files that are being written; what a dead worker left there counts as a retry
OUT/_distinct/              with `distinct`: the words, each once, until the job is done
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lovevec.errors import LovevecError, Parameter
from lovevec.files import LOCK_FILE, Lock, sync

PLAN, UNFINISHED, DISTINCT = "_plan.json", "_unfinished", "_distinct"


@dataclass
class PartFile:
    """A file that is being written. `retries` counts those that were begun before it and not ended. `path` is set where
    the file lies on this machine's disk; `thread` flushes it while more is computed."""

    file: Any
    retries: int
    path: str | None
    thread: ThreadPoolExecutor
    _flush: Future[None] | None = None

    def flush(self) -> None:
        """Have what was written go to the disk while more is computed: so there is little to wait for in the end."""
        if self.path is not None and (self._flush is None or self._flush.done()):
            if self._flush is not None:
                self._flush.result()  # raises what went wrong: the system reports it only once
            self._flush = self.thread.submit(sync, self.path)

    def sync(self) -> None:
        """Wait until the whole file is on the disk."""
        if self._flush is not None:
            self._flush.result()
        if self.path is not None:
            sync(self.path)


@contextmanager
def whole_file(filesystem: Any, folder: str, name: str) -> Iterator[PartFile]:
    """A file that takes its place in the folder when the block ends well; what a dead process left of it is deleted."""
    from pyarrow import ArrowException
    from pyarrow.fs import LocalFileSystem

    begun = f"{folder}/{UNFINISHED}/{name}"
    temporary = f"{begun}/{uuid.uuid4().hex}"
    try:
        left = list_folder(filesystem, begun)
        filesystem.create_dir(begun, recursive=True)
        for one in left:
            filesystem.delete_file(one.path)
        path = temporary if isinstance(filesystem, LocalFileSystem) else None
        with ThreadPoolExecutor(1) as thread:
            with filesystem.open_output_stream(temporary) as file:
                part = PartFile(file, len(left), path, thread)
                yield part
            part.sync()
        filesystem.move(temporary, f"{folder}/{name}")
        remove(filesystem, begun)
    except (OSError, ArrowException) as error:
        remove(filesystem, begun)
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number else " ".join(str(error).split())
        raise LovevecError(f"{folder}/{name}: cannot be written: {reason}") from None


@contextmanager
def locked(filesystem: Any, folder: str) -> Iterator[None]:
    """While one process is at work in a folder of this machine, a second one is told. Other stores have no locks."""
    from pyarrow.fs import LocalFileSystem

    if not isinstance(filesystem, LocalFileSystem):
        yield
        return
    lock = Lock(Path(folder))
    try:
        lock.take()
    except OSError as error:
        raise LovevecError(f"{folder}: cannot be used: {error.strerror or error}") from None
    try:
        yield
    finally:
        lock.release()


def part_name(number: int) -> str:
    """The name of the file of a part: part-00042.parquet."""
    return f"part-{number:05}.parquet"


def list_folder(filesystem: Any, folder: str) -> list[Any]:
    """The entries of a folder, as pyarrow describes them; none where there is no folder."""
    from pyarrow.fs import FileSelector

    entries: list[Any] = filesystem.get_file_info(FileSelector(folder, allow_not_found=True))
    return entries


def names_in(filesystem: Any, folder: str) -> set[str]:
    """The names of the files and folders in a folder."""
    return {one.base_name for one in list_folder(filesystem, folder)}


def remove(filesystem: Any, folder: str) -> None:
    """Delete a folder, if it is there: another worker may have deleted it already."""
    with suppress(OSError):
        if list_folder(filesystem, folder) or filesystem.get_file_info(folder).type.name == "Directory":
            filesystem.delete_dir(folder)


def settle(filesystem: Any, folder: str, plan: Mapping[str, Any], overwrite: bool) -> None:
    """Begin in an empty folder, or go on with the same plan; refuse any other folder."""
    try:
        names, before = names_in(filesystem, folder) - {LOCK_FILE}, None
        if PLAN in names:
            with filesystem.open_input_stream(f"{folder}/{PLAN}") as file:
                before = json.loads(file.read())
        if before == plan:
            return
        if names and before is None:
            raise LovevecError(f"{folder}: is not empty, and no job of ours; choose another folder")
        stale: set[str] | None = names
        if before is not None and not overwrite:
            other = [name for name in plan if not isinstance(before, dict) or before.get(name) != plan[name]]
            stale = _stale(before.get("input"), plan, names) if other == ["input"] else None
            if stale is None:
                raise LovevecError(
                    f"{folder}: holds a job with other {', '.join(other)}; choose another folder, or "
                    f"{Parameter('overwrite', True)}"
                )
        for name in stale or ():
            if name in (UNFINISHED, DISTINCT):
                filesystem.delete_dir(f"{folder}/{name}")
            elif name.startswith("part-"):
                filesystem.delete_file(f"{folder}/{name}")
    except (OSError, ValueError) as error:
        raise LovevecError(f"{folder}: cannot be used: {error}") from None
    with whole_file(filesystem, folder, PLAN) as part:
        part.file.write(json.dumps(plan).encode() + b"\n")


def _stale(before: Any, plan: Mapping[str, Any], names: set[str]) -> set[str] | None:
    """The files that have to be made again when some input files were written anew, say because one could not be read:
    their parts, or, as long as there are none, the distinct words. None where that is not known, or would be all."""
    if plan["distinct"]:
        return None if any(name.startswith("part-") for name in names) else names
    cuts = [[one[0], one[3]] for one in plan["input"]]
    if not isinstance(before, list) or [one[::3] for one in before if isinstance(one, list)] != cuts:
        return None
    anew = [old != new for old, new in zip(before, plan["input"], strict=True) for _ in range(new[3])]
    return names & {part_name(number) for number, is_stale in enumerate(anew) if is_stale}
