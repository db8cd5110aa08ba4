"""Trains a real fastText .bin on the running text at hand, to have the paper's own kind of target: n-grams included.

    python lab/runs/fasttext_target.py -o corpus-300d.bin          (needs the package fasttext; 4 minutes on 2 cores)

Skip-gram, 300 dimensions, n-grams of 3 to 6 characters, on 5.8M tokens in lower case: small beside the 600 billion of
fasttext-crawl-300d-2M, but made in the same way.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from pathlib import Path

import fasttext

DATA = Path(os.environ.get("LOVEVEC_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data"))
TOKEN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*|[^\sa-z0-9]")


def main() -> None:
    """Write the model file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True, type=Path)
    given = parser.parse_args()
    files = sorted((DATA / "corpora").glob("*.txt"))
    tokens = TOKEN.findall("\n".join(file.read_text("utf-8", "replace").lower() for file in files))
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.txt"
        corpus.write_text(" ".join(tokens), encoding="utf-8")
        model = fasttext.train_unsupervised(
            str(corpus), model="skipgram", dim=300, epoch=5, minCount=3, minn=3, maxn=6, bucket=200_000, thread=2
        )
    model.save_model(str(given.output))
    print(f"{given.output}: {len(tokens):,} tokens, {len(model.words):,} words")


if __name__ == "__main__":
    main()
