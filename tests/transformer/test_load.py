"""`hf:NAME`: the input embeddings of whole words, bit for bit, and one clear line where there are none."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file
from tests.transformer_factories import bert, byte_level, roberta, save_transformer, wordpiece
from transformers import ViTConfig, ViTModel

from lovevec.errors import LovevecError
from lovevec.train.target import load_target
from lovevec.transformer.load import REPORT_FORMAT, absolute_source


def test_rows_of_minilm_are_those_of_its_file(minilm):
    target = load_target(f"hf:{minilm}")
    table = load_file(minilm / "model.safetensors")["embeddings.word_embeddings.weight"]
    entries = (minilm / "vocab.txt").read_text("utf-8").split("\n")
    place = {entry: row for row, entry in enumerate(entries)}
    np.testing.assert_array_equal(target.vectors, table[[place[word] for word in target.words]])
    assert (len(target), target.dim, target.name) == (23_695, 384, minilm.name)
    assert target.source == {
        "file": f"hf:{minilm.name}",
        "sha256": hashlib.sha256((minilm / "model.safetensors").read_bytes()).hexdigest(),
        "format": REPORT_FORMAT,
        "compression": None,
        "rows": 23_695,
        "limit": None,
        "lowercase": True,
    }
    assert json.loads(json.dumps(target.source)) == target.source


@pytest.fixture(scope="module")
def cased(tmp_path_factory):
    tokenizer = wordpiece(lowercase=False)
    return save_transformer(tmp_path_factory.mktemp("hf") / "cased", bert(tokenizer), tokenizer)


def test_case_is_kept_or_taken_as_for_files(cased):
    kept, lowered = load_target(f"hf:{cased}", lowercase=False), load_target(f"hf:{cased}")
    table = load_file(cased / "model.safetensors")["embeddings.word_embeddings.weight"]
    vocabulary = json.loads((cased / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    rows = dict(zip(kept.words, kept.vectors, strict=True))
    assert {"The", "Cat", "cat"} <= set(rows)
    for word in ("The", "cat"):
        np.testing.assert_array_equal(rows[word], table[vocabulary[word]])
    assert set(lowered.words) == {word.lower() for word in kept.words}
    assert load_target(f"hf:{cased}", limit=7, lowercase=False).words == kept.words[:7]


def test_a_roberta_gives_words_without_their_space(tmp_path):
    tokenizer = byte_level()
    model = roberta(tokenizer)
    target = load_target(f"hf:{save_transformer(tmp_path / 'r', model, tokenizer)}", lowercase=False)
    ids = [tokenizer.convert_tokens_to_ids("Ġ" + word) for word in target.words if word.isascii()]
    ours = [row for row, word in enumerate(target.words) if word.isascii()]
    assert len(ids) > 50
    np.testing.assert_array_equal(target.vectors[ours], model.get_input_embeddings().weight.detach().numpy()[ids])


def test_what_is_no_model_of_text_is_one_line(tmp_path, cased):
    folder = tmp_path / "sees"
    small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    save_transformer(folder, ViTModel(ViTConfig(image_size=8, patch_size=4, **small)), wordpiece())
    with pytest.raises(LovevecError, match="ViTModel has no table of input embeddings"):
        load_target(f"hf:{folder}")
    (tmp_path / "empty").mkdir()
    with pytest.raises(LovevecError, match=r"empty: cannot be read as a transformers model") as error:
        load_target(f"hf:{tmp_path / 'empty'}")
    assert "\n" not in str(error.value)
    with pytest.raises(LovevecError, match="no such folder, and not to be had as a hub id"):
        load_target(f"hf:{tmp_path / 'nowhere'}")
    with pytest.raises(LovevecError, match="not a file"):
        load_target(f"hf:{cased}", words="list.txt")
    with pytest.raises(LovevecError, match="at least 1"):
        load_target(f"hf:{cased}", limit=0)


def test_a_vocabulary_larger_than_the_table_is_refused(tmp_path):
    tokenizer = wordpiece()
    model = bert(tokenizer)
    model.resize_token_embeddings(50)
    folder = save_transformer(tmp_path / "short", model, tokenizer)
    with pytest.raises(LovevecError, match="its table of input embeddings 50 rows"):
        load_target(f"hf:{folder}")


def test_a_folder_is_found_from_elsewhere(cased, monkeypatch):
    monkeypatch.chdir(cased.parent)
    assert absolute_source("hf:cased") == f"hf:{cased}"
    assert absolute_source("hf:owner/name") == "hf:owner/name"


def test_without_the_extra_one_line_says_what_to_install(cased):
    code = (
        "import sys; sys.modules['transformers'] = None; from lovevec.cli import main;"
        f"sys.exit(main(['prepare', 'hf:{cased}', '-o', 'nowhere']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "lovevec: this needs transformers: pip install 'lovevec[bert]'\n"
