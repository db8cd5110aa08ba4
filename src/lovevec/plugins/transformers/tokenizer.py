"""The tokenizer's half: broken words are found, and their spelling goes along with `input_ids` as `love_words`.

By the strategy `replace` a broken word becomes one position: its id is that of the unknown word, its token is the word
itself, its offsets span it. This is done before special tokens, truncation and padding, by the tokenizer's own parts,
so that all of these count positions as the model will see them. By the others its pieces stay, and each has its word.

By `replace` the sentence may have its say (`sentences`): where a LOVE that reads words in sentences is sure enough what
a broken word stands for, that word's spelling goes along instead of its own.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
from tokenizers import Encoding

from lovevec.locks import ForkLock
from lovevec.love import LOVE
from lovevec.plugins import normalized_forms
from lovevec.plugins.transformers.wire_format import LOVE_WORDS, NO_BROKEN_WORD, NUMBERS_PER_WORD, to_numbers
from lovevec.transformer.pieces import Pieces

NOT_PICKLED = ("_known_pieces", "_words_to_keep", "_lock")  # made again when they are needed
LEAST_MEANT = 0.5  # probability of the word that is meant, for its spelling to go along
PER_POSITION = ("ids", "type_ids", "tokens", "word_ids", "offsets", "special_tokens_mask", "attention_mask")


class RobustTokenizer:
    """Mixed into the class of a fast tokenizer (see classes.py): finds broken words and sends their spelling along."""

    lovevec: dict[str, Any]
    padding_side: str

    def __init__(self, *args: Any, lovevec: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self.lovevec = lovevec or {"strategy": "replace"}
        super().__init__(*args, lovevec=self.lovevec, **kwargs)  # type: ignore[call-arg]
        self._add_input_name()

    def become_robust(self, strategy: str, keep: Sequence[str], sentences: str | None = None) -> None:
        """Set up a tokenizer that was made by its plain class and got this one later; `keep` stay in pieces, and
        `sentences` names the LOVE that reads broken words in their sentences."""
        self.lovevec = {"strategy": strategy} | ({"keep": "\n".join(keep)} if keep else {})
        self.lovevec |= {"sentences": sentences} if sentences else {}
        self.init_kwargs: dict[str, Any] = {**deepcopy(self.init_kwargs), "lovevec": self.lovevec}
        self._add_input_name()

    def _add_input_name(self) -> None:
        if LOVE_WORDS not in self.model_input_names:
            self.model_input_names: list[str] = [*self.model_input_names, LOVE_WORDS]

    @property
    def pieces(self) -> Pieces:
        """What each entry of the vocabulary is; made again when tokens were added."""
        size = len(self)  # type: ignore[arg-type]
        known: tuple[int, Pieces] | None = self.__dict__.get("_known_pieces")
        if known is None or known[0] != size:
            known = self.__dict__["_known_pieces"] = (size, Pieces(self))
        return known[1]

    def broken_words(self, ids: Sequence[int], word_ids: Sequence[int | None]) -> list[tuple[int, int]]:
        """The words that LOVE is asked for, as positions from, up to: the broken ones less those to keep."""
        pieces, keep = self.pieces, self._keep
        spans = pieces.broken_words(ids, word_ids)
        return [(low, high) for low, high in spans if not keep or pieces.spelling(ids[low:high]).lower() not in keep]

    @property
    def _keep(self) -> frozenset[str]:
        """The words that stay in pieces, in lower case, and as the tokenizer sees them (perhaps without accents)."""
        if "_words_to_keep" not in self.__dict__:
            normalizer = self.__dict__["_tokenizer"].normalizer
            self.__dict__["_words_to_keep"] = normalized_forms(self.lovevec.get("keep", "").split("\n"), normalizer)
        keep: frozenset[str] = self.__dict__["_words_to_keep"]
        return keep

    def meant_words(self, texts: Sequence[str]) -> list[dict[tuple[int, int], str]]:
        """Of each text the words that are probably meant where misspelled ones stand, by the places of these."""
        name = self.lovevec.get("sentences")
        if not name:
            return [{} for _ in texts]
        return [
            {
                (token.start, token.end): token.replacement
                for token in tokens
                if token.reading == "near" and token.probability >= LEAST_MEANT and token.replacement != token.text
            }
            for tokens in _reader_of_sentences(name).tokens(texts)
        ]

    @property
    def lock(self) -> Any:
        """Held while the settings of the tokenizer below are not those asked for, or are looked at."""
        return self.__dict__.setdefault("_lock", ForkLock())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in NOT_PICKLED}

    @property
    def _tokenizer(self) -> Any:
        """The tokenizer below, which transformers has under this name: a merging one, where that is the strategy."""
        backend = self.__dict__["_tokenizer"]
        return MergingTokenizer(backend, self) if self.lovevec["strategy"] == "replace" else backend

    @_tokenizer.setter
    def _tokenizer(self, backend: Any) -> None:
        self.__dict__["_tokenizer"] = backend

    def set_truncation_and_padding(self, *args: Any, **kwargs: Any) -> None:
        """The plain tokenizer's method, but not while another thread cuts texts: they share these settings."""
        with self.lock:
            super().set_truncation_and_padding(*args, **kwargs)  # type: ignore[misc]

    def _convert_encoding(self, encoding: Any, *args: Any, **kwargs: Any) -> Any:
        batch, encodings = super()._convert_encoding(encoding, *args, **kwargs)  # type: ignore[misc]
        batch[LOVE_WORDS] = [self._word_numbers(one) for one in encodings]
        return batch, encodings

    def _word_numbers(self, encoding: Any) -> list[tuple[int, ...]]:
        ids, pieces, result = encoding.ids, self.pieces, [NO_BROKEN_WORD] * len(encoding)
        if self.lovevec["strategy"] != "replace":
            for low, high in self.broken_words(ids, encoding.word_ids):
                result[low:high] = [to_numbers(pieces.spelling(ids[low:high]))] * (high - low)
        elif pieces.unknown_id in ids:
            for place, token in enumerate(encoding.tokens):
                if ids[place] == pieces.unknown_id and (word := pieces.merged_word(token)):
                    result[place] = to_numbers(word)
        return result

    def _encode_plus(self, *args: Any, return_tensors: Any = None, **kwargs: Any) -> Any:
        batch = super()._encode_plus(*args, return_tensors=None, **kwargs)  # type: ignore[misc]
        alone = _is_one_text(batch) and not kwargs.get("return_overflowing_tokens")
        return _as_tensors(batch, return_tensors, alone)

    def pad(self, *args: Any, return_tensors: Any = None, **kwargs: Any) -> Any:
        return _as_tensors(super().pad(*args, return_tensors=None, **kwargs), return_tensors)  # type: ignore[misc]

    def _pad(self, encoded_inputs: Any, *args: Any, padding_side: str | None = None, **kwargs: Any) -> Any:
        batch = super()._pad(encoded_inputs, *args, padding_side=padding_side, **kwargs)  # type: ignore[misc]
        if LOVE_WORDS in batch and (lacking := len(batch["input_ids"]) - len(batch[LOVE_WORDS])) > 0:
            words, padding = list(batch[LOVE_WORDS]), [NO_BROKEN_WORD] * lacking
            batch[LOVE_WORDS] = words + padding if (padding_side or self.padding_side) == "right" else padding + words
        return batch


