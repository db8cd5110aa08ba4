"""Entity F1 as the CoNLL shared tasks' conlleval defines it: an entity counts when its type and both borders are right.

A tag is O, or a position and a type (B-PER). Entities are read from any sequence, also from odd ones that no scheme
would write: a tag goes on with the entity before it if it says so (I, E) and that is open (B, I) and of its type;
any other tag but O begins one. So IOB1, IOB2 and IOBES are all read as they are meant.

Written here, since seqeval, which the tests compare with, is no longer kept, and readers of tagged text need it too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from lovevec.errors import LovevecError

BEGIN, INSIDE, END, SINGLE, OUTSIDE = "BIESO"
EXPECTED = "expected O, or B-, I-, E- or S- and a type, such as B-PER"
Tags = Sequence[str]


class Entity(NamedTuple):
    """Tokens `first` up to and with `last` of a sentence."""

    type: str
    first: int
    last: int


class EntityCounts(NamedTuple):
    """How many entities were found as they are, how many were found, how many there are."""

    correct: int
    found: int
    there: int

    @property
    def precision(self) -> float:
        """In percent; 0 if nothing was found."""
        return 100 * self.correct / max(self.found, 1)

    @property
    def recall(self) -> float:
        """In percent; 0 if nothing is there."""
        return 100 * self.correct / max(self.there, 1)

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return 200 * self.correct / max(self.found + self.there, 1)


def entities(tags: Tags) -> list[Entity]:
    """The entities of a sentence: [B-PER, I-PER, O, I-LOC] -> [PER 0-1, LOC 3-3]."""
    found: list[Entity] = []
    before, type_before = OUTSIDE, ""
    for at, tag in enumerate(tags):
        position, type = split_tag(tag)
        if position in (INSIDE, END) and before in (BEGIN, INSIDE) and type == type_before:
            found[-1] = found[-1]._replace(last=at)
        elif position != OUTSIDE:
            found.append(Entity(type, at, at))
        before, type_before = position, type
    return found


def count_entities(gold: Sequence[Tags], predicted: Sequence[Tags]) -> dict[str, EntityCounts]:
    """For each type of entity, in order of name, how many of the sentences' entities were found."""
    counted: dict[str, list[int]] = {}
    for right, guess in zip(gold, predicted, strict=True):
        if len(right) != len(guess):
            raise LovevecError(f"a sentence of {len(right)} tags cannot be compared with one of {len(guess)}")
        there, found = set(entities(right)), set(entities(guess))
        for column, some in enumerate((there & found, found, there)):
            for entity in some:
                counted.setdefault(entity.type, [0, 0, 0])[column] += 1
    return {type: EntityCounts(*counted[type]) for type in sorted(counted)}


def overall(counts: Mapping[str, EntityCounts]) -> EntityCounts:
    """All types together: what the micro-averaged figures are made of."""
    return EntityCounts(*(sum(column) for column in zip((0, 0, 0), *counts.values(), strict=True)))


@cache
def split_tag(tag: str) -> tuple[str, str]:
    """B-PER -> (B, PER), I -> (I, ""), O -> (O, "")."""
    position, _, type = tag.partition("-")
    if not is_tag(tag):
        raise LovevecError(f"tag {tag!r}: {EXPECTED}")
    return position, type


def is_tag(tag: str) -> bool:
    """Whether it is O, or a position, with or without a type."""
    return tag == OUTSIDE or tag.partition("-")[0] in (BEGIN, INSIDE, END, SINGLE)
