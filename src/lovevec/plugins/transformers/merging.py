"""Broken words become one position each: its id is that of the unknown word, its token is the word itself, its offsets
span it. This is done before special tokens, truncation and padding, by the tokenizer's own parts, so that all of these
count positions as the model will see them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from tokenizers import Encoding

PER_POSITION = ("ids", "type_ids", "tokens", "word_ids", "offsets", "special_tokens_mask", "attention_mask")


class Merging:
    """The Rust tokenizer with another `encode_batch`: broken words come out as one token."""

    __slots__ = ("backend", "owner")

    def __init__(self, backend: Any, owner: Any) -> None:
        object.__setattr__(self, "backend", backend)
        object.__setattr__(self, "owner", owner)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.backend, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.backend, name, value)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return deepcopy(self.backend, memo)

    def __reduce__(self) -> Any:
        return self.backend.__reduce__()

    def encode_batch(
        self, inputs: Sequence[Any], add_special_tokens: bool = True, is_pretokenized: bool = False
    ) -> Any:
        """Cut texts into pieces, merge, and only then add special tokens, truncate and pad."""
        pairs = [_pair(one, is_pretokenized) for one in inputs]
        backend = self.backend
        with self.owner.lock:
            truncation, padding, processor = backend.truncation, backend.padding, backend.post_processor
            backend.no_truncation()
            backend.no_padding()
            backend.post_processor = None  # it would correct offsets, and do so again below
            try:
                firsts = self._merged([first for first, _ in pairs], is_pretokenized)
                seconds = map(as_second, self._merged([two for _, two in pairs if two is not None], is_pretokenized))
                backend.post_processor = processor
                if truncation:
                    backend.enable_truncation(**truncation)
                whole = [
                    backend.post_process(first, None if second is None else next(seconds), add_special_tokens)
                    for first, (_, second) in zip(firsts, pairs, strict=True)
                ]
            finally:
                backend.post_processor = processor
                if truncation:
                    backend.enable_truncation(**truncation)
                if padding:
                    backend.enable_padding(**padding)
        return pad(whole, padding) if padding else whole

    def encode_batch_fast(self, *args: Any, **kwargs: Any) -> Any:
        """The same; it would only leave out the offsets."""
        return self.encode_batch(*args, **kwargs)

    def encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Any:
        """One text, or a pair."""
        one = sequence if pair is None else (sequence, pair)
        return self.encode_batch([one], add_special_tokens, is_pretokenized)[0]

    def _merged(self, texts: Sequence[Any], is_pretokenized: bool) -> list[Any]:
        plain = self.backend.encode_batch(texts, add_special_tokens=False, is_pretokenized=is_pretokenized)
        return [self._merge(encoding) for encoding in plain]

    def _merge(self, encoding: Any) -> Any:
        """One position for each broken word."""
        ids, pieces = encoding.ids, self.owner.pieces
        broken = self.owner.broken(ids, encoding.word_ids)
        if not broken:
            return encoding
        lists = per_position(encoding)
        kept: list[int] = []
        behind = 0
        for low, high in broken:
            lists["tokens"][low] = pieces.entry(ids[low:high], lists["tokens"][low:high])
            lists["ids"][low] = pieces.unknown_id
            lists["offsets"][low] = lists["offsets"][low][0], lists["offsets"][high - 1][1]
            kept += range(behind, low + 1)
            behind = high
        kept += range(behind, len(ids))
        return made_of({name: [values[place] for place in kept] for name, values in lists.items()})


def per_position(encoding: Any) -> dict[str, list[Any]]:
    """What an encoding has for each position."""
    return {name: getattr(encoding, name) for name in PER_POSITION}


def made_of(lists: dict[str, list[Any]]) -> Any:
    """An encoding of such lists."""
    state = {"words" if name == "word_ids" else name: values for name, values in lists.items()}
    encoding = Encoding()
    encoding.__setstate__(json.dumps({**state, "overflowing": [], "sequence_ranges": {}}).encode("utf-8"))
    return encoding


def as_second(encoding: Any) -> Any:
    """An encoding that says it is the second of a pair, not the first: what overflows is not told so later."""
    return made_of({**per_position(encoding), "type_ids": [1] * len(encoding)})


def _pair(one: Any, is_pretokenized: bool) -> tuple[Any, Any]:
    """A text or the words of one, alone or with a second."""
    alone = isinstance(one, str) or (is_pretokenized and (len(one) == 0 or isinstance(one[0], str)))
    return (one, None) if alone else (one[0], one[1])


def pad(encodings: Sequence[Any], how: dict[str, Any]) -> list[Any]:
    """Pad as the Rust tokenizer does: to `how["length"]`, or to the longest; to a multiple of a number, if so asked."""
    length = how["length"] or max((len(one.ids) for one in encodings), default=0)
    if several := how["pad_to_multiple_of"]:
        length = -(-length // several) * several
    kept = {name: how[name] for name in ("direction", "pad_id", "pad_type_id", "pad_token")}
    for one in encodings:
        one.pad(length, **kept)
    return list(encodings)
