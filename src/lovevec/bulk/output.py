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
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lovevec.errors import LovevecError, Parameter

PLAN, UNFINISHED, DISTINCT = "_plan.json", "_unfinished", "_distinct"


@dataclass
class Written:
    """A file that is being written, and how many were begun before it and not ended. `path` is its own where it lies on
    this machine's disk, and `aside` a thread."""

    file: Any
    retries: int
    path: str | None
    aside: ThreadPoolExecutor
    _flushed: Future[None] | None = None

    def flush(self) -> None:
        """Have what was written go to the disk while more is computed, so that there is little to wait for at last."""
        if self.path is not None and (self._flushed is None or self._flushed.done()):
            self._settled()
            self._flushed = self.aside.submit(_sync, self.path)

    def sync(self) -> None:
        """Wait until all of it is on the disk."""
        self._settled()
        if self.path is not None:
            _sync(self.path)

    def _settled(self) -> None:
        """What went wrong aside is told here; the system tells it once."""
        if self._flushed is not None:
            self._flushed.result()


@contextmanager
def whole_file(filesystem: Any, folder: str, name: str) -> Iterator[Written]:
    """A file that takes its place in the folder when the block ends well; whatever a dead process left of it goes."""
    from pyarrow import ArrowException
    from pyarrow.fs import LocalFileSystem

    begun = f"{folder}/{UNFINISHED}/{name}"
    temporary = f"{begun}/{uuid.uuid4().hex}"
    try:
        left = listed(filesystem, begun)
        filesystem.create_dir(begun, recursive=True)
        for one in left:
            filesystem.delete_file(one.path)
        path = temporary if isinstance(filesystem, LocalFileSystem) else None
        with ThreadPoolExecutor(1) as aside:
            with filesystem.open_output_stream(temporary) as file:
                written = Written(file, len(left), path, aside)
                yield written
            written.sync()
        filesystem.move(temporary, f"{folder}/{name}")
        remove(filesystem, begun)
    except (OSError, ArrowException) as error:
        remove(filesystem, begun)
        reason = (
            os.strerror(error.errno) if isinstance(error, OSError) and error.errno else " ".join(str(error).split())
        )
        raise LovevecError(f"{folder}/{name}: cannot be written: {reason}") from None


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def part_name(number: int) -> str:
    """The file of a part."""
    return f"part-{number:05}.parquet"


def part_numbers(names: set[str]) -> set[int]:
    """Those of the parts among files."""
    return {int(name.removeprefix("part-").removesuffix(".parquet")) for name in names if name.startswith("part-")}


def listed(filesystem: Any, folder: str) -> list[Any]:
    """What a folder holds, as pyarrow tells it; nothing where there is none."""
    from pyarrow.fs import FileSelector

    found: list[Any] = filesystem.get_file_info(FileSelector(folder, allow_not_found=True))
    return found


def names_in(filesystem: Any, folder: str) -> set[str]:
    """The names of what a folder holds."""
    return {one.base_name for one in listed(filesystem, folder)}


def remove(filesystem: Any, folder: str) -> None:
    """Delete a folder; another worker may be faster."""
    try:
        if listed(filesystem, folder) or filesystem.get_file_info(folder).type.name == "Directory":
            filesystem.delete_dir(folder)
    except OSError:
        pass


def settle(filesystem: Any, folder: str, plan: Mapping[str, Any], overwrite: bool) -> None:
    """Begin in an empty folder, or go on with the same plan; refuse any other folder."""
    path = f"{folder}/{PLAN}"
    try:
        names = names_in(filesystem, folder)
        before: Any = None
        if PLAN in names:
            with filesystem.open_input_stream(path) as file:
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
    with whole_file(filesystem, folder, PLAN) as written:
        written.file.write(json.dumps(plan).encode() + b"\n")


def _stale(before: Any, plan: Mapping[str, Any], names: set[str]) -> set[str] | None:
    """What is to be made again when some input files were written anew, as one is that could not be read: their parts,
    or, as long as there are none, the distinct words. None where that is not known, or would be a whole job."""
    if plan["distinct"]:
        return None if part_numbers(names) else names
    cuts = [[one[0], one[3]] for one in plan["input"]]
    if not isinstance(before, list) or [one[::3] for one in before if isinstance(one, list)] != cuts:
        return None
    found: set[str] = set()
    number = 0
    for old, new in zip(before, plan["input"], strict=True):
        if old != new:
            found.update(map(part_name, range(number, number + new[3])))
        number += new[3]
    return names & found
