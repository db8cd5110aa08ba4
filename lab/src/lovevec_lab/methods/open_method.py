"""Methods by name, as the command line has them: vector files, fastText models, models, and rivals made on the spot.

glove.txt            a vector file of any known format: a Table
cc.en.300.bin        a fastText model: a vector for any word
default, my-model    a model: shipped, a folder, or a hub id; or the folder of a rival that learns
mine=my-model        the same, called `mine` in tables

In Python a method may also be there already: a Method, a LOVE, a VectorTable, or anything else that holds words and
vectors (see `lovevec.vectors.memory`).
"""

from __future__ import annotations

import os
import shutil
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lovevec.errors import LovevecError, Parameter
from lovevec.progress import Progress

if TYPE_CHECKING:
    from lovevec_lab.methods.method import Method
    from lovevec_lab.methods.table import Table

LEARNED = {
    "mimick": "MIMICK: a recurrent network reads the word's pieces (learned)",
    "bos": "BoS: the mean of vectors of all substrings (learned)",
    "kvq-fh": "KVQ-FH: self-attention over substrings that share rows by hashing (learned)",
    "pbos": "PBoS: substrings weighed by how likely the word is cut at them (learned)",
}
RIVALS = {
    **LEARNED,
    "ngrams": "rows of hashed n-grams, as in fastText, fitted to the vectors by least squares",
    "edit-distance": "the nearest of the first 20,000 words by spelling",
    "symspell": "SymSpell's correction, within two edits",
    "aspell": "GNU Aspell's first suggestion, where it is installed",
    "hunspell": "Hunspell's first suggestion, where it is installed",
    "unk": "one vector for all unknown words",
    "random": "for each unknown word a vector drawn at random",
}
PROGRAMS = ("aspell", "hunspell")  # no Python packages: `all` does without those that are not installed
OURS = {
    "love": "LOVE with the paper's settings",
    "love-recipe": "LOVE by our own recipe",
}  # no rivals, but made in the same way


def open_table(path: str | Path, progress: Progress | None = None) -> Table:
    """A vector file, called as its file is; or hf:NAME, a transformer's input embeddings."""
    from lovevec.transformer.load import PREFIX, input_embeddings, is_transformer, public_name
    from lovevec.vectors import read_vectors
    from lovevec_lab.methods.table import Table

    if is_transformer(path):
        name = str(path).removeprefix(PREFIX)
        return Table(input_embeddings(name, None, progress or Progress(quiet=True)), public_name(name))
    table = read_vectors(path, progress=progress)
    return Table(table, table.name)


def open_method(text: str, progress: Progress | None = None) -> Method:
    """What `text` names: a file, a model, or either with a name of its own in front, NAME=…"""
    name, source = split_name(text)
    path = Path(source)
    if is_there(path) and not path.is_dir():
        return _from_file(path, name, progress)
    from lovevec.vectors.table import ENDINGS

    if path.suffix in ENDINGS:  # and no hub id, though `folder/file.vec` looks like one
        raise LovevecError(f"{source}: no such file")
    from lovevec.love import LOVE
    from lovevec_lab.methods.learned import RIVAL
    from lovevec_lab.methods.love import LoveMethod

    if is_there(path / RIVAL):
        from lovevec_lab.methods.learned.learn import open_rival

        rival = open_rival(path)
        rival.name = name or path.resolve().name
        return rival
    return LoveMethod(LOVE.load(source), name or path.resolve().name)


def as_method(source: Any, name: str = "", progress: Progress | None = None) -> Method:
    """A method by its name, or made of what is in memory; `name` is what tables call it."""
    from lovevec.love import LOVE
    from lovevec.vectors import VectorTable
    from lovevec.vectors.memory import table_from_memory
    from lovevec_lab.methods.love import LoveMethod
    from lovevec_lab.methods.method import Method
    from lovevec_lab.methods.table import Table

    if isinstance(source, LOVE):
        return LoveMethod(source, name or "LOVE")
    if isinstance(source, VectorTable):
        return Table(source, name or source.name or "vectors")
    if not isinstance(source, (str, os.PathLike, Method)):
        return Table(table_from_memory(source, None)[0], name or "vectors")
    method = source if isinstance(source, Method) else open_method(os.fspath(source), progress)
    if name and name != method.name:
        method = copy(method)
        method.name = name
    return method


