"""Runs a page of the guide as a reader would: its code blocks in order, in one process, in an empty folder.

    python -m tests.guide_page PAGE.md      # in the folder to run in; JSON on the last line of stdout

What a block is, its first line says:

    python           run in the namespace of the page
    text             straight after a python block: what that block prints
    console          lines `$ command` (`> ` goes on with it), each followed by what it prints, if the page shows it
    sh, bash         a script, run with -e
    anything else    a file, if `<!-- file: NAME -->` stands above it: written to NAME

`<!-- not run: REASON -->` above a block says why it is not run. In what is shown `…` stands for anything on its line,
alone on a line for any number of lines. The first block that fails ends the run; its error goes to stderr.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.command_line import run_here

FENCE = re.compile(
    r"(?:^<!-- *(?P<word>not run|file): *(?P<value>.+?) *-->\n+)?"
    r"^(?P<indent> *)```(?P<language>[\w+-]*)[^\n]*\n(?P<code>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)
# One command that answers, in words that a shell takes as they are.
PLAIN = re.compile(
    r"lovevec (?P<arguments>(?:convert|correct|embed|encode|explain|index|info|near|neighbors|search|similar)\b"
    r"[^|<>&;$*?`\\\n~(){}\[\]#!]*)\n?"
)


@dataclass
class Block:
    """A code block: its language, its text, the line where the text begins, and what stands above it."""

    language: str
    code: str
    line: int
    not_run: str | None = None
    file: str | None = None
    shown: str | None = None


@dataclass
class Run:
    """What was run: where it stands, what it printed (a command: both streams, as a terminal has them), and what
    the page shows of that."""

    line: int
    code: str
    printed: str
    shown: str | None


def blocks_of(page: str) -> list[Block]:
    """The code blocks of a page; output that the page shows is a part of the block that prints it."""
    blocks: list[Block] = []
    end = 0
    for match in FENCE.finditer(page):
        line = page.count("\n", 0, match.start("code")) + 1
        code = re.sub(rf"^{match['indent']}", "", match["code"], flags=re.MULTILINE)
        directive = {match["word"]: match["value"]}
        between = page[end : match.start()]
        end = match.end()
        if match["language"] == "text" and None in directive and blocks and not between.strip():
            blocks[-1].shown = code
        else:
            blocks.append(Block(match["language"], code, line, directive.get("not run"), directive.get("file")))
    return blocks


def commands_of(code: str) -> list[tuple[int, str, str | None]]:
    """Of a console block: each command with its place, and the lines that follow it, None where there are none."""
    found: list[tuple[int, str, str | None]] = []
    for place, line in enumerate(code.splitlines()):
        if line.startswith("$ "):
            found.append((place, line[2:], None))
        elif found:
            at, command, shown = found[-1]
            goes_on = line.startswith("> ") and shown is None
            found[-1] = (at, f"{command}\n{line[2:]}", None) if goes_on else (at, command, f"{shown or ''}{line}\n")
        else:
            raise ValueError(f"a console block begins with a command, `$ …`, not with {line!r}")
    return found


def matches(shown: str, printed: str) -> bool:
    """Whether what is shown was printed, up to `…` and blanks at the ends of lines."""
    lines = [line.rstrip() for line in shown.rstrip().splitlines()]
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n" for line in lines
    )
    tidy = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
    return re.fullmatch(pattern, tidy) is not None


def run_python(block: Block, namespace: dict[str, object], name: str) -> Run:
    """Run a block in the page's namespace, with its line numbers in tracebacks."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (block.line - 1) + block.code, name, "exec"), namespace)
    return Run(block.line, block.code, printed.getvalue(), block.shown)


def run_command(line: int, command: str, shown: str | None, name: str) -> Run:
    """Run a command as a shell does; one that fails ends the page. What is `lovevec …` and no more needs no shell and
    no process of its own."""
    if match := PLAIN.fullmatch(command):
        done = run_here(*shlex.split(match["arguments"]), stdout=subprocess.STDOUT)
        printed, code = done.stderr.decode(), done.returncode
    else:
        code, printed = run_shell(command)
    if code != 0:
        sys.exit(f"{name}:{line}: exit code {code} of {command}\n{printed}")
    return Run(line, command, printed, shown)


def run_shell(command: str) -> tuple[int, str]:
    """The exit code of a script of bash, and both its streams."""
    done = subprocess.run(
        ["bash", "-c", f"set -euo pipefail\n{command}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def run_block(block: Block, namespace: dict[str, object], name: str) -> list[Run]:
    """Run a block, by its kind."""
    if block.not_run is not None:
        return []
    if block.file is not None:
        Path(block.file).parent.mkdir(parents=True, exist_ok=True)
        Path(block.file).write_text(block.code, "utf-8")
        return []
    if block.language == "python":
        return [run_python(block, namespace, name)]
    if block.language == "console":
        return [run_command(block.line + at, command, shown, name) for at, command, shown in commands_of(block.code)]
    if block.language in ("sh", "bash"):
        return [run_command(block.line, block.code, block.shown, name)]
    sys.exit(f"{name}:{block.line}: how is a block of {block.language or 'no language'} run?")


if __name__ == "__main__":
    page, everything = Path(sys.argv[1]), {"__name__": "__main__"}
    runs = [run for block in blocks_of(page.read_text("utf-8")) for run in run_block(block, everything, page.name)]
    sys.stdout.write("\n" + json.dumps([asdict(run) for run in runs]) + "\n")
