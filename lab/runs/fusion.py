"""The rule by which an index scores texts (src/lovevec/search/fusion.py), learned on collections that no page shows.

    pip install --no-deps autofj cherche
    python lab/runs/fusion.py            # prints weights, and nDCG@10 of each collection by halves

| collection | queries | texts | relevant |
|---|---|---|---|
| names | autofj's sets A to L, right names | left names | the one that is the same |
| tags | cherche's semanlink: names of tags | titles and notes of documents | those that have the tag |
| titles | titles of semanlink's documents | titles and notes of the others | those with two tags in common or more |
| papers | titles of semanlink's papers of arXiv | abstracts | the one of the title |
| news | titles of news (nltk's abc, LOVEVEC_DATA) | first sentences, without titles | the one of the title |
| functions | first lines of docstrings of installed packages | what follows | the one of the line |

Each clean and with 30 % of the words mistyped.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from strings import DATA, mistyped, name_tables

from lovevec import LOVE
from lovevec.search import FEATURES
from lovevec.search.fusion import WEIGHTS

Judged = list[dict[int, float]]  # for each query the relevant texts, with gains


class Collection(NamedTuple):
    """Texts, queries, and which texts answer each."""

    name: str
    texts: list[str]
    queries: list[str]
    relevant: Judged


def names() -> list[Collection]:
    """autofj's sets A to L."""
    return [
        Collection(name, left, right, [{place: 1.0} for place in belongs])
        for name, (left, right, belongs) in name_tables().items()
        if name[0].upper() <= "L"
    ]


def _semanlink(name: str) -> object:
    folder = Path(find_spec("cherche").submodule_search_locations[0])
    return json.loads((folder / "data" / "semanlink" / f"{name}.json").read_text("utf-8"))


def _documents() -> list[tuple[str, str, set[str]]]:
    """Title, notes and tags of semanlink's documents that have notes or an abstract."""
    found = {}
    for one in [*_semanlink("arxiv"), *_semanlink("docs")]:
        title = re.sub(r"^\[\d+\.\d+\]\s*", "", one["title"] if isinstance(one["title"], str) else "")
        notes = " ".join(part for part in (one["arxiv_summary"], one["comment"]) if isinstance(part, str))
        notes = " ".join(re.sub(r"[>*#\[\]]|\(https?[^)]*\)", " ", notes).split())
        if title and len(notes.split()) >= 8:
            found.setdefault(title, (title, notes, set(one["tag"])))
    return list(found.values())


def tags() -> Collection:
    """Names of tags against documents."""
    documents, labels = _documents(), _semanlink("tags")
    having = defaultdict(list)
    for place, (_, _, own) in enumerate(documents):
        for tag in own:
            having[tag].append(place)
    chosen = [tag for tag in sorted(having) if 2 <= len(having[tag]) <= 40 and tag in labels]
    queries = [labels[tag]["prefLabel"][0] for tag in chosen]
    texts = [f"{title}. {notes}" for title, notes, _ in documents]
    return Collection("tags", texts, queries, [dict.fromkeys(having[tag], 1.0) for tag in chosen])


def titles() -> Collection:
    """Titles of documents against the other documents: relevant with two tags in common or more."""
    documents = _documents()
    texts = [f"{title}. {notes}" for title, notes, _ in documents]
    rng, queries, relevant = np.random.default_rng(0), [], []
    for place in rng.permutation(len(documents)).tolist():
        title, _, own = documents[place]
        gains = {
            other: float(len(own & documents[other][2]) - 1)
            for other in range(len(documents))
            if other != place and len(own & documents[other][2]) >= 2
        }
        if gains and len(title.split()) >= 5 and len(queries) < 400:
            queries.append(title)
            relevant.append(gains | {place: -1.0})
    return Collection("titles", texts, queries, relevant)


def papers() -> Collection:
    """Titles of papers against abstracts."""
    chosen = {}
    for one in _semanlink("arxiv"):
        if one["arxiv_title"] and one["arxiv_summary"]:
            chosen[" ".join(str(one["arxiv_title"]).split())] = " ".join(str(one["arxiv_summary"]).split())
    return Collection("papers", list(chosen.values()), list(chosen), [{place: 1.0} for place in range(len(chosen))])


def news() -> Collection:
    """Titles of news against what follows."""
    queries, texts = [], []
    parts = (DATA / "corpora" / "nltk_abc.txt").read_text("utf-8", "replace").split("\n\n")
    for part in parts:
        lines = [line.strip() for line in part.split("\n") if line.strip()]
        if len(lines) >= 3 and 4 <= len(lines[0].split()) <= 14 and not lines[0].endswith((".", "?", '"')):
            queries.append(lines[0])
            texts.append(" ".join(lines[1:]))
    chosen = np.sort(np.random.default_rng(0).permutation(len(queries))[:600]).tolist()
    return Collection("news", texts, [queries[place] for place in chosen], [{place: 1.0} for place in chosen])


