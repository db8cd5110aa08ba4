"""How many words a second, from str to array? Our engines beside fastText and other ways to a vector for any word.

    python bench/engines.py [-m MODEL]

The words are distinct one-edit typos of the model's known words. All runs happen in turn, several times over, so that
a busy machine is unfair to none; the table shows medians. A rival that is not installed is left out and says why.
Rivals have a model of 300 dimensions with 2M hashed n-grams of 3 to 6 characters (floret: 200k),
trained for one epoch on a text of the known words: their speed does not depend on what they learned.

fastText's own module is on PyPI as fasttext-numpy2 (ready built; what is called fasttext there has to be compiled):

    pip install --target /tmp/rivals --no-deps fasttext-numpy2 && PYTHONPATH=/tmp/rivals python bench/engines.py
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lovevec import LOVE
from lovevec.damage.edits import damage
from lovevec.model.folder import ModelParts, read_model

Embed = Callable[[Sequence[str]], np.ndarray]
DIM, BUCKETS, SHORTEST, LONGEST = 300, 2_000_000, 3, 6
TRAINING = {"dim": DIM, "minn": SHORTEST, "maxn": LONGEST, "epoch": 1, "minCount": 1, "verbose": 0}
NEAR = 20_000  # known words among which the slow ones look for the nearest
FASTTEXT = "fastText get_word_vector"
ASKED = {"lovevec compiled": 8.0}  # times the rate of fastText


def typos(known: Sequence[str], count: int, seed: int = 0) -> list[str]:
    """Distinct words with one edit each, none of them known, in random order; in memory as if read from a file."""
    rng = np.random.default_rng(seed)
    plain = [word for word in known if word.isalpha() and len(word) > 2]
    found: dict[str, None] = {}
    while len(found) < count:
        found |= dict.fromkeys(damage(plain, rng))
        for word in plain:
            found.pop(word, None)
    return "\n".join(rng.permutation(list(found))[:count]).split("\n")


def text_of(known: Sequence[str], path: Path) -> Path:
    """A small text in which every known word occurs."""
    rng = np.random.default_rng(0)
    words = [known[place] for place in rng.permutation(len(known)) if not set(known[place]) & set(" \t\n")]
    path.write_text("\n".join(" ".join(words[low : low + 20]) for low in range(0, len(words), 20)) + "\n", "utf-8")
    return path


def one_by_one(vector: Callable[[str], np.ndarray], dim: int) -> Embed:
    """The loop that a user of a word-by-word library writes."""

    def embed(words: Sequence[str]) -> np.ndarray:
        result = np.empty((len(words), dim), dtype=np.float32)
        for place, word in enumerate(words):
            result[place] = vector(word)
        return result

    return embed


def our_engine(mode: str, threads: int | None = None) -> Callable[[ModelParts, Path], Embed]:
    """One of our engines."""

    def make(parts: ModelParts, folder: Path) -> Embed:
        from lovevec.engine.engine import FoldEngine

        engine = FoldEngine(parts.spec, parts.folded, parts.units, mode, threads)  # type: ignore[arg-type]
        return engine.embed

    return make


def word_vector_of_fasttext(known: Sequence[str], folder: Path) -> Callable[[str], np.ndarray]:
    """`get_word_vector` of fastText's own Python module, with a model of the known words."""
    import fasttext as module

    path = folder / "fasttext.bin"
    text = text_of(known, folder / "text")
    module.train_unsupervised(str(text), bucket=BUCKETS, **TRAINING).save_model(str(path))
    word_vector: Callable[[str], np.ndarray] = module.load_model(str(path)).get_word_vector
    path.unlink()  # 2.4 GB
    return word_vector


def fasttext(parts: ModelParts, folder: Path) -> Embed:
    """fastText's own Python module."""
    return one_by_one(word_vector_of_fasttext(parts.words, folder), DIM)


def floret(parts: ModelParts, folder: Path) -> Embed:
    """floret: fastText with small hashed tables; here with the usual 200k buckets and two hashes."""
    import floret as module

    text = text_of(parts.words, folder / "text")
    model = module.train_unsupervised(str(text), mode="floret", hashCount=2, bucket=200_000, **TRAINING)
    return one_by_one(model.get_word_vector, DIM)


def gensim(parts: ModelParts, folder: Path) -> Embed:
    """gensim's FastText."""
    from gensim.models import FastText

    model = FastText(vector_size=DIM, min_n=SHORTEST, max_n=LONGEST, bucket=BUCKETS, min_count=1, epochs=1, workers=1)
    sentences = [line.split() for line in text_of(parts.words, folder / "text").read_text("utf-8").splitlines()]
    model.build_vocab(corpus_iterable=sentences)
    model.train(corpus_iterable=sentences[:10], total_examples=10, epochs=1)
    return one_by_one(model.wv.get_vector, DIM)


