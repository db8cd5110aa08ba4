"""How much the sentences of a new word count beside its spelling: the constants of lovevec/learn.py.

    python lab/runs/new_words.py hold TARGET TEXT OUT
    lovevec train OUT/target.npz -o OUT/plain --device cpu
    lovevec context TEXT -m OUT/plain -o OUT/model
    python lab/runs/new_words.py choose OUT/model TARGET TEXT
    lovevec evaluate new-words OUT/model --target TARGET --corpus TEXT -o docs/results/data

`hold` writes the target without 1,500 of its words that come 20 times in the text, their ranks spread, so that a model
can be trained which has seen neither their vectors nor their sentences. `choose` tries what sentences count on one half
of these words, by how often the target's own vector is the nearest of all; the other half is shown beside.
"""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np

from lovevec import LOVE
from lovevec.learn import context_of, usual_around
from lovevec.vectors import read_vectors
from lovevec.vectors.rows import normalized
from lovevec_lab.evaluate.new_words import LONG_WORD, MOST, sample_sentences, sentences_of
from lovevec_lab.evaluate.typos import recovery

WORDS, LEAST = 1500, 20
SIZES = (1, 5, 20)
SHARES = (0.0, 0.5, 1.0, 2.0)
BETAS = (0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0)


def hold(target: Path, text: Path, out: Path) -> None:
    """Write the target without some of its words."""
    table, count = read_vectors(target), Counter[str]()
    with text.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            count.update(LONG_WORD.findall(line.lower()))
    able = [row for row, word in enumerate(table.words) if LONG_WORD.fullmatch(word) and count[word] >= LEAST]
    rng = np.random.default_rng(7)
    held = {int(rng.choice(part)) for part in np.array_split(np.array(able), WORDS)}
    kept = [row for row in range(len(table.words)) if row not in held]
    out.mkdir(parents=True, exist_ok=True)
    np.savez(out / "target.npz", words=np.array([table.words[row] for row in kept]), vectors=table.vectors[kept])


def choose(folder: Path, target: Path, text: Path) -> None:
    """Print, for each number of sentences, the best of what they may count."""
    love, table = LOVE.load(folder), read_vectors(target)
    asked = [word for word in table.words if LONG_WORD.fullmatch(word) and word not in love]
    with text.open(encoding="utf-8", errors="replace") as file:
        found = sample_sentences(file, asked, np.random.default_rng(1))
    words = [word for word in asked if len(found[word]) == MOST]
    place = {word: row for row, word in enumerate(table.words)}
    rows, imputed, usual = np.array([place[word] for word in words]), love.impute(words), usual_around(love, love.parts)
    half = np.arange(len(words)) % 2 == 0

    def score(vectors: np.ndarray, which: np.ndarray) -> tuple[float, float, float]:
        cosine, rank = recovery(vectors[which], table.vectors, rows[which])
        return 100 * float((rank < 1).mean()), 100 * float((rank < 10).mean()), float(cosine.mean())

    print(f"{len(words):,} words; spelling alone: {score(imputed, half)}, other half {score(imputed, ~half)}")
    for size in SIZES:
        learned = sentences_of(love, [found[word][:size] for word in words])
        tried = {}
        for share, beta in product(SHARES, BETAS):
            vectors = normalized(imputed + beta * context_of(learned, usual, share)).astype(np.float32)
            tried[share, beta] = vectors, score(vectors, half)
        for share in SHARES:
            best = max(BETAS, key=lambda beta: tried[share, beta][1])
            vectors, own = tried[share, best]
            shown = ["{:.1f} {:.1f} {:.3f}".format(*numbers) for numbers in (own, score(vectors, ~half))]
            print(
                f"{size:>3} sentences  share {share:<4}  beta {best:<4}  {shown[0]}   other half {shown[1]}", flush=True
            )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["hold", "choose"])
    parser.add_argument("paths", nargs=3, type=Path)
    options = parser.parse_args()
    (hold if options.what == "hold" else choose)(*options.paths)


if __name__ == "__main__":
    main()
