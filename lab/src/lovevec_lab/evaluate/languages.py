"""Misspellings in many languages, by words alone: is the right word the first that comes to mind?

Every method has wordfreq's 80,000 most frequent words of the language for a dictionary, and nothing else is needed:
LOVE's readings are learned from these words (train/channel.py), as `lovevec train` learns them from a target's.
Spellers have the same words; those with dictionaries of their own, as Debian has them, are columns besides.

slips           a word of four letters or more, drawn by its frequency, with one slip of the hand: the key beside the
                right one, a letter left out, typed twice, or two in the wrong order. Made here, not by the code that
                models are trained with
marks dropped   a word with accents or other marks, drawn in the same way, written without them: electricite
multilexnorm    what people wrote in tweets and forums for one word (MultiLexNorm2, train), where that is no word
ruspellru       the same for Russian: words of RUSpellRU's sentences that were corrected

Strings that are in the dictionary, and those whose right word is not, do not count.

>>> language_typos("de", rivals="symspell,hunspell").markdown()
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.keyboards import neighbors
from lovevec.damage.languages import language_of
from lovevec.damage.marks import without_marks
from lovevec.errors import LovevecError, Parameter
from lovevec.files.lines import read_bytes
from lovevec.near.reader import Reader
from lovevec.near.readings import near_words
from lovevec.progress import Progress
from lovevec.train.channel import fit_reader
from lovevec_lab.evaluate.comparison import Folder
from lovevec_lab.evaluate.datasets import data_folder
from lovevec_lab.evaluate.results import Cell, Result, markdown
from lovevec_lab.evaluate.statistics import RESAMPLES, bootstrap, interval

DICTIONARY = 80_000
STRINGS, QUICK_STRINGS = 400, 100  # of a set that is made here
SHORTEST = 4  # letters of a word that slips are made of
LOVE = "LOVE, readings"
RIVALS = ("symspell", "aspell", "hunspell", "own-aspell", "own-hunspell")
WORDFREQ = {"hr": "sh", "da": "da", "sl": "sl"}  # where wordfreq has another code
SLIPS = ("key", "omission", "double", "swap")
SLIP_SHARES = (0.35, 0.25, 0.15, 0.25)
ZEROS = re.compile(r"\d.?0")  # wordfreq writes longer numbers as zeros
PUNCTUATION = ".,!?…:;\"'«»()-–—"

Suggest = Callable[[Sequence[str]], list[str]]


@dataclass(frozen=True)
class Misspelled:
    """Strings that are no words, and the words that were meant, row by row."""

    name: str
    right: list[str]
    wrong: list[str]


@dataclass(frozen=True)
class LanguageScore:
    """How often the right word came first, in percent with its interval, and how many strings a second were read."""

    language: str
    set: str
    method: str
    strings: int
    first: float
    low: float
    high: float
    strings_per_second: float


def language_typos(
    languages: str | Sequence[str],
    *,
    rivals: str | Sequence[str] = "",
    seed: int = 0,
    quick: bool = False,
    data: Folder | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score LOVE's readings and spellers on misspellings of languages, by codes (`de`, or several with commas).

    Rivals are symspell, aspell, hunspell with the same words, own-aspell and own-hunspell with the dictionaries that
    are installed. Sets of people's misspellings are read from the data folder where they are there.
    """
    codes = _listed(languages)
    named = _listed(rivals)
    if unknown := [name for name in named if name not in RIVALS]:
        raise LovevecError(f"{Parameter('rivals', unknown[0])}: there are {', '.join(RIVALS)}")
    progress = progress or Progress(quiet=True)
    most = QUICK_STRINGS if quick else STRINGS
    scores: list[LanguageScore] = []
    about: dict[str, Any] = {}
    for code in codes:
        words, frequencies = dictionary(code)
        sets = [*made_up(code, words, frequencies, most, seed), *written(code, words, data_folder(data))]
        if not sets:
            raise LovevecError(f"{code}: no misspelling is left to score")
        about[code] = {"words": len(words), **{one.name: len(one.wrong) for one in sets}}
        for method, make in methods_of(code, words, named, seed).items():
            with progress.phase(f"{code}: {method}"):
                suggest = make()
                if suggest is not None:
                    scores += [score(code, one, method, suggest, seed) for one in sets]
    settings = {"languages": codes, "rivals": named, "seed": seed, "quick": quick, "sets": about}
    name = f"typos-{'-'.join(codes)}" if len(codes) < 3 else "typos-languages"
    return Result(name, settings, [asdict(one) for one in scores], languages_table([asdict(one) for one in scores]))


