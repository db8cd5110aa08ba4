"""Languages, as far as damage goes: which letters a writer has, on which keyboard, and what sounds alike.

    letters     of the words at hand, by their frequency: what is put in by mistake
    keyboard    QWERTY, QWERTZ, AZERTY, ЙЦУКЕН … (keyboards.py)
    marks       those that are left out, and letters written in full: ü as ue (marks.py)
    sounds      rules for some languages (sounds.py); for all others the letters that stand for each other in words of
                like meaning, where vectors can tell (`alike`)
    scan        look-alikes beyond a to z

A language is told by its commonest words (`guess`). What is neither named nor told is OTHER: its own letters, QWERTY
keys between Latin ones, no sounds but doubled letters and those that vectors tell; but words of a to z alone, as lists
of terms and names are, pass for English.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise
from string import ascii_lowercase
from typing import Any

from lovevec.damage.confusions import Confusions, table_of
from lovevec.damage.keyboards import ENGLISH_LAYOUT, is_of_other_script, neighbors, typed_on_other
from lovevec.damage.marks import IN_FULL, in_full, plain_letter, without_marks
from lovevec.damage.sounds import ENGLISH as ENGLISH_CODE
from lovevec.damage.sounds import Sounds, SpellingRules, english_rules, sounds_of
from lovevec.damage.transliteration import in_latin
from lovevec.errors import LovevecError

OTHER_CODE = "other"
SAME_LANGUAGE = {"no": "nb", "nn": "nb", "hr": "sh", "sr": "sh", "bs": "sh", "tl": "fil", "iw": "he", "in": "id"}
TURKISH = ("tr",)
LETTER_PLACES = 2000  # from which letters are drawn evenly
MIN_LETTER_SHARE = 1e-4  # of a language's letters: rarer ones are of foreign words
MIN_DOUBLE_SHARE = 2e-4  # of a language's letters, of one that is often doubled
LETTER_SAMPLE = 20_000  # words that tell letters
# Words of a language among the target's: the commonest must be there, in a table by frequency among the first so many.
FIRST_WORDS, LEAST_SHARE, LETTERS_WEIGHT = 2000, 0.45, 0.3
MIN_WORDS_TO_GUESS = 20
PLAIN_SHARE = 0.998  # of the letters, a to z, in words that pass for English


@dataclass(frozen=True, eq=False)
class Language:
    """A language: its code (ISO 639, or `other`), its name, its keyboard; `letters`, drawn evenly, from which those
    come that are put in; `doubled`, the letters that are often doubled; `alike`, pairs of letters that were seen to
    stand for each other."""

    code: str
    name: str
    keyboard: str
    letters: str = ascii_lowercase
    doubled: str = ""
    alike: tuple[str, ...] = ()

    def with_words(self, words: Iterable[str]) -> Language:
        """The same with the letters of these words, most frequent words first; English keeps a to z, evenly."""
        if self.code == ENGLISH_CODE:
            return self
        count: Counter[str] = Counter()
        doubles: Counter[str] = Counter()
        for _, word in zip(range(LETTER_SAMPLE), words, strict=False):
            plain = unicodedata.normalize("NFC", word.lower())
            count.update(letter for letter in plain if letter.isalpha())
            doubles.update(one for one, two in pairwise(plain) if one == two and one.isalpha())
        total = sum(count.values())
        share = {letter: many / total for letter, many in count.items() if many >= MIN_LETTER_SHARE * total}
        letters = "".join(letter * max(round(one * LETTER_PLACES), 1) for letter, one in sorted(share.items()))
        doubled = "".join(sorted(letter for letter in share if doubles[letter] >= MIN_DOUBLE_SHARE * total))
        return replace(self, letters=letters or ascii_lowercase, doubled=doubled)

    @cached_property
    def neighbors(self) -> Mapping[str, str]:
        """For each key of the keyboard the letters and digits around it, nearest first."""
        if self.code == ENGLISH_CODE:
            return table_of("keyboard")  # the same; in an order that decides what English training draws by a seed
        return neighbors(self.keyboard)

    @cached_property
    def keys(self) -> Confusions:
        """What a finger hits instead."""
        own = set(self.letters)
        if self.code == ENGLISH_CODE:
            return Confusions(self.neighbors)
        able = {key: "".join(one for one in near if one in own) for key, near in self.neighbors.items()}
        for letter in own.difference(able):  # typed with a dead accent, or the key of another: near those of its base
            base = plain_letter(letter)
            able[letter] = able.get(base, "") if len(base) == 1 else ""
        return Confusions({key: near for key, near in able.items() if near})

    @cached_property
    def look_alikes(self) -> Mapping[str, str]:
        """What scanners take letters for; of a language's own letters, those without marks too."""
        table = dict(table_of("scan"))
        if self.code == ENGLISH_CODE:
            return table
        table |= table_of("scan_letters")
        own = sorted(set(self.letters))
        for letter in own:
            base = plain_letter(letter)
            alike = [one for one in own if one != letter and plain_letter(one) == base]
            table[letter] = "".join(dict.fromkeys(table.get(letter, "") + "".join(alike)))
        return {letter: others for letter, others in table.items() if others}

    @cached_property
    def scan(self) -> Confusions:
        """The same, many at once."""
        return Confusions(self.look_alikes)

    @cached_property
    def sounds(self) -> Sounds:
        """Spellings, each with what is written for it; doubled letters are slips of their own."""
        found = {spelling: list(others) for spelling, others in sounds_of(self.code).items()}
        for pair in self.alike:
            for one, other in ((pair[0], pair[1]), (pair[1], pair[0])):
                if other not in found.setdefault(one, []):
                    found[one].append(other)
        return found

    @cached_property
    def rules(self) -> SpellingRules:
        """The same, for many words at once."""
        if self.code == ENGLISH_CODE:
            return english_rules()  # which have the doubled letters of English
        sounds = {spelling: list(others) for spelling, others in self.sounds.items()}
        for letter in self.doubled:
            for one, other in ((letter, 2 * letter), (2 * letter, letter)):
                sounds[one] = list(dict.fromkeys([*sounds.get(one, []), other]))
        return SpellingRules(sounds)

    @property
    def in_full(self) -> Mapping[str, str]:
        """Letters that are written with two others where they cannot be typed: ü as ue."""
        return IN_FULL.get(self.code, {})

    def plain(self, word: str, full: bool = False) -> str:
        """A word without marks; with `full` as those write it who have a rule for that."""
        return in_full(word, self.code) if full else without_marks(word)

    def on_other_layout(self, word: str) -> str:
        """A word as it comes out on the English layout, or one from there on that of the language, where the two have
        letters of different scripts; any other stays as it is."""
        return typed_on_other(word, self.keyboard) if self.is_of_other_script else word

    def in_latin(self, word: str) -> str:
        """A word in Latin letters, where the language has others."""
        return in_latin(word, self.code) if self.is_of_other_script else word

    @cached_property
    def is_of_other_script(self) -> bool:
        """Whether it is not written in Latin letters, so that a word typed on the English layout by mistake shows."""
        return is_of_other_script(self.keyboard)

    def with_small_i(self, word: str) -> str:
        """A word whose I and İ are small letters where Turkish has it: ILIK is ılık, which Python takes for ilik."""
        return word.replace("I", "ı").replace("İ", "i") if self.code in TURKISH else word

    def as_dict(self) -> dict[str, Any]:
        """What a model keeps of it: `from_dict` reads it back. The letters are those of its words."""
        return {"code": self.code, "name": self.name} | ({"alike": list(self.alike)} if self.alike else {})

    @classmethod
    def from_dict(cls, raw: Any) -> Language:
        """A language from what `as_dict` wrote; an error for what cannot come from there."""
        alike = raw.get("alike", []) if isinstance(raw, dict) else None
        sane = isinstance(raw, dict) and {"code"} <= set(raw) <= {"code", "name", "alike"}
        sane = sane and raw["code"] in language_codes() and isinstance(alike, list) and len(alike) <= MAX_ALIKE
        if not (sane and all(isinstance(pair, str) and len(pair) == 2 for pair in alike or [])):
            raise LovevecError("`language` is not what lovevec writes there")
        return replace(language_of(raw["code"]), alike=tuple(alike or []))


