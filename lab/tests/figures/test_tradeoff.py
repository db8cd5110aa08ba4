from __future__ import annotations

import pytest
from figure_checks import NASTY, NASTY_SHOWN, texts

from lovevec.errors import LovevecError
from lovevec_lab.figures.tradeoff import tradeoff

PANELS = {
    "wikidump": {"LOVE": [(60.0, 80.0), (50.0, 90.0)], "SymSpell": [(55.0, 40.0)]},
    "bookcorpus": {"SymSpell": [(50.0, 45.0)], "LOVE": [(58.0, 81.0), (49.0, 88.0)]},
}
NAMES = {"title": "Corrections", "x_label": "corrected", "y_label": "right"}


def test_every_method_has_its_points_and_one_look(tmp_path):
    figure = tradeoff(tmp_path / "t.png", PANELS, **NAMES)
    looks: dict[str, set] = {}
    for axes, (panel, methods) in zip(figure.axes, PANELS.items(), strict=True):
        assert axes.get_title(loc="left") == panel
        for line, (name, points) in zip(axes.lines, methods.items(), strict=True):
            assert list(zip(*line.get_data(), strict=True)) == points
            looks.setdefault(name, set()).add((line.get_color(), line.get_marker()))
        assert axes.get_xlim()[0] == axes.get_ylim()[0] == 0
    assert [len(look) for look in looks.values()] == [1, 1]
    assert looks["LOVE"] != looks["SymSpell"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["LOVE", "SymSpell"]
    assert {"Corrections", "corrected", "right"} <= set(texts(figure))
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")


def test_nasty_names_are_written_as_they_are(tmp_path):
    figure = tradeoff(tmp_path / "t.svg", {"one": {name: [(1.0, 2.0)] for name in NASTY}}, **NAMES)
    for shown, expected in zip(figure.legends[0].get_texts(), NASTY_SHOWN, strict=True):
        assert expected is None or shown.get_text() == expected


@pytest.mark.parametrize(("file", "panels"), [("t.gif", PANELS), ("t.png", {}), ("t.png", {"one": {}})])
def test_what_cannot_be_drawn_is_refused(tmp_path, file, panels):
    with pytest.raises(LovevecError, match=r"a picture's name ends in|no points to draw"):
        tradeoff(tmp_path / file, panels, **NAMES)
    assert list(tmp_path.iterdir()) == []
