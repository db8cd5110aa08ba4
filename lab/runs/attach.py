"""What `love.attach` does to words that somebody's vectors lack, and what other ways would do: Markdown tables.

    python lab/runs/attach.py model $LOVEVEC_DATA/targets/*.npz --half test

A tenth of the shared words (at most 1,000), as many words that the model has never seen, and one-edit typos of 1,500
words that stay. The first two are taken out of the vectors before attaching. In each cell: mean cosine to the word's
own vector, and how often (%) that is among the 10 nearest of all. Constants are chosen on the half `dev` of the words,
and reported on the half `test`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lovevec import LOVE
from lovevec.attach import Attached
from lovevec.attach.neighbors import NEIGHBORS_PER_WORD, TEMPERATURE, find_known_neighbors
from lovevec.attach.space import ridge
from lovevec.damage.edits import damage
from lovevec.vectors import read_vectors
from lovevec.vectors.rows import normalized

MOST = 1000
TYPOS = 1500
HALVES = {"dev": slice(0, None, 2), "test": slice(1, None, 2)}
Way = Callable[[np.ndarray], np.ndarray]


def hits(made: np.ndarray, rows: np.ndarray, table: np.ndarray) -> str:
    """Cosine and share among the 10 nearest, of directions `made` whose own are `rows` of the table of directions."""
    made = normalized(made)
    own = (made * table[rows]).sum(axis=1)
    before = np.empty(len(rows), dtype=np.int64)
    for low in range(0, len(rows), 500):
        cosine = made[low : low + 500] @ table.T
        cosine[np.arange(len(cosine)), rows[low : low + 500]] = -1
        before[low : low + 500] = (cosine > own[low : low + 500, None]).sum(axis=1)
    return f"{own.mean():.3f} / {100 * (before < 10).mean():.1f}"


def split(
    love: LOVE, words: list[str], rng: np.random.Generator
) -> tuple[np.ndarray, dict[str, tuple[np.ndarray, list[str]]]]:
    """Which rows stay, and the sets of (rows, strings to embed)."""
    known = frozenset(love.words)
    plain = np.array([word.isalpha() and word == word.lower() for word in words])
    shared = np.array([word in known for word in words]) & plain
    lots = {
        name: rng.choice(rows, min(MOST, len(rows) // 10), replace=False)
        for name, rows in (("shared", np.flatnonzero(shared)), ("never seen", np.flatnonzero(plain & ~shared)))
    }
    stay = np.ones(len(words), dtype=bool)
    stay[np.concatenate(list(lots.values()))] = False
    sets = {name: (rows, [words[row] for row in rows]) for name, rows in lots.items() if len(rows) >= 20}
    longer = np.flatnonzero(stay & plain & np.array([len(word) > 3 for word in words]))
    rows = rng.choice(longer, min(TYPOS, len(longer)), replace=False)
    wrong, every = damage([words[row] for row in rows], rng), frozenset(words)
    new = [place for place, word in enumerate(wrong) if word not in every]
    sets["typos"] = (rows[new], [wrong[place] for place in new])
    return stay, sets


def ways(love: LOVE, robust: Attached) -> dict[str, Way]:
    """From the model's vectors to directions in the table's space."""
    row = {word: number for number, word in enumerate(robust.words)}
    shared = [word for word in love.words if word in row]
    made, own = love.impute(shared), normalized(robust.vectors[[row[word] for word in shared]])
    slope, offset = ridge(made, own, 0.01)
    known = find_known_neighbors(love.impute, list(robust.words), robust.vectors)
    known_made, known_own = known.vectors.floats(), normalized(robust.vectors[known.rows])

    def means(places: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the model's vectors of neighbors, and of their own directions."""
        return tuple(np.einsum("qk,qkd->qd", weights, rows[places]) for rows in (known_made, known_own))

    def near(made: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return means(*known(made))

    def near_of_all(made: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same with each known word compared, none left out by its cluster."""
        cosine = made @ known_made.T
        places = np.argsort(-cosine, axis=1)[:, :NEIGHBORS_PER_WORD]
        weights = np.exp(np.take_along_axis(cosine, places, axis=1) / TEMPERATURE)
        return means(places, weights / weights.sum(axis=1, keepdims=True))

    def in_parts(way: Way) -> Way:
        return lambda made: np.concatenate([way(made[low : low + 500]) for low in range(0, len(made), 500)])

    def add_rows(base: Way, share: float, near: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] = near) -> Way:
        def way(made: np.ndarray) -> np.ndarray:
            near_made, near_own = near(made)
            return base(made) + share * (near_own - base(near_made))

        return in_parts(way)

    def map_rows(made: np.ndarray) -> np.ndarray:
        return made @ slope + offset

    found: dict[str, Way] = {}
    if love.dim == robust.dim:
        found |= {"direct": lambda made: made, "direct + neighbors / 2": add_rows(lambda made: made, 0.5)}
    found |= {"map": map_rows, "neighbors": in_parts(lambda made: near(made)[1])}
    found |= {f"map + neighbors × {share}": add_rows(map_rows, share) for share in (0.25, 0.5, 1.0)}
    return found | {"the same, by comparing with all": add_rows(map_rows, 1.0, near_of_all)}


def lengths(love: LOVE, robust: Attached, norms: np.ndarray, rows: np.ndarray, shown: list[str]) -> list[str]:
    """Mean relative error (%) of an imputed vector's length, by how it is chosen."""
    row = {word: number for number, word in enumerate(robust.words)}
    shared = [word for word in love.words if word in row]
    known = np.linalg.norm(robust.vectors[[row[word] for word in shared]], axis=1)
    made, test = love.impute(shared), love.impute(shown)
    nearest = [known[np.argpartition(-(made @ vector), 10)[:10]].mean() for vector in test]
    guesses = [np.full(len(rows), np.median(known)), np.array(nearest)]
    for strength in (0.01, 1.0):
        slope, offset = ridge(made, np.log(known)[:, None], strength)
        guesses.append(np.exp(test @ slope + offset)[:, 0])
    guesses.append(np.linalg.norm(robust.embed(shown), axis=1))
    return [f"{100 * np.mean(np.abs(guess / norms[rows] - 1)):.1f}" for guess in guesses]


def other_case(love: LOVE, words: list[str], table: np.ndarray) -> str | None:
    """Words that have rows in two cases: cosine of the capitalised one's vector to the lower-case one's, and to what
    is imputed when neither is known; then the same from the lower-case one's side."""
    row = {word: number for number, word in enumerate(words)}
    pairs = [
        (number, row[word.lower()]) for word, number in row.items() if word != word.lower() and word.lower() in row
    ]
    if len(pairs) < 100:
        return None
    upper, lower = np.array(pairs[:MOST]).T
    stay = np.ones(len(words), dtype=bool)
    stay[upper] = stay[lower] = False
    robust = love.attach(([word for word, kept in zip(words, stay, strict=True) if kept], table[stay]))
    imputed = normalized(robust.embed([words[number] for number in upper]))
    between, to_upper, to_lower = (
        float((one * other).sum(axis=1).mean())
        for one, other in ((table[upper], table[lower]), (table[upper], imputed), (table[lower], imputed))
    )
    return f"{between:.3f} / {to_upper:.3f}; `word` where `Word` is: {between:.3f} / {to_lower:.3f}"


def main() -> None:
    """A table for each file of vectors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("vectors", nargs="+")
    parser.add_argument("--half", choices=HALVES, help="every second word only (default: all)")
    given = parser.parse_args()
    love = LOVE.load(given.model)
    for path in given.vectors:
        target = read_vectors(path)
        words, table, norms = target.words, normalized(target.vectors), np.linalg.norm(target.vectors, axis=1)
        stay, sets = split(love, words, np.random.default_rng(0))
        part = HALVES.get(given.half, slice(None))
        sets = {name: (rows[part], shown[part]) for name, (rows, shown) in sets.items()}
        kept = [word for word, stays in zip(words, stay, strict=True) if stays]
        robust = love.attach((kept, target.vectors[stay]))
        print(f"\n### {Path(path).stem}: {robust!r}\n")
        print("| way | " + " | ".join(f"{name} ({len(rows):,})" for name, (rows, _) in sets.items()) + " |")
        print("|---|" + "---|" * len(sets))
        made = {name: love.impute(shown) for name, (_, shown) in sets.items()}
        for label, way in ways(love, robust).items():
            cells = [hits(way(made[name]), rows, table) for name, (rows, _) in sets.items()]
            print(f"| {label} | " + " | ".join(cells) + " |", flush=True)
        cells = [hits(robust.embed(shown), rows, table) for rows, shown in sets.values()]
        print("| **love.attach** | " + " | ".join(cells) + " |", flush=True)
        print("\n| length, error % | median | 10 nearest | regression, weak ridge | ridge | **love.attach** |")
        print("|---|---|---|---|---|---|")
        for name, (rows, shown) in sets.items():
            print(f"| {name} | " + " | ".join(lengths(love, robust, norms, rows, shown)) + " |", flush=True)
        if (cased := other_case(love, words, table)) is not None:
            print(f"\n`Word` where `word` is known: cosine of its row / of an imputed one: {cased}", flush=True)


if __name__ == "__main__":
    main()
