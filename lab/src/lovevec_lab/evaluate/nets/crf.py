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
    """Scores of neighboring tags, and of the first and the last, all zero to begin with; of `runs` models side by side
    (see tagger.py), whose sequences stand behind each other."""

    def __init__(self, tags: int, runs: int = 1) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.zeros(runs, tags))
        self.end = nn.Parameter(torch.zeros(runs, tags))
        self.transitions = nn.Parameter(torch.zeros(runs, tags, tags))  # from the row's tag to the column's

    def log_likelihood(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """log P(`tags` [runs, b, n] | `emissions` [runs, b, n, tags]) of each sequence: [runs, b]; what lies behind
        `lengths` [b] (from 1) does not count."""
        return self.score(emissions, tags, lengths) - self.log_partition(emissions, lengths)

    def score(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """The score of the given tags: [runs, b]."""
        inner = inside(lengths, tags.shape[2])
        emitted = emissions.gather(3, tags[..., None])[..., 0].where(inner, 0).sum(dim=2)
        # How often each tag follows each: the gradient is then one product, the same in every run also on a GPU.
        weights, size = self.transitions.flatten(1), self.start.shape[1]
        follows = weights.new_zeros(*tags.shape[:2], weights.shape[1])
        pairs = tags[..., :-1] * size + tags[..., 1:]
        follows.scatter_add_(2, pairs, inner[:, 1:].to(weights.dtype).expand(pairs.shape))
        last = tags.gather(2, (lengths - 1).expand(tags.shape[:2])[..., None])[..., 0]
        ends = self.start.gather(1, tags[..., 0]) + self.end.gather(1, last)
        return emitted + (follows @ weights[..., None])[..., 0] + ends

    def log_partition(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """The log of the sum of exp(score) over all sequences of tags: [runs, b]."""
        # Confident models have gaps between tags at which exp underflows in float32 (87); float64 has room for 700.
        wide = emissions.dtype if emissions.device.type == "mps" else torch.float64
        start, end, transitions = (weight.to(wide) for weight in (self.start, self.end, self.transitions))
        (runs, count), width = start.shape, emissions.shape[2]
        first = start[:, None, None].expand(runs, 1, count, count)
        steps = torch.cat([first, transitions[:, None].expand(runs, width - 1, count, count)], dim=1)
        steps = steps[:, None] + emissions.to(wide)[..., None, :]  # [runs, b, n, tags, tags]
        inner = inside(lengths, width)
        highest = steps.detach().amax(dim=(3, 4))
        nothing = torch.eye(count, dtype=wide, device=emissions.device)
        matrices = torch.where(inner[..., None, None], (steps - highest[..., None, None]).exp(), nothing)
        product, taken_out = _product(matrices.flatten(0, 1))
        ways = product[:, 0].clamp_min(torch.finfo(wide).tiny).log()  # to each last tag; all rows are the same
        total = torch.logsumexp(ways.unflatten(0, (runs, -1)) + end[:, None], dim=2)
        total = total + taken_out.unflatten(0, (runs, -1)) + highest.where(inner, 0).sum(dim=2)
        partition: Tensor = total.to(emissions.dtype)
        return partition

    @torch.no_grad()
    def decode(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """The best sequence of each: [runs, b, n], zeros behind its end (Viterbi)."""
        inner = inside(lengths, emissions.shape[2])
        best, came_from = self.start[:, None] + emissions[:, :, 0], []
        for step in range(1, emissions.shape[2]):
            highest, tag = (best[..., None] + self.transitions[:, None]).max(dim=2)
            came_from.append(tag)
            best = torch.where(inner[:, step, None], highest + emissions[:, :, step], best)
        path = [(best + self.end[:, None]).argmax(dim=2)]
        for step in range(len(came_from), 0, -1):
            before = came_from[step - 1].gather(2, path[-1][..., None])[..., 0]
            path.append(torch.where(inner[:, step], before, path[-1]))
        return torch.stack(path[::-1], dim=2).where(inner, 0)


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