MAX_ALIKE = 60


@cache
def _known() -> Mapping[str, Mapping[str, str]]:
    raw: Any = json.loads((files("lovevec.damage") / "data" / "languages.json").read_text("utf-8"))["languages"]
    known: Mapping[str, Mapping[str, str]] = raw
    return known


def language_codes() -> Sequence[str]:
    """The codes of all languages that there are, `other` the last."""
    return [*_known(), OTHER_CODE]


@cache
def language_of(code: str) -> Language:
    """The language of a code (`de`, `pt-BR`, `nb_NO`); an error for one that is not there lists all."""
    name = code.strip().lower().replace("_", "-").split("-")[0]
    name = SAME_LANGUAGE.get(name, name)
    if name == OTHER_CODE:
        return Language(OTHER_CODE, "another language", ENGLISH_LAYOUT)
    if name not in _known():
        raise LovevecError(
            f"language {code!r:.40} is not known: there are {', '.join(language_codes())} (`other`: any other one)"
        )
    return Language(name, _known()[name]["name"], _known()[name]["keyboard"])


ENGLISH = language_of(ENGLISH_CODE)


def guess(words: Sequence[str]) -> Language:
    """The language of a vocabulary, most frequent words first or in any order, by how many of each language's commonest
    words are in it; OTHER where no language has enough there."""
    first = [word.lower() for word in words[:FIRST_WORDS]]
    in_order = len(words) > FIRST_WORDS and first != sorted(first)
    own = Counter(letter for word in words[:LETTER_SAMPLE] for letter in word.lower() if letter.isalpha())
    total = max(sum(own.values()), 1)
    pool = frozenset(first) if in_order else frozenset(word.lower() for word in words)
    scores = []
    for code, about in _known().items():
        common = about["words"].split()
        share = sum(word in pool for word in common) / len(common)
        # Of languages whose words are all there (a table of half a million) the one whose letters are the rest's.
        theirs = Counter("".join(common))
        size = sum(theirs.values())
        alike = sum(min(own[letter] / total, many / size) for letter, many in theirs.items())
        scores.append((share + LETTERS_WEIGHT * alike, code))
    best, code = max(scores)
    if best >= LEAST_SHARE and len(words) >= MIN_WORDS_TO_GUESS:
        return language_of(code)
    plain = sum(own[letter] for letter in ascii_lowercase)
    return ENGLISH if plain >= PLAIN_SHARE * total else language_of(OTHER_CODE)
