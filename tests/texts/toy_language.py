"""A language in which the sentence tells what a word is: each sentence is about one thing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from tests.factories import one_thread, random_love

from lovevec import LOVE
from lovevec.train.context import ContextSettings, train_context

TOPICS = [
    ["house", "people", "outside", "inside", "mountain"],
    ["horse", "running", "runner", "play", "player"],
    ["letter", "receive", "friend", "government", "photograph"],
    ["butter", "bread", "restaurant", "tomorrow", "holiday"],
    ["latter", "believe", "though", "thought", "because"],
]
SMALL = ContextSettings(
    width=16, hidden=48, inner=32, heads=2, side=3, frequent=64, batch=128, steps=300, rate=5e-3, device="cpu"
)


def sentences(count: int, seed: int) -> list[str]:
    """Sentences of five to nine words: those of one topic, and `the`, `of`, `and` between."""
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        topic = TOPICS[rng.integers(len(TOPICS))]
        words = []
        for _ in range(rng.integers(3, 6)):
            words += [str(rng.choice(["the", "of", "and"])), str(rng.choice(topic))]
        result.append(" ".join(words) + ".")
    return result


def write_model(folder: Path) -> None:
    """A model that has learned it."""
    love = random_love()
    with one_thread():
        context, report = train_context(love, sentences(6000, 0), SMALL)
    metadata = {**love.parts.metadata, "context": report}
    LOVE(replace(love.parts, context=context, metadata=metadata)).save(folder)
