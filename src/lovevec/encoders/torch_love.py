"""A LOVE as torch's nn.Module, to train as a part of something bigger: `love.to_torch()`.

    v = normalise(Σ p(word) · known[word] + p(new) · imputed),   imputed by the encoder from the word's units

What learns: `known`, the known words' own rows, and the encoder: the network as it was trained where the folder has its
weights, else the folded tables, through which gradients flow just the same (`FoldedEncoder`). What a string may stand
for and its units are plain data (`prepare`), made by the LOVE that it came from. `LOVE.from_torch(module)` is the way
back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from lovevec.encoders.positional import Window
from lovevec.encoders.shared import inside, masked_softmax, residual_head
from lovevec.encoders.torch_engine import TorchEngine
from lovevec.engine.fold import HEAD, EncoderSpec, Tables
from lovevec.errors import LovevecError
from lovevec.model.folder import ModelParts
from lovevec.model.known_rows import KnownRows
from lovevec.near.readings import MIN_PROBABILITY, Readings
from lovevec.units.words import refuse_other_than_words

LookUp = Callable[[Sequence[str]], tuple[NDArray[np.int64], list[str]]]
Prepared = Mapping[str, Tensor]
ATTENTION_NUMBERS_PER_BATCH = 1 << 19  # numbers of attention that are computed together
MEASUREMENTS = ("confidence", "report", "scores")  # of the model as it was, not of one trained further
TRAINED_FURTHER = "\n\nTrained further in torch; scores above are those of the model before.\n"


class FoldedEncoder(nn.Module):
    """The folded tables (engine/fold.py) as weights: units -> vectors of unit length."""

    def __init__(self, spec: EncoderSpec, tables: Tables) -> None:
        super().__init__()
        self.key_width, self.window = spec.key_width, Window(spec.dim, spec.position_scale)
        self.out = nn.Parameter(torch.from_numpy(np.array(tables.all_out())))
        self.features = nn.Parameter(torch.from_numpy(np.array(tables.all_features())))
        self.head = residual_head(spec.dim, spec.head)
        if self.head is not None:
            state = {name: torch.from_numpy(np.array(tensor)) for name, tensor in zip(HEAD, tables.head, strict=True)}
            self.head.load_state_dict(state)

    def forward(self, units: Tensor, lengths: Tensor, ngrams: Tensor, ngram_lengths: Tensor) -> Tensor:
        """Ids [b, n] and [b, m] with zeros behind each word's end -> [b, dim]."""
        counts, window = inside(lengths, units.shape[1]), self.window(lengths, units.shape[1])
        query, key = (window @ F.embedding(units, self.features)).split(self.key_width, dim=2)
        attention = masked_softmax(query @ key.transpose(1, 2), counts)
        weights = ((attention * counts[:, :, None]).sum(dim=1, keepdim=True) @ window).squeeze(1)
        vectors = F.embedding_bag(units, self.out, per_sample_weights=weights, mode="sum")
        if self.head is not None:
            vectors = vectors + self.head(F.normalize(vectors, dim=1))
        if ngrams.shape[1]:
            there = inside(ngram_lengths, ngrams.shape[1]).to(self.out.dtype)
            vectors = vectors + F.embedding_bag(ngrams, self.out, per_sample_weights=there, mode="sum")
        return F.normalize(vectors, dim=1)

    def tables(self) -> Tables:
        out, features = _array(self.out), _array(self.features)
        head = () if self.head is None else tuple(_array(self.head.state_dict()[name]) for name in HEAD)
        return Tables(out, np.ones(len(out), np.float32), features, np.ones(len(features), np.float32), head)


class TrainedEncoder(nn.Module):
    """The network as `lovevec train` had it: units -> vectors of unit length."""

    def __init__(self, parts: ModelParts) -> None:
        super().__init__()
        self.network = TorchEngine(parts).network

    def forward(self, units: Tensor, lengths: Tensor, ngrams: Tensor, ngram_lengths: Tensor) -> Tensor:
        used, place = torch.unique(torch.cat([units.flatten(), ngrams.flatten()]), return_inverse=True)
        index, bag = place[: units.numel()].view_as(units), place[units.numel() :].view_as(ngrams)
        vectors: Tensor = self.network(F.embedding(used, self.network.table), index, lengths, bag, ngram_lengths)
        return vectors


