"""How to distill: every setting of a run in one checked object."""

from __future__ import annotations

from dataclasses import dataclass

from lovevec.errors import LovevecError

POOLINGS = ("mean", "max")
PRECISIONS = ("float32", "bfloat16", "float16")
LEAST = {"most": 0, "min_count": 1, "limit": 0, "batch": 1, "length": 0, "checkpoint_minutes": 0}


@dataclass(frozen=True, kw_only=True)
class DistillSettings:
    """Settings of `distill`; `lovevec distill --help` says the same in more words.

    `layer`: -1 the last one's states, 0 the first one's input. `most`: occurrences of a word that count, 0 all of them.
    `length`: pieces of a passage, 0 as many as the model takes. `batch`: pieces that are computed at a time.
    `specials`: a single word's vector is the mean over all positions, those of special tokens too.
    """

    pooling: str = "mean"
    layer: int = -1
    most: int = 100
    min_count: int = 5
    limit: int = 0
    length: int = 0
    single: bool = False
    specials: bool = False
    fill_missing: bool = False
    batch: int = 8192
    device: str = "auto"
    precision: str = "float32"
    checkpoint_minutes: float = 2.0

    def __post_init__(self) -> None:
        for name, known in (("pooling", POOLINGS), ("precision", PRECISIONS)):
            if getattr(self, name) not in known:
                raise LovevecError(f"{name} is {getattr(self, name)!r}: choose one of {', '.join(known)}")
        for name, least in LEAST.items():
            if not getattr(self, name) >= least:
                raise LovevecError(f"{name} is {getattr(self, name)}: must be at least {least}")
        if self.specials and not self.single:
            raise LovevecError("specials is for single words: in a sentence the special tokens are not the word's")
