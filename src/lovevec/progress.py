"""One tidy progress line on stderr: phase, how far, how fast, what else, how long still.

On a terminal the line is redrawn in place; into a file or pipe a plain line is written now and then, and one
for each finished phase. stdout is never touched. Kept by hand: one line is no reason for a dependency.

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

BAR = 20
PERIOD_TERMINAL = 0.1
PERIOD_PLAIN = 15.0


class Progress:
    """Where phases report to; `Progress(quiet=True)` shows nothing and costs nothing."""

    def __init__(self, quiet: bool = False, stream: TextIO | None = None, spelling: Spelling = as_argument) -> None:
        self.stream, self.spelling = stream or sys.stderr, spelling
        self.quiet = quiet or self.stream is None  # a process may have no stderr
        self.terminal = not self.quiet and self.stream.isatty()
        self.seconds: dict[str, float] = {}

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: BaseException | TracebackType | None) -> None:
        if self.terminal and kind is not None:
            self.stream.write("\n")

    @contextmanager
    def phase(self, name: str, total: int | None = None, unit: str = "words", done: int = 0) -> Iterator[Phase]:
        """Show one stretch of work; its time is kept in `seconds`. `done` counts what an earlier run did."""
        phase = Phase(self, name, total, unit, done)
        phase.show(force=True)
        yield phase
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - phase.start
        phase.finish()

    def say(self, line: str) -> None:
        """Write a line of its own, clear of the moving one; parameters that it names are spelled as the reader does."""
        if not self.quiet:
            self.stream.write(("\r\x1b[K" if self.terminal else "") + spell(line, self.spelling) + "\n")
            self.stream.flush()


def wanted(asked: bool | None, count: int, many: int) -> bool:
    """Whether to show progress of so many: as asked, and if not said, of `many` or more on a terminal."""
    return bool(asked) if asked is not None else count >= many and sys.stderr is not None and sys.stderr.isatty()


class Phase:
    """One stretch of work with a count; `total` may be unknown, or become known later."""

    def __init__(self, progress: Progress, name: str, total: int | None, unit: str, done: int) -> None:
        self.progress, self.name, self.total, self.unit = progress, name, total, unit
        self.done = self.first = done
        self.note = ""
        self.start = self.shown = time.perf_counter()

    def advance(self, count: int = 1, note: str | None = None) -> None:
        """Add `count` to what is done; `note` is shown beside it until the next one."""
        self.done += count
        if note is not None:
            self.note = note
        self.show()

    def show(self, force: bool = False) -> None:
        """Draw the line, unless it was drawn a moment ago."""
        if self.progress.quiet:
            return
        now = time.perf_counter()
        period = PERIOD_TERMINAL if self.progress.terminal else PERIOD_PLAIN
        if now - self.shown < period and not (force and self.progress.terminal):
            return
        self.shown = now
        self._write(self._line(now - self.start), end="" if self.progress.terminal else "\n")

    def finish(self) -> None:
        """Leave one line that says what was done and how long it took."""
        if self.progress.quiet:
            return
        seconds = time.perf_counter() - self.start
        count = self.done - self.first
        parts = [f"{self.name:<16}"]
        if count:
            parts.append(f"{count:>12,} {self.unit}")
        parts.append(f"in {clock(seconds)}")
        if count and seconds > 0.05:
            parts.append(f"({pace(count / seconds)})")
        if self.note:
            parts.append(self.note)
        self._write("  ".join(parts), end="\n")

    def _line(self, seconds: float) -> str:
        rate = (self.done - self.first) / seconds if seconds > 0 else 0.0
        parts = [f"{self.name:<16}"]
        if self.total:
            share = min(self.done / self.total, 1.0)
            parts.append(f"{'█' * int(share * BAR):░<{BAR}} {share:4.0%}")
        elif self.done:
            parts.append(f"{self.done:,} {self.unit}")
        if rate:
            parts.append(pace(rate, f" {self.unit}"))
        if self.note:
            parts.append(self.note)
        if self.total and rate:
            parts.append(f"{clock(max(self.total - self.done, 0) / rate)} left")
        return "  ".join(parts)

    def _write(self, line: str, end: str) -> None:
        stream = self.progress.stream
        if self.progress.terminal:
            width = shutil.get_terminal_size().columns - 1
            line = "\r\x1b[K" + line[:width]
        stream.write(line + end)
        stream.flush()


def pace(rate: float, unit: str = "") -> str:
    """So many a second; of what takes longer so many a minute, or an hour: `12,345/s`, `7.5 runs/min`."""
    for seconds, name in ((1, "s"), (60, "min")):
        if rate * seconds >= 1:
            return f"{rate:,.0f}{unit}/s" if seconds == 1 else f"{rate * seconds:.1f}{unit}/{name}"
    return f"{rate * 3600:.1f}{unit}/h"


def clock(seconds: float) -> str:
    """Seconds as people read them: `0.4 s`, `12 s`, `3:25`, `1:02:03`."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
