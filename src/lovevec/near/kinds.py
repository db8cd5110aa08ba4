r"""Kinds of strings that are no words: numbers, quantities, dates, codes, addresses … They are recognised before
anything is read, since no change of a digit is a misspelling: `500mg` is not `5mg`, `101st` not `1st`.

A string of a kind stands for its parts, each of which is

    word      looked up and read like any other: the mg of 500mg, the words of an address
    name      looked up, and if it is not known a word of its own, never a misspelling: the KCFT of KCFT-32A
    number    a known number, or the code of its digits: what numbers have in common, and a signature of the digits,
              which differs as these do (two numbers have half of it in common, and more where digits are alike)

with a share each; where nothing else says what the string is, the kind's own word is one of them (`date`, `time`).
Compared are strings in plain form: digits of any script as 0 to 9, ½ as 1/2, thin blanks between digits left out.

The table is data, from the first row that fits; the page in the browser has it too (serve/web.py), so patterns keep to
what Python and JavaScript both understand, and \w stands only inside brackets.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

NUMBER, NAME, WORD = "number", "name", "word"


class Part(NamedTuple):
    """A part of a string: what it is looked up as, how (word, name or number), where it stands in the string, and how
    much it counts beside the others."""

    text: str
    how: str
    start: int
    end: int
    share: float = 1.0


class Kind(NamedTuple):
    """A kind of strings. `pattern` fits the whole string; `parts` says how it is taken apart: as one number; into runs
    of letters and of digits; into digits alone; or into words, as addresses are. `word` is what the kind is called, a
    known word that is a part of every such string; `letters` how runs of letters are looked up."""

    name: str
    pattern: str
    parts: str = "runs"
    word: str | None = None
    letters: str = WORD


UNITS = (
    "mg kg g µg μg mcg lb lbs oz t ton tons tonne tonnes st km m cm mm µm μm nm mi mile miles yd yds ft foot feet in "
    "inch inches l ml cl dl fl gal pt qt cc b kb mb gb tb pb kib mib gib bit bits kbps mbps gbps hz khz mhz ghz w kw "
    "mw gw wh kwh mwh mah ah v kv mv a ma ohm ohms j kj cal kcal pa hpa kpa mpa psi bar atm n nm c f k °c °f ° deg "
    "rad px dpi ppi fps bpm rpm mph kmh kph kts db mol mmol iu ppm ppb s sec secs second seconds ms ns min mins "
    "minute minutes h hr hrs hour hours d day days wk wks week weeks mo mos month months y yr yrs year years yo x k m "
    "mn mio bn tn mil million billion trillion thousand hundred dozen p mp pm am pcs pc pp pg pgs vol ed ct ply hp "
    "bhp m2 m3 km2 cm2 cm3 mm2 mm3 ft2 ft3 in2 sqft sqm sq acre acres ha gsm cfu dpi lm lux th nd rd mgs kgs kms "
    "gbs mbs"
)
UNIT_SIGNS = "%‰°′″µμΩ"
CURRENCIES = "$€£¥₹₽₩₺₴₦¢฿₫₪₱"
CURRENCY_CODES = "usd eur gbp jpy cny inr cad aud chf sek nok dkk nzd brl mxn zar rub krw sgd hkd pln"
SCALES = "k|m|mn|mio|b|bn|tn|thousand|million|billion|trillion"
DOMAINS = (
    "com org net edu gov mil int info biz io co ai app dev xyz site online shop blog tech tv ly gl eu uk ca au nz ie "
    "de fr es nl ch se dk fi pl cz pt gr ru ua tr il jp cn kr hk sg tw id th vn ph br mx ar cl za ng ke eg"
)
FILES = (
    "txt md pdf doc docx xls xlsx ppt pptx odt csv tsv json jsonl xml yaml yml toml ini cfg conf log py ipynb js ts "
    "jsx tsx html htm css scss php rb rs go c h cpp hpp java kt swift sh bat exe dll so zip gz tar tgz bz2 xz rar 7z "
    "png jpg jpeg gif svg webp bmp tif tiff ico mp3 mp4 wav flac ogg avi mkv mov webm sql db sqlite parquet npy npz "
    "pkl whl deb rpm iso"
)
_N = r"\d+(?:[.,]\d+)*"  # 1,000.50
_S = "[+-]?"
_L = "[~<>≤≥]?=?"  # at least, less than
_COIN = "[" + CURRENCIES + "]"
_CODES = "(?:" + "|".join(CURRENCY_CODES.split()) + ")"
_UNIT = "(?:" + "|".join(sorted({re.escape(unit) for unit in UNITS.split()}, key=lambda unit: (-len(unit), unit))) + ")"
_DATE = r"(?:\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2}))"
_MONTH = (
    "(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|january|february|march|april|june|july|august|september"
    "|october|november|december)"
)
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?"
_HEX4 = "[0-9a-f]{4}"
KINDS = (
    Kind("address", r"[a-z][a-z0-9+.-]*://\S+|www\.\S+", "words", "website"), Kind("email",
    r"(?:mailto:)?[\w.+-]+@[\w-]+(?:\.[\w-]+)+", "words", "email"), Kind("address",
    rf"(?:[\w-]+\.)+(?:{'|'.join(DOMAINS.split())})(?:[:/?#]\S*)?", "words", "website"), Kind("date",
    rf"{_DATE}(?:[t_]{_CLOCK}(?:z|[+-]\d\d:?\d\d)?)?", "digits", "date"), Kind("date",
    rf"\d{{1,2}}(?:st|nd|rd|th)?[./-]?{_MONTH}(?:[./-]?\d{{2,4}})?|{_MONTH}[./-]?\d{{1,4}}(?:[./,-]\d{{2,4}})?"),
    Kind("time", rf"{_CLOCK}(?:[ap]\.?m?\.?)?|\d{{1,2}}(?:[ap]\.?m\.?)|\d{{1,2}}h\d{{2}}", "runs", "time"),
    Kind("decade", r"(?:\d\d)?\d0'?s|'\d0s", "digits", "decade"), Kind("ordinal",
    r"(?:\d+|\d{1,3}(?:,\d{3})+)(?:st|nd|rd|th)", "digits", "ordinal"), Kind("money",
    rf"{_S}(?:{_COIN}|{_CODES}){_S}{_N}-?(?:{SCALES})?[+]?|{_S}{_N}-?(?:{SCALES})?(?:{_COIN}|{_CODES})"),
    Kind("percentage", rf"{_L}{_S}{_N}(?:-{_N})?(?:%|‰|percent|pct)[+]?"), Kind("dimensions",
    rf"{_N}(?:{_UNIT})?(?:[x×*]{_N}(?:{_UNIT})?)+"), Kind("id",
    rf"\{{?{_HEX4}{_HEX4}-(?:{_HEX4}-){{3}}{_HEX4}{_HEX4}{_HEX4}\}}?", "number", "code"), Kind("id",
    r"(?=[0-9a-f:]*\d)(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}", "number", "code"), Kind("hex",
    r"0x[0-9a-f]+|#(?=[0-9a-f]*\d)[0-9a-f]{6}|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}", "number", "code"),
    Kind("address", r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?:[:/]\d{1,5})?|:\d{2,5}", "digits", "ip"), Kind("version",
    r"v\.?\d+(?:\.\d+)*(?:[.-]?(?:alpha|beta|rc|dev|a|b|post)[.-]?\d*)?", "runs", "version", NAME), Kind("version",
    r"\d+\.\d+\.\d+(?:[.+-][\w.+-]+)?|\d+\.\d+-?(?:alpha|beta|rc|dev|post)[.-]?\d*", "runs", "version", NAME),
    Kind("phone", r"\+\d[\d()./-]{6,}\d|\(\d{2,5}\)[\d./-]{5,}\d|\d{3}[./-]\d{3}[./-]\d{4}|\d{3}[./-]\d{4}", "digits",
    "phone"), Kind("number", rf"{_L}{_S}(?:\d{{1,3}}(?:[,.' ]\d{{3}})+|\d+)(?:[.,]\d+)?(?:e[+-]?\d+)?[+]?|[.]\d+",
    "number"), Kind("number", rf"{_N}(?:[/:-]{_N})+", "digits"), Kind("quantity",
    rf"{_L}{_S}{_N}(?:-{_N})?-?{_UNIT}(?:/{_UNIT})?[.]?[+]?|{_S}{_N}[{UNIT_SIGNS}]+[cf]?"), Kind("file",
    r"(?:[a-z]:\\|~/|\.{1,2}/|/)[\w.@+/\\-]+|[\w.@+-]+\\[\w.@+/\\-]*", "words", "file"), Kind("file",
    rf"(?:[\w@.+-]+/)*[\w@+-][\w.@+-]*\.(?:{'|'.join(FILES.split())})", "words", "file"),
    # Letters and digits by turns, three times each: 4f2a9c1e, B07XJ8C8F5.
    Kind("code", r"(?=(?:[\w-]*\d[a-z]){3})(?=(?:[\w-]*[a-z]\d){3})[a-z\d-]+", "number", "code"),
)  # fmt: skip
# What stands for a unit whose own spelling is another word, or none.
UNIT_WORDS = {
    "in": "inches", "h": "hours", "hr": "hours", "s": "seconds", "d": "days", "k": "thousand", "x": "times",
    "%": "percent", "‰": "percent", "°": "degrees", "′": "feet", "″": "inches", "'": "feet", "Ω": "ohms",
    "µm": "micrometers", "$": "dollars", "€": "euros", "£": "pounds", "¥": "yen", "₹": "rupees", "₽": "rubles",
    "₩": "won", "¢": "cents", "฿": "bitcoin",
}  # fmt: skip
NOT_MEANT = "http https ftp ssh git file mailto www com org net html htm php asp aspx jsp index utm"
MAX_LENGTH = 300  # characters of a string that may be of a kind
MAX_PARTS = 12
KIND_SHARE = 0.5  # of the kind's own word
DIGIT, MAY_BE_ADDRESS = re.compile(r"\d"), re.compile(r"[./@\\]")
RUN = re.compile(r"(?:^[<>≤≥]?=?-?)?\d+(?:[.,]\d+)*|[^\W\d_]+|[" + re.escape(CURRENCIES + UNIT_SIGNS) + "]")
DIGIT_RUN = re.compile(r"\d+")
ADDRESS_RUN = re.compile(r"\d+|[^\W\d_]+")
THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
LIMIT = re.compile("^[<>]=?")
ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
BETWEEN_DIGITS = re.compile("(?<=\\d)[\u00a0\u2007\u2009\u202f'’٬](?=\\d{3})")
AFTER_DIGIT = re.compile("(?<=\\d)(?=[¼-¾⅐-⅞])")
DEGREES = str.maketrans("ºª", "°°")
SAME = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "\u2044": "/",
        "٫": ".",
        "٬": ",",
        "’": "'",
        "‘": "'",
        "\u200b": None,
        "\u00ad": None,
    }
)


def plain_form(string: str) -> str:
    """Digits of any script as 0 to 9, other forms of letters and signs as the usual ones, no thin blanks in numbers."""
    if string.isascii():
        return string
    string = unicodedata.normalize("NFKC", digits_apart(string)).translate(SAME)
    return "".join(str(unicodedata.decimal(one, one)) if one.isdigit() else one for one in string)


def digits_apart(string: str) -> str:
    """A string whose numbers stay numbers in another form of its characters: 1½ is 1-1/2, not 11/2, 8º not 8o."""
    return AFTER_DIGIT.sub("-", BETWEEN_DIGITS.sub("", string)).translate(DEGREES)


@cache
def _patterns() -> list[tuple[Kind, re.Pattern[str]]]:
    return [(kind, re.compile(kind.pattern, re.IGNORECASE)) for kind in KINDS]


def kind_of(plain: str) -> Kind | None:
    """The kind of a string in plain form, not a long one; None for words, and for whatever else fits no pattern."""
    has_digit = DIGIT.search(plain) is not None
    if not (has_digit or MAY_BE_ADDRESS.search(plain)):
        return None
    for kind, pattern in _patterns():
        if (has_digit or kind.parts == "words") and pattern.fullmatch(plain):
            return kind
    return None


@lru_cache(maxsize=4096)
def parts_of_kind(string: str) -> tuple[Kind, tuple[Part, ...]] | None:
    """The kind of a string and the parts that it stands for; None where it is of no kind.

    >>> [(part.text, part.how) for part in parts_of_kind("500mg")[1]]
    [('500', 'number'), ('mg', 'word')]
    """
    if len(string) > MAX_LENGTH:
        return None
    plain = plain_form(string)
    kind = kind_of(plain)
    if kind is None:
        return None
    parts = _take_apart(kind, plain)
    if len(plain) != len(string):  # something was put together or left out: nobody knows what stands where
        parts = [part._replace(start=0, end=len(string)) for part in parts]
    return kind, tuple(parts)


def _take_apart(kind: Kind, plain: str) -> list[Part]:
    whole = [] if kind.word is None else [Part(kind.word, WORD, 0, len(plain), KIND_SHARE)]
    if kind.parts == "number":
        return [*whole, Part(number_form(plain), NUMBER, 0, len(plain))]
    pattern = {"digits": DIGIT_RUN, "words": ADDRESS_RUN}.get(kind.parts, RUN)
    found = list(pattern.finditer(plain))
    if kind.parts == "words":
        found = _meant(kind, found)
    return [*whole, *(_run(kind, one) for one in found[:MAX_PARTS])]


def _meant(kind: Kind, found: list[re.Match[str]]) -> list[re.Match[str]]:
    """The runs of an address or a file name that say something: not http, www, the domain's end, single letters."""
    ends = frozenset([*NOT_MEANT.split(), *(DOMAINS if kind.name in ("address", "email") else FILES).split()])
    runs = [one for one in found if one.group().lower() not in ends] or found
    return [one for one in runs if len(one.group()) > 1] or runs


def _run(kind: Kind, found: re.Match[str]) -> Part:
    text, place = found.group(), found.span()
    if text[-1].isdecimal():
        return Part(number_form(text), NUMBER, *place)
    return Part(UNIT_WORDS.get(text.lower(), text) if kind.parts == "runs" else text, kind.letters, *place)


def number_form(text: str) -> str:
    """One spelling of a number: without thousands' commas, a plus sign, and zeros in front; in lower case; of less and
    more signs that nothing takes for brackets."""
    if THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    return (
        ZEROS.sub("", LIMIT.sub(lambda sign: "≤" if sign.group()[0] == "<" else "≥", text).strip("+").lower()) or text
    )
