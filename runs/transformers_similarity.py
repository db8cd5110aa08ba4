"""Sentence embeddings of damaged text, plain and with LOVE inside, without any fine-tuning: one Markdown table a kind.

    python runs/transformers_similarity.py --transformer FOLDER --love minilm-input [--distilled FOLDER] -o results
    python runs/transformers_similarity.py --transformer FOLDER --love minilm-input --tasks pairs

`copies`: the sentences are SST2's test set. A cell has the mean cosine of the noisy copies to their own sentences, that
to all other sentences, and how often (in per cent) the own sentence is the nearest of all clean ones: a high cosine
alone is easily had, by a model to which all sentences are alike. Mean pooling is meant for a sentence encoder such as
all-MiniLM-L6-v2.

`pairs`: Spearman's ρ (x 100) of the cosines of STS-B's dev pairs with their scores, as they are and with typos in 30 %
of the longer words; the same for those pairs of train and dev, as they are, that hold a new broken word, one that
neither the tokenizer nor the shipped default knows; and how often (in per cent) a mistyped MS MARCO query has its own
clean form as the nearest of all.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from lovevec.damage.noise import Noise, damaged
from lovevec.device import choose_device
from lovevec.errors import LovevecError
from lovevec.evaluate.data import data_folder, texts
from lovevec.evaluate.finetune import Transformer
from lovevec.evaluate.finetune.loop import Rows
from lovevec.evaluate.finetune.tasks import Sentences, tokenised
from lovevec.evaluate.results import Cell, Result, markdown, refuse_bad_folder
from lovevec.evaluate.statistics import spearman
from lovevec.love import LOVE

Floats = NDArray[np.float32]
LONGEST = 512
LONGER = 5  # letters of a word that is mistyped among `pairs`
MISTYPED = Noise("typo", 0.3)
TASKS = ("copies", "pairs")
KINDS = {
    "OCR confusions in so many per cent of the words": [Noise("ocr", share / 100) for share in (10, 30, 50, 70, 90)],
    "One mistyped character in so many per cent of the words": [
        Noise("typo", share / 100) for share in (10, 30, 50, 70, 90)
    ],
    "So many words of each sentence mistyped": [Noise("typo", per_sentence=count) for count in (1, 2, 3)],
}


class Nearness(NamedTuple):
    """Mean cosines of the copies to their own sentences and to all others, and the share of copies (in per cent) whose
    nearest clean sentence is their own."""

    own: float
    others: float
    found: float


def nearness(
    embed: Callable[[Sentences], Floats], sentences: Sentences, noises: Sequence[Noise], seed: int
) -> dict[str, Nearness]:
    """By the labels of the noises; `embed` gives [sentences, dim]. Sentences of the same words count as one."""
    distinct = list({tuple(sentence): sentence for sentence in sentences}.values())
    if len(distinct) < 2:
        raise LovevecError("nearness: at least two different sentences are needed")
    clean = _directions(embed(distinct))
    scores = {}
    for noise in noises:
        cosines = _directions(embed(damaged(distinct, noise, seed))) @ clean.T
        own = np.diagonal(cosines)
        others = (cosines.sum() - own.sum()) / (cosines.size - len(own))
        right = cosines.argmax(axis=1) == np.arange(len(own))
        scores[noise.label] = Nearness(float(own.mean()), float(others), 100 * float(right.mean()))
    return scores


def embedder(transformer: Transformer, device: torch.device) -> Callable[[Sentences], Floats]:
    """Sentences -> the mean of their positions' outputs, special tokens included, as sentence-transformers has it."""
    model = transformer.pair()[0].to(device).eval()

    @torch.no_grad()
    def embed(sentences: Sentences) -> Floats:
        texts = [" ".join(sentence) for sentence in transformer.read(sentences)]
        rows = Rows(tokenised(transformer.tokenizer, texts, LONGEST, words=False)[0], torch.zeros(len(texts)), device)
        vectors = torch.empty(len(texts), model.config.hidden_size, device=device)
        for which, inputs in rows.by_length():
            there = inputs["attention_mask"][..., None]
            vectors[which] = (model(**inputs).last_hidden_state * there).sum(dim=1) / there.sum(dim=1)
        result: Floats = vectors.cpu().numpy()
        return result

    return embed