def as_table(source: Any, progress: Progress | None = None) -> Table:
    """Word vectors from a file (or hf:NAME), from memory, or those that a method stands on."""
    from lovevec_lab.methods.table import table_of

    if isinstance(source, (str, os.PathLike)):
        return open_table(os.fspath(source), progress)
    method = as_method(source, progress=progress)
    table = table_of(method)
    if table is None:
        raise LovevecError(f"{method.name}: is a model, not word vectors; name a file or a table")
    return table


def rivals_of(
    names: str,
    target: Table | None,
    *,
    folder: Path | None,
    device: str,
    seed: int,
    quick: bool,
    progress: Progress,
) -> list[Method]:
    """The rivals that `names` lists, by commas, or `all`, made from `target`; and LOVE itself (OURS), where named.

    Those that learn are trained into `folder`, or loaded when they are there already.
    """
    wanted = parse_rivals(names)
    if not wanted:
        return []
    missing = [name for name in PROGRAMS if name not in wanted]
    if missing and "all" in names.lower().replace(",", " ").split():
        progress.say(f"not among all rivals, since not installed: {', '.join(missing)}")
    if target is None:
        raise LovevecError(f"rivals are made from word vectors: name these with {Parameter('target', 'FILE')}")
    return [_make(name, target, folder, device, seed, quick, progress) for name in wanted]


def _make(
    name: str, target: Table, folder: Path | None, device: str, seed: int, quick: bool, progress: Progress
) -> Method:
    if name in OURS or name in LEARNED:
        from lovevec_lab.methods.learned.learn import learn

        return learn(name, target, folder, device=device, seed=seed, quick=quick, progress=progress)
    with progress.phase(f"making {name}") as phase:
        if name == "edit-distance":
            from lovevec_lab.methods.edit_distance import EditDistance

            return EditDistance(target)
        if name == "ngrams":
            from lovevec_lab.methods.ngrams import NGrams

            return NGrams(target)
        if name == "symspell":
            from lovevec_lab.methods.symspell import SymSpell

            return SymSpell(target)
        if name in PROGRAMS:
            from lovevec_lab.methods.spellers import Aspell, Hunspell

            rival = Aspell(target) if name == "aspell" else Hunspell(target)
            if rival.dictionary.left_out:
                phase.advance(0, note=f"{rival.dictionary.left_out:,} words do not fit into its dictionary")
            return rival
        if name == "unk":
            from lovevec_lab.methods.unknown import Unk

            return Unk(target)
        from lovevec_lab.methods.unknown import Random

        return Random(target, seed)


def parse_rivals(names: str) -> list[str]:
    """'all, love' -> every name once, in the order given."""
    wanted: dict[str, None] = {}
    for name in (part.strip().lower() for part in names.split(",")):
        if name == "all":
            wanted |= dict.fromkeys(rival for rival in RIVALS if rival not in PROGRAMS or shutil.which(rival))
        elif name in RIVALS or name in OURS:
            if name in PROGRAMS:
                from lovevec_lab.methods.spellers import refuse_missing

                refuse_missing(name)
            wanted[name] = None
        elif name:
            raise LovevecError(
                f"{Parameter('rivals', name)}: no such rival; there are {', '.join([*RIVALS, *OURS])}, and all"
            )
    return list(wanted)


def _from_file(path: Path, name: str, progress: Progress | None) -> Method:
    from lovevec.vectors.read.source import FASTTEXT, open_raw

    with open_raw(path) as file:
        is_fasttext = file.read(len(FASTTEXT)) == FASTTEXT
    if is_fasttext:
        from lovevec.vectors.table import bare_name
        from lovevec_lab.methods.fasttext import FastText

        return FastText(path, name or bare_name(path))
    table = open_table(path, progress)
    table.name = name or table.name
    return table


def split_name(text: str) -> tuple[str, str]:
    """('mine', 'my-model') of 'mine=my-model'; a file whose own name holds a = is that file."""
    name, equals, rest = text.partition("=")
    return (name, rest) if equals and name and rest and not is_there(Path(text)) else ("", text)


def is_there(path: Path) -> bool:
    """Whether a file or a folder is called so."""
    try:
        return path.exists()
    except OSError:  # a name that is too long to be one; the model's reader says so
        return False
