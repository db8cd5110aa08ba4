"""`lovevec completion`: a script by which a shell completes commands, options, files and the names of shipped models.

The script is made from the parsers of all commands, so nothing is said twice, and it calls nothing: pressing the tab
key starts no Python. What an argument takes is told by its choices, or else by its name in the help (`PATHS`).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from inspect import signature
from shlex import quote

from lovevec import __version__
from lovevec.cli.shell import describe, put
from lovevec.errors import LovevecError

ABOUT = "Print a script by which a shell completes commands, options, files and the names of shipped models."
MORE = """to have it from now on:
  bash   echo 'source <(lovevec completion bash)' >> ~/.bashrc
  zsh    lovevec completion zsh > "${fpath[1]}/_lovevec"
         or in ~/.zshrc, behind compinit: source <(lovevec completion zsh)
  fish   lovevec completion fish > ~/.config/fish/completions/lovevec.fish

After an update of lovevec make the file again."""
# What an argument of this name takes besides names: files, or folders only. One that is not here takes neither.
PATHS = {
    **dict.fromkeys(("FILE", "TARGET", "VECTORS", "METHOD", "ENCODER", "SET"), "files"),
    **dict.fromkeys(("FOLDER", "MODEL", "TRANSFORMER"), "folders"),
}


@dataclass(frozen=True)
class Values:
    """What an argument takes: one of these names, a path, either, or anything (neither)."""

    names: tuple[str, ...] = ()
    paths: str = ""
    many: bool = False


@dataclass
class Command:
    """What may follow a command: options (`values` None: nothing comes after one), places, further commands."""

    path: tuple[str, ...]
    help: str
    options: list[tuple[list[str], str, Values | None]] = field(default_factory=list)
    places: list[Values] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)

    def all(self) -> Iterator[Command]:
        """This one and those below."""
        yield self
        for command in self.commands:
            yield from command.all()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command."""
    describe(parser, ABOUT, MORE)
    parser.add_argument("shell", choices=list(SCRIPTS), help="for which shell")


def run(given: argparse.Namespace) -> None:
    """Print the script."""
    put(SCRIPTS[given.shell](all_commands()))


def all_commands() -> Command:
    """`lovevec` and everything below it."""
    from lovevec.cli import COMMANDS, command_module, commands_of_others

    root = argparse.ArgumentParser("lovevec")
    root.add_argument("--version", action="version", version=__version__, help="print the version, and exit")
    commands = root.add_subparsers()
    for name, help in (COMMANDS | commands_of_others()).items():
        try:
            fill = command_module(name).add_arguments
        except LovevecError:  # the lab is not installed
            continue
        everything = {"everything": True} if "everything" in signature(fill).parameters else {}
        fill(commands.add_parser(name, help=help), **everything)
    return _read(root, (), "")


def _read(parser: argparse.ArgumentParser, path: tuple[str, ...], help: str) -> Command:
    command = Command(path, help)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            command.commands = [_read(below, (*path, name), helps[name]) for name, below in action.choices.items()]
        elif action.option_strings:
            values = None if action.nargs == 0 else _values(action)
            command.options.append((list(action.option_strings), _line(action.help, parser), values))
        else:
            command.places.append(_values(action))
    return command


def _values(action: argparse.Action) -> Values:
    from lovevec.model.shipped import shipped

    many = action.nargs in ("*", "+")
    if action.choices:
        return Values(tuple(map(str, action.choices)), many=many)
    name = str(action.metavar or action.dest).upper()
    names: tuple[str, ...] = ()
    if name in ("MODEL", "METHOD", "ENCODER"):
        names = tuple(shipped())
    elif action.dest == "device":
        names = ("auto", "cpu", "cuda")
    else:
        names = getattr(action, "suggestions", ())
    return Values(names, PATHS.get(name, ""), many)


def _line(help: str | None, parser: argparse.ArgumentParser) -> str:
    """A help as one short line; a shell shows dozens of them."""
    whole = " ".join((help or "").replace("%%", "%").split()).replace("%(prog)s", parser.prog)
    return re.sub(r" \(default[^()]*\)$", "", whole).split("; ")[0]


