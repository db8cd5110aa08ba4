"""A LOVE as torch's nn.Module, to train as a part of something bigger: `love.to_torch()`.

    v = normalise(Σ p(word) · known[word] + p(new) · imputed),   imputed by the encoder from the word's units

and for a string of several words the mean of such vectors, by how much each counts.

What learns: `known`, the known words' own rows, and the encoder: the network as it was trained where the folder has its
weights, else the folded tables, through which gradients flow just the same (`FoldedEncoder`). What a string may stand
for and its units are plain data (`prepare`), made by the LOVE that it came from. `LOVE.from_torch(module)` is the way
back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

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
from lovevec.near.kinds import NUMBER, WORD, Part
from lovevec.near.parts import Composite, find
from lovevec.near.readings import MIN_PROBABILITY, Readings, all_new
from lovevec.units.words import refuse_other_than_words

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


class ReadsWords(Protocol):
    """What a LOVE tells the module of words; its methods of these names say what they give."""

    parts: ModelParts
    card: str
    spelling_only: bool

    def _look_up(self, words: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]: ...
    def _take_apart(self, strings: Sequence[str]) -> Sequence[str | Composite]: ...
    def _read(self, strings: Sequence[str], in_text: bool = False) -> Readings: ...
    def _number_codes(self, numbers: Sequence[str]) -> NDArray[np.float32]: ...
    def text_weights(
        self, rows: NDArray[np.int64], unknown: Readings
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...


class TorchLOVE(nn.Module):
    """Words, or what `prepare` made of them, -> [words, dim] of unit length. Made by `love.to_torch()`."""

    known: nn.Parameter | None

    def __init__(self, love: ReadsWords) -> None:
        super().__init__()
        parts = love.parts
        self.dim, self.spelling_only, self.card = parts.spec.dim, love.spelling_only, love.card
        self._parts, self._love = parts, love
        self.encoder: FoldedEncoder | TrainedEncoder = (
            FoldedEncoder(parts.spec, parts.folded) if parts.tables is not None else TrainedEncoder(parts)
        )
        rows = None if love.spelling_only or parts.rows is None else parts.rows.all()
        self.register_parameter("known", None if rows is None else nn.Parameter(torch.from_numpy(rows)))

    def prepare(self, words: Sequence[str]) -> dict[str, Tensor]:
        """What the words' vectors are made of, as tensors by name: to make in a data loader's process. Those of
        `prepare_parts` for the words, and where a word holds several, for what it holds; then besides

        bag, shares, starts    [parts] which parts each word has, how much each counts; [words] where its parts begin
        """
        refuse_other_than_words(words)
        if self.known is None:
            return self.prepare_parts([(word, WORD) for word in words])[0]
        found = find(words, self._love._look_up, self._love._take_apart)
        if not found.composites:
            return self.prepare_parts([(found.words.get(at, word), WORD) for at, word in enumerate(words)])[0]
        parts, shares, counts = [], [], []
        for at, word in enumerate(words):
            composite = found.composites.get(at)
            held = (Part(found.words.get(at, word), WORD, 0, len(word)),) if composite is None else composite.parts
            parts += [(part.text, part.how) for part in held]
            shares += [part.share for part in held]
            counts.append(len(held))
        prepared, weights = self.prepare_parts(parts)
        bag = np.arange(len(parts))
        starts = np.cumsum(counts) - counts
        arrays = {"bag": bag, "shares": (weights * shares).astype(np.float32), "starts": starts.astype(np.int64)}
        return prepared | {name: torch.from_numpy(array) for name, array in arrays.items()}

    def prepare_parts(
        self, parts: Sequence[tuple[str, str]], in_text: bool = False
    ) -> tuple[dict[str, Tensor], NDArray[np.float32]]:
        """What the vectors of words and parts of words (text, how: see near/kinds.py) are made of, and how much each
        counts in a text:

        owner, rows, chances   [pairs] a word, a known word that it may stand for (itself if known), how probably
        adds                   [pairs] whether it is probable enough for its vector to be added
        new                    [words] the chance of a new word
        place                  [others] which words have units; units, ngrams [others, …] ids; their lengths [others]
        codes, coded           [numbers, dim] vectors that nobody learns; [numbers] which words have them
        """
        words, hows = [text for text, _ in parts], [how for _, how in parts]
        new, unknown, others = np.ones(len(words), dtype=np.float32), list(words), np.arange(len(words))
        owner, rows, chances = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32)
        weights, coded, adds = np.ones(len(words), dtype=np.float32), np.zeros(0, np.int64), np.zeros(0, np.bool_)
        if self.known is not None:
            known_rows, unknown = self._love._look_up(words)
            have, others = np.flatnonzero(known_rows >= 0), np.flatnonzero(known_rows < 0)
            reading = self._love._read(unknown, in_text)
            reading = reading.as_new(np.array([hows[at] != WORD for at in others.tolist()], dtype=np.bool_))
            weights[have], weights[others] = self._love.text_weights(known_rows[have], reading)
            string, column = np.nonzero(reading.rows >= 0)
            part, place = np.nonzero(reading.part_rows >= 0)
            shares = self._shares(reading, in_text)[part, place]
            owner = np.concatenate([have, others[string], others[part]])
            rows = np.concatenate([known_rows[have], reading.rows[string, column], reading.part_rows[part, place]])
            several = reading.parts[part] * shares
            chances = np.concatenate([np.ones(len(have)), reading.probabilities[string, column], several])
            probable = reading.probabilities[string, column] >= MIN_PROBABILITY, reading.parts[part] >= MIN_PROBABILITY
            adds = np.concatenate([np.ones(len(have), dtype=np.bool_), *probable])  # as near/readings.py adds them
            in_order = np.argsort(owner, kind="stable")
            owner, rows, chances, adds = owner[in_order], rows[in_order], chances[in_order], adds[in_order]
            new[have], new[others] = 0, reading.new
            coded = np.array([at for at in others.tolist() if hows[at] == NUMBER], dtype=np.int64)
            new[coded] = 0
        units, ngrams = self._parts.units.encode(unknown).split(self._parts.units.vocabulary.unit_rows)
        arrays = {
            "owner": owner, "rows": rows, "chances": chances.astype(np.float32), "adds": adds,
            "new": new, "place": others,
            "units": units.padded(1).astype(np.int64), "lengths": units.lengths,
            "ngrams": ngrams.padded().astype(np.int64), "ngram_lengths": ngrams.lengths,
        }  # fmt: skip
        if len(coded):
            arrays |= {"coded": coded, "codes": self._love._number_codes([words[at] for at in coded.tolist()])}
        return {name: torch.from_numpy(array) for name, array in arrays.items()}, weights

    def _shares(self, reading: Readings, in_text: bool) -> NDArray[np.float64]:
        """[strings, MAX_PARTS] of words that are run together: 1 each in a text, else their shares of the weights."""
        there = reading.part_rows >= 0
        if in_text:
            return there.astype(np.float64)
        rows = np.where(there, reading.part_rows, 0).astype(np.int64)
        weights = np.where(there, self._love.text_weights(rows.ravel(), all_new(0))[0].reshape(rows.shape), 0.0)
        total = weights.sum(axis=1, keepdims=True)
        even = there / np.maximum(there.sum(axis=1, keepdims=True), 1)
        shares: NDArray[np.float64] = np.where(total > 0, weights / np.where(total > 0, total, 1), even)
        return shares

    def forward(self, words: Sequence[str] | Prepared) -> Tensor:
        return F.normalize(self.combine(words if isinstance(words, Mapping) else self.prepare(words)), dim=1)

    def combine(self, prepared: Prepared) -> Tensor:
        """Σ chances · known + new · imputed, not at unit length: [words, dim]; of several words the sum of theirs at
        unit length. With `weights` [pairs] known words count by these too."""
        made = {name: tensor.to(self.device) for name, tensor in prepared.items()}
        total = torch.zeros(len(made["new"]), self.dim, device=self.device)
        if self.known is not None:
            some = made["adds"]
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
        if parts:
            where = made["place"][torch.cat(parts)]
            total = total.index_add(0, where, torch.cat(imputed) * made["new"][where][:, None])
        if "codes" in made:
            total = total.index_add(0, made["coded"], made["codes"])
        if "bag" not in made:
            return total
        shares = made["shares"]
        return F.embedding_bag(made["bag"], F.normalize(total), made["starts"], mode="sum", per_sample_weights=shares)

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
