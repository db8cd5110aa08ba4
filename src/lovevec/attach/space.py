"""From one space of word vectors to another: the same space, else a map.

Two spaces are the same when the vectors of words that both have point the same way, on average; then directions are
used as they are. Else words are brought over, by what is learned once from the words that both have:

    map        ridge regression from the model's vectors of the shared words to their own directions
    neighbors  what the map misses for the 30 nearest known words, it will miss for this word too: it is added

Measured in runs/attach.py: beside the map alone, the neighbors bring a word's own vector among the 10 nearest about
twice as often, for words never seen and for typos; in the same space they change little. The price is a search for each
imputed word: some thousand words a second, where the model alone does a hundred thousand. So they are optional.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lovevec.attach.sample import Sample
from lovevec.engine.nearest import nearest
from lovevec.engine.products import rows_times
from lovevec.errors import LovevecError
from lovevec.vectors.rows import lower_case, normalized

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
# The first rows of a table are its most frequent words. Each costs time for every imputed word, and a row of memory.
MOST_WORDS = 50_000
COUNT = 30
TEMPERATURE = 0.1
SpaceOption = Literal["auto", "direct", "mapped"]
SPACES: tuple[str, ...] = get_args(SpaceOption)
STRENGTH = 0.01
UNMAPPED = 0.1  # cosine of held-out words: a map that misses them so far says nothing
SAME_SPACE = 0.2  # mean cosine; two spaces that have nothing to do with each other stay within ±0.05
CHUNK = 512


@dataclass(frozen=True, eq=False)
class Neighbors:
    """Known words near an unknown one, as the model sees them: its `vectors` (unit rows) of the words at `rows` of a
    `table` of vectors."""

    vectors: Floats
    rows: Rows
    table: Floats

    def __call__(self, queries: Floats) -> tuple[Floats, Floats]:
        """Weighted means over the nearest known words of each query: of the model's vectors, and of their own
        directions. The weights are a softmax of the cosine."""
        candidates = nearest(queries, self.vectors, min(COUNT, len(self.vectors)))
        places = np.array([[place for place, _ in near] for near in candidates])
        cosine = np.array([[value for _, value in near] for near in candidates])
        weights = np.exp((cosine - cosine[:, :1]) / TEMPERATURE)
        weights = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)[:, None, :]
        own = normalized(self.table[self.rows[places]])
        return np.matmul(weights, self.vectors[places])[:, 0, :], np.matmul(weights, own)[:, 0, :]

    def without(self, rows: Rows) -> Neighbors:
        """The same, less some rows of the table."""
        keep = ~np.isin(self.rows, rows)
        return Neighbors(self.vectors[keep], self.rows[keep], self.table)


def known_neighbors(impute: Callable[[Sequence[str]], Floats], words: Sequence[str], table: Floats) -> Neighbors:
    """The first words of the table, one for each lower-cased form: a model that lower-cases sees no other."""
    _, keep = lower_case(words[: 2 * MOST_WORDS])
    rows = np.flatnonzero(keep)[:MOST_WORDS]
    return Neighbors(impute([words[row] for row in rows.tolist()]), rows, table)


@dataclass(frozen=True)
class Fit:
    """How well held-out words are met: mean cosine to their own vector, and how often that is among the 10 nearest."""

    cosine: float
    top10: float

    @property
    def metadata(self) -> dict[str, float]:
        """Both, rounded."""
        return {"cosine": round(self.cosine, 4), "top10": round(self.top10, 4)}


@dataclass(frozen=True, eq=False)
class Map:
    """The linear map `slope` [from, to], and the neighbors that mend it, if any."""

    slope: Floats
    neighbors: Neighbors | None = None

    def __call__(self, vectors: Floats) -> Floats:
        """Unit rows of the model -> unit rows in the table's space."""
        result = np.empty((len(vectors), self.slope.shape[1]), dtype=np.float32)
        for low in range(0, len(vectors), CHUNK):
            chunk = vectors[low : low + CHUNK]
            if self.neighbors is None:
                mapped = rows_times(chunk, self.slope)
            else:  # map(chunk) + near_own - map(near): the map is linear, and its offset falls out
                near, near_own = self.neighbors(chunk)
                mapped = rows_times(chunk - near, self.slope) + near_own
            result[low : low + CHUNK] = normalized(mapped)
        return result


