"""Search: is what answers a query found first, and when words are mistyped? `love.index` beside what is usually taken.

    index           love.index(texts) of the shipped default; index=NAME of another model
    bm25            BM25 of words (bm25s)
    bm25-trigrams   BM25 of runs of three letters
    trigrams        the cosine of tf-idf of trigrams (scikit-learn)
    rapidfuzz       the ratio of edits, of whole texts
    NAME            the cosine of an encoder's vectors (text_encoders.py): default, potion-base-8M, all-MiniLM-L6-v2 …
    A,B             several of them: a text has Σ 1 / (60 + its rank)

Sets are folders in BEIR's layout (corpus.jsonl with _id, title, text; queries.jsonl; qrels.tsv or qrels/test.tsv), or
`autofj`: the names of PyPI's autofj, sets M to Z (`autofj-dev`: A to L, which the index was chosen on). Queries are
clean, and with a misspelling in 30 % of the words of four letters and more.

>>> search(["index", "bm25", "bm25,default"], sets=["scifact"]).markdown()
"""

from __future__ import annotations

import csv
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.misspell import misspell
from lovevec.errors import FormatError, LovevecError, MissingExtra, Parameter
from lovevec.files.lines import filled_lines
from lovevec.love import LOVE
from lovevec.progress import Progress
from lovevec.vectors.rows import normalized
from lovevec_lab.evaluate.comparison import Folder, as_list, refuse_namesakes, without_folders
from lovevec_lab.evaluate.datasets import digest_of
from lovevec_lab.evaluate.results import Cell, Result, markdown, refuse_bad_folder
from lovevec_lab.evaluate.text_encoders import as_encoder
from lovevec_lab.methods.open_method import split_name

DEPTH, FUSED, RANK = 10, 100, 60  # of nDCG; texts of each ranking that are fused; added to ranks
SHARE, SHORTEST = 0.3, 4  # of the words that are mistyped, of so many letters
QUICK_QUERIES = 50
KINDS = ("clean", "mistyped")
Find = Callable[[Sequence[str], int], NDArray[np.int64]]  # queries, k -> rows [queries, k], -1 where there are no more
LEGEND = """
nDCG@10, and in per cent how often the first text is relevant and the mean of 1 / rank of the first relevant one among
ten, x 100; clean / mistyped. Seconds to index and queries a second, on this machine, all queries in one list.
"""


@dataclass(frozen=True)
class Collection:
    """Texts, queries, and for each query the relevant texts by their rows, with gains."""

    name: str
    texts: list[str]
    queries: list[str]
    relevant: list[dict[int, float]]
    digest: str = ""


@dataclass(frozen=True)
class SearchScore:
    """What a method scores on a set (for autofj the mean over its tables) under a kind of queries."""

    method: str
    name: str
    kind: str
    queries: int
    ndcg: float
    first: float
    reciprocal: float
    seconds_to_index: float
    queries_per_second: float


