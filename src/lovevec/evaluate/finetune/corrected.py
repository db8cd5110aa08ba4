"""The honest rival of LOVE inside an encoder: a speller in front of it.

Words that the tokenizer breaks into pieces are replaced by SymSpell's correction: the nearest whole word of the
tokenizer's own vocabulary within two edits. A word that nothing is near to stays as it is, and so do numbers and
punctuation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lovevec.methods.symspell import Dictionary
from lovevec.transformer.pieces import lowercases, whole_words


class Speller:
    """Corrections by a tokenizer's whole words; each word is looked up once."""

    def __init__(self, tokenizer: Any) -> None:
        words = [word for word in dict.fromkeys(whole_words(tokenizer)[0]) if word.isalpha()]
        self.tokenizer, self.dictionary, self.lowercase = tokenizer, Dictionary(words), lowercases(tokenizer)
        self._known: dict[str, str] = {}

    def corrected(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
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
