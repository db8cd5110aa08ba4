"""Keyboards: which keys are neighbors, and what comes out where a word is typed on another layout than one thinks.

    QWERTY      mistypr          a neighboring key
    ЙЦУКЕН      ghbdtn           привет, typed while the layout was an English one

data/keyboards.json has what each key gives. Keys stand in four rows, each a little to the right of the one above.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

OFFSETS = (-1.0, 0.5, 0.75, 0.25)  # of the first key of each row, in keys: ` stands left of 1, < left of z
REACH = 1.26  # keys between the middles of two neighbors, at most
ENGLISH_LAYOUT = "us"


@cache
def _layouts() -> Mapping[str, Mapping[str, Sequence[str]]]:
    raw: Any = json.loads((files("lovevec.damage") / "data" / "keyboards.json").read_text("utf-8"))["layouts"]
    layouts: Mapping[str, Mapping[str, Sequence[str]]] = raw
    return layouts


def layout_names() -> Sequence[str]:
    """All keyboards that there are, by the names of xkeyboard-config."""
    return list(_layouts())


@cache
def neighbors(layout: str) -> Mapping[str, str]:
    """For each letter and digit of a keyboard the letters and digits on the keys around it, nearest first."""
    rows, spots = _layouts()[layout], {}
    for level in ("shifted", "alone"):  # where both give one, what a key gives alone counts; digits may need shift
        for row, keys in enumerate(rows[level]):
            for place, character in enumerate(keys):
                if character.isalnum() and (level == "alone" or character.isdigit()):
                    spots[character] = (row, place + OFFSETS[row])
    names = sorted(spots)
    at = np.array([spots[name] for name in names])
    distance = np.sqrt(((at[:, None] - at[None]) ** 2).sum(axis=2))
    found = {}
    for name, far in zip(names, distance.tolist(), strict=True):
        near = sorted((one, other) for one, other in zip(far, names, strict=True) if other != name and one <= REACH)
        found[name] = "".join(other for _, other in near)
    return found


@cache
def _other_layout(layout: str) -> dict[int, str]:
    """What each character of two layouts, the English one and another, becomes on the other of them."""
    one, other = _layouts()[ENGLISH_LAYOUT], _layouts()[layout]
    pairs = []
    for level in ("shifted", "alone"):
        for keys, others in zip(one[level], other[level], strict=True):
            pairs += [pair for pair in zip(keys, others, strict=False) if " " not in pair]
    own = {theirs: mine for mine, theirs in pairs if theirs.isalpha()}
    # A sign that both have may be either: what is a letter on the other layout wins.
    both = {mine: theirs for mine, theirs in pairs if theirs.isalpha() and mine not in own}
    return {ord(key): value for key, value in (own | both).items()}


def typed_on_other(word: str, layout: str) -> str:
    """A word as it comes out where the keyboard was set to English instead of this layout, or the other way round.

    >>> typed_on_other("привет", "ru"), typed_on_other("ghbdtn", "ru")
    ('ghbdtn', 'привет')
    """
    return word.translate(_other_layout(layout))


@cache
def is_of_other_script(layout: str) -> bool:
    """Whether a keyboard's letters are not Latin ones, so that a word typed on the English layout by mistake shows."""
    return not any("a" <= character <= "z" for character in "".join(_layouts()[layout]["alone"]))
