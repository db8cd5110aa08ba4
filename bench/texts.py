"""How many texts a second? LOVE beside model2vec.

    python bench/texts.py [FOLDER_OF_A_MODEL2VEC_MODEL] [--runs 5]

The texts are STS-B's sentences (LOVEVEC_DATA; default ../shared/data), or, where these are not there, ten known words
each, by Zipf's law. Without a folder the rival is a model2vec model of LOVE's own words and rows, cut at blanks:
quicker than the published models, which have a tokenizer of their own. All ways run in turn; medians.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from engines import ratio_cells
from model2vec import StaticModel
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import Whitespace

from lovevec import LOVE
from lovevec.damage.noise import Noise, damaged_texts

CLEAN, MISTYPED = "clean", "30 % of the longer words mistyped"
ASKED = {f"LOVE, {CLEAN}": 2.0, f"LOVE, {MISTYPED}": 1.0}  # times the rate of model2vec
DATA = Path(os.environ.get("LOVEVEC_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "sentences"


def sentences(name: str, count: int, seed: int) -> list[str]:
    """The sentences of both columns of a file of STS-B, each once; or `count` texts of known words."""
    if (DATA / name).exists():
        with (DATA / name).open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        return list(dict.fromkeys(row[column] for row in rows for column in (0, 1)))
    return list(map(" ".join, known_texts(LOVE.load().words, count, 10, seed)))


def known_texts(words: Sequence[str], count: int, size: int, seed: int) -> list[list[str]]:
    """`count` texts of `size` words each, by Zipf's law; `words` has the most frequent first."""
    share = 1 / np.arange(10, len(words) + 10)
    draws = np.random.default_rng(seed).choice(len(words), (count, size), p=share / share.sum())
    return [[words[row] for row in text] for text in draws.tolist()]


def rival_model(folder: str | None) -> StaticModel:
    """A model2vec model: from a folder, or of LOVE's own words."""
    if folder is not None:
        return StaticModel.from_pretrained(folder)
    love = LOVE.load()
    words = ["[UNK]", *love.words]
    tokenizer = Tokenizer(WordPiece({word: row for row, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    vectors = np.vstack([np.zeros((1, love.dim), np.float32), love.embed(love.words)])
    return StaticModel(vectors, tokenizer)


def rate(encode: Callable[[list[str]], object], texts: Sequence[str]) -> float:
    """How many texts a second a function encodes."""
    start = time.perf_counter()
    encode(list(texts))
    return len(texts) / (time.perf_counter() - start)


def main() -> None:
    """Print the rates as a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rival", nargs="?", help="folder of a model2vec model")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    first, texts = sentences("stsb-en-dev.csv", 2_000, 0), sentences("stsb-en-train.csv", 10_000, 1)
    mistyped = damaged_texts(texts, Noise("typo", 0.3), 0)
    rival = rival_model(options.rival)
    rates: dict[str, list[float]] = {}
    love = LOVE.load(engine="compiled")
    love.encode(first)  # which builds what reading needs
    rival.encode(first)
    for _ in range(options.runs):
        for name, batch in ((CLEAN, texts), (MISTYPED, mistyped)):
            rates.setdefault(f"LOVE, {name}", []).append(rate(love.encode, batch))
            rates.setdefault(f"model2vec, {name}", []).append(rate(rival.encode, batch))
    print(f"{len(texts):,} sentences, {os.cpu_count()} cores, medians of {options.runs} runs in turn\n")
    print("| | texts/s | × model2vec | asked | met |\n|---|--:|--:|--:|---|")
    for name, values in rates.items():
        beside = rates["model2vec, " + name.split(", ")[1]]
        ratio = statistics.median(one / other for one, other in zip(values, beside, strict=True))
        print(f"| {name} | {statistics.median(values):,.0f} | {ratio_cells(ratio, ASKED.get(name))} |")


if __name__ == "__main__":
    main()
