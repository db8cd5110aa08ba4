"""The data that vectors are evaluated on: the paper's sets by name, own files by path (formats: docs/data.md).

>>> similarity_set("RareWord", data_folder())         # pairs of words with scores
>>> word_classes("AP", data_folder())                 # words with classes
>>> misspellings("Birkbeck", data_folder())           # misspellings and the words that were meant
>>> texts("SST2", data_folder())                      # sentences with labels: train, dev, test
>>> tagged("CoNLL03", data_folder())                  # sentences with a tag for each token: train, dev, test
>>> sentence_pairs("stsb", data_folder())             # pairs of sentences with scores
>>> queries("marco", data_folder())                   # texts to be found again
>>> find("Birkbeck", data_folder())                   # the files alone
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from lovevec.errors import LovevecError
from lovevec_lab.evaluate.data.sentences import (
    Queries,
    Tagged,
    TagSplit,
    Texts,
    TextSplit,
    queries,
    sentence_pairs,
    tagged,
    texts,
)
from lovevec_lab.evaluate.data.word_sets import Classes, Misspellings, Pairs, misspellings, similarity_set, word_classes
from lovevec_lab.evaluate.datasets import (
    SETS,
    DataSet,
    data_folder,
    digest_of,
    find,
    find_or_own,
    known_set,
    names_of,
)

__all__ = [
    "SETS",
    "Classes",
    "DataSet",
    "Misspellings",
    "Pairs",
    "Queries",
    "TagSplit",
    "Tagged",
    "TextSplit",
    "Texts",
    "data_folder",
    "digest_of",
    "find",
    "find_or_own",
    "known_set",
    "misspellings",
    "names_of",
    "queries",
    "read_several",
    "sentence_pairs",
    "similarity_set",
    "tagged",
    "texts",
    "word_classes",
]
Set = TypeVar("Set", Pairs, Classes, Misspellings, Pairs | Queries)


def read_several(read: Callable[[str, Path], Set], names: str | Sequence[str], data: Path) -> list[Set]:
    """Read each set once; own files that have the same name in different folders go by their paths."""
    if not isinstance(names, (str, os.PathLike, list, tuple)):
        raise LovevecError(f"sets are names or paths in a list, not {names!r:.60}")
    distinct = list(dict.fromkeys([str(names)] if isinstance(names, (str, os.PathLike)) else map(str, names)))
    sets = [read(name, data) for name in distinct]
    count = Counter(one.name for one in sets)
    return [one if count[one.name] == 1 else replace(one, name=name) for one, name in zip(sets, distinct, strict=True)]
