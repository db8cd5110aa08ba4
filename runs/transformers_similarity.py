"""Sentence embeddings of damaged text, plain and with LOVE inside, without any fine-tuning: one Markdown table a kind.

    python runs/transformers_similarity.py --transformer FOLDER --love minilm-input [--distilled FOLDER] -o results

The sentences are SST2's test set. A cell has the mean cosine of the noisy copies to their own sentences, that to all
other sentences, and how often (in per cent) the own sentence is the nearest of all clean ones: a high cosine alone is
easily had, by a model to which all sentences are alike. Mean pooling is meant for a sentence encoder such as
all-MiniLM-L6-v2.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
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

Floats = NDArray[np.float32]
LONGEST = 512
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


def transformers(name: str, love: str | None, distilled: str | None) -> dict[str, Transformer]:
    """The rows: the transformer alone, behind a speller, and with each LOVE by each strategy (`linear` untrained)."""
    rows = {"plain": Transformer(name)}
    if find_spec("symspellpy"):
        rows["SymSpell"] = Transformer(name, spelled=True)
    for title, model in (("LOVE", love), ("LOVE, distilled", distilled)):
        if model:
            rows |= {f"{title}, {way}": Transformer(name, model, way) for way in ("replace", "linear", "add")}
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
    parser.add_argument("--sentences", type=int, help="only the first so many")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-o", "--output", type=Path, default=Path("results"))
    given = parser.parse_args()
    folder, device = refuse_bad_folder(given.output), choose_device(given.device)
    sentences = texts("sst2", data_folder(given.data)).test.sentences[: given.sentences]
    noises = list(dict.fromkeys(noise for some in KINDS.values() for noise in some))
    scores = {
        name: nearness(embedder(transformer, device), sentences, noises, given.seed)
        for name, transformer in transformers(given.transformer, given.love, given.distilled).items()
    }
    page = "# Sentence embeddings of damaged text\n"
    page += "\nCosine to the own sentence / to all others / own sentence is the nearest, in per cent.\n"
    page += "".join(f"\n## {title}\n\n{table(scores, some)}" for title, some in KINDS.items())
    settings = {"sentences": len(sentences), "seed": given.seed}
    plain = {name: {label: one._asdict() for label, one in found.items()} for name, found in scores.items()}
    Result("sentences", settings, plain, page).write(folder)
    print(page)


if __name__ == "__main__":
    main()
