"""A transformer that computes states of words in sentences: texts cut into pieces and passages that the model can take,
and the hidden states of one layer for them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from tokenizers import Tokenizer

from lovevec.errors import LovevecError, Parameter
from lovevec.transformer.distill_plan import DistillSettings
from lovevec.transformer.load import load_model, load_tokenizer, positions_of, public_name
from lovevec.transformer.pieces import Pieces, lowercases

if TYPE_CHECKING:
    from torch import Tensor

NO_LIMIT = 1 << 20  # tokenizers without a limit state a number of 31 digits
USUAL_LENGTH = 512  # pieces of a passage, where neither the tokenizer nor the model states a limit
Span = tuple[int, int]


class Passage(NamedTuple):
    """A stretch of text: pieces that go through the model together, special ones included, and where words stand in it.

    `spans` are (from, up to, row): the states from `from` up to `up to` make a vector for `row`.
    """

    ids: list[int]
    spans: list[tuple[int, int, int]]


class ContextualModel:
    """A model and its tokenizer: `tokenize` gives the pieces of texts, `states` what the model makes of passages."""

    def __init__(self, source: Any, settings: DistillSettings) -> None:
        import torch  # here and below: so that `distill` is there, and says what to install, where torch is not

        from lovevec.device import choose_device

        self.device = choose_device(settings.device)
        if isinstance(source, str):
            self.name, tokenizer = public_name(source), load_tokenizer(source)
            self.pieces = Pieces(tokenizer)
            model = load_model(source)
        else:
            model, tokenizer = source
            self.name = public_name(str(getattr(model.config, "_name_or_path", "") or type(model).__name__))
            self.pieces = Pieces(tokenizer)
        self.model = model.eval().to(self.device, getattr(torch, settings.precision))
        self.lowercase = lowercases(tokenizer)
        self.padding = tokenizer.pad_token_id or 0
        self.unknown = tokenizer.unk_token_id
        self.backend = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())  # a copy: padding and cutting are ours
        self.backend.no_padding()
        self.backend.no_truncation()
        self.before, self.behind = _specials(self.backend)
        self.length = _passage_length(self.name, model, tokenizer, settings.length)
        self.room = self.length - len(self.before) - len(self.behind)
        if self.room < 1:
            raise LovevecError(
                f"{Parameter('length')} is {settings.length}: the special tokens of {self.name} leave no room for words"
            )
        self.layer = _layer_index(self.name, model, settings.layer)
        self.dim = int(self.states([[*self.before, *self.backend.encode("a", add_special_tokens=False).ids]]).shape[-1])

    def tokenize(self, texts: Sequence[str]) -> list[tuple[list[int], list[Span]]]:
        """For each text its pieces, without special ones, and its words as positions in them."""
        encodings = self.backend.encode_batch(list(texts), add_special_tokens=False)
        return [(encoding.ids, self.pieces.words(encoding.ids, encoding.word_ids)) for encoding in encodings]

    def passage(self, ids: Sequence[int], spans: list[tuple[int, int, int]]) -> Passage:
        return Passage([*self.before, *ids, *self.behind], spans)

    def states(self, batch: Sequence[Sequence[int]]) -> Tensor:
        """The hidden states of one layer, [texts, longest, dim]; behind a text's end they mean nothing."""
        import torch

        shape = len(batch), max(map(len, batch))
        ids, mask = np.full(shape, self.padding, np.int64), np.zeros(shape, np.int64)
        lengths = np.fromiter(map(len, batch), np.int64, len(batch))
        real = np.arange(shape[1]) < lengths[:, None]
        ids[real] = np.fromiter(chain.from_iterable(batch), np.int64, int(lengths.sum()))
        mask[real] = 1
        inputs = {
            name: torch.from_numpy(array).to(self.device, non_blocking=True)
            for name, array in (("input_ids", ids), ("attention_mask", mask))
        }
        with torch.inference_mode():
            out = self.model(**inputs, output_hidden_states=self.layer >= 0, return_dict=True)
        states = out.hidden_states[self.layer] if self.layer >= 0 else getattr(out, "last_hidden_state", None)
        if not isinstance(states, torch.Tensor):
            raise LovevecError(f"{self.name}: a {type(self.model).__name__} gives no states for the words of a text")
        return states


def cut(count: int, spans: Sequence[Span], room: int) -> list[Span]:
    """Stretches of about equal size, of at most `room` of `count` pieces, that cut no word in two.

    A word of more than `room` pieces is cut all the same.

        cut(6, [(0, 1), (2, 5), (5, 6)], 4) -> [(0, 2), (2, 6)]
    """
    if count <= room:
        return [(0, count)]
    step = -(-count // -(-count // room))
    stretches: list[Span] = []
    inside = {place: span for span in spans for place in range(span[0] + 1, span[1])}
    low = 0
    while low < count:
        high = min(low + step, count)
        if word := inside.get(high):
            high = word[1] if word[1] - low <= room else word[0] if word[0] > low else low + room
        stretches.append((low, high))
        low = high
    return stretches


def _specials(backend: Tokenizer) -> tuple[list[int], list[int]]:
    encoding = backend.encode("a")
    text = [place for place, special in enumerate(encoding.special_tokens_mask) if not special]
    return encoding.ids[: text[0]], encoding.ids[text[-1] + 1 :]


def _passage_length(name: str, model: Any, tokenizer: Any, length: int) -> int:
    limits = [limit for limit in (tokenizer.model_max_length, positions_of(model)) if limit and limit < NO_LIMIT]
    limit = int(min(limits, default=USUAL_LENGTH))
    if length > limit:
        raise LovevecError(f"{Parameter('length')} is {length}: {name} takes at most {limit} pieces")
    return length or limit


def _layer_index(name: str, model: Any, layer: int) -> int:
    """The layer counted from 0, which is the input of the first one; -1, the output of the last one, stays -1."""
    count = int(getattr(model.config, "num_hidden_layers", 0))
    if not -count - 1 <= layer <= count:
        raise LovevecError(
            f"{Parameter('layer')} is {layer}: {name} has the layers 0 (its input) to {count}, or -1 (the last) and on"
        )
    return -1 if layer in (-1, count) else layer % (count + 1)