def bash(root: Command) -> str:
    """For bash 4 and later (3.2 completes too, but takes every value for the name of a file)."""
    cases = []
    for command in root.all():
        at = " ".join(command.path)
        flags = [flag for names, *_ in command.options for flag in names]
        cases.append((f"{at} -", Values(tuple(flags))))
        if command.commands:
            cases.append((f"{at} +", Values(tuple(below.path[-1] for below in command.commands))))
        for names, _, values in command.options:
            cases += [(f"{at} {flag}", values) for flag in names if values]
        cases += [(f"{at} {place}", values) for place, values in enumerate(command.places)]
    lines = [
        f"    {quote(key)}) names={quote(' '.join(taken.names))} paths={taken.paths} count={-1 if taken.many else 1} ;;"
        for key, taken in cases
    ]
    return BASH.replace("@CASES@", "\n".join(lines))


BASH = """# Completion of lovevec for bash, made by: lovevec completion bash

# What stands behind a key: `COMMAND -` its options, `COMMAND +` its commands, `COMMAND --flag` and `COMMAND 0` values.
_lovevec_values() {
  names="" paths="" count=0
  case "$1" in
@CASES@
    *) return 1 ;;
  esac
}

_lovevec() {
  local word=${COMP_WORDS[COMP_CWORD]} at="" option="" place=0 left=0 i given names paths count
  [[ $word == "=" ]] && word=""
  for ((i = 1; i < COMP_CWORD; i++)); do
    given=${COMP_WORDS[i]}
    if [[ $given == "=" ]]; then
      continue # --flag=value comes as three words
    elif [[ $given == -?* ]]; then
      option=$given
      _lovevec_values "$at $option"
      left=$count
    elif ((left != 0)); then
      ((left > 0)) && left=$((left - 1))
    elif _lovevec_values "$at +"; then
      at=${at:+$at }$given
    elif _lovevec_values "$at $place" && ((count == 1)); then
      place=$((place + 1))
    fi
  done
  COMPREPLY=()
  if ((left > 0)) || { ((left < 0)) && [[ $word != -* ]]; }; then
    _lovevec_values "$at $option"
  elif [[ $word == -* ]]; then
    _lovevec_values "$at -"
  else
    _lovevec_values "$at +" || _lovevec_values "$at $place"
  fi
  [[ -n $names ]] && COMPREPLY=($(compgen -W "$names" -- "$word"))
  if [[ $paths == folders ]]; then
    compopt -o plusdirs 2>/dev/null
  elif [[ -n $paths && ${#COMPREPLY[@]} -eq 0 ]]; then
    compopt -o default 2>/dev/null
  elif [[ -n $paths ]]; then
    while IFS= read -r given; do COMPREPLY+=("$given"); done < <(compgen -f -- "$word")
    compopt -o filenames 2>/dev/null
  fi
  return 0
}

if type compopt >/dev/null 2>&1; then
  complete -F _lovevec lovevec
else
  complete -o default -F _lovevec lovevec
fi
"""


def zsh(root: Command) -> str:
    """For zsh: a function of `_arguments` for each command."""
    functions = []
    for command in root.all():
        specs = []
        for flags, help, values in command.options:
            what = "" if values is None else f":{'*-*:' if values.many else ''}{_zsh_values(values)}"
            shown = f"[{_zsh_text(help)}]"
            # -m x and -mx; --model x and --model=x
            specs += [
                "*" + flag + ("" if values is None or values.many else "=" if flag[:2] == "--" else "+") + shown + what
                for flag in flags
            ]
        for place, values in enumerate(command.places):
            specs.append(f"{'*' if values.many else place + 1}:{_zsh_values(values)}")
        functions.append(_zsh_function(command, specs))
    return ZSH.replace("@FUNCTIONS@", "\n".join(functions))


