"""Who takes part in a task: the methods that were named, and rivals made on the spot from a target's vectors."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lovevec.errors import LovevecError, Parameter
from lovevec.progress import Progress
from lovevec_lab.evaluate.results import refuse_bad_folder
from lovevec_lab.methods.method import Method
from lovevec_lab.methods.open_method import as_method, as_table, is_there, parse_rivals, rivals_of, split_name
from lovevec_lab.methods.table import Table, table_of

Folder = str | os.PathLike[str]
Scores = TypeVar("Scores")


@dataclass(frozen=True)
class Comparison:
    """`rivals` by commas or as a list; `target` is what they learn from, by default the first method with a table.

    `keep` is a folder for learned rivals, which another run finds again there. What is wrong with any of it is said
    before anything is read.
    """

    rivals: str | Sequence[str] = ""
    target: Any = None
    device: str = "auto"
    seed: int = 0
    quick: bool = False
    keep: Folder | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.seed, int) or self.seed < 0:
            raise LovevecError(f"{Parameter('seed', repr(self.seed))}: a whole number from 0 up expected")
        if not isinstance(self.rivals, (str, list, tuple)):
            raise LovevecError(f"{Parameter('rivals', repr(self.rivals))}: names expected, by commas or as a list")
        parse_rivals(self.rival_names)
        if self.keep is not None:
            refuse_bad_folder(self.keep)

    @property
    def rival_names(self) -> str:
        """The rivals as one string, names with commas between."""
        return self.rivals if isinstance(self.rivals, str) else ",".join(self.rivals)

    def methods(self, sources: Any) -> list[Method]:
        """The named methods, then the rivals."""
        return self.with_rivals(self.open_methods(sources))

    def with_rivals(self, methods: list[Method]) -> list[Method]:
        """These methods, then the rivals; each under a name of its own."""
        if self.rival_names:
            methods = [*methods, *self.make_rivals(self.target_of(methods))]
        if not methods:
            raise LovevecError(f"nothing to evaluate: name a model or a vector file, or {Parameter('rivals')}")
        refuse_namesakes([method.name for method in methods])
        return methods

    def open_methods(self, sources: Any) -> list[Method]:
        """The methods that `sources` lists: names as on the command line, or what `as_method` takes; a dict gives each
        a name of its own. A model is two: by its spelling, as in the paper, and with near."""
        if isinstance(sources, Mapping):
            listed = [as_method(source, name, self.progress) for name, source in sources.items()]
        else:
            listed = [as_method(source, progress=self.progress) for source in as_list(sources)]
        return [row for method in listed for row in (method, *method.beside())]

    def target_of(self, methods: Sequence[Method]) -> Table:
        """The vectors that rivals learn from, and that right words are looked for in."""
        if self.target is not None:
            return as_table(self.target, self.progress)
        for method in methods:
            if (table := table_of(method)) is not None:
                return table
        raise LovevecError(
            f"no word vectors to learn from or to look in: name these with {Parameter('target', 'FILE')}"
        )

    def make_rivals(self, target: Table) -> list[Method]:
        """The rivals, made from the target."""
        rivals = rivals_of(
            self.rival_names,
            target,
            folder=None if self.keep is None else Path(self.keep) / "models",
            device=self.device,
            seed=self.seed,
            quick=self.quick,
            progress=self.progress or Progress(quiet=True),
        )
        return [row for rival in rivals for row in (rival, *rival.beside())]

    def score_each(self, sources: Any, score: Callable[[Method], Scores]) -> list[Scores]:
        """What `score` gives for each method."""
        methods, scores = self.methods(sources), []
        with (self.progress or Progress(quiet=True)).phase("scoring", total=len(methods), unit="methods") as phase:
            for method in methods:
                scores.append(score(method))
                phase.advance(note=method.name)
        return scores

    def settings(self) -> dict[str, Any]:
        """For the JSON."""
        return {"rivals": self.rival_names, "target": without_folders(self.target)}

    def settings_of(self, sources: Any, sets: Sequence[Any], **more: Any) -> dict[str, Any]:
        """All that the scores of methods on sets of words depend on, with what else a task has; a set is told by its
        content."""
        return {
            "methods": [without_folders(source) for source in as_list(sources)],
            **self.settings(),
            "sets": {one.name: one.digest for one in sets},
            "seed": self.seed,
            "quick": self.quick,
            **more,
        }


def as_list(sources: Any) -> list[Any]:
    """Several things as they are (of a dict the names), one thing as a list of itself."""
    a_table = isinstance(sources, tuple) and len(sources) == 2 and isinstance(sources[1], np.ndarray)
    return list(sources) if isinstance(sources, (list, tuple, Mapping)) and not a_table else [sources]


def refuse_namesakes(names: Sequence[str]) -> None:
    """Two rows of one name could not be told apart."""
    for name in names:
        if names.count(name) > 1:
            raise LovevecError(
                f"two methods are called {name}: give one a name of its own in front, as in other=…"
                " (in Python by a dict, {'other': …})"
            )


def refuse_less_than_one(**counts: int | None) -> None:
    """An error before any work is done."""
    for name, number in counts.items():
        if number is not None and (not isinstance(number, int) or number < 1):
            raise LovevecError(f"{Parameter(name)}: must be at least 1, a whole number, not {number!r}")


def number_list(name: str, values: Any) -> list[Any]:
    """The values of a parameter that takes several numbers; one number is a list of itself."""
    numbers = [values] if isinstance(values, (int, float)) else values
    if isinstance(numbers, str) or not all(isinstance(number, (int, float)) for number in numbers):
        raise LovevecError(f"{Parameter(name, repr(values))}: a list of numbers expected")
    return list(numbers)


def without_folders(source: Any) -> str | None:
    """A method or a set as results tell it: of a file or a folder the last part, any other name (a shipped model, a
    hub id) as it is, of what is in memory its name or kind. mine=/home/me/my.vec -> mine=my.vec"""
    if source is None:
        return None
    if not isinstance(source, (str, os.PathLike)):
        return str(getattr(source, "name", "") or type(source).__name__)
    own, name = split_name(os.fspath(source))
    shown = Path(name).resolve().name if is_there(Path(name)) else name
    return f"{own}={shown}" if own else shown
