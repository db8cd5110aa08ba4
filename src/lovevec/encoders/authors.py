"""The nonlinear form that the paper's authors programmed: the same two attentions, each projection followed by ReLU,
then LayerNorm and a residual connection around the whole.

    H = ReLU(A X W_V),   v = Σ positions of  X + dropout(LayerNorm(ReLU(SA(H) W_O)))
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.positional import Window
from lovevec.encoders.shared import Encoder, inside, masked_softmax
from lovevec.engine.fold import EncoderSpec


class Authors(Encoder):
    """Costs two d x d products per unit instead of per word, and does not fold."""

    def __init__(self, spec: EncoderSpec, dropout: float) -> None:
        super().__init__(spec, dropout)
        dim = spec.dim
        self.scale = spec.key_width**-0.25  # their code divides by the fourth root
        self.window = Window(dim, spec.position_scale)
        self.value, self.output = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.query, self.key = nn.Linear(dim, spec.key_width), nn.Linear(dim, spec.key_width)
        self.norm = nn.LayerNorm(dim)

    def forward(self, units: Tensor, index: Tensor, lengths: Tensor) -> Tensor:
        x = F.embedding(index, units)
        counts = inside(lengths, index.shape[1])
        local = F.relu(self.value(self.window(lengths, index.shape[1]) @ x))
        scores = F.relu(self.query(local)) @ F.relu(self.key(local)).transpose(1, 2) * self.scale
        mixed = F.relu(self.output(masked_softmax(scores, counts) @ local))
        out: Tensor = x + self.dropout(self.norm(mixed))
        return (out * counts[:, :, None]).sum(dim=1)