def _zsh_function(command: Command, specs: list[str]) -> str:
    lines = [f"{_function(command)}() {{"]
    if command.commands:
        described = [f"{below.path[-1]}:{_zsh_text(below.help)}" for below in command.commands]
        lines += [
            '  local curcontext="$curcontext" state line',
            f"  local -a commands=({' '.join(map(quote, described))})",
            f"  _arguments -C {' '.join(map(quote, specs))} '1: :->command' '*:: :->argument' && return",
            "  case $state in",
            "    command) _describe command commands ;;",
            "    argument) case $line[1] in",
            *(f"      {below.path[-1]}) {_function(below)} ;;" for below in command.commands),
            "    esac ;;",
            "  esac",
        ]
    else:
        lines.append(f"  _arguments {' '.join(map(quote, specs))}")
    return "\n".join([*lines, "}"])


def _function(command: Command) -> str:
    return "_" + "_".join(("lovevec", *command.path))


def _zsh_values(values: Values) -> str:
    """` :action` of what is taken: with the blank message that `_arguments` wants before it."""
    names = " ".join(values.names)
    if not values.paths:
        return f" :({names})" if names else " : "
    if names:
        return f" : _lovevec_name_or_{values.paths} {names}"
    return " :_files" if values.paths == "files" else " :_files -/"


def _zsh_text(help: str) -> str:
    return re.sub(r"([\\\[\]:])", r"\\\1", help)


ZSH = """#compdef lovevec
# Completion of lovevec for zsh, made by: lovevec completion zsh

_lovevec_name_or_files() {
  local found=1
  compadd -- "$@" && found=0
  _files && found=0
  return found
}

_lovevec_name_or_folders() {
  local found=1
  compadd -- "$@" && found=0
  _files -/ && found=0
  return found
}

@FUNCTIONS@

if [[ $funcstack[1] == _lovevec ]]; then
  _lovevec "$@"
else
  compdef _lovevec lovevec
fi
"""


def fish(root: Command) -> str:
    """For fish: a line for each option and place."""
    lines = []
    for command in root.all():
        at = " ".join(command.path)
        here = f"__lovevec_at {at}".strip()
        for below in command.commands:
            lines.append(_fish_line(f"__lovevec_end {at}".strip(), "-a", below.path[-1], "-d", below.help))
        for flags, help, values in command.options:
            named = [part for flag in flags for part in (("-l", flag[2:]) if flag[:2] == "--" else ("-s", flag[1:]))]
            lines.append(_fish_line(here, *named, *_fish_values(values), "-d", help))
        # fish does not know options with many values: what those take is offered wherever no option is
        many = [values for *_, values in command.options if values and values.many]
        for values in [*command.places, *many]:
            if values.names or values.paths:
                lines.append(_fish_line(here, *_fish_values(values)[1:]))
    return FISH.replace("@LINES@", "\n".join(lines))


def _fish_line(condition: str, *parts: str) -> str:
    return f"complete -c lovevec -n {_fish_text(condition)} " + " ".join(
        part if re.fullmatch(r"[\w-]+", part) else _fish_text(part) for part in parts
    )


def _fish_values(values: Values | None) -> list[str]:
    """-r: a value has to follow; -F: files too; -a: these."""
    if values is None:
        return []
    folders = ["(__fish_complete_directories (commandline -ct))"] if values.paths == "folders" else []
    listed = " ".join([*values.names, *folders])
    return ["-r", "-F" if values.paths == "files" else "-f", *(["-a", listed] if listed else [])]


def _fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


FISH = """# Completion of lovevec for fish, made by: lovevec completion fish

function __lovevec_at --description 'the command line begins with these commands'
    set -l words (commandline -opc)
    set -l last (math (count $argv) + 1)
    test (count $argv) -eq 0; and return 0
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end

function __lovevec_end --description 'these commands and nothing else are there yet'
    set -l words (commandline -opc)
    test (count $words) -eq (math (count $argv) + 1); and __lovevec_at $argv
end

complete -c lovevec -f
@LINES@
"""

SCRIPTS = {"bash": bash, "zsh": zsh, "fish": fish}
