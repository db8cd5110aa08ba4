"""Puts a trained model into the package: scores it, writes its card, saves it under src/lovevec/model/shipped.

    python lab/runs/ship.py models/default default --target target.npz --known 80000 --rows int4
    python lab/runs/ship.py models/minilm-input minilm-input --target hf:all-MiniLM-L6-v2

The encoder is stored as int8, the known words' own rows as `--rows`. With `--known` only the first so many words are
known ones, and channel and confidence are learned again for them; the encoder has learned from all. The card states
data, licences, scores and limits. Scores are those of the model as shipped.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from score import scores_of

from lovevec import LOVE
from lovevec.model.known_rows import KnownRows
from lovevec.train.calibration import calibrate
from lovevec.train.channel import fit_channel
from lovevec.train.loop import holdout_rows
from lovevec.train.target import load_target
from lovevec.vectors import VectorTable
from lovevec_lab.methods.table import Table

SHIPPED = Path(__file__).resolve().parents[2] / "src" / "lovevec" / "model" / "shipped"
WHAT = {
    "default": """\
The model of `LOVE.load()`: English, general purpose, for words and for texts.

**Data.** The target are vectors of words that were fitted so that their sum has the direction that all-mpnet-base-v2
gives to the sentence they stand in (300 main directions), over 0.8M sentences: definitions and examples of WordNet,
news, web text, film reviews, books and speeches of NLTK's corpora, descriptions of Debian's packages, FOLDOC, fortunes.
Their lengths say how much a word counts in a text. The words are the most frequent of wordfreq's English list (Latin
letters, digits, apostrophes, dots), without misspellings (`lab/runs/word_list.py` says how these are told).
The channel was learned from damaged words, not from any list of real misspellings. The commands are in
`lab/runs/shipped.sh`.

**Licences.** all-mpnet-base-v2: Apache-2.0. The sentences are no part of the model. wordfreq's word list: CC BY-SA 4.0,
which covers `words.json` here. The model itself: MIT, like lovevec.""",
    "minilm-input": """\
Mimics the input embeddings of all-MiniLM-L6-v2 (the table before its attention layers), for its whole-word pieces:
`LOVE.load("minilm-input")`. Meant for the transformer plug-in: a word that the tokenizer would break into pieces gets
one embedding instead. For word similarity as such use the default model.

**Data.** The rows of the input embedding table that stand for whole words. The commands are in `lab/runs/shipped.sh`.

