"""A table of word vectors: what every reader hands back, what training mimics, what distilling gives. With it goes the
account of its reading: how many rows were kept, and all that was dropped or looked odd, with its place."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PLACES_PER_NOTE = 3
ENDINGS = {".gz", ".xz", ".zip", ".txt", ".vec", ".bin", ".npy", ".npz", ".safetensors", ".kv", ".w2v", ".tar", ".whl"}


class Oddity(Enum):
    """The odd things that a reader counts; each value says in words what was seen and what was done about it."""

    SPACED = "words with spaces inside: kept"
    REPEATED = "repeated words: the first row kept, the others dropped"
    NOT_FINITE = "rows with NaN or Inf: dropped"
    ZERO = "rows of zeros only: dropped"
    EMPTY = "empty words: dropped"
    NOT_UTF8 = "words that are not valid UTF-8: dropped"
    BORROWED = "words that have another word's row: dropped"
    NAMELESS = "rows whose word is not told: dropped"
    SAME_IN_LOWER_CASE = "words that another one equals in lower case: dropped"
    TOO_LONG = "rows with more numbers than the header promised: dropped"
    BLANK = "blank lines: passed over"
    EXTRA = "rows more than the header promised: kept"
    TRAILING = "bytes after the end of the data: ignored"


@dataclass
class Note:
    """How often a thing was seen, and the first places (lines or rows, counted from 1)."""

    count: int = 0
    first: list[int] = field(default_factory=list)


@dataclass
class ReadReport:
    """The account of one reading: `read` rows were met, `kept` of them are in the table."""

    format: str
    compression: str | None = None
    place: str = "row"
    promised: int | None = None
    dim: int = 0
    read: int = 0
    kept: int = 0
    notes: dict[Oddity, Note] = field(default_factory=dict)

    def note(self, what: Oddity, at: int | None = None, count: int = 1) -> None:
        """Count `what`, and remember the first three places at which it was seen."""
        note = self.notes.setdefault(what, Note())
        note.count += count
        if at is not None and len(note.first) < PLACES_PER_NOTE:
            note.first.append(at)

    def follow(self, earlier: ReadReport) -> None:
        """Add what an earlier reading noted, where this one went through the rows that the earlier one kept."""
        self.format, self.compression, self.place = earlier.format, earlier.compression, earlier.place
        self.read += earlier.read - earlier.kept
        for what, note in earlier.notes.items():
            if what is not Oddity.SPACED:  # those were kept, so they have been met again
                self.note(what, count=note.count)
                self.notes[what].first = note.first[:PLACES_PER_NOTE]

    def count(self, what: Oddity) -> int:
        return self.notes[what].count if what in self.notes else 0

    def lines(self) -> list[str]:
        """The report for people, one fact a line: rows kept and read, then each oddity with its first places."""
        packing = f", {self.compression}" if self.compression else ""
        lines = [f"{self.kept:,} words × {self.dim} kept of {self.read:,} rows read ({self.format}{packing})"]
        for what in Oddity:
            if what in self.notes:
                note = self.notes[what]
                places = ", ".join(map(str, note.first))
                where = f" (first: {self.place} {places})" if note.first else ""
                lines.append(f"{note.count:,} {what.value}{where}")
        return lines

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON: oddities by their names in lower case."""
        names = ("format", "compression", "promised", "dim", "read", "kept", "place")
        notes = {what.name.lower(): asdict(note) for what, note in self.notes.items()}
        return {**{name: getattr(self, name) for name in names}, "notes": notes}


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Words and their raw vectors, row for row: `vectors` is float32 [len(words), dim], lengths kept. Those of a mapped
    table are in a file, read-only, and may be float16.

    `report` counts what was dropped on the way. A table that is published or mimicked has a `name`, and a `source`
    that says where its vectors came from in terms fit to publish: the name of the file without its folder, format,
    rows, SHA-256.
    """

    words: list[str]
    vectors: NDArray[np.float32]
    report: ReadReport
    name: str = ""
    source: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def mapped(self) -> bool:
        return isinstance(self.vectors, np.memmap)

    @property
    def dim(self) -> int:
        return int(self.vectors.shape[1])


def bare_name(path: Path) -> str:
    """A table's name after its file, without the endings that say how it is stored: glove.6B.50d.txt.gz ->
    glove.6B.50d."""
    name = path.name
    while (bare := Path(name)).suffix in ENDINGS and bare.stem:
        name = bare.stem
    return name
