"""`lovevec …` as people run it, with the bytes of its streams: in this process, or in one of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from lovevec.cli import main

Completed = subprocess.CompletedProcess
# Buffers as users have them: with PYTHONUNBUFFERED what goes wrong at the last flush would not show.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name not in ("PYTHONUNBUFFERED", "PYTHONIOENCODING")
}


def run_here(
    *arguments: object,
    input: bytes = b"",
    stdin: IO[bytes] | int | None = None,
    stdout: IO[bytes] | int | None = None,
    cwd: Path | None = None,
    encoding: str = "utf-8",
) -> Completed[bytes]:
    """Run a command in this process, with pipes as its standard streams, and without the start of an interpreter.

    The streams are real ones, of the system as of Python: `stdin` and `stdout` may be open files, terminals or closed
    pipes instead; `stdout=subprocess.STDOUT` puts what goes out among the errors, as a terminal shows it. `encoding` is
    what Python would take the terminal's to be. Signals, limits of memory and lists of what is imported need
    `run_process`.
    """
    words = [os.fsdecode(word) if isinstance(word, bytes) else str(word) for word in arguments]
    with ExitStack() as stack:
        out, errors = _Reader(stack), _Reader(stack)
        source = _pipe_of(input, stack) if stdin is None else _number(stdin)
        target = out.end if stdout is None else errors.end if stdout == subprocess.STDOUT else _number(stdout)
        folder = Path.cwd()
        with _standard_streams(source, target, errors.end, encoding):
            try:
                os.chdir(cwd or folder)
                code = main(words)
            except SystemExit as end:  # argparse ends programs itself
                code = end.code if isinstance(end.code, int) else 0
            finally:
                os.chdir(folder)
        return Completed(words, code, out.content(), errors.content())


def run_process(*arguments: object, input: bytes | None = b"", **more: Any) -> Completed[bytes]:
    """The same in a process of its own; further arguments are those of `subprocess.run`."""
    if "stdin" not in more:
        more["input"] = input
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120, "env": ENVIRONMENT, **more}
    return subprocess.run(command(*arguments), **more)


def command(*arguments: object) -> list[str | bytes]:
    """What starts a process that runs the command."""
    return [sys.executable, "-m", "lovevec.cli", *(a if isinstance(a, bytes) else str(a) for a in arguments)]


@contextmanager
def small_files() -> Iterator[None]:
    """Files of this process, may hold 20,000 bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def _standard_streams(source: int, target: int, errors: int, encoding: str) -> Iterator[None]:
    python, system = (sys.stdin, sys.stdout, sys.stderr), [os.dup(number) for number in range(3)]
    for number, file in enumerate((source, target, errors)):
        os.dup2(file, number)
    streams = [
        open(number, mode, buffering, encoding, handling, closefd=False)  # noqa: SIM115
        for number, (mode, buffering, handling) in enumerate(
            [("r", -1, "strict"), ("w", -1, "strict"), ("w", 1, "backslashreplace")]
        )
    ]
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        yield
    finally:
        for stream in streams[1:]:
            _drain(stream)
        sys.stdin, sys.stdout, sys.stderr = python
        for number, file in enumerate(system):
            os.dup2(file, number)
            os.close(file)


def _drain(stream: TextIOWrapper) -> None:
    """Nothing may be left that goes out later, when the number of the file means another."""
    try:
        stream.flush()
    except OSError:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        stream.flush()


def _pipe_of(content: bytes, stack: ExitStack) -> int:
    """The end of a pipe from which the content comes, as fast as it is read."""
    reading, writing = os.pipe()

    def write() -> None:
        with suppress(BrokenPipeError), open(writing, "wb", buffering=0) as file:
            rest = memoryview(content)
            while rest:
                rest = rest[file.write(rest) :]

    thread = threading.Thread(target=write)
    thread.start()
    stack.callback(thread.join)
    stack.callback(os.close, reading)  # first: what nobody wants to read ends the thread
    return reading


class _Reader:
    """Takes what is written into a pipe."""

    def __init__(self, stack: ExitStack) -> None:
        reading, self.end = os.pipe()
        self.blocks: list[bytes] = []
        self.file = open(reading, "rb")  # noqa: SIM115
        self.thread = threading.Thread(target=lambda: self.blocks.append(self.file.read()))
        self.thread.start()
        stack.callback(self.content)

    def content(self) -> bytes:
        """All of it; ends the pipe."""
        if not self.file.closed:
            os.close(self.end)
            self.thread.join()
            self.file.close()
        return b"".join(self.blocks)


def _number(file: IO[bytes] | int) -> int:
    return file if isinstance(file, int) else file.fileno()
