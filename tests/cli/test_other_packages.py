"""Commands that other packages bring, by the entry-point group `lovevec.commands`; and what is said without them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import lovevec

SOURCE = Path(lovevec.__file__).parents[1]
HELLO = """
def add_arguments(parser):
    parser.add_argument("words", nargs="*")

def run(options):
    print("hello", *options.words)
"""


def run_bare(*arguments: str, path: Path = SOURCE) -> subprocess.CompletedProcess[str]:
    """Run `lovevec …` where nothing else is installed: Python without its site-packages."""
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{path}"}
    command = [sys.executable, "-S", "-m", "lovevec.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)


def test_without_the_lab_one_line_says_how_to_get_it():
    for command in ("evaluate", "reproduce"):
        done = run_bare(command, "similarity")
        line = f"lovevec: {command} is a command of another package: pip install lovevec-lab\n"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    assert "evaluate" in run_bare("--help").stdout


def test_an_unknown_command_is_answered_by_the_names():
    done = run_bare("evaluat")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == "lovevec: error: there is no command 'evaluat'; did you mean evaluate?"


def test_a_command_that_nothing_is_like_points_to_help():
    done = run_bare("xyzzy")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "lovevec: error: there is no command 'xyzzy'; lovevec --help lists all"


def test_an_unknown_option_is_told_by_its_command_with_the_one_that_was_meant():
    done = run_bare("near", "--jsn", "recieve")
    assert (done.returncode, done.stdout) == (2, "")
    usage, problem = done.stderr.splitlines()
    assert usage.startswith("usage: lovevec near ")
    assert problem == "lovevec near: error: unrecognized arguments: --jsn; did you mean --json?"


def test_a_package_brings_a_command(tmp_path):
    (tmp_path / "hello_command.py").write_text(HELLO)
    metadata = tmp_path / "hello-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: hello\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[lovevec.commands]\nhello = hello_command\n")
    assert "from the package hello" in run_bare("--help", path=tmp_path).stdout
    done = run_bare("hello", "big", "world", path=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello big world\n", "")
