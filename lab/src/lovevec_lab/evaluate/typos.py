"""Real misspellings: is the right word near? A misspelling's vector among all vectors of the target, by cosine.

A misspelling counts when its right word is in the target and it is not itself there. It is recovered at k when the
right word's own target vector is among the k nearest. A zero vector recovers nothing, and its cosine is 0.

Misspellings of one word are alike, so that the intervals are of right words drawn anew, each with all its misspellings.

>>> typos(["default", table], sets=["birkbeck"], target=table).markdown()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError, Parameter
from lovevec.files.misspellings import read_misspellings
from lovevec.progress import Progress
from lovevec.train.score import ranks
from lovevec.vectors import ReadReport, VectorTable
from lovevec.vectors.rows import lower_case, normalized
from lovevec_lab.evaluate.comparison import Comparison, Folder, refuse_namesakes
from lovevec_lab.evaluate.datasets import data_folder, digest_of, find_or_own, read_several
from lovevec_lab.evaluate.results import HEADER, Cell, MethodScores, Result, markdown, method_cells
from lovevec_lab.evaluate.speed import words_per_second
from lovevec_lab.evaluate.statistics import RESAMPLES, bootstrap, interval
from lovevec_lab.methods.attached import in_space_of
from lovevec_lab.methods.method import Floats, Method, finite_embed
from lovevec_lab.methods.table import Table

SETS = ("birkbeck", "aspell", "holbrook")
QUICK_MISSPELLINGS, QUICK_RESAMPLES = 500, 100
MISSPELLINGS_PER_BATCH = 1024  # x 16,384 cosines are 64 MB
TEN = 10
COLUMNS = ("covered %", "top-1 %", "95 %", "top-10 %", "95 %", "cosine")


@dataclass(frozen=True)
class Misspellings:
    """`wrong[i]` is a misspelling of `right[i]`. `digest` names the file's content."""

    name: str
    right: list[str]
    wrong: list[str]
    digest: str = ""


def misspellings(name_or_path: str, data: Path | None = None) -> Misspellings:
    """Birkbeck, aspell, Holbrook, or an own file."""
    listed, (path,) = find_or_own(name_or_path, "misspellings", data)
    right, wrong = (list(side) for side in zip(*read_misspellings(path), strict=True))
    return Misspellings(listed.name if listed else path.stem, right, wrong, digest_of([path]))


@dataclass(frozen=True, eq=False)
class TypoTrial:
    """The misspellings of a set that count with a target: `wrong[i]` should lead to the row `rows[i]`."""

    name: str
    wrong: list[str]
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class Estimate:
    """A mean and from where to where 95 % of such means would lie."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class TypoRecovery:
    """How a method does on a set: `covered`, `top1`, `top10` in percent of its misspellings, the mean `cosine`."""

    name: str
    misspellings: int
    words: int
    covered: float
    top1: Estimate
    top10: Estimate
    cosine: Estimate


@dataclass(frozen=True)
class TypoScores(MethodScores):
    """A method's scores on all sets; `mapped` where it was brought here from another space."""

    sets: list[TypoRecovery]
    mapped: bool = False


