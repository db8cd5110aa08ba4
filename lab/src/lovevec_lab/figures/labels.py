"""How large labels are, and where they go, so that none lies on another: in a column, or beside spots on a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.figures.style import text_size

Floats = NDArray[np.float64]
GAP = 1.5  # points between two labels at least: other file kinds set text a little wider
NEAR = 4.0  # points from a spot's edge to its label
# Directions from a spot to its label, the most usual first; up and down last, where it covers neighbors.
CORNERS, SIDES, ENDS = ((1, 1), (1, -1), (-1, 1), (-1, -1)), ((1, 0), (-1, 0), (0, 1), (0, -1)), (0.5, -0.5)
AROUND = np.array([*CORNERS, *SIDES, *((x, y) for y in (1, -1) for x in ENDS)], dtype=np.float64)
RINGS = np.array([0, 5, 11, 18, 27, 40, 60], dtype=np.float64)
# What else makes a place worse, counted in candidates further on: it lies nearer to another spot, or the line to it
# crosses another label.
DOUBT, CROSSING = 12, 10
SWEEPS = 3


class Label(NamedTuple):
    """A word beside its spot (in the data's coordinates), which has a radius in points."""

    word: str
    spot: Floats
    colour: str
    size: float = 7.5
    weight: str = "normal"
    radius: float = 3.0


def apart(wanted: Floats, size: float, low: float, high: float) -> Floats:
    """Places from `low` to `high`, at least `size` from each other, as near to the wanted ones as can be.

    Least squares: neighbors that collide are pooled and share the mean of what they want. Where there is no room for
    all, they are as far apart as they can be.
    """
    order = np.argsort(wanted, kind="stable")
    size = min(size, (high - low) / max(len(wanted) - 1, 1))
    steps = size * np.arange(len(wanted))
    pools: list[tuple[float, int]] = []
    for want in wanted[order] - steps:
        mean, count = float(want), 1
        while pools and pools[-1][0] >= mean:
            before, many = pools.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        pools.append((mean, count))
    flat = np.concatenate([np.full(count, mean) for mean, count in pools]) if pools else np.zeros(0)
    result = np.empty(len(wanted))
    result[order] = np.clip(flat, low, max(high - size * (len(wanted) - 1), low)) + steps
    return result


def put_beside(axes: Any, labels: Sequence[Label]) -> list[Any]:
    """Each word at that place around its spot where it covers least; a line leads to those further off.

    The figure must have been settled. Gives the annotations, in the labels' order.
    """
    if not labels:
        return []
    points = 72 / axes.figure.dpi
    spots: Floats = axes.transData.transform(np.stack([label.spot for label in labels])) * points
    radii = np.array([label.radius for label in labels])
    sizes = np.array([text_size(axes.figure, label.word, label.size, label.weight) for label in labels])
    frame = np.array(axes.get_window_extent().extents) * points
    places = find_places(spots, radii, sizes, frame)
    return [_put(axes, label, spot, box) for label, spot, box in zip(labels, spots, places, strict=True)]


def find_places(spots: Floats, radii: Floats, sizes: Floats, frame: Floats) -> Floats:
    """Spots [n, 2] with radii [n], labels' sizes [n, 2] -> their boxes (left, low, right, top) [n, 4], all in points.

    One after the other takes its best place; then each looks again, now that the others are there.
    """
    boxes = np.stack([_candidates(*one) for one in zip(spots, radii, sizes, strict=True)])
    lines = np.stack([_line(*one) for one in zip(spots, boxes, strict=True)])
    marks = np.hstack([spots - radii[:, None], spots + radii[:, None]])
    alone = [_cost_alone(one, spots, marks, own, frame) for own, one in enumerate(boxes)]
    chosen: dict[int, int] = {}
    for i in list(range(len(spots))) * SWEEPS:
        others = [(j, place) for j, place in chosen.items() if j != i]
        cost = alone[i]
        if others:
            theirs, leading = (np.stack([of[j, place] for j, place in others]) for of in (boxes, lines))
            crossed = _inside(lines[i], theirs).sum(axis=(1, 2)) + _inside(leading.reshape(-1, 2), boxes[i]).sum(axis=0)
            cost = cost + 1000 * _shared(_with_margin(boxes[i]), theirs).sum(axis=1) + CROSSING * crossed
        chosen[i] = int(np.argmin(cost))
    return np.stack([boxes[i, chosen[i]] for i in range(len(spots))])


def _cost_alone(boxes: Floats, spots: Floats, marks: Floats, own: int, frame: Floats) -> Floats:
    """What is bad about places [n, 4], whatever the other labels do: above all to cover a mark or leave the frame."""
    covered = _shared(_with_margin(boxes), marks).sum(axis=1)
    outside = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) - _shared(boxes, frame[None])[:, 0]
    away = np.linalg.norm(np.clip(spots, boxes[:, None, :2], boxes[:, None, 2:]) - spots, axis=2)
    doubtful = (away < away[:, own : own + 1]).sum(axis=1)
    result: Floats = 1000 * (covered + outside) + DOUBT * doubtful + np.arange(len(boxes))
    return result


def _line(spot: Floats, boxes: Floats) -> Floats:
    """Points along the way from a spot to each box: [n, 4] -> [n, 12, 2]."""
    ends = np.clip(spot, boxes[:, :2], boxes[:, 2:])
    result: Floats = spot + np.linspace(0, 1, 12)[:, None] * (ends - spot)[:, None]
    return result


def _inside(points: Floats, boxes: Floats) -> NDArray[np.bool_]:
    """Which points lie in which boxes: [..., 2], [m, 4] -> [..., m]."""
    x, y = points[..., None, 0], points[..., None, 1]
    result: NDArray[np.bool_] = (x > boxes[:, 0]) & (x < boxes[:, 2]) & (y > boxes[:, 1]) & (y < boxes[:, 3])
    return result


def _with_margin(boxes: Floats) -> Floats:
    result: Floats = boxes + np.array([-GAP, -GAP, GAP, GAP])
    return result


def _candidates(spot: Floats, radius: float, size: Floats) -> Floats:
    """Boxes around a spot, nearer ones first: [rings * directions, 4]."""
    far = (radius + NEAR + RINGS)[:, None, None] * np.where(AROUND.all(axis=1, keepdims=True), 0.75, 1.0)
    corner = (spot + AROUND * far + (AROUND - 1) / 2 * size).reshape(-1, 2)
    return np.hstack([corner, corner + size])


def _shared(boxes: Floats, others: Floats) -> Floats:
    """The areas that boxes have in common: [n, 4], [m, 4] -> [n, m]."""
    sides = np.minimum(boxes[:, None, 2:], others[None, :, 2:]) - np.maximum(boxes[:, None, :2], others[None, :, :2])
    result: Floats = np.maximum(sides, 0).prod(axis=2)
    return result


def _put(axes: Any, label: Label, spot: Floats, box: Floats) -> Any:
    nearest = np.clip(spot, box[:2], box[2:])
    line = {"arrowstyle": "-", "color": label.colour, "linewidth": 0.5, "shrinkA": 0, "shrinkB": label.radius}
    line["relpos"] = tuple((nearest - box[:2]) / np.maximum(box[2:] - box[:2], 1e-9))
    far = np.linalg.norm(nearest - spot) > label.radius + NEAR + RINGS[1]
    return axes.annotate(
        label.word,
        label.spot,
        xytext=box[:2] - spot,
        textcoords="offset points",
        va="bottom",
        fontsize=label.size,
        fontweight=label.weight,
        color=label.colour,
        parse_math=False,
        arrowprops=line if far else None,
        annotation_clip=False,
    )