def _is_one_text(batch: Any) -> bool:
    ids = batch["input_ids"]
    return not (len(ids) and isinstance(ids[0], (list, tuple, np.ndarray)))


def _as_tensors(batch: Any, kind: Any, add_batch: bool = False) -> Any:
    """Tensors instead of lists. The words' numbers are arrays before, for transformers looks at lists one by one."""
    if kind is None:
        return batch
    if LOVE_WORDS in batch:
        rows = [batch[LOVE_WORDS]] if _is_one_text(batch) else batch[LOVE_WORDS]
        arrays = [np.array(one, dtype=np.int64).reshape(-1, NUMBERS_PER_WORD) for one in rows]
        batch[LOVE_WORDS] = arrays[0] if _is_one_text(batch) else arrays
    return batch.convert_to_tensors(kind, prepend_batch_axis=add_batch)


class MergingTokenizer:
    """The Rust tokenizer with another `encode_batch`: broken words come out as one token. `owner` is the
    RobustTokenizer above it, which says which words are broken."""

    __slots__ = ("backend", "owner")

    def __init__(self, backend: Any, owner: RobustTokenizer) -> None:
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
                firsts = self._encode_merged([first for first, _ in pairs], is_pretokenized)
                others = self._encode_merged([second for _, second in pairs if second is not None], is_pretokenized)
                seconds = map(_second_of_pair, others)
                backend.post_processor = processor
                if truncation:
                    backend.enable_truncation(**truncation)
                encodings = [
                    backend.post_process(first, None if second is None else next(seconds), add_special_tokens)
                    for first, (_, second) in zip(firsts, pairs, strict=True)
                ]
            finally:
                backend.post_processor = processor
                if truncation:
                    backend.enable_truncation(**truncation)
                if padding:
                    backend.enable_padding(**padding)
        return _pad_encodings(encodings, padding) if padding else encodings

    def encode_batch_fast(self, *args: Any, **kwargs: Any) -> Any:
        """`encode_batch`: the Rust tokenizer's fast one only leaves out the offsets, and merging needs those."""
        return self.encode_batch(*args, **kwargs)

    def encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Any:
        one = sequence if pair is None else (sequence, pair)
        return self.encode_batch([one], add_special_tokens, is_pretokenized)[0]

    def _encode_merged(self, texts: Sequence[Any], is_pretokenized: bool) -> list[Any]:
        plain = self.backend.encode_batch(texts, add_special_tokens=False, is_pretokenized=is_pretokenized)
        broken = [self.owner.broken_words(encoding.ids, encoding.word_ids) for encoding in plain]
        meant: list[dict[tuple[int, int], str]] = [{} for _ in texts]
        if not is_pretokenized and not self.owner.pieces.in_bytes and any(broken):
            places = [place for place, spans in enumerate(broken) if spans]
            read = self.owner.meant_words([texts[place] for place in places])
            for place, words in zip(places, read, strict=True):
                meant[place] = words
        both = zip(plain, broken, meant, strict=True)
        return [self._merge(encoding, spans, words) if spans else encoding for encoding, spans, words in both]

    def _merge(self, encoding: Any, broken: Sequence[tuple[int, int]], meant: dict[tuple[int, int], str]) -> Any:
        ids, pieces = encoding.ids, self.owner.pieces
        lists = _per_position(encoding)
        positions: list[int] = []  # those that stay
        end = 0
        for low, high in broken:
            lists["offsets"][low] = lists["offsets"][low][0], lists["offsets"][high - 1][1]
            word = meant.get(lists["offsets"][low])
            entry = pieces.entry(ids[low:high], lists["tokens"][low:high])
            lists["tokens"][low] = entry if word is None else self._entry_of(word)
            lists["ids"][low] = pieces.unknown_id
            positions += range(end, low + 1)
            end = high
        positions += range(end, len(ids))
        return _encoding({name: [values[place] for place in positions] for name, values in lists.items()})

    def _entry_of(self, word: str) -> str:
        normalizer = self.backend.normalizer
        form = word if normalizer is None else normalizer.normalize_str(word)
        return f"{self.owner.pieces.mark}{form}"


