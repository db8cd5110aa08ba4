"""Figures "positional weights" and "self-attention weights" of the post-OCR word `bec0me`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lovevec.love import LOVE
from lovevec_lab.evaluate.results import Pictures, markdown
from lovevec_lab.reproduce.bench import Bench
from lovevec_lab.reproduce.pages import page_of

WORD = "bec0me"


def measure(bench: Bench) -> dict[str, Any]:
    """Both maps of LOVE, as trained on the target."""
    bench.method("LOVE")  # trained, if it is not in the folder already
    explanation = LOVE.load(bench.folder / "models" / "love").explain(WORD)
    assert explanation.positional is not None
    assert explanation.attention is not None
    return {
        "target": bench.describe_target(),
        "word": WORD,
        "units": [unit.name for unit in explanation.units[: len(explanation.positional)]],
        "positional": np.round(explanation.positional, 5).tolist(),
        "attention": np.round(explanation.attention, 5).tolist(),
        "neighbors": [list(near) for near in explanation.neighbors],
    }


def page(scores: Mapping[str, Any]) -> str:
    """How much of a unit's own weight stays with it and its two neighbors, and what the first unit attends to."""
    units, positional, own = scores["units"], np.array(scores["positional"]), np.array(scores["attention"])
    inner = range(1, len(units) - 1)
    trigram = np.mean([positional[i, i - 1 : i + 2] for i in inner], axis=0)
    first = np.argsort(-own[0])[:3]
    summary = (
        f"Positional attention: on average a unit takes {trigram[1]:.2f} from itself, {trigram[0]:.2f} from the one"
        f" before and {trigram[2]:.2f} from the one behind, so that it stands for a trigram. Self-attention: the first"
        f" unit attends most to {', '.join(f'{units[i]} ({own[0, i]:.2f})' for i in first)}."
    )
    rows = [[word, float(cosine)] for word, cosine in scores["neighbors"]]
    near = markdown(("nearest known words", "cosine"), rows, digits=2)
    return page_of(f"Attention in {scores['word']}", scores, summary, near, "![attention](attention-figure.png)")


def pictures(scores: Mapping[str, Any]) -> Pictures:
    """The two maps side by side."""
    from lovevec.figures.attention import attention

    def draw(path: Any) -> None:
        attention(path, scores["units"], np.array(scores["positional"]), np.array(scores["attention"]), scores["word"])

    return {"attention-figure.png": draw, "attention-figure.svg": draw}
