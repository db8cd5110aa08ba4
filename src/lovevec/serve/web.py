"""`lovevec export --web`: the page with the model inside, a folder that any web server can hand out.

    index.html, page/    the page of `lovevec serve`, as it is but for a line that says where the model lies
    model/               config.json, model.safetensors, words.json, rows.safetensors of a model folder;
                         units.json    the unit vocabulary (page/units.js)
                         near.json     symbols and costs of slips (page/near.js)

The engine is JavaScript (page/engine.js, near.js): known words have their own rows, other strings the mean over their
readings. Only vectors of whole texts are left to Python.
"""

from __future__ import annotations

import json
import os
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from lovevec.engine.fold import Precision
from lovevec.errors import LovevecError
from lovevec.files import atomic_write
from lovevec.love import LOVE
from lovevec.model.folder import CONFIG, ROWS, WEIGHTS, WORDS, ModelParts
from lovevec.model.known_rows import RowPrecision
from lovevec.near.reader import Reader
from lovevec.near.symbols import KINDS

MODEL, PAGE, INDEX = "model", "page", "index.html"
CHARSET = '<meta charset="utf-8">'  # of the served page: behind it goes what only the exported one has
EXPORT_TAGS = f"""
    <meta http-equiv="Content-Security-Policy" content="default-src 'self'; object-src 'none'; base-uri 'none'">
    <meta name="lovevec-model" content="{MODEL}/">"""


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
    config = json.loads(saved[CONFIG])
    name = love.parts.target.get("name")
    about = {"name": name if isinstance(name, str) and name else "model"}
    about |= {key: config[key] for key in ("lovevec", "format", "encoder", "confidence") if key in config}
    plain = {CONFIG: about, "units.json": love.parts.units.as_dict(), "near.json": near_tables(love.parts)}
    return saved | {name: json.dumps(value).encode("ascii") for name, value in plain.items()}


def near_tables(parts: ModelParts) -> dict[str, Any]:
    """The numbers of near.json, on which readings depend besides the known words: the symbols of characters, and what
    slips between them cost."""
    reader = Reader(parts.words, parts.channel, parts.units.lowercase)
    symbols, slips = reader.symbols, reader.slips
    one, two, _ = symbols.spellings
    pairs = [(int(first), int(second), int(two[first, second])) for first, second in zip(*two.nonzero(), strict=True)]
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
        "slips": dict(zip(KINDS, slips.costs.tolist(), strict=True)),
        "rank": parts.channel.rank,
        "newWeights": parts.channel.new_weights.tolist(),
    }
