"""A rival's folder: read back bit for bit, or one error that names what is wrong. And its training by torch's Adams."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from rival_factories import CPU, DIM, QUIET, random_rival, train_rival
from tests.factories import toy_vectors, toy_words

from lovevec.errors import FormatError, LovevecError
from lovevec.files.checkpoints import CheckpointFolder
from lovevec_lab.methods.learned.bos import BoS
from lovevec_lab.methods.learned.learn import open_rival
from lovevec_lab.methods.learned.mimick import Mimick
from lovevec_lab.methods.learned.mimicry import mimic
from lovevec_lab.methods.learned.pbos import PBoS
from lovevec_lab.methods.learned.rival import _checksum

WORDS = toy_words(80)
FILES = ["rival.json", "units.json", "words.json", "weights.safetensors"]


@pytest.fixture
def folder(tmp_path):
    rival = random_rival(PBoS, WORDS)
    rival.words, rival.metadata = WORDS, {"rival": "pbos"}
    rival.save(tmp_path)
    return tmp_path


def test_what_is_written_is_read_bit_for_bit(folder):
    rival, again = random_rival(PBoS, WORDS), open_rival(folder)
    assert isinstance(again, PBoS)
    shown = [*WORDS, "unheardof", "", "\ud800"]
    assert np.array_equal(again.embed(shown), rival.embed(shown))
    assert (again.words, again.units, again.dim) == (WORDS, list(rival.units), DIM)
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone"])
def test_damage_is_one_error_that_names_the_file(folder, name, damage):
    content = bytearray((folder / name).read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
    if damage == "gone":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes({"cut": content[:-7], "empty": b""}.get(damage, bytes(content)))
    with pytest.raises(FormatError, match=name):
        open_rival(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"rival": "bert"},
        {"dim": 7},
        {"dim": "x"},
        {"settings": {"epochs": 3, "more": 1}},
        {"settings": None},
        {"format": 2},
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(folder, change):
    config: dict[str, Any] = json.loads((folder / "rival.json").read_text()) | change
    del config["checksum"]
    (folder / "rival.json").write_text(json.dumps({**config, "checksum": _checksum(config)}))
    with pytest.raises(LovevecError):
        open_rival(folder)


def test_words_with_nothing_in_common_are_learned_exactly():
    words = ["bread", "stone"]
    vectors = toy_vectors(words, DIM)
    rival = train_rival(BoS, words, vectors, holdout=0.0, epochs=300, batch=1, learning_rate=0.05)
    np.testing.assert_allclose(rival.embed(words), vectors, atol=1e-3)
    unmoved = train_rival(BoS, words, vectors, holdout=0.0, epochs=1, learning_rate=0.0)
    assert not unmoved.embed(words).any()


def test_a_loss_that_is_no_number_is_said():
    words = toy_words(60)
    with pytest.raises(LovevecError, match="lower its learning rate"):
        mimic(
            Mimick,
            Mimick.settings_type(pieces=200, learning_rate=1e38, epochs=3),
            words,
            toy_vectors(words, DIM),
            CheckpointFolder(None),
            CPU,
            QUIET,
        )


def test_global_generators_are_left_alone():
    state = torch.random.get_rng_state()
    train_rival(Mimick, WORDS, toy_vectors(WORDS, DIM), pieces=200, epochs=1)
    assert torch.equal(torch.random.get_rng_state(), state)
