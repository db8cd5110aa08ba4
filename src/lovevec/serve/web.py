"""`lovevec export --web`: the page with the model inside, a folder that any web server can hand out.

    index.html, page/    the page of `lovevec serve`, as it is but for a line that says where the model lies
    model/               config.json, model.safetensors, words.json, rows.safetensors, lexicon.safetensors, forms.json
                         as model folders have them;
                         units.json     the unit vocabulary (page/units.js)
                         near.json      symbols, costs of slips, what speaks for new and for joined words (page/near.js)
                         strings.json   forms, kinds and parts of strings, words of texts (page/forms.js, parts.js,
                                        words.js)

The engine is JavaScript: known words have their own rows, other strings the mean over their readings, or over their
parts. Its tables and patterns are those of Python, written out as data, so that there is one spelling of each. Only
vectors of whole texts are left to Python.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.fold import Precision
from lovevec.errors import LovevecError
from lovevec.files import atomic_write
from lovevec.files.tensors import tensor_blocks
from lovevec.love import LOVE
from lovevec.model.folder import CONFIG, FORMS, LEXICON, ROWS, WEIGHTS, WORDS, ModelParts
from lovevec.model.known_rows import RowPrecision
from lovevec.near import forms, joined, kinds, lexicon, novelty, parts, reader, readings, torn
from lovevec.near.reader import Reader
from lovevec.near.symbols import KINDS
from lovevec.texts import signatures, tokens

MODEL, PAGE, INDEX = "model", "page", "index.html"
CHARSET = '<meta charset="utf-8">'  # of the served page: behind it goes what only the exported one has
EXPORT_TAGS = f"""
    <meta http-equiv="Content-Security-Policy" content="default-src 'self'; object-src 'none'; base-uri 'none'">
    <meta name="lovevec-model" content="{MODEL}/">"""
# What \d, \w and \s stand for in Python; in JavaScript they know ASCII, or other blanks.
BLANKS = "".join(chr(code) for code in range(0x10000) if chr(code).isspace())
WHOLE_CLASSES = {r"[^\W_]": r"[\p{L}\p{N}]", r"[^\W\d_]": r"[\p{L}\p{Nl}\p{No}]"}
OUTSIDE = {"d": r"\p{Nd}", "w": r"[_\p{L}\p{N}]", "s": f"[{BLANKS}]", "S": f"[^{BLANKS}]"}
INSIDE = {"d": r"\p{Nd}", "w": r"_\p{L}\p{N}", "s": BLANKS, "-": r"\-"}
SYNTAX = "^$\\.*+?()[]{}|/"  # characters that have to have their backslash in JavaScript
CONTROLS = "tnvfrxu"  # behind a backslash the same in both
TOKEN = re.compile(r"\\.|\[\^?(?:\\.|[^\]\\])+\]|.", re.DOTALL)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
PATTERNS: dict[ModuleType, str] = {
    kinds: "RUN DIGIT_RUN ADDRESS_RUN THOUSANDS ZEROS BETWEEN_DIGITS AFTER_DIGIT DIGIT MAY_BE_ADDRESS",
    parts: "PIECE PARTS_TOGETHER NO_SLIP POSSESSIVE ELISION CLITIC APOSTROPHE NUMBERED HUMP HUMPS RUNS AN_EMOJI",
    tokens: "CHUNK PLAIN SIGNED MAY_BE_OF_A_KIND VARIANTS",
}
LIMITS: dict[ModuleType, str] = {
    lexicon: "MAX_CUT MIN_STEM",
    novelty: "MIN_LIKENESS MAX_LIKENESS",
    joined: "MIN_JOINED_LENGTH MAX_PARTS MAX_PART SHORT MAX_ONE_LETTER_ROW MIN_DAMAGED_LENGTH MIN_DAMAGED_PART"
    " BEGINNINGS MIN_SHARE MAX_COST_PER_LETTER",
    readings: "NEW_DIVISOR_IN_TEXT MIN_PROBABILITY",
    reader: "MAX_KNOWN_WORDS MAX_CAPITALS MAX_STRETCHED_LENGTH TAG",
    torn: "MIN_LENGTH MIN_UNKNOWN_LENGTH MIN_UNKNOWN_PART LEAST_GAIN",
    kinds: "MAX_LENGTH MAX_PARTS KIND_SHARE",
    parts: "MAX_LENGTH MAX_PARTS MIN_WORD NATS_PER_DIGIT UTILITY_OF_NAME",
    forms: "MAX_FORM_LENGTH",
}


def export_web(
    love: LOVE, folder: str | os.PathLike[str], precision: Precision | None = None, rows: RowPrecision | None = None
) -> list[Path]:
    """Write the page of `lovevec serve` with a model inside, for any web server that hands out files.

    `precision` is that of the folded tables (default int8), `rows` that of the known words' own vectors (default: as
    the model has them). Returns the paths of the files; index.html is written last.

        export_web(LOVE.load(), "site")
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise LovevecError(f"{folder}: is a file; the page is written as a folder")
    if love.spelling_only or rows == "none":
        raise LovevecError("the page shows known words, and this model has no rows of theirs: export one that has")
    content = {f"{MODEL}/{name}": data for name, data in _model_files(love, precision, rows).items()}
    with as_file(files("lovevec") / "serve" / PAGE) as page:
        page_files = {path.name: path.read_bytes() for path in sorted(page.iterdir()) if path.is_file()}
    index = page_files.pop(INDEX).decode("utf-8").replace(CHARSET, CHARSET + EXPORT_TAGS, 1)
    content |= {f"{PAGE}/{name}": data for name, data in page_files.items()}
    content[INDEX] = index.encode("utf-8")
    for name, data in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / name) as file:
            file.write(data)
    return [folder / name for name in content]


