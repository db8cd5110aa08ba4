"""What holds for every picture: file kinds, names refused before any work, colours that everyone can tell apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from lovevec.errors import LovevecError
from lovevec.figures.attention import attention
from lovevec.figures.style import COLOURS, MARKERS
from lovevec_lab.figures.clusters import clusters_of, draw_clusters
from lovevec_lab.figures.curves import curve_panels, curves
from lovevec_lab.figures.heatmap import heatmap, heatmaps

# Colours as people see them who lack one kind of cone, in linear RGB (Machado, Oliveira, Fernandes 2009, severity 1).
VISIONS = {
    "full": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour: str) -> np.ndarray:
    parts = np.array(to_rgb(colour))
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast_to_white(colour: str) -> float:
    return 1.05 / (linear(colour) @ XYZ[1] + 0.05)


def lab(colour: str, vision) -> np.ndarray:
    seen = XYZ @ np.clip(np.array(vision) @ linear(colour), 0, 1) / (0.9505, 1, 1.089)
    x, y, z = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_can_be_told_apart(vision):
    for one, other in combinations(COLOURS, 2):
        assert np.linalg.norm(lab(one, VISIONS[vision]) - lab(other, VISIONS[vision])) > 20, (one, other)


def test_colours_can_be_read_on_white_and_shapes_differ():
    assert min(map(contrast_to_white, COLOURS)) >= 3
    assert len(set(MARKERS)) == len(MARKERS) == len(COLOURS)


DRAW = {
    "curves": lambda path: curves(path, {"a": [1]}, [0], title="", x_label="", y_label=""),
    "curve_panels": lambda path: curve_panels(path, {"p": {"a": [1]}}, [0], title="", x_label="", y_label=""),
    "heatmap": lambda path: heatmap(path, np.ones((1, 1)), ["a"], title=""),
    "heatmaps": lambda path: heatmaps(path, {"p": np.ones((1, 1))}, ["a"], title=""),
    "attention": lambda path: attention(path, ["a"], np.ones((1, 1)), np.ones((1, 1)), "a"),
    "draw_clusters": lambda path: draw_clusters({"t": ["a"]}, {}, {"a": np.ones(1)}, path, ""),
    "clusters_of": lambda path: clusters_of(path, {"m": {"a": np.ones(1)}}, {"t": ["a"]}, {}, {"m": {"a": 0}}),
}
MAGIC = {"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("name", DRAW)
def test_the_least_there_can_be_is_drawn_and_a_bad_name_is_refused(name, tmp_path):
    for bad in ("c.txt", "c", "png", "c.jpg"):
        with pytest.raises(LovevecError, match=r"a picture's name ends in \.png, \.svg, \.pdf"):
            DRAW[name](tmp_path / bad)
    assert list(tmp_path.iterdir()) == []
    kind = list(MAGIC)[list(DRAW).index(name) % 3]
    DRAW[name](tmp_path / f"c.{kind.upper()}")
    assert (tmp_path / f"c.{kind.upper()}").read_bytes().startswith(MAGIC[kind])


def test_a_bad_name_is_refused_before_the_data_is_looked_at(tmp_path):
    with pytest.raises(LovevecError, match="picture's name"):
        curves(tmp_path / "c.txt", None, None, title="", x_label="", y_label="")  # type: ignore[arg-type]
    with pytest.raises(LovevecError, match="picture's name"):
        heatmap(tmp_path / "c.txt", None, None, title="")  # type: ignore[arg-type]
    with pytest.raises(LovevecError, match="picture's name"):
        clusters_of(tmp_path / "c.txt", None, None, None, None)  # type: ignore[arg-type]


def test_the_same_numbers_give_the_same_file(tmp_path):
    for name in ("a.png", "b.png"):
        DRAW["heatmap"](tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