@dataclass(frozen=True, eq=False)
class Space:
    """What was chosen, and how well it does; `map` is None where model and table share a space. `agreement` is the mean
    cosine of the model's vectors of the `shared` words with their own."""

    map: Map | None
    shared: int
    agreement: float
    direct: Fit | None
    mapped: Fit | None = None

    def __call__(self, vectors: Floats) -> Floats:
        """Unit rows of the model -> unit rows in the table's space."""
        return vectors if self.map is None else self.map(vectors)

    @property
    def quality(self) -> float:
        """How often the map brings a held-out word's own vector among the 10 nearest; 1 where there is no map."""
        return 1.0 if self.map is None or self.mapped is None else self.mapped.top10

    @property
    def warning(self) -> str | None:
        """What its user has to know, if the map is worth nothing."""
        if self.map is None or self.mapped is None or self.mapped.cosine >= UNMAPPED:
            return None
        return (
            f"the model's vectors say next to nothing about these: held-out words come out with a cosine of"
            f" {self.mapped.cosine:.3f} to their own vectors, and imputed ones are worth nothing here; train a model on"
            " the vectors themselves: lovevec train"
        )

    @property
    def summary(self) -> str:
        """In a few words."""
        fit = self.mapped if self.map else self.direct
        good = f", cosine {fit.metadata['cosine']:.3f} on held-out words" if fit else ""
        return f"{'mapped' if self.map else 'direct'}, {self.shared:,} shared words{good}"

    @property
    def metadata(self) -> dict[str, Any]:
        """Which way was taken, and how well the ways that were tried do on held-out shared words."""
        return {
            "space": "mapped" if self.map else "direct",
            "shared words": self.shared,
            "direct": self.direct.metadata if self.direct else None,
            "mapped": self.mapped.metadata if self.mapped else None,
        }


def fit_space(sample: Sample, space: SpaceOption = "auto", neighbors: Callable[[], Neighbors] | None = None) -> Space:
    """Take the model's own directions where shared words show that it lives in the table's space, else fit a map.

    `neighbors` makes those that mend the map; it is called only when a map is needed.
    """
    if space not in SPACES:
        raise LovevecError(f"space is {space!r}: choose one of {', '.join(SPACES)}")
    vectors, own, held = sample.vectors, normalized(sample.own), slice(0, sample.tested)
    if len(vectors) and not (np.isfinite(vectors).all() and vectors.any()):
        raise LovevecError("the model's vectors are nothing but zeros, or not numbers (NaN or Inf): it learned nothing")
    from_dim, to_dim = vectors.shape[1], own.shape[1]
    if space == "direct" and from_dim != to_dim:
        raise LovevecError(f"space is 'direct', but the model has {from_dim} dimensions and the vectors {to_dim}")
    agreement = mean_cosine(vectors, own)
    direct = fit_of(vectors[held], own) if from_dim == to_dim and sample.tested else None
    if space == "direct" or (space == "auto" and agreement >= SAME_SPACE):
        return Space(None, sample.shared, agreement, direct)
    if sample.shared < 2 * from_dim:
        raise LovevecError(
            f"the model and these vectors share {sample.shared:,} words, too few to get from one space to the other "
            f"(at least {2 * from_dim:,} are needed); train a model on the vectors themselves: lovevec train"
        )
    pool = neighbors() if neighbors else None
    slope, _ = ridge(vectors[sample.tested :], own[sample.tested :], STRENGTH)
    trial = Map(slope, pool.without(sample.rows[held]) if pool else None)
    mapped = fit_of(trial(vectors[held]), own)
    return Space(Map(ridge(vectors, own, STRENGTH)[0], pool), sample.shared, agreement, direct, mapped)


def mean_cosine(vectors: Floats, own: Floats) -> float:
    """Of unit rows with unit rows, those of zeros left out; 0 where there is nothing to compare."""
    if vectors.shape != own.shape:
        return 0.0
    cosine = (vectors * own).sum(axis=1)[vectors.any(axis=1)]
    return float(cosine.mean()) if len(cosine) else 0.0


def fit_of(vectors: Floats, own: Floats) -> Fit:
    """Compare rows with the first rows of `own`, which are theirs, among all of them."""
    cosine = vectors @ own.T
    mine = np.diagonal(cosine)
    before = (cosine > mine[:, None]).sum(axis=1)
    return Fit(float(mine.mean()), float((before < 10).mean()))


def ridge(source: NDArray[Any], result: NDArray[Any], strength: float) -> tuple[Floats, Floats]:
    """Ridge regression with an intercept, a linear map that does not overreact: (map [a, b], offset [b]) so that
    source [n, a] @ map + offset is near result [n, b].

    Normal equations in float64; `strength` is in units of the mean variance of the source, so that it means the same
    in any space.
    """
    source_mean, result_mean = source.mean(axis=0, dtype=np.float64), result.mean(axis=0, dtype=np.float64)
    centred = source - source_mean
    gram = centred.T @ centred
    gram[np.diag_indices_from(gram)] += strength * np.trace(gram) / len(gram)
    slope = np.linalg.solve(gram, centred.T @ (result - result_mean))
    return slope.astype(np.float32), (result_mean - source_mean @ slope).astype(np.float32)