def dictionary(code: str) -> tuple[list[str], NDArray[np.float64]]:
    """The words of a language in wordfreq, most frequent first, and their frequencies."""
    try:
        import wordfreq
    except ImportError:
        raise LovevecError("this needs wordfreq: pip install 'lovevec-lab[languages]'") from None
    name = WORDFREQ.get(code, code)
    if name not in wordfreq.available_languages():
        raise LovevecError(f"{code}: wordfreq has no words of this language")
    listed = wordfreq.top_n_list(name, 2 * DICTIONARY)
    words = [word for word in listed if any(map(str.isalpha, word)) and not ZEROS.search(word)][:DICTIONARY]
    frequency = wordfreq.get_frequency_dict(name)
    return words, np.array([frequency[word] for word in words])


def made_up(
    code: str, words: Sequence[str], frequencies: NDArray[np.float64], most: int, seed: int
) -> list[Misspelled]:
    """Slips and dropped marks, distinct strings."""
    near, exist = neighbors(language_of(code).keyboard), frozenset(words)
    letters = [all(map(str.isalpha, word)) for word in words]
    able = np.array([place for place, word in enumerate(words) if letters[place] and len(word) >= SHORTEST])
    marked = np.array([place for place, word in enumerate(words) if letters[place] and without_marks(word) != word])
    rng = np.random.default_rng([seed, 31])
    sets = []
    for name, places, damage in (
        ("slips", able, lambda word: slip(word, near, rng)),
        ("marks dropped", marked, without_marks),
    ):
        found: dict[str, str] = {}
        for place in _drawn(places, frequencies, 20 * most, rng):
            wrong = damage(words[place])
            if wrong and wrong not in exist:
                found.setdefault(wrong, words[place])
            if len(found) == most:
                break
        if len(found) >= most / 10:
            sets.append(Misspelled(name, list(found.values()), list(found)))
    return sets


def _drawn(
    places: NDArray[np.int64], frequencies: NDArray[np.float64], count: int, rng: np.random.Generator
) -> list[int]:
    if not len(places):
        return []
    chance = frequencies[places]
    drawn: list[int] = rng.choice(places, count, p=chance / chance.sum()).tolist()
    return drawn


def slip(word: str, near: Mapping[str, str], rng: np.random.Generator) -> str:
    """A word with one slip of the hand; nothing where that one is not possible there."""
    kind, at = SLIPS[int(rng.choice(len(SLIPS), p=SLIP_SHARES))], int(rng.integers(len(word)))
    if kind == "key":
        keys = [key for key in near.get(word[at], "") if key.isalpha()]
        return word[:at] + keys[int(rng.integers(len(keys)))] + word[at + 1 :] if keys else ""
    if kind == "omission":
        return word[:at] + word[at + 1 :]
    if kind == "double":
        return word[:at] + word[at] + word[at:]
    swapped = word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
    return swapped if swapped != word else ""


def written(code: str, words: Sequence[str], data: Path) -> list[Misspelled]:
    """What people wrote, of the sets that are there."""
    pairs = {
        "multilexnorm": _multilexnorm(data / "languages" / f"multilexnorm.{code}.train.tsv"),
        "ruspellru": _ruspellru(data / "languages") if code == "ru" else [],
    }
    exist = frozenset(words)
    sets = []
    for name, found in pairs.items():
        kept = {
            wrong: right
            for wrong, right in found
            if right in exist and wrong not in exist and len(wrong) > 1 and any(map(str.isalpha, wrong))
        }
        if kept:
            sets.append(Misspelled(name, list(kept.values()), list(kept)))
    return sets


def _multilexnorm(path: Path) -> list[tuple[str, str]]:
    """Repairs of one word by one: (wrong, right), in lower case."""
    if not path.is_file():
        return []
    rows = (line.split("\t") for line in read_bytes(path).decode().splitlines())
    pairs = ((_plain(row[0]), _plain(row[1])) for row in rows if len(row) == 2)
    return [(wrong, right) for wrong, right in pairs if wrong != right and right and not set(wrong) & set("@#/ ")]


