"""The default model's target: single words by all-mpnet-base-v2 beside potion-base-8M, reduced to 300 dimensions.

    python runs/shipped_target.py mpnet.npz POTION_FOLDER -o target.npz

mpnet.npz comes from `lovevec distill`. Its rows are centred and normalised; potion's (the mean of a word's pieces) are
normalised and divided by the number of pieces, since a mean of several says less about the word. Both side by side are
projected on their 300 main directions. Words that the evaluation's lists of misspellings hold as wrong forms, and
that neither a list nor GloVe's 34k common words hold as a right one, are left out: a model that learned `recieve` as a
word could not be tested on it.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from lovevec.train.target import load_target

DATA = Path(os.environ.get("LOVEVEC_DATA", Path(__file__).resolve().parents[1].parent / "shared" / "data"))
LISTS = ("missp.dat", "aspell.dat", "holbrook-missp.dat")
COMMON = 50_000


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows to unit length."""
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def potion(folder: Path, words: list[str]) -> np.ndarray:
    """Mean of a word's piece vectors at length one, divided by the number of pieces."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    table = load_file(folder / "model.safetensors")["embeddings"].astype(np.float32)
    split = [entry.ids for entry in tokenizer.encode_batch(words, add_special_tokens=False)]
    means = np.array([table[ids].mean(axis=0) if ids else np.zeros(table.shape[1], np.float32) for ids in split])
    return unit(means) / np.array([max(len(ids), 1) for ids in split])[:, None]


def misspelled() -> set[str]:
    """Wrong forms of the evaluation's lists that are not right forms too."""
    right, wrong = set(), set()
    for name in LISTS:
        for line in (DATA / "misspellings" / name).read_text("utf-8").lower().splitlines():
            word = line.split()[0] if line.split() else ""
            (right if word.startswith("$") else wrong).add(word.removeprefix("$"))
    return wrong - right


def main() -> None:
    """Put the target together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mpnet", help="single words by all-mpnet-base-v2, most frequent first")
    parser.add_argument("potion", type=Path, help="folder of potion-base-8M")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--dim", type=int, default=300)
    given = parser.parse_args()
    made = load_target(given.mpnet)
    out = misspelled() - set(load_target(DATA / "targets" / "glove840b-300d-34k.npz").words)
    rows = [row for row, word in enumerate(made.words) if word not in out]
    words = [made.words[row] for row in rows]
    vectors = made.vectors[rows]
    vectors = unit(vectors - vectors[:COMMON].mean(axis=0))
    both = np.concatenate([vectors, potion(given.potion, words)], axis=1)
    _, directions = np.linalg.eigh((both[:COMMON].T @ both[:COMMON]).astype(np.float64))
    reduced = both @ directions[:, ::-1][:, : given.dim].astype(np.float32)
    joined = np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8)
    np.savez(given.output, words=joined, vectors=reduced.astype(np.float16))
    kept = float((reduced**2).sum() / (both**2).sum())
    print(f"{given.output}: {len(words):,} words, {len(made.words) - len(rows):,} left out; {kept:.1%} of the variance")


if __name__ == "__main__":
    main()
