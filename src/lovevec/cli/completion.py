"""`lovevec completion`: a script by which a shell completes commands, options, files and the names of shipped models.

shtab makes the script from the parsers of all commands, so nothing is said twice. It calls nothing: pressing the tab
key starts no Python. What an argument takes is told by its choices, or else by its name in the help (`PATHS`).
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator
from inspect import signature
from typing import Any

from lovevec import __version__
from lovevec.cli.shell import describe
from lovevec.cli.terminal import put
from lovevec.errors import LovevecError

ABOUT = "Print a script by which a shell completes commands, options, files and the names of shipped models."
MORE = """to have it from now on:
  bash   echo 'source <(lovevec completion bash)' >> ~/.bashrc
  zsh    lovevec completion zsh > "${fpath[1]}/_lovevec"
         or in ~/.zshrc, behind compinit: eval "$(lovevec completion zsh)"
  fish   lovevec completion fish > ~/.config/fish/completions/lovevec.fish

After an update of lovevec make the file again."""
SHELLS = ("bash", "zsh", "fish")
# bash hands over `--model=x` as three words, of which shtab's function would take the second for the value.
BASH_EQUALS = """

_lovevec() {
  local i words=() last=$COMP_CWORD
  for i in "${!COMP_WORDS[@]}"; do
    if [[ ${COMP_WORDS[i]} != "=" ]]; then
      words+=("${COMP_WORDS[i]}")
    elif ((i == COMP_CWORD)); then
      words+=("")
    elif ((i < COMP_CWORD)); then
      last=$((last - 1))
    fi
  done
  local COMP_WORDS=("${words[@]}") COMP_CWORD=$last
  _shtab_lovevec
}

complete -o bashdefault -F _lovevec lovevec
"""
# What an argument of this name takes besides names: files, or folders only. One that is not here takes neither.
PATHS = {
    **dict.fromkeys(("FILE", "TARGET", "VECTORS", "METHOD", "ENCODER", "SET"), "file"),
    **dict.fromkeys(("FOLDER", "MODEL", "TRANSFORMER"), "directory"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, ABOUT, MORE)
    parser.add_argument("shell", choices=SHELLS, help="for which shell")


def run(options: argparse.Namespace) -> None:
    import shtab

    parser = whole_parser()
    for action in _actions(parser):
        if complete := _completion(action):
            action.complete = complete  # type: ignore[attr-defined]
    put(shtab.complete(parser, options.shell) + (BASH_EQUALS if options.shell == "bash" else ""))


def whole_parser() -> argparse.ArgumentParser:
    """`lovevec` with all arguments of all its commands."""
    from lovevec.cli import COMMANDS, command_module, commands_of_others

    parser = argparse.ArgumentParser("lovevec")
    parser.add_argument("--version", action="version", version=__version__, help="print the version, and exit")
    commands = parser.add_subparsers()
    for name, about in (COMMANDS | commands_of_others()).items():
        try:
            add = command_module(name).add_arguments
        except LovevecError:  # the lab is not installed
            continue
        everything = {"everything": True} if "everything" in signature(add).parameters else {}
        add(commands.add_parser(name, help=about), **everything)
    return parser


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
        else:
            yield action


def _completion(action: argparse.Action) -> dict[str, Any] | None:
    """What shtab puts behind an argument: for each shell how it completes names and paths. None where argparse's own
    choices say it, or where any string will do."""
    import shtab

    from lovevec.model.shipped import shipped

    argument = str(action.metavar or action.dest).upper()
    paths = shtab.CHOICE_FUNCTIONS.get(PATHS.get(argument, ""))
    names = " ".join(getattr(action, "suggestions", ()))
    if argument in ("MODEL", "METHOD", "ENCODER"):
        names = " ".join(shipped())
    elif action.dest == "device":
        names = "auto cpu cuda"
    if action.choices or action.nargs == 0 or not (names or paths):
        return None
    if not names:
        return paths
    # bash wants a function: one a list of names, called by a number
    function = f"_lovevec_{PATHS.get(argument, 'name')}_{zlib.crc32(names.encode())}"
    and_paths = f'\n  {paths["bash"]} "$1"' if paths else ""
    return {
        "bash": function,
        "zsh": f"{{compadd -- {names}; {paths['zsh']}}}" if paths else f"({names})",
        "fish": f"{names} {paths['fish']}" if paths else names,
        "preamble": {"bash": f'{function}() {{\n  compgen -W "{names}" -- "$1"{and_paths}\n}}\n'},
    }
