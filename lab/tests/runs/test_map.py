"""The page's map is that of the shipped model: its words, each among its neighbors."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")
SPEC = importlib.util.spec_from_file_location("map", Path(__file__).parents[2] / "runs" / "map.py")
made = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(made)


def read_map() -> tuple[np.ndarray, np.ndarray, list[str]]:
    content = (made.PAGE / "map.bin").read_bytes()
    count = int(np.frombuffer(content, "<u4", 1)[0])
    plane = np.frombuffer(content, "<i2", 2 * count, 4).reshape(2, count).T
    region = np.frombuffer(content, np.uint8, count, 4 + 4 * count)
    return plane, region, content[4 + 5 * count :].decode("utf-8").split("\n")


def test_the_map_is_that_of_the_shipped_model(shipped_love):
    plane, region, words = read_map()
    assert len(plane) == len(region) == len(words) == made.WORDS
    assert set(words) == set(made.words_of(shipped_love, made.WORDS)), "run: python lab/runs/map.py"
    assert np.abs(plane.astype(int)).max() == made.SIDE
    assert set(region.tolist()) == set(range(made.REGIONS))


def test_words_lie_among_their_neighbors(shipped_love):
    """Of the 5 nearest words on the map many are among the 50 nearest by their vectors; by chance 1 in 400 would be."""
    plane, _, words = read_map()
    rows = np.arange(0, len(words), 100)
    vectors = shipped_love.embed(words)
    by_vectors = np.argsort(-(vectors[rows] @ vectors.T), axis=1)[:, 1:51]
    apart = np.linalg.norm(plane[rows, None].astype(np.float32) - plane.astype(np.float32), axis=2)
    on_map = np.argsort(apart, axis=1)[:, 1:6]
    shared = [len(set(one) & set(other)) / 5 for one, other in zip(on_map.tolist(), by_vectors.tolist(), strict=True)]
    assert np.mean(shared) > 0.4


def test_landmarks_are_typical_and_polite(shipped_love):
    _, _, words = read_map()
    first = words[:500]
    assert not [word for word in first if made.SOMBER.match(word) or made.RUDE.match(word)]
    assert not {"the", "and", "with", "you"} & set(first)
