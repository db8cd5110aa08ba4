"""A folder with all of the paper's datasets, made up from the words of a made-up target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

SIMILARITY = {
    "rw": "{a}\t{b}\t{score}",
    "men": "{a}\t{b}\t{score}",
    "simLex": "{i}\t{a}\t{b}\t{score}",
    "rel353": "{i}\t{a}\t{b}\t{score}",
    "mturk_771": "{i}\t{a}\t{b}\t{score}",
    "simverb_3500": "{i}\t{score}\t{a}\t{b}\tSYNONYMS",
}


def make_data(folder: Path, words: Sequence[str], vectors: np.ndarray) -> Path:
    """Similarity by the target's own cosine, classes by first letters, moods by the sign of a direction, entities by
    the ending."""
    rng = np.random.default_rng(5)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for name, line in SIMILARITY.items():
        pairs = rng.integers(0, len(words), (40, 2))
        lines = [
            line.format(i=i, a=words[a], b=words[b], score=round(float(unit[a] @ unit[b]), 4))
            for i, (a, b) in enumerate(pairs)
        ]
        write(folder / "similarity" / f"{name}.txt", lines)
    for name in ("ap", "bless"):
        write(folder / "clustering" / f"{name}.tsv", [f"{word}\t{word[0]}" for word in words[:40]])
    mood = unit @ rng.normal(size=vectors.shape[1])
    good = [word for word, score in zip(words, mood, strict=True) if score > 0.2]
    bad = [word for word, score in zip(words, mood, strict=True) if score < -0.2]

    def sentence(pool: Sequence[str]) -> str:
        return " ".join(pool[i] for i in rng.integers(0, len(pool), 6))

    for part, count in (("train", 80), ("dev", 30), ("test", 40)):
        lines = [f"{sentence(good if i % 2 else bad)}\t{i % 2}" for i in range(count)]
        write(folder / "sst2" / f"{part}.tsv", lines)
    slips = [line for word in words[:40] for line in (f"${word}", f"{word[1]}{word[0]}{word[2:]}", f"{word}{word[-1]}")]
    write(folder / "misspellings" / "missp.dat", slips)
    write(folder / "mr" / "rt-polarity.pos", [sentence(good) for _ in range(60)])
    write(folder / "mr" / "rt-polarity.neg", [sentence(bad) for _ in range(60)])
    for name, parts in (
        ("conll03", ("train.txt", "valid.txt", "test.txt")),
        ("bc2gm", ("train.tsv", "devel.tsv", "test.tsv")),
    ):
        for part, count in zip(parts, (60, 20, 20), strict=True):
            lines = []
            for _ in range(count):
                for word in sentence(words).split():
                    tag = "B-PER" if word.endswith("ing") else "O"
                    lines.append(f"{word} X X {tag}" if name == "conll03" else f"{word}\t{tag}")
                lines.append("")
            write(folder / name / part, lines)
    return folder


def write(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