class TorchLOVE(nn.Module):
    """Words, or what `prepare` made of them, -> [words, dim] of unit length. Made by `love.to_torch()`."""

    known: nn.Parameter | None

    def __init__(
        self,
        parts: ModelParts,
        look_up: LookUp,
        read: Callable[[Sequence[str], bool], Readings],
        spelling_only: bool,
        card: str,
    ) -> None:
        super().__init__()
        self.dim, self.spelling_only, self.card = parts.spec.dim, spelling_only, card
        self._parts, self._look_up, self._read = parts, look_up, read
        self.encoder: FoldedEncoder | TrainedEncoder = (
            FoldedEncoder(parts.spec, parts.folded) if parts.tables is not None else TrainedEncoder(parts)
        )
        rows = None if spelling_only or parts.rows is None else parts.rows.all()
        self.register_parameter("known", None if rows is None else nn.Parameter(torch.from_numpy(rows)))

    def prepare(self, words: Sequence[str], in_text: bool = False) -> dict[str, Tensor]:
        """What the words' vectors are made of, as tensors by name: to make in a data loader's process.

        owner, rows, chances   [pairs] a word, a known word that it may stand for (itself if known), how probably
        new                    [words] the chance of a new word
        place                  [others] which words have units; units, ngrams [others, …] ids; their lengths [others]
        """
        refuse_other_than_words(words)
        new, unknown, others = np.ones(len(words), dtype=np.float32), list(words), np.arange(len(words))
        owner, rows, chances = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32)
        if self.known is not None:
            known_rows, unknown = self._look_up(words)
            have, others = np.flatnonzero(known_rows >= 0), np.flatnonzero(known_rows < 0)
            reading = self._read(unknown, in_text)
            string, column = np.nonzero(reading.rows >= 0)
            owner = np.concatenate([have, others[string]])
            rows = np.concatenate([known_rows[have], reading.rows[string, column]])
            chances = np.concatenate([np.ones(len(have)), reading.probabilities[string, column]]).astype(np.float32)
            in_order = np.argsort(owner, kind="stable")
            owner, rows, chances = owner[in_order], rows[in_order], chances[in_order]
            new[have], new[others] = 0, reading.new
        units, ngrams = self._parts.units.encode(unknown).split(self._parts.units.vocabulary.unit_rows)
        arrays = {
            "owner": owner, "rows": rows, "chances": chances, "new": new, "place": others,
            "units": units.padded(1).astype(np.int64), "lengths": units.lengths,
            "ngrams": ngrams.padded().astype(np.int64), "ngram_lengths": ngrams.lengths,
        }  # fmt: skip
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def forward(self, words: Sequence[str] | Prepared) -> Tensor:
        return F.normalize(self.combine(words if isinstance(words, Mapping) else self.prepare(words)), dim=1)

    def combine(self, prepared: Prepared) -> Tensor:
        """Σ chances · known + new · imputed, not at unit length: [words, dim]. With `weights` [pairs] known words count
        by these too."""
        made = {name: tensor.to(self.device) for name, tensor in prepared.items()}
        total = torch.zeros(len(made["new"]), self.dim, device=self.device)
        if self.known is not None:
            some = made["chances"] >= MIN_PROBABILITY  # as near/readings.py adds readings
            counts = (made["chances"] * made.get("weights", 1))[some]
            used, which = torch.unique(made["rows"][some], return_inverse=True)
            own = F.normalize(F.embedding(used, self.known), dim=1)
            starts = torch.searchsorted(made["owner"][some], torch.arange(len(total), device=self.device))
            total = F.embedding_bag(which, own, starts, mode="sum", per_sample_weights=counts)
        parts, imputed = list(self._parts_of(made["lengths"])), []
        for part in parts:
            width, ngram_width = (int(made[name][part].max()) for name in ("lengths", "ngram_lengths"))
            units, ngrams = made["units"][part, : max(width, 1)], made["ngrams"][part, :ngram_width]
            imputed.append(self.encoder(units, made["lengths"][part], ngrams, made["ngram_lengths"][part]))
        if not parts:
            return total
        where = made["place"][torch.cat(parts)]
        return total.index_add(0, where, torch.cat(imputed) * made["new"][where][:, None])

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @staticmethod
    def _parts_of(lengths: Tensor) -> Iterator[Tensor]:
        """Words of about one length together, so that a long one does not make all wide."""
        order, low = torch.argsort(lengths, stable=True), 0
        sizes = lengths[order].tolist()
        while low < len(sizes):
            high = low + 1
            while high < len(sizes) and sizes[high] <= 2 * sizes[low]:
                if (high + 1 - low) * sizes[high] ** 2 > ATTENTION_NUMBERS_PER_BATCH:
                    break
                high += 1
            yield order[low:high]
            low = high

    def parts(self) -> ModelParts:
        """The model with the weights as they are now; scores and calibration are left out if these have changed."""
        parts = self._parts
        for name, weight in self.named_parameters():
            if not bool(torch.isfinite(weight).all()):
                raise LovevecError(f"{name}: holds numbers that are not finite, so training went wrong; not a model")
        if not self.has_changed():
            return parts
        rows = parts.rows
        if self.known is not None and rows is not None:
            rows = KnownRows.of(_array(self.known), "float16", rows.weights)
        metadata = {name: value for name, value in parts.metadata.items() if name not in MEASUREMENTS}
        metadata["confidence"] = {"missing": "the model was trained further in torch"}
        if isinstance(self.encoder, FoldedEncoder):
            return replace(parts, tables=self.encoder.tables(), rows=rows, metadata=metadata)
        weights = {name: _array(weight) for name, weight in self.encoder.network.state_dict().items()}
        return replace(parts, weights=weights, rows=rows, metadata=metadata)

    def has_changed(self) -> bool:
        parts, rows = self._parts, self._parts.rows
        if self.known is not None and rows is not None and not np.array_equal(_array(self.known), rows.all()):
            return True
        if isinstance(self.encoder, FoldedEncoder):
            before: dict[str, Any] = {"out": parts.folded.all_out(), "features": parts.folded.all_features()}
            before |= {f"head.{name}": tensor for name, tensor in zip(HEAD, parts.folded.head, strict=False)}
            now = self.encoder.state_dict()
        else:
            before, now = dict(parts.weights), self.encoder.network.state_dict()
        return any(not np.array_equal(_array(now[name]), before[name]) for name in before)

    def model_card(self) -> str:
        return self.card.removesuffix(TRAINED_FURTHER) + TRAINED_FURTHER if self.has_changed() else self.card


def _array(weight: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = weight.detach().to("cpu", torch.float32).numpy().copy()
    return array
