"""Puts a trained model into the package: scores it, writes its card, saves it as int8 under src/lovevec/assets.

    python runs/ship.py models/default default --target target.npz
    python runs/ship.py models/minilm-input minilm-input --target hf:all-MiniLM-L6-v2

The card states data, licences, scores and limits. Scores are those of the int8 model, as shipped.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from score import scores_of

from lovevec import LOVE
from lovevec.methods.table import Table
from lovevec.train.target import load_target
from lovevec.vectors import VectorTable

ASSETS = Path(__file__).resolve().parents[1] / "src" / "lovevec" / "assets"
WHAT = {
    "default": """\
The model of `LOVE.load()`: English, general purpose.

**Data.** The target are single words as all-mpnet-base-v2 encodes them, beside the same words by potion-base-8M (each
normalised; potion's divided by the number of a word's pieces), projected on their 300 main directions. The words are
the most frequent of wordfreq's English list (Latin letters, digits, apostrophes, dots), without the wrong forms of the
misspelling lists that we evaluate on. The commands are in `runs/shipped.sh`.

**Licences.** all-mpnet-base-v2: Apache-2.0. potion-base-8M: MIT. wordfreq's word list: CC BY-SA 4.0, which covers
`words.json` here. The model itself: MIT, like lovevec.""",
    "minilm-input": """\
Mimics the input embeddings of all-MiniLM-L6-v2 (the table before its attention layers), for its whole-word pieces:
`LOVE.load("minilm-input")`. Meant for the transformer plug-in: a word that the tokenizer would break into pieces gets
one embedding instead. For word similarity as such use the default model.

**Data.** The rows of the input embedding table that stand for whole words. The commands are in `runs/shipped.sh`.

**Licences.** all-MiniLM-L6-v2: Apache-2.0, which covers `words.json` (its vocabulary). The model itself: MIT.""",
}
# What stands in config.json as the target's name and licence.
TARGETS = {
    "default": {
        "name": "all-mpnet-base-v2 beside potion-base-8M",
        "licence": "all-mpnet-base-v2 Apache-2.0, potion-base-8M MIT, word list of wordfreq CC BY-SA 4.0",
    },
    "minilm-input": {
        "name": "input embeddings of all-MiniLM-L6-v2, whole-word pieces",
        "licence": "all-MiniLM-L6-v2 Apache-2.0",
    },
}
LIMITS = """\
**Limits.** Meaning is guessed from spelling: a new word that looks like no other gets the vector of what it looks like.
Real misspellings are harder than the one-edit typos that confidence is calibrated on, so confidence is too high for
them. Words over 100 characters are read by their ends. Lower case only. Vectors are directions (unit length). Biases of
the sources carry over."""


def card(name: str, love: LOVE, scores: dict[str, float]) -> str:
    """The README.md of a shipped model."""
    metadata = love.metadata
    target, counts, settings = metadata["target"], metadata["parameters"], metadata["settings"]
    held, sure = metadata["report"]["score"], metadata["confidence"]
    similar = {key: value for key, value in scores.items() if key not in ("misspellings", "top1", "top10")}
    lines = [
        f"# {name}",
        "",
        WHAT[name],
        "",
        "| | |",
        "|---|---|",
        f"| mimics | {target['name']}: {target['words']:,} words, {target['dim']} dimensions |",
        f"| parameters | {sum(counts.values()):,}, shipped as folded int8 tables |",
        f"| units | {len(love.parts.units.vocabulary):,} characters and pieces,"
        f" {settings['ngrams']:,} rows of n-grams |",
        f"| trained | {settings['epochs']} epochs, seed {settings['seed']},"
        f" {metadata['report']['seconds']['training']:.0f} s on {metadata['report']['device']} |",
        "",
        "**Scores.** Word similarity, Spearman x 100, the model's vectors only, all pairs:",
        "",
        f"| {' | '.join(similar)} |",
        f"|{'--:|' * len(similar)}",
        f"| {' | '.join(f'{value:.1f}' for value in similar.values())} |",
        "",
        f"Birkbeck's {scores['misspellings']:,.0f} real misspellings of the target's words: the right word's target"
        f" vector is nearest for {scores['top1']:.1f} %, among the 10 nearest for {scores['top10']:.1f} %.",
        "",
        f"{held['words']:,} words that training never saw: own target vector among the 10 nearest"
        f" {held['clean']['top10']:.1%}, with one typo {held['typo']['top10']:.1%}.",
        "",
        f"**Confidence** is the probability that {sure['event']}. Expected calibration error"
        f" {sure['calibration_error']:.3f} on {sure['held_back_words']:,} held-back words and {sure['typos']:,} typos.",
        "",
        LIMITS,
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Score, describe, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="the folder that lovevec train wrote")
    parser.add_argument("name", choices=list(WHAT))
    parser.add_argument("--target", required=True, help="the vectors that it mimics")
    parser.add_argument("-o", "--output", type=Path, default=ASSETS, help="(default: the package's assets)")
    given = parser.parse_args()
    trained = LOVE.load(given.model)
    with tempfile.TemporaryDirectory() as folder:
        trained.save(folder, "int8")
        small = LOVE.load(folder)
        target = load_target(given.target, limit=len(small.words))
        table = Table(VectorTable(target.words, target.vectors, target.report), target.name)
        rounded = scores_of(small, given.name, table)
    metadata = trained.metadata
    metadata |= {"scores": rounded, "target": {**metadata["target"], **TARGETS[given.name]}}
    shipped = LOVE(replace(trained.parts, metadata=metadata))
    shipped.card = card(given.name, shipped, rounded)
    shipped.save(given.output / given.name, "int8")
    size = sum(file.stat().st_size for file in (given.output / given.name).iterdir())
    print(f"{given.name}: {size / 1e6:.1f} MB, {rounded}")


if __name__ == "__main__":
    main()
