"""A model from its folder: the same vectors, whatever comes; damage is told by name."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from lovevec import LOVE, LovevecError
from lovevec.folder import checksum
from lovevec.train import Settings, train
from tests.conftest import made_vectors, made_words

NASTY = ["", " ", "\t", "a\nb", "\0", "🙂", "e\u0301", "\ud800", "שלום", "x" * 1_000_000, "İstanbul", "known"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    words = made_words(300)
    path = tmp_path_factory.mktemp("models") / "m"
    settings = Settings(vocabulary_size=400, epochs=15, batch=32, negatives=20, device="cpu", learning_rate=0.01)
    train((words, made_vectors(words, 16)), settings, output=path)
    return path


@pytest.fixture(scope="module")
def love(folder) -> LOVE:
    return LOVE.load(folder)


def test_any_string_gets_a_finite_vector_of_unit_length(love):
    vectors = love.embed(NASTY)
    assert vectors.shape == (len(NASTY), 16)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_a_words_vector_does_not_depend_on_its_company(love):
    words = made_words(100, seed=6) + NASTY
    together = love.embed(words)
    for word, vector in zip(words, together, strict=True):
        np.testing.assert_allclose(love[word], vector, atol=1e-6)


def test_many_threads_agree(love):
    words = made_words(500, seed=7)
    expected = love.embed(words)
    results: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: results.append(love.embed(words))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 16
    assert all(np.array_equal(result, expected) for result in results)


def test_rows_are_the_callers_own(love):
    first = love["plogrick"]
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(love["plogrick"], kept)


def test_known_words_are_told_from_imputed_ones(love):
    assert love.words[0] in love
    assert love.words[0].upper() in love
    assert love.words[0] + "x" not in love
    assert 7 not in love


def test_neighbors_are_the_nearest_known_words(love):
    word = love.words[5]
    near = love.neighbors(word + "x", k=4)
    cosine = love.embed(love.words) @ love[word + "x"]
    assert [name for name, _ in near] == [love.words[i] for i in np.argsort(-cosine)[:4]]
    assert near[0][1] == pytest.approx(cosine.max(), abs=1e-6)
    assert word not in dict(love.neighbors(word, k=3))


def test_one_string_instead_of_a_list_is_refused(love):
    with pytest.raises(LovevecError, match="list of words"):
        love.embed("word")


def test_saving_over_the_folder_it_came_from_changes_nothing(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "m")
    love = LOVE.load(tmp_path / "m")
    love.save(tmp_path / "m")
    for name in ("model.safetensors", "tokenizer.json", "words.json", "README.md"):
        assert (tmp_path / "m" / name).read_bytes() == (folder / name).read_bytes()
    assert json.loads((tmp_path / "m" / "config.json").read_text()) == json.loads((folder / "config.json").read_text())


def test_no_file_of_a_model_is_a_pickle(folder):
    for path in folder.iterdir():
        head = path.read_bytes()[:2]
        assert not head.startswith(b"\x80"), path.name
        assert head != b"PK", path.name


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "words.json"])
def test_a_file_cut_or_flipped_anywhere_is_one_named_error(folder, tmp_path, name):
    original = (folder / name).read_bytes()
    copy = tmp_path / "m"
    shutil.copytree(folder, copy)
    rng = np.random.default_rng(0)
    good = LOVE.load(copy).embed(["plogrick", "new"])
    for place in rng.integers(0, len(original), 25).tolist():
        flipped = bytearray(original)
        flipped[place] ^= 1 << int(rng.integers(8))
        for content in (original[:place], bytes(flipped)):
            (copy / name).write_bytes(content)
            found = outcome(copy)
            if isinstance(found, LovevecError):
                assert str(copy) in str(found)
            else:  # a flip in config.json may hit what only people read
                assert name == "config.json"
                assert np.array_equal(found, good)


def outcome(folder: Path) -> np.ndarray | LovevecError:
    try:
        return LOVE.load(folder).embed(["plogrick", "new"])
    except LovevecError as error:
        return error


@pytest.mark.parametrize(
    "change",
    [
        {"format": 99},
        {"encoder": {"kind": "positional", "dim": 10**30}},
        {"encoder": {"kind": "positional", "dim": 16, "key_width": -1}},
        {"encoder": {"kind": "../../evil", "dim": 16}},
        {"encoder": None},
        {"units": {"input": "mixed", "lowercase": True, "buckets": 10**12}},
        {"units": {"input": "telepathy", "lowercase": True, "buckets": 0}},
        {"sizes": {}},
        {"sha256": {"../../etc/passwd": "0"}},
    ],
    ids=str,
)
def test_absurd_configs_are_refused_at_once(folder, tmp_path, change):
    copy = tmp_path / "m"
    shutil.copytree(folder, copy)
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text(json.dumps({**config, **change}))
    with pytest.raises(LovevecError, match="m"):
        LOVE.load(copy)


def test_any_change_to_what_decides_vectors_is_noticed(folder, tmp_path):
    copy = tmp_path / "m"
    shutil.copytree(folder, copy)
    config = json.loads((copy / "config.json").read_text())
    changes = [("encoder", key, 7) for key in config["encoder"]] + [("units", key, 7) for key in config["units"]]
    for part, key, value in changes:
        changed = {**config, part: {**config[part], key: value}}
        (copy / "config.json").write_text(json.dumps(changed))
        with pytest.raises(LovevecError, match=r"config\.json"):
            LOVE.load(copy)


def test_a_forged_checksum_does_not_help_sizes_that_do_not_fit(folder, tmp_path):
    copy = tmp_path / "m"
    shutil.copytree(folder, copy)
    config = json.loads((copy / "config.json").read_text())
    for key, value in (("dim", 8), ("key_width", 5), ("head", 3), ("kind", "cnn")):
        changed = {**config, "encoder": {**config["encoder"], key: value}}
        changed["checksum"] = checksum(changed)
        (copy / "config.json").write_text(json.dumps(changed))
        with pytest.raises(LovevecError):
            LOVE.load(copy)


def test_neighbors_of_no_number_are_refused(love):
    with pytest.raises(LovevecError, match="k is -3"):
        love.neighbors("word", k=-3)


def test_folders_without_a_model_are_refused(tmp_path):
    with pytest.raises(LovevecError, match="no such model folder"):
        LOVE.load(tmp_path / "nowhere")
    with pytest.raises(LovevecError, match=r"config\.json is missing"):
        LOVE.load(tmp_path)
