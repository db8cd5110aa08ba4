from __future__ import annotations

import numpy as np
import pytest
from figure_checks import NASTY, NASTY_SHOWN, boxes, overlaps
from matplotlib.colors import to_rgb

from lovevec.errors import LovevecError
from lovevec.figures.attention import readable_on
from lovevec_lab.figures.heatmap import heatmap, heatmaps, lower_triangle

LABELS = ["swap", "drop", "insert", "keyboard", "synonym"]
N = len(LABELS)
HALF = np.tril(np.random.default_rng(0).uniform(30, 40, (N, N)))
SCORES = HALF + np.tril(HALF, -1).T


def cells(axes) -> dict[tuple[int, int], str]:
    """(row, column) -> the number that stands there."""
    return {(round(text.get_position()[1]), round(text.get_position()[0])): text.get_text() for text in axes.texts}


def names(axes) -> tuple[list[str], list[str]]:
    return (
        [label.get_text() for label in axes.get_xticklabels()],
        [label.get_text() for label in axes.get_yticklabels()],
    )


def test_every_single_and_every_pair_is_shown_once_with_its_number(tmp_path):
    (axes,) = heatmap(tmp_path / "h.png", SCORES, LABELS, title="RareWord", digits=2).axes
    assert cells(axes) == {(i, j): f"{SCORES[i, j]:.2f}" for i in range(N) for j in range(i + 1)}
    assert names(axes) == (LABELS, LABELS)
    assert axes.get_title(loc="left") == "RareWord"
    shown = np.ma.filled(axes.images[0].get_array(), np.nan)
    np.testing.assert_array_equal(shown[np.tril_indices(N)], SCORES[np.tril_indices(N)])
    assert np.isnan(shown[np.triu_indices(N, 1)]).all()


def test_it_does_not_matter_on_which_side_pairs_are_given_and_missing_ones_are_blank(tmp_path):
    scores = SCORES.copy()
    scores[np.tril_indices(N, -1)] = np.nan
    scores[0, 3] = np.nan
    (axes,) = heatmap(tmp_path / "h.svg", scores, LABELS, title="").axes
    wanted = {(i, j): f"{SCORES[i, j]:.1f}" for i in range(N) for j in range(i + 1)}
    del wanted[3, 0]
    assert cells(axes) == wanted
    assert axes.images[0].get_array().mask[3, 0]


def test_panels_have_titles_and_scales_of_their_own(tmp_path):
    blank = np.full((N, N), np.nan)
    figure = heatmaps(tmp_path / "h.png", {"RareWord": SCORES, "SST2": 2 * SCORES, "none": blank}, LABELS, title="All")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["RareWord", "SST2", "none"]
    assert figure.get_suptitle() == "All"
    first, second, third = (axes.images[0].norm for axes in figure.axes)
    assert (first.vmax, second.vmax) == (SCORES.max(), 2 * SCORES.max())
    assert first.vmin < SCORES.min()
    assert cells(figure.axes[2]) == {}
    assert third.vmin < third.vmax


def light(colour) -> float:
    parts = np.array(to_rgb(colour))
    return float(np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722))


def test_numbers_can_be_read_on_any_colour(tmp_path):
    ramp = np.full((11, 11), np.nan)
    ramp[np.tril_indices(11)] = np.linspace(0, 1, 66)
    (axes,) = heatmap(tmp_path / "h.png", ramp, [str(i) for i in range(11)], title="").axes
    behind = axes.images[0].to_rgba(np.ma.masked_invalid(ramp))
    for text in axes.texts:
        column, row = map(round, text.get_position())
        low, high = sorted([light(text.get_color()), light(behind[row, column, :3])])
        assert (high + 0.05) / (low + 0.05) > 4.5
    for grey in np.linspace(0, 1, 101):
        low, high = sorted([light(readable_on(np.full(3, grey))), light(np.full(3, grey))])
        assert (high + 0.05) / (low + 0.05) > 4.5


@pytest.mark.parametrize("labels", [LABELS, NASTY, ["a rather long name of a choice", "b", "another long name of one"]])
def test_names_fit_however_they_are(tmp_path, labels):
    count = len(labels)
    figure = heatmap(tmp_path / "h.png", np.full((count, count), -1234.5), labels, title="$t$")
    (axes,) = figure.axes
    for axis in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert overlaps(figure, [label for label in axis if label.get_text()]) == []
    if labels is NASTY:
        pairs = zip(names(axes)[0], NASTY_SHOWN, strict=True)
        assert all(shown == wanted for shown, wanted in pairs if wanted is not None)
    assert overlaps(figure, axes.texts) == []
    wide = axes.get_window_extent().width / count
    assert np.diff(boxes(figure, axes.texts)[:, [0, 2]]).max() < wide


def test_what_cannot_be_drawn_is_named(tmp_path):
    path = tmp_path / "h.png"
    with pytest.raises(LovevecError, match=r"h\.png: t: scores of shape \(2, 3\) for 2 labels"):
        heatmap(path, np.ones((2, 3)), ["a", "b"], title="t")
    with pytest.raises(LovevecError, match="no scores"):
        heatmap(path, np.ones((0, 0)), [], title="t")
    with pytest.raises(LovevecError, match="no scores"):
        heatmaps(path, {}, ["a"], title="t")
    with pytest.raises(LovevecError, match="a with b and b with a have different scores"):
        lower_triangle(np.array([[1, 2], [3, 4]]), ["a", "b"], "t")
    assert list(tmp_path.iterdir()) == []