def functions() -> Collection:
    """First lines of docstrings against the paragraphs that follow."""
    queries, texts, seen = [], [], set()
    for package in ("scipy", "sklearn", "pandas", "numpy", "matplotlib", "nltk", "torch", "networkx"):
        if (found := find_spec(package)) is None:
            continue
        for file in sorted(Path(found.submodule_search_locations[0]).rglob("*.py")):
            if "tests" in file.parts:
                continue
            for doc in re.findall(r'"""(.*?)"""', file.read_text("utf-8", "replace"), flags=re.DOTALL):
                parts = [" ".join(part.split()) for part in re.split(r"\n\s*\n", doc.strip())]
                if len(parts) < 2 or parts[0] in seen or not 5 <= len(parts[0].split()) <= 25:
                    continue
                prose = " ".join(
                    part
                    for part in parts[1:]
                    if not re.match(r"Parameters|Returns|>>>|\.\.|See Also|Examples|Notes|Refer", part)
                )
                if len(prose.split()) >= 40:
                    seen.add(parts[0])
                    queries.append(parts[0])
                    texts.append(" ".join(prose.split()[:200]))
    chosen = np.sort(np.random.default_rng(0).permutation(len(queries))[:600]).tolist()
    return Collection("functions", texts, [queries[place] for place in chosen], [{place: 1.0} for place in chosen])


def documents() -> list[Collection]:
    """All but the names."""
    return [tags(), titles(), papers(), news(), functions()]


Item = tuple[np.ndarray, np.ndarray, np.ndarray]  # features of candidates, their gains, the best gains that there are


def judged(love: LOVE, one: Collection, most: int) -> dict[str, list[Item]]:
    """The candidates of a collection's queries, clean and mistyped."""
    state, found = love.index(one.texts)._built, {}
    for kind, queries in (("clean", one.queries[:most]), ("mistyped", mistyped(one.queries[:most]))):
        found[kind] = []
        for query, gains in zip(state.queries(queries), one.relevant, strict=False):
            rows, features = state.signals.candidates(query)
            own = np.array([gains.get(row, 0.0) for row in rows.tolist()])
            ideal = np.sort([gain for gain in gains.values() if gain > 0])[::-1]
            keep = own >= 0  # the query's own text is none
            found[kind].append((features[keep].astype(np.float64), own[keep], ideal))
    return found


def ndcg(scores: np.ndarray, gains: np.ndarray, ideal: np.ndarray) -> float:
    """nDCG@10 of candidates by their scores."""
    discounts, best = 1 / np.log2(np.arange(2, 12)), gains[np.argsort(-scores, kind="stable")][:10]
    return float(best @ discounts[: len(best)]) / float(ideal[:10] @ discounts[: len(ideal[:10])])


def fitted(groups: dict[str, list[list[Item]]], penalty: float = 1e-3) -> np.ndarray:
    """Weights of features: softmax over the candidates of each query, all kinds of collections alike, names twice."""
    from scipy.optimize import minimize

    items = []
    for name, lists in groups.items():
        able = [item for own in lists for item in own if (item[1] > 0).any()]
        items += [(item, (2.0 if name == "names" else 1.0) / len(able)) for item in able]
    total = sum(weight for _, weight in items)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = penalty * float(weights @ weights), 2 * penalty * weights
        for (features, gains, _), weight in items:
            scores = features @ weights
            chances = np.exp(scores - scores.max())
            chances, wanted = chances / chances.sum(), gains / gains.sum()
            value -= weight / total * float(wanted @ np.log(np.maximum(chances, 1e-30)))
            slope = slope + weight / total * ((chances - wanted) @ features)
        return value, slope

    weights: np.ndarray = minimize(loss, np.zeros(len(FEATURES)), jac=True, method="L-BFGS-B").x
    return weights


def calibrated(groups: dict[str, list[list[Item]]], weights: np.ndarray) -> np.ndarray:
    """Factor and bias by which the sum for the best candidate is the logarithm of the odds that it is relevant."""
    from scipy.optimize import minimize

    best = [
        (name, scores.max(), item[1][scores.argmax()] > 0)
        for name, lists in groups.items()
        for own in lists
        for item in own
        if len(item[0]) and len(scores := item[0] @ weights)
    ]
    names = [name for name, *_ in best]
    shares = np.array([1 / names.count(name) for name in names])
    sums, signs = np.array([one[1] for one in best]), np.array([1.0 if one[2] else -1.0 for one in best])
    pair: np.ndarray = minimize(lambda p: shares @ np.logaddexp(0, -signs * (p[0] * sums + p[1])), [1.0, -5.0]).x
    return pair


def main() -> None:
    """Weights, calibration, and nDCG@10 of each kind of collection: learned on, left out, and as shipped."""
    love, groups = LOVE.load(), defaultdict(list)
    for one in documents():
        groups[one.name] += judged(love, one, 150).values()
    for one in names():
        groups["names"] += judged(love, one, 150).values()
    weights = fitted(groups)
    factor, bias = calibrated(groups, weights)
    print("weights", {name: round(float(one * factor), 2) for name, one in zip(FEATURES, weights, strict=True)})
    print("bias", round(float(bias), 2))
    shipped = np.array([WEIGHTS[name] for name in FEATURES])
    for name, lists in groups.items():
        without = fitted({other: own for other, own in groups.items() if other != name})
        for kind in (0, 1):
            own = [item for items in lists[kind::2] for item in items]
            rules = (weights, without, shipped)
            figures = [100 * np.mean([ndcg(item[0] @ w, *item[1:]) for item in own]) for w in rules]
            label = f"{name}, {('clean', 'mistyped')[kind]}"
            print(f"{label}: {figures[0]:.1f}, left out {figures[1]:.1f}, as shipped {figures[2]:.1f}")


if __name__ == "__main__":
    main()
