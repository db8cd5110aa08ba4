"""Speed: words a second, on words that a method has not met: damaged copies of a target's own, or running text.

A method is warmed up first (caches are filled, code is compiled), on as many words as it gets through in about a third
of a second. The median of five passes over these counts.

>>> speed(["default", "my.bin"]).markdown()
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from lovevec.damage.edits import damage
from lovevec.errors import FormatError, LovevecError, Parameter
from lovevec.files.lines import read_bytes
from lovevec.progress import Progress
from lovevec_lab.evaluate.comparison import Comparison, Folder, as_list, refuse_less_than_one
from lovevec_lab.evaluate.results import HEADER, Cell, Result, markdown, method_cells
from lovevec_lab.methods.method import Method, Parameters

COUNT, QUICK_COUNT = 200_000, 2_000
REPEATS, QUICK_REPEATS = 5, 3
SECONDS = 0.3
SAMPLE_WORDS = 500  # words by which it is found out how many a pass should have


def speed(
    methods: Any = (),
    *,
    words: Folder | None = None,
    count: int | None = None,
    rivals: str | Sequence[str] = "",
    target: Any = None,
    device: str = "auto",
    seed: int = 0,
    quick: bool = False,
    keep: Folder | None = None,
    progress: Progress | None = None,
) -> Result:
    """Time methods on damaged copies of the target's words (or of those that the first method knows), and on the words
    of a text file, `words`; at most `count` of each (200,000; with `quick` 2,000)."""
    count = count if count is not None else QUICK_COUNT if quick else COUNT
    refuse_less_than_one(count=count)
    if words is not None and not isinstance(words, (str, os.PathLike)):
        raise LovevecError(f"{Parameter('words', f'{words!r:.60}')}: the path of a text file expected")
    comparison = Comparison(rivals, target, device, seed, quick, keep, progress)
    repeats = QUICK_REPEATS if quick else REPEATS
    text = running_text(words, count) if words else []
    progress = progress or Progress(quiet=True)
    lined_up = comparison.methods(methods)
    made = lined_up[len(as_list(methods)) :]  # rivals hold their target already
    known = comparison.target_of([]).words if target is not None and not made else known_words(made or lined_up)
    damaged = typo_copies(known, count, seed)
    scores = []
    for method in lined_up:
        with progress.phase(f"timing {method.name}"):
            score: dict[str, Any] = {"method": method.name, "parameters": method.parameters._asdict()}
            score["damaged"] = _rounded(words_per_second(method, damaged, repeats))
            score["text"] = _rounded(words_per_second(method, text, repeats)) if text else None
            scores.append(score)
    text_name = Path(words).name if words else None
    settings = comparison.settings_of(methods, [], words=count, text=text_name, repeats=repeats)
    return Result("speed", settings, scores, speed_table(scores, bool(text)))


def speed_table(scores: Sequence[dict[str, Any]], with_text: bool) -> str:
    """Methods (rows); one column of speeds, or two."""
    rows: list[list[Cell]] = []
    for score in scores:
        cells = method_cells(score["method"], Parameters(**score["parameters"]), score["damaged"])
        rows.append([*cells, score["text"]] if with_text else cells)
    return markdown([*HEADER[:-1], "damaged words/s", *(["text words/s"] if with_text else [])], rows)


def words_per_second(
    method: Method, words: Sequence[str], repeats: int = REPEATS, seconds: float = SECONDS
) -> float | None:
    """How many words a second the method embeds, in passes of about `seconds` over the first of the words; None for one
    that has no speed of its own."""
    if not method.timed:
        return None
    if not words:
        raise LovevecError("speed: no words to embed")
    seconds_for(method.embed, words[:SAMPLE_WORDS])
    rate = len(words[:SAMPLE_WORDS]) / seconds_for(method.embed, words[:SAMPLE_WORDS])
    subset = words[: max(SAMPLE_WORDS, int(rate * seconds))]
    seconds_for(method.embed, subset)
    return len(subset) / median(seconds_for(method.embed, subset) for _ in range(repeats))


def typo_copies(words: Sequence[str], count: int, seed: int = 0) -> list[str]:
    """`count` words drawn from `words`, each with one typo."""
    rng = np.random.default_rng([seed, 0x5EED])
    return damage([words[row] for row in rng.integers(len(words), size=count).tolist()], rng)


def known_words(methods: Sequence[Method]) -> Sequence[str]:
    """The words that the first of the methods to know any has a vector of its own for, or has learned from."""
    for method in methods:
        if len(method.words):
            return method.words
    raise LovevecError(f"speed: none of the methods knows any words; name some with {Parameter('target', 'FILE')}")


def running_text(path: Folder, count: int) -> list[str]:
    """The first `count` words of a text file, as white space separates them; bytes that are no UTF-8 do not matter."""
    words = read_bytes(Path(path)).decode("utf-8", "replace").split()
    if not words:
        raise FormatError(Path(path), "holds no words")
    return words[:count]


def seconds_for(embed: Callable[[Sequence[str]], Any], items: Sequence[str]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    embed(items)
    return max(time.perf_counter() - start, 1e-9)


def _rounded(speed: float | None) -> int | None:
    return None if speed is None else round(speed)
