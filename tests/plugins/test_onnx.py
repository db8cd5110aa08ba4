"""The ONNX graph gives love.impute's vectors, by onnxruntime in Python and in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.factories import random_parts
from tests.nasty import NASTY, nasty_words

from lovevec import LOVE
from lovevec.cli import main
from lovevec.errors import LovevecError
from lovevec.plugins.onnx import OPSET, export_onnx, onnx_model
from lovevec.units.ragged import Ragged

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
TESTS = Path(__file__).parents[1]
BATCH = 128


@pytest.fixture(scope="module")
def exported(tmp_path_factory, shipped_love):
    path = tmp_path_factory.mktemp("onnx") / "love.onnx"
    export_onnx(shipped_love, path)
    return path


@pytest.fixture(scope="module")
def nasty(shipped_love):
    return nasty_words(shipped_love.words, 10_000)


def session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def padded(rows: Ragged) -> np.ndarray:
    there = np.arange(rows.lengths.max()) < rows.lengths[:, None]
    ids = np.full(there.shape, -1, dtype=np.int64)
    ids[there] = rows.values
    return ids


def vectors_of(running, units, words):
    parts = [words[low : low + BATCH] for low in range(0, len(words), BATCH)]
    return np.concatenate([running.run(None, {"ids": padded(units.encode(part))})[0] for part in parts])


def test_nasty_words_have_the_same_vectors_in_python(exported, shipped_love, nasty):
    found = vectors_of(session(exported), shipped_love.parts.units, nasty)
    assert np.abs(found - shipped_love.impute(nasty)).max() <= 1e-5


@pytest.mark.skipif(
    shutil.which("node") is None or not (TESTS / "node_modules" / "onnxruntime-node").is_dir(),
    reason="needs Node and onnxruntime-node: npm install --prefix tests --ignore-scripts",
)
def test_nasty_words_have_the_same_vectors_in_node(exported, shipped_love, nasty, tmp_path):
    (tmp_path / "words.json").write_text(json.dumps(nasty))
    script = TESTS / "javascript" / "onnx.mjs"
    command = ["node", script, exported, tmp_path / "words.json", tmp_path / "vectors"]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    found = np.fromfile(tmp_path / "vectors", dtype=np.float32).reshape(len(nasty), -1)
    assert np.abs(found - shipped_love.impute(nasty)).max() <= 1e-5


@pytest.mark.parametrize(
    "shape",
    [{"head": 8}, {"ngrams": 50}, {"head": 8, "ngrams": 50, "factor": 6}, {"buckets": 90}, {"mode": "chars"},
     {"mode": "pieces", "ngrams": 7}, {"sharp": 30.0}],
    ids=str,
)  # fmt: skip
def test_every_shape_of_model(shape):
    love = LOVE(random_parts(**shape))
    found = vectors_of(session(onnx_model(love.parts).SerializeToString()), love.parts.units, [*NASTY, *love.words])
    assert np.abs(found - love.impute([*NASTY, *love.words])).max() <= 1e-5


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_small_tables_stay_small(precision):
    parts = random_parts(dim=64)
    small = LOVE(random_parts(dim=64))
    model = onnx_model(parts, precision)
    kinds = {tensor.data_type for tensor in model.graph.initializer if len(tensor.dims) == 2}
    assert {"float16": onnx.TensorProto.FLOAT16, "int8": onnx.TensorProto.INT8}[precision] in kinds
    found = vectors_of(session(model.SerializeToString()), parts.units, list(parts.words))
    assert (found * small.impute(list(parts.words))).sum(axis=1).min() > 0.999


def test_a_word_has_the_same_vector_in_any_company(exported, shipped_love):
    words = ["a", "mispelling", "x" * 100, "Grüße"]
    running, units = session(exported), shipped_love.parts.units
    alone = np.concatenate([running.run(None, {"ids": padded(units.encode([word]))})[0] for word in words])
    assert np.abs(alone - running.run(None, {"ids": padded(units.encode(words))})[0]).max() <= 1e-6


def test_the_file_tells_what_it_is(exported, shipped_love):
    running = session(exported)
    told = running.get_modelmeta().custom_metadata_map
    assert json.loads(told["units"]) == json.loads(exported.with_suffix(".units.json").read_text())
    assert json.loads(told["units"])["units"] == list(shipped_love.parts.units.vocabulary.units)
    assert told["dim"] == "300"
    assert [opset.version for opset in onnx.load(exported).opset_import] == [OPSET]
    assert [(one.name, one.type) for one in running.get_inputs()] == [("ids", "tensor(int64)")]


def test_the_command_writes_three_files_and_none_twice(tmp_path, capsys):
    command = ["export", "--onnx", str(tmp_path / "love.onnx")]
    assert main(command) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"love.onnx", "love.units.json", "units.mjs"}
    assert main(command) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("name", "problem"), [("love.bin", "ends in .onnx"), ("nowhere/love.onnx", "there is no folder")]
)
def test_bad_places_are_one_error(tmp_path, shipped_love, name, problem):
    with pytest.raises(LovevecError, match=problem):
        export_onnx(shipped_love, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_without_onnx_one_line_says_what_to_install(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["export", "--onnx", str(tmp_path / "love.onnx")]) == 2
    assert capsys.readouterr().err == "lovevec: this needs onnx: pip install 'lovevec[onnx]'\n"
    assert not list(tmp_path.iterdir())


def test_an_encoder_that_does_not_fold_is_refused(shipped_love):
    parts = replace(shipped_love.parts, spec=replace(shipped_love.parts.spec, kind="cnn"))
    with pytest.raises(LovevecError, match="a cnn encoder does not fold"):
        onnx_model(parts)
