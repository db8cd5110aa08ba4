"""What the caller of a reader asked for, handed to whichever reader fits the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lovevec.progress import Progress
from lovevec.vectors.read.builder import TableBuilder
from lovevec.vectors.report import ReadReport


@dataclass(frozen=True)
class Job:
    """One reading: which file, how many rows at most, which word list, and where progress is shown."""

    path: Path
    limit: int | None
    words: Path | None
    progress: Progress

    @contextmanager
    def build(self, report: ReadReport, hint: int) -> Iterator[TableBuilder]:
        """Start a table of about `hint` rows, and a line of progress for it."""
        total = report.promised
        if total is not None and self.limit is not None:
            total = min(total, self.limit)
        with self.progress.phase("reading", total=total, unit="rows") as phase:
            yield TableBuilder(self.path, report, phase, self.limit, hint)

    def advice(self, kept: int) -> str:
        """How to read a file that is shorter than it should be."""
        return f"; limit={kept} (--limit {kept}) takes what is there" if kept else ""
