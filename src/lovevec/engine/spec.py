"""What an encoder is made of: enough to build it again from a model folder. No torch here."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

EncoderKind = Literal["positional", "authors", "attention", "cnn", "rnn", "sum", "mean", "mimick", "kvq", "pbos"]
ENCODERS: tuple[str, ...] = get_args(EncoderKind)


@dataclass(frozen=True)
class EncoderSpec:
    """`dim` is the target's; `key_width` and `position_scale` (s) shape attention; `head` > 0 adds a word-level MLP.
    `hidden` is the state of mimick's LSTM; a `raw` network's vectors are not scaled to length 1."""

    kind: EncoderKind
    dim: int
    key_width: int = 32
    position_scale: float = 4.16
    head: int = 0
    hidden: int = 0
    raw: bool = False

    @property
    def foldable(self) -> bool:
        """Whether numpy alone can compute it, by the fold."""
        return self.kind == "positional" and not self.raw

    @property
    def inputs(self) -> tuple[str, ...]:
        """The kinds of input that it can read; pbos and kvq need theirs laid out as `units` does it for them."""
        plain = ("mixed", "chars", "pieces")
        return {"positional": plain, "pbos": ("spans",), "kvq": ("substrings",)}.get(self.kind, (*plain, "substrings"))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for config.json; what the first files did not know is there only where it says something."""
        values = asdict(self)
        return {name: value for name, value in values.items() if value or name not in ("hidden", "raw")}


def misfit(spec: EncoderSpec, mode: str, buckets: int, ngrams: int, hashes: int) -> str:
    """Why an encoder cannot read what such units give it; "" if it can."""
    if mode not in spec.inputs:
        return f"the encoder {spec.kind} reads {' or '.join(spec.inputs)}, not {mode}"
    if spec.kind == "kvq" and hashes % 3:
        return f"the encoder kvq wants 3 rows of each substring, or 6: hashes is {hashes}"
    if hashes != 1 and mode != "substrings":
        return f"only substrings can have {hashes} rows each, not {mode}"
    if ngrams and spec.kind in ("mimick", "kvq", "pbos"):
        return f"the encoder {spec.kind} knows no n-grams beside its input"
    if spec.kind == "pbos" and buckets:
        return "the encoder pbos weighs each substring by itself: they cannot share rows by hashing"
    return ""
