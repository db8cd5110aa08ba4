"""The tokenizer's half: broken words are found, and their spelling goes along with `input_ids` as `love_words`.

With the strategy `replace` a broken word is merged into one position (see merging.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from threading import RLock
from typing import Any

import numpy as np

from lovevec.plugins import in_any_form
from lovevec.plugins.transformers.merging import Merging
from lovevec.plugins.transformers.wire_format import KEY, NOTHING, NUMBERS, to_numbers
from lovevec.transformer.pieces import Pieces

MADE_AGAIN = ("_known_pieces", "_kept_words", "_lock")  # what need not be saved


class RobustTokenizer:
    """What is added to a fast tokenizer of any class (see classes.py)."""

    lovevec: dict[str, Any]
    padding_side: str

    def __init__(self, *args: Any, lovevec: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self.lovevec = lovevec or {"strategy": "replace"}
        super().__init__(*args, lovevec=self.lovevec, **kwargs)  # type: ignore[call-arg]
        self._learn_names()

    def become_robust(self, strategy: str, keep: Sequence[str]) -> None:
        """For a tokenizer that was made by its plain class, and got this one later."""
        self.lovevec = {"strategy": strategy} | ({"keep": "\n".join(keep)} if keep else {})
        self.init_kwargs: dict[str, Any] = {**deepcopy(self.init_kwargs), "lovevec": self.lovevec}
        self._learn_names()

    def _learn_names(self) -> None:
        if KEY not in self.model_input_names:
            self.model_input_names: list[str] = [*self.model_input_names, KEY]

    @property
    def pieces(self) -> Pieces:
        """What each entry of the vocabulary is; made again when tokens were added."""
        size = len(self)  # type: ignore[arg-type]
        known: tuple[int, Pieces] | None = self.__dict__.get("_known_pieces")
        if known is None or known[0] != size:
            known = self.__dict__["_known_pieces"] = (size, Pieces(self))
        return known[1]

    def broken(self, ids: Sequence[int], word_ids: Sequence[int | None]) -> list[tuple[int, int]]:
        """The words that LOVE is asked for, as positions from, up to: the broken ones less those to keep."""
        pieces, kept = self.pieces, self._kept
        spans = pieces.broken_words(ids, word_ids)
        return [(low, high) for low, high in spans if not kept or pieces.spelling(ids[low:high]).lower() not in kept]

    @property
    def _kept(self) -> frozenset[str]:
        """The words that stay in pieces, in lower case, and as the tokenizer sees them (perhaps without accents)."""
        if "_kept_words" not in self.__dict__:
            normalizer = self.__dict__["_tokenizer"].normalizer
            self.__dict__["_kept_words"] = in_any_form(self.lovevec.get("keep", "").split("\n"), normalizer)
        kept: frozenset[str] = self.__dict__["_kept_words"]
        return kept

    @property
    def lock(self) -> Any:
        """Held while the settings of the tokenizer below are not those asked for, or are looked at."""
        return self.__dict__.setdefault("_lock", RLock())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in MADE_AGAIN}

    @property
    def _tokenizer(self) -> Any:
        """The tokenizer below, which transformers has under this name: with merging, where that is the strategy."""
        backend = self.__dict__["_tokenizer"]
        return Merging(backend, self) if self.lovevec["strategy"] == "replace" else backend

    @_tokenizer.setter
    def _tokenizer(self, backend: Any) -> None:
        self.__dict__["_tokenizer"] = backend

    def set_truncation_and_padding(self, *args: Any, **kwargs: Any) -> None:
        """As ever, but not while another thread cuts texts."""
        with self.lock:
            super().set_truncation_and_padding(*args, **kwargs)  # type: ignore[misc]

    def _convert_encoding(self, encoding: Any, *args: Any, **kwargs: Any) -> Any:
        batch, encodings = super()._convert_encoding(encoding, *args, **kwargs)  # type: ignore[misc]
        batch[KEY] = [self._spelled(one) for one in encodings]
        return batch, encodings

    def _spelled(self, encoding: Any) -> list[tuple[int, ...]]:
        """The numbers of each position."""
        ids, pieces, result = encoding.ids, self.pieces, [NOTHING] * len(encoding)
        if self.lovevec["strategy"] != "replace":
            for low, high in self.broken(ids, encoding.word_ids):
                result[low:high] = [to_numbers(pieces.spelling(ids[low:high]))] * (high - low)
        elif pieces.unknown_id in ids:
            for place, token in enumerate(encoding.tokens):
                if ids[place] == pieces.unknown_id and (word := pieces.merged_word(token)):
                    result[place] = to_numbers(word)
        return result

    def _encode_plus(self, *args: Any, return_tensors: Any = None, **kwargs: Any) -> Any:
        batch = super()._encode_plus(*args, return_tensors=None, **kwargs)  # type: ignore[misc]
        alone = is_alone(batch) and not kwargs.get("return_overflowing_tokens")
        return as_tensors(batch, return_tensors, alone)

    def pad(self, *args: Any, return_tensors: Any = None, **kwargs: Any) -> Any:
        """As ever."""
        return as_tensors(super().pad(*args, return_tensors=None, **kwargs), return_tensors)  # type: ignore[misc]

    def _pad(self, encoded_inputs: Any, *args: Any, padding_side: str | None = None, **kwargs: Any) -> Any:
        """Pad `love_words` as far as `input_ids` were padded."""
        batch = super()._pad(encoded_inputs, *args, padding_side=padding_side, **kwargs)  # type: ignore[misc]
        if KEY in batch and (lacking := len(batch["input_ids"]) - len(batch[KEY])) > 0:
            words, none = list(batch[KEY]), [NOTHING] * lacking
            batch[KEY] = words + none if (padding_side or self.padding_side) == "right" else none + words
        return batch


def is_alone(batch: Any) -> bool:
    """Whether this is one text, with no list of texts around it."""
    ids = batch["input_ids"]
    return not (len(ids) and isinstance(ids[0], (list, tuple, np.ndarray)))


def as_tensors(batch: Any, kind: Any, add_batch: bool = False) -> Any:
    """Tensors instead of lists. The words' numbers are arrays before, for transformers looks at lists one by one."""
    if kind is None:
        return batch
    if KEY in batch:
        rows = [batch[KEY]] if is_alone(batch) else batch[KEY]
        arrays = [np.array(one, dtype=np.int64).reshape(-1, NUMBERS) for one in rows]
        batch[KEY] = arrays[0] if is_alone(batch) else arrays
    return batch.convert_to_tensors(kind, prepend_batch_axis=add_batch)
