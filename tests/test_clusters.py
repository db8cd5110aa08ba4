from __future__ import annotations

import re

import numpy as np
import pytest

from lovevec.errors import LovevecError
from lovevec.figures.clusters import draw_clusters, plane

RNG = np.random.default_rng(0)


def test_the_plane_keeps_distances_of_points_that_lie_in_one():
    flat = RNG.normal(size=(20, 2)).astype(np.float32) @ RNG.normal(size=(2, 9)).astype(np.float32)
    before = np.linalg.norm(flat[:, None] - flat[None], axis=2)
    spots = plane(flat)
    np.testing.assert_allclose(np.linalg.norm(spots[:, None] - spots[None], axis=2), before, atol=1e-5)


def test_the_picture_names_every_word_and_topic(tmp_path):
    topics = {"birds": ["jay", "owl", "$kite$"], "metals": ["tin", "zinc", "iron"]}
    words = [word for listed in topics.values() for word in listed] + ["ironn"]
    vectors = {word: RNG.normal(size=5).astype(np.float32) for word in words}
    path = tmp_path / "c.svg"
    draw_clusters(topics, {"ironn": "metals"}, vectors, path, "Two topics")
    drawn = path.read_text("utf-8")
    comments = re.findall(r"<!-- (.*?) -->", drawn)
    assert {*words, *topics, "Two topics"} <= set(comments)


def test_a_name_that_is_no_picture_is_refused_before_anything_is_done(tmp_path):
    with pytest.raises(LovevecError, match=r"c\.txt: a picture's name ends in"):
        draw_clusters({}, {}, {}, tmp_path / "c.txt", "")
    assert list(tmp_path.iterdir()) == []
