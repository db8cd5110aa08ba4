"""Single words through a sentence encoder: mean over its output, one vector a word.

    python runs/word_vectors.py MODEL_FOLDER words.txt -o mpnet.npz

Words of one length run together, in bfloat16. Blocks of words are kept beside the output as they are done, so a stopped
run goes on where it was.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from lovevec.progress import Progress

BLOCK, BATCH_UNITS = 10_000, 2048


def encode_block(words: list[str], model: torch.nn.Module, tokenizer: object) -> np.ndarray:
    """[words, dim], float16."""
    units = tokenizer(words)["input_ids"]
    order = sorted(range(len(words)), key=lambda i: len(units[i]))
    out = np.empty((len(words), model.config.hidden_size), dtype=np.float16)
    low = 0
    while low < len(order):
        length = len(units[order[low]])
        high = low
        while high < len(order) and len(units[order[high]]) == length and (high - low + 1) * length <= BATCH_UNITS:
            high += 1
        rows = order[low:high]
        with torch.inference_mode():
            hidden = model(torch.tensor([units[i] for i in rows])).last_hidden_state
        out[rows] = hidden.float().mean(dim=1).numpy()
        low = high
    return out


def main() -> None:
    """Encode all words, block by block."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a folder with a transformers encoder")
    parser.add_argument("words", type=Path, help="one word a line")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    words = given.words.read_text("utf-8").split()
    tokenizer = AutoTokenizer.from_pretrained(given.model)
    model = AutoModel.from_pretrained(given.model, dtype=torch.bfloat16).eval()
    parts = given.output.with_suffix(".parts")
    parts.mkdir(parents=True, exist_ok=True)
    with Progress().phase("words", len(words)) as phase:
        for low in range(0, len(words), BLOCK):
            part = parts / f"{low}.npy"
            block = words[low : low + BLOCK]
            if not part.exists():
                np.save(part.with_suffix(".tmp.npy"), encode_block(block, model, tokenizer))
                part.with_suffix(".tmp.npy").rename(part)
            phase.advance(len(block))
    vectors = np.concatenate([np.load(parts / f"{low}.npy") for low in range(0, len(words), BLOCK)])
    joined = np.frombuffer("\n".join(words).encode("utf-8"), dtype=np.uint8)
    np.savez(given.output, words=joined, vectors=vectors)


if __name__ == "__main__":
    main()
