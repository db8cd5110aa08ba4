"""How near LOVE comes to the right word when a word is damaged: the words behind docs/results/transformers.md.

    python lab/runs/damaged_words.py minilm-input love-input --target hf:all-MiniLM-L6-v2

2,000 words of SST2's test set (letters only, four or more, known to the target), each damaged once by each kind of
noise; those that are still or again a known word are left out. A cell has the mean cosine with the right word's own
vector, and how often (%) that is the nearest of all of the target's.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from lovevec import LOVE
from lovevec.damage.noise import Noise, damaged
from lovevec.train.target import load_target
from lovevec.vectors import VectorTable
from lovevec_lab.evaluate.data import data_folder, texts
from lovevec_lab.evaluate.results import markdown

KINDS = ("ocr", "typo", "sound", "scan")
COUNT, SEED = 2_000, 1


def chosen_words(target: VectorTable, data: Path) -> list[str]:
    """The words to damage, drawn once for all."""
    sentences = texts("sst2", data).test.sentences
    found = {word.lower() for sentence in sentences for word in sentence} & set(target.words)
    words = sorted(word for word in found if word.isalpha() and len(word) > 3)
    return [words[place] for place in np.random.default_rng(0).permutation(len(words))[:COUNT]]


def nearness(love: LOVE, target: VectorTable, words: list[str], kind: str) -> tuple[float, float]:
    """Mean cosine with the right word's vector, and how often that is the nearest, in per cent."""
    row = {word: place for place, word in enumerate(target.words)}
    pairs = zip(words, damaged([[word] for word in words], Noise(kind, 1.0), SEED), strict=True)
    kept = [(word, wrong) for word, (wrong,) in pairs if wrong not in row]
    directions = target.vectors / np.linalg.norm(target.vectors, axis=1, keepdims=True)
    cosines = love.embed([wrong for _, wrong in kept]) @ directions.T
    own = np.array([row[word] for word, _ in kept])
    mine = cosines[np.arange(len(own)), own]
    return float(mine.mean()), 100 * float((cosines.argmax(axis=1) == own).mean())


def main() -> None:
    """One row a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="folders or names; all mimic the target")
    parser.add_argument("--target", required=True, help="the vectors that they mimic")
    parser.add_argument("--data", help="where the datasets are (default: $LOVEVEC_DATA, else ./data)")
    given = parser.parse_args()
    target = load_target(given.target)
    words = chosen_words(target, data_folder(given.data))
    rows = []
    for name in given.models:
        love = LOVE.load(name)
        scores = [nearness(love, target, words, kind) for kind in KINDS]
        rows.append([Path(name).name, *(f"{cosine:.3f} / {nearest:.1f}" for cosine, nearest in scores)])
    print(markdown(["model", *KINDS], rows))


if __name__ == "__main__":
    main()
