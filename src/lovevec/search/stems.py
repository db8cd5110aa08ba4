"""The stem of an English word, by Porter's algorithm (1980): airfoil of airfoils, measur of measure and measuring.

Texts and queries meet by stems. Names and words of other languages lose an ending at most, the same on both sides.
"""

from __future__ import annotations

import re

SECOND = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
THIRD = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
FOURTH = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
    "al", "er", "ic", "ou",
)  # fmt: skip
SECOND_ENDING = re.compile(f"(?:{'|'.join(sorted(SECOND, key=len, reverse=True))})$")
THIRD_ENDING = re.compile(f"(?:{'|'.join(sorted(THIRD, key=len, reverse=True))})$")
FOURTH_ENDING = re.compile(f"(?:{'|'.join(FOURTH)})$")
LETTERS = re.compile("[a-z]{3,40}")


def stem(word: str) -> str:
    """The stem of a word of 3 to 40 letters from a to z; anything else as it is.

    >>> [stem(word) for word in ("airfoils", "measuring", "measure", "XJ-900")]
    ['airfoil', 'measur', 'measur', 'XJ-900']
    """
    if not LETTERS.fullmatch(word):
        return word
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    word = _without_past(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    for endings, ending in ((SECOND, SECOND_ENDING), (THIRD, THIRD_ENDING)):
        if (found := ending.search(word)) and _measure(word[: found.start()]) > 0:
            word = word[: found.start()] + endings[found.group()]
    found = FOURTH_ENDING.search(word)
    if found and (found.group() != "ion" or word[: found.start()].endswith(("s", "t"))):
        word = word[: found.start()] if _measure(word[: found.start()]) > 1 else word
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _is_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _without_past(word: str) -> str:
    """A word without -ed or -ing."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = next((one for one in ("ed", "ing") if word.endswith(one)), None)
    if ending is None or "v" not in _shape(word[: -len(ending)]):
        return word
    word = word[: -len(ending)]
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c" and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _is_short(word) else word


def _shape(word: str) -> str:
    """Vowels and consonants as v and c; y is a vowel behind a consonant."""
    shape = ""
    for place, letter in enumerate(word):
        is_vowel = letter in "aeiou" or (letter == "y" and place > 0 and shape[-1] == "c")
        shape += "v" if is_vowel else "c"
    return shape


def _measure(word: str) -> int:
    """How often consonants follow vowels."""
    return _shape(word).count("vc")


def _is_short(word: str) -> bool:
    """Whether a word ends in consonant, vowel and a consonant that is not w, x or y."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"