def search(
    methods: Any = (),
    sets: Sequence[str] | None = None,
    *,
    seed: int = 0,
    quick: bool = False,
    data: Folder | None = None,
    keep: Folder | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score methods (see above; by default index, bm25, trigrams) on sets."""
    if keep is not None:
        refuse_bad_folder(keep)
    if not isinstance(seed, int) or seed < 0:
        raise LovevecError(f"{Parameter('seed', repr(seed))}: a whole number from 0 up expected")
    progress = progress or Progress(quiet=True)
    named = [split_name(one) if isinstance(one, str) else (None, one) for one in as_list(methods or DEFAULT)]
    makers = {name or _name_of(source): _maker(source) for name, source in named}
    refuse_namesakes([name or _name_of(source) for name, source in named])
    chosen = {name: read_set(name) for name in as_list(sets or ("autofj",))}
    scores = []
    for method, make in makers.items():
        with progress.phase(f"searching by {method}", len(chosen), "sets") as phase:
            for name, collections in chosen.items():
                scores += score(method, make, name, collections, seed, QUICK_QUERIES if quick else None)
                phase.advance()
    settings = {
        "methods": [without_folders(one) for one in as_list(methods or DEFAULT)],
        "sets": {name: [one.digest for one in collections] for name, collections in chosen.items()},
        "seed": seed,
        "quick": quick,
    }
    return Result("search", settings, [asdict(one) for one in scores], search_table(scores) + LEGEND)


DEFAULT = ("index", "bm25", "trigrams")


def _name_of(source: Any) -> str:
    return source if isinstance(source, str) else type(source).__name__


def read_set(name: str) -> list[Collection]:
    """The collections of a set: one of a folder, or the tables of autofj."""
    if name in ("autofj", "autofj-dev"):
        return list(_name_tables(lambda table: (table[0].upper() <= "L") == (name == "autofj-dev")))
    folder = Path(name)
    if not (folder / "corpus.jsonl").is_file():
        raise LovevecError(
            f"{name:.200}: no folder with corpus.jsonl, queries.jsonl, qrels.tsv, nor autofj, autofj-dev"
        )
    files = [folder / "corpus.jsonl", folder / "queries.jsonl", _qrels(folder)]
    texts = {key: " ".join(filter(None, (one.get("title"), one["text"]))) for key, one in _objects(files[0])}
    queries = {key: one["text"] for key, one in _objects(files[1])}
    place = {key: row for row, key in enumerate(texts)}
    relevant: dict[str, dict[int, float]] = {}
    for number, line in filled_lines(files[2]):
        parts = line.split("\t")
        if len(parts) != 3 or (number > 1 and not re.fullmatch(r"-?\d+(\.\d+)?", parts[2].strip())):
            raise FormatError(files[2], "query, text and gain with tabs between expected", number)
        if parts[0] in queries and parts[1] in place and float(parts[2]) > 0:
            relevant.setdefault(parts[0], {})[place[parts[1]]] = float(parts[2])
    if not relevant:
        raise FormatError(files[2], "no query has a relevant text")
    asked = [queries[key] for key in relevant]
    return [Collection(folder.name, list(texts.values()), asked, list(relevant.values()), digest_of(files))]


def _qrels(folder: Path) -> Path:
    paths = [folder / "qrels.tsv", folder / "qrels" / "test.tsv"]
    found = next((path for path in paths if path.is_file()), None)
    if found is None:
        raise LovevecError(f"{folder}: has no qrels.tsv, nor qrels/test.tsv")
    return found


def _objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in filled_lines(path):
        try:
            one = json.loads(line)
            key, _ = str(one["_id"]), str(one["text"])
        except (ValueError, KeyError, TypeError):
            raise FormatError(path, "an object with _id and text expected", number) from None
        yield key, one


def _name_tables(is_wanted: Callable[[str], bool]) -> Iterator[Collection]:
    """autofj's tables: the left names are looked for by the right ones."""
    found = find_spec("autofj")
    if found is None or not found.submodule_search_locations:
        raise LovevecError("this needs the tables of autofj: pip install autofj")
    for folder in sorted(Path(found.submodule_search_locations[0]).glob("benchmark/*/")):
        if not is_wanted(folder.name):
            continue
        read = {}
        for name in ("left", "right", "gt"):
            with open(folder / f"{name}.csv", encoding="utf-8") as file:
                read[name] = list(csv.DictReader(file))
        column = "title" if "title" in read["left"][0] else [key for key in read["left"][0] if key != "id"][-1]
        place = {row["id"]: row_number for row_number, row in enumerate(read["left"])}
        belongs = {row["id_r"]: place[row["id_l"]] for row in read["gt"]}
        right = [row for row in read["right"] if row["id"] in belongs]
        relevant = [{belongs[row["id"]]: 1.0} for row in right]
        files = [folder / f"{name}.csv" for name in read]
        left = [row[column] for row in read["left"]]
        yield Collection(folder.name, left, [row[column] for row in right], relevant, digest_of(files))


def mistyped(texts: Sequence[str], seed: int) -> list[str]:
    """The texts with misspellings in SHARE of the words of SHORTEST letters and more."""
    rng, found = np.random.default_rng(seed), []
    for text in texts:
        words = text.split()
        able = (place for place, word in enumerate(words) if len(word) >= SHORTEST and word.isalpha())
        hit = [place for place in able if rng.random() < SHARE]
        for place, wrong in zip(hit, misspell([words[place] for place in hit], rng) if hit else [], strict=True):
            words[place] = wrong
        found.append(" ".join(words))
    return found


def score(
    method: str,
    make: Callable[[list[str]], Find],
    name: str,
    collections: list[Collection],
    seed: int,
    most: int | None,
) -> list[SearchScore]:
    """A method on the collections of a set, by clean and by mistyped queries: means over collections."""
    measured: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    indexing, searching, count = 0.0, 0.0, 0
    for one in collections:
        start = time.perf_counter()
        find = make(one.texts)
        indexing += time.perf_counter() - start
        for kind in KINDS:
            queries = one.queries[:most] if kind == "clean" else mistyped(one.queries[:most], seed)
            start = time.perf_counter()
            rows = find(queries, DEPTH)
            searching += time.perf_counter() - start
            count += len(queries)
            each = [figures_of(own, gains) for own, gains in zip(rows, one.relevant, strict=False)]
            measured[kind].append((100 * np.mean(each, axis=0)).tolist())
    speeds = indexing, count / max(searching, 1e-9)
    scores = []
    for kind, figures in measured.items():
        ndcg, first, reciprocal = np.mean(figures, axis=0).tolist()
        scores.append(SearchScore(method, name, kind, count // len(KINDS), ndcg, first, reciprocal, *speeds))
    return scores


def figures_of(rows: NDArray[np.int64], gains: dict[int, float]) -> tuple[float, float, float]:
    """nDCG@10, whether the first is relevant, and 1 / rank of the first relevant one."""
    own = np.array([gains.get(row, 0.0) for row in rows[:DEPTH].tolist()])
    discounts = 1 / np.log2(np.arange(2, DEPTH + 2))
    ideal = np.sort(list(gains.values()))[::-1][:DEPTH]
    right = np.flatnonzero(own > 0)
    ndcg = float(own @ discounts[: len(own)]) / float(ideal @ discounts[: len(ideal)])
    return ndcg, float(len(own) > 0 and own[0] > 0), 1 / (1 + float(right[0])) if len(right) else 0.0


def _maker(source: Any) -> Callable[[list[str]], Find]:
    """What makes a way to search of texts."""
    if isinstance(source, str) and "," in source:
        return partial(_fused, [_maker(part) for part in source.split(",")])
    if isinstance(source, str) and source in MAKERS:
        return MAKERS[source]
    if isinstance(source, str) and source.startswith("index:"):
        return partial(_by_index, LOVE.load(source.removeprefix("index:")))
    return partial(_by_vectors, as_encoder(source).encode)


def _by_index(love: LOVE | None, texts: list[str]) -> Find:
    index = (love or LOVE.load()).index(texts)
    index.search("")  # what is made by the first search belongs to indexing
    return lambda queries, k: index.candidates(queries, k)[0]


def _best(scores: NDArray[Any], k: int) -> NDArray[np.int64]:
    k = min(k, scores.shape[1])
    some = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, some, axis=1), axis=1, kind="stable")
    rows: NDArray[np.int64] = np.take_along_axis(some, order, axis=1)
    return rows


def _in_parts(scores_of: Callable[[Sequence[str]], NDArray[Any]]) -> Find:
    """By a matrix of scores of some queries at a time."""

    def find(queries: Sequence[str], k: int) -> NDArray[np.int64]:
        return np.concatenate([_best(scores_of(queries[low : low + 256]), k) for low in range(0, len(queries), 256)])

    return find


def _by_vectors(encode: Callable[[Sequence[str]], Any], texts: list[str]) -> Find:
    rows = normalized(np.asarray(encode(texts), dtype=np.float32))
    return _in_parts(lambda queries: normalized(np.asarray(encode(list(queries)), dtype=np.float32)) @ rows.T)


def words_of(text: str) -> list[str]:
    """Of "Lima, Peru": "lima", "peru"."""
    return re.findall(r"[\w'’]+", text.lower())


def trigrams_of(text: str) -> list[str]:
    """Of "Lima, Peru": " li", "lim", "ima", "ma ", " pe", "per", "eru", "ru "."""
    return [f" {word} "[at : at + 3] for word in words_of(text) for at in range(len(word))]


def _by_bm25(parts: Callable[[str], list[str]], texts: list[str]) -> Find:
    try:
        import bm25s  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra("bm25s", "dev") from None
    index = bm25s.BM25(backend="numpy")
    index.index([parts(text) or [""] for text in texts], show_progress=False)

    def find(queries: Sequence[str], k: int) -> NDArray[np.int64]:
        asked = [parts(query) or [""] for query in queries]
        rows: NDArray[np.int64] = index.retrieve(asked, k=min(k, len(texts)), show_progress=False)[0]
        return rows

    return find


def _by_trigrams(texts: list[str]) -> Find:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer=trigrams_of)
    rows = vectorizer.fit_transform(texts)
    return _in_parts(lambda queries: (vectorizer.transform(queries) @ rows.T).toarray())


