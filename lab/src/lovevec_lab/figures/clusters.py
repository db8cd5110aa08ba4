"""Words of a few topics on a plane, as in the paper's cluster figure: do damaged words land among their own kind?

The plane is the one that shows most of the differences between the vectors of the topics' words (PCA).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.figures.style import (
    COLOURS,
    INK,
    MARKERS,
    QUIET,
    add_figure_title,
    add_legend,
    add_panel_title,
    add_title,
    blank_figure,
    picture_type,
    save_figure,
    settle,
    short_label,
    show_frame,
)
from lovevec_lab.figures.labels import Label, put_beside

Path = str | PathLike[str]
Floats = NDArray[np.float64]
Topics = Mapping[str, Sequence[str]]
Vectors = Mapping[str, NDArray[Any]]
SMALL, LARGE = 26, 90  # areas of markers, in square points
MARGIN = 0.07


class Look(NamedTuple):
    """How a word is drawn; `wrong` is a damaged word that is not with its own kind."""

    colour: str
    marker: str
    damaged: bool = False
    wrong: bool = False


def draw_clusters(topics: Topics, damaged: Mapping[str, str], vectors: Vectors, path: Path, title: str) -> Any:
    """Draw the words of each topic in a colour of its own; `damaged` words (each with its topic) stand out.

    The plane is that of the topics' words alone: damaged words are only placed on it. Gives the matplotlib figure.
    """
    picture_type(path)
    _refuse_odd(path, topics, damaged, vectors)
    looks = _looks(topics, damaged, dict(zip(topics, COLOURS, strict=False)))
    figure = blank_figure(8.2, 5.8)
    axes = figure.subplots()
    places = on_plane(topics, damaged, vectors)
    _mark(axes, places, looks)
    add_title(axes, title)
    _legend(figure, topics)
    settle(figure)
    _name(axes, places, looks)
    save_figure(figure, path)
    return figure


def clusters_of(
    path: Path,
    vectors_by_method: Mapping[str, Vectors],
    topics: Topics,
    damaged: Mapping[str, str],
    clusters: Mapping[str, Mapping[str, int]],
    *,
    title: str = "",
) -> Any:
    """Draw a panel for each method; `clusters` says for each in which cluster K-means has put each word.

    Shape is the topic, colour the cluster: that of the topic whose cluster it is (see `match_clusters`), so that a word
    out of place has a shape and a colour that do not belong together; a damaged one is crossed as well. All panels are
    turned so that words lie as in the first as far as they can. Gives the matplotlib figure that was saved.
    """
    picture_type(path)
    if not vectors_by_method:
        raise LovevecError(f"{path}: no methods to draw")
    for method, vectors in vectors_by_method.items():
        _refuse_odd(f"{path}: {method}", topics, damaged, vectors)
        _refuse_odd(f"{path}: clusters of {method}", topics, damaged, clusters.get(method, {}))
    looks = {method: _by_cluster(topics, damaged, clusters[method]) for method in vectors_by_method}
    figure = blank_figure(max(4.3 * len(vectors_by_method), 7), 4.9)
    figure.get_layout_engine().set(w_pad=0.08)
    planes = align_planes([on_plane(topics, damaged, vectors) for vectors in vectors_by_method.values()])
    panels = list(zip(figure.subplots(1, len(planes), squeeze=False)[0], planes, looks.items(), strict=True))
    for axes, places, (method, looked) in panels:
        _mark(axes, places, looked)
        add_panel_title(axes, method, _count(topics, looked))
    if title:
        add_figure_title(figure, title)
    _legend(figure, topics, by_cluster=True)
    settle(figure)
    for axes, places, (_, looked) in panels:
        _name(axes, places, looked)
    save_figure(figure, path)
    return figure


def plane(vectors: NDArray[Any]) -> Floats:
    """The two main directions of the vectors (PCA): [n, dim] -> [n, 2]."""
    centre, directions = _main(vectors)
    result: Floats = (vectors - centre) @ directions
    return result


def _main(vectors: NDArray[Any]) -> tuple[Floats, Floats]:
    """The centre [dim] and the two directions [dim, 2], whose largest part is positive: no picture is mirrored."""
    vectors = np.asarray(vectors, dtype=np.float64)
    centre = vectors.mean(axis=0)
    found = np.linalg.svd(vectors - centre, full_matrices=False)[2][:2].T
    directions = np.zeros((vectors.shape[1], 2))
    directions[:, : found.shape[1]] = found * np.sign(found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])])
    return centre, directions


def on_plane(topics: Topics, damaged: Mapping[str, str], vectors: Vectors) -> dict[str, Floats]:
    """Each word's spot on the plane of the topics' words."""
    words = [word for listed in topics.values() for word in listed]
    centre, directions = _main(np.stack([vectors[word] for word in words]))
    return {word: (vectors[word] - centre) @ directions for word in (*words, *damaged)}


def align_planes(planes: Sequence[dict[str, Floats]]) -> list[dict[str, Floats]]:
    """Turn and mirror all planes after the first so that words lie nearest to where they lie there (Procrustes)."""
    first = np.stack(list(planes[0].values()))
    result = []
    for spots in planes:
        left, _, right = np.linalg.svd(np.stack(list(spots.values())).T @ first)
        result.append({word: spot @ (left @ right) for word, spot in spots.items()})
    return result


def match_clusters(clusters: Mapping[str, int], topics: Topics) -> dict[int, str]:
    """Whose cluster each is: cluster -> topic, one to one, so that as many words as can be lie in their topic's.

    {"tin": 1, "zinc": 1, "jay": 0, "owl": 1}, {"metals": [tin, zinc], "birds": [jay, owl]} -> {0: "birds", 1: "metals"}
    A cluster too many is nobody's, and not in the answer; of equals the lower cluster gets the earlier topic.
    """
    counts = {topic: Counter(clusters[word] for word in words) for topic, words in topics.items()}
    best: dict[frozenset[str], tuple[int, dict[int, str]]] = {frozenset(): (0, {})}
    for cluster in sorted({cluster for count in counts.values() for cluster in count}):
        for given, (score, pairs) in list(best.items()):
            for topic in [topic for topic in topics if topic not in given]:
                more = score + counts[topic][cluster]
                if more > best.get(given | {topic}, (-1, {}))[0]:
                    best[given | {topic}] = more, pairs | {cluster: topic}
    return max(best.values(), key=lambda found: (found[0], len(found[1])))[1]


def _by_cluster(topics: Topics, damaged: Mapping[str, str], clusters: Mapping[str, int]) -> dict[str, Look]:
    """Looks whose colour is the cluster's; grey where the cluster is nobody's."""
    own = dict(zip(topics, COLOURS, strict=False))
    colours = {cluster: own[topic] for cluster, topic in match_clusters(clusters, topics).items()}
    looks = {}
    for word, look in _looks(topics, damaged, own).items():
        found = colours.get(clusters[word], QUIET)
        looks[word] = look._replace(colour=found, wrong=look.damaged and found != look.colour)
    return looks


def _looks(topics: Topics, damaged: Mapping[str, str], colours: Mapping[str, str]) -> dict[str, Look]:
    """Looks by topic alone."""
    shapes = dict(zip(topics, MARKERS, strict=False))
    looks = {word: Look(colours[topic], shapes[topic]) for topic, words in topics.items() for word in words}
    return looks | {word: Look(colours[topic], shapes[topic], damaged=True) for word, topic in damaged.items()}


def _count(topics: Topics, looks: Mapping[str, Look]) -> str:
    """How many words are where they belong."""
    own = dict(zip(topics, COLOURS, strict=False))
    right = sum(looks[word].colour == own[topic] for topic, words in topics.items() for word in words)
    hurt = [look.wrong for look in looks.values() if look.damaged]
    found = f"in their topic's cluster: {right} of {len(looks) - len(hurt)} words"
    return found + (f", {len(hurt) - sum(hurt)} of {len(hurt)} damaged" if hurt else "")


def _mark(axes: Any, places: Mapping[str, Floats], looks: Mapping[str, Look]) -> None:
    for look in dict.fromkeys(looks.values()):
        spots = np.stack([places[word] for word, other in looks.items() if other == look])
        if look.damaged:
            axes.scatter(*spots.T, LARGE, facecolors="none", edgecolors=look.colour, marker=look.marker, linewidths=1.8)
        else:
            axes.scatter(*spots.T, SMALL, color=look.colour, marker=look.marker, alpha=0.8, linewidths=0)
        if look.wrong:
            axes.scatter(*spots.T, LARGE, color=INK, marker="x", linewidths=1.4)
    axes.set_xticks([])
    axes.set_yticks([])
    show_frame(axes, "left", "right", "top", "bottom")


def _scale(axes: Any, spots: Floats) -> None:
    """Fill the panel, with room for names, and equally in both directions: distances are those on the plane."""
    page = axes.get_window_extent().size
    low, high = spots.min(axis=0), spots.max(axis=0)
    half = (max(((high - low) / page).max(), 1e-9) / (1 - 2 * MARGIN)) * page / 2
    for set_limits, middle, reach in zip((axes.set_xlim, axes.set_ylim), (low + high) / 2, half, strict=True):
        set_limits(middle - reach, middle + reach)


def _name(axes: Any, places: Mapping[str, Floats], looks: Mapping[str, Look]) -> None:
    """Write each word beside its spot, the damaged ones first and bold."""
    _scale(axes, np.stack(list(places.values())))
    labels = []
    for word, look in sorted(looks.items(), key=lambda item: not item[1].damaged):
        if look.damaged:
            shown = short_label(word) + (" ✗" if look.wrong else "")
            labels.append(Label(shown, places[word], look.colour, 10, "bold", radius=6))
        else:
            labels.append(Label(short_label(word), places[word], QUIET))
    put_beside(axes, labels)


def _legend(figure: Any, topics: Topics, by_cluster: bool = False) -> None:
    """What shapes and colours mean, below the picture."""
    handles = [_handle(marker, colour, 6) for marker, colour in zip(MARKERS, COLOURS[: len(topics)], strict=False)]
    handles.append(_handle("o", QUIET, 9, markerfacecolor="none", markeredgewidth=1.6))
    names, about = [*topics, "damaged word"], None
    if by_cluster:
        handles.append(_handle("x", INK, 8))
        names.append("in another topic's cluster")
        about = "shape: the word's topic; colour: the topic whose cluster K-means put it into"
    columns = min(len(names), 5)
    add_legend(figure, handles, names, about, loc="outside lower center", ncols=columns, handletextpad=0.3)


def _handle(marker: str, colour: str, size: float, **more: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", marker=marker, color=colour, markersize=size, **more)


def _refuse_odd(what: object, topics: Topics, damaged: Mapping[str, str], of: Mapping[str, Any]) -> None:
    if not topics or not all(topics.values()):
        raise LovevecError(f"{what}: no words to draw; give topics with words")
    if len(topics) > len(COLOURS):
        raise LovevecError(f"{what}: {len(topics)} topics; more than {len(COLOURS)} cannot be told apart")
    if lost := [topic for topic in damaged.values() if topic not in topics]:
        raise LovevecError(f"{what}: a damaged word of {lost[0]}, which is none of the topics")
    words = [*(word for listed in topics.values() for word in listed), *damaged]
    if lost := [word for word, times in Counter(words).items() if times > 1]:
        raise LovevecError(f"{what}: the word {lost[0]} is there twice")
    if lost := [word for word in words if word not in of]:
        raise LovevecError(f"{what}: nothing for the word {lost[0]}")
