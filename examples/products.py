"""Search that forgives typos among 20,000 product names: by lovevec's own index, and in an embedded vector store.

    python examples/products.py                          # the table: how often the right product is found, and how
    python examples/products.py "brushles chainsw 20 v"  # an answer
    pip install lancedb bm25s pyarrow                    # for the table; sentence-transformers for --minilm

An answer takes three lines, `love.index(names)`, `index.search(query)`, and no other package. Whoever has a store
already, here LanceDB (in a folder, no server), puts vectors into it as the column that `lovevec.plugins.frames` makes,
over the memory that the model wrote:

    table = pyarrow.table({"name": names})
    table = table.append_column("vector", frames.encode(table["name"], model))
    store = lancedb.connect("folder").create_table("products", table)
    store.search(model.encode("brushles chainsw 20 v")).limit(5).to_arrow()

What is compared (search.py has the rest): love.index; LOVE and "LOVE + names" in the store, BM25 of words and of
trigrams, and with --minilm MiniLM, in the same store.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from search import Search, answer, by_bm25, by_index, compare, minilm, trigrams_of, with_names, words_of

from lovevec import LOVE

ONSETS = ("b", "br", "d", "f", "gr", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "z")
VOWELS, CODAS = ("a", "e", "i", "o", "u"), ("l", "n", "r", "s", "x", "ra", "no", "ka", "lo", "mi")
# What is sold; of what or in which way; in which size or colour.
KINDS = [
    ("kettle saucepan teapot thermos mug colander", "stainless steel|cast iron|enamel|copper", "0.5 l|1 l|1.7 l|2 l"),
    ("drill screwdriver sander jigsaw chainsaw", "cordless|compact|heavy duty|brushless", "12 v|18 v|20 v|36 v"),
    ("headphones earbuds speaker microphone", "wireless|noise cancelling|portable|studio", "black|white|silver|blue"),
    ("bookshelf wardrobe nightstand dresser desk", "oak|walnut|bamboo|pine|white", "60 cm|80 cm|120 cm|160 cm"),
    (
        "shoes boots sandals sneakers slippers",
        "waterproof|lightweight|leather|vegan",
        "size 38|size 40|size 42|size 44",
    ),
    ("jacket raincoat sweater cardigan scarf", "wool|fleece|down|cotton|linen", "small|medium|large|extra large"),
    ("tent backpack lantern hammock cooler", "ultralight|insulated|folding|family", "red|green|orange|grey"),
    (
        "shampoo sunscreen moisturizer toothpaste",
        "organic|fragrance free|sensitive|herbal",
        "50 ml|100 ml|250 ml|500 ml",
    ),
]


MOST = 50_000  # names that the parts above surely give


def product_names(count: int, seed: int = 0) -> list[str]:
    """Made up, and always the same ones: "Velora stainless steel kettle, 1.7 l". Distinct, in a random order."""
    rng = np.random.default_rng(seed)

    def one_of(items: Sequence[str]) -> str:
        return items[rng.integers(len(items))]

    syllables = [onset + vowel for onset in ONSETS for vowel in VOWELS]
    brands = [(one_of(syllables) + one_of(syllables) + one_of(CODAS)).capitalize() for _ in range(600)]
    names: dict[str, None] = {}
    while len(names) < count:
        things, ways, sizes = KINDS[rng.integers(len(KINDS))]
        thing, way, size = one_of(things.split()), one_of(ways.split("|")), one_of(sizes.split("|"))
        names[f"{one_of(brands)} {way} {thing}, {size}"] = None
    return list(names)


def by_store(
    column: Callable[[Any], Any], encode: Callable[[Sequence[str]], np.ndarray], names: Sequence[str], folder: Path
) -> Search:
    """Exact search by the cosine in a table of LanceDB in `folder`; `column` makes the vectors of a column of names.
    (For millions of names give the store an index: `store.create_index`.)"""
    import lancedb
    import pyarrow

    table = pyarrow.table({"place": range(len(names)), "name": names})
    table = table.append_column("vector", column(table["name"]))
    store = lancedb.connect(folder).create_table("products", table, mode="overwrite")

    def search(queries: Sequence[str], k: int) -> tuple[np.ndarray, np.ndarray]:
        asked = store.search(encode(queries)).distance_type("cosine").limit(k).select(["place", "_distance"])
        order = [(name, "ascending") for name in ("query_index", "_distance")[len(queries) == 1 :]]  # one has no index
        hits = asked.to_arrow().sort_by(order)
        places, distances = (hits[name].to_numpy().reshape(len(queries), k) for name in ("place", "_distance"))
        return places, 1 - distances

    return search


def love_in_store(model: LOVE, names: Sequence[str], folder: Path) -> Search:
    """The store with a LOVE's vectors."""
    from lovevec.plugins import frames

    return by_store(partial(frames.encode, love=model), model.encode, names, folder)


def minilm_in_store(name: str, names: Sequence[str], folder: Path) -> Search:
    """The store with MiniLM's vectors."""
    import pyarrow

    encode = minilm(name)

    def column(texts: Any) -> Any:
        vectors = encode(texts.to_pylist())
        return pyarrow.FixedSizeListArray.from_arrays(vectors.reshape(-1), vectors.shape[1])

    return by_store(column, encode, names, folder)


def compare_products(names: list[str], folder: Path, options: argparse.Namespace) -> None:
    """The table of the methods above."""
    love = LOVE.load()
    love_in_store(love, names[:100], folder / "first")(names[:100], 10)  # what is loaded once is no part of indexing
    methods: dict[str, Callable[[], Search]] = {
        "love.index": lambda: by_index(love, names),
        "LOVE": lambda: love_in_store(love, names, folder / "love"),
        "LOVE + names": lambda: love_in_store(with_names(love, names), names, folder / "names"),
        "BM25": lambda: by_bm25(words_of, names),
        "BM25, trigrams": lambda: by_bm25(trigrams_of, names),
    }
    if options.minilm:
        methods["MiniLM"] = lambda: minilm_in_store(options.minilm, names, folder / "minilm")
    compare(names, methods, options)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("query", nargs="?", help="what to look for; without it the methods are compared")
    parser.add_argument("--products", type=int, default=20_000, help="so many names (default: %(default)s)")
    parser.add_argument(
        "--queries", type=int, default=2_000, help="products that are looked for (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="makes names and typos (default: %(default)s)")
    parser.add_argument("--minilm", nargs="?", const="all-MiniLM-L6-v2", help="its name or folder; takes minutes")
    options = parser.parse_args()
    if not 100 <= options.products <= MOST or options.queries < 1:
        parser.error(f"--products must be from 100 to {MOST}, --queries at least 1")
    os.environ.setdefault("LANCEDB_LOG", "error")  # it notes on stderr that a table is new
    try:
        products = product_names(options.products, options.seed)
        if options.query is None:
            with TemporaryDirectory() as folder:
                compare_products(products, Path(folder), options)
        else:
            answer(products, options.query)
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is missing: pip install lancedb bm25s pyarrow (sentence-transformers for --minilm)")
