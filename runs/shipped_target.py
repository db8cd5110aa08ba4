"""The default model's target: single words by all-mpnet-base-v2 beside potion-base-8M, reduced to 300 dimensions.

    python runs/shipped_target.py mpnet.npz POTION_FOLDER -o target.npz

mpnet.npz comes from `lovevec distill` and has the words of runs/word_list.py. Its rows are centred and normalised;
potion's (the mean of a word's pieces) are normalised and divided by the number of pieces, since a mean of several says
less about the word. Both side by side are projected on their 300 main directions. Centre and directions are those of
the 20,000 most frequent words: a list's long tail of names would fill the directions with names.

The 300 numbers are then turned by a random rotation. No cosine changes, but every number is about as large as any
other, so that a few bits for each are enough: 4 bits a number keep a cosine of 0.995, instead of 0.986 to 0.993.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from lovevec.train.target import load_target

COMMON = 20_000


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


def rotation(dim: int, seed: int = 0) -> np.ndarray:
    """A random rotation [dim, dim]."""
    turned, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))
    return turned


def main() -> None:
    """Put the target together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mpnet", help="single words by all-mpnet-base-v2, most frequent first")
    parser.add_argument("potion", type=Path, help="folder of potion-base-8M")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--dim", type=int, default=300)
    given = parser.parse_args()
    made = load_target(given.mpnet)
    words, vectors = list(made.words), made.vectors
    vectors = unit(vectors - vectors[:COMMON].mean(axis=0))
    both = np.concatenate([vectors, potion(given.potion, words)], axis=1, dtype=np.float32)
    _, directions = np.linalg.eigh((both[:COMMON].T @ both[:COMMON]).astype(np.float64))
    reduced = both @ (directions[:, ::-1][:, : given.dim] @ rotation(given.dim)).astype(np.float32)
    joined = np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8)
    np.savez(given.output, words=joined, vectors=reduced.astype(np.float16))
    kept = float((reduced**2).sum() / (both**2).sum())
    print(f"{given.output}: {len(words):,} words; {kept:.1%} of the variance")


if __name__ == "__main__":
    main()
