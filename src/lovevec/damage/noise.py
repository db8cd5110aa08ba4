"""Damaged text: what a scanner, a keyboard or a hurried hand makes of clean sentences.

    ocr       bec0me      what a scanner takes for another, in 3 of 10 characters of a word: the paper's confusions
    scan      bccone      the same with confusions of all letters, where `ocr` has a dozen: harder
    keyboard  bwcome      neighboring keys, likewise
    swap      bceome      two neighboring characters change places
    drop      beome       one character is left out
    insert    becfome     one character too many
    typo                  one of the four above, drawn for each word (of keyboard: one character)
    sound     becume      a spelling that sounds alike
    plain     devenu      marks left out, as of a language's letters
    layout    ,elen       typed on the English layout, where a language has another script
    latin     privet      in Latin letters, likewise

What happens to a sentence is decided by the seed and the sentence's number (`sound`: by the seed and the text): every
method meets the same damage, and a word that is hit at 10 % is hit in the same way at 30 %. The paper used nlpaug's
OcrAug, which by default replaces 30 % of a word's characters, at least 1 and at most 10, where its map knows the
character (o l s u r b g k z q and some capitals; `the` has none and stays); so does `ocr` here, with the same map, and
`scan` and `keyboard` with theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.confusions import Confusions, confusions
from lovevec.damage.edits import DROP, EDITS, INSERT, KEYBOARD, SCAN, SWAP, TYPO_KINDS, WORD_KINDS, damage_word
from lovevec.damage.languages import ENGLISH, Language
from lovevec.damage.sounds import respell
from lovevec.errors import LovevecError
from lovevec.units.characters import codes_of, to_codes, to_words
from lovevec.units.ragged import Ragged, offsets_of, spread

NOISE_KINDS = ("ocr", "scan", "keyboard", "swap", "drop", "insert", "sound", "typo", *WORD_KINDS)
CHARACTERS, MAX_CHARACTERS = 0.3, 10  # of a word that is hit: a share, and at most so many
SHORTEST_WORD = 3  # letters of a word that `per_sentence` may choose
LONGER_WORD = 5  # letters of a word that `damaged_longer_words` may choose
WORDS_AND_MARKS = re.compile(r"(\w+|[^\w\s])")

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Noise:
    """What damages a text: its `kind`, and how many words it hits. Each word with probability `share`; or, with
    `per_sentence`, that number of words of each sentence.

        Noise("ocr", 0.3), Noise("typo", per_sentence=2)
    """

    kind: str = "ocr"
    share: float = 0.0
    per_sentence: int | None = None
    characters: float = CHARACTERS  # of a word that is hit, for ocr, scan and keyboard

    def __post_init__(self) -> None:
        if self.kind not in NOISE_KINDS:
            raise LovevecError(f"noise {self.kind!r}: known kinds are {', '.join(NOISE_KINDS)}")
        if not 0 <= self.share <= 1:
            raise LovevecError(f"noise {self.share:g}: the share of words that are hit lies between 0 and 1")
        if self.per_sentence is not None and (self.per_sentence < 0 or self.share):
            raise LovevecError("noise: give a share of the words, or a number (from 0 up) a sentence, not both")

    @property
    def label(self) -> str:
        """`ocr 30 %`, `2 typos`, `2 typos (swap)`; `original` where nothing is hit."""
        each = "" if self.characters == CHARACTERS else f", {100 * self.characters:g} % each"
        if self.per_sentence is not None:
            return f"{self.per_sentence} typos" + ("" if self.kind == "typo" else f" ({self.kind})") + each
        return f"{self.kind} {100 * self.share:g} %{each}" if self.share else "original"


def damaged(
    sentences: Sequence[Sequence[str]], noise: Noise, seed: int, language: Language = ENGLISH
) -> list[list[str]]:
    """The sentences, each a list of words, with some of their words damaged and all others as they are.

    damaged([["a", "clean", "sentence"]], Noise("typo", 0.5), seed=0)
    """
    words = [word for sentence in sentences for word in sentence]
    if not words or not (noise.share or noise.per_sentence):
        return [list(sentence) for sentence in sentences]
    codes = Ragged.from_lengths(codes_of("".join(words)), np.array([len(word) for word in words], dtype=np.int64))
    counts = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
    rolls = Rolls.of(counts, codes.lengths, seed)
    worse = to_words(_damage_words(codes, noise, rolls, language))
    if noise.per_sentence is None:
        hit = rolls.hit < noise.share
    else:
        able = np.array([new != old and len(old) >= SHORTEST_WORD for new, old in zip(worse, words, strict=True)])
        hit = lowest(rolls.hit, able, counts, np.full(len(counts), noise.per_sentence))
    mixed = [new if it else old for new, old, it in zip(worse, words, hit.tolist(), strict=True)]
    ends = np.cumsum(counts).tolist()
    return [mixed[end - count : end] for end, count in zip(ends, counts.tolist(), strict=True)]


def damaged_longer_words(
    sentences: Sequence[Sequence[str]], noise: Noise, seed: int, language: Language = ENGLISH
) -> list[list[str]]:
    """As `damaged`, but numbers and words of fewer than five letters stay as they are: too little would be left."""
    worse = damaged(sentences, noise, seed, language)
    return [
        [new if len(old) >= LONGER_WORD and old.isalpha() else old for new, old in zip(after, before, strict=True)]
        for after, before in zip(worse, sentences, strict=True)
    ]


def damaged_texts(texts: Sequence[str], noise: Noise, seed: int, language: Language = ENGLISH) -> list[str]:
    """Running text with damaged words, marks and blanks where they were; the noise `typo` hits longer words alone."""
    parts = [WORDS_AND_MARKS.split(text) for text in texts]
    sentences = [part[1::2] for part in parts]
    worse = (damaged_longer_words if noise.kind == "typo" else damaged)(sentences, noise, seed, language)
    return [
        "".join(chain.from_iterable(zip_longest(part[::2], words, fillvalue="")))
        for part, words in zip(parts, worse, strict=True)
    ]


def words_of(text: str) -> list[str]:
    """Words and marks apart, as BERT's tokenizer parts them, so that damage and speller meet words alone."""
    return WORDS_AND_MARKS.findall(text)


