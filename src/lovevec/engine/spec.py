"""What an encoder is made of: enough to build it again from a model folder. No torch here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

EncoderKind = Literal["positional", "authors", "attention", "cnn", "rnn", "sum"]
ENCODERS: tuple[str, ...] = get_args(EncoderKind)


@dataclass(frozen=True)
class EncoderSpec:
    """`dim` is the target's; `key_width` and `position_scale` (s) shape attention; `head` > 0 adds a word-level MLP."""

    kind: EncoderKind
    dim: int
    key_width: int = 32
    position_scale: float = 4.16
    head: int = 0

    @property
    def foldable(self) -> bool:
        """Whether numpy alone can compute it, by the fold."""
        return self.kind == "positional"

    def as_dict(self) -> dict[str, Any]:
        """Plain values for config.json."""
        return asdict(self)
