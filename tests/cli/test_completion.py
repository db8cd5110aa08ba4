"""Completion in the shells themselves: what they offer after a tab is what argparse takes."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.command_line import run_here

from lovevec.cli import COMMANDS
from lovevec.cli.completion import SHELLS
from lovevec.model.shipped import shipped

# What is typed before a tab, and the arguments that the shell then calls lovevec with.
LINES = {
    "tra": ["train"],
    "info -m mini": ["info", "-m", "minilm-input"],
    "info --model=mini": ["info", "--model=minilm-input"],
    "info -m my-m": ["info", "-m", "my-model"],
    "fill glo": ["fill", "glove.txt"],
    "export -o spa": ["export", "-o", "spaced folder"],
    "export my-model -o spa": ["export", "my-model", "-o", "spaced folder"],
    "evaluate simi": ["evaluate", "similarity"],
    "evaluate similarity --riv": ["evaluate", "similarity", "--rivals"],
    "evaluate similarity --rivals symsp": ["evaluate", "similarity", "--rivals", "symspell"],
    "evaluate similarity glo": ["evaluate", "similarity", "glove.txt"],
    "evaluate typos --methods default glo": ["evaluate", "typos", "--methods", "default", "glove.txt"],
    "embed --format par": ["embed", "--format", "parquet"],
    "train glove.txt --key-w": ["train", "glove.txt", "--key-width"],
    "train glove.txt --encoder auth": ["train", "glove.txt", "--encoder", "authors"],
    "distill x --corpus glove.txt oth": ["distill", "x", "--corpus", "glove.txt", "other.txt"],
    "near glo": ["near", "glo"],  # any string is a word: there is nothing to complete
    "fill glove.txt -o out.vec --words oth": ["fill", "glove.txt", "-o", "out.vec", "--words", "other.txt"],
    "reproduce robu": ["reproduce", "robustness"],
    "completion fi": ["completion", "fish"],
}

# What shtab's scripts do not complete: values after the first of an option in zsh and fish, values behind `=` in zsh.
UNKNOWN_TO_FISH = ("evaluate typos --methods default glo", "distill x --corpus glove.txt oth")
UNKNOWN_TO_ZSH = ("info --model=mini", *UNKNOWN_TO_FISH)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with some files to name, and the three scripts beside it. No lovevec is in reach: none is called."""
    folder = tmp_path_factory.mktemp("completion") / "here"
    for name in ("my-model", "spaced folder"):
        (folder / name).mkdir(parents=True)
    for name in ("glove.txt", "other.txt"):
        (folder / name).touch()
    for shell in SHELLS:
        done = run_here("completion", shell)
        assert (done.returncode, done.stderr) == (0, b"")
        (folder.parent / f"script.{shell}").write_bytes(done.stdout)
    return folder


def needed(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    return found


class Terminal:
    """A shell at a terminal of its own, where keys are pressed."""

    def __init__(self, program: list[str], folder: Path, setup: str) -> None:
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            path = os.environ.get("PATH", os.defpath)
            os.execve(program[0], program, {"PATH": path, "TERM": "vt100", "PS1": "$ ", "HOME": str(folder.parent)})
        self.said = ""
        called = "lovevec() { echo '<begin>'; printf '<<%s>>\\n' \"$@\"; echo '<called>'; }"
        self.type(f"{called}\n{setup}\necho rea''dy\n", until="ready\r\n")

    def type(self, keys: str, until: str) -> str:
        """Press keys; what the shell says until this was said."""
        os.write(self.file, keys.encode())
        start, end = len(self.said), time.monotonic() + 60
        while until not in self.said[start:]:
            assert time.monotonic() < end, f"{keys!r}: {self.said[start:]!r} has no {until!r}"
            if select.select([self.file], [], [], 1)[0]:
                self.said += os.read(self.file, 65_536).decode()
        return self.said[start:]

    def complete(self, line: str) -> list[str]:
        """Type a line, a tab and Enter; with which arguments `lovevec` was then called."""
        said = self.type(f"lovevec {line}\t\n", until="<called>\r\n")
        return re.findall(r"<<(.*?)>>", said[said.rindex("<begin>") :])

    def close(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.file)


def at_terminal(program: list[str], place: Path, setup: str, unknown: tuple[str, ...] = ()) -> None:
    terminal = Terminal(program, place, setup)
    try:
        for line in set(LINES).difference(unknown):
            expected = LINES[line]
            assert [given.rstrip("/") for given in terminal.complete(line)] == expected, line
    finally:
        terminal.close()


def test_bash_completes(place):
    at_terminal([needed("bash"), "--norc", "--noprofile", "-i"], place, "source ../script.bash")


def test_zsh_completes(place):
    setup = 'autoload -Uz compinit; compinit -u -D; eval "$(cat ../script.zsh)"'
    at_terminal([needed("zsh"), "-f", "-i"], place, setup, UNKNOWN_TO_ZSH)


def test_zsh_completes_from_its_path_of_functions(place):
    folder = place.parent / "functions"
    folder.mkdir()
    shutil.copy(place.parent / "script.zsh", folder / "_lovevec")
    setup = "fpath=(../functions $fpath); autoload -Uz compinit; compinit -u -D"
    at_terminal([needed("zsh"), "-f", "-i"], place, setup, UNKNOWN_TO_ZSH)


def fish_offers(place: Path, line: str) -> list[str]:
    program = [needed("fish"), "--no-config", "-c", "source ../script.fish; complete -C $argv[1]", f"lovevec {line}"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(place.parent)}
    done = subprocess.run(program, capture_output=True, text=True, cwd=place, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


def test_fish_completes(place):
    for line in set(LINES).difference(UNKNOWN_TO_FISH):
        expected = LINES[line]
        offered = [name.rstrip("/") for name in fish_offers(place, line)]
        assert offered == ([] if line == "near glo" else [expected[-1]]), line


def bash_offers(place: Path, line: str) -> list[str]:
    """All that bash offers for a line that ends in the word to complete."""
    script = """source ../script.bash
compopt() { :; }  # which works only at a terminal
while IFS= read -r line; do
  COMP_WORDS=($line) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _lovevec; echo "${COMPREPLY[*]}"
done"""
    program = [needed("bash"), "--norc", "-c", script]
    done = subprocess.run(program, input=f"lovevec {line}\n", capture_output=True, text=True, cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def flags_in_help(path: tuple[str, ...]) -> set[str]:
    """The flags that a command's own help names: the oracle."""
    most = "--help-all" if path in (("train",), ("prepare",)) else "--help"
    done = run_here(*path, most)
    assert done.returncode == 0
    return set(re.findall(r"^ +(?:-\w, |-\w [A-Z]+, )?(--[\w-]+)", done.stdout.decode(), flags=re.MULTILINE))


@pytest.mark.parametrize("path", [(), ("train",), ("embed",), ("distill",), ("evaluate", "clusters"), ("reproduce",)])
def test_every_flag_of_the_help_is_offered(place, path):
    at = " ".join([*path, "--"])
    flags = flags_in_help(path)
    assert len(flags) >= 2
    assert flags <= set(bash_offers(place, at))
    if shutil.which("fish"):
        assert flags <= set(fish_offers(place, at))


def test_commands_and_models_are_all_there(place):
    assert set(COMMANDS) <= set(bash_offers(place, "''"))
    assert set(shipped()) <= set(bash_offers(place, "info -m m")) | set(bash_offers(place, "info -m d"))


def test_an_unknown_shell_is_one_error():
    done = run_here("completion", "cmd")
    assert done.returncode == 2
    assert b"invalid choice: 'cmd'" in done.stderr