def _directions(vectors: Floats) -> NDArray[np.float64]:
    wide = vectors.astype(np.float64)
    result: NDArray[np.float64] = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    return result


class Pairs(NamedTuple):
    """Sentences two by two, and how similar people find them."""

    first: Sentences
    second: Sentences
    scores: NDArray[np.float64]

    def similarity(self, embed: Callable[[Sentences], Floats]) -> float:
        """Spearman's ρ, x 100, of the cosines with the scores."""
        cosines = (_directions(embed(self.first)) * _directions(embed(self.second))).sum(axis=1)
        return 100 * spearman(cosines, self.scores)

    def mistyped(self, seed: int) -> Pairs:
        """With typos in both sentences, each of its own."""
        return Pairs(longer_mistyped(self.first, seed), longer_mistyped(self.second, seed + 1), self.scores)

    def those_with(self, chosen: Callable[[str], bool]) -> Pairs:
        """The pairs with such a word in either sentence."""
        both = zip(self.first, self.second, strict=True)
        rows = [row for row, (one, other) in enumerate(both) if any(map(chosen, [*one, *other]))]
        return Pairs([self.first[row] for row in rows], [self.second[row] for row in rows], self.scores[rows])


def words_of(text: str) -> list[str]:
    """Words and marks apart, as BERT's tokenizer parts them, so that damage and speller meet words alone."""
    return re.findall(r"\w+|[^\w\s]", text)


def longer_mistyped(sentences: Sentences, seed: int) -> list[list[str]]:
    """Typos in 30 % of the words of five letters or more."""
    worse = damaged(sentences, MISTYPED, seed)
    return [
        [new if len(old) >= LONGER and old.isalpha() else old for new, old in zip(after, before, strict=True)]
        for after, before in zip(worse, sentences, strict=True)
    ]


def read_pairs(*files: Path) -> Pairs:
    """STS-B: sentence, sentence, score."""
    rows = [row for file in files for row in csv.reader(file.read_text("utf-8").splitlines())]
    first, second = ([words_of(row[column]) for row in rows] for column in (0, 1))
    return Pairs(first, second, np.array([float(row[2]) for row in rows]))


def read_queries(file: Path, count: int | None) -> list[list[str]]:
    """MS MARCO: number, query."""
    return [words_of(line.split("\t")[1]) for line in file.read_text("utf-8").splitlines()[:count]]


def found_again(embed: Callable[[Sentences], Floats], clean: Sentences, noisy: Sentences) -> float:
    """How often, in per cent, the own clean form is the nearest of all; equal ones count as one."""
    cosines = _directions(embed(noisy)) @ _directions(embed(clean)).T
    nearest = cosines.argmax(axis=1).tolist()
    own = [list(clean[place]) == list(sentence) for place, sentence in zip(nearest, clean, strict=True)]
    return 100 * sum(own) / len(own)


def pairs_and_queries(
    rows: dict[str, Transformer], folder: Path, device: torch.device, count: int | None, seed: int
) -> tuple[str, dict[str, dict[str, float]]]:
    """The table of `pairs`, and its numbers."""
    dev = read_pairs(folder / "stsb-en-dev.csv")
    tokenizer, default = rows["plain"].tokenizer, LOVE.load()

    @cache
    def is_new(word: str) -> bool:
        return word.isalpha() and word not in default and len(tokenizer.tokenize(word)) > 1

    new = read_pairs(folder / "stsb-en-train.csv", folder / "stsb-en-dev.csv").those_with(is_new)
    clean, noisy = (read_queries(folder / f"marco-queries{kind}.tsv", count) for kind in ("", ".typo"))
    scores: dict[str, dict[str, float]] = {}
    for name, transformer in rows.items():
        embed = embedder(transformer, device)
        scores[name] = {
            "STS-B dev": dev.similarity(embed),
            "mistyped": dev.mistyped(seed).similarity(embed),
            f"{len(new.scores)} pairs with new broken words": new.similarity(embed),
            f"{len(clean)} mistyped queries found": found_again(embed, clean, noisy),
        }
    cells: list[list[Cell]] = [[name, *found.values()] for name, found in scores.items()]
    return markdown(["transformer", *scores["plain"]], cells), scores


