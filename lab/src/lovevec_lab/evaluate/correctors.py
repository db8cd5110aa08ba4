"""Correctors of texts that others have made, behind one small interface, by name.

symspell            symspellpy's lookup, word by word: the nearest known word within two edits, then the most frequent
symspell-compound   symspellpy's lookup_compound, which also joins and parts words, with its own pairs of words
aspell, hunspell    the programs' first suggestion (methods/spellers.py)
pyspellchecker, autocorrect, textblob     Norvig's corrector in three hands, each with the dictionary that it brings
jamspell:MODEL      JamSpell, which looks at two words on both sides, with a model file that it has learned

The first four know the words that they are given, the most frequent first, and no others. Those that correct words meet
each unknown word by itself: what holds no letter stays as it is, and so do marks, blanks, and words of one or two
letters; a correction has the case of the word. What is slow meets fewer texts, and says so.
"""

from __future__ import annotations

import locale
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from lovevec.errors import LovevecError, Parameter
from lovevec_lab.evaluate.text_encoders import correct_texts
from lovevec_lab.methods.symspell import MOST_EDITS

JAMSPELL = "jamspell"
INSTALL = {
    "symspell": "pip install symspellpy",
    "symspell-compound": "pip install symspellpy",
    "aspell": "apt install aspell aspell-en",
    "hunspell": "apt install hunspell",
    "pyspellchecker": "pip install pyspellchecker",
    "autocorrect": "pip install autocorrect",
    "textblob": "pip install textblob",
    JAMSPELL: "pip install jamspell (needs swig 3 and the locale en_US.UTF-8), and name a model: jamspell:MODEL",
}
RIVALS = tuple(INSTALL)
LOCALE = "en_US.UTF-8"
SUGGESTIONS = 10
FEW_LINES, SOME_LINES = 100, 1000  # for those that take a second for some tens of words, or of texts
PAIRS = "frequency_bigramdictionary_en_243_342.txt"  # of symspellpy
RUN = re.compile(r"[^\W\d_]+(?:['’ ][^\W\d_]+)*")  # words of letters with single blanks between
WORD = re.compile(r"[^\W\d_]+")

Suggest = Callable[[list[str]], list[list[str]]]
Correct = Callable[[Sequence[str]], list[str]]


@dataclass(frozen=True, eq=False)
class Corrector:
    """`correct` corrects texts; `suggest` gives up to ten words for each lower-case word, a word that it knows first,
    where words are corrected by themselves. `lines` are those that one that is slow can be asked for."""

    name: str
    correct: Correct
    suggest: Suggest | None = None
    lines: int | None = None


class Replacement(NamedTuple):
    """What stands in the place of text[start:end]."""

    start: int
    end: int
    after: str


def rivals_of(names: str | Sequence[str], words: Sequence[str]) -> tuple[list[Corrector], list[str]]:
    """The correctors of some names, by commas or as a list, that know `words`; `all` are all that are installed. Also a
    line for each of these that is not, with how to install it; one that was named is an error then."""
    listed = [name.strip() for name in (names.split(",") if isinstance(names, str) else names) if name.strip()]
    made, missing = list[Corrector](), list[str]()
    named = {name.partition(":")[0] for name in listed}
    everyone = [name for name in RIVALS if name not in named] if "all" in named else []
    for name in [*everyone, *(name for name in dict.fromkeys(listed) if name != "all")]:
        kind, _, model = name.partition(":")
        if kind not in RIVALS or (model and kind != JAMSPELL):
            raise LovevecError(f"{Parameter('rivals', name)}: there are all, {', '.join(RIVALS)}")
        try:
            made.append(_open(kind, model, words))
        except (LovevecError, ImportError) as error:
            if name in listed:
                raise LovevecError(f"{kind} is not there: {INSTALL[kind]}") from error
            missing.append(f"{kind}: {INSTALL[kind]}")
    return made, missing


def _open(kind: str, model: str, words: Sequence[str]) -> Corrector:
    if kind == "symspell":
        from lovevec_lab.methods.symspell import SymSpellDictionary

        dictionary = SymSpellDictionary(words)
        correct = partial(correct_texts, corrections=lambda asked: [dictionary.correct(word) for word in asked])
        return Corrector(kind, correct, lambda asked: [dictionary.suggest(word, SUGGESTIONS) for word in asked])
    if kind == "symspell-compound":
        return Corrector(kind, _compound(words), lines=SOME_LINES)
    if kind in ("aspell", "hunspell"):
        return _speller(kind, words)
    if kind == JAMSPELL:
        return _jamspell(model)
    return _by_words(kind, _remembering(_norvig(kind)), FEW_LINES)


