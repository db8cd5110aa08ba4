"""Several sets at once, each under a name of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lovevec.evaluate.data.classes import Classes
from lovevec.evaluate.data.pairs import Pairs

if TYPE_CHECKING:
    from lovevec.evaluate.data.misspellings import Misspellings

Set = TypeVar("Set", Pairs, Classes, "Misspellings")


def read_several(read: Callable[[str, Path], Set], names: Sequence[str], data: Path) -> list[Set]:
    """Read each once; own files that have the same name in different folders go by their paths."""
    given = list(dict.fromkeys(names))
    found = [read(name, data) for name in given]
    often = Counter(one.name for one in found)
    return [one if often[one.name] == 1 else replace(one, name=name) for one, name in zip(found, given, strict=True)]
