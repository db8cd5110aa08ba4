"""How many texts a second? LOVE beside model2vec, on texts that neither has met, and on the same once more.

    python bench/texts.py FOLDER_OF_A_MODEL2VEC_MODEL [--runs 5]

The texts are STS-B's sentences (LOVEVEC_DATA; default ../shared/data). Each run opens LOVE anew, since it remembers
words; compiled code and the most frequent words are made ready by other texts first. All ways run in turn; medians.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from lovevec import LOVE
from lovevec.damage.noise import Noise, damaged_texts

DATA = Path(os.environ.get("LOVEVEC_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "sentences"


def sentences(name: str) -> list[str]:
    """Of both columns, each once."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return list(dict.fromkeys(row[column] for row in rows for column in (0, 1)))


def rate(encode: Callable[[list[str]], object], texts: Sequence[str]) -> float:
    """Texts a second."""
    start = time.perf_counter()
    encode(list(texts))
    return len(texts) / (time.perf_counter() - start)


def main() -> None:
    """A Markdown table."""
    from model2vec import StaticModel

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rival", help="folder of a model2vec model")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    first, texts = sentences("stsb-en-dev.csv"), sentences("stsb-en-train.csv")
    mistyped = damaged_texts(texts, Noise("typo", 0.3), 0)
    rival = StaticModel.from_pretrained(given.rival)
    rates: dict[str, list[float]] = {}
    for _ in range(given.runs):
        for name, given_texts in (("clean", texts), ("30 % of the longer words mistyped", mistyped)):
            love = LOVE.load(engine="numba")
            love.encode(first)
            rival.encode(first)
            rates.setdefault(f"LOVE, {name}", []).append(rate(love.encode, given_texts))
            rates.setdefault(f"LOVE, {name}, once more", []).append(rate(love.encode, given_texts))
            rates.setdefault(f"model2vec, {name}", []).append(rate(rival.encode, given_texts))
    print(f"{len(texts):,} sentences, {os.cpu_count()} cores, medians of {given.runs} runs in turn\n")
    print("| | texts/s | × model2vec |\n|---|--:|--:|")
    for name, found in rates.items():
        beside = rates["model2vec, " + name.split(", ")[1]]
        ratio = statistics.median(one / other for one, other in zip(found, beside, strict=True))
        print(f"| {name} | {statistics.median(found):,.0f} | {ratio:.2g} |")


if __name__ == "__main__":
    main()
