"""Puts a trained model into the package: scores it, writes its card, saves it under src/lovevec/model/shipped.

    python lab/runs/ship.py build/models/default default --target target.npz --lists lists --rows int4
    python lab/runs/ship.py build/models/minilm-input minilm-input --target hf:all-MiniLM-L6-v2 --lists lists
    python lab/runs/ship.py src/lovevec/model/shipped/default default --lists lists        # only the readings anew

`lists` are what lab/runs/lexicon.py wrote. The default's known words are those of known.txt; channel, lexicon and
confidence are learned for the known words, the encoder has learned from all. Without a target the rows are those that
the model has. The encoder is stored as int8, the known words' own rows as `--rows`. The card states data, licences,
scores and limits. Scores are those of the model as shipped.
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
from lovevec.files.lines import read_word_list
from lovevec.files.misspellings import read_misspellings
from lovevec.model.known_rows import KnownRows, with_least_weight
from lovevec.near.forms import read_listed
from lovevec.train.calibration import calibrate
from lovevec.train.channel import fit_reader
from lovevec.train.loop import holdout_rows
from lovevec.train.target import load_target
from lovevec.vectors import ReadReport, VectorTable
from lovevec_lab.methods.table import Table

SHIPPED = Path(__file__).resolve().parents[2] / "src" / "lovevec" / "model" / "shipped"
FORMS = Path(__file__).resolve().parent / "english" / "forms.tsv"
# Words that tell what a question asks for count as rarer ones do, or `who` and `where` were the same
# (docs/results/texts.md).
QUESTION_WORDS = "who what when where why how which whose whom many much far long"
QUESTION_WEIGHT = 0.7
READINGS = """\
**Readings.** Channel and lexicon were learned from damaged words, from codespell's misspellings and half of
Birkbeck's, and from lists of words and names that exist: SCOWL, the US census of 1990, GeoNames, drug names, FOLDOC,
the Jargon File, wordfreq. `lab/runs/lexicon.py` has the sources and their licences. No list is part of the model: a
filter of words and weights of n-grams are. The forms in `forms.json` (dont, govt) are lovevec's own."""
WHAT = {
    "default": """\
The model of `LOVE.load()`: English, general purpose, for words and for texts.

**Data.** The target are vectors of words that were fitted so that their sum has the direction that all-mpnet-base-v2
gives to the sentence they stand in (300 main directions), over 0.8M sentences: definitions and examples of WordNet,
news, web text, film reviews, books and speeches of NLTK's corpora, descriptions of Debian's packages, FOLDOC, fortunes.
Their lengths say how much a word counts in a text. The words are the most frequent of wordfreq's English list (Latin
letters, digits, apostrophes, dots), without misspellings (`lab/runs/word_list.py` and `lexicon.py` say how these are
told). The commands are in `lab/runs/shipped.sh`.

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
        READINGS,
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
        f" probability of new {channel['new_on_typos']:.2f} on these, {channel['new_on_listed']:.2f} on words that the"
        f" lexicon has, {channel['new_on_held_back']:.2f} on other new words.",
        "",
        f"**Confidence** is the probability that {sure['event']}. Expected calibration error"
        f" {sure['calibration_error']:.3f} on {sure['held_back_words']:,} held-back words, {sure['typos']:,} misspelled"
        f" ones and {sure['nonsense']:,} strings of nonsense.",
        "",
        LIMITS,
        "",
    ]
    return "\n".join(lines)


def with_readings(love: LOVE, vectors: NDArray[np.float32], lists: Path, rows: KnownRows, keep: list[str]) -> LOVE:
    """The model with some of its words as the known ones, whose own vectors and rows these are; channel, lexicon and
    confidence learned for them."""
    place = {word: row for row, word in enumerate(love.words)}
    chosen = np.array([place[word] for word in keep])
    kept = frozenset(keep)
    misspellings = [pair for pair in read_misspellings(lists / "misspellings.tsv") if pair[1] not in kept]
    exist = [word for word in read_word_list(lists / "exist.txt") if word not in kept]
    listed = {form: meant for form, meant in read_listed(FORMS).items() if form not in kept}
    fit = fit_reader(keep, love.parts.units.lowercase, 0, misspellings, exist, listed)
    metadata = {**love.parts.metadata, "channel_report": fit.report}
    parts = replace(love.parts, words=keep, rows=rows, orthography=fit.orthography, metadata=metadata)
    settings, target = metadata["settings"], metadata["target"]
    unseen = holdout_rows(target["words"], settings["holdout"], settings["seed"])
    held = np.flatnonzero(np.isin(chosen, unseen[unseen < len(love.words)]))
    confidence = calibrate(LOVE(parts), keep, vectors[chosen], held, seed=0)
    return LOVE(replace(parts, metadata={**metadata, "confidence": confidence, "held_back": held.tolist()}))


def chosen_rows(love: LOVE, vectors: NDArray[np.float32] | None, keep: list[str], precision: str | None) -> KnownRows:
    """The rows of the known words, of the target's vectors or as the model has them."""
    place = {word: row for row, word in enumerate(love.words)}
    chosen, settings = np.array([place[word] for word in keep]), love.metadata["settings"]
    if vectors is not None:
        rows = KnownRows.of_target(vectors[chosen], precision or "int8", settings["weights"])
    else:
        assert love.parts.rows is not None
        rows = love.parts.rows.take(chosen)
        rows = rows if precision is None else rows.to(precision)
        if rows.weights is not None and not love.metadata.get("least_weight"):
            rows = replace(rows, weights=with_least_weight(rows.weights))
    if rows.weights is None:
        return rows
    weights = rows.weights.copy()
    for word in QUESTION_WORDS.split():
        if word in place and word in keep:
            weights[keep.index(word)] = max(weights[keep.index(word)], QUESTION_WEIGHT)
    return replace(rows, weights=weights)


def main() -> None:
    """Score, describe, save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="the folder that lovevec train wrote")
    parser.add_argument("name", choices=list(WHAT))
    parser.add_argument("--lists", type=Path, required=True, help="what lab/runs/lexicon.py wrote")
    parser.add_argument("--target", help="the vectors that it mimics (default: the rows that the model has)")
    parser.add_argument("--rows", choices=["float16", "int8", "int4"], help="(default: int8, or as the model has them)")
    parser.add_argument("-o", "--output", type=Path, default=SHIPPED, help="(default: the package's own)")
    given = parser.parse_args()
    trained, vectors = LOVE.load(given.model), None
    if given.target:
        target = load_target(given.target)
        place = {word: row for row, word in enumerate(target.words)}
        vectors = np.asarray(target.vectors[[place[word] for word in trained.words]], dtype=np.float32)
    keep = list(trained.words)
    if given.name == "default":
        known = set(read_word_list(given.lists / "known.txt"))
        keep = [word for word in keep if word in known]
    assert trained.parts.rows is not None
    own = trained.parts.rows.all() if vectors is None else vectors
    rows = chosen_rows(trained, vectors, keep, given.rows)
    chosen = with_readings(trained, own, given.lists, rows, keep)
    metadata = {**chosen.metadata, "least_weight": True}
    metadata["target"] = {**metadata["target"], **TARGETS[given.name]}
    with tempfile.TemporaryDirectory() as folder:
        chosen.save(folder, "int8")
        small = LOVE.load(folder)
        place = {word: row for row, word in enumerate(trained.words)}
        kept = own[[place[word] for word in keep]]
        table = Table(VectorTable(keep, kept, ReadReport("rows")), metadata["target"]["name"])
        scores = {key: scores_of(small, given.name, table, near=key == "near") for key in ("near", "spelled")}
    shipped = LOVE(replace(chosen.parts, metadata=metadata | {"scores": scores["near"]}))
    shipped.card = card(given.name, shipped, scores)
    shipped.save(given.output / given.name, "int8")
    size = sum(file.stat().st_size for file in (given.output / given.name).iterdir())
    print(f"{given.name}: {size / 1e6:.1f} MB, {scores}")


if __name__ == "__main__":
    main()