def _model_files(love: LOVE, precision: Precision | None, rows: RowPrecision | None) -> dict[str, bytes]:
    """The files of the folder model/ by name: what the engine in the browser reads."""
    with tempfile.TemporaryDirectory() as temporary:
        love.save(temporary, precision or "int8", rows)
        saved = {name: (Path(temporary) / name).read_bytes() for name in (CONFIG, WEIGHTS, WORDS, ROWS)}
    config, orthography = json.loads(saved[CONFIG]), love.parts.orthography
    name = love.parts.target.get("name")
    about = {"name": name if isinstance(name, str) and name else "model"}
    about |= {key: config[key] for key in ("lovevec", "format", "encoder", "confidence") if key in config}
    saved[LEXICON] = b"".join(tensor_blocks(orthography.lexicon.tensors()))
    plain = {
        CONFIG: about,
        "units.json": love.parts.units.as_dict(),
        "near.json": near_tables(love.parts),
        "strings.json": string_tables(orthography.language.code),
        FORMS: Reader(love.words, orthography, love.parts.units.lowercase, ranks=_ranks(love.parts)).listed,
    }
    return saved | {name: json.dumps(value).encode("ascii") for name, value in plain.items()}


def near_tables(model: ModelParts) -> dict[str, Any]:
    """The numbers of near.json, on which readings depend besides the known words: the symbols of characters, what slips
    between them cost, what speaks for new words, for words that are run together and for torn ones."""
    own = Reader(model.words, model.orthography, model.units.lowercase, ranks=_ranks(model))
    symbols, slips, channel = own.symbols, own.slips, own.channel
    one, two, _ = symbols.spellings
    pairs = [(int(first), int(second), int(two[first, second])) for first, second in zip(*two.nonzero(), strict=True)]
    modules = (lexicon, novelty, joined, readings, reader)
    return {
        "characters": list(symbols.characters),
        "letters": [0, *(int(character.isalpha()) for character in symbols.characters)],
        "digits": [0, *(int(character.isdigit()) for character in symbols.characters)],
        "folded": symbols.folded.tolist(),
        "sound": symbols.sound.tolist(),
        "classes": slips.classes.tolist(),
        "substitution": slips.substitution.ravel().tolist(),
        "one": one.tolist(),
        "two": pairs,
        "spellings": slips.spellings.tolist(),
        "slips": dict(zip([*KINDS, "digit"], slips.costs.tolist(), strict=True)) | {"free": int(slips.free)},
        "rank": channel.rank,
        "newWeights": channel.new_weights.tolist(),
        "joined": dict(channel.joined),
        "torn": own.torn_words._asdict() | {"costs": None} | _limits(torn),
        "limits": {name: number for module in modules for name, number in _limits(module).items()},
    }


