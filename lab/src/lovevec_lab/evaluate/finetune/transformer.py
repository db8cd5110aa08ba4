"""A Hugging Face transformer as one row of a table: plain, with LOVE inside, or behind a speller; loaded afresh for
every run, from a folder or by its hub id.

The speller is the honest rival of LOVE inside: words that the tokenizer breaks into pieces are replaced by SymSpell's
correction, the nearest whole word of the tokenizer's own vocabulary within two edits; or, where a LOVE is named, the
nearest of its known words and these. A word that nothing is near to stays as it is, and so do numbers and punctuation.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache, cached_property
from hashlib import blake2b
from typing import Any

import torch
from torch import nn

from lovevec.errors import LovevecError
from lovevec.love import LOVE
from lovevec.model.find import find_model
from lovevec.model.folder import CONFIG, TOKENIZER, WEIGHTS, WORDS
from lovevec.transformer.load import loading, positions_of
from lovevec.transformer.pieces import lowercases, refuse_empty, whole_words
from lovevec_lab.evaluate.datasets import digest_of
from lovevec_lab.methods.symspell import SymSpellDictionary


class Transformer:
    """`love` (folder, shipped name or hub id) is put inside by `strategy` and robustify's other `options`; `spelled`
    corrects all text first, by whole words or also by the known words of the LOVE that it names."""

    def __init__(
        self, name: str, love: str | None = None, strategy: str = "replace", spelled: bool | str = False, **options: Any
    ) -> None:
        from lovevec.plugins.transformers.embedding import STRATEGIES

        if strategy not in STRATEGIES:
            raise LovevecError(f"strategy {strategy!r}: known are {', '.join(STRATEGIES)}")
        self.name, self.love, self.strategy, self.spelled, self.options = name, love, strategy, spelled, options

    @property
    def key(self) -> dict[str, Any]:
        """All that its predictions depend on, for results that are kept."""
        inside = {"strategy": self.strategy, "content": self._love_digest, **self.options} if self.love else None
        return {"content": content_of(self.name), "love": inside, "spelled": self.spelled}

    @cached_property
    def tokenizer(self) -> Any:
        """What texts are tokenised with; it knows which position belongs to which word, and how many the model has."""
        model, tokenizer = self.pair("AutoModel")
        if not tokenizer.is_fast:
            raise LovevecError(f"{self.name}: its tokenizer has no fast version, which is needed to align words")
        tokenizer.model_max_length = min(tokenizer.model_max_length, positions_of(model) or sys.maxsize)
        return tokenizer

    def model(self, head: str, classes: int) -> nn.Module:
        """A fresh copy under a new head: `head` is one of transformers' Auto classes. The head's weights are drawn from
        torch's own generator."""
        model: nn.Module = self.pair(head, num_labels=classes)[0]
        return model

    def read(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """The sentences as the transformer is to see them, with as many words as they have."""
        if self.spelled:
            return self._speller.correct(sentences)
        return [list(sentence) for sentence in sentences]

    @cached_property
    def _love_digest(self) -> str:
        folder = find_model(self.love)
        return digest_of([folder / name for name in (CONFIG, WEIGHTS, TOKENIZER, WORDS)])

    @cached_property
    def _speller(self) -> WholeWordSpeller:
        return WholeWordSpeller(self.tokenizer, LOVE.load(self.spelled).words if isinstance(self.spelled, str) else ())

    @cached_property
    def _love_model(self) -> LOVE:
        return LOVE.load(self.love)

    def pair(self, head: str = "AutoModel", **more: Any) -> tuple[Any, Any]:
        """Model and tokenizer, loaded now, with LOVE inside if there is one; `head` is one of transformers' Auto
        classes, and `more` goes to its from_pretrained."""
        model, tokenizer = load(self.name, head, **more)
        if self.love is None:
            return model, tokenizer
        from lovevec.plugins.transformers import robustify

        way: Any = self.strategy
        pair: tuple[Any, Any] = robustify((model, tokenizer), love=self._love_model, strategy=way, **self.options)
        return pair


def load(name: str, head: str, **more: Any) -> tuple[Any, Any]:
    """Model, in float32 on the CPU, and tokenizer as they are; `head` is one of transformers' Auto classes."""
    with loading(name) as transformers:
        model = getattr(transformers, head).from_pretrained(name, **more).float()
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(name)
        if getattr(tokenizer, "add_prefix_space", None) is False:  # else the first word is read differently
            tokenizer = transformers.AutoTokenizer.from_pretrained(name, add_prefix_space=True)
    refuse_empty(tokenizer)
    return model, tokenizer


@cache
def content_of(name: str) -> str:
    """A short name for a transformer's weights and vocabulary."""
    model, tokenizer = load(name, "AutoModel")
    digest = blake2b(digest_size=8)
    for key, tensor in sorted(model.state_dict().items()):
        digest.update(key.encode())
        digest.update(tensor.contiguous().view(-1).view(torch.uint8).numpy().data)
    digest.update("\n".join(sorted(tokenizer.get_vocab())).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


class WholeWordSpeller:
    """Corrections by a tokenizer's whole words, behind `more` words if there are; each word is looked up once."""

    def __init__(self, tokenizer: Any, more: Sequence[str] = ()) -> None:
        words = [word for word in dict.fromkeys([*more, *whole_words(tokenizer)[0]]) if word.isalpha()]
        self.tokenizer, self.dictionary, self.lowercase = tokenizer, SymSpellDictionary(words), lowercases(tokenizer)
        self._known: dict[str, str] = {}

    def correct(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """The sentences, with as many words as before."""
        new = dict.fromkeys(word for sentence in sentences for word in sentence if word not in self._known)
        self._known |= {word: word for word in new}
        able = [word for word in new if word.isalnum() and not word.isdecimal()]
        if able:
            pieces = self.tokenizer([[word] for word in able], is_split_into_words=True, add_special_tokens=False)
            broken = [word for word, ids in zip(able, pieces["input_ids"], strict=True) if len(ids) > 1]
            self._known |= {word: self._nearest(word) for word in broken}
        return [[self._known[word] for word in sentence] for sentence in sentences]

    def _nearest(self, word: str) -> str:
        return self.dictionary.correct(word.lower() if self.lowercase else word) or word
