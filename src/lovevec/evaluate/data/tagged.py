"""Sentences with a tag for each token: one token a line, token first, tag last, a blank line between sentences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lovevec.errors import FormatError, LovevecError
from lovevec.evaluate.data.lines import digest_of, lines_of
from lovevec.evaluate.data.sets import find_or_own
from lovevec.evaluate.nets.entities import EXPECTED, OUTSIDE, is_tag

DOCUMENT = "-DOCSTART-"
PARTS = (("train",), ("dev", "valid", "devel"), ("test",))
ENDS = (".txt", ".tsv")


@dataclass(frozen=True)
class Tagged:
    """`tags[i][j]` is the tag of the token `sentences[i][j]`."""

    sentences: list[list[str]]
    tags: list[list[str]]


@dataclass(frozen=True)
class TagSplit:
    """A dataset for tagging. `digest` names the content of its files."""

    name: str
    train: Tagged
    dev: Tagged
    test: Tagged
    digest: str = ""


def tagged(name_or_folder: str, data: Path | None = None) -> TagSplit:
    """CoNLL03, BC2GM, or an own folder with train, dev (or valid, devel) and test, each .txt or .tsv."""
    listed, files = find_or_own(name_or_folder, "tagged", data)
    files = files if listed else [_own_file(files[0], names) for names in PARTS]
    train, dev, test = (_read(file) for file in files)
    return TagSplit(listed.name if listed else Path(name_or_folder).resolve().name, train, dev, test, digest_of(files))


def _own_file(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        for end in ENDS:
            if (file := folder / f"{name}{end}").is_file():
                return file
    raise LovevecError(f"{folder}: own tagged text needs a file {' or '.join(names)} there, {' or '.join(ENDS)}")


def _read(path: Path) -> Tagged:
    found, tokens, tags = Tagged([], []), list[str](), list[str]()
    for number, line in enumerate([*lines_of(path), ""], 1):
        if line.strip():
            cells = _cells(line)
            if len(cells) < 2 or not cells[0] or not cells[-1]:
                raise FormatError(path, f"a token and its tag expected, not {line!r:.60}", number)
            if cells[0] == DOCUMENT:
                continue
            if not is_tag(cells[-1]):
                raise FormatError(path, f"tag {cells[-1]!r:.40}: {EXPECTED}", number)
            tokens.append(cells[0])
            tags.append(cells[-1])
        elif tokens:
            found.sentences.append(tokens)
            found.tags.append(tags)
            tokens, tags = [], []
    if not found.sentences:
        raise FormatError(path, "holds no sentences")
    if all(tag == OUTSIDE for tags in found.tags for tag in tags):
        raise FormatError(path, f"all tags are {OUTSIDE}; no entity to find")
    return found


def _cells(line: str) -> list[str]:
    """Columns are separated by tabs, or where there is none by spaces: a token of a tabbed file may hold a space."""
    if "\t" in line:
        return [cell.strip() for cell in line.split("\t")]
    return [cell for cell in line.split(" ") if cell]
