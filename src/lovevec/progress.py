"""Progress of long work on stderr: the phase, how far it is, how fast, how long still; the line is tqdm's.

On a terminal the line is redrawn in place; into a file or pipe a plain line is written every 15 seconds, and one for
each phase that has ended. stdout is never touched.

    with Progress() as progress, progress.phase("reading", total=34_000, unit="rows") as phase:
        for chunk in chunks:
            phase.advance(len(chunk), note="loss 1.23")
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TextIO

from lovevec.errors import Spelling, as_argument, spell

SECONDS_BETWEEN_DRAWINGS = 0.1  # on a terminal
SECONDS_BETWEEN_LINES = 15.0


class Progress:
    """Where phases report to. `Progress(quiet=True)` shows nothing and costs nothing; a phase that is over within
    `delay` seconds is not shown. `spelling` is how lines of `say` write the parameters that they name, and `period` the
    seconds between two drawings. `seconds` holds how long each phase took."""

    def __init__(
        self,
        quiet: bool = False,
        stream: TextIO | None = None,
        spelling: Spelling = as_argument,
        delay: float = 0.0,
        period: float | None = None,
    ) -> None:
        self.stream, self.spelling, self.delay = stream or sys.stderr, spelling, delay
        self.quiet = quiet or self.stream is None  # a process may have no stderr
        self.terminal = not self.quiet and self.stream.isatty()
        usual = SECONDS_BETWEEN_DRAWINGS if self.terminal else SECONDS_BETWEEN_LINES
        self.period = usual if period is None else period
        self.seconds: dict[str, float] = {}

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: BaseException | TracebackType | None) -> None:
        if self.terminal and kind is not None:
            self.stream.write("\n")

    @contextmanager
    def phase(self, name: str, total: int | None = None, unit: str = "words", done: int = 0) -> Iterator[Phase]:
        """Show one stretch of work of `total` units, of which an earlier run did `done`. Phases of one name add up in
        `seconds`."""
        phase = Phase(self, name, total, unit, done)
        phase.show(force=True)
        yield phase
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - phase.start
        phase.finish()

    def say(self, line: str) -> None:
        """Write a line of its own; parameters that it names are spelled as the reader does."""
        if not self.quiet:
            self.write(spell(line, self.spelling) + "\n")

    def write(self, line: str, end: str = "") -> None:
        """Write in place of the moving line; what moves is cut at the width of the terminal."""
        if self.terminal:
            line = "\r\x1b[K" + (line if line.endswith("\n") else line[: shutil.get_terminal_size().columns - 1])
        self.stream.write(line + end)
        self.stream.flush()


class Phase:
    """One stretch of work with a count. `total` may be unknown (None), or become known later."""

    def __init__(self, progress: Progress, name: str, total: int | None, unit: str, done: int) -> None:
        self.progress, self.name, self.total, self.unit = progress, name, total, unit
        self.done = self.first = done
        self.note = ""
        self.start = self.last_drawing = time.perf_counter()

    def advance(self, count: int = 1, note: str | None = None) -> None:
        """Add `count` to what is done; `note` is shown beside it until the next one."""
        self.done += count
        if note is not None:
            self.note = note
        self.show()

    def show(self, force: bool = False) -> None:
        """Draw the line, unless it was drawn a moment ago; `force` is for terminals only."""
        now = time.perf_counter()
        if now - self.last_drawing >= self.progress.period or (force and self.progress.terminal):
            self.last_drawing = now
            self._draw(self.done, self.total, self.first, end="" if self.progress.terminal else "\n")

    def finish(self) -> None:
        """Leave one line that says how much was done and how long it took."""
        self._draw(self.done - self.first, None, 0, end="\n")

    def _draw(self, done: int, total: int | None, first: int, end: str) -> None:
        seconds = time.perf_counter() - self.start
        if self.progress.quiet or seconds < self.progress.delay:
            return
        from tqdm import tqdm

        line = f"{self.name}: {tqdm.format_interval(seconds)}"
        if done or total:
            line = tqdm.format_meter(
                done, total, seconds, prefix=self.name, unit=f" {self.unit}", postfix=self.note, initial=first
            )
        self.progress.write(line, end)


def wanted(asked: bool | None, count: int, many: int) -> bool:
    """Whether to show progress of so many: as asked, and if not said, of `many` or more on a terminal."""
    return bool(asked) if asked is not None else count >= many and sys.stderr is not None and sys.stderr.isatty()