def symspell(parts: ModelParts, folder: Path) -> Embed:
    """SymSpell: the vector of the nearest known word within two edits."""
    from symspellpy import SymSpell, Verbosity

    speller = SymSpell(max_dictionary_edit_distance=2, prefix_length=7)
    rows = {word: row for row, word in enumerate(parts.words)}
    for word, row in rows.items():
        speller.create_dictionary_entry(word, len(rows) - row)
    table = np.random.default_rng(0).normal(size=(len(rows), DIM)).astype(np.float32)

    def vector(word: str) -> np.ndarray:
        found = speller.lookup(word, Verbosity.TOP, max_edit_distance=2)
        return table[rows[found[0].term]] if found else np.zeros(DIM, dtype=np.float32)

    return one_by_one(vector, DIM)


def edit_distance(parts: ModelParts, folder: Path) -> Embed:
    """rapidfuzz: the vector of the word with the least edit distance, among 20,000, on all cores."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    near = list(parts.words[:NEAR])
    table = np.random.default_rng(0).normal(size=(len(near), DIM)).astype(np.float32)

    def embed(words: Sequence[str]) -> np.ndarray:
        return table[cdist(words, near, scorer=Levenshtein.distance, dtype=np.uint8, workers=-1).argmin(axis=1)]

    return embed


def torch_encoder(parts: ModelParts, folder: Path) -> Embed:
    """The encoder as it was trained, in torch on the CPU; with random weights where the model holds its fold alone."""
    from lovevec.encoders.network import EncoderNetwork
    from lovevec.encoders.torch_engine import TorchEngine

    if not parts.weights:
        network = EncoderNetwork(parts.spec, parts.units.vocabulary.table_rows)
        network.start(0)
        parts = replace(parts, weights={name: weight.numpy() for name, weight in network.state_dict().items()})
    return TorchEngine(parts).embed


# name -> (how it is made, which share of the words it gets: the slow ones would take all day)
WAYS: dict[str, tuple[Callable[[ModelParts, Path], Embed], float]] = {
    FASTTEXT: (fasttext, 1),
    "lovevec compiled": (our_engine("compiled"), 1),
    "lovevec compiled, one thread": (our_engine("compiled", 1), 1),
    "lovevec numpy": (our_engine("numpy"), 1),
    "lovevec numpy, one thread": (our_engine("numpy", 1), 1),
    "lovevec unfolded in torch": (torch_encoder, 0.1),
    "gensim FastText": (gensim, 0.2),
    "floret": (floret, 1),
    "SymSpell + look-up": (symspell, 0.1),
    f"rapidfuzz over {NEAR:,} words": (edit_distance, 0.005),
}


def make_all(parts: ModelParts, trained: ModelParts, folder: Path) -> dict[str, Embed]:
    """Each way that works here."""
    made = {}
    for name, (make, _) in WAYS.items():
        start = time.perf_counter()
        try:
            made[name] = make(trained if make is torch_encoder else parts, folder)
        except ImportError as error:
            print(f"{name}: left out ({error})", file=sys.stderr)
        else:
            print(f"{name}: ready after {time.perf_counter() - start:.1f} s", file=sys.stderr)
    return made


def ratio_cells(ratio: float | None, asked: float | None = None) -> str:
    """Three cells of a table: a ratio, the one that is asked, whether it is reached; a dash without a rival."""
    met = "" if asked is None or ratio is None else "yes" if ratio >= asked else "**no**"
    return f"{'–' if ratio is None else f'{ratio:.2g}'} | {'' if asked is None else f'{asked:g}'} | {met}"


def main() -> None:
    """Make them, run them in turn, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", help="a model folder of 300 dimensions (default: the shipped model)")
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--precision", choices=("float32", "float16", "int8"), default="int8", help="of our tables")
    options = parser.parse_args()
    trained = read_model(options.model) if options.model else LOVE.load().parts
    tables = trained.folded.to(options.precision)
    parts = ModelParts(trained.spec, {}, trained.units, list(trained.words), {}, tables)
    words = typos(parts.words, options.words)
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        made = make_all(parts, trained, Path(folder))
        for _ in range(options.runs):
            for name, embed in made.items():
                some = words[: max(1, int(len(words) * WAYS[name][1]))]
                start = time.perf_counter()
                assert len(embed(some)) == len(some)
                seconds.setdefault(name, []).append((time.perf_counter() - start) / len(some))
    rates = {name: 1 / statistics.median(times) for name, times in seconds.items()}
    base = rates.get(FASTTEXT)
    print(f"{len(words):,} distinct typos of {len(parts.words):,} known words, {parts.spec.dim}d; {options.precision}")
    print(f"tables; {os.cpu_count()} cores ({platform.machine()}); medians of {options.runs} runs in turn\n")
    print("| | words/s | × fastText | asked | met | |\n|---|---:|---:|---:|---|---|")
    for name, rate in sorted(rates.items(), key=lambda pair: -pair[1]):
        ratio = rate / base if base else None
        part = f"on {WAYS[name][1] * len(words):,.0f} of the words" if WAYS[name][1] < 1 else ""
        print(f"| {name} | {rate:,.0f} | {ratio_cells(ratio, ASKED.get(name))} | {part} |")


if __name__ == "__main__":
    main()
