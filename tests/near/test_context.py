"""The model of context in its folder, and by a reference in float64."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from lovevec import LOVE
from lovevec.errors import LovevecError
from lovevec.model.folder import CONFIG, CONTEXT, read_model
from lovevec.model.validation import checksums
from lovevec.near.context import LAYERS, MOST, PAD, PLACES, Context, SentenceReader


@pytest.fixture
def folder(toy_in_context, tmp_path) -> Path:
    shutil.copytree(toy_in_context, tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture(scope="module")
def love(toy_in_context) -> LOVE:
    return LOVE.load(toy_in_context, engine="numpy")


def some_windows(love: LOVE, count: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    windows = rng.integers(-5, len(love), (count, PLACES)).astype(np.int32)
    windows[rng.random(windows.shape) < 0.2] = PAD
    return windows


def clipped(numbers: np.ndarray) -> np.ndarray:
    return np.clip(numbers, -MOST, MOST)


def by_formula(context: Context, rows: np.ndarray, window: np.ndarray) -> np.ndarray:
    """The equations of near/context.py in float64, by what the whole numbers stand for: y."""
    own = rows @ (context.projection * context.projection_scale.astype(float)) * 4096
    own[: len(context.own)] += context.own * context.own_scale.astype(float)
    x = clipped(np.array([own[row] if row >= 0 else context.signs[-1 - row] for row in window]))
    layers = {name: (layer.weights * layer.scale.astype(float), layer.bias) for name, layer in context.layers.items()}

    def apply(name: str, inputs: np.ndarray) -> np.ndarray:
        weights, bias = layers[name]
        return clipped(inputs @ weights + bias)

    a = np.maximum(apply("first", x[context.near_places].reshape(-1)), 0)
    queries = apply("query", a).reshape(context.heads, context.width)
    utility = queries @ x.T * float(context.scales[0]) + context.position_bias
    utility[:, window == PAD] = -np.inf
    shares = np.exp(utility - utility.max(axis=1, keepdims=True))
    c = clipped((shares / shares.sum(axis=1, keepdims=True)) @ x)
    inner = np.maximum(apply("second", np.concatenate([a, c.reshape(-1)])), 0)
    return clipped(a + inner @ layers["third"][0] + layers["third"][1])


def test_scores_are_those_of_the_equations_in_float64(love):
    context, rows = love.parts.context, love.parts.rows.all().astype(float)
    windows = some_windows(love, 60)
    candidates = np.random.default_rng(2).integers(0, len(love), (60, 10)).astype(np.int32)
    candidates[:, 8:] = -1
    scores = SentenceReader(context, love._own_vectors).scores(windows, candidates)
    expected = SentenceReader(context, love._own_vectors).expected(windows)
    for number, window in enumerate(windows):
        y = by_formula(context, rows, window)
        last = {name: context.layers[name] for name in LAYERS[-3:]}
        outputs = {name: y @ (layer.weights * layer.scale.astype(float)) + layer.bias for name, layer in last.items()}
        where = clipped(outputs["row"]) * 4096 * float(context.scales[1])
        np.testing.assert_allclose(expected[number], where, atol=0.02 * np.abs(where).max())
        for place, row in enumerate(candidates[number, :8].tolist()):
            z = where @ rows[row]
            if row < len(context.own):
                z += clipped(outputs["frequent"]) @ context.own[row] * float(context.scales[2]) + context.own_bias[row]
            assert scores[number, place] == pytest.approx(z, abs=0.1)
        assert scores[number, 10] == pytest.approx(outputs["new"][0], abs=0.05)
    assert (scores[:, 8:10] == 0).all()


def test_tensors_there_and_back(love):
    context = love.parts.context
    again = Context.from_tensors(context.tensors(), love.dim)
    assert again.tensors().keys() == context.tensors().keys()
    assert all(np.array_equal(again.tensors()[name], tensor) for name, tensor in context.tensors().items())


def test_a_folder_there_and_back(folder, tmp_path, love):
    again = LOVE.load(folder)
    again.save(tmp_path / "again")
    assert (tmp_path / "again" / CONTEXT).read_bytes() == (folder / CONTEXT).read_bytes()
    again.save(tmp_path / "no-rows", rows="none")
    assert not (tmp_path / "no-rows" / CONTEXT).exists()
    again.copy(parts=replace(again.parts, context=None)).save(tmp_path / "again")
    assert not (tmp_path / "again" / CONTEXT).exists()
    assert LOVE.load(tmp_path / "again").tokens("hotse") == love.tokens("hotse", context=False)
    assert LOVE.load(folder, spelling_only=True).encode("the hotse").shape == (love.dim,)


def test_more_words_keep_the_context(love):
    more = love.with_words(["Vestergaard"])
    assert more.parts.context is love.parts.context
    text = "the people of the hotse and the mountain."
    assert more.tokens(text)[4].candidates[0] == pytest.approx(love.tokens(text)[4].candidates[0])


def refused(folder: Path, says: str) -> None:
    with pytest.raises(LovevecError, match=says) as caught:
        read_model(folder)
    assert str(folder / CONTEXT) in str(caught.value)


def test_damaged_and_missing_files_are_one_error_that_names_them(folder):
    content = (folder / CONTEXT).read_bytes()
    rng = np.random.default_rng(0)
    for number, place in enumerate(rng.integers(0, len(content), 20).tolist()):
        damaged = bytearray(content[:place] if number % 2 else content)
        if not number % 2:
            damaged[place] ^= 1 << int(rng.integers(8))
        (folder / CONTEXT).write_bytes(bytes(damaged))
        refused(folder, "damaged")
    (folder / CONTEXT).unlink()
    refused(folder, "cannot be read")


def vouch(folder: Path, content: bytes) -> None:
    """Another file, with the hash that belongs to it."""
    (folder / CONTEXT).write_bytes(content)
    config = json.loads((folder / CONFIG).read_text())
    config["sha256"][CONTEXT] = hashlib.sha256(content).hexdigest()
    config["checksum"] = checksums(config)["checksum"]
    (folder / CONFIG).write_text(json.dumps(config))


def forged() -> dict[str, dict[str, np.ndarray | None]]:
    """Tensors that are other than they should be, and None for those that are missing."""
    nan = np.full(4, np.nan, np.float32)
    return {
        "a tensor is missing": {"signs": None},
        "one too many": {"more": np.zeros(3, np.int8)},
        "not finite": {"scales": nan},
        "a strength below 0": {"scales": np.array([1e-6, 1e-6, 1e-6, -1], np.float32)},
        "another type": {"own": np.zeros((64, 16), np.int16)},
        "another size": {"projection": np.zeros((7, 16), np.int8)},
        "no heads": {"position_bias": np.zeros((0, PLACES), np.float32)},
        "signs beyond what is passed on": {"signs": np.full((6, 16), MOST + 1, np.int16)},
        "numbers without end": {"new_bias": np.full(1, 1e30, np.float32)},
    }


@pytest.mark.parametrize("name", forged())
def test_a_forged_context_is_one_error(folder, name):
    tensors = {**load((folder / CONTEXT).read_bytes()), **forged()[name]}
    vouch(folder, save({name: np.ascontiguousarray(array) for name, array in tensors.items() if array is not None}))
    refused(folder, "damaged")


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"{}", b"\xff" * 40])
def test_what_is_no_tensors_is_one_error(folder, content):
    vouch(folder, content)
    refused(folder, "damaged")
