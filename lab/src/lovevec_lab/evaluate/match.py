"""Records of two tables that are the same thing: who finds the right one first, and who knows which are right.

Each right record has one left record that is right, or none. What is measured, each a mean over tables:

    first      the share of the right records that have one, whose best left record is the right one
    precision  of those that are kept when `asked` is asked for, the share that is right
    recall     those that are kept and right, of all that have one
    best recall  the recall at the threshold that keeps most where the precision is `asked` or more: what a method could
               have if somebody had labelled this very table
    calibration  the mean gap between probability and share right, over tenths of all pairs (pooled)

A rival has scores, not probabilities. Its threshold is chosen fairly: the one that has the precision asked for on other
tables (`choose_on`), all of them pooled.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.misspell import misspell
from lovevec.errors import FormatError, LovevecError, Parameter
from lovevec.love import LOVE
from lovevec.progress import Progress
from lovevec_lab.evaluate.comparison import as_list
from lovevec_lab.evaluate.results import Result, markdown, refuse_bad_folder
from lovevec_lab.evaluate.text_encoders import encoders_of
from lovevec_lab.methods.open_method import split_name

Floats = NDArray[np.float64]
MISTYPED_SHARE = 0.3  # of the words of four letters and more
BINS = 10


PARTS: dict[str, Callable[[str], bool]] = {
    "dev": lambda name: name[0].upper() <= "L",
    "test": lambda name: name[0].upper() > "L",
    "all": lambda name: True,
}
KINDS = "clean", "mistyped"
QUICK_TABLES = 4
COLUMNS = "first", "precision", "pooled precision", "recall", "best recall", "calibration"


class Task(NamedTuple):
    """Two tables of names, and which left one belongs to each right one; -1 for none."""

    left: list[str]
    right: list[str]
    truth: NDArray[np.int64]

    def mistyped(self, seed: int = 0) -> Task:
        """The same with misspelled words on the right."""
        return self._replace(right=mistyped(self.right, seed))


class Found(NamedTuple):
    """The best left record of each right one, -1 for none, and how sure that is: any score, higher is surer."""

    best: NDArray[np.int64]
    scores: Floats


Method = Callable[[Sequence[str], Sequence[str]], Found]


def autofj_tables() -> dict[str, Task]:
    """The 50 pairs of tables of names that PyPI's `autofj` has in it."""
    package = find_spec("autofj")
    if package is None or not package.submodule_search_locations:
        raise LovevecError("this needs the tables of autofj: pip install autofj")
    tables = {}
    for folder in sorted(Path(package.submodule_search_locations[0]).glob("benchmark/*/")):
        rows = {name: _rows(folder / f"{name}.csv") for name in ("left", "right", "gt")}
        names = rows["left"][0]
        column = "title" if "title" in names else [key for key in names if key != "id"][-1]
        place = {row["id"]: number for number, row in enumerate(rows["left"])}
        belongs = {row["id_r"]: place[row["id_l"]] for row in rows["gt"]}
        truth = np.array([belongs.get(row["id"], -1) for row in rows["right"]])
        left, right = ([row[column] for row in rows[side]] for side in ("left", "right"))
        tables[folder.name] = Task(left, right, truth)
    return tables


def table_from(left: Path, right: Path, column: str, truth: str) -> Task:
    """One's own pair of tables: CSV files with the names in `column`; in the right one the column `truth` has the name
    in the left one that is right, empty for none."""
    names = [row[column] for row in _checked(left, column)]
    place = {name: number for number, name in reversed(list(enumerate(names)))}
    rows = [row for row in _checked(right, column) if truth in row]
    for number, row in enumerate(rows, 2):
        if row[truth] and row[truth] not in place:
            raise FormatError(right, f"{row[truth]!r} is not in {left}", number)
    return Task(names, [row[column] for row in rows], np.array([place.get(row[truth], -1) for row in rows]))