@dataclass(frozen=True, eq=False)
class Rolls:
    """The dice, thrown for all words and characters whether they are hit or not: numbers from 0 to 1."""

    hit: Floats  # [words] which words are hit first
    kind: Floats  # [words] by what
    place: Floats  # [characters] where
    pick: Floats  # [characters] what stands there then
    sound: np.random.Generator

    @classmethod
    def of(cls, counts: Ints, lengths: Ints, seed: int) -> Rolls:
        """The dice for sentences of `counts` words, and words of `lengths` characters."""
        characters = np.diff(offsets_of(lengths)[offsets_of(counts)])
        rolled: list[list[Floats]] = [[], [], [], []]
        for number, (words, letters) in enumerate(zip(counts.tolist(), characters.tolist(), strict=True)):
            rng = np.random.default_rng([seed, number])
            for numbers, size in zip(rolled, (words, words, letters, letters), strict=True):
                numbers.append(rng.random(size))
        hit, kind, place, pick = (np.concatenate(numbers) for numbers in rolled)
        return cls(hit, kind, place, pick, np.random.default_rng([seed, len(counts), EDITS["sound"]]))


def _damage_words(codes: Ragged, noise: Noise, rolls: Rolls, language: Language) -> Ragged:
    """Damage every word; one without a place for this kind of damage stays as it is."""
    if noise.kind == "sound":
        return respell(codes, rolls.sound, language.rules)
    if noise.kind in WORD_KINDS:
        worse = [damage_word(word, noise.kind, rolls.sound, language) for word in to_words(codes)]
        return to_codes(worse, lowercase=False)
    if noise.kind != "typo":
        number = SCAN if noise.kind == "ocr" else EDITS[noise.kind]
        maps = {SCAN: language.scan if noise.kind == "scan" else confusions("ocr"), KEYBOARD: language.keys}
        return _edit(codes, np.full(len(codes), number), rolls, noise.characters, maps, language)
    drawn = (rolls.kind * len(TYPO_KINDS)).astype(np.int64)
    return _edit(
        codes, np.array([EDITS[kind] for kind in TYPO_KINDS])[drawn], rolls, 0.0, {KEYBOARD: language.keys}, language
    )


def _edit(
    codes: Ragged,
    kinds: Ints,
    rolls: Rolls,
    characters: float,
    maps: Mapping[int, Confusions],
    language: Language,
) -> Ragged:
    """Each word with one edit of its kind, or for the kinds that read one of the `maps` (of characters to others) with
    a share of its `characters` changed."""
    values, lengths = codes.values.copy(), codes.lengths
    word = spread(np.arange(len(codes)), lengths)
    kind = kinds[word]
    most = np.where(np.isin(kinds, list(maps)), np.clip((characters * lengths).astype(np.int64), 1, MAX_CHARACTERS), 1)
    chosen = lowest(rolls.place, _able(codes, word, kind, maps), lengths, most)

    for number, confused in maps.items():
        spots = np.flatnonzero(chosen & (kind == number))
        values[spots] = confused.replaced(values[spots], rolls.pick[spots])
    spots = np.flatnonzero(chosen & (kind == SWAP))
    values[spots], values[spots + 1] = codes.values[spots + 1], codes.values[spots]
    dropped = chosen & (kind == DROP)
    spots = np.flatnonzero(chosen & (kind == INSERT))
    letters = codes_of(language.letters)
    behind, letter = np.divmod((rolls.pick[spots] * 2 * len(letters)).astype(np.int64), len(letters))
    values = np.insert(values, spots + behind, letters[letter])
    stays = np.insert(~dropped, spots + behind, True)
    grown = np.bincount(word[spots], minlength=len(codes)) - np.bincount(word[dropped], minlength=len(codes))
    return Ragged.from_lengths(values[stays], lengths + grown)


def _able(codes: Ragged, word: Ints, kind: Ints, maps: Mapping[int, Confusions]) -> Bools:
    """At which characters, letters and digits all, the edit of the word's kind makes it another word."""
    values = codes.values
    distinct, which = np.unique(values, return_inverse=True)
    letter = np.array([chr(value).isalnum() for value in distinct.tolist()], dtype=np.bool_)[which]
    twins = np.append((word[:-1] != word[1:]) | (values[:-1] == values[1:]), True)
    able = (kind == INSERT) | ((kind == DROP) & (codes.lengths > 1)[word]) | ((kind == SWAP) & ~twins)
    for number, confused in maps.items():
        able |= (kind == number) & (confused.counts(values) > 0)
    result: Bools = able & letter
    return result


def lowest(rolls: Floats, able: Bools, sizes: Ints, most: Ints) -> Bools:
    """Of each group of consecutive items (`sizes`) the able ones with the lowest rolls, `most` of them or fewer."""
    group = spread(np.arange(len(sizes)), sizes)
    order = np.lexsort((rolls, ~able, group))
    rank = np.arange(len(rolls)) - offsets_of(sizes)[group]
    chosen = np.zeros(len(rolls), dtype=np.bool_)
    chosen[order] = rank < most[group]
    return chosen & able
