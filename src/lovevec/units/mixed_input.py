"""ζ, the mixed input: a word becomes `[CLS] its characters [SUB] its pieces [SEP]`.

    spell -> [CLS] s p e l l [SUB] spell [SEP]
    spe11 -> [CLS] s p e 1 1 [SUB] sp ##e ##1 ##1 [SEP]

Where the vocabulary has rows for n-grams, the word's n-grams follow behind [SEP] (see ngrams.py).

Three modes: `mixed`, `chars` (no pieces), `pieces` (no characters). Words are normalised first (see characters.py). A
word with a character that is [UNK], which WordPiece would give up on, still has all its other characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lovevec.units.characters import base_letters, normalise, to_codes
from lovevec.units.ngrams import ngram_buckets, ngram_counts, ngram_names, ngram_spans
from lovevec.units.ragged import Ragged, join_rows, offsets_of
from lovevec.units.trie import PieceTrie
from lovevec.units.vocabulary import CLS, CONTINUATION, SEP, SPECIAL, SUB, UNK, UnitVocabulary

InputMode = Literal["mixed", "chars", "pieces"]
INPUT_MODES: tuple[str, ...] = get_args(InputMode)


class Units:
    """Turns words into rows of unit ids, many at once; holds no state besides the vocabulary's tables."""

    def __init__(self, vocabulary: UnitVocabulary, mode: InputMode = "mixed", lowercase: bool = True) -> None:
        self.vocabulary, self.mode, self.lowercase = vocabulary, mode, lowercase
        self.row_of_unit = np.ascontiguousarray(vocabulary.rows())
        alphabet = {ord(unit): number for number, unit in enumerate(vocabulary.units) if len(unit) == 1}
        # Character ids are unit ids; a code point without a unit is UNK, where no piece leads on.
        self.character = np.full(0x110000, UNK, dtype=np.int32)
        self.character[list(alphabet)] = list(alphabet.values())
        # Before `base_letters`: a piece spelled with é is not one spelled with e.
        self.trie = PieceTrie.of(vocabulary.units, self.character, len(SPECIAL), UNK)
        for code, number in base_letters(alphabet):
            self.character[code] = number

    def encode(self, words: Sequence[str]) -> Ragged:
        """Words -> rows of table-row ids: [CLS] … [SEP], then the n-grams' rows, from `vocabulary.unit_rows` up."""
        return self.encode_codes(to_codes(words, self.lowercase))

    def encode_codes(self, codes: Ragged) -> Ragged:
        """The same for words given as normalised code points, as augmentation has them."""
        units = self.unit_ids(codes)
        rows = Ragged(self.row_of_unit[units.values], units.offsets)
        if not self.vocabulary.ngrams:
            return rows
        bag = ngram_buckets(codes, self.vocabulary.ngrams)
        return join_rows(rows, Ragged(bag.values + np.int32(self.vocabulary.unit_rows), bag.offsets))

    def counts(self, words: Sequence[str]) -> NDArray[np.int64]:
        """[len(words), 4] of each word how many characters it has, how many of them are [UNK], into how many pieces it
        falls, and how many characters the longest of these has (0 for [UNK])."""
        codes = to_codes(words, self.lowercase)
        spelled = Ragged(self.character[codes.values], codes.offsets)
        result = np.zeros((len(words), 4), dtype=np.int64)
        result[:, 0] = codes.lengths
        result[:, 1] = _per_row(np.add, (spelled.values == UNK).astype(np.int64), spelled)
        if self.mode != "chars":
            pieces = self.trie.split(spelled, UNK)
            result[:, 2] = pieces.lengths
            result[:, 3] = _per_row(np.maximum, self._spelled_lengths[pieces.values], pieces)
        return result

    @cached_property
    def _spelled_lengths(self) -> NDArray[np.int64]:
        """[units] how many characters of a word each unit stands for."""
        lengths = np.array([len(unit.removeprefix(CONTINUATION)) for unit in self.vocabulary.units], dtype=np.int64)
        lengths[: len(SPECIAL)] = 0
        return lengths

    def count(self, characters: NDArray[np.int64], pieces: NDArray[np.int64] | int) -> NDArray[np.int64]:
        """How many ids `encode` gives to words, from their numbers of `characters` and `pieces`."""
        count: NDArray[np.int64] = np.zeros_like(characters) + pieces + 2 + (self.mode == "mixed")
        if self.mode != "pieces":
            count += characters
        return count + ngram_counts(characters) if self.vocabulary.ngrams else count

    def names(self, word: str) -> list[str]:
        """The units of one word as people read them: ["[CLS]", "s", "p", …, "[SEP]"]."""
        names = [self.vocabulary.units[unit] for unit in self.unit_ids(to_codes([word], self.lowercase)).values]
        return [*names, *ngram_names(normalise(word, self.lowercase))] if self.vocabulary.ngrams else names

    def as_dict(self) -> dict[str, Any]:
        """All that makes ids of words, as plain values: what serve/page/units.js reads. `rows` is None where unit i has
        row i."""
        vocabulary = self.vocabulary
        table = {"ngrams": vocabulary.ngrams, "unit_rows": vocabulary.unit_rows, "units": list(vocabulary.units)}
        rows = self.row_of_unit.tolist() if vocabulary.buckets else None
        return {"input": self.mode, "lowercase": self.lowercase, **table, "rows": rows}

    def spans(self, word: str) -> list[tuple[int, int] | None]:
        """Of each unit of `names` the characters of the normalised word that it covers, from and to; None for marks.
        A word that WordPiece gives up on is covered by its one [UNK]."""
        codes = to_codes([word], self.lowercase)
        length, names = len(codes.values), self.names(word)
        characters = length if self.mode != "pieces" else 0
        spans: list[tuple[int, int] | None] = [None, *((place, place + 1) for place in range(characters))]
        spans += [None] if self.mode == "mixed" else []
        start = 0
        for name in names[len(spans) : names.index(self.vocabulary.units[SEP], len(spans))]:
            end = start + len(name.removeprefix("##") if start else name)
            end = length if name == self.vocabulary.units[UNK] else end
            spans.append((start, end))
            start = end
        return [*spans, None, *(ngram_spans(length) if self.vocabulary.ngrams else [])]

    def unit_ids(self, codes: Ragged) -> Ragged:
        """[CLS] characters [SUB] pieces [SEP] for each word, as unit ids; [SUB] only in mixed input."""
        none = Ragged(np.empty(0, dtype=np.int32), np.zeros(len(codes) + 1, dtype=np.int64))
        spelled = Ragged(self.character[codes.values], codes.offsets)
        characters = spelled if self.mode != "pieces" else none
        pieces = self.trie.split(spelled, UNK) if self.mode != "chars" else none
        mixed = self.mode == "mixed"
        offsets = offsets_of(characters.lengths + pieces.lengths + 2 + mixed)
        out = np.empty(offsets[-1], dtype=np.int32)
        starts, behind = offsets[:-1], offsets[:-1] + 1 + characters.lengths
        out[starts], out[offsets[1:] - 1] = CLS, SEP
        if mixed:
            out[behind] = SUB
        characters.put(out, starts + 1)
        pieces.put(out, behind + mixed)
        return Ragged(out, offsets)


def _per_row(add: np.ufunc, values: NDArray[np.int64], rows: Ragged) -> NDArray[np.int64]:
    """Reduce the values of each row; rows without any give 0."""
    result = np.zeros(len(rows), dtype=np.int64)
    filled = np.flatnonzero(rows.lengths)
    if len(filled):
        result[filled] = add.reduceat(values, rows.offsets[filled])
    return result