@cache
def _reader_of_sentences(name: str) -> LOVE:
    return LOVE.load(name)


def _per_position(encoding: Any) -> dict[str, list[Any]]:
    return {name: getattr(encoding, name) for name in PER_POSITION}


def _encoding(lists: dict[str, list[Any]]) -> Any:
    """The encoding that has these lists per position; its constructor takes none, its pickled state does."""
    state = {"words" if name == "word_ids" else name: values for name, values in lists.items()}
    encoding = Encoding()
    encoding.__setstate__(json.dumps({**state, "overflowing": [], "sequence_ranges": {}}).encode("utf-8"))
    return encoding


def _second_of_pair(encoding: Any) -> Any:
    """The encoding with the type ids of a second text: post-processing does not mark what overflows later."""
    return _encoding({**_per_position(encoding), "type_ids": [1] * len(encoding)})


def _pair(one: Any, is_pretokenized: bool) -> tuple[Any, Any]:
    """A text, or the words of one, and the second that came with it: None where there is none."""
    alone = isinstance(one, str) or (is_pretokenized and (len(one) == 0 or isinstance(one[0], str)))
    return (one, None) if alone else (one[0], one[1])


def _pad_encodings(encodings: Sequence[Any], padding: dict[str, Any]) -> list[Any]:
    """Pad as the Rust tokenizer does: to `padding["length"]` or to the longest, up to a multiple where one is set."""
    length = padding["length"] or max((len(one.ids) for one in encodings), default=0)
    if multiple := padding["pad_to_multiple_of"]:
        length = -(-length // multiple) * multiple
    options = {name: padding[name] for name in ("direction", "pad_id", "pad_type_id", "pad_token")}
    for one in encodings:
        one.pad(length, **options)
    return list(encodings)
