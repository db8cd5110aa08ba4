"""Sentence embeddings of damaged text, plain and with LOVE inside, without any fine-tuning: one Markdown table a kind.

    python runs/transformers_similarity.py --encoder FOLDER --love minilm-input [--distilled FOLDER] -o results

The sentences are SST2's test set. A cell has the mean cosine of the noisy copies to their own sentences, that to all
other sentences, and how often (in per cent) the own sentence is the nearest of all clean ones. The encoder's mean
pooling is meant for a sentence encoder such as all-MiniLM-L6-v2.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

from lovevec.damage.noise import Noise
from lovevec.device import choose_device
from lovevec.evaluate.datasets import data_folder, texts
from lovevec.evaluate.finetune import Transformer
from lovevec.evaluate.markdown import Cell, markdown
from lovevec.evaluate.results import refuse_bad_folder, write_results
from lovevec.evaluate.sentences import Nearness, embedder, nearness

KINDS = {
    "OCR confusions in so many per cent of the words": [Noise("ocr", share / 100) for share in (10, 30, 50, 70, 90)],
    "One mistyped character in so many per cent of the words": [
        Noise("typo", share / 100) for share in (10, 30, 50, 70, 90)
    ],
    "So many words of each sentence mistyped": [Noise("typo", per_sentence=count) for count in (1, 2, 3)],
}


def encoders(name: str, love: str | None, distilled: str | None) -> dict[str, Transformer]:
    """The rows: the encoder alone, behind a speller, and with each LOVE by each strategy (`linear` untrained)."""
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
    return markdown(["encoder", *(noise.label for noise in noises), "found, mean"], rows)


def main() -> None:
    """Measure all rows, then write and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoder", required=True, help="folder or hub id")
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
        name: nearness(embedder(encoder, device), sentences, noises, given.seed)
        for name, encoder in encoders(given.encoder, given.love, given.distilled).items()
    }
    page = "# Sentence embeddings of damaged text\n"
    page += "\nCosine to the own sentence / to all others / own sentence is the nearest, in per cent.\n"
    page += "".join(f"\n## {title}\n\n{table(scores, some)}" for title, some in KINDS.items())
    settings = {"sentences": len(sentences), "seed": given.seed}
    plain = {name: {label: one._asdict() for label, one in found.items()} for name, found in scores.items()}
    write_results(folder, "sentences", settings, plain, page)
    print(page)


if __name__ == "__main__":
    main()
