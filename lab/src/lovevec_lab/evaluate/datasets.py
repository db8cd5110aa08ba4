"""The paper's datasets and those of whole texts: what their files are called, where they come from, their licences.

None of them ships with the package. A folder of them is named by the parameter `data` or $LOVEVEC_DATA (docs/data.md).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, TypeVar

from lovevec.errors import LovevecError, Parameter
from lovevec.files.lines import read_bytes

Dataset = TypeVar("Dataset", bound=Any)  # what a task reads: it has a name
Kind = Literal["similarity", "clusters", "texts", "tagged", "misspellings", "sts", "queries", "new words", "corrupted"]
VARIABLE = "LOVEVEC_DATA"
OWN_TERMS = "its authors' own terms"
STS_SOURCE = "Cer et al. 2017, STS Benchmark, English, as CSV; ixa2.si.ehu.eus/stswiki"
CORRUPT, CORRECT = ".corrupt.txt", ".correct.txt"
CORRUPTED_SOURCE = "ad-freiburg/text-correction-benchmarks, dev, realistic misspellings"
STS_LICENCE = "CC BY-SA 4.0, and the terms of the STS tasks' own sources"


def digest_of(paths: Sequence[Path]) -> str:
    """A short name for the content of files, so that results are kept for that content and no other."""
    digest = blake2b(digest_size=8)
    for path in paths:
        digest.update(blake2b(read_bytes(path)).digest())
    return digest.hexdigest()


@dataclass(frozen=True)
class DataSet:
    """`files` are relative to the data folder; `columns` say where word, word and score stand (similarity only)."""

    name: str
    kind: Kind
    files: tuple[str, ...]
    source: str
    licence: str
    columns: tuple[int, int, int] = (0, 1, 2)
    encoding: str = "utf-8"


def _similarity(name: str, file: str, columns: tuple[int, int, int], source: str) -> DataSet:
    return DataSet(name, "similarity", (f"similarity/{file}",), source, OWN_TERMS, columns)


_LISTED = (
    _similarity(
        "RareWord", "rw.txt", (0, 1, 2), "Luong et al. 2013, Stanford Rare Word; nlp.stanford.edu/~lmthang/morphoNLM"
    ),
    _similarity(
        "SimLex", "simLex.txt", (1, 2, 3), "Hill et al. 2015, SimLex-999, as in the repository tigerchen52/LOVE"
    ),
    _similarity("MTurk", "mturk_771.txt", (1, 2, 3), "Halawi et al. 2012, MTurk-771"),
    _similarity("MEN", "men.txt", (0, 1, 2), "Bruni et al. 2014, MEN Test Collection; staff.fnwi.uva.nl/e.bruni/MEN"),
    _similarity("WordSim", "rel353.txt", (1, 2, 3), "Agirre et al. 2009, WordSim-353 relatedness; alfonseca.org"),
    _similarity("SimVerb", "simverb_3500.txt", (2, 3, 1), "Gerz et al. 2016, SimVerb-3500"),
    DataSet("AP", "clusters", ("clustering/ap.tsv",), "Almuhareb 2006, Almuhareb-Poesio nouns", "not stated"),
    DataSet("BLESS", "clusters", ("clustering/bless.tsv",), "Baroni and Lenci 2011, BLESS concepts", "not stated"),
    DataSet(
        "SST2",
        "texts",
        ("sst2/train.tsv", "sst2/dev.tsv", "sst2/test.tsv"),
        "Socher et al. 2013, Stanford Sentiment Treebank, sentences, two classes; nlp.stanford.edu/sentiment",
        OWN_TERMS,
    ),
    DataSet(
        "MR",
        "texts",
        ("mr/rt-polarity.neg", "mr/rt-polarity.pos"),
        "Pang and Lee 2005, sentence polarity dataset v1.0; www.cs.cornell.edu/people/pabo/movie-review-data",
        "research use",
        encoding="latin-1",
    ),
    DataSet(
        "CoNLL03",
        "tagged",
        ("conll03/train.txt", "conll03/valid.txt", "conll03/test.txt"),
        "Tjong Kim Sang and De Meulder 2003, CoNLL-2003 shared task, English; www.clips.uantwerpen.be/conll2003/ner",
        "Reuters text under agreement with NIST, never redistribute",
    ),
    DataSet(
        "BC2GM",
        "tagged",
        ("bc2gm/train.tsv", "bc2gm/devel.tsv", "bc2gm/test.tsv"),
        "Smith et al. 2008, BioCreative II gene mentions",
        "CC-BY 4.0",
    ),
    DataSet(
        "Birkbeck",
        "misspellings",
        ("misspellings/missp.dat",),
        "Mitton 1985, Birkbeck spelling error corpus; Birkbeck, University of London",
        "not stated",
    ),
    DataSet("aspell", "misspellings", ("misspellings/aspell.dat",), "Atkinson, test data of GNU Aspell", "not stated"),
    DataSet(
        "Holbrook",
        "misspellings",
        ("misspellings/holbrook-missp.dat",),
        "Mitton, from Holbrook 1964; Birkbeck, University of London",
        "not stated",
    ),
    DataSet("stsb", "sts", ("sentences/stsb-en-dev.csv",), STS_SOURCE, STS_LICENCE),
    DataSet("stsb-train", "sts", ("sentences/stsb-en-train.csv",), STS_SOURCE, STS_LICENCE),
    DataSet(
        "marco",
        "queries",
        ("sentences/marco-queries.tsv", "sentences/marco-queries.typo.tsv"),
        "Bajaj et al. 2016, MS MARCO, dev queries; with typos: Zhuang and Zuccon 2022, ielab/CharacterBERT-DR",
        "research use; with typos Apache-2.0",
    ),
    DataSet(
        "Chimeras",
        "new words",
        tuple(f"new-words/chimeras.l{count}.train.txt" for count in (2, 4, 6)),
        "Lazaridou et al. 2017, Chimeras, training halves, as in NLPrinceton/ALaCarte",
        OWN_TERMS,
    ),
    DataSet(
        "Definitions",
        "new words",
        ("new-words/definitions.train.txt",),
        "Herbelot and Baroni 2017, definitions from Wikipedia, training half, as in NLPrinceton/ALaCarte",
        OWN_TERMS,
    ),
    *(
        DataSet(
            name,
            "corrupted",
            (f"context/{name}{CORRUPT}", f"context/{name}{CORRECT}"),
            CORRUPTED_SOURCE,
            "Apache-2.0",
        )
        for name in ("wikidump", "bookcorpus")
    ),
)
SETS = {listed.name.lower(): listed for listed in _LISTED}


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Where the paper's sets are: the folder named, else $LOVEVEC_DATA, else ./data."""
    return Path(folder or os.environ.get(VARIABLE) or "data")


