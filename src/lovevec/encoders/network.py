"""The whole network of a LOVE model: the table of unit vectors, an optional factor matrix, an encoder, and beside it
the sum of the word's n-grams, where it has any."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.ablations import CNN, RNN, Attention, Sum
from lovevec.encoders.authors import Authors
from lovevec.encoders.positional import Positional
from lovevec.encoders.shared import Dropout, initialise, inside, matrix
from lovevec.engine.fold import EncoderSpec
from lovevec.errors import LovevecError

CLASSES = {"positional": Positional, "authors": Authors, "attention": Attention, "cnn": CNN, "rnn": RNN, "sum": Sum}


class EncoderNetwork(nn.Module):
    """`table` [rows, dim], or [rows, factor] with a `factor` matrix [factor, dim] that stretches its rows."""

    def __init__(self, spec: EncoderSpec, rows: int, factor: int = 0, dropout: float = 0.0) -> None:
        super().__init__()
        if spec.kind == "rnn" and spec.dim % 2:
            raise LovevecError(f"the rnn encoder needs an even dimension, the target has {spec.dim}")
        self.table = matrix(rows, factor or spec.dim)
        self.factor = matrix(factor, spec.dim) if factor else None
        self.encoder = CLASSES[spec.kind](spec, dropout)
        self.dropout = Dropout(dropout)

    def start(self, seed: int) -> None:
        """Fill all weights from a seed: table rows of about length 1, matrices by fan-in."""
        generator = torch.Generator().manual_seed(seed)
        initialise(self, generator)
        with torch.no_grad():
            self.table.normal_(0.0, self.table.shape[1] ** -0.5, generator=generator)

    def forward(
        self,
        rows: Tensor,
        index: Tensor,
        lengths: Tensor,
        bag: Tensor | None = None,
        bag_lengths: Tensor | None = None,
    ) -> Tensor:
        """Unit vectors `rows` [u, …] taken from the table, `index` [b, n] into them -> vectors [b, dim] of unit length.
        The rows of the n-grams `bag` [b, m] are added to what the encoder makes of the others."""
        units = rows if self.factor is None else rows @ self.factor
        out: Tensor = self.encoder(units, index, lengths)
        if bag is not None and bag_lengths is not None and bag.shape[1]:
            counts = self.dropout(inside(bag_lengths, bag.shape[1]).to(units.dtype))
            out = out + F.embedding_bag(bag, units, per_sample_weights=counts, mode="sum")
        return F.normalize(out.float(), dim=1)

    def use_generator(self, generator: torch.Generator) -> None:
        for module in self.modules():
            if isinstance(module, Dropout):
                module.generator = generator

    def parameter_counts(self) -> dict[str, int]:
        """As the paper counts: the embedding (table and factor), and the rest."""
        embedding = self.table.numel() + (self.factor.numel() if self.factor is not None else 0)
        return {"embedding": embedding, "others": sum(map(torch.numel, self.parameters())) - embedding}
