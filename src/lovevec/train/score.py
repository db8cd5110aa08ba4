"""The score of a fresh model: how near it puts words that it has never seen to where the target has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.edits import damage
from lovevec.files.tensors import in_blocks
from lovevec.love import LOVE
from lovevec.vectors.rows import normalized

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
MAX_SCORED = 1000
TYPOS_IN_REPORT = 6
ROWS_PER_BLOCK = 4_096


def score(love: LOVE, words: Sequence[str], vectors: Floats, holdout: Rows, seed: int) -> dict[str, Any]:
    """Score a model on words that training never saw (`holdout`, rows of the target), spelled right and with one typo.

    Returns how many words there were and, for `clean` and `typo`, the mean cosine to their own target vector, and how
    often that is the nearest, or among the 10 nearest, of all target vectors."""
    rng = np.random.default_rng([seed, 4])
    rows = sample(holdout, MAX_SCORED, rng)
    if not len(rows):
        return {"words": 0}
    right, language = [words[row] for row in rows], love.parts.orthography.language
    scores: dict[str, Any] = {"words": len(rows)}
    for name, strings in (("clean", right), ("typo", damage(right, rng, language=language))):
        own, rank = ranks(love.embed(strings), vectors, rows)
        tops = {"top1": rounded((rank < 1).mean()), "top10": rounded((rank < 10).mean())}
        scores[name] = {"cosine": rounded(own.mean()), **tops}
    return scores


def sample(rows: Rows, most: int, rng: np.random.Generator) -> Rows:
    """All rows, or `most` of them, drawn evenly and left in their order."""
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


def ranks(queries: Floats, vectors: Floats, rows: Rows) -> tuple[Floats, Rows]:
    """For each query: its cosine to its own target vector `vectors[row]`, and how many others are nearer."""
    own = (queries * normalized(vectors[rows].astype(np.float32))).sum(axis=1)
    rank = np.zeros(len(rows), dtype=np.int64)
    for low, block in in_blocks(vectors, ROWS_PER_BLOCK):
        cosine = queries @ normalized(block.astype(np.float32)).T
        inside = np.flatnonzero((rows >= low) & (rows < low + ROWS_PER_BLOCK))
        cosine[inside, rows[inside] - low] = -1  # a word does not stand before itself, whatever the rounding
        rank += (cosine > own[:, None]).sum(axis=1)
    return own, rank


def rounded(number: float | np.floating[Any]) -> float:
    """A number as reports have it, with four digits."""
    return round(float(number), 4)


def typo_neighbors(love: LOVE, seed: int, k: int = 3) -> list[dict[str, Any]]:
    """A few common longer words of the target, mistyped, and the known words that the model then finds near."""
    rng = np.random.default_rng([seed, 5])
    known = frozenset(love.words)
    likely = [word for word in love.words[:5000] if len(word) >= 7 and word.isalpha()] or list(love.words[:100])
    picks = np.sort(rng.choice(len(likely), min(3 * TYPOS_IN_REPORT, len(likely)), replace=False))
    chosen = [likely[pick] for pick in picks.tolist()]
    damaged = damage(chosen, rng, language=love.parts.orthography.language)
    pairs = [(word, typo) for word, typo in zip(chosen, damaged, strict=True) if typo not in known]
    rows = []
    for word, typo in pairs[:TYPOS_IN_REPORT]:
        near = [[name, rounded(cosine)] for name, cosine in love.neighbors(typo, k)]
        rows.append({"word": word, "typo": typo, "neighbors": near})
    return rows
