"""What a finished figure shows: its texts and where on the page they are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Annotation, Text

from lovevec.figures.style import any_script

# A formula, a line end, an emoji, what matplotlib's legend leaves out, a control character, half a character, nothing.
NASTY = ["$x_1$ & \\frac", "two\nlines", "🙂🙂", "_hidden", "\x00\x1b", "\ud800", "", "ש", "long " * 40, "<b>&amp;"]
NASTY_SHOWN = ["$x_1$ & \\frac", "two\\nlines", "🙂🙂", "_hidden", "\\x00\\x1b", "\\ud800", "", "ש", None, "<b>&amp;"]


def texts(of) -> list[str]:
    """All that is written on a figure or axes, formulas not read as such."""
    found = [text for text in of.findobj(Text) if text.get_visible() and text.get_text()]
    assert not any(text.get_parse_math() for text in found if "$" in text.get_text())
    return [text.get_text() for text in found]


def boxes(figure, artists) -> np.ndarray:
    """The window extents of texts (without the line that leads to an annotation): [n, 4]."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    with any_script():
        for artist in artists:
            if isinstance(artist, Annotation):
                artist.update_positions(renderer)  # it stands where the last file kind has put it
        return np.array([Text.get_window_extent(artist, renderer).extents for artist in artists])


def overlaps(figure, artists) -> list[tuple[str, str]]:
    """The pairs of texts that lie on each other."""
    placed = list(zip(artists, boxes(figure, artists), strict=True))
    return [
        (one.get_text(), other.get_text())
        for (one, a), (other, b) in combinations(placed, 2)
        if (np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) > 0.5).all()
    ]