def _ranks(model: ModelParts) -> NDArray[np.int32] | None:
    return None if model.rows is None else model.rows.ranks


def string_tables(language: str = "en") -> dict[str, Any]:
    """What strings.json holds for a model of this language: tables and patterns by which strings are looked up, taken
    apart, and found in texts."""
    generator: Any = np.random.PCG64(0).state["state"]  # signatures (texts/signatures.py) are its first numbers
    return {
        "blanks": BLANKS,
        "patterns": {
            name: in_javascript(getattr(module, name)) for module, names in PATTERNS.items() for name in names.split()
        }
        | {"ANY_SCRIPT": in_javascript(tokens._any_script()), "ELISION": in_javascript(parts.elision_of(language))},
        "forms": {
            "same": _characters(forms.SAME),
            **{name: getattr(forms, name) for name in ("LEADING", "LEADING_BUT_SIGNS", "TRAILING", "BRACKETS")},
            **_limits(forms),
        },
        "kinds": {
            "same": _characters(kinds.SAME),
            "table": [
                kind._asdict() | {"pattern": in_javascript(re.compile(kind.pattern, re.IGNORECASE))}
                for kind in kinds.KINDS
            ],
            "unitWords": kinds.UNIT_WORDS,
            "notMeant": kinds.NOT_MEANT.split(),
            "domains": kinds.DOMAINS.split(),
            "files": kinds.FILES.split(),
            **_limits(kinds),
        },
        "parts": {"priors": parts.PRIORS, "clitics": parts.CLITICS, "emoji": _emoji(), **_limits(parts)},
        "texts": {"OPENING": tokens.OPENING, "CLOSING": tokens.CLOSING},
        "signatures": {
            "state": hex(generator["state"]),
            "inc": hex(generator["inc"]),
            "classes": signatures.PAIR_CLASSES,
        },
    }


def in_javascript(pattern: re.Pattern[str]) -> dict[str, str]:
    """A pattern as JavaScript reads it, {source, flags}: with the flag u it wants no needless backslash, and letters,
    digits and blanks of all scripts are spelled out. An error for what it may understand otherwise."""

    def escape(table: Mapping[str, str], found: str) -> str:
        letter = found[1]
        if letter in table:
            return table[letter]
        if letter.isalnum() and letter not in CONTROLS:
            raise ValueError(f"{pattern.pattern}: {found} may stand for something else in JavaScript")
        return found if letter in SYNTAX + CONTROLS else letter

    def token(found: re.Match[str]) -> str:
        text = found.group()
        if text in WHOLE_CLASSES:
            return WHOLE_CLASSES[text]
        if text.startswith("[") and len(text) > 1:
            return ESCAPE.sub(lambda one: escape(INSIDE, one.group()), text)
        return escape(OUTSIDE, text) if text.startswith("\\") else text

    source = TOKEN.sub(token, pattern.pattern)
    return {"source": source, "flags": "iu" if pattern.flags & re.IGNORECASE else "u"}


def _limits(module: ModuleType) -> dict[str, float]:
    return {name: getattr(module, name) for name in LIMITS[module].split()}


def _characters(table: Mapping[int, Any]) -> dict[str, str]:
    """What `str.translate` puts in the place of characters."""
    return {chr(code): "" if other is None else str(other) for code, other in table.items()}


def _emoji() -> dict[str, list[str]]:
    """The words of the names of emoji, as many as count."""
    found = {chr(code): parts.emoji_words(chr(code)) for code in range(0x20000) if parts.AN_EMOJI.match(chr(code))}
    return {one: words[: parts.MAX_EMOJI_WORDS] for one, words in found.items() if words}
