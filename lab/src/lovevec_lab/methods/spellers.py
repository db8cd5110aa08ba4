"""GNU Aspell and Hunspell: an unknown word is corrected by the program's first suggestion, and has the vector of that.

The programs are run as they are installed, through their pipes (`-a`, the protocol of ispell), each with a dictionary
of exactly the table's words in a temporary folder. Suggestions are the program's own, in its order: Aspell's by sound
and spelling (--sug-mode=normal, its default, and the phonetic rules of aspell-en), Hunspell's by edits and n-grams (it
has no replacement rules here; those of its own en_US changed nothing on Birkbeck). Neither knows how frequent a word
is. A word that the program suggests nothing for has no vector.

To a program each character of the table is a letter, digits and apostrophes too, and all others are one letter that no
word has: so a line is always one word. Aspell's letters are bytes, and the table's most frequent characters have one
each; Hunspell's are those of Unicode's first 65,536. Words with other characters, with white space, or of over 100
characters stand in no dictionary: `left_out` counts them. They keep their vectors.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unicodedata
import weakref
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase

import numpy as np

from lovevec.engine.threads import in_chunks, usable_cores
from lovevec.errors import LovevecError
from lovevec.units.characters import LONGEST, normalise
from lovevec_lab.methods.fallback import FallbackMethod
from lovevec_lab.methods.method import Bools, Floats
from lovevec_lab.methods.table import Table

PACKAGES = {"aspell": "aspell aspell-en", "hunspell": "hunspell"}
ASCII = range(0x21, 0x7F)
STRANGE_BYTE, STRANGE = 0xFF, 0xFFFD  # the letter that no word has: for Aspell, for Hunspell
TRIED = 64  # characters that Hunspell puts into a word's every place
A_PROCESS = 50  # words are worth a process
COLON, COLON_INSIDE = ord(":"), 0xE03A  # Hunspell takes one from a word's end: it has a private character instead
OWN_SETTINGS = ("ASPELL_CONF", "DICPATH", "DICTIONARY", "WORDLIST")  # of the user: another dictionary, more words


class Letters(dict[int, int]):
    """Code points by those that stand for them, as `str.translate` takes them; all others are `strange`."""

    def __init__(self, codes: Mapping[int, int], strange: int) -> None:
        super().__init__(codes)
        self.strange = strange
        self.back = {number: code for code, number in codes.items()}

    def __missing__(self, code: int) -> int:
        return self.strange


class SpellerDictionary(ABC):
    """Words that a program corrects others to. Its folder is removed together with it."""

    program: str
    encoding: str

    def __init__(self, words: Sequence[str]) -> None:
        refuse_missing(self.program)
        lines = [word for word in words if is_a_line(word)]
        characters = [char for char, _ in (Counter("".join(lines)) + Counter(ascii_lowercase)).most_common()]
        self.letters = self._letters(characters)
        self.words = [word for word in lines if all(ord(char) in self.letters for char in word)]
        self.left_out = len(words) - len(self.words)
        self.folder = Path(tempfile.mkdtemp(prefix="lovevec-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        if self.words:
            self._write(characters)

    @abstractmethod
    def _letters(self, characters: Sequence[str]) -> Letters:
        """How the program has the characters of the words, the most frequent first."""

    @abstractmethod
    def _write(self, characters: Sequence[str]) -> None:
        """Put the words into the folder."""

    @abstractmethod
    def _command(self) -> list[str]:
        """What is run, in the folder."""

    def suggestions(self, words: Sequence[str]) -> list[list[str]]:
        """What the program suggests for each word; nothing for one of the dictionary, or one that is no line."""
        result: list[list[str]] = [[] for _ in words]
        asked = [place for place, word in enumerate(words) if is_a_line(word)] if self.words else []

        def ask(part: slice) -> None:
            answers = self._answers([self._encode(words[place]) for place in asked[part]])
            for place, suggested in zip(asked[part], answers, strict=True):
                result[place] = suggested

        processes = usable_cores()
        in_chunks(ask, len(asked), max(A_PROCESS, -(-len(asked) // processes)), processes)
        return result

    def _encode(self, word: str) -> bytes:
        return word.translate(self.letters).encode(self.encoding)

    def _answers(self, words: Sequence[bytes]) -> list[list[str]]:
        """Those of one process. To a line it answers by a line for each word that it sees there, then an empty one."""
        done = self._run(self._command(), b"".join(b"^" + word + b"\n" for word in words))
        answers: list[list[bytes]] = []
        lines: list[bytes] = []
        for line in done.stdout.split(b"\n")[1:-1]:  # the first is the program's name
            if line:
                lines.append(line)
            else:
                answers.append(lines)
                lines = []
        if done.returncode or len(answers) != len(words):
            raise LovevecError(f"{self.program} gave up: {_complaint(done)}")
        return [self._parse_answer(word, answer) for word, answer in zip(words, answers, strict=True)]

    def _parse_answer(self, word: bytes, answer: Sequence[bytes]) -> list[str]:
        """`& recieve 2 1: receive, relieve` -> receive, relieve; of a part of the word nothing."""
        cells = answer[0].split(b" ", 4) if len(answer) == 1 else []
        if len(cells) < 5 or cells[:2] != [b"&", word]:
            return []
        return cells[4].decode(self.encoding).translate(self.letters.back).split(", ")

    def _run(self, command: Sequence[str], given: bytes) -> subprocess.CompletedProcess[bytes]:
        own = {name: value for name, value in os.environ.items() if name not in OWN_SETTINGS}
        settings = own | {"HOME": str(self.folder), "LC_ALL": "C.UTF-8"}
        return subprocess.run(command, input=given, capture_output=True, cwd=self.folder, env=settings, check=False)


class AspellDictionary(SpellerDictionary):
    """Aspell's: a language of its own, in which every byte may be a letter, with the sounds of English or with none."""

    program, encoding = "aspell", "latin-1"

    def __init__(self, words: Sequence[str], english: bool = True) -> None:
        self.english = english
        super().__init__(words)

    _options = ("--lang=en", "--local-data-dir=.", "--encoding=iso-8859-1")

    def _letters(self, characters: Sequence[str]) -> Letters:
        cased = dict.fromkeys(code for char in characters for code in cases(char))
        plain, others = [code for code in cased if code in ASCII], [code for code in cased if code not in ASCII]
        bytes_of_others = dict(zip(others, range(0x80, STRANGE_BYTE), strict=False))  # the rarest have none
        return Letters({code: code for code in plain} | bytes_of_others, STRANGE_BYTE)

    def _write(self, characters: Sequence[str]) -> None:
        if self.english:
            config = self._run(["aspell", "config", "data-dir"], b"")
            sounds = Path(os.fsdecode(config.stdout.strip())) / "en_phonet.dat"
            if not sounds.is_file():
                raise LovevecError("aspell's English is not installed: apt install aspell-en")
            (self.folder / sounds.name).symlink_to(sounds)
        like = "en" if self.english else "none"
        (self.folder / "en.dat").write_text(f"name en\ncharset lovevec\nsoundslike {like}\n")
        (self.folder / "lovevec.cset").write_text("= iso-8859-1\n/\n" + "".join(map(self._character, range(0x100))))
        listed = b"".join(self._encode(word) + b"\n" for word in self.words)
        made = self._run(["aspell", *self._options, "create", "master", "./words.rws"], listed)
        if made.returncode:
            raise LovevecError(f"aspell cannot make a dictionary: {_complaint(made)}")

    def _character(self, number: int) -> str:
        """A line of the character set: number, Unicode, type, shown; upper, lower, title case, without accent; and two
        columns of sounds that English does not read."""
        kind, upper, lower, plain = "-", number, number, 0
        if number == STRANGE_BYTE:
            kind, plain = "L", number
        elif number in self.letters.back:
            char = chr(self.letters.back[number])
            kind, plain = "L", self.letters.get(ord(unicodedata.normalize("NFD", char)[0]), number)
            upper, lower = (self.letters.get(code, number) for code in cases(char)[1:])
        return f"{number:02X} {number:04X} {kind} Y {upper:02X} {lower:02X} {upper:02X} {plain:02X} 00 00\n"

    def _command(self) -> list[str]:
        every_word = ("--ignore=0", "--mode=none")  # none is too short, none an address that is left alone
        return ["aspell", "-a", *self._options, "--master=./words.rws", "--sug-mode=normal", *every_word]


