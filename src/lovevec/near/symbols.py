"""The characters of the known words as small numbers (symbols), and what a slip between two of them is called.

sound   letters of one sound group (c k s), or one written as two (f for ph)        fotograf
vowel   a vowel for a vowel                                                          definate
key     a neighboring key                                                            mistypr
print   a look-alike of scanners, one character or two for one (rn for m)            rnodern, bl00d
case    the same letter with another mark or in another case                         hôpitäl
bare    a letter without its mark, or in full (ss for ß, in German ue for ü)         hopital
other   any other

Keys and spellings are those of a language (damage/languages.py); vowels and sounds those of Latin, Cyrillic and Greek
letters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.confusions import table_of
from lovevec.damage.languages import ENGLISH, Language
from lovevec.damage.marks import UNDECOMPOSED, WHOLE, plain_letter
from lovevec.damage.misspell import PRINTED_ALIKE
from lovevec.units.characters import codes_of
from lovevec.units.ragged import Ragged

# What can befall a word, each with a cost of its own. `first` and `last` come on top of a slip at an end of the word.
KINDS = (
    *("other", "vowel", "sound", "key", "print", "case"),  # a letter for a letter
    *("lost twin", "lost vowel", "lost h", "lost end", "lost"),  # a letter left out
    *("extra twin", "extra vowel", "extra joint", "extra"),  # a letter too many
    *("swap", "respelled", "misprint"),  # two letters change places; a spelling of one or two letters for another
    *("first", "last"),
    "bare",  # a mark left out: what is added for an end of the word is not, where it costs less than `case`
)
KIND = {name: number for number, name in enumerate(KINDS)}
MAX_SYMBOLS = 255
VOWELS = "aeiouy" + "аеиоуыэюяіє" + "αεηιουω"
SOUND_GROUPS = (
    *("bp", "dt", "fv", "gj", "gk", "ckqsxz", "mn", "vw", "lr"),
    *("бп", "дт", "вф", "гкх", "зс", "жшщ", "цсч", "ьъ", "нм", "рл"),
    *("βφπ", "δτθ", "γχκ", "ζσς", "νμ", "λρ"),
)
# What the sound key takes for one letter; h and w are not heard.
SOUNDS_LIKE = {"c": "k", "q": "k", "x": "k", "z": "s", "v": "f", "d": "t", "b": "p", "j": "g", "h": "", "w": ""} | {
    "б": "п",
    "д": "т",
    "в": "ф",
    "г": "к",
    "з": "с",
    "ж": "ш",
    "щ": "ш",
    "ъ": "",
    "ь": "",
    "й": "",
    "ς": "σ",
    "ζ": "σ",
    "β": "φ",
    "δ": "τ",
    "γ": "χ",
}
JOINTS = " -_'."
DIGITS = "0123456789"
# Letters that digits are written for, on purpose or by a scanner, beside those of its tables (damage/data).
LIKE_DIGITS = {"0": "o", "1": "il", "2": "z", "3": "e", "4": "a", "5": "s", "6": "bg", "7": "t", "8": "b", "9": "gq"}
PLAIN = "abcdefghijklmnopqrstuvwxyz" + DIGITS + JOINTS

Bytes = NDArray[np.uint8]


def base(character: str) -> str:
    """The plain lower-case letter of a character, without accents: É -> e."""
    plain = unicodedata.normalize("NFKD", character)[0]
    return UNDECOMPOSED.get(plain, plain)[0].lower()[:1]


@dataclass(frozen=True, eq=False)
class Symbols:
    """Numbers for characters, from 1 up; 0 is any other character, which is like none, not even itself."""

    characters: Sequence[str]
    language: Language = field(default=ENGLISH)

    @classmethod
    def of(cls, words: Iterable[str], language: Language = ENGLISH) -> Symbols:
        """Symbols for the plain letters and digits, and for the most frequent other characters of these words."""
        return cls.of_codes(codes_of("".join(words)), language)

    @classmethod
    def of_codes(cls, codes: NDArray[np.integer], language: Language = ENGLISH) -> Symbols:
        """As `of`, from the code points of all words one after the other."""
        count = np.bincount(codes)
        there = np.flatnonzero(count)
        common = [chr(code) for code in there[np.argsort(-count[there], kind="stable")].tolist()]
        return cls(tuple(dict.fromkeys([*PLAIN, *common]))[:MAX_SYMBOLS], language)

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The symbol of each character, by character; what is not in it has symbol 0."""
        return {character: number for number, character in enumerate(self.characters, 1)}

    @cached_property
    def of_code(self) -> Bytes:
        """[code points of Unicode] the symbol of each one, 0 for most."""
        table = np.zeros(0x110000, dtype=np.uint8)
        for character, number in self.number.items():
            table[ord(character)] = number
        return table

    def encode(self, words: Sequence[str]) -> Ragged:
        """The words as rows of symbols, one symbol a character."""
        lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        return Ragged.from_lengths(self.of_code[codes_of("".join(words))], lengths)

    @cached_property
    def folded(self) -> Bytes:
        """Symbol -> that of its plain lower-case letter, where there is one, else itself."""
        plain = [self.number.get(base(character), number) for character, number in self.number.items()]
        return np.array([0, *plain], dtype=np.uint8)

    @cached_property
    def sound(self) -> Bytes:
        """Symbol -> its class in the sound key: vowels are one class, 0 is not heard."""
        heard = [0]
        for character in self.characters:
            letter = "й" if character in WHOLE else base(character)
            letter = VOWELS[0] if letter and letter in VOWELS else SOUNDS_LIKE.get(letter, letter)
            heard.append(self.number.get(letter, self.number[character]) if letter else 0)
        return np.array(heard, dtype=np.uint8)

    def marks(self, letters: str) -> Bytes:
        """[symbols] 1 for each symbol whose plain letter is one of `letters`, else 0."""
        return np.array([0, *(base(character) in letters for character in self.characters)], dtype=np.uint8)

    @cached_property
    def substitution(self) -> Bytes:
        """[symbols, symbols] the kind of the slip that puts the second in the place of the first."""
        size = len(self.characters) + 1
        kind = np.full((size, size), KIND["other"], dtype=np.uint8)

        def name(group: Iterable[str], others: Iterable[str], what: str) -> None:
            first = [self.number[one] for one in group if one in self.number]
            second = [self.number[one] for one in others if one in self.number]
            kind[np.ix_(first, second)] = KIND[what]

        tables = self.language.look_alikes, table_of("ocr")
        for what, table in (("key", self.language.neighbors), *(("print", table) for table in tables)):
            for character, others in table.items():
                name(character, others, what)
        for group in (*SOUND_GROUPS, *self.language.alike, *_letters_alike(self.language)):
            name(group, group, "sound")
        name(VOWELS, VOWELS, "vowel")
        for table in tables:
            for character, others in table.items():
                name(character, [one for one in others if one in DIGITS or character in DIGITS], "print")
        for digit, letters in LIKE_DIGITS.items():
            name(letters, digit, "print")
        kind[self.folded[:, None] == self.folded[None, :]] = KIND["case"]
        for character in self.characters:
            if (plain := plain_letter(character)) != character:
                name(character, plain if len(plain) == 1 else "", "bare")
        kind[0], kind[:, 0] = KIND["other"], KIND["other"]
        return kind

    @cached_property
    def full_forms(self) -> list[tuple[str, str]]:
        """Letters with what is written for them where they cannot be typed, as two letters."""
        pairs = [(one, plain_letter(one)) for one in self.characters]
        return [pair for pair in dict.fromkeys([*pairs, *self.language.in_full.items()]) if len(pair[1]) == 2]

    @cached_property
    def spellings(self) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int8]]:
        """One or two letters that are written for one or two others: (number of each symbol as a spelling [symbols],
        of each pair [symbols, symbols], 0 for none; the kind of the slip [spellings, spellings], -1 for none)."""
        rules = [(one, two, "misprint") for pair in PRINTED_ALIKE for one, two in (pair, pair[::-1])]
        rules += [(one, other, "respelled") for one, others in self.language.sounds.items() for other in others]
        rules += [(one, two, "bare") for one, two in self.full_forms]
        rules = [
            rule for rule in rules if {*rule[0], *rule[1]} <= self.number.keys() and 3 <= len(rule[0] + rule[1]) <= 4
            and 1 <= len(rule[0]) <= 2 and 1 <= len(rule[1]) <= 2
        ]  # fmt: skip
        names = {name: number for number, name in enumerate(dict.fromkeys(s for rule in rules for s in rule[:2]), 1)}
        size = len(self.characters) + 1
        one, two = np.zeros(size, dtype=np.uint8), np.zeros((size, size), dtype=np.uint8)
        for name, number in names.items():
            if len(name) == 1:
                one[self.number[name]] = number
            else:
                two[self.number[name[0]], self.number[name[1]]] = number
        kind = np.full((len(names) + 1, len(names) + 1), -1, dtype=np.int8)
        for first, second, what in rules:
            kind[names[first], names[second]] = KIND[what]
        return one, two, kind


def _letters_alike(language: Language) -> list[str]:
    """Pairs of letters that are written for each other by a language's rules; English has its own groups alone."""
    if language.code == ENGLISH.code:
        return []
    return [
        one + other
        for one, others in language.sounds.items()
        for other in others
        if len(one) == len(other) == 1 and plain_letter(one) != other
    ]
