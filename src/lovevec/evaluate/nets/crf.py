"""A linear-chain CRF (Lafferty et al. 2001): the score of a whole sequence of tags, not of each tag by itself.

The score of tags y under emissions e is start[y_1] + Σ e_t[y_t] + Σ transitions[y_t-1, y_t] + end[y_n]; its
exponential over the sum of all sequences' (the partition) is the probability.

The forward algorithm is a product of one matrix a step. The product is taken pairwise, neighbors first: log2(n) rounds
over all steps at once instead of n small ones. A GPU has a third as many kernels to launch as for a loop; on a CPU it
takes as long for ten tags or so, longer for many more.

Written here, since torch has none and the packages that do (pytorch-crf, TorchCRF) are no longer kept.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from lovevec.encoders.shared import inside


class CRF(nn.Module):
    """Scores of neighboring tags, and of the first and the last; all zero to begin with."""

    def __init__(self, tags: int) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.zeros(tags))
        self.end = nn.Parameter(torch.zeros(tags))
        self.transitions = nn.Parameter(torch.zeros(tags, tags))  # from the row's tag to the column's

    def log_likelihood(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """log P(`tags` [b, n] | `emissions` [b, n, tags]) of each sequence: [b]; what lies behind `lengths` [b] (from
        1) does not count."""
        return self.score(emissions, tags, lengths) - self.log_partition(emissions, lengths)

    def score(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """The score of the given tags: [b]."""
        inner = inside(lengths, tags.shape[1])
        emitted = emissions.gather(2, tags[:, :, None])[:, :, 0].where(inner, 0).sum(dim=1)
        # How often each tag follows each: the gradient is then one product, the same in every run also on a GPU.
        weights, size = self.transitions.flatten(), len(self.transitions)
        follows = weights.new_zeros(len(tags), len(weights))
        follows.scatter_add_(1, tags[:, :-1] * size + tags[:, 1:], inner[:, 1:].to(weights.dtype))
        first = self.start.expand(len(tags), size).gather(1, tags[:, :1])
        last = self.end.expand(len(tags), size).gather(1, tags.gather(1, lengths[:, None] - 1))
        return emitted + follows @ weights + first[:, 0] + last[:, 0]

    def log_partition(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """The log of the sum of exp(score) over all sequences of tags: [b]."""
        # Confident models have gaps between tags at which exp underflows in float32 (87); float64 has room for 700.
        wide = emissions.dtype if emissions.device.type == "mps" else torch.float64
        start, end, transitions = (weight.to(wide) for weight in (self.start, self.end, self.transitions))
        count, width = len(start), emissions.shape[1]
        steps = torch.cat([start.expand(1, count, count), transitions.expand(width - 1, count, count)])
        steps = steps + emissions.to(wide)[:, :, None, :]
        inner = inside(lengths, width)
        highest = steps.detach().amax(dim=(2, 3))
        nothing = torch.eye(count, dtype=wide, device=emissions.device)
        matrices = torch.where(inner[:, :, None, None], (steps - highest[:, :, None, None]).exp(), nothing)
        product, taken_out = _product(matrices)
        ways = product[:, 0].clamp_min(torch.finfo(wide).tiny).log()  # to each last tag; all rows are the same
        total = torch.logsumexp(ways + end, dim=1) + taken_out + highest.where(inner, 0).sum(dim=1)
        return total.to(emissions.dtype)

    @torch.no_grad()
    def decode(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """The best sequence of each: [b, n], zeros behind its end (Viterbi)."""
        inner = inside(lengths, emissions.shape[1])
        best, came_from = self.start + emissions[:, 0], []
        for step in range(1, emissions.shape[1]):
            highest, tag = (best[:, :, None] + self.transitions).max(dim=1)
            came_from.append(tag)
            best = torch.where(inner[:, step, None], highest + emissions[:, step], best)
        path = [(best + self.end).argmax(dim=1)]
        for step in range(len(came_from), 0, -1):
            before = came_from[step - 1].gather(1, path[-1][:, None])[:, 0]
            path.append(torch.where(inner[:, step], before, path[-1]))
        return torch.stack(path[::-1], dim=1).where(inner, 0)


def _product(matrices: Tensor) -> tuple[Tensor, Tensor]:
    """The product of `matrices` [b, n, k, k] along n: [b, k, k], less a factor whose logs [b] come with it.

    The factors are constants: what is taken out comes back, so that gradients need not know of it.
    """
    taken_out = matrices.new_zeros(len(matrices))
    while (pairs := matrices.shape[1] // 2) > 0:
        product = matrices[:, 0 : 2 * pairs : 2] @ matrices[:, 1 : 2 * pairs : 2]
        largest = product.detach().amax(dim=(2, 3)).clamp_min(torch.finfo(product.dtype).tiny)
        taken_out = taken_out + largest.log().sum(dim=1)
        matrices = torch.cat([product / largest[:, :, None, None], matrices[:, 2 * pairs :]], dim=1)
    return matrices[:, 0], taken_out
