"""How an encoder is fine-tuned: the paper's batch, epochs and learning rates, and what people usually add to them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lovevec.errors import LovevecError

RATES = (9e-5, 7e-5, 5e-5, 3e-5, 1e-5)  # the paper's, for BERT-base; smaller encoders need larger ones
PRECISIONS = ("fp32", "tf32", "bf16")


@dataclass(frozen=True)
class FinetuneSettings:
    """`warmup` is a share of all steps; `sentences` cuts the training text, `tested` dev and test; `noise_seed` decides
    the damage. `precision` is that of matrix products on a GPU: fp32, tf32, or bf16 (autocast)."""

    rates: tuple[float, ...] = RATES
    seeds: tuple[int, ...] = (0,)
    noise_seed: int = 0
    epochs: int = 5
    batch: int = 16
    warmup: float = 0.06
    weight_decay: float = 0.01
    clip: float = 1.0
    longest: int = 512
    precision: str = "tf32"
    sentences: int | None = None
    tested: int | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.precision not in PRECISIONS:
            raise LovevecError(f"--precision {self.precision}: known are {', '.join(PRECISIONS)}")

    def quick(self) -> FinetuneSettings:
        """To see whether it works: one rate, one seed, one epoch, little text."""
        few = {"rates": self.rates[:1], "seeds": self.seeds[:1], "epochs": 1}
        return replace(self, **few, sentences=96, tested=32)  # type: ignore[arg-type]
