"""The models inside the package: what they are, and that they do the main job."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lovevec import LOVE
from lovevec.model.shipped import shipped

ROOT = Path(__file__).parents[2]
MISSPELLED = {
    "accomodate": "accommodate",
    "asthmaa": "asthma",
    "carpentr": "carpenter",
    "diabetis": "diabetes",
    "engneer": "engineer",
    "mispelling": "misspelling",
    "neccessary": "necessary",
    "teachr": "teacher",
}


@pytest.fixture(scope="module")
def love() -> LOVE:
    return LOVE.load()


def test_both_are_there_and_small_enough():
    sizes = {name: sum(file.stat().st_size for file in folder.iterdir()) for name, folder in shipped().items()}
    assert set(sizes) == {"default", "minilm-input"}
    assert max(sizes.values()) <= 34e6
    assert sum(sizes.values()) <= 56e6


@pytest.mark.parametrize("name", ["default", "minilm-input"])
def test_each_has_a_card_and_says_where_it_comes_from(name):
    model = LOVE.load(name)
    for part in ("**Data.**", "**Licences.**", "**Scores.**", "**Limits.**"):
        assert part in model.card
    metadata = model.metadata
    assert sum(metadata["parameters"].values()) <= 15e6
    assert len(model.parts.rows) == len(model.words)
    assert metadata["target"]["licence"]
    assert str(Path.home()) not in json.dumps(metadata)
    assert model.dim == metadata["target"]["dim"] == {"default": 300, "minilm-input": 384}[name]
    assert len(model.words) <= metadata["target"]["words"]


def test_a_misspelled_word_is_near_the_right_one(love):
    found = love.neighbors(list(MISSPELLED), 5)
    hits = [right in dict(near) for right, near in zip(MISSPELLED.values(), found, strict=True)]
    assert all(hits), dict(zip(MISSPELLED, found, strict=True))
    assert not any(word in love for word in MISSPELLED)


def test_the_papers_damaged_words_lie_with_their_own_kind(love):
    kinds = {
        "oxgen": "oxygen hydrogen nitrogen helium carbon sulfur chlorine sodium potassium methane",
        "leukamia": "leukemia diabetes malaria pneumonia hepatitis influenza cancer asthma measles cholera",
        "archiitect": "architect engineer lawyer teacher plumber carpenter nurse doctor journalist accountant",
    }
    centres = np.stack([love.embed(listed.split()).mean(axis=0) for listed in kinds.values()])
    assert (love.embed(list(kinds)) @ centres.T).argmax(axis=1).tolist() == [0, 1, 2]


def test_meaning_counts_more_than_spelling(love):
    triples = """cat kitten cart, car automobile carp, doctor physician doctrine, big large bag, ocean sea open,
        buy purchase boy, train railway grain, house home mouse, rich wealthy rice, begin start bean, king queen kind,
        guitar piano guilt, happy joyful happen, quick fast quack, city town cite, coffee tea coffin"""
    judged = [
        love.similar(word, alike) > love.similar(word, spelled_alike)
        for word, alike, spelled_alike in (triple.split() for triple in triples.split(","))
    ]
    assert sum(judged) >= 0.75 * len(judged)


def test_confidence_is_higher_for_known_words_than_for_noise(love):
    known, typo, noise = love.confidence(["government", "goverment", "xqzjv"])
    assert known > typo > noise
    assert noise >= 0
    assert known <= 1


def test_the_demo_prints_its_table_and_draws_its_picture(tmp_path):
    pytest.importorskip("matplotlib")
    script = ROOT / "demo" / "demo.py"
    copy = tmp_path / "demo.py"
    copy.write_text(script.read_text("utf-8"), "utf-8")
    done = subprocess.run([sys.executable, str(copy)], capture_output=True, text=True, check=True)
    assert "leukamia" in done.stdout
    assert "near: oxygen" in done.stdout
    assert (tmp_path / "clusters.png").read_bytes().startswith(b"\x89PNG")
    rows = [line for line in done.stdout.splitlines() if " near: " in line or " new " in line or " known " in line[:30]]
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(rows) == 12
    assert all(f"| {row.split()[0]} | {row[14:38].strip()} |" in readme for row in rows)