def _by_words(name: str, suggest: Suggest, lines: int | None = None) -> Corrector:
    """Of words by their first suggestion."""

    def corrections(asked: list[str]) -> list[str | None]:
        return [first[0] if first else None for first in suggest(asked)]

    return Corrector(name, partial(correct_texts, corrections=corrections), suggest, lines)


def _remembering(suggest: Callable[[str], list[str]]) -> Suggest:
    """Each word is asked for once, however many texts it comes in."""
    seen: dict[str, list[str]] = {}

    def suggest_all(words: list[str]) -> list[list[str]]:
        for word in words:
            if word not in seen:
                seen[word] = suggest(word)[:SUGGESTIONS]
        return [seen[word] for word in words]

    return suggest_all


def _speller(kind: str, words: Sequence[str]) -> Corrector:
    from lovevec_lab.methods.spellers import AspellDictionary, HunspellDictionary

    known, dictionary = frozenset(words), (AspellDictionary if kind == "aspell" else HunspellDictionary)(words)

    def suggest(asked: list[str]) -> list[list[str]]:
        unknown = [word for word in asked if word not in known]
        made = dict(zip(unknown, dictionary.suggestions(unknown), strict=True))
        return [[one for one in made.get(word, [word]) if one in known][:SUGGESTIONS] for word in asked]

    return _by_words(kind, suggest, FEW_LINES if kind == "hunspell" else None)


def _norvig(kind: str) -> Callable[[str], list[str]]:
    """The most frequent first of the nearest words of the package's own dictionary."""
    if kind == "pyspellchecker":
        speller = import_module("spellchecker").SpellChecker()
        return lambda word: sorted(speller.candidates(word) or (), key=lambda one: (-speller[one], one))
    if kind == "autocorrect":
        by_count = import_module("autocorrect").Speller().get_candidates
        return lambda word: [one for _, one in sorted(by_count(word), reverse=True)]
    a_word = import_module("textblob").Word
    return lambda word: [one for one, _ in a_word(word).spellcheck()]


def _jamspell(model: str) -> Corrector:
    jamspell, was = import_module(JAMSPELL), locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, LOCALE)  # without which it ends the process
        locale.setlocale(locale.LC_CTYPE, was)
    except locale.Error:
        raise LovevecError(f"{JAMSPELL} needs the locale {LOCALE}") from None
    if not Path(model).is_file():
        raise LovevecError(f"{JAMSPELL}:{model}: no such file")
    corrector = jamspell.TSpellCorrector()
    if not corrector.LoadLangModel(model):
        raise LovevecError(f"{JAMSPELL}:{model}: is no model of JamSpell")
    return Corrector(JAMSPELL, lambda texts: [corrector.FixFragment(text) for text in texts], lines=SOME_LINES)


def _compound(words: Sequence[str]) -> Correct:
    """Runs of words between marks are corrected, each by itself: lookup_compound would lose the marks."""
    import symspellpy

    library = symspellpy.SymSpell(max_dictionary_edit_distance=MOST_EDITS)
    of_all = sum(1 / rank for rank in range(1, len(words) + 1))
    for rank, word in enumerate(words, 1):  # by Zipf's law; its chances are shares of N
        library.create_dictionary_entry(word, round(library.N / rank / of_all))
    library.load_bigram_dictionary(str(Path(symspellpy.__file__).parent / PAIRS), 0, 2)

    def correct_run(found: re.Match[str]) -> str:
        try:
            corrected: Any = library.lookup_compound(found[0], MOST_EDITS, ignore_non_words=True, transfer_casing=True)
        except IndexError:  # of symspellpy 6.10, where a word in lower case falls apart: İs
            return found[0]
        return str(corrected[0].term)

    return lambda texts: [RUN.sub(correct_run, text) for text in texts]


def replacements(before: str, after: str) -> Iterator[Replacement]:
    """What turns a text into another, by what stands between the blanks that both have.

    "a tset of ten" -> "a test often": (2, 6, "test"), (7, 13, "often")
    """
    if before == after:
        return
    from rapidfuzz.distance import Levenshtein

    shared = [(-1, -1)]
    for operation in Levenshtein.opcodes(before, after):
        if operation.tag == "equal":
            steps = zip(
                range(operation.src_start, operation.src_end),
                range(operation.dest_start, operation.dest_end),
                strict=True,
            )
            shared += [(source, place) for source, place in steps if before[source].isspace()]
    shared.append((len(before), len(after)))
    for (low, low_after), (high, high_after) in pairwise(shared):
        old, new = before[low + 1 : high], after[low_after + 1 : high_after]
        if old != new:
            yield Replacement(low + 1, high, new)
