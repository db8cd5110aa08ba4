from __future__ import annotations

import numpy as np
import pytest
from figure_checks import NASTY, overlaps, texts

from lovevec.errors import LovevecError
from lovevec.explain import Explanation, Unit
from lovevec.figures.attention import attention, draw_explanation

UNITS = ["[CLS]", "b", "e", "c", "0", "m", "e", "[SUB]", "be", "##co", "##me", "[SEP]"]
N = len(UNITS)
RNG = np.random.default_rng(0)


def made_map(count: int) -> np.ndarray:
    raised = np.exp(3 * RNG.normal(size=(count, count)))
    return raised / raised.sum(axis=1, keepdims=True)


def test_both_maps_are_drawn_with_units_and_numbers(tmp_path):
    positional, own = made_map(N), made_map(N)
    own[0], own[1] = 0, np.eye(N)[3]
    figure = attention(tmp_path / "a.png", UNITS, positional, own, "bec0me")
    assert figure.get_suptitle() == "bec0me"
    for axes, numbers, title in zip(
        figure.axes, (positional, own), ("positional attention", "self-attention"), strict=True
    ):
        np.testing.assert_array_equal(axes.images[0].get_array(), numbers)
        assert axes.get_title(loc="left") == title
        for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
            assert [label.get_text() for label in labels] == UNITS
            assert overlaps(figure, labels) == []
        written = {}
        for text in axes.texts:
            column, row = text.get_position()
            if text.get_text() and text.get_transform() == axes.transData:
                written[round(row), round(column)] = float(text.get_text())
        assert set(written) == set(zip(*np.nonzero(numbers >= 0.005), strict=True))
        assert all(abs(numbers[cell] - shown) <= 0.005 + 1e-9 for cell, shown in written.items())


def test_long_words_have_colour_bars_instead_of_numbers(tmp_path):
    figure = attention(tmp_path / "a.png", ["x"] * 30, made_map(30), made_map(30), "x" * 30)
    maps, bars = figure.axes[:2], figure.axes[2:]
    assert len(bars) == 2
    assert all(len(axes.texts) == 1 for axes in maps)  # the line below the title
    for axes in maps:
        assert overlaps(figure, axes.get_yticklabels()) == []


def test_short_words_leave_room_for_what_is_said_above_them(tmp_path):
    figure = attention(tmp_path / "a.png", ["a", "b"], np.eye(2), np.eye(2), "ab")
    assert overlaps(figure, [text for axes in figure.axes for text in axes.texts]) == []


def test_nasty_units_are_written_as_they_are(tmp_path):
    figure = attention(tmp_path / "a.svg", NASTY, made_map(len(NASTY)), made_map(len(NASTY)), "$\n$")
    assert "$\\n$" in texts(figure)
    assert NASTY[0] in texts(figure.axes[1])
    assert "two\\nlines" in texts(figure.axes[1])
    for axes in figure.axes:
        for labels in (axes.get_xticklabels(), axes.get_yticklabels(), axes.texts):
            assert overlaps(figure, [label for label in labels if label.get_text()]) == []


def test_an_explanation_shows_the_same_maps_and_every_share(tmp_path):
    positional, own = made_map(N), made_map(N)
    units = tuple(Unit(name, 1.0, share) for name, share in zip([*UNITS, "<be"], RNG.normal(size=N + 1), strict=True))
    found = Explanation(
        "bec0me", "bec0me", "near", None, (), 0.1, (), 0.5, units, 0.25, positional, own, (("become", 0.9),)
    )
    figure = draw_explanation(found, tmp_path / "e.svg")
    apart = attention(tmp_path / "a.svg", UNITS, positional, own, "bec0me")
    for one, other in zip(figure.axes[:2], apart.axes, strict=True):
        np.testing.assert_array_equal(one.images[0].get_array(), other.images[0].get_array())
        assert [label.get_text() for label in one.get_xticklabels()] == UNITS
    bars = figure.axes[2].patches
    assert [bar.get_width() for bar in bars] == [*(unit.share for unit in units), 0.25]
    assert "bec0me   imputed, confidence 0.50   near become" in texts(figure)


def test_units_and_maps_must_fit(tmp_path):
    with pytest.raises(LovevecError, match=r"a\.png: self-attention of shape \(2, 2\) for 3 units"):
        attention(tmp_path / "a.png", ["a", "b", "c"], made_map(3), made_map(2), "abc")
    with pytest.raises(LovevecError, match="for 0 units"):
        attention(tmp_path / "a.png", [], np.ones((0, 0)), np.ones((0, 0)), "")
    assert list(tmp_path.iterdir()) == []