def _rows(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _checked(path: Path, column: str) -> list[dict[str, str]]:
    try:
        rows = _rows(path)
    except OSError as error:
        raise LovevecError(f"{path}: cannot be read: {error.strerror or error}") from None
    if not rows or column not in rows[0]:
        raise FormatError(path, f"has no column {column!r}")
    return rows


def mistyped(texts: Sequence[str], seed: int = 0) -> list[str]:
    """The texts with misspelled words."""
    rng, result = np.random.default_rng(seed), []
    for text in texts:
        words = text.split()
        hit = [
            at for at, word in enumerate(words) if len(word) >= 4 and word.isalpha() and rng.random() < MISTYPED_SHARE
        ]
        for at, wrong in zip(hit, misspell([words[at] for at in hit], rng) if hit else [], strict=True):
            words[at] = wrong
        result.append(" ".join(words))
    return result


def by_lovevec(love: Any) -> Method:
    """`love.match`."""

    def method(left: Sequence[str], right: Sequence[str]) -> Found:
        found = Found(np.full(len(right), -1), np.zeros(len(right)))
        for one in love.match(list(left), list(right)):
            found.best[one.right], found.scores[one.right] = one.left, one.probability
        return found

    return method


def by_vectors(encoder_of: Callable[[Sequence[str]], Callable[[Sequence[str]], Any]]) -> Method:
    """The nearest by cosine; `encoder_of` may look at the left names."""

    def method(left: Sequence[str], right: Sequence[str]) -> Found:
        encode = encoder_of(left)
        known, asked = np.asarray(encode(list(left)), np.float32), np.asarray(encode(list(right)), np.float32)
        known /= np.maximum(np.linalg.norm(known, axis=1, keepdims=True), 1e-9)
        asked /= np.maximum(np.linalg.norm(asked, axis=1, keepdims=True), 1e-9)
        return _nearest(lambda part: asked[part] @ known.T, len(right))

    return method


def by_trigrams(left: Sequence[str], right: Sequence[str]) -> Found:
    """Trigrams within words, tf-idf, cosine (scikit-learn)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), sublinear_tf=True).fit(left)
    known, asked = vectorizer.transform(left), vectorizer.transform(right)
    return _nearest(lambda part: (asked[part] @ known.T).toarray(), len(right))


def by_rapidfuzz(scorer: str) -> Method:
    """The best by one of rapidfuzz' scorers: `WRatio`, `token_set_ratio` …"""

    def method(left: Sequence[str], right: Sequence[str]) -> Found:
        from rapidfuzz import fuzz, process, utils

        known, asked = ([utils.default_process(name) for name in names] for names in (left, right))
        return _nearest(lambda part: process.cdist(asked[part], known, scorer=getattr(fuzz, scorer)), len(right))

    return method


def _nearest(scores_of: Callable[[slice], Any], count: int) -> Found:
    best, scores = np.full(count, -1), np.zeros(count)
    for low in range(0, count, 256):
        part = slice(low, low + 256)
        rows = scores_of(part)
        best[part] = rows.argmax(axis=1)
        scores[part] = rows.max(axis=1)
    return Found(best, scores)


def first(task: Task, found: Found) -> float:
    """The share of the right records that have a left one, whose best is that."""
    asked = task.truth >= 0
    return float((found.best[asked] == task.truth[asked]).mean())


def kept_by_probability(found: Found, asked: float) -> NDArray[np.bool_]:
    """What is kept of probabilities: as many as keep the mean at `asked`."""
    from lovevec.search.judge import surest

    return surest(found.scores, asked) & (found.best >= 0)


def threshold_on(tasks: Sequence[tuple[Task, Found]], asked: float) -> float:
    """The lowest score above which so large a share is right, over all tables."""
    scores = np.concatenate([found.scores for _, found in tasks])
    right = np.concatenate([(found.best == task.truth) & (found.best >= 0) for task, found in tasks])
    order = np.argsort(-scores, kind="stable")
    share = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(share >= asked)
    return float(scores[order][enough[-1]]) if len(enough) else float("inf")


def precision_and_recall(task: Task, found: Found, kept: NDArray[np.bool_]) -> tuple[float, float]:
    """Precision of what is kept, NaN where nothing is, and recall."""
    right = (found.best == task.truth) & kept & (found.best >= 0)
    precision = float(right.sum() / kept.sum()) if kept.any() else float("nan")
    return precision, float(right.sum() / max((task.truth >= 0).sum(), 1))


def calibration_error(tasks: Sequence[tuple[Task, Found]]) -> float:
    """The mean gap between probability and share right, over tenths, weighted by how many are in each."""
    scores = np.concatenate([found.scores for _, found in tasks])
    right = np.concatenate([(found.best == task.truth) & (found.best >= 0) for task, found in tasks])
    bins = np.minimum((scores * BINS).astype(int), BINS - 1)
    gaps = [
        abs(scores[bins == one].mean() - right[bins == one].mean()) * (bins == one).sum() for one in set(bins.tolist())
    ]
    return float(sum(gaps) / len(scores))


def report(
    method: Method,
    tasks: Mapping[str, Task],
    asked: float = 0.95,
    choose_on: Mapping[str, Task] | None = None,
) -> dict[str, float]:
    """All measures of a method over tables; with `choose_on` its scores are no probabilities."""
    done = [(task, method(task.left, task.right)) for task in tasks.values()]
    if choose_on is None:
        kept = [kept_by_probability(found, asked) for _, found in done]
    else:
        least = threshold_on([(task, method(task.left, task.right)) for task in choose_on.values()], asked)
        kept = [found.scores >= least for _, found in done]
    rates = np.array([precision_and_recall(*one, own) for one, own in zip(done, kept, strict=True)])
    best = [precision_and_recall(*one, one[1].scores >= threshold_on([one], asked))[1] for one in done]
    pooled = sum(float(((found.best == task.truth) & own).sum()) for (task, found), own in zip(done, kept, strict=True))
    result = {
        "first": float(np.mean([first(*one) for one in done])),
        "precision": float(np.nanmean(rates[:, 0])),
        "pooled precision": pooled / max(sum(int(own.sum()) for own in kept), 1),
        "recall": float(rates[:, 1].mean()),
        "best recall": float(np.mean(best)),
    }
    if choose_on is None:
        result["calibration"] = calibration_error(done)
    return {name: round(100 * value, 1) for name, value in result.items()}


def rivals_of(names: str | Sequence[str], love: LOVE) -> dict[str, Method]:
    """Rivals by name; `all` for those that need nothing but what the lab has."""
    known: dict[str, Method] = {
        "trigrams": by_trigrams,
        "rapidfuzz-wratio": by_rapidfuzz("WRatio"),
        "rapidfuzz-token-sort": by_rapidfuzz("token_sort_ratio"),
        "encode": by_vectors(lambda _: love.encode),
        "encode-fitted": by_vectors(lambda left: love.with_words(left).fitted(left).encode),
        "autofj": by_autofj,
    }
    listed = [name for name in (names.split(",") if isinstance(names, str) else names) if name]
    listed = [name for name in known if name != "autofj"] if listed == ["all"] else listed
    if (unknown := next((name for name in listed if name not in known), None)) is not None:
        raise LovevecError(f"{Parameter('rivals', unknown)}: there are {', '.join(known)}, and all")
    return {name: known[name] for name in listed}


def by_autofj(left: Sequence[str], right: Sequence[str]) -> Found:
    """AutoFJ itself (pip install autofj; needs its dependencies): the joins that it makes at precision 0.9."""
    import pandas
    from autofj import AutoFJ

    tables = [pandas.DataFrame({"id": range(len(names)), "title": list(names)}) for names in (left, right)]
    joined = AutoFJ(precision_target=0.9, n_jobs=1).join(*tables, id_column="id")
    found = Found(np.full(len(right), -1), np.zeros(len(right)))
    for own, other in zip(joined["id_l"], joined["id_r"], strict=True):
        found.best[other], found.scores[other] = own, 1.0
    return found


def match(
    models: Any = (),
    *,
    part: str = "test",
    beside: Sequence[str] | None = None,
    rivals: str | Sequence[str] = "",
    tables: Sequence[str] | None = None,
    asked: float = 0.95,
    seed: int = 0,
    quick: bool = False,
    data: str | os.PathLike[str] | None = None,
    keep: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score `love.match` of models (names, folders, LOVEs; by default the shipped one) on autofj's tables, clean and
    mistyped, or on `tables` of one's own: left file, right file, the column of the names, the column of the right file
    that has the right left name.

    `beside` are encoders of texts by name (text_encoders.py), which find by cosine; `rivals` are names of `rivals_of`.
    `part` is dev (sets A to L, on which everything was chosen), test (M to Z) or all. `data` is not read: the tables
    come with the package autofj.
    """
    if keep is not None:
        refuse_bad_folder(keep)
    if part not in PARTS:
        raise LovevecError(f"{Parameter('part', part)}: there are {', '.join(PARTS)}")
    if not 0 < asked <= 1:
        raise LovevecError(f"{Parameter('asked')} is {asked!r}: must be a number above 0, at most 1")
    progress = progress or Progress(quiet=True)
    named = [("LOVE", LOVE.load())] if not as_list(models) else []
    for source in as_list(models):
        if isinstance(source, LOVE):
            named.append(("LOVE", source))
            continue
        own, path = split_name(os.fspath(source))
        named.append((own or Path(path).name, LOVE.load(path)))
    own_tables = None if tables is None else {"own": table_from(Path(tables[0]), Path(tables[1]), *tables[2:])}
    every = own_tables or autofj_tables()
    chosen = [name for name in every if own_tables or PARTS[part](name)][: QUICK_TABLES if quick else None]
    dev = [name for name in every if own_tables or PARTS["dev"](name)][: QUICK_TABLES if quick else None]
    others = rivals_of(rivals, named[0][1])
    for encoder in encoders_of(beside or []) if beside else []:
        others[encoder.name] = by_vectors(partial(_always, encoder.encode))
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for kind in KINDS:
        of = {
            name: every[name] if kind == "clean" else every[name].mistyped(seed)
            for name in dict.fromkeys([*chosen, *dev])
        }
        scores[kind] = {}
        for name, love in named:
            with progress.phase(f"{kind}: {name}"):
                scores[kind][name] = report(by_lovevec(love), {one: of[one] for one in chosen}, asked)
        for name, method in others.items():
            with progress.phase(f"{kind}: {name}"):
                scores[kind][name] = report(
                    method, {one: of[one] for one in chosen}, asked, {one: of[one] for one in dev}
                )
    settings = {
        "part": part,
        "asked": asked,
        "tables": len(chosen),
        "rivals": list(others),
        "seed": seed,
        "quick": quick,
    }
    return Result("match", settings, scores, match_table(scores, asked))


def _always(encode: Callable[[Sequence[str]], Any], left: Sequence[str]) -> Callable[[Sequence[str]], Any]:
    return encode


def match_table(scores: Mapping[str, Mapping[str, Mapping[str, float]]], asked: float) -> str:
    """A table for clean and one for mistyped names."""
    header = (
        "method",
        *(f"{name} at {100 * asked:g} %" if "precision" in name or name == "recall" else name for name in COLUMNS),
    )
    parts = []
    for kind, methods in scores.items():
        rows = [[name, *(one.get(column) for column in COLUMNS)] for name, one in methods.items()]
        parts.append(f"## {kind}\n\n{markdown(header, rows)}")
    return "\n".join(parts)
