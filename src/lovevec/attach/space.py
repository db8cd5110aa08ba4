"""From one space of word vectors to another: the same space, else a map.

Two spaces are the same when the vectors of words that both have point the same way, on average; then directions are
used as they are. Else words are brought over, by what is learned once from the words that both have:

    map        ridge regression from the model's vectors of the shared words to their own directions
    neighbors  what the map misses for the 30 nearest known words, it will miss for this word too: it is added

Measured in lab/runs/attach.py: beside the map alone, the neighbors bring a word's own vector among the 10 nearest about
twice as often, for words never seen and for typos; in the same space they change little. The price is a search for each
imputed word (neighbors.py), so they are optional.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lovevec.attach.neighbors import Codes, KnownNeighbors
from lovevec.engine.products import QUERY_BITS, ROW_BITS, on_grid, small_products
from lovevec.engine.threads import in_chunks
from lovevec.errors import LovevecError
from lovevec.vectors.rows import normalized

Floats = NDArray[np.float32]
SpaceOption = Literal["auto", "direct", "mapped"]
SPACES: tuple[str, ...] = get_args(SpaceOption)
# A linear map of 300 x 300 numbers is settled well before this; more words only cost time at attaching.
MAX_SHARED_WORDS = 20_000
MAX_TESTED_WORDS = 500
SAMPLE_SEED = 0
MAP_RIDGE = 0.01  # strength of the ridge regression
MIN_MAP_COSINE = 0.1  # of held-out words: a map that misses them by more says nothing
SAME_SPACE = 0.2  # mean cosine; two spaces that have nothing to do with each other stay within ±0.05
WORDS_PER_CHUNK = 4096  # whose neighbors are looked for together
WORDS_PER_GATHER = 128  # whose neighbors' rows are gathered together, so that these stay in the cache


@dataclass(frozen=True, eq=False)
class Sample:
    """Words that model and table have in common, from which attaching learns: the model's `vectors` of them (unit
    rows), and their `own`, which stand at `rows` of the table.

    `shared` is the number of such words in all; the first `tested` words of the sample are held out to check on.
    """

    shared: int
    tested: int
    rows: NDArray[np.int64]
    vectors: Floats
    own: Floats


def shared_words(
    known: Sequence[str], impute: Callable[[Sequence[str]], Floats], row: Mapping[str, int], vectors: Floats
) -> Sample:
    """The words that are both `known` to a model and in a table, in a random order that is always the same. `impute`
    gives the model's vectors, `row` the place of a word in the table, whose rows are `vectors`."""
    both = [word for word in known if word in row]
    order = np.random.default_rng(SAMPLE_SEED).permutation(len(both))[:MAX_SHARED_WORDS]
    words = [both[place] for place in order.tolist()]
    rows = np.fromiter((row[word] for word in words), dtype=np.int64, count=len(words))
    return Sample(
        len(both), min(len(words) // 10, MAX_TESTED_WORDS), rows, impute(words), vectors[rows].astype(np.float32)
    )


@dataclass(frozen=True)
class MapFit:
    """How well held-out words are met: mean cosine to their own vector, and how often that is among the 10 nearest."""

    cosine: float
    top10: float

    @property
    def metadata(self) -> dict[str, float]:
        """Both numbers, rounded for people."""
        return {"cosine": round(self.cosine, 4), "top10": round(self.top10, 4)}


@dataclass(frozen=True, eq=False)
class Map:
    """The linear map `slope` [from, to], on a grid where products are exact; the neighbors that mend it, if any, and
    what it `misses` of each of them."""

    slope: Floats
    neighbors: KnownNeighbors | None = None
    misses: Codes | None = None

    @classmethod
    def fit(cls, source: Floats, own: Floats, neighbors: KnownNeighbors | None) -> Map:
        """Ridge regression from unit rows to unit rows."""
        slope = scale_to_grid(ridge(source, own, MAP_RIDGE)[0])
        return cls(slope, neighbors, Codes.of(neighbors.misses(slope)) if neighbors else None)

    def __call__(self, vectors: Floats, threads: int = 1, compiled: bool = False) -> Floats:
        """Unit rows of the model -> unit rows in the table's space; compiled or by numpy with the same bits."""
        result = np.empty((len(vectors), self.slope.shape[1]), dtype=np.float32)

        def run(part: slice) -> None:
            chunk = on_grid(vectors[part], QUERY_BITS)
            mapped = small_products(chunk, self.slope)
            if self.neighbors is not None and self.misses is not None:
                self._mend(mapped, *self.neighbors(chunk, compiled), self.misses)
            result[part] = normalized(mapped)

        in_chunks(run, len(vectors), WORDS_PER_CHUNK, threads)
        return result

    @staticmethod
    def _mend(mapped: Floats, places: NDArray[np.int64], weights: Floats, misses: Codes) -> None:
        """Add the weighted mean of what is missed at the neighbors' places; the map's offset falls out."""
        weights = weights * np.float32(2.0**-misses.bits)
        for low in range(0, len(mapped), WORDS_PER_GATHER):
            missed = misses.steps[places[low : low + WORDS_PER_GATHER]].astype(np.float32)
            mapped[low : low + WORDS_PER_GATHER] += np.matmul(weights[low : low + WORDS_PER_GATHER, None, :], missed)[
                :, 0, : misses.dim
            ]


def scale_to_grid(slope: Floats) -> Floats:
    """A map whose columns, each over the power of two that makes it at most 1 long, lie on the grid: a unit row on the
    other grid times such a column is exact."""
    lengths = np.sqrt(np.square(slope).sum(axis=0))
    scale = np.exp2(np.ceil(np.log2(np.where(lengths > 0, lengths, 1)))).astype(np.float32)
    result: Floats = on_grid(slope / scale, ROW_BITS) * scale
    return result


@dataclass(frozen=True, eq=False)
class Space:
    """What was chosen, and how well it does; `map` is None where model and table share a space. `agreement` is the mean
    cosine of the model's vectors of the `shared` words with their own."""

    map: Map | None
    shared: int
    agreement: float
    direct: MapFit | None
    mapped: MapFit | None = None

    def __call__(self, vectors: Floats, threads: int = 1, compiled: bool = False) -> Floats:
        """Unit rows of the model -> unit rows in the table's space."""
        return vectors if self.map is None else self.map(vectors, threads, compiled)

    @property
    def quality(self) -> float:
        """How often the map brings a held-out word's own vector among the 10 nearest; 1 where there is no map."""
        return 1.0 if self.map is None or self.mapped is None else self.mapped.top10

    @property
    def warning(self) -> str | None:
        """What its user has to know, if the map is worth nothing."""
        if self.map is None or self.mapped is None or self.mapped.cosine >= MIN_MAP_COSINE:
            return None
        return (
            f"the model's vectors say next to nothing about these: held-out words come out with a cosine of"
            f" {self.mapped.cosine:.3f} to their own vectors, and imputed ones are worth nothing here; train a model on"
            " the vectors themselves: lovevec train"
        )

    @property
    def summary(self) -> str:
        """How the model's vectors get into the space, and how well, in a few words."""
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


def fit_space(
    sample: Sample, space: SpaceOption = "auto", neighbors: Callable[[], KnownNeighbors] | None = None
) -> Space:
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
    rest = slice(sample.tested, None)
    trial = Map.fit(vectors[rest], own[rest], pool.without(sample.rows[held]) if pool else None)
    mapped = fit_of(trial(vectors[held]), own)
    del trial  # its neighbors are a copy
    return Space(Map.fit(vectors, own, pool), sample.shared, agreement, direct, mapped)


def mean_cosine(vectors: Floats, own: Floats) -> float:
    """Of unit rows with unit rows, those of zeros left out; 0 where there is nothing to compare."""
    if vectors.shape != own.shape:
        return 0.0
    cosine = (vectors * own).sum(axis=1)[vectors.any(axis=1)]
    return float(cosine.mean()) if len(cosine) else 0.0


def fit_of(vectors: Floats, own: Floats) -> MapFit:
    """Compare rows with the first rows of `own`, which are theirs, among all of them."""
    cosine = vectors @ own.T
    mine = np.diagonal(cosine)
    before = (cosine > mine[:, None]).sum(axis=1)
    return MapFit(float(mine.mean()), float((before < 10).mean()))


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
