"""What training learns of letters: those that stand for each other, and words in letters of another script.

Letters that stand for each other in a language nobody has written rules for: those by which words of like meaning
differ (colour, color; grey, gray), as the target's vectors tell.

Counted are pairs of near neighbors of the target that differ by one letter in the place of another inside of the word;
at its ends stand other forms. Kept are the pairs that come much oftener than the frequency of both letters has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lovevec.damage.languages import MAX_ALIKE, Language
from lovevec.units.ragged import Ragged

MAX_WORDS = 50_000
MIN_COUNT, MIN_LIFT, MIN_LENGTH = 5, 3.0, 4
KEPT_AT_ENDS = 1  # letters at either end that must be the same


def letters_alike(words: Sequence[str], synonyms: Ragged) -> tuple[str, ...]:
    """Pairs of letters, those that come most first; `synonyms` are rows of near neighbors of each word."""
    pairs: Counter[tuple[str, str]] = Counter()
    letters: Counter[str] = Counter()
    for number, word in enumerate(words[:MAX_WORDS]):
        letters.update(word)
        if len(word) < MIN_LENGTH:
            continue
        for other in synonyms.row(number).tolist():
            if (pair := _replaced(word, words[other])) is not None:
                pairs[pair] += 1
    total, seen = max(sum(letters.values()), 1), max(sum(pairs.values()), 1)
    found = []
    for (one, two), count in pairs.most_common():
        expected = 2 * seen * letters[one] * letters[two] / total**2
        if count >= MIN_COUNT and count >= MIN_LIFT * expected:
            found.append(one + two)
    return tuple(found[:MAX_ALIKE])


def _replaced(word: str, other: str) -> tuple[str, str] | None:
    """The two letters by which words of the same length differ in one inner place; None for all others."""
    if len(word) != len(other) or word[:KEPT_AT_ENDS] != other[:KEPT_AT_ENDS]:
        return None
    differ = [(one, two) for one, two in zip(word, other, strict=True) if one != two]
    if len(differ) != 1 or word[-KEPT_AT_ENDS:] != other[-KEPT_AT_ENDS:]:
        return None
    one, two = sorted(differ[0])
    return (one, two) if one.isalpha() and two.isalpha() else None


def transliterated(words: Sequence[str], language: Language, most: int) -> dict[str, list[tuple[str, float]]]:
    """Words in Latin letters as forms of the first of the known words that they may stand for: {"privet": [("привет",
    1.0)]}; none for a language that is written in them."""
    known = frozenset(words)
    found: dict[str, list[tuple[str, float]]] = {}
    for word in words:
        if len(found) >= most:
            break
        latin = language.in_latin(word)
        if latin != word and latin not in known and len(latin) > 2 and word.isalpha():
            found.setdefault(latin, [(word, 1.0)])
    return found
