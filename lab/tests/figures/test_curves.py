from __future__ import annotations

import numpy as np
import pytest
from figure_checks import NASTY, NASTY_SHOWN, boxes, overlaps, texts
from matplotlib.colors import to_hex

from lovevec.errors import LovevecError
from lovevec_lab.figures.curves import curve_panels, curves

X = [0, 10, 30, 50, 70, 90]
NAMES = {"title": "Typos", "x_label": "damaged, %", "y_label": "accuracy"}
# The paper's table of robustness on SST2.
SERIES = {
    "FastText": [82.3, 68.2, 59.8, 56.7, 57.8, 60.3],
    "FastText + LOVE": [82.1, 79.8, 74.9, 74.2, 68.8, 67.2],
}


def test_each_method_has_its_line_and_its_name_in_one_colour(tmp_path):
    axes = curves(tmp_path / "c.png", SERIES, X, **NAMES).axes[0]
    assert len(axes.lines) == len(SERIES)
    for line, (name, values), label in zip(axes.lines, SERIES.items(), axes.texts, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.stack([X, values], axis=1))
        assert label.get_text() == name
        assert to_hex(label.get_color()) == to_hex(line.get_color())
    assert len({to_hex(line.get_color()) for line in axes.lines}) == 2
    assert {"Typos", "damaged, %", "accuracy", *(str(x) for x in X)} <= set(texts(axes))
    assert axes.get_xticks().tolist() == X


def test_a_spread_is_a_band_around_its_line(tmp_path):
    spread = {"FastText + LOVE": [0.5, 1, 2, 1, 1, 3.0]}
    axes = curves(tmp_path / "c.svg", SERIES, X, spread=spread, **NAMES).axes[0]
    (band,) = axes.collections
    corners = {(x, round(y, 6)) for x, y in band.get_paths()[0].vertices.tolist()}
    for x, middle, half in zip(X, SERIES["FastText + LOVE"], spread["FastText + LOVE"], strict=True):
        assert {(x, round(middle - half, 6)), (x, round(middle + half, 6))} <= corners


@pytest.mark.parametrize("ends", [np.full(17, 60.0), np.linspace(60, 60.4, 17), np.r_[np.full(16, 0.0), 100]])
def test_names_never_lie_on_each_other_and_stand_in_the_order_of_the_ends(tmp_path, ends):
    series = {f"method {i}": [80.0, end] for i, end in enumerate(np.random.default_rng(0).permutation(ends))}
    figure = curves(tmp_path / "c.png", series, [0, 90], **NAMES)
    labels = figure.axes[0].texts
    assert overlaps(figure, labels) == []
    heights = boxes(figure, labels)[:, 1]
    finals = np.array([values[-1] for values in series.values()])
    assert (np.diff(finals[np.argsort(heights)]) >= 0).all()
    looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in figure.axes[0].lines}
    assert len(looks) == len(series)


def test_a_value_that_is_not_there_is_a_gap_and_the_name_belongs_to_the_last_that_is(tmp_path):
    axes = curves(tmp_path / "c.png", {"a": [3, np.nan, 2, np.nan]}, [0, 1, 2, 3], **NAMES).axes[0]
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [3, np.nan, 2, np.nan])
    assert axes.texts[0].xy == (2, 2)


def test_nasty_names_are_written_as_they_are(tmp_path):
    series = {name: [1.0, i] for i, name in enumerate(NASTY)}
    nasty = dict.fromkeys(NAMES, NASTY[0] + NASTY[4])
    figure = curves(tmp_path / "c.svg", series, [0, 1], **nasty)
    shown = [label.get_text() for label in figure.axes[0].texts]
    assert all(text == wanted for text, wanted in zip(shown, NASTY_SHOWN, strict=True) if wanted is not None)
    assert max(map(len, shown)) == 40
    assert texts(figure).count(NASTY_SHOWN[0] + NASTY_SHOWN[4]) == 3
    assert overlaps(figure, [label for label in figure.axes[0].texts if label.get_text()]) == []
    panels = curve_panels(tmp_path / "p.svg", {NASTY[0]: series}, [0, 1], **nasty)
    assert [text.get_text() for text in panels.legends[0].get_texts()] == shown
    assert NASTY[0] in texts(panels)


def test_panels_share_one_legend_in_which_a_method_has_one_look(tmp_path):
    panels = {"SST2": SERIES, "CoNLL-03": {"CharCNN": [1.0] * 6, "FastText": [2.0] * 6}}
    labels = NAMES | {"y_label": {"SST2": "accuracy", "CoNLL-03": "F1"}}
    figure = curve_panels(tmp_path / "p.png", panels, X, spread={"SST2": {"FastText": [1.0] * 6}}, **labels)
    first, second = figure.axes
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["SST2", "CoNLL-03"]
    assert [axes.get_ylabel() for axes in figure.axes] == ["accuracy", "F1"]
    assert (len(first.collections), len(second.collections)) == (1, 0)
    (legend,) = figure.legends
    colours = dict(
        zip(
            [text.get_text() for text in legend.get_texts()],
            [line.get_color() for line in legend.get_lines()],
            strict=True,
        )
    )
    assert list(colours) == ["FastText", "FastText + LOVE", "CharCNN"]
    assert len(set(colours.values())) == 3
    assert [line.get_color() for line in first.lines] == [colours["FastText"], colours["FastText + LOVE"]]
    assert [line.get_color() for line in second.lines] == [colours["CharCNN"], colours["FastText"]]


@pytest.mark.parametrize(
    ("series", "x", "spread", "told"),
    [
        ({}, [0], None, "no curves to draw"),
        ({"a": []}, [], None, "no curves to draw"),
        ({"a": [1.0]}, [0, 1], None, "a has 1 values for 2 places"),
        ({"a": [1.0, 2.0]}, [0, 1], {"a": [1.0]}, "a has 1 values for 2 places"),
        ({"a": [1.0, 2.0]}, [0, 1], {"b": [1.0, 1.0]}, "a spread without a curve: b"),
        ({"a": [1.0, 2.0]}, [1, 0], None, "must rise, not 1, 0"),
        ({"a": [np.nan, np.nan]}, [0, 1], None, "a has no values to draw"),
    ],
)
def test_what_cannot_be_drawn_is_named(tmp_path, series, x, spread, told):
    with pytest.raises(LovevecError, match=rf"c\.png: .*{told}"):
        curves(tmp_path / "c.png", series, x, spread=spread, **NAMES)
    with pytest.raises(LovevecError, match=told):
        curve_panels(tmp_path / "c.png", {"p": series}, x, spread={"p": spread}, **NAMES)
    assert list(tmp_path.iterdir()) == []