def transformers(name: str, love: str | None, distilled: str | None) -> dict[str, Transformer]:
    """The rows: the transformer alone, behind a speller, and with each LOVE by each strategy (`linear` untrained), what
    is spelled right left in pieces; by replace also with every broken word replaced, as in the paper."""
    rows = {"plain": Transformer(name)}
    if find_spec("symspellpy"):
        rows["SymSpell"] = Transformer(name, spelled=True)
        rows["SymSpell, 80,000 words"] = Transformer(name, spelled="default")
    for title, model in (("LOVE", love), ("LOVE, distilled", distilled)):
        if model:
            rows |= {f"{title}, {way}": Transformer(name, model, way) for way in ("replace", "linear", "add")}
            rows[f"{title}, replace, keep=()"] = Transformer(name, model, keep=())
    return rows


def table(scores: dict[str, dict[str, Nearness]], noises: list[Noise]) -> str:
    """Rows of `own / others / found`, and the mean of `found`."""
    rows: list[list[Cell]] = []
    for name, found in scores.items():
        some = [found[noise.label] for noise in noises]
        cells: list[Cell] = [f"{one.own:.3f} / {one.others:.3f} / {one.found:.1f}" for one in some]
        rows.append([name, *cells, sum(one.found for one in some) / len(some)])
    return markdown(["transformer", *(noise.label for noise in noises), "found, mean"], rows)


def main() -> None:
    """Measure all rows, then write and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transformer", required=True, help="folder or hub id")
    parser.add_argument("--love", help="LOVE that mimics its input embeddings")
    parser.add_argument("--distilled", help="LOVE that mimics its distilled embeddings")
    parser.add_argument("--data", help="where the datasets are (default: $LOVEVEC_DATA, else ./data)")
    parser.add_argument("--sentences", type=int, help="only the first so many (of copies; of queries)")
    parser.add_argument("--tasks", default=",".join(TASKS), help=f"of {', '.join(TASKS)}")
    parser.add_argument("--rows", help="only these rows, separated by semicolons")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=Path("results"))
    given = parser.parse_args()
    folder, device = refuse_bad_folder(given.output), choose_device(given.device)
    rows = transformers(given.transformer, given.love, given.distilled)
    if given.rows:
        rows = {name: rows[name] for name in given.rows.split(";")}
    page = "# Sentence embeddings of damaged text\n"
    settings: dict[str, object] = {"seed": given.seed}
    plain: dict[str, object] = {}
    if "copies" in given.tasks.split(","):
        sentences = texts("sst2", data_folder(given.data)).test.sentences[: given.sentences]
        noises = list(dict.fromkeys(noise for some in KINDS.values() for noise in some))
        scores = {
            name: nearness(embedder(transformer, device), sentences, noises, given.seed)
            for name, transformer in rows.items()
        }
        page += "\nCosine to the own sentence / to all others / own sentence is the nearest, in per cent.\n"
        page += "".join(f"\n## {title}\n\n{table(scores, some)}" for title, some in KINDS.items())
        settings["sentences"] = len(sentences)
        plain |= {name: {label: one._asdict() for label, one in found.items()} for name, found in scores.items()}
    if "pairs" in given.tasks.split(","):
        shown, numbers = pairs_and_queries(
            rows, data_folder(given.data) / "sentences", device, given.sentences, given.seed
        )
        page += f"\n## Pairs and queries\n\n{shown}"
        plain["pairs and queries"] = numbers
    Result("sentences", settings, plain, page).write(folder)
    print(page)


if __name__ == "__main__":
    main()
