"""units.js makes the units that Python makes, to the last id; engine.js the vectors."""

from __future__ import annotations

import json
import shutil
import subprocess
import unicodedata
from importlib.resources import files
from pathlib import Path

import pytest
from tests.factories import random_parts
from tests.nasty import NASTY, nasty_words

from lovevec.units.mixed_input import Units
from lovevec.units.vocabulary import SPECIAL, UnitVocabulary

SCRIPTS = Path(__file__).parent
PAGE = Path(str(files("lovevec").joinpath("serve", "page")))
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed: apt-get install nodejs")


def by_javascript(units: Units, words: list[str], folder: Path) -> list[list[list]]:
    vocabulary, listed, script = folder / "units.json", folder / "words.json", folder / "units.mjs"
    vocabulary.write_text(json.dumps(units.as_dict()))
    listed.write_text(json.dumps(words))
    shutil.copy(PAGE / "units.js", script)
    done = subprocess.run(
        ["node", SCRIPTS / "units.mjs", script, vocabulary, listed], capture_output=True, check=True, timeout=120
    )
    return json.loads(done.stdout)


def assert_same(units: Units, words: list[str], folder: Path) -> None:
    found, rows = by_javascript(units, words, folder), units.encode(words)
    wrong = [words[i] for i, (ids, *_) in enumerate(found) if ids != rows.row(i).tolist()]
    assert not wrong, wrong[:5]
    assert [names for _, names, _ in found[:200]] == [units.names(word) for word in words[:200]]
    spans = [[span and tuple(span) for span in found[place][2]] for place in range(min(200, len(words)))]
    assert spans == [units.spans(word) for word in words[:200]]


@needs_node
@pytest.mark.slow
def test_the_shipped_model_has_the_same_units(shipped_love, tmp_path):
    every_character = [chr(code) for code in range(0x30000) if unicodedata.category(chr(code)) != "Cn"]
    assert_same(shipped_love.parts.units, nasty_words(shipped_love.words, 10_000) + every_character, tmp_path)


@needs_node
@pytest.mark.parametrize(
    "shape",
    [{"mode": "chars"}, {"mode": "pieces"}, {"lowercase": False}, {"buckets": 97}, {"buckets": 50, "ngrams": 31}],
    ids=str,
)
def test_units_of_every_kind_of_model(shape, tmp_path):
    parts = random_parts(**shape)
    assert_same(parts.units, [*NASTY, *parts.words, *nasty_words(parts.words, 300)], tmp_path)


@needs_node
def test_pieces_that_are_hard_to_match(tmp_path):
    """Pieces beyond 16 bits, of signs that begin others, with letters that no unit has, and longer than any word."""
    pieces = ["a", "#", "𝔘", "b", "##", "###", "##a", "𝔘a", "##𝔘b", "##𝔘", "aq", "##b", "a" * 100, "##" + "a" * 101]
    units = Units(UnitVocabulary((*SPECIAL, *pieces)), lowercase=False)
    words = ["", "a", "ab", "#", "##", "###", "#a", "𝔘", "𝔘a", "𝔘ab", "a𝔘b", "aq", "abq", "a" * 100, "b" + "a" * 99]
    assert_same(units, [*words, "á", "a" * 150, "𝔘" * 130, "[CLS]"], tmp_path)
