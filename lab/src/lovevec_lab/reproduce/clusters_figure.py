"""Figure "PCA visualizations of word vectors": fifteen words of three topics and three misspellings, as LOVE, BoS and
KVQ-FH see them; colours are the clusters that K-means finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lovevec.vectors.rows import normalized
from lovevec_lab.evaluate.clusters import kmeans
from lovevec_lab.evaluate.results import Pictures, markdown
from lovevec_lab.figures.clusters import match_clusters
from lovevec_lab.reproduce.bench import Bench
from lovevec_lab.reproduce.pages import page_of

METHODS = ("LOVE", "BoS", "KVQ-FH")
# Five words of each topic from AP, and the paper's three misspellings.
TOPICS = {
    "chemical substances": ("oxygen", "hydrogen", "nitrogen", "helium", "potassium"),
    "illnesses": ("leukemia", "diabetes", "hepatitis", "cholera", "arthritis"),
    "occupations": ("architect", "painter", "musician", "designer", "photographer"),
}
DAMAGED = {"oxgen": "chemical substances", "leukamia": "illnesses", "archiitect": "occupations"}
MEANT = {"oxgen": "oxygen", "leukamia": "leukemia", "archiitect": "architect"}


def measure(bench: Bench) -> dict[str, Any]:
    """Vectors and clusters of the eighteen words."""
    words = [word for listed in TOPICS.values() for word in listed] + list(DAMAGED)
    methods: dict[str, Any] = {}
    for name in bench.select(METHODS, "methods"):
        vectors = normalized(bench.method(name).embed(words).astype(np.float64))
        clusters = kmeans(vectors, len(TOPICS), [bench.seed, 7])
        methods[name] = {
            "vectors": {word: np.round(row, 5).tolist() for word, row in zip(words, vectors, strict=True)},
            "clusters": {word: int(cluster) for word, cluster in zip(words, clusters, strict=True)},
        }
    return {"target": bench.describe_target(), "methods": methods}


def page(scores: Mapping[str, Any]) -> str:
    """Which misspellings fall into their topic's cluster: what the picture marks too."""
    rows = []
    for name, entry in scores["methods"].items():
        topics = match_clusters(entry["clusters"], TOPICS)
        right = [topics.get(entry["clusters"][wrong]) == DAMAGED[wrong] for wrong in MEANT]
        near = [float(np.dot(entry["vectors"][wrong], entry["vectors"][meant])) for wrong, meant in MEANT.items()]
        rows.append([name, *(f"{'yes' if ok else 'no'}, {x:.2f}" for ok, x in zip(right, near, strict=True))])
    question = (
        "Is a misspelling in its topic's cluster, the one that K-means made of most of its words; and its cosine to the"
        " vector of the word that was meant, by the model."
    )
    return page_of("Clusters", scores, question, markdown(("model", *MEANT), rows), "![clusters](clusters-figure.png)")


def pictures(scores: Mapping[str, Any]) -> Pictures:
    """A panel for each model."""
    from lovevec_lab.figures.clusters import clusters_of

    vectors = {
        name: {word: np.array(row, dtype=np.float32) for word, row in entry["vectors"].items()}
        for name, entry in scores["methods"].items()
    }
    clusters = {name: entry["clusters"] for name, entry in scores["methods"].items()}

    def draw(path: Any) -> None:
        clusters_of(path, vectors, TOPICS, DAMAGED, clusters)

    return {"clusters-figure.png": draw, "clusters-figure.svg": draw}