def names_of(kind: Kind) -> list[str]:
    """The names of the paper's sets of a kind, in the paper's order."""
    return [listed.name for listed in _LISTED if listed.kind == kind]


def known_set(name: str, kind: Kind | None = None) -> DataSet | None:
    """The paper's set of that name, upper or lower case alike; None for any other name."""
    listed = SETS.get(name.lower())
    return listed if listed and kind in (None, listed.kind) else None


def find(name: str, data: Path | None = None) -> list[Path]:
    """The files of one of the paper's sets; an error says which is missing and where to get it."""
    listed = known_set(name)
    if listed is None:
        raise LovevecError(f"{name}: no such set; there are {', '.join(known.name for known in _LISTED)}")
    files = [(data or data_folder()) / file for file in listed.files]
    for file in files:
        if not file.is_file():
            raise LovevecError(
                f"{listed.name}: {file} is not there; the set comes from {listed.source} (licence: {listed.licence}); "
                f"put its files there, or name the folder of the sets with {Parameter('data')} or ${VARIABLE}"
            )
    return files


def find_or_own(name: str, kind: Kind, data: Path | None = None) -> tuple[DataSet | None, list[Path]]:
    """One of the paper's sets of that kind with its files, or the user's own file or folder."""
    if listed := known_set(name, kind):
        return listed, find(name, data)
    path = Path(name)
    try:
        if path.exists():
            return None, [path]
    except OSError:  # a name that is too long to be a file
        pass
    raise LovevecError(f"{name:.200}: no such file, nor one of the sets {', '.join(names_of(kind))}")


def read_several(read: Callable[[str, Path], Dataset], names: str | Sequence[str], data: Path) -> list[Dataset]:
    """Read each set once; own files that have the same name in different folders go by their paths."""
    if not isinstance(names, (str, os.PathLike, list, tuple)):
        raise LovevecError(f"sets are names or paths in a list, not {names!r:.60}")
    distinct = list(dict.fromkeys([str(names)] if isinstance(names, (str, os.PathLike)) else map(str, names)))
    sets = [read(name, data) for name in distinct]
    count = Counter(one.name for one in sets)
    return [one if count[one.name] == 1 else replace(one, name=name) for one, name in zip(sets, distinct, strict=True)]
