"""Which words of a text a model2vec model does not know whole: those that lovevec.plugins.model2vec reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from types import SimpleNamespace
from typing import Any, NamedTuple

from lovevec.errors import LovevecError
from lovevec.plugins import normalized_forms
from lovevec.transformer.pieces import Pieces, is_word, whole_words


class TextTokens(NamedTuple):
    """The tokens of a text as the plain model sees them, and the words among them that are to be read: their positions
    from, up to, and the word as it is written."""

    ids: list[int]
    words: list[tuple[int, int, str]]

    def runs(self) -> Iterator[tuple[list[int], str]]:
        """The tokens before each word to read, and the word; at last those behind all words, and an empty one."""
        end = 0
        for low, high, word in [*self.words, (len(self.ids), len(self.ids), "")]:
            yield self.ids[end:low], word
            end = high


class WordFinder:
    """Cuts texts into tokens and finds the words to read. `tokenizer` is the model's (a copy is used, which neither
    truncates nor pads), `unknown_id` the token of what it cannot spell, `keep` are words that count as whole though
    they are broken."""

    def __init__(self, tokenizer: Any, unknown_id: int | None, keep: Sequence[str]) -> None:
        self.tokenizer, self.unknown_id = deepcopy(tokenizer), unknown_id
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.whole_words, self._pieces = words_and_pieces(self.tokenizer, unknown_id)
        self._keep = normalized_forms(keep, self.tokenizer.normalizer)
        self._suspects = {unknown_id} | (self._pieces.goes_on if self._pieces else set())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_pieces"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._pieces = words_and_pieces(self.tokenizer, self.unknown_id)[1]

    def tokens(self, sentences: Sequence[str], max_characters: int | None, max_length: int | None) -> list[TextTokens]:
        """The tokens of texts and their words to read. A text is cut as the plain model cuts it: to its first
        characters, then to its first tokens."""
        try:
            cut = [sentence[:max_characters] for sentence in sentences]
            encodings = self.tokenizer.encode_batch_fast(cut, add_special_tokens=False)
        except TypeError:
            cut = [_readable(sentence)[:max_characters] for sentence in sentences]
            encodings = self.tokenizer.encode_batch_fast(cut, add_special_tokens=False)
        texts = [TextTokens(one.ids[:max_length], []) for one in encodings]
        doubtful = [place for place, text in enumerate(texts) if self._may_have_words(text.ids)]
        if doubtful:
            again = self.tokenizer.encode_batch([cut[place] for place in doubtful], add_special_tokens=False)
            for place, encoding in zip(doubtful, again, strict=True):
                texts[place].words.extend(
                    self._words_to_read(encoding, cut[place], len(texts[place].ids), max_characters)
                )
        return texts

    def _may_have_words(self, ids: list[int]) -> bool:
        """Whether there may be a word to read, by the tokens alone: most texts have none, and offsets take time."""
        if self._suspects.isdisjoint(ids):
            return False
        if self.unknown_id in ids or self._pieces is None:
            return True
        return any(not self._in_keep(ids[low:high]) for low, high in self._pieces.broken_words(ids, [0] * len(ids)))

    def _in_keep(self, ids: list[int]) -> bool:
        assert self._pieces is not None
        return self._pieces.spelling(ids).lower() in self._keep

    def _words_to_read(
        self, encoding: Any, text: str, count: int, max_characters: int | None
    ) -> list[tuple[int, int, str]]:
        """The words to read among the first `count` tokens, with their positions: broken ones and those that the
        tokenizer cannot spell, except one that the cut may have shortened. A capital that begins a sentence does not
        speak for a name, so such a word is in lower case."""
        ids, word_ids, offsets = encoding.ids, encoding.word_ids, encoding.offsets
        broken = self._pieces.broken_words(ids, word_ids) if self._pieces else []
        spans = [(low, high) for low, high in broken if not self._in_keep(ids[low:high])]
        if self.unknown_id is not None and self.unknown_id in ids:
            around = [-1, *word_ids, -1]
            alone = [place for place, number in enumerate(ids) if number == self.unknown_id
                     and around[place] != word_ids[place] != around[place + 2]]  # fmt: skip
            spans = sorted(spans + [(place, place + 1) for place in alone])
        words = []
        for low, high in spans:
            first, end = offsets[low][0], offsets[high - 1][1]
            word = text[first:end].strip()
            if high <= count and end != max_characters and is_word(word) and word.lower() not in self._keep:
                words.append((low, high, word.lower() if _begins_sentence(text, first) else word))
        return words

    def spellable(self, ids: list[int]) -> list[int]:
        """The tokens without those that stand for what the tokenizer cannot spell: the plain model leaves them out."""
        return [number for number in ids if number != self.unknown_id] if self.unknown_id in ids else ids


def words_and_pieces(tokenizer: Any, unknown: int | None) -> tuple[list[str], Pieces | None]:
    """The whole words of a tokenizer's vocabulary, and what its pieces are; None where it has words alone."""
    state, vocabulary = json.loads(tokenizer.to_str()), tokenizer.get_vocab()
    added = {number: token.special for number, token in tokenizer.get_added_tokens_decoder().items()}
    if state["model"].get("type") == "WordLevel":
        in_order = sorted(vocabulary, key=vocabulary.__getitem__)
        return [word for word in in_order if vocabulary[word] not in {*added, unknown}], None
    special = {number for number, is_special in added.items() if is_special} | ({unknown} - {None})
    as_transformers_has_it = SimpleNamespace(
        backend_tokenizer=tokenizer, is_fast=True, name_or_path="model", get_vocab=lambda: vocabulary,
        all_special_ids=[*special], added_tokens_decoder=added, unk_token_id=unknown,
        unk_token=None if unknown is None else tokenizer.id_to_token(unknown),
    )  # fmt: skip
    return whole_words(as_transformers_has_it)[0], Pieces(as_transformers_has_it)


def _begins_sentence(text: str, place: int) -> bool:
    before = text[max(0, place - 5) : place].rstrip(" \t\r\n\"'([{“‘«")
    return before[-1] in ".!?…" if before else place <= 5


def _readable(text: object) -> str:
    """The text with a question mark for each lone surrogate, which the tokenizer does not take."""
    if not isinstance(text, str):
        raise LovevecError(f"sentences: a text is not a string but {type(text).__name__}: {text!r:.60}")
    return text.encode("utf-8", "replace").decode("utf-8")
