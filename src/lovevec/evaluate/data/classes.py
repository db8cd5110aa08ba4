"""Words with the class that each belongs to: word, class, a tab between."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lovevec.errors import FormatError
from lovevec.evaluate.data.lines import digest_of, filled_lines
from lovevec.evaluate.data.sets import find_or_own


@dataclass(frozen=True)
class Classes:
    """`classes[i]` is the class of `words[i]`. `digest` names the file's content."""

    name: str
    words: list[str]
    classes: list[str]
    digest: str = ""


def word_classes(name_or_path: str, data: Path | None = None) -> Classes:
    """AP, BLESS, or an own file."""
    listed, (path,) = find_or_own(name_or_path, "clusters", data)
    words, classes = [], []
    for number, line in filled_lines(path):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            raise FormatError(path, f"a word and its class with a tab between expected, not {line!r:.60}", number)
        words.append(cells[0])
        classes.append(cells[1])
    if len(set(classes)) < 2:
        raise FormatError(path, "all words are of one class; nothing to tell apart")
    return Classes(listed.name if listed else path.stem, words, classes, digest_of([path]))
