"""How quickly is a collection indexed and searched? love.index beside bm25s (words, and trigrams), tantivy, rapidfuzz.

    python bench/search.py [--texts 20000,1000000] [--queries 100] [-o docs/results]

Texts are eight words each, by Zipf's law, with a made-up name and a number; queries are some of them, mistyped. Each
way has a process of its own, one after the other. With -o, data/search-speed.json is written there, of which
lab/runs/pages.py makes the table of search.md. Rivals that are not installed, or that a million texts are too many for,
are left out.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from lovevec import LOVE
from lovevec.damage.noise import Noise, damaged_texts
from lovevec.engine.threads import usable_cores
from lovevec.files import write_json
from lovevec.search import Index, signals

SYLLABLES = ("ka", "ve", "lo", "ri", "zen", "tor", "mi", "da", "xo", "bri", "qua", "nex", "fi", "sol", "tra", "vi")
MANY = 100_000  # texts: beyond, lists of their trigrams do not fit into memory
Search = Callable[[str], object]
SearchList = Callable[[Sequence[str]], object]


def made_texts(love: LOVE, count: int, seed: int = 0) -> list[str]:
    """Texts of known words, each with a name that one in five texts has alone, and a number."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(10, len(love.words) + 10)
    draws = rng.choice(len(love.words), (count, 6), p=share / share.sum())
    names = ["".join(rng.choice(SYLLABLES, rng.integers(2, 5))) for _ in range(max(count // 5, 1))]
    words, numbers = love.words, rng.integers(0, 3000, count).tolist()
    return [
        f"{' '.join(words[row] for row in text)} {names[place % len(names)]} {numbers[place]}"
        for place, text in enumerate(draws.tolist())
    ]


def words_of(text: str) -> list[str]:
    """In lower case."""
    return re.findall(r"\w+", text.lower())


def trigrams_of(text: str) -> list[str]:
    """Of "Lima": " li", "lim", "ima", "ma "."""
    return [f" {word} "[at : at + 3] for word in words_of(text) for at in range(len(word))]


def by_index(love: LOVE, texts: list[str]) -> tuple[Search, SearchList]:
    """love.index, all of it built."""
    index = love.index(texts)
    index.search([texts[0], "unheardof"])
    return index.search, index.search


def by_bm25s(parts: Callable[[str], list[str]], texts: list[str]) -> tuple[Search, SearchList]:
    """BM25 over what `parts` makes of a text."""
    import bm25s

    index = bm25s.BM25(backend="numpy")
    index.index([parts(text) for text in texts], show_progress=False)

    def search(queries: Sequence[str]) -> object:
        return index.retrieve([parts(query) for query in queries], k=10, show_progress=False)

    return lambda query: search([query]), search


def by_tantivy(texts: list[str]) -> tuple[Search, SearchList]:
    """BM25 over words, in Rust."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=False)
    builder.add_integer_field("row", stored=True)
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for row, text in enumerate(texts):
        writer.add_document(tantivy.Document(text=text, row=row))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(query: str) -> object:
        hits = searcher.search(index.parse_query(" ".join(words_of(query)), ["text"]), 10).hits
        return [searcher.doc(place)["row"] for _, place in hits]

    return search, lambda queries: [search(query) for query in queries]


def by_rapidfuzz(texts: list[str]) -> tuple[Search, SearchList]:
    """The ratio of edits, of all texts."""
    from rapidfuzz import fuzz, process

    def search(query: str) -> object:
        return process.extract(query, texts, scorer=fuzz.ratio, limit=10)

    return search, lambda queries: [search(query) for query in queries]


WAYS: dict[str, Callable[[LOVE, list[str]], tuple[Search, SearchList]]] = {
    "bm25s, words": lambda love, texts: by_bm25s(words_of, texts),
    "bm25s, trigrams": lambda love, texts: by_bm25s(trigrams_of, texts),
    "tantivy": lambda love, texts: by_tantivy(texts),
    "rapidfuzz": lambda love, texts: by_rapidfuzz(texts),
    "love.index": by_index,
}


def measured(name: str, count: int, many: int) -> dict[str, Any]:
    """One way over so many texts: seconds and memory to index, milliseconds of a query alone and in a list."""
    love = LOVE.load()
    texts = made_texts(love, count)
    queries = damaged_texts(texts[:many], Noise("typo", 0.3), 0)
    if name == "rapidfuzz":
        queries = queries[: max(3, min(many, 2_000_000 // count))]
    love.embed(["unheardof"])
    wall, cpu = time.perf_counter(), time.process_time()
    search, search_list = WAYS[name](love, texts)
    row: dict[str, Any] = {"way": name, "texts": count, "queries": len(queries)}
    row |= {"index_s": time.perf_counter() - wall, "index_cpu_s": time.process_time() - cpu}
    row["memory_gb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9  # of the process, with the texts
    walls, cpus = [], []
    for query in queries:
        wall, cpu = time.perf_counter(), time.process_time()
        search(query)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    row |= {"query_ms": 1000 * statistics.median(walls), "query_cpu_ms": 1000 * statistics.median(cpus)}
    wall, cpu = time.perf_counter(), time.process_time()
    search_list(queries)
    row["list_ms"] = 1000 * (time.perf_counter() - wall) / len(queries)
    row["list_cpu_ms"] = 1000 * (time.process_time() - cpu) / len(queries)
    if name == "love.index":
        parts = [" ".join(text.split()[1:4]) for text in texts[many : 2 * many]]
        row |= compared(search.__self__, [*queries, *parts])  # type: ignore[attr-defined]
    return row


def compared(index: Index, queries: list[str]) -> dict[str, int]:
    """How many queries have the same first text, and the same ten, as where every vector is compared."""
    found = index.candidates(queries, 10)[0]
    signals.NEAR_BY_SIGNS = len(index)
    wanted = index.candidates(queries, 10)[0]
    same = found == wanted
    return {"compared": len(queries), "same_first": int(same[:, 0].sum()), "same_ten": int(same.all(axis=1).sum())}


def main() -> None:
    """Measure all ways, each in a process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", default="20000,1000000")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("-o", "--output", type=Path, help="folder of results")
    parser.add_argument("--way", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(measured(options.way, int(options.texts), options.queries)))
        return
    found: list[dict[str, Any]] = []
    for count in map(int, options.texts.split(",")):
        for name in WAYS:
            module = name.partition(",")[0].replace("love.index", "lovevec")
            if find_spec(module) is None or (name == "bm25s, trigrams" and count > MANY):
                continue
            of = ["--way", name, "--texts", str(count), "--queries", str(options.queries)]
            run = subprocess.run([sys.executable, __file__, *of], check=True, capture_output=True, text=True)
            found.append(json.loads(run.stdout.splitlines()[-1]))
            print(json.dumps(found[-1]), flush=True)
    if options.output is not None:
        packages = [name for name in ("lovevec", "numpy", "bm25s", "tantivy", "rapidfuzz") if find_spec(name)]
        kept = {
            "cores": usable_cores(),
            "machine": platform.machine(),
            "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
            "rows": found,
        }
        write_json(options.output / "data" / "search-speed.json", kept)


if __name__ == "__main__":
    main()