def _ruspellru(folder: Path) -> list[tuple[str, str]]:
    """Words of sentences that have as many words as their corrections: (wrong, right)."""
    files = [folder / f"ruspellru.{name}.txt" for name in ("sources", "corrections")]
    if not all(file.is_file() for file in files):
        return []
    pairs = []
    for wrong, right in zip(*(read_bytes(file).decode().splitlines() for file in files), strict=True):
        sides = [[_plain(word.strip(PUNCTUATION)) for word in side.split()] for side in (wrong, right)]
        one, other = ([word for word in side if word] for side in sides)
        if len(one) == len(other):
            pairs += [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return pairs


def _plain(word: str) -> str:
    return unicodedata.normalize("NFC", word.lower())


def methods_of(
    code: str, words: Sequence[str], rivals: Sequence[str], seed: int
) -> dict[str, Callable[[], Suggest | None]]:
    """How each method is made; None where its dictionary is not installed."""

    def love() -> Suggest:
        fit = fit_reader(words, True, seed, language=language_of(code).with_words(words))
        reader = Reader(words, fit.orthography, True)
        return lambda strings: [near[0][0] if near else "" for near in near_words(words, reader(strings), 1)]

    def symspell() -> Suggest:
        from lovevec_lab.methods.symspell import SymSpellDictionary

        speller = SymSpellDictionary(words)
        return lambda strings: [speller.correct(string) or "" for string in strings]

    def program(name: str) -> Callable[[], Suggest | None]:
        def make() -> Suggest | None:
            from lovevec_lab.methods.spellers import AspellDictionary, HunspellDictionary, InstalledDictionary

            own = name.startswith("own-")
            if own and code not in InstalledDictionary.languages(name.removeprefix("own-")):
                return None
            if own:
                speller: Any = InstalledDictionary(name.removeprefix("own-"), code)
            else:
                speller = (
                    HunspellDictionary(words) if name == "hunspell" else AspellDictionary(words, english=code == "en")
                )
            return lambda strings: [
                _plain(suggested[0]) if suggested else "" for suggested in speller.suggestions(list(strings))
            ]

        return make

    names = {
        "symspell": "SymSpell",
        "aspell": "Aspell",
        "hunspell": "Hunspell",
        "own-aspell": "Aspell, Debian's dictionary",
        "own-hunspell": "Hunspell, Debian's dictionary",
    }
    made: dict[str, Callable[[], Suggest | None]] = {LOVE: love}
    return made | {names[name]: symspell if name == "symspell" else program(name) for name in rivals}


def score(code: str, one: Misspelled, method: str, suggest: Suggest, seed: int) -> LanguageScore:
    """How often the first suggestion is the right word; the interval is of strings drawn anew."""
    suggest(one.wrong[:2])  # tables are built by the first call
    start = perf_counter()
    suggested = suggest(one.wrong)
    seconds = perf_counter() - start
    right = np.array([first == meant for first, meant in zip(suggested, one.right, strict=True)], dtype=np.float64)
    drawn = bootstrap(lambda times: 100 * (times @ right) / times.sum(axis=1), len(right), RESAMPLES, seed)
    low, high = interval(drawn)
    speed = len(right) / max(seconds, 1e-9)
    return LanguageScore(code, one.name, method, len(right), 100 * float(right.mean()), low, high, round(speed))


def languages_table(scores: Sequence[Mapping[str, Any]]) -> str:
    """A table for each set: languages (rows), methods (columns), the best of a row in bold."""
    parts = []
    for name in dict.fromkeys(one["set"] for one in scores):
        here = [one for one in scores if one["set"] == name]
        methods = list(dict.fromkeys(one["method"] for one in here))
        rows: list[list[Cell]] = []
        for code in dict.fromkeys(one["language"] for one in here):
            found = {one["method"]: one for one in here if one["language"] == code}
            best = max(one["first"] for one in found.values())
            cells = [_cell(found.get(method), best) for method in methods]
            rows.append([code, next(iter(found.values()))["strings"], *cells])
        parts.append(f"**{name}**\n\n" + markdown(["", "strings", *methods], rows))
    return "\n".join(parts) + "\nThe right word first, % of strings, with 95 % intervals.\n"


def _cell(one: Mapping[str, Any] | None, best: float) -> str:
    if one is None:
        return "-"
    number = f"{one['first']:.1f}"
    return f"{f'**{number}**' if one['first'] == best else number} ({one['low']:.1f}–{one['high']:.1f})"


def _listed(names: str | Sequence[str]) -> list[str]:
    parts = names.split(",") if isinstance(names, str) else names
    return list(dict.fromkeys(name.strip().lower() for name in parts if name.strip()))