def _by_rapidfuzz(texts: list[str]) -> Find:
    from rapidfuzz import fuzz
    from rapidfuzz.process import cdist
    from rapidfuzz.utils import default_process

    return _in_parts(lambda queries: cdist(queries, texts, scorer=fuzz.ratio, processor=default_process))


def _fused(makers: list[Callable[[list[str]], Find]], texts: list[str]) -> Find:
    """Several rankings as one, by reciprocal ranks (Cormack et al., 2009)."""
    finds = [make(texts) for make in makers]

    def scores_of(queries: Sequence[str]) -> NDArray[Any]:
        scores = np.zeros((len(queries), len(texts) + 1), dtype=np.float32)  # the last is nothing: row -1
        for find in finds:
            rows = find(queries, FUSED)
            scores[np.arange(len(queries))[:, None], rows] += 1 / (RANK + np.arange(rows.shape[1]))
        return scores[:, :-1]

    return _in_parts(scores_of)


MAKERS: dict[str, Callable[[list[str]], Find]] = {
    "index": partial(_by_index, None),
    "bm25": partial(_by_bm25, words_of),
    "bm25-trigrams": partial(_by_bm25, trigrams_of),
    "trigrams": _by_trigrams,
    "rapidfuzz": _by_rapidfuzz,
}


def search_table(scores: Sequence[SearchScore]) -> str:
    """Methods (rows) on sets (columns)."""
    methods, sets = dict.fromkeys(one.method for one in scores), dict.fromkeys(one.name for one in scores)
    found = {(one.method, one.name, one.kind): one for one in scores}
    rows: list[list[Cell]] = []
    for method in methods:
        row: list[Cell] = [method]
        for name in sets:
            clean, wrong = (found[method, name, kind] for kind in KINDS)
            figures = [(one.ndcg, one.first, one.reciprocal) for one in (clean, wrong)]
            row += [f"{good:.1f} / {bad:.1f}" for good, bad in zip(*figures, strict=True)]
            row += [round(clean.seconds_to_index, 1), round(clean.queries_per_second)]
        rows.append(row)
    columns = [
        f"{Path(name).name}, {what}" for name in sets for what in ("nDCG@10", "first", "MRR@10", "s", "queries/s")
    ]
    return markdown(["method", *columns], rows)
