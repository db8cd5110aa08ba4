"""What each plug-in costs over the bare engine, for 10,000 words: medians and ratios of one run.

python bench/plugins.py                   # or --words 2000 --repeats 3
python bench/plugins.py --only spacy

Half of the words are known, half mistyped. What gives vectors of words is set against `love.embed`; what gives vectors
of texts against `love.encode` of 2,000 texts of five of these words. The two are timed in turns, each on words that
neither has met (new ones in each turn), so that nothing is remembered. The bar is a ratio of 1.2. `to_torch`, which is
there to learn, computes by torch what the engine has compiled: it has no bar.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from lovevec import LOVE
from lovevec.damage.edits import damage

BAR = 1.2
Way = Callable[[list[str]], Any]


def words_of(love: LOVE, count: int, seed: int) -> list[str]:
    """So many words, each once: half of them known, half mistyped."""
    rng = np.random.default_rng(seed)
    known = [love.words[row] for row in rng.choice(min(60_000, len(love)), count, replace=False)]
    mistyped = damage([word + "e" if len(word) < 4 else word for word in known[count // 2 :]], rng, ("swap", "drop"))
    return [word for pair in zip(known[: count // 2], mistyped, strict=False) for word in pair]


def gensim_way(love: LOVE) -> Way:
    """kv[words]."""
    from lovevec.plugins.gensim import RobustKeyedVectors

    kv = RobustKeyedVectors(love=love)
    return lambda words: kv[words]


def spacy_way(love: LOVE) -> Way:
    """vectors.get_batch(words), as layers with static vectors ask."""
    import spacy

    from lovevec.plugins.spacy import attach

    vectors = attach(spacy.blank("en"), love).vocab.vectors
    return vectors.get_batch


def torch_way(love: LOVE) -> Way:
    """love.to_torch()(words), without gradients."""
    import torch

    module = love.to_torch()

    def run(words: list[str]) -> Any:
        with torch.inference_mode():
            return module(words)

    return run


def sklearn_way(love: LOVE) -> Way:
    """LoveVectorizer().transform(texts)."""
    from lovevec.plugins.sklearn import LoveVectorizer

    return LoveVectorizer(love).fit(["a"]).transform


def sentence_transformers_way(love: LOVE) -> Way:
    """SentenceTransformer.encode(texts)."""
    from sentence_transformers import SentenceTransformer

    from lovevec.plugins.sentence_transformers import LoveWords

    model = SentenceTransformer(modules=[LoveWords(love)], device="cpu")
    return lambda texts: model.encode(texts, batch_size=1024, show_progress_bar=False)


OF_WORDS = {"gensim": gensim_way, "spacy": spacy_way, "torch (no bar)": torch_way}
OF_TEXTS = {"sklearn": sklearn_way, "sentence-transformers": sentence_transformers_way}


def texts_of(words: list[str]) -> list[str]:
    """Five words each."""
    return [" ".join(words[low : low + 5]) for low in range(0, len(words), 5)]


def fresh(love: LOVE) -> LOVE:
    """The same model, that has met no word."""
    return love.copy()


def compare(love: LOVE, make: Callable[[LOVE], Way], of_texts: bool, count: int, repeats: int) -> tuple[float, float]:
    """Median seconds of the bare engine and of the plug-in, in turns. The first turn is not counted."""
    bare_love, plugged_love = fresh(love), fresh(love)
    bare: Way = bare_love.encode if of_texts else bare_love.embed
    plugged = make(plugged_love)
    seconds: tuple[list[float], list[float]] = ([], [])
    for turn in range(repeats + 1):
        words = words_of(love, count, turn)
        asked = texts_of(words) if of_texts else words
        order = ((0, bare), (1, plugged)) if turn % 2 else ((1, plugged), (0, bare))
        for which, run in order:
            start = time.perf_counter()
            run(asked)
            seconds[which].append(time.perf_counter() - start)
    return median(seconds[0][1:]), median(seconds[1][1:])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--engine", default="auto", help="auto, numpy or compiled")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    love = LOVE.load(engine=options.engine)
    print(f"{options.words:,} words, medians of {options.repeats} turns, engine {options.engine}")
    print(f"{'plug-in':28}{'bare, ms':>10}{'plug-in, ms':>13}{'ratio':>8}")
    for ways, of_texts in ((OF_WORDS, False), (OF_TEXTS, True)):
        for name, make in ways.items():
            if options.only in name:
                bare, plugged = compare(love, make, of_texts, options.words, options.repeats)
                verdict = "" if "no bar" in name or plugged / bare <= BAR else f"  above {BAR}"
                print(f"{name:28}{1000 * bare:10.1f}{1000 * plugged:13.1f}{plugged / bare:8.2f}{verdict}")


if __name__ == "__main__":
    main()
