"""Small tables, vector files and a data folder for the lab's tests, and strings that programs stumble over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from tests.factories import toy_vectors, toy_words

from lovevec.vectors import ReadReport, VectorTable
from lovevec_lab.methods.table import Table

NASTY = ["", " ", "\t\n", "\0", "🙂", "\ud800", "שלום", "e\u0301", "İ", "-", "x" * 100_000, "a b", "'"]

SIMILARITY = {
    "rw": "{a}\t{b}\t{score}",
    "men": "{a}\t{b}\t{score}",
    "simLex": "{i}\t{a}\t{b}\t{score}",
    "rel353": "{i}\t{a}\t{b}\t{score}",
    "mturk_771": "{i}\t{a}\t{b}\t{score}",
    "simverb_3500": "{i}\t{score}\t{a}\t{b}\tSYNONYMS",
}


def word_table(words: Sequence[str], vectors: np.ndarray | None = None, name: str = "made") -> Table:
    """A table of the words; without vectors each has a random one."""
    if vectors is None:
        vectors = np.random.default_rng(len(words)).normal(size=(len(words), 8))
    return Table(VectorTable(list(words), np.asarray(vectors, np.float32), ReadReport("memory")), name)


def table_from_rows(rows: Mapping[str, Sequence[float]], name: str = "made") -> Table:
    """A table of words with their vectors, written out."""
    return word_table(list(rows), np.array(list(rows.values())), name)


def stem_table(count: int, dim: int = 16, seed: int = 0) -> Table:
    """A table of words made of stems and endings, with vectors by these parts."""
    words = toy_words(count, seed)
    return word_table(words, toy_vectors(words, dim, seed))


def write_vectors(target: tuple[list[str], np.ndarray], file: Path, count: int) -> Path:
    """The first `count` words of a target as a text file of vectors."""
    words, vectors = target
    rows = [" ".join([word, *map(str, row.tolist())]) for word, row in zip(words[:count], vectors, strict=False)]
    file.write_text("\n".join([f"{count} {vectors.shape[1]}", *rows]) + "\n")
    return file


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def make_data(folder: Path, words: Sequence[str], vectors: np.ndarray) -> Path:
    """A folder with all of the paper's datasets: similarity by the target's own cosine, classes by first letters, moods
    by the sign of a direction, entities by the ending."""
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
