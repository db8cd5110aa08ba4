"""What pages and `--help` show can be typed: the commands are there, and so are their options."""

from __future__ import annotations

import argparse
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from lovevec.cli import COMMANDS, LAB, command_module

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "lab").rglob("*.md"),
    *(ROOT / "lab" / "runs").glob("*.sh"),
]
NAMES = [*COMMANDS, *LAB]
SHOWN = re.compile(rf"(?<![\w/.-])(?:lovevec|python -m lovevec(?:\.cli)?) ({'|'.join(NAMES)})\b([^`\n]*)")
EXAMPLE = re.compile(rf"^ +(?:\w+=\S+ )?lovevec ({'|'.join(NAMES)})\b(.*)", re.MULTILINE)
END = re.compile(r"\s(?:[|<>;&#]|2>)")  # of what the shell gives to the command
OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*(?<!-)")


@cache
def parser(name: str) -> argparse.ArgumentParser:
    command = argparse.ArgumentParser(f"lovevec {name}")
    command_module(name).add_arguments(command)
    return command


def with_subcommands(top: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    below = [action.choices for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    return [top, *(found for choices in below for one in choices.values() for found in with_subcommands(one))]


@cache
def options(name: str) -> set[str]:
    return {option for one in with_subcommands(parser(name)) for option in one._option_string_actions}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_on_pages_are_there(page):
    text = re.sub(r"\\\n(?:> )?", " ", page.read_text("utf-8"))
    for name, rest in SHOWN.findall(text):
        flags = OPTION.findall(END.split(re.sub(r"'[^']*'|\"[^\"]*\"", "", rest))[0])
        assert set(flags) <= options(name), f"lovevec {name}{rest}"


def test_pages_show_commands():
    assert sum(len(SHOWN.findall(page.read_text("utf-8"))) for page in PAGES) > 80


@pytest.mark.parametrize("name", [name for name in NAMES if name != "completion"])  # its examples are for shells
def test_examples_of_help_are_understood(name):
    examples = [found for one in with_subcommands(parser(name)) for found in EXAMPLE.findall(one.epilog or "")]
    assert examples
    for command, rest in examples:
        parser(command).parse_args(shlex.split(END.split(rest)[0]))
