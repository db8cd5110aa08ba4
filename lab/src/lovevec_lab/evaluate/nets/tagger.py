"""Tagging by a BiLSTM-CRF over frozen word vectors (Huang et al. 2015), as in the paper's appendix.

One LSTM layer of 300 in all, 150 in each direction; dropout of one half on what goes in and what comes out; a linear
layer; a CRF (crf.py). The paper's table says SGD, batches of 768, 100 epochs. The authors' published code trains by
Adam at the paper's learning rates and keeps the epoch that is best on dev. So do we, with batches of 768 tokens
instead of sentences: 15 times as many steps an epoch, so that 20 epochs are enough; twice the tokens cost a point of
F1. At these rates plain SGD learns next to nothing from a mean loss: a dev F1 of 1 after two epochs on 30 % of
CoNLL-03, where three give 70 on a summed loss and 71 by Adam.

All rates and seeds of a method are trained side by side: every weight has a first axis, one entry a run, and a step
of the LSTM is one batched product for all of them. Such a step is too small to fill a GPU, so that fifteen runs take
little longer than one. What a run draws (weights, dropout, which sentences of one length meet in a batch) is decided
by its seed alone, so it learns what it would learn by itself, but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.autograd import Function

from lovevec.encoders.shared import fill, initialise, inside
from lovevec.units.ragged import Ragged
from lovevec_lab.evaluate.grid import Run
from lovevec_lab.evaluate.nets import TaggerSettings
from lovevec_lab.evaluate.nets.char_cnn import CharCNN, Frozen
from lovevec_lab.evaluate.nets.crf import CRF

TOKENS_PER_BATCH = 65_536  # of a batch that is only read, all runs together
BETAS, TINY = (0.9, 0.999), 1e-8  # Adam's own

Ints = NDArray[np.int64]


class TagBatch(NamedTuple):
    """Sentences, the longest first, of each seed its own: `ids` and `tags` [seeds, b, n] with zeros behind their ends,
    `lengths` [b], all on the device; `rows` [seeds, b], which sentences they are."""

    ids: Tensor
    tags: Tensor
    lengths: Tensor
    rows: Ints


class TagSentences:
    """Sentences and their tags as numbers, on the device all at once."""

    def __init__(self, ids: Sequence[Ints], tags: Sequence[Ints] | None, device: torch.device) -> None:
        self.lengths = np.array([len(sentence) for sentence in ids], dtype=np.int64)
        self.ids = self._pad(ids).to(device)
        self.tags = self.ids if tags is None else self._pad(tags).to(device)  # to be read only: no tags needed

    def _pad(self, rows: Sequence[Ints]) -> Tensor:
        values = np.concatenate([np.empty(0, np.int64), *rows])
        return torch.from_numpy(Ragged.from_lengths(values, self.lengths).padded())

    def in_order(self, tokens: int) -> Iterator[TagBatch]:
        """Batches of sentences of about one length, the longest first."""
        return self._batches(np.arange(len(self.lengths))[None], tokens)

    def random_batches(
        self, tokens: int, company: Sequence[np.random.Generator], order: np.random.Generator
    ) -> Iterator[TagBatch]:
        """The same in random `order`; alike ones in random `company`, by one generator for each seed."""
        rows = np.stack([rng.permutation(len(self.lengths)) for rng in company])
        return self._batches(rows, tokens, order)

    def _batches(self, rows: Ints, tokens: int, order: np.random.Generator | None = None) -> Iterator[TagBatch]:
        # Sorted by length all seeds have the same lengths in the same places, so their batches have one shape.
        rows = np.stack([some[np.argsort(-self.lengths[some], kind="stable")] for some in rows])
        lengths, cuts = self.lengths[rows[0]], [0]
        while cuts[-1] < len(lengths):
            cuts.append(min(cuts[-1] + max(tokens // int(lengths[cuts[-1]]), 1), len(lengths)))
        device = self.ids.device  # moved there once, so that no batch waits for a copy
        rows_there, lengths_there = torch.from_numpy(rows).to(device), torch.from_numpy(lengths).to(device)
        numbers = range(len(cuts) - 1) if order is None else order.permutation(len(cuts) - 1)
        for number in numbers:
            low, high = cuts[number], cuts[number + 1]
            some, width = rows_there[:, low:high], int(lengths[low])
            yield TagBatch(self.ids[some, :width], self.tags[some, :width], lengths_there[low:high], rows[:, low:high])


class Taggers(nn.Module):
    """Sentences as rows of ids -> the tags of their words, by several taggers, the `runs`. `layers` are one for all or
    one for each."""

    which: Tensor

    def __init__(self, layers: Sequence[Frozen], tags: int, settings: TaggerSettings, runs: Sequence[Run]) -> None:
        super().__init__()
        self.runs, self.share = list(runs), settings.dropout
        self.seeds = list(dict.fromkeys(seed for _, seed in runs))
        self.register_buffer("which", torch.tensor([self.seeds.index(seed) for _, seed in runs]), persistent=False)
        self.layers = nn.ModuleList(layers)
        self.layers_train = any(True for _ in self.layers.parameters())  # then each run has its own
        count, size, dim = len(runs), settings.hidden // 2, layers[0].dim
        # One for each direction; gates as [enter, keep, show, new].
        self.read = nn.ParameterList(torch.empty(count, dim, 4 * size) for _ in range(2))
        self.recur = nn.ParameterList(torch.empty(count, size, 4 * size) for _ in range(2))
        self.bias = nn.ParameterList(torch.empty(count, 4 * size) for _ in range(2))
        self.out = nn.Parameter(torch.empty(count, 2 * size, tags))
        self.out_bias = nn.Parameter(torch.empty(count, tags))
        self.crf = CRF(tags, count)

    def seed_weights(self, device: torch.device) -> None:
        """Weights, and what is drawn later, decided by each run's seed: filled on the CPU, so that all devices begin
        alike."""
        for run, (_, seed) in enumerate(self.runs):
            generator = torch.Generator().manual_seed(seed)
            for name, weight in self._shared():
                fill(name, weight[run], generator)
            if self.layers_train:
                initialise(self.layers[run], generator)
        self.to(device)
        self.generators = [torch.Generator(device).manual_seed(seed) for seed in self.seeds]
        for layer, (_, seed) in zip(self.layers, self.runs, strict=False):
            if isinstance(layer, CharCNN):
                layer.generator = torch.Generator(device).manual_seed(seed)

    def _shared(self) -> list[tuple[str, Tensor]]:
        """The weights that have an axis of runs."""
        return [(name, weight) for name, weight in self.named_parameters() if not name.startswith("layers")]

    def learning_rates(self) -> list[tuple[nn.Parameter, Tensor | float]]:
        """Every weight with its learning rate, or rates, one a run."""
        rates = torch.tensor([rate for rate, _ in self.runs], device=self.which.device)
        shared = [(weight, rates.view(-1, *[1] * (weight.dim() - 1))) for _, weight in self._shared()]
        own = [
            (weight, rate)
            for layer, (rate, _) in zip(self.layers, self.runs, strict=False)
            for weight in layer.parameters()
        ]
        return [*shared, *own]  # type: ignore[list-item]

    def weights(self, run: int) -> list[Tensor]:
        """The weights of one run, as they are now: views."""
        own = self.layers[run].parameters() if self.layers_train else ()
        return [*(weight.detach()[run] for _, weight in self._shared()), *(weight.detach() for weight in own)]

    def emissions(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[seeds or 1, b, n] ids of a batch -> [runs, b, n, tags], how well each tag suits each word."""
        x = self._dropout(self._vectors(ids))
        return self._dropout(self._lstm(x, lengths)) @ self.out[:, None] + self.out_bias[:, None, None]

    def _vectors(self, ids: Tensor) -> Tensor:
        which = self.which if len(ids) > 1 else torch.zeros_like(self.which)
        if not self.layers_train:
            vectors: Tensor = self.layers[0](ids)[which]
            return vectors
        return torch.stack([layer(ids[row]) for layer, row in zip(self.layers, which.tolist(), strict=True)])

    def _dropout(self, x: Tensor) -> Tensor:
        """Dropout; runs of one seed lose the same entries."""
        if not self.training or self.share == 0:
            return x
        keep = [torch.empty_like(x[0]).bernoulli_(1 - self.share, generator=one) for one in self.generators]
        return x * torch.stack(keep)[self.which] / (1 - self.share)

    def _lstm(self, x: Tensor, lengths: Tensor) -> Tensor:
        """[runs, b, n, dim] -> [runs, b, n, hidden]: both directions of all runs in one product a step."""
        back = reversal(lengths, x.shape[2])
        both = torch.cat([x, in_places(x, back)])
        read, recur, bias = (torch.cat(list(weights)) for weights in (self.read, self.recur, self.bias))
        gates = torch.baddbmm(bias[:, None], both.flatten(1, 2), read).unflatten(1, both.shape[1:3])
        states: Tensor = Recurrence.apply(gates.permute(2, 0, 1, 3), recur)  # type: ignore[no-untyped-call]
        there, again = states.permute(1, 2, 0, 3).chunk(2)
        return torch.cat([there, in_places(again, back)], dim=3)

    def loss(self, batch: TagBatch) -> Tensor:
        """-log P of the right tags, a token: [runs]."""
        emissions, tags = self.emissions(batch.ids, batch.lengths), batch.tags[self.which]
        return -self.crf.log_likelihood(emissions, tags, batch.lengths).sum(dim=1) / batch.lengths.sum()

    @torch.no_grad()
    def tag(self, sentences: TagSentences) -> list[list[Ints]]:
        """The best tags of each sentence, by each run."""
        self.eval()
        result: list[list[Ints]] = [[np.empty(0, np.int64)] * len(sentences.lengths) for _ in self.runs]
        for batch in sentences.in_order(max(TOKENS_PER_BATCH // len(self.runs), 1)):
            tags = self.crf.decode(self.emissions(batch.ids, batch.lengths), batch.lengths).cpu().numpy()
            for of_run, tagged in zip(result, tags, strict=True):
                for row, one in zip(batch.rows[0].tolist(), tagged, strict=True):
                    of_run[row] = one[: sentences.lengths[row]]
        return result


def reversal(lengths: Tensor, width: int) -> Tensor:
    """[b, width]: the place of each word when every sentence is read from its end; padding stays behind it."""
    places = torch.arange(width, device=lengths.device)
    return torch.where(inside(lengths, width), lengths[:, None] - 1 - places, places)


def in_places(x: Tensor, places: Tensor) -> Tensor:
    """[m, b, n, size] with the words in other `places` [b, n]."""
    return x.gather(2, places[None, :, :, None].expand(x.shape))


class Recurrence(Function):
    """The states of m LSTMs (Hochreiter and Schmidhuber, with forget gates) side by side: `gates` [n, m, b, 4 size] as
    the input opens them, `recur` [m, size, 4 size] -> [n, m, b, size].

    All that a step back needs besides its neighbor is worked out for all steps at once, and so is the gradient of the
    weights: a third of the kernels that autograd would launch. Forth and back of a batch of 38 sentences of 20 words
    (CoNLL-03), 300 numbers wide, in milliseconds:

                                       H200, 1 run   15 runs   one CPU thread, 1 run   15 runs
        Recurrence                             6.9       8.2                      65     1,255
        the same steps by autograd            11.5      12.5                      90     2,072
        torch's nn.LSTM, one a run             3.1      44.9                      74       786

    So it is here for GPUs, on which the fifteen runs of a row (five rates, three seeds) train five times as fast; on a
    CPU nn.LSTM would do."""

    @staticmethod
    def forward(ctx: Any, gates: Tensor, recur: Tensor) -> Tensor:
        """Step by step, from zero; `gates` becomes how far each gate was open, and is kept for the way back."""
        n, m, b, _ = gates.shape
        size = recur.shape[1]
        gates = gates.clone(memory_format=torch.contiguous_format)
        cells, states = (gates.new_zeros(n + 1, m, b, size) for _ in range(2))
        flat = gates.new_empty(n, m, b, size)
        for at in range(n):
            gate = gates[at].baddbmm_(states[at], recur)
            gate[..., : 3 * size].sigmoid_()
            new = gate[..., 3 * size :].tanh_()
            enter, keep, show, _ = gate.split(size, dim=-1)
            torch.mul(keep, cells[at], out=cells[at + 1]).addcmul_(enter, new)
            torch.mul(show, torch.tanh(cells[at + 1], out=flat[at]), out=states[at + 1])
        ctx.save_for_backward(recur, gates, cells, flat, states)
        return states[1:]

    @staticmethod
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor, Tensor]:
        """The chain rule, from the last step to the first."""
        recur, gates, cells, flat, states = ctx.saved_tensors
        n, size = len(gates), recur.shape[1]
        enter, keep, show, new = gates.split(size, dim=-1)
        slopes = torch.cat([gates[..., : 3 * size] * (1 - gates[..., : 3 * size]), 1 - new * new], dim=-1)
        slopes = slopes.unflatten(-1, (4, size)) * torch.stack([new, cells[:-1], flat, enter], dim=-2)
        through = show * (1 - flat * flat)  # from a hidden state to its cell
        d_hidden = d_states.clone(memory_format=torch.contiguous_format)
        d_cell, back = torch.zeros_like(cells[0]), recur.transpose(1, 2)
        for at in range(n - 1, -1, -1):
            if at + 1 < n:
                d_hidden[at].baddbmm_(slopes[at + 1].flatten(-2), back)
            d_cell.addcmul_(d_hidden[at], through[at])
            slopes[at, ..., :2, :].mul_(d_cell[..., None, :])  # they become the gates' gradients
            slopes[at, ..., 2, :].mul_(d_hidden[at])
            slopes[at, ..., 3, :].mul_(d_cell)
            d_cell.mul_(keep[at])
        d_gates = slopes.flatten(-2)
        before, after = (each.transpose(0, 1).flatten(1, 2) for each in (states[:-1], d_gates))
        return d_gates, torch.bmm(before.transpose(1, 2), after)


class RunAdam:
    """Adam (Kingma and Ba 2015) with a rate for each weight, or for each row of it: torch's has one for a tensor."""

    def __init__(self, rated: Sequence[tuple[nn.Parameter, Tensor | float]]) -> None:
        self.rated, self.steps = rated, 0
        self.moments = [(torch.zeros_like(weight), torch.zeros_like(weight)) for weight, _ in rated]

    @torch.no_grad()
    def step(self) -> None:
        """Move the weights by their gradients, and forget these."""
        self.steps += 1
        first, second = (1 - beta**self.steps for beta in BETAS)
        for (weight, rate), (mean, square) in zip(self.rated, self.moments, strict=True):
            if weight.grad is None:
                continue
            mean.lerp_(weight.grad, 1 - BETAS[0])
            square.mul_(BETAS[1]).addcmul_(weight.grad, weight.grad, value=1 - BETAS[1])
            weight.sub_(rate / first * mean / (square / second).sqrt_().add_(TINY))
            weight.grad = None


def train_taggers(
    model: Taggers, train: TagSentences, on_dev: Callable[[int], Sequence[float]], settings: TaggerSettings
) -> list[float]:
    """Train by Adam; of each run the weights of the epoch that is best by `on_dev`, called after each with its number,
    stay. Returns what that gave."""
    model.seed_weights(train.ids.device)
    company = [np.random.default_rng([seed, settings.epochs]) for seed in model.seeds]
    order = np.random.default_rng(settings.epochs)
    optimiser = RunAdam(model.learning_rates())
    count = len(model.runs)
    best, at, kept = (
        [-1.0] * count,
        [0] * count,
        [[weight.clone() for weight in model.weights(run)] for run in range(count)],
    )
    for epoch in range(settings.epochs):
        model.train()
        for batch in train.random_batches(settings.tokens, company, order):
            model.loss(batch).sum().backward()
            optimiser.step()
        for run, reached in enumerate(on_dev(epoch)):
            if epoch - at[run] > settings.patience:
                continue  # it ended before: what it does in the company of others does not count
            if reached > best[run]:
                best[run], at[run] = reached, epoch
                kept[run] = [weight.clone() for weight in model.weights(run)]
        if all(epoch - last >= settings.patience for last in at):
            break
    for run, weights in enumerate(kept):
        for weight, one in zip(model.weights(run), weights, strict=True):
            weight.copy_(one)
    return best
