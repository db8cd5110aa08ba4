"""Words of a few topics on a plane, as in the paper's cluster figure: do damaged words land among their own kind?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.figures.paper import INK, QUIET, blank, drawable, kind_of, save

COLOURS = ("#2f6db5", "#c4553b", "#3c8d5a", "#8a5fb0", "#b7892b", "#4b9aa8")
Box = tuple[float, float, float, float]


def plane(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """The two main directions of the vectors (PCA): [n, dim] -> [n, 2]."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    result: NDArray[np.float64] = centred @ directions[:2].T
    return result


def draw_clusters(
    topics: Mapping[str, Sequence[str]],
    damaged: Mapping[str, str],
    vectors: Mapping[str, NDArray[np.float32]],
    path: str | PathLike[str],
    title: str,
) -> None:
    """Draw the words of each topic in a colour of its own; `damaged` words (each with its topic) stand out.

    The plane is that of the topics' words alone: damaged words are only placed on it.
    """
    kind_of(path)
    figure = blank(8.2, 5.6)
    axes = figure.subplots()
    words = [word for listed in topics.values() for word in listed]
    known = np.stack([vectors[word] for word in words])
    spots = plane(known)
    centre = known.mean(axis=0)
    # Least squares gives back the directions that `plane` used, whatever their sign.
    directions = np.linalg.lstsq(known - centre, spots, rcond=None)[0]
    place = dict(zip(words, spots, strict=True))
    place |= {word: (vectors[word] - centre) @ directions for word in damaged}
    texts = []
    for (topic, listed), colour in zip(topics.items(), COLOURS, strict=False):
        odd = [word for word, of in damaged.items() if of == topic]
        at = np.stack([place[word] for word in (*listed, *odd)])
        axes.scatter(*at[: len(listed)].T, s=26, color=colour, alpha=0.75, linewidths=0, label=topic)
        if odd:
            axes.scatter(*at[len(listed) :].T, s=90, facecolors="none", edgecolors=colour, linewidths=1.8)
        texts += [Text(word, spot, QUIET) for word, spot in zip(listed, at, strict=False)]
        texts += [Text(word, spot, colour, 10, "bold") for word, spot in zip(odd, at[len(listed) :], strict=True)]
    axes.set_title(title, loc="left", color=INK, fontsize=12, fontweight="bold", parse_math=False)
    axes.legend(frameon=False, loc="best", fontsize=9, labelcolor=INK)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.margins(0.09)
    for spine in axes.spines.values():
        spine.set_color("#d9dee4")
    _write(axes, sorted(texts, key=lambda text: text.weight))
    save(figure, path)


class Text(NamedTuple):
    """A word beside its spot."""

    word: str
    spot: NDArray[np.float64]
    colour: str
    size: float = 7.5
    weight: str = "normal"


def _write(axes: Any, texts: Sequence[Text]) -> None:
    """Each word on that side of its spot where it covers the least of what stands there already."""
    spots = axes.transData.transform(np.stack([text.spot for text in texts])) * (72 / axes.figure.dpi)
    taken = [_box(spot, (-4, -4), 8, 8) for spot in spots]
    for text, spot in zip(texts, spots, strict=True):
        wide, high = 0.6 * text.size * len(text.word), 1.1 * text.size
        sides = ((6, 3), (6, -high - 3), (-wide - 6, 3), (-wide - 6, -high - 3), (-wide / 2, 7), (-wide / 2, -high - 7))
        covered = [sum(_shared(_box(spot, side, wide, high), other) for other in taken) for side in sides]
        side = sides[int(np.argmin(covered))]
        taken.append(_box(spot, side, wide, high))
        axes.annotate(
            drawable(text.word),
            text.spot,
            xytext=side,
            textcoords="offset points",
            fontsize=text.size,
            fontweight=text.weight,
            color=text.colour,
            parse_math=False,
        )


def _box(spot: NDArray[np.float64], side: tuple[float, float], wide: float, high: float) -> Box:
    left, low = float(spot[0]) + side[0], float(spot[1]) + side[1]
    return left, low, left + wide, low + high


def _shared(one: Box, other: Box) -> float:
    """The area that two boxes have in common."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0.0) * max(high, 0.0)
