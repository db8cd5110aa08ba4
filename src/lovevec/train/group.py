"""The processes that train together under `torchrun`; one process alone is a group of one.

All make the same batches. Each encodes its share of a batch's rows, then all gather each other's vectors, so every row
has the whole batch as negatives. Each computes the loss of the whole batch, but gradients flow only through its own
rows; summed over the group they are the gradients of the whole batch. So the number of processes changes a run only by
rounding and by dropout, of which each process draws its own.
"""

from __future__ import annotations

import os
from datetime import timedelta

import torch
from torch import Tensor
from torch import distributed as dist

# The others wait while the first prepares a large target.
LONG_WAIT = timedelta(hours=12)


class Group:
    """The number of this process (`rank`), how many there are (`size`), and the exchanges that training needs."""

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size
        self.first = rank == 0  # the process that shows progress and writes files

    @classmethod
    def from_environment(cls, device: torch.device) -> Group:
        """Join the processes that torchrun started; without torchrun, a group of one."""
        if int(os.environ.get("WORLD_SIZE", "1")) < 2:
            return cls()
        if not dist.is_initialized():
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=LONG_WAIT)
        return cls(dist.get_rank(), dist.get_world_size())

    def share(self, rows: int) -> slice:
        """Which of a batch's `rows` rows this process encodes."""
        each = -(-rows // self.size)
        return slice(min(self.rank * each, rows), min((self.rank + 1) * each, rows))

    def gather(self, own: Tensor, rows: int) -> Tensor:
        """The vectors of all `rows` of a batch, of which this process computed `own`; gradients flow to these alone."""
        if self.size == 1:
            return own
        each = -(-rows // self.size)
        padded = own.new_zeros(each, own.shape[1])
        padded[: len(own)] = own.detach()
        parts = [torch.empty_like(padded) for _ in range(self.size)]
        dist.all_gather(parts, padded)
        mine = self.share(rows)
        everything = torch.cat(parts)[:rows]
        return torch.cat([everything[: mine.start], own, everything[mine.stop :]])

    def add_up(self, gradients: list[Tensor]) -> None:
        if self.size > 1:
            for gradient in gradients:
                dist.all_reduce(gradient)

    def wait(self) -> None:
        if self.size > 1:
            dist.barrier()

    def leave(self) -> None:
        """Take the group apart when everything went well. (After a failure the others may be inside an exchange:
        torchrun ends them.)"""
        if self.size > 1:
            dist.barrier()
            dist.destroy_process_group()
