"""Saves a target as a vector file; numpy's .npz also keeps where the vectors came from, beside words and vectors."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from lovevec.files import atomic_write
from lovevec.vectors.target import Target
from lovevec.vectors.write.writer import Shape, format_of, join_words, open_writer

BATCH = 16_384
ORIGIN = "origin.npy"
LONGEST = 1 << 20


def save_target(target: Target, path: Path) -> list[str]:
    """Write the words and vectors in the format that the file's name says; gives what the user should know."""
    kind = format_of(path)
    if kind == "npz":
        words = np.frombuffer(join_words(target.words, kind), np.uint8)
        origin = np.frombuffer(json.dumps(target.source).encode(), np.uint8)
        with atomic_write(path) as file:
            np.savez(file, vectors=target.vectors, words=words, origin=origin)
        return []
    with open_writer(path, kind, Shape(target.dim, len(target), exact=True)) as writer:
        for low in range(0, len(target), BATCH):
            part = target.words[low : low + BATCH]
            writer.add(part, target.vectors[low : low + BATCH], [True] * len(part))
    return writer.notes()


def read_origin(path: Path) -> dict[str, Any] | None:
    """What `save_target` wrote about the origin of an .npz; None for any other file."""
    if path.suffix != ".npz":
        return None
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(ORIGIN).file_size > LONGEST:
                return None
            with archive.open(ORIGIN) as member:
                found = json.loads(np.lib.format.read_array(member, allow_pickle=False).tobytes())
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None
    return found if isinstance(found, dict) else None