**Licences.** all-MiniLM-L6-v2: Apache-2.0, which covers `words.json` (its vocabulary). The model itself: MIT.""",
}
# What stands in config.json as the target's name and licence.
TARGETS = {
    "default": {
        "name": "words fitted to sentences by all-mpnet-base-v2",
        "licence": "all-mpnet-base-v2 Apache-2.0, word list of wordfreq CC BY-SA 4.0",
    },
    "minilm-input": {
        "name": "input embeddings of all-MiniLM-L6-v2, whole-word pieces",
        "licence": "all-MiniLM-L6-v2 Apache-2.0",
    },
}
LIMITS = """\
**Limits.** A new word's meaning is guessed from its spelling: one that looks like no other gets the vector of what it
looks like, and a short one that looks like a frequent word may be read as that. Real misspellings are harder than those
that confidence is calibrated on, so it is somewhat too high for them. Words over 100 characters are read by their ends.
Lower case only. Vectors are directions (unit length). Biases of the sources carry over."""


def card(name: str, love: LOVE, scores: dict[str, dict[str, float]]) -> str:
    """The README.md of a shipped model."""
    metadata = love.metadata
    target, counts, settings = metadata["target"], metadata["parameters"], metadata["settings"]
    held, sure, channel = metadata["report"]["score"], metadata["confidence"], metadata["channel_report"]
    rows = love.parts.rows
    assert rows is not None
    near, spelled = scores["near"], scores["spelled"]
    columns = [key for key in near if key not in ("misspellings", "top1", "top10")]
    lines = [
        f"# {name}",
        "",
        WHAT[name],
        "",
        "| | |",
        "|---|---|",
        f"| mimics | {target['name']}: {target['words']:,} words, {target['dim']} dimensions |",
        f"| known words | {len(love.words):,}, each with its own row ({rows.precision}; {rows.parameters:,} numbers) |",
        f"| encoder | {sum(counts.values()):,} parameters, shipped as folded int8 tables |",
        f"| units | {len(love.parts.units.vocabulary):,} characters and pieces,"
        f" {settings['ngrams']:,} rows of n-grams |",
        f"| trained | {settings['epochs']} epochs, seed {settings['seed']},"
        f" {metadata['report']['seconds']['training']:.0f} s on {metadata['report']['device']} |",
        "",
        "**Scores.** Word similarity, Spearman x 100, all pairs; as it is loaded, and by spelling only:",
        "",
        f"| | {' | '.join(columns)} |",
        f"|---|{'--:|' * len(columns)}",
        *(
            f"| {label} | {' | '.join(f'{scores[key][column]:.1f}' for column in columns)} |"
            for key, label in (("near", "known words their own"), ("spelled", "`spelling_only=True`"))
        ),
        "",
        f"Birkbeck's {near['misspellings']:,.0f} real misspellings of known words: the right word's target vector is"
        f" nearest for {near['top1']:.1f} %, among the 10 nearest for {near['top10']:.1f} %"
        f" (by spelling only {spelled['top1']:.1f} and {spelled['top10']:.1f} %).",
        "",
        f"{held['words']:,} words that training never saw, by spelling: own target vector among the 10 nearest"
        f" {held['clean']['top10']:.1%}, cosine {held['clean']['cosine']:.3f}.",
        "",
        f"**Channel**, on damaged words that it was not fitted to: right word first {channel['right_first']:.1%}; mean"
        f" probability of new {channel['new_on_typos']:.2f} on these, {channel['new_on_held_back']:.2f} on new words.",
        "",
        f"**Confidence** is the probability that {sure['event']}. Expected calibration error"
        f" {sure['calibration_error']:.3f} on {sure['held_back_words']:,} held-back words, {sure['typos']:,} misspelled"
        f" ones and {sure['nonsense']:,} strings of nonsense.",
        "",
        LIMITS,
        "",
    ]
    return "\n".join(lines)


def with_fewer(love: LOVE, vectors: NDArray[np.float32], known: int, rows: str) -> LOVE:
    """The model with its first words as the known ones; channel and confidence learned for these."""
    words, vectors = list(love.words[:known]), vectors[:known]
    parts = replace(
        love.parts, words=words, rows=KnownRows.of_target(vectors, rows, love.metadata["settings"]["weights"])
    )
    channel, report = fit_channel(words, parts.units.lowercase, seed=0)
    parts = replace(parts, channel=channel, metadata={**parts.metadata, "channel_report": report})
    settings = parts.metadata["settings"]
    unseen = holdout_rows(len(love.words), settings["holdout"], settings["seed"])
    confidence = calibrate(LOVE(parts), words, vectors, unseen[unseen < known], seed=0)
    return LOVE(replace(parts, metadata={**parts.metadata, "confidence": confidence}))


def main() -> None:
    """Score, describe, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="the folder that lovevec train wrote")
    parser.add_argument("name", choices=list(WHAT))
    parser.add_argument("--target", required=True, help="the vectors that it mimics")
    parser.add_argument("--known", type=int, help="how many of the words are known ones (default: all)")
    parser.add_argument("--rows", default="int8", choices=["float16", "int8", "int4"], help="(default int8)")
    parser.add_argument("-o", "--output", type=Path, default=SHIPPED, help="(default: the package's own)")
    given = parser.parse_args()
    trained = LOVE.load(given.model)
    known = given.known or len(trained.words)
    target = load_target(given.target)
    place = {word: row for row, word in enumerate(target.words)}
    vectors = np.asarray(target.vectors[[place[word] for word in trained.words]], dtype=np.float32)
    chosen = with_fewer(trained, vectors, known, given.rows)
    with tempfile.TemporaryDirectory() as folder:
        chosen.save(folder, "int8")
        small = LOVE.load(folder)
        table = VectorTable(list(chosen.words), vectors[:known], target.report)
        scores = {
            key: scores_of(small, given.name, Table(table, target.name), near=key == "near")
            for key in ("near", "spelled")
        }
    metadata = chosen.metadata
    metadata |= {"scores": scores["near"], "target": {**metadata["target"], **TARGETS[given.name]}}
    shipped = LOVE(replace(chosen.parts, metadata=metadata))
    shipped.card = card(given.name, shipped, scores)
    shipped.save(given.output / given.name, "int8")
    size = sum(file.stat().st_size for file in (given.output / given.name).iterdir())
    print(f"{given.name}: {size / 1e6:.1f} MB, {scores}")


if __name__ == "__main__":
    main()
