"""Sentence embeddings of damaged text, plain and with LOVE inside, without any fine-tuning: one Markdown table a kind.

    python lab/runs/transformers_similarity.py --transformer FOLDER --love minilm-input [--distilled FOLDER] -o results
    python lab/runs/transformers_similarity.py --transformer FOLDER --love minilm-input --tasks pairs

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
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from lovevec.damage.noise import Noise, damaged, words_of
from lovevec.device import choose_device
from lovevec.errors import LovevecError
from lovevec.love import LOVE
from lovevec.vectors.rows import normalized
from lovevec_lab.evaluate.classify import text_split
from lovevec_lab.evaluate.datasets import data_folder
from lovevec_lab.evaluate.finetune import Transformer
from lovevec_lab.evaluate.finetune.loop import TokenRows
from lovevec_lab.evaluate.finetune.tasks import Sentences, tokenise
from lovevec_lab.evaluate.results import Cell, Result, markdown, refuse_bad_folder
from lovevec_lab.evaluate.similarity import GoldPairs
from lovevec_lab.evaluate.text_encoders import BenchmarkEncoder
from lovevec_lab.evaluate.texts import TextTrial, first_items, queries, score_texts, sentence_pairs, trial

Floats = NDArray[np.float32]
LONGEST = 512
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
        rows = TokenRows(
            tokenise(transformer.tokenizer, texts, LONGEST, words=False)[0], torch.zeros(len(texts)), device
        )
        vectors = torch.empty(len(texts), model.config.hidden_size, device=device)
        for which, inputs in rows.by_length():
            there = inputs["attention_mask"][..., None]
            vectors[which] = (model(**inputs).last_hidden_state * there).sum(dim=1) / there.sum(dim=1)
        result: Floats = vectors.cpu().numpy()
        return result

    return embed


def _directions(vectors: Floats) -> NDArray[np.float64]:
    return normalized(vectors.astype(np.float64))


def those_with(chosen: Callable[[str], bool], *several: GoldPairs) -> TextTrial:
    """The pairs, as they are, with such a word in either sentence."""
    rows = [
        row
        for pairs in several
        for row in zip(pairs.left, pairs.right, pairs.gold, strict=True)
        if any(map(chosen, (*words_of(row[0]), *words_of(row[1]))))
    ]
    left, right, gold = zip(*rows, strict=True)
    return TextTrial("new", "clean", list(left), list(right), np.array(gold))


def pairs_and_queries(
    rows: dict[str, Transformer], folder: Path, device: torch.device, count: int | None, seed: int
) -> tuple[str, dict[str, dict[str, float]]]:
    """The table of `pairs`, and its numbers."""
    dev, train, marco = sentence_pairs("stsb", folder), sentence_pairs("stsb-train", folder), queries("marco", folder)
    marco = first_items(marco, count) if count else marco
    tokenizer, default = rows["plain"].tokenizer, LOVE.load()

    @cache
    def is_new(word: str) -> bool:
        return word.isalpha() and word not in default and len(tokenizer.tokenize(word)) > 1

    new = those_with(is_new, train, dev)
    trials = {
        "STS-B dev": trial(dev, Noise(), seed),
        "mistyped": trial(dev, MISTYPED, seed),
        f"{len(new.one)} pairs with new broken words": new,
        f"{len(marco.clean)} mistyped queries found": trial(marco, None, seed),
    }
    scores: dict[str, dict[str, float]] = {}
    for name, transformer in rows.items():
        encoder = BenchmarkEncoder(name, reader(embedder(transformer, device)))
        found = score_texts(encoder, list(trials.values()), 1)
        scores[name] = {column: one.score for column, one in zip(trials, found, strict=True)}
    cells: list[list[Cell]] = [[name, *found.values()] for name, found in scores.items()]
    return markdown(["transformer", *trials], cells), scores


def reader(embed: Callable[[Sentences], Floats]) -> Callable[[Sequence[str]], Floats]:
    """The same for texts."""
    return lambda texts: embed([words_of(text) for text in texts])


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
    """TokenRows of `own / others / found`, and the mean of `found`."""
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
        sentences = text_split("sst2", data_folder(given.data)).test.sentences[: given.sentences]
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
        shown, numbers = pairs_and_queries(rows, data_folder(given.data), device, given.sentences, given.seed)
        page += f"\n## GoldPairs and queries\n\n{shown}"
        plain["pairs and queries"] = numbers
    Result("sentences", settings, plain, page).write(folder)
    print(page)


if __name__ == "__main__":
    main()