class HunspellDictionary(SpellerDictionary):
    """Hunspell's: a list of words and a file of settings."""

    program, encoding = "hunspell", "utf-8"

    def _letters(self, characters: Sequence[str]) -> Letters:
        codes = (code for char in characters for code in cases(char) if code <= 0xFFFF)
        return Letters({code: COLON_INSIDE if code == COLON else code for code in codes}, STRANGE)

    def _write(self, characters: Sequence[str]) -> None:
        joined = "".join(map(chr, sorted({*self.letters.values(), STRANGE})))
        tried = "".join([chr(self.letters[code]) for code in map(ord, characters) if code in self.letters][:TRIED])
        settings = f"SET UTF-8\nTRY {tried}\nWORDCHARS {joined}\nBREAK 0\n"  # by default - ends a word
        (self.folder / "words.aff").write_text(settings, "utf-8")
        listed = b"".join(self._encode(word).replace(b"/", b"\\/") + b"\n" for word in self.words)
        (self.folder / "words.dic").write_bytes(b"%d\n" % len(self.words) + listed)

    def _command(self) -> list[str]:
        return ["hunspell", "-a", "-i", "UTF-8", "--check-url", "-d", "./words"]


class InstalledDictionary(SpellerDictionary):
    """A program with its own dictionary of a language, as Debian's packages bring it: aspell-de, hunspell-de-de."""

    encoding = "utf-8"
    hunspell_folder = Path("/usr/share/hunspell")

    def __init__(self, program: str, language: str) -> None:
        refuse_missing(program)
        self.program = program
        self.dictionary = self.languages(program)[language]
        self.words, self.left_out = ["its own"], 0
        self.folder = Path(tempfile.mkdtemp(prefix="lovevec-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @classmethod
    def languages(cls, program: str) -> dict[str, str]:
        """The program's name for the dictionary of each language that is installed, by the language's code."""
        if program == "hunspell":
            names = sorted(str(path.with_suffix("")) for path in cls.hunspell_folder.glob("*.dic"))
        else:
            done = subprocess.run(["aspell", "dicts"], capture_output=True, check=False, text=True)
            names = [name for name in done.stdout.split() if "-" not in name]
        found: dict[str, str] = {}
        for name in names:  # de_DE before de_LU, pt_BR for pt where there is no other
            code, _, country = Path(name).name.partition("_")
            if code not in found or country.lower() == code:
                found[code] = name
        return found

    def _letters(self, characters: Sequence[str]) -> Letters:
        return Letters({}, STRANGE)

    def _write(self, characters: Sequence[str]) -> None:
        """It is there already."""

    def _encode(self, word: str) -> bytes:
        return word.encode(self.encoding)

    def _command(self) -> list[str]:
        if self.program == "hunspell":
            return ["hunspell", "-a", "-i", "UTF-8", "-d", self.dictionary]
        return ["aspell", "-a", "--encoding=utf-8", f"--lang={self.dictionary}", "--sug-mode=normal"]

    def _parse_answer(self, word: bytes, answer: Sequence[bytes]) -> list[str]:
        cells = answer[0].split(b" ", 4) if len(answer) == 1 else []
        if len(cells) < 5 or cells[:2] != [b"&", word]:
            return []
        return cells[4].decode(self.encoding).split(", ")


class SpellerMethod(FallbackMethod):
    """The table, with a program's first suggestion in the place of an unknown word."""

    def __init__(self, table: Table, name: str, dictionary: SpellerDictionary) -> None:
        super().__init__(table, name)
        self.dictionary = dictionary

    def suggest(self, words: Sequence[str], k: int = 10) -> list[list[str]]:
        """For each word the first k suggestions that are words of the table, or are so in lower case; a known word is
        its own first."""
        asked = [normalise(word, self.lowercase) for word in words]
        suggested = self.dictionary.suggestions(asked)
        return [self._known([word, *others])[:k] for word, others in zip(asked, suggested, strict=True)]

    def _known(self, words: Sequence[str]) -> list[str]:
        rows = dict.fromkeys(self.known.rows(words).tolist())
        return [self.known.words[row] for row in rows if row >= 0]

    def impute(self, words: Sequence[str]) -> tuple[Floats, Bools]:
        """The vector of each word's first suggestion, if it has one."""
        rows = [self.known.row[first[0]] if first else -1 for first in self.suggest(words, 1)]
        return self.rows_as_vectors(np.array(rows, dtype=np.int64))


class Aspell(SpellerMethod):
    """With GNU Aspell's suggestion."""

    def __init__(self, table: Table) -> None:
        super().__init__(table, "Aspell", AspellDictionary(table.words))


class Hunspell(SpellerMethod):
    """With Hunspell's suggestion."""

    def __init__(self, table: Table) -> None:
        super().__init__(table, "Hunspell", HunspellDictionary(table.words))


def refuse_missing(program: str) -> None:
    """One line that says what to install."""
    if shutil.which(program) is None:
        raise LovevecError(f"{program} is not installed: apt install {PACKAGES[program]}")


def is_a_line(word: str) -> bool:
    """Whether a program can be asked for it: no blanks, no control characters, no lone surrogates, not too long."""
    return 0 < len(word) <= LONGEST and word.isprintable() and " " not in word


def cases(char: str) -> tuple[int, int, int]:
    """The character, and its upper and lower case where these are one character too."""
    upper, lower = (ord(other if len(other) == 1 else char) for other in (char.upper(), char.lower()))
    return ord(char), upper, lower


def _complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), f"it ended with {done.returncode} and no word")
