"""Files of a folder that are replaced together: at any moment, also after kill -9, they are all old or all new.

    with replaced_together(folder, optional=["rows.safetensors"]) as new:
        ...                             write the files into `new`, a folder beside them
    current(folder, "config.json")      the old one, until the block has ended well; from then on the new one

The new files are written into `.new.PID.tmp`, which gets the name `.new` once all of them are on the disk. From then on
they count: whoever reads a file looks in `.new` first. Then they are moved to their places one by one, and `.new` is
gone. A process that is killed on the way leaves the rest in `.new`, where it is found; the next one that writes begins
with moving it. Other files of the folder stay as they are.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lovevec.errors import LovevecError
from lovevec.files import sync

NEW = ".new"


def current(folder: Path, name: str) -> Path:
    """Where a file of a folder stands now, also of a folder that is replaced as a part of another one."""
    staged = folder / NEW / name, folder.parent / NEW / folder.name / name
    return next((path for path in staged if os.path.lexists(path)), folder / name)


@contextmanager
def replaced_together(folder: Path, optional: Iterable[str] = ()) -> Iterator[Path]:
    """Gives an empty folder for new files, which take the places of those in `folder` when the block ends well. Those
    of `optional` that are not among them are deleted. What cannot be written is an error that names the file."""
    stage = folder / f"{NEW}.{os.getpid()}.tmp"
    try:
        _finish(folder)
        _forget_dead(folder)
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(parents=True)
        yield stage
        _sync_all(stage)
        gone = [name for name in optional if not (stage / name).exists()]
        os.rename(stage, folder / NEW)
        sync(folder)
        _finish(folder)
        for name in gone:
            (folder / name).unlink(missing_ok=True)
    except BaseException as error:
        shutil.rmtree(stage, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        name = str(error.filename or folder).replace(str(stage), str(folder))
        raise LovevecError(f"{name}: cannot be written: {error.strerror or error}") from error


def write_blocks(path: Path, blocks: Iterable[bytes | memoryview]) -> None:
    """Write a file; an error names it."""
    try:
        with open(path, "wb") as file:
            file.writelines(blocks)
    except OSError as error:
        error.filename = str(path)  # a full disk names none
        raise


def _finish(folder: Path) -> None:
    """Move what counts already to its place."""
    new = folder / NEW
    if not new.is_dir():
        return
    for source in sorted(_files(new), key=lambda path: path.suffix == ".json"):  # what is read first comes last
        goal = folder / source.relative_to(new)
        goal.parent.mkdir(parents=True, exist_ok=True)
        os.replace(source, goal)
    sync(folder)
    shutil.rmtree(new)


def _forget_dead(folder: Path) -> None:
    """Delete what processes that were killed had written so far."""
    for left in folder.glob(f"{NEW}.*.tmp") if os.name != "nt" else ():
        try:
            os.kill(int(left.name.split(".")[2]), 0)
        except (ProcessLookupError, ValueError, OverflowError):
            shutil.rmtree(left, ignore_errors=True)
        except OSError:  # it lives, and is somebody else's
            pass


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if not path.is_dir())


def _sync_all(folder: Path) -> None:
    for path in _files(folder):
        sync(path)
    for path in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        with suppress(PermissionError):
            sync(path)
