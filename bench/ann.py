"""Approximate indexes of three libraries over rows like word vectors: build time, memory, recall@10, queries a second.

    python bench/ann.py --rows 100000 1000000 --json ann.json

Each runs in a process of its own, on all cores, over the same seeded rows [rows, 300] (bunches of bunches, as words
are; normalised) and the same 1,000 queries, rows that were held out. Memory is what the process holds when the index is
built, less what it held before. Recall is beside exact search. The exact row is `lovevec.engine.nearest`, 100 queries.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

DIM, QUERIES, K = 300, 1000, 10
Search = Callable[[np.ndarray], np.ndarray]


def make_rows(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit rows [count, DIM] and queries [QUERIES, DIM] of the same kind."""
    rng = np.random.default_rng(18)
    topics = rng.normal(size=(200, DIM)).astype(np.float32)
    groups = topics[rng.integers(0, 200, 20_000)] + 0.9 * rng.normal(size=(20_000, DIM)).astype(np.float32)
    rows = np.empty((count + QUERIES, DIM), dtype=np.float32)
    for low in range(0, len(rows), 50_000):
        part = rows[low : low + 50_000]
        part[:] = groups[rng.integers(0, len(groups), len(part))] + rng.normal(size=part.shape).astype(np.float32)
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return rows[:count], rows[count:]


def memory_bytes() -> int:
    """Bytes of memory of this process (Linux)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def exact(rows: np.ndarray) -> Search:
    """What lovevec does below 200,000 rows."""
    from lovevec.engine.nearest import nearest

    return lambda queries: np.array([[row for row, _ in near] for near in nearest(queries, rows, K)])


def hnswlib(rows: np.ndarray) -> Search:
    """A graph, float32."""
    import hnswlib as library

    index = library.Index("ip", DIM)
    index.init_index(len(rows), M=16, ef_construction=100)
    index.add_items(rows)
    index.set_ef(50)
    return lambda queries: index.knn_query(queries, K)[0].astype(np.int64)


def usearch(rows: np.ndarray) -> Search:
    """A graph, float16."""
    from usearch.index import Index

    index = Index(ndim=DIM, metric="ip", dtype="f16", connectivity=16, expansion_add=100, expansion_search=50)
    index.add(np.arange(len(rows)), rows)
    return lambda queries: index.search(queries, K).keys.astype(np.int64)


def faiss_graph(rows: np.ndarray) -> Search:
    """faiss' graph, 8 bits a number."""
    import faiss

    index = faiss.IndexHNSWSQ(DIM, faiss.ScalarQuantizer.QT_8bit, 16, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = 100, 50
    index.train(rows[:100_000])
    index.add(rows)
    return lambda queries: index.search(queries, K)[1]


def faiss_clusters(rows: np.ndarray) -> Search:
    """faiss' clusters, 8 bits a number, candidates compared exactly: as lovevec has them (engine/approximate.py)."""
    from lovevec.engine.nearest import NeighborIndex

    index = NeighborIndex(range(len(rows)), rows)
    index.neighbors(rows[:1], K, len, approximate=True)
    return lambda queries: np.array(
        [[row for row, _ in near] for near in index.neighbors(queries, K, len, approximate=True)]
    )


LIBRARIES = {each.__name__: each for each in (exact, hnswlib, usearch, faiss_graph, faiss_clusters)}


def one(name: str, count: int) -> dict[str, Any]:
    """Build and search in this process."""
    rows, queries = make_rows(count)
    before = memory_bytes()
    start = time.perf_counter()
    search = LIBRARIES[name](rows)
    built = time.perf_counter() - start
    memory = memory_bytes() - before
    asked = queries[:100] if name == "exact" else queries
    search(asked[:1])
    start = time.perf_counter()
    found = search(asked)
    seconds = time.perf_counter() - start
    right = np.argpartition(-(queries[:200] @ rows.T), K, axis=1)[:, :K]
    hits = [len(set(one) & set(other)) for one, other in zip(found[:200].tolist(), right.tolist(), strict=False)]
    return {
        "library": name,
        "rows": count,
        "build_s": round(built, 2),
        "memory_mb": round(memory / 2**20),
        "recall_at_10": round(float(np.mean(hits)) / K, 4),
        "queries_per_s": round(len(asked) / seconds, 1),
    }


def main() -> None:
    """A line a library and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000])
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--json", help="also write the results here")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one, options.rows[0])))
        return
    results = []
    print("| library | rows | build, s | memory, MB | recall@10 | queries/s |\n|---|---|---|---|---|---|")
    for count in options.rows:
        for name in options.libraries:
            command = [sys.executable, __file__, "--one", name, "--rows", str(count)]
            done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
            if done.returncode:
                print(f"| {name} | {count:,} | failed: {done.stderr.strip().splitlines()[-1]} |")
                continue
            result = json.loads(done.stdout.splitlines()[-1])
            results.append(result)
            values = (result[key] for key in ("build_s", "memory_mb", "recall_at_10", "queries_per_s"))
            print(f"| {name} | {count:,} | " + " | ".join(map(str, values)) + " |", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"dim": DIM, "queries": QUERIES, "cores": os.cpu_count(), "results": results}, file, indent=2)


if __name__ == "__main__":
    main()
