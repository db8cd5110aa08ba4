"""Words of Cyrillic or Greek letters as they are typed by habit in Latin ones: привет as privet, καλημέρα as kalimera.

One way each, the commonest on the web: no standard, whose signs nobody types.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache


def _pairs(text: str) -> dict[str, str]:
    """Each letter, with what is written for it."""
    return {one[0]: one[1:] for one in text.split()}


CYRILLIC = _pairs(
    "аa бb вv гg дd еe ёyo жzh зz иi йy кk лl мm нn оo пp рr сs тt уu фf хh цts чch шsh щsch ъ ыy ь эe юyu яya"
    " іi їyi єye ґg ѓgj ќkj љlj њnj џdz ѕdz"
)
OWN = {"uk": {"г": "h", "и": "y", "й": "y", "х": "kh"}, "bg": {"ъ": "a", "щ": "sht"}, "mk": {"ј": "j", "ц": "c"}}
GREEK = _pairs("αa βv γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υy φf χh ψps ωo")
PAIRS = {"ου": "ou", "μπ": "mp", "ντ": "nt"}


@cache
def _table(code: str) -> Mapping[int, str]:
    return str.maketrans(CYRILLIC | GREEK | OWN.get(code, {}))


def in_latin(word: str, code: str) -> str:
    """A word in Latin letters, in the language of this code; one without letters of the tables stays as it is.

    >>> in_latin("привет", "ru"), in_latin("чёрный", "ru"), in_latin("καλημέρα", "el")
    ('privet', 'chyornyy', 'kalimera')
    """
    plain = unicodedata.normalize("NFC", word.lower())
    if code == "el":
        bare = unicodedata.normalize("NFD", plain)
        plain = "".join(letter for letter in bare if not unicodedata.combining(letter))
        for pair, latin in PAIRS.items():
            plain = plain.replace(pair, latin)
    latin = plain.translate(_table(code))
    return latin if latin != plain else word
