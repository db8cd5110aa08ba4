from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from tests.factories import toy_words

from lovevec.damage.noise import Noise
from lovevec.progress import Progress
from lovevec.vectors import VectorTable
from lovevec.vectors.table import ReadReport
from lovevec_lab.evaluate.nets import TaggerSettings
from lovevec_lab.evaluate.nets.char_cnn import WithCharCNN
from lovevec_lab.evaluate.result_cache import ResultCache
from lovevec_lab.evaluate.tag import TagPart, TagSettings, TagSplit, score_tags
from lovevec_lab.methods.edit_distance import EditDistance
from lovevec_lab.methods.table import Table

DIM = 24
WORDS = [word for word in toy_words(400, seed=3) if len(word) > 4][:160]
NAMES, PLAIN = WORDS[:80], WORDS[80:]
PERSON, PLACE = PLAIN[:8], PLAIN[8:16]  # what stands before a name says what it is
SETTINGS = TagSettings(rates=(1e-2,), device="cpu", tagger=TaggerSettings(hidden=40, dropout=0.2, tokens=200, epochs=5))
NOISES = (Noise(), Noise(share=0.7))
QUIET = Progress(quiet=True)


pytestmark = pytest.mark.usefixtures("on_one_thread")


def made_tagged(count: int, seed: int) -> TagPart:
    """Names of one or two words behind a word that says whether a person or a place follows; plain words between."""
    rng, made = np.random.default_rng(seed), TagPart([], [])
    for _ in range(count):
        words, tags = [], []
        for _ in range(rng.integers(1, 4)):
            kind, cues = (("PER", PERSON), ("LOC", PLACE))[rng.integers(2)]
            name = [str(word) for word in rng.choice(NAMES, size=rng.integers(1, 3))]
            plain = [str(word) for word in rng.choice(PLAIN[16:], size=rng.integers(1, 4))]
            words += [str(rng.choice(cues)), *name, *plain]
            tags += ["O", f"B-{kind}", *[f"I-{kind}"] * (len(name) - 1), *["O"] * len(plain)]
        made.sentences.append(words)
        made.tags.append(tags)
    return made


@cache
def made_split() -> TagSplit:
    return TagSplit("made", made_tagged(400, 1), made_tagged(60, 2), made_tagged(120, 3))


@cache
def made_table() -> Table:
    """Words of a kind have vectors near each other."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, DIM))
    kinds = [0 if w in NAMES else 1 if w in PERSON else 2 if w in PLACE else 3 for w in WORDS]
    vectors = (centres[kinds] + 0.5 * rng.normal(size=(len(WORDS), DIM))).astype(np.float32)
    return Table(VectorTable(WORDS, vectors, ReadReport("made")), "made")


@pytest.fixture(scope="module")
def alone() -> dict:
    torch.set_num_threads(1)
    return score_tags(made_table(), made_split(), NOISES, SETTINGS, ResultCache(), QUIET)


def test_entities_are_found_from_vectors_and_context(alone):
    assert alone["dev"] > 90
    assert alone["test"]["original"] > 90
    (run,) = alone["runs"]
    details = run["entities"]["original"]
    assert details["types"].keys() == {"LOC", "PER"}
    f1 = 2 * details["precision"] * details["recall"] / (details["precision"] + details["recall"])
    assert f1 == pytest.approx(run["test"]["original"])


def test_damage_hurts_a_table_alone_and_far_less_one_with_good_vectors_for_damaged_words(alone):
    imputed = score_tags(EditDistance(made_table()), made_split(), NOISES, SETTINGS, ResultCache(), QUIET)
    assert alone["test"]["ocr 70 %"] < alone["test"]["original"] - 20
    assert imputed["test"]["original"] == pytest.approx(alone["test"]["original"], abs=1e-6)
    assert imputed["test"]["ocr 70 %"] > alone["test"]["ocr 70 %"] + 20


def test_a_char_cnn_learns_with_the_tagger(alone):
    method = WithCharCNN(made_table())
    settings = replace(SETTINGS, seeds=(0, 1, 2))
    spelled = score_tags(method, made_split(), NOISES, settings, ResultCache(), QUIET)
    assert spelled["test"]["original"] > 85
    assert spelled["test"]["ocr 70 %"] > alone["test"]["ocr 70 %"] + 5


def test_kept_runs_are_read_and_only_missing_ones_computed(tmp_path):
    few = replace(SETTINGS.tagger, epochs=1)
    settings = replace(SETTINGS, rates=(1e-2, 1e-3), seeds=(0, 1), sentences=60, tagger=few)
    split = made_split()

    def scores(settings: TagSettings = settings, split: TagSplit = split) -> list:
        runs = score_tags(made_table(), split, NOISES, settings, ResultCache(tmp_path), QUIET)["runs"]
        return [(run["rate"], run["seed"], run["dev"], run["test"], run["seconds"]) for run in runs]

    first = scores()
    assert scores() == first  # the seconds too: nothing was computed again
    next(tmp_path.iterdir()).unlink()
    again = scores()
    assert [run[:4] for run in again] == [run[:4] for run in first]
    assert sum(a != b for a, b in zip(again, first, strict=True)) == 1
    others = (
        scores(replace(settings, tagger=replace(settings.tagger, hidden=20))),
        scores(replace(settings, noise_seed=1)),
        scores(replace(settings, sentences=50)),
        scores(split=replace(split, train=made_tagged(400, 7))),
    )
    assert len(list(tmp_path.iterdir())) == 4 * (1 + len(others))


def test_the_global_generator_stands_still():
    before = torch.get_rng_state()
    score_tags(made_table(), made_split(), NOISES[:1], replace(SETTINGS, sentences=20), ResultCache(), QUIET)
    assert torch.equal(before, torch.get_rng_state())


def test_tags_that_training_lacks_are_missed():
    split = made_split()
    extra = TagPart([*split.test.sentences, [NAMES[0]]], [*split.test.tags, ["B-NEW"]])
    settings = replace(SETTINGS, sentences=40, tagger=replace(SETTINGS.tagger, epochs=1))
    found = score_tags(made_table(), replace(split, test=extra), NOISES[:1], settings, ResultCache(), QUIET)
    assert found["runs"][0]["entities"]["original"]["types"]["NEW"] == 0


def test_quick_is_less_of_everything():
    full = TagSettings(seeds=(3, 4))
    quick = full.quick()
    assert len(quick.rates) < len(full.rates)
    assert quick.seeds == (3,)
    assert quick.tagger.epochs < full.tagger.epochs
    assert quick.sentences
