"""Which model is meant: folders, shipped models, the hub's cache; and what is said when it is none of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from huggingface_hub import constants

from lovevec import LOVE, LovevecError
from lovevec.model.find import find_model
from lovevec.model.shipped import shipped

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def model(tiny_model) -> Path:
    return tiny_model


@pytest.fixture
def cached(model, tmp_path, monkeypatch) -> Path:
    """A hub cache made by hand, as huggingface_hub lays it out: refs, blobs, and snapshots that link to them."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hf" / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "hf" / "hub" / "models--someone--words"
    snapshot = own / "snapshots" / COMMIT
    for folder in (own / "refs", own / "blobs", snapshot):
        folder.mkdir(parents=True)
    (own / "refs" / "main").write_text(COMMIT)
    for file in model.iterdir():
        shutil.copy(file, own / "blobs" / f"hash-of-{file.name}")
        os.symlink(Path("..", "..", "blobs", f"hash-of-{file.name}"), snapshot / file.name)
    return snapshot


def test_a_hub_id_is_read_from_the_cache(cached, model):
    assert find_model("someone/words") == cached
    assert np.array_equal(LOVE.load("someone/words")["plogrick"], LOVE.load(model)["plogrick"])


def test_the_cache_is_where_the_environment_says(cached, tmp_path):
    code = "from lovevec.model.find import find_model; print(find_model('someone/words'))"
    environment = {**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1"}
    environment.pop("HF_HUB_CACHE", None)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == str(cached), done.stderr


def test_a_local_folder_wins_over_the_hub(cached, model, tmp_path):
    shutil.copytree(model, tmp_path / "someone" / "words")
    assert find_model("someone/words") == Path("someone/words")


@pytest.mark.parametrize("name", ["default", "minilm-input"])
def test_no_folder_hides_a_shipped_model(model, tmp_path, monkeypatch, name):
    """Where a program is started must not decide which model its users get."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(model, tmp_path / name)
    if name in shipped():
        assert find_model(name) == shipped()[name]
    elif name == "default":
        with pytest.raises(LovevecError, match="no model named default"):
            find_model(name)
    assert find_model(f"./{name}") == find_model(Path(name)) == Path(name)


@pytest.mark.skipif("default" not in shipped(), reason="this tree holds no shipped model yet")
def test_nothing_means_the_shipped_default():
    assert find_model() == shipped()["default"]
    assert np.array_equal(LOVE.load()["mispelling"], LOVE.load("default")["mispelling"])


@pytest.mark.parametrize("spoil", ["model.safetensors", "refs", "commit"])
def test_an_incomplete_cache_counts_as_none(cached, spoil):
    if spoil == "model.safetensors":
        (cached / spoil).unlink()
    else:
        (cached.parents[1] / "refs" / "main").write_text("../../.." if spoil == "commit" else "")
    with pytest.raises(LovevecError, match=r"not in the hub's cache .* HF_HUB_OFFLINE is set"):
        find_model("someone/words")


def test_the_error_says_what_was_tried(cached, tmp_path, monkeypatch):
    with pytest.raises(LovevecError, match=r"nowhere: no such model folder, nor a shipped model .*owner/name"):
        find_model("nowhere")
    with pytest.raises(LovevecError, match=r"some\.one/else: no such model folder, and not in the hub's cache"):
        find_model("some.one/else")
    for name in ("../x", "/a/b/c", "./owner/name", "owner/", "-x/y", "a/b/c", ""):
        with pytest.raises(LovevecError) as error:
            LOVE.load(name)
        assert constants.HF_HUB_CACHE not in str(error.value)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    (tmp_path / "models").mkdir()
    with pytest.raises(LovevecError, match="models/ is a folder here"):
        find_model("models/mistyped")


def test_a_hub_that_does_not_answer_is_one_error(cached):
    code = "from lovevec.model.find import find_model; find_model('someone/else')"
    environment = os.environ | {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(
        "lovevec.errors.LovevecError: someone/else: no such model folder, and not in the hub's cache"
    )
    assert "the hub did not give it" in last
