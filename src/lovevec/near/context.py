"""The model of context: what the rest of a sentence says of a word.

    z(word | sentence) = log p(word | sentence) - log p(word), as far as the model can tell
    p(word | s, sentence) ∝ p(word | s) · exp(λ z(word | sentence))        for each known word that s may stand for
    p(new  | s, sentence) ∝ p(new  | s) · exp(λ z(new  | sentence))        z(parts) = 0

The sentence comes as rows of known words and signs (texts/sentence.py), WINDOW of them on each side of the place that
is asked about. One query costs about a million multiplications:

    x_j = row_j · P + F[j]                     a known word's row made small; frequent words have a vector of their own
    a   = relu(W1 · [x_-5 … x_-1 x_1 … x_5])   what stands next to the place
    q_h = Wq · a,  c_h = Σ_j softmax_j(q_h · x_j + b_h,j) · x_j        what stands elsewhere, `heads` times
    y   = a + W3 · relu(W2 · [a, c])
    z(word) = (O · y) · row + (G · y) · F[word] + f[word]

so that the table of rows which a model has anyway is input and output, and the model of context itself takes about a
megabyte. O · y alone is where the sentence expects the word among the vectors: what `learn` makes rows of.

Everything is computed in whole numbers (weights of 8 bits, activations of 12), so that numpy and the compiled core give
the same bits on any processor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core
from lovevec.near import exact

if TYPE_CHECKING:
    from lovevec._core import Context as CoreContext
    from lovevec._core import Rows

Integers = NDArray[np.int32]
Floats = NDArray[np.float32]
Scores = NDArray[np.float64]
OwnVectors = Callable[[NDArray[np.integer]], Floats]
WINDOW = 16  # places on each side
PLACES = 2 * WINDOW
PAD = -6  # beyond the ends of a text
SIGN_ROWS = 6  # STOP, PAUSE, NEW, NUMBER, OTHER (texts/sentence.py), PAD
MOST = 4095  # of a whole number that is passed on
ROW_SCALE = 4096  # rows of unit length as whole numbers
SHARE_SCALE = 4096
MAX_WIDTH, MAX_INPUTS, MAX_FREQUENT = 128, 4096, 1 << 16
PLACES_PER_BATCH = 512
LAYERS = ("first", "query", "second", "third", "row", "frequent", "new")


class Layer(NamedTuple):
    """weights [inputs, outputs] in 8 bits, and what their sums are multiplied by and what is added: [outputs] each."""

    weights: NDArray[np.int8]
    scale: Floats
    bias: Floats

    def sums(self, inputs: Integers) -> Floats:
        """[n, inputs] -> [n, outputs], before rounding. Sums of whole numbers below 2⁵³ are exact in float64."""
        total = inputs.astype(np.float64) @ self.weights.astype(np.float64)
        result: Floats = total.astype(np.float32) * self.scale + self.bias
        return result


def rounded(sums: Floats, least: int = -MOST) -> Integers:
    """Whole numbers from `least` to MOST."""
    return np.clip(np.rint(sums), least, MOST).astype(np.int32)


def whole_rows(rows: Floats) -> Integers:
    """Rows of unit length as whole numbers."""
    return rounded(rows * np.float32(ROW_SCALE))


@dataclass(frozen=True, eq=False)
class Context:
    """A trained model of context, as arrays (`tensors`).

    :param projection: [dim, width] P and its scale [width].
    :param own: [frequent, width] F in 8 bits, its scale [width]; `own_bias` [frequent].
    :param signs: [SIGN_ROWS, width] the signs, as whole numbers.
    :param layers: W1, Wq, W2, W3, O, G and what gives z(new), by LAYERS.
    :param position_bias: [heads, PLACES]
    :param scales: what q·x, (O·y)·row and (G·y)·F are multiplied by, and λ: [4].
    """

    projection: NDArray[np.int8]
    projection_scale: Floats
    own: NDArray[np.int8]
    own_scale: Floats
    own_bias: Floats
    signs: NDArray[np.int16]
    layers: Mapping[str, Layer]
    position_bias: Floats
    scales: Floats

    @property
    def dim(self) -> int:
        return len(self.projection)

    @property
    def width(self) -> int:
        return int(self.projection.shape[1])

    @property
    def heads(self) -> int:
        return len(self.position_bias)

    @property
    def near_places(self) -> slice:
        """The places whose order counts, next to the one asked about."""
        side = len(self.layers["first"].weights) // (2 * self.width)
        return slice(WINDOW - side, WINDOW + side)

    @property
    def parameters(self) -> int:
        return sum(int(tensor.size) for tensor in self.tensors().values())

    def tensors(self) -> dict[str, NDArray[Any]]:
        named = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "layers"}
        for name, layer in self.layers.items():
            named |= {f"{name}_{part}": array for part, array in layer._asdict().items()}
        return named

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]], dim: int) -> Context:
        """The inverse of `tensors`, for rows of `dim` dimensions; a ValueError says what is wrong with them."""
        names = {name for name in cls.__dataclass_fields__ if name != "layers"}
        names |= {f"{layer}_{part}" for layer in LAYERS for part in Layer._fields}
        if set(tensors) != names:
            raise ValueError("its tensors are not those of a model of context")
        layers = {name: Layer(*(tensors[f"{name}_{part}"] for part in Layer._fields)) for name in LAYERS}
        own = {name: tensors[name] for name in cls.__dataclass_fields__ if name != "layers"}
        context = cls(layers=layers, **own)
        context._check(dim)
        return context

    def _check(self, dim: int) -> None:
        heads = self.position_bias.shape[0] if self.position_bias.ndim == 2 else 0
        width = self.projection.shape[1] if self.projection.ndim == 2 else 0
        first, hidden = self.layers["first"].weights, self.layers["first"].scale.size
        side = first.shape[0] // (2 * width) if width and first.ndim == 2 else 0
        second = self.layers["second"].scale.size
        frequent = self.own_bias.size
        shapes: dict[str, tuple[str, tuple[int, ...]]] = {
            "projection": ("int8", (dim, width)),
            "projection_scale": ("float32", (width,)),
            "own": ("int8", (frequent, width)),
            "own_scale": ("float32", (width,)),
            "own_bias": ("float32", (frequent,)),
            "signs": ("int16", (SIGN_ROWS, width)),
            "position_bias": ("float32", (heads, PLACES)),
            "scales": ("float32", (4,)),
        }
        sizes = {
            "first": (2 * side * width, hidden),
            "query": (hidden, heads * width),
            "second": (hidden + heads * width, second),
            "third": (second, hidden),
            "row": (hidden, dim),
            "frequent": (hidden, width),
            "new": (hidden, 1),
        }
        for name, size in sizes.items():
            parts = {"weights": ("int8", size), "scale": ("float32", size[1:]), "bias": ("float32", size[1:])}
            shapes |= {f"{name}_{part}": what for part, what in parts.items()}
        tensors = self.tensors()
        for name, (dtype, shape) in shapes.items():
            if tensors[name].dtype.name != dtype or tensors[name].shape != shape:
                raise ValueError(f"{name} of {tensors[name].dtype.name} and the shape {tensors[name].shape}")
            if dtype == "float32" and not (np.abs(tensors[name]) <= 1e6).all():
                raise ValueError(f"{name} holds numbers that no training gives")
        fits = 0 < width <= MAX_WIDTH and 0 < side <= WINDOW and 0 < heads <= 16 and 0 < frequent <= MAX_FREQUENT
        fits = fits and all(0 < size[0] <= MAX_INPUTS and 0 < size[1] <= MAX_INPUTS for size in sizes.values())
        if not fits or not 0 <= float(self.scales[3]) <= 100 or (np.abs(self.signs.astype(np.int32)) > MOST).any():
            raise ValueError("its sizes are not those of a model of context")

    @property
    def strength(self) -> float:
        """λ: how much the sentence counts beside the spelling."""
        return float(self.scales[3])


class SentenceReader:
    """What a model of context says of the words of one table.

    :param context: the model.
    :param own: the known words' own vectors: their numbers [n] -> [n, dim].
    :param table: the same rows for the compiled core; None where numpy computes.
    """

    def __init__(self, context: Context, own: OwnVectors, table: Rows | None = None) -> None:
        self.context, self.own, self._table = context, own, table

    @cached_property
    def _core(self) -> CoreContext | None:
        if self._table is None:
            return None
        context: CoreContext = core().Context(table=self._table, **self.context.tensors())
        return context

    def scores(self, windows: Integers, candidates: Integers) -> Scores:
        """z of known words and of a new one at some places.

        :param windows: [n, PLACES] what stands around each place: rows of known words, signs, PAD.
        :param candidates: [n, k] rows of the known words that may stand there, -1 where there are no more.
        :return: [n, k + 1]; the last is that of a new word. 0 where there is no candidate.
        """
        result = np.zeros((len(windows), candidates.shape[1] + 1))
        if self._core is not None:
            self._core.scores(np.ascontiguousarray(windows), np.ascontiguousarray(candidates), result)
            return result
        for low in range(0, len(windows), PLACES_PER_BATCH):
            part = slice(low, low + PLACES_PER_BATCH)
            y = self._hidden(windows[part])
            result[part] = self._scores(y, candidates[part])
        return result

    def expected(self, windows: Integers) -> Floats:
        """Where the sentence expects the word among the vectors: windows [n, PLACES] -> [n, dim], of any length."""
        model = self.context
        result = np.zeros((len(windows), model.dim), dtype=np.float32)
        if self._core is not None:
            self._core.expected(np.ascontiguousarray(windows), result)
        else:
            for low in range(0, len(windows), PLACES_PER_BATCH):
                part = slice(low, low + PLACES_PER_BATCH)
                y = self._hidden(windows[part])
                result[part] = rounded(model.layers["row"].sums(y)).astype(np.float32) * model.scales[1]
        result *= ROW_SCALE  # by which the core does not multiply: of 2, so that no bit is lost
        return result

    def _embedded(self, rows: NDArray[np.integer]) -> Integers:
        """x of known words: [n, width]."""
        model = self.context
        total = whole_rows(self.own(rows)).astype(np.float64) @ model.projection.astype(np.float64)
        sums = total.astype(np.float32) * model.projection_scale
        frequent = rows < len(model.own)
        sums[frequent] += model.own[rows[frequent]].astype(np.float32) * model.own_scale
        return rounded(sums)

    def _hidden(self, windows: Integers) -> Integers:
        """y [n, hidden]"""
        model = self.context
        distinct, number = np.unique(windows, return_inverse=True)
        known = distinct >= 0
        x = np.empty((len(distinct), model.width), dtype=np.int32)
        x[known] = self._embedded(distinct[known])
        x[~known] = model.signs[-1 - distinct[~known]]
        x = x[number.reshape(windows.shape)]
        a = rounded(model.layers["first"].sums(x[:, model.near_places].reshape(len(x), -1)), 0)
        queries = rounded(model.layers["query"].sums(a)).reshape(len(x), model.heads, model.width)
        products = np.matmul(queries.astype(np.float64), x.astype(np.float64).transpose(0, 2, 1))
        utility = products * float(model.scales[0]) + model.position_bias.astype(np.float64)
        inside = np.broadcast_to((windows != PAD)[:, None], utility.shape)
        best = np.where(inside, utility, -np.inf).max(axis=2, keepdims=True)
        weights = np.where(
            inside, exact.exp(np.where(inside, utility - np.where(np.isfinite(best), best, 0), -1e3)), 0.0
        )
        total = np.add.accumulate(weights, axis=2)[:, :, -1:]
        shares = np.rint(weights / np.where(total > 0, total, 1) * SHARE_SCALE)
        sums = np.matmul(shares, x.astype(np.float64)).reshape(len(x), -1).astype(np.float32)
        both = np.concatenate([a, rounded(sums / np.float32(SHARE_SCALE))], axis=1)
        inner = rounded(model.layers["second"].sums(both), 0)
        return rounded(model.layers["third"].sums(inner) + a.astype(np.float32))

    def _scores(self, y: Integers, candidates: Integers) -> Scores:
        model = self.context
        z = np.zeros((len(y), candidates.shape[1] + 1))
        z[:, -1:] = model.layers["new"].sums(y).astype(np.float64)
        expected, frequent = rounded(model.layers["row"].sums(y)), rounded(model.layers["frequent"].sums(y))
        window, place = (candidates >= 0).nonzero()
        rows = candidates[window, place]
        products = (whole_rows(self.own(rows)).astype(np.int64) * expected[window]).sum(axis=1)
        z[window, place] = products.astype(np.float64) * float(model.scales[1])
        some = rows < len(model.own)
        window, place, rows = window[some], place[some], rows[some]
        products = (model.own[rows].astype(np.int64) * frequent[window]).sum(axis=1)
        z[window, place] += products.astype(np.float64) * float(model.scales[2]) + model.own_bias[rows].astype(
            np.float64
        )
        return z
