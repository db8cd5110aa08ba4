"""Flags of `lovevec train` and `lovevec prepare` from the fields of the settings, so that nothing is said twice.

`--help` explains the settings that people use first and names the others; `--help-all` explains all of them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import Field
from textwrap import wrap
from typing import Any, get_args, get_type_hints

from lovevec.train.settings import PRESETS, by_group, names

PRESET_HELP = """settings that go together; what is said beside it counts more. paper: the defaults; recipe: n-grams and
more kinds of damage ("our recipe" of docs/results); typos: larger, for damaged words, as inside BERT-like models"""
WIDTH = 96


class HelpAll(argparse.Action):
    """Prints the help of a parser that `fill(parser, everything=True)` fills, and ends the program."""

    def __init__(self, fill: Callable[..., None], **options: Any) -> None:
        super().__init__(nargs=0, default=argparse.SUPPRESS, **options)
        self.fill = fill

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        whole = argparse.ArgumentParser(parser.prog)
        self.fill(whole, everything=True)
        whole.print_help()
        whole.exit()


def add_settings(parser: argparse.ArgumentParser, *kinds: type, everything: bool) -> None:
    """A flag for each field of these settings classes. With `everything` all are explained, in groups; else the basic
    ones are, and the others are named in a paragraph before the examples."""
    parser.add_argument("--preset", choices=list(PRESETS), default=None, help=PRESET_HELP)
    basic = parser.add_argument_group("settings that people use first")
    others: list[str] = []
    for kind in kinds:
        hints = get_type_hints(kind)
        for title, settings in by_group(kind).items():
            group = parser.add_argument_group(title) if everything else basic
            advanced = []
            for setting in settings:
                explained = everything or setting.metadata.get("basic", False)
                _add_flag(group, setting, hints[setting.name], explained)
                advanced += [] if explained else [flag_of(setting.name)]
            others += wrap(f"  {title}: {', '.join(advanced)}", WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    if not everything:
        parser.epilog = "\n".join(["more settings, which --help-all explains:", *others, "", parser.epilog or ""])


def flag_of(name: str) -> str:
    """key_width -> --key-width."""
    return "--" + name.replace("_", "-")


def _add_flag(group: Any, setting: Field[Any], hint: Any, explained: bool) -> None:
    """One flag; without it the field is left to its default."""
    flag, default = flag_of(setting.name), "" if setting.default in ("", None) else f" (default {setting.default})"
    help = (setting.metadata["help"] + default).replace("%", "%%") if explained else argparse.SUPPRESS
    if hint in (bool, bool | None):
        group.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=help)
        return
    choices = setting.metadata.get("choices") or get_args(hint) or None
    number = hint if hint in (int, float) else str
    metavar = {int: "N", float: "X", str: "FILE" if setting.metadata.get("file") else "TEXT"}[number]
    group.add_argument(
        flag, type=number, choices=choices, metavar=None if choices else metavar, default=None, help=help
    )


def chosen_settings(options: argparse.Namespace, kind: type) -> dict[str, Any]:
    """What was said, by a preset or by itself."""
    preset = {name: value for name, value in PRESETS[options.preset or "paper"].items() if name in names(kind)}
    return preset | {name: getattr(options, name) for name in names(kind) if getattr(options, name) is not None}
