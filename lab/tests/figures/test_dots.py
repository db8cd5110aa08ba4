from __future__ import annotations

import numpy as np
import pytest
from figure_checks import NASTY, NASTY_SHOWN, overlaps, texts
from matplotlib.colors import to_hex

from lovevec.errors import LovevecError
from lovevec_lab.figures.dots import BEST, Dot, dots

METHODS = ["LOVE", "BoS", "FastText"]
PANELS = {
    "RareWord": [Dot(42.2, 39, 45), Dot(44.2, 41, 47.5), Dot(48.1, 45, 51)],
    "SimLex": [Dot(35.0, 30, 40), Dot(27.4, 22, 32), Dot(30.4, 25, 36)],
}
NAMES = {"title": "Word similarity", "x_label": "ρ x 100"}


def of_rows(axes) -> list[tuple[list[float], float, str]]:
    """(whisker, dot, colour) of each row, from the top."""
    whiskers, points = axes.lines[::2], axes.lines[1::2]
    for row, (whisker, point) in enumerate(zip(whiskers, points, strict=True)):
        assert set(whisker.get_ydata()) == set(point.get_ydata()) == {row}
    return [
        (list(whisker.get_xdata()), float(point.get_xdata()[0]), to_hex(point.get_color()))
        for whisker, point in zip(whiskers, points, strict=True)
    ]


def test_every_score_has_its_dot_and_whisker_and_the_best_stands_out(tmp_path):
    figure = dots(tmp_path / "d.png", METHODS, PANELS, **NAMES)
    for axes, (name, expected), best in zip(figure.axes, PANELS.items(), (2, 0), strict=True):
        assert axes.get_title(loc="left") == name
        found = of_rows(axes)
        assert [(whisker, dot) for whisker, dot, _ in found] == [([one.low, one.high], one.score) for one in expected]
        assert [colour == BEST for *_, colour in found] == [row == best for row in range(3)]
        assert [text.get_text() for text in axes.texts] == [f"{one.score:.1f}" for one in expected]
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == METHODS
    assert figure.axes[0].get_ylim()[0] > figure.axes[0].get_ylim()[1]  # the first on top
    assert {"Word similarity", "ρ x 100", *METHODS} <= set(texts(figure))
    assert (tmp_path / "d.png").read_bytes().startswith(b"\x89PNG")


def test_one_method_is_not_the_best_of_anything(tmp_path):
    figure = dots(tmp_path / "d.svg", ["LOVE"], {"AP": [Dot(53.2, 53.2, 53.2)]}, **NAMES)
    assert of_rows(figure.axes[0])[0][2] != BEST


@pytest.mark.parametrize(("panels", "methods"), [(1, 1), (5, 10)])
def test_nothing_lies_on_anything_and_all_is_inside(tmp_path, panels, methods):
    rng = np.random.default_rng(0)
    made = {
        f"set {number}": [
            Dot(score, score - spread, score + spread)
            for score, spread in zip(rng.uniform(-5, 90, methods), rng.uniform(0, 9, methods), strict=True)
        ]
        for number in range(panels)
    }
    figure = dots(tmp_path / "d.png", [f"method {number}" for number in range(methods)], made, **NAMES)
    shown = [axes for axes in figure.axes if axes.axison]
    assert len(shown) == panels
    for axes in shown:
        assert overlaps(figure, axes.texts) == []
        low, high = axes.get_xlim()
        assert all(low <= x <= high for line in axes.lines for x in line.get_xdata())
    edges = [axes.get_position() for axes in shown]
    assert all(
        one.x1 <= other.x0 or other.x1 <= one.x0 or one.y1 <= other.y0 or other.y1 <= one.y0
        for number, one in enumerate(edges)
        for other in edges[:number]
    )


def test_nasty_names_are_written_as_they_are(tmp_path):
    figure = dots(tmp_path / "d.png", NASTY, {name: [Dot(1, 0, 2)] * len(NASTY) for name in NASTY[:3]}, **NAMES)
    written = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    for shown, expected in zip(written, NASTY_SHOWN, strict=True):
        assert expected is None or shown == expected
    assert "$x_1$ & \\frac" in texts(figure)


def test_a_bad_file_name_is_refused(tmp_path):
    with pytest.raises(LovevecError, match=r"d.gif: a picture's name ends in .png"):
        dots(tmp_path / "d.gif", METHODS, PANELS, **NAMES)
    assert list(tmp_path.iterdir()) == []