def typos(
    methods: Any = (),
    sets: Sequence[str] | None = None,
    *,
    target: Any = None,
    language: str | Sequence[str] = "",
    rivals: str | Sequence[str] = "",
    device: str = "auto",
    seed: int = 0,
    quick: bool = False,
    data: Folder | None = None,
    keep: Folder | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score methods on lists of misspellings: names (Birkbeck, aspell and Holbrook by default) or own files.

    Right words are looked for among the vectors of `target`, by default the first method with a table; a method of
    another space is brought there by a map. Rivals that learn are kept in the folder `keep`. With `language` words
    alone are scored, without vectors (evaluate/languages.py).
    """
    if language:
        if methods or sets or target is not None:
            raise LovevecError(f"{Parameter('language')} needs words only: leave sets, methods and target out")
        from lovevec_lab.evaluate.languages import language_typos

        return language_typos(language, rivals=rivals, seed=seed, quick=quick, data=data, progress=progress)
    progress = progress or Progress(quiet=True)
    if not methods and not rivals:
        raise LovevecError(
            f"nothing to evaluate: name models or vector files with {Parameter('methods')}, or {Parameter('rivals')}"
        )
    comparison = Comparison(rivals, target, device, seed, quick, keep, progress)
    lists = read_several(misspellings, sets or SETS, data_folder(data))
    resamples = QUICK_RESAMPLES if quick else RESAMPLES
    named = comparison.open_methods(methods)
    table = lowercase_table(comparison.target_of(named))  # as the misspellings are
    made = comparison.make_rivals(table)
    refuse_namesakes([method.name for method in (*named, *made)])
    trials = [trial(one, table, QUICK_MISSPELLINGS if quick else None, seed) for one in lists]
    # those that were made here live in the target's space, however little they have learned
    pairs = [*((method, in_space_of(table, method)) for method in named), *((method, method) for method in made)]
    scores = []
    for method, here in pairs:
        with progress.phase(f"scoring {method.name}"):
            score = score_typos(here, table, trials, resamples, seed)
            speed = words_per_second(here, trials[0].wrong)
        scores.append(replace(score, words_per_second=speed, mapped=here is not method))
    described = {"name": table.name, "words": len(table.words), "dim": table.dim}
    settings = comparison.settings_of(methods, lists, resamples=resamples, target=described)
    return Result("typos", settings, [score.plain() for score in scores], typos_table(table.name, scores))


def lowercase_table(table: Table) -> Table:
    """The table with its words in lower case, as the misspellings are; where some are then the same, one of them."""
    words, keep = lower_case(table.words)
    if words == table.words:
        return table
    return Table(VectorTable(words, table.vectors[keep], ReadReport("memory", dim=table.dim)), table.name)


def trial(misspelled: Misspellings, table: Table, most: int | None = None, seed: int = 0) -> TypoTrial:
    """What counts of a set; `most` draws so many of these."""
    known = table.row
    pairs = [
        (w, known[r]) for r, w in zip(misspelled.right, misspelled.wrong, strict=True) if r in known and w not in known
    ]
    if not pairs:
        raise LovevecError(f"{misspelled.name}: no misspelling of a word of {table.name} is left to score")
    if most is not None and len(pairs) > most:
        drawn = np.sort(np.random.default_rng([seed, most]).permutation(len(pairs))[:most])
        pairs = [pairs[place] for place in drawn.tolist()]
    return TypoTrial(
        misspelled.name, [wrong for wrong, _ in pairs], np.array([row for _, row in pairs], dtype=np.int64)
    )


def score_typos(
    method: Method, table: Table, trials: Sequence[TypoTrial], resamples: int = RESAMPLES, seed: int = 0
) -> TypoScores:
    """Score one method whose vectors live in the table's space (see methods/attached.py)."""
    return TypoScores(method.name, method.parameters, [_score(method, table, each, resamples, seed) for each in trials])


def recovery(imputed: Floats, vectors: Floats, rows: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
    """For each imputed vector: the cosine to its own target vector, and how many others are nearer."""
    cosine, rank = np.zeros(len(imputed), dtype=np.float32), np.full(len(imputed), len(vectors), dtype=np.int64)
    for low in range(0, len(imputed), MISSPELLINGS_PER_BATCH):
        batch = slice(low, low + MISSPELLINGS_PER_BATCH)
        cosine[batch], rank[batch] = ranks(normalized(imputed[batch]), vectors, rows[batch])
    nothing = ~imputed.any(axis=1)
    cosine[nothing], rank[nothing] = 0, len(vectors)
    return cosine, rank


def _score(method: Method, table: Table, tried: TypoTrial, resamples: int, seed: int) -> TypoRecovery:
    cosine, rank = recovery(finite_embed(method, tried.wrong), table.vectors, tried.rows)
    values = np.stack([100.0 * (rank < 1), 100.0 * (rank < TEN), cosine], axis=1)
    words, owner = np.unique(tried.rows, return_inverse=True)
    sums, counts = np.zeros((len(words), values.shape[1])), np.bincount(owner)
    np.add.at(sums, owner, values)
    drawn = bootstrap(lambda times: (times @ sums) / (times @ counts)[:, None], len(words), resamples, seed)
    means = values.mean(axis=0).tolist()
    top1, top10, near = (Estimate(mean, *interval(scores)) for mean, scores in zip(means, drawn.T, strict=True))
    covered = 100 * float(method.covers(tried.wrong).mean())
    return TypoRecovery(tried.name, len(rank), len(words), covered, top1, top10, near)


def typos_table(target: str, scores: Sequence[TypoScores]) -> str:
    """A table for each set: how often the right word is near, and how near, for each method (rows)."""
    parts = []
    for place, one in enumerate(scores[0].sets):
        rows: list[list[Cell]] = [
            [
                *method_cells(
                    score.method + (" (mapped)" if score.mapped else ""), score.parameters, score.words_per_second
                ),
                *_cells(score.sets[place]),
            ]
            for score in scores
        ]
        parts.append(f"{one.name}: {one.misspellings:,} misspellings of {one.words:,} words of {target}\n")
        parts.append(markdown([*HEADER, *COLUMNS], rows))
    return "\n".join(parts)


def _cells(score: TypoRecovery) -> list[Cell]:
    shown: list[Cell] = [score.covered]
    for measured in (score.top1, score.top10):
        shown += [measured.mean, f"{measured.low:.1f}–{measured.high:.1f}"]
    return [*shown, f"{score.cosine.mean:.3f}"]
