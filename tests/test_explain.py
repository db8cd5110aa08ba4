"""Explanations against the encoder as the design writes it, in float64, straight from the weights."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from lovevec import LOVE, LovevecError
from lovevec.train import Settings, train

QUICK = {"vocabulary_size": 300, "epochs": 3, "batch": 32, "negatives": 10, "device": "cpu", "learning_rate": 0.01}
SHOWN = ["plogrick", "trooster", "x", "", "ŝtrange🙂", "a" * 150, "two words"]


def small(target, **more) -> LOVE:
    return train(target, Settings(**{**QUICK, **more}))


@pytest.fixture(scope="module", params=[{}, {"head": 12, "ngrams": 200}, {"shrink": "factor", "factor": 6}], ids=str)
def love(request, tiny_target) -> LOVE:
    return small(tiny_target, **request.param)


@pytest.fixture(scope="module")
def plain(tiny_target) -> LOVE:
    return small(tiny_target)


def softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def reference(love: LOVE, word: str):
    """PA, SA and the sum over positions, one after the other, and the n-grams beside them: (A, S, what each unit and
    n-gram adds, what the head adds)."""
    weights = {name: weight.astype(np.float64) for name, weight in love.parts.weights.items()}
    table = weights["table"] @ weights["factor"] if "factor" in weights else weights["table"]
    ids = love.parts.units.encode([word]).values
    ordered = ids < love.parts.units.vocabulary.unit_rows
    units, ngrams = table[ids[ordered]], table[ids[~ordered]]
    spec = love.parts.spec
    count = np.arange(len(units))[:, None]
    angle = count / 10_000 ** (np.arange(0, spec.dim, 2) / spec.dim)
    places = np.empty((len(units), spec.dim))
    places[:, 0::2], places[:, 1::2] = np.sin(angle), np.cos(angle)
    near = softmax(places @ places.T / spec.position_scale)
    values = near @ units @ weights["encoder.value"]
    attention = softmax(values @ weights["encoder.query"] @ (values @ weights["encoder.key"]).T / spec.key_width**0.5)
    # The sum over positions of S·PA(X)·W_O, kept apart by the unit of X that each part comes from.
    parts = np.einsum("pq,qj,jd->jd", attention, near, units @ weights["encoder.value"] @ weights["encoder.output"])
    pooled = parts.sum(axis=0)
    head = np.zeros_like(pooled)
    if spec.head:
        first, second = weights["encoder.head.0.weight"], weights["encoder.head.2.weight"]
        hidden = first @ (pooled / np.linalg.norm(pooled)) + weights["encoder.head.0.bias"]
        head = second @ np.maximum(hidden, 0) + weights["encoder.head.2.bias"]
    return near, attention, np.concatenate([parts, ngrams]), head


@pytest.mark.parametrize("word", SHOWN)
def test_maps_weights_and_shares_are_those_of_the_encoder(love, word):
    found = love.explain(word)
    near, attention, parts, head = reference(love, word)
    np.testing.assert_allclose(found.positional, near, atol=1e-5)
    np.testing.assert_allclose(found.attention, attention, atol=1e-4)
    weights = [unit.weight for unit in found.units]
    np.testing.assert_allclose(weights[: len(near)], (attention @ near).sum(axis=0), atol=1e-3)
    assert all(weight == 1 for weight in weights[len(near) :])
    whole = parts.sum(axis=0) + head
    np.testing.assert_allclose(whole / np.linalg.norm(whole), love.impute([word])[0], atol=1e-5)
    shares = [unit.share for unit in found.units]
    np.testing.assert_allclose(shares, parts @ whole / (whole @ whole), atol=1e-4)
    assert found.head == pytest.approx(head @ whole / (whole @ whole), abs=1e-4)
    assert sum(shares) + found.head == pytest.approx(1, abs=1e-9)
    assert [unit.name for unit in found.units] == love.parts.units.names(word)


def test_known_imputed_and_empty_are_told_apart(plain):
    known = plain.explain(plain.words[4].upper())
    assert (known.known, known.empty, known.normalised) == (True, False, plain.words[4])
    imputed = plain.explain("qqq", k=3)
    assert (imputed.known, imputed.empty) == (False, False)
    assert list(imputed.neighbors) == plain.neighbors("qqq", k=3)
    empty = plain.explain(" \t")
    assert (empty.known, empty.empty, empty.neighbors) == (False, True, ())


def test_an_explanation_reads_well_and_stays_as_it_is(plain):
    found = plain.explain("plogrikc")
    text = str(found)
    assert repr(found) == text
    assert text.startswith(f"'plogrikc': {found.reading}")
    assert found.reading in ("near", "new")
    assert f"a new word {found.new:.2f}" in text
    lines = text.splitlines()
    for unit in found.units:
        assert any(line.split()[:2] == [unit.name, f"{unit.weight:.2f}"] for line in lines)
    assert found.neighbors[0][0] in lines[len(found.units) + 3]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.word = "other"
    long = str(plain.explain("ab" * 80))
    assert len(long.splitlines()) < 50
    assert "units of smaller share" in long


def test_a_model_that_is_not_calibrated_says_so(plain):
    found = plain.explain("plogrikc")
    assert found.confidence is None
    assert "at least 50 held-back words" in str(found)
    bare = LOVE(dataclasses.replace(plain.parts, metadata={})).explain("plogrikc")
    assert "this model is not calibrated" in str(bare)


@pytest.mark.parametrize("word", SHOWN)
def test_it_goes_through_json(love, word):
    found = love.explain(word)
    again = json.loads(json.dumps(found.as_dict()))
    assert again["word"] == word
    assert [tuple(unit.values()) for unit in again["units"]] == list(found.units)
    assert np.array_equal(again["attention"], found.attention)
    assert [(near["word"], near["cosine"]) for near in again["neighbors"]] == list(found.neighbors)


def test_an_encoder_that_does_not_fold_has_units_and_neighbors_but_no_maps(tiny_target, tmp_path):
    found = small(tiny_target, encoder="cnn").explain("plogrikc")
    assert found.positional is found.attention is found.units[0].weight is None
    assert found.units[0].name == "[CLS]"
    assert len(found.neighbors) == 5
    assert "not for the cnn encoder, which does not fold" in str(found)
    assert "[CLS] p l o g" in str(found)
    assert json.loads(json.dumps(found.as_dict()))["attention"] is None
    with pytest.raises(LovevecError, match=r"nothing to draw: .*cnn"):
        found.plot(tmp_path / "x.png")


@pytest.mark.parametrize("word", ["plogrikc", "", "a$b$_^{\\ \0\ud800שלום🙂", "x" * 500])
def test_any_word_can_be_drawn(plain, tmp_path, word, recwarn):
    image = pytest.importorskip("matplotlib.image")
    plain.explain(word).plot(tmp_path / "out.png")
    picture = image.imread(tmp_path / "out.png")
    assert picture.shape[1] > picture.shape[0] > 300
    assert 0.01 < (picture[:, :, :3].min(axis=2) < 0.9).mean() < 0.9  # neither blank nor a blot
    assert not recwarn.list


def test_units_stand_on_the_axes_of_the_picture(plain, tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib import rc_context

    found = plain.explain("plogrikc")
    with rc_context({"svg.fonttype": "none"}):
        found.plot(tmp_path / "out.svg")
    text = (tmp_path / "out.svg").read_text("utf-8")
    for unit in found.units:
        assert text.count(f">{unit.name}<") >= 5  # two maps with two axes each, and the shares
    for part in ("positional attention", "self-attention", "share", "plogrikc"):
        assert part in text


def test_a_picture_that_cannot_be_is_refused(plain, tmp_path, monkeypatch):
    found = plain.explain("plogrikc")
    with pytest.raises(LovevecError, match=r"out\.doc: a picture's name ends in \.png"):
        found.plot(tmp_path / "out.doc")
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(LovevecError, match=r"matplotlib: pip install 'lovevec\[plots\]'"):
        found.plot(tmp_path / "out.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("word", SHOWN)
def test_units_cover_the_letters_that_they_are_spelled_with(love, word):
    found = love.explain(word)
    for unit in found.units:
        if unit.start is None:
            assert unit.name in ("[CLS]", "[SUB]", "[SEP]")
            continue
        letters = found.normalised[unit.start : unit.end]
        name = unit.name.removeprefix("##") if unit.start else unit.name
        assert (
            unit.name == "[UNK]"
            or letters in (name, name.removeprefix("<"), name.removesuffix(">"), name[1:-1])
            or (
                len(letters) == 1 and len(name) == 1  # a character that stands as its base letter
            )
        )
    characters = [unit for unit in found.units[1:] if unit.start is not None][: len(found.normalised)]
    assert [(unit.start, unit.end) for unit in characters] == [(i, i + 1) for i in range(len(found.normalised))]
