"""What is saved and loaded again, here and in a new process, answers as before; damage is told in one line."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from tests.transformer_factories import KINDS, NEW, WORDS, load_small, mixed_texts
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification, AutoTokenizer

from lovevec import LovevecError
from lovevec.plugins.transformers import robustify

TEXTS = mixed_texts(5, broken=0.5)
ELSEWHERE = """
import sys, numpy, torch
import lovevec.plugins.transformers
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer
torch.set_num_threads(1)
texts = sys.argv[2].split("|")
for folder in sys.argv[3:]:
    auto = AutoModelForSequenceClassification if folder.endswith("head") else AutoModel
    tokenizer, model = AutoTokenizer.from_pretrained(folder), auto.from_pretrained(folder).eval()
    with torch.no_grad():
        out = model(**tokenizer(texts, padding=True, return_tensors="pt"))[0]
    numpy.save(folder + "/found.npy", out.numpy())
"""


def answer(model, tokenizer, texts=TEXTS):
    with torch.no_grad():
        return model.eval()(**tokenizer(texts, padding=True, return_tensors="pt"))[0]


def save(folder, model, tokenizer):
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def trained(model, tokenizer):
    """After two steps, so that no weight is where it began."""
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        optimiser.zero_grad()
        model.train()(**tokenizer(TEXTS, padding=True, return_tensors="pt"))[0].pow(2).mean().backward()
        optimiser.step()
    return model.eval()


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded(kind, small, love, tmp_path):
    robust, tokenizer = robustify(small(kind), love, space="direct")
    save(tmp_path, robust, tokenizer)
    model, other = AutoModel.from_pretrained(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    assert (type(model), type(other)) == (type(robust), type(tokenizer))
    assert dict(other(TEXTS)) == dict(tokenizer(TEXTS))
    assert torch.equal(answer(model, other), answer(robust, tokenizer))
    again = save(tmp_path / "again", model, other)
    twice = AutoModel.from_pretrained(again), AutoTokenizer.from_pretrained(again)
    assert torch.equal(answer(*twice), answer(model, other))


@pytest.mark.slow
def test_a_new_process_gives_the_same_bits(small_folder, love, tmp_path):
    """The gate after training, LOVE after training, a head; once for all of them, since the process takes long."""
    expected = {}
    for name, kind, auto, how in (
        ("gate", "bert", AutoModel, {"strategy": "linear"}),
        ("love", "roberta", AutoModel, {"trainable": True}),
        ("add", "xlm-roberta", AutoModel, {"strategy": "add"}),
        ("head", "distilbert", AutoModelForSequenceClassification, {}),
    ):
        torch.manual_seed(0)
        robust, tokenizer = robustify(load_small(small_folder(kind), auto), love, space="direct", **how)
        before = answer(robust, tokenizer)
        trained(robust, tokenizer)
        save(tmp_path / name, robust, tokenizer)
        expected[name] = answer(robust, tokenizer)
        assert not torch.equal(before, expected[name])
    folders = [str(tmp_path / name) for name in expected]
    subprocess.run([sys.executable, "-c", ELSEWHERE, "-", "|".join(TEXTS), *folders], check=True, capture_output=True)
    for name, one in expected.items():
        assert np.array_equal(np.load(tmp_path / name / "found.npy"), one.numpy()), name


@pytest.mark.slow
def test_without_the_import_transformers_says_it_does_not_know_the_type(small, love, tmp_path):
    save(tmp_path, *robustify(small("bert"), love, space="direct"))
    assert json.loads((tmp_path / "config.json").read_text())["model_type"] == "lovevec-bert"
    script = f"from transformers import AutoConfig\nAutoConfig.from_pretrained({str(tmp_path)!r})"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode != 0
    assert "lovevec-bert" in found.stderr


@pytest.mark.parametrize("strategy", ["replace", "linear"])
def test_a_base_model_is_loaded_into_a_head(strategy, small, love, tmp_path):
    robust, tokenizer = robustify(small("bert"), love, strategy, space="direct")
    save(tmp_path, robust, tokenizer)
    headed, info = AutoModelForSequenceClassification.from_pretrained(tmp_path, num_labels=3, output_loading_info=True)
    assert set(info["missing_keys"]) == {"classifier.weight", "classifier.bias"}
    batch = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.no_grad():
        states = headed.eval()(**batch, output_hidden_states=True).hidden_states[-1]
    assert torch.equal(states, answer(robust, tokenizer))
    assert headed.robust_embeddings.strategy == strategy
    assert AutoConfig.from_pretrained(tmp_path).lovevec["strategy"] == strategy


@pytest.mark.parametrize("kind", ["bert", "roberta", "modernbert"])
def test_a_tokenizer_saved_apart_from_its_model(kind, small, love, tmp_path):
    _, tokenizer = robustify(small(kind), love, space="direct")
    tokenizer.save_pretrained(tmp_path)
    found = AutoTokenizer.from_pretrained(tmp_path)
    assert type(found) is type(tokenizer)
    assert dict(found(TEXTS)) == dict(tokenizer(TEXTS))


def test_a_pickle_and_a_copy_answer_the_same(small, love, tmp_path):
    for how in ({"strategy": "linear"}, {"trainable": True}):
        robust, tokenizer = robustify(small("bert"), love, space="direct", **how)
        expected = answer(robust, tokenizer)
        torch.save(robust, tmp_path / "model.pt")
        for other in (
            copy.deepcopy(robust),
            pickle.loads(pickle.dumps(robust)),
            torch.load(tmp_path / "model.pt", weights_only=False),
        ):
            assert torch.equal(answer(other, tokenizer), expected)


def test_the_plain_model_stays_plain_and_shares_its_weights(small_folder, love):
    plain, tokenizer = load_small(small_folder("bert"))
    kinds, expected = [type(part) for part in plain.modules()], answer(plain, tokenizer)
    robust, _ = robustify((plain, tokenizer), love, space="direct")
    assert [type(part) for part in plain.modules()] == kinds
    assert torch.equal(answer(plain, tokenizer), expected)
    assert type(plain.config).__name__ == "BertConfig"
    assert not hasattr(plain.config, "lovevec")
    assert robust.get_input_embeddings().weight is plain.get_input_embeddings().weight


def test_names_of_weights_are_those_of_the_plain_model(small, love):
    plain = small("bert")
    assert set(robustify(plain, love, space="direct")[0].state_dict()) == set(plain[0].state_dict())
    more = set(robustify(plain, love, "linear", space="direct")[0].state_dict()) - set(plain[0].state_dict())
    assert more == {"embeddings.word_embeddings.gate.weight"}


def test_more_tokens_and_a_resized_table(small_folder, love, tmp_path):
    robust, tokenizer = robustify(load_small(small_folder("bert")), love, space="direct")
    tokenizer.add_tokens([NEW[0]])
    with pytest.raises(IndexError):
        answer(robust, tokenizer, [f"{NEW[0]} {NEW[1]}"])
    robust.resize_token_embeddings(len(tokenizer))
    with torch.no_grad():
        robust.get_input_embeddings().weight[-1] = 1
    changed = answer(robust, tokenizer, [f"{NEW[0]} {NEW[1]}"])
    save(tmp_path, robust, tokenizer)
    model, other = AutoModel.from_pretrained(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    assert torch.equal(answer(model, other, [f"{NEW[0]} {NEW[1]}"]), changed)


def damage_missing(folder):
    shutil.rmtree(folder / "love")


def damage_fit(folder):
    (folder / "love" / "fit.safetensors").write_bytes(b"\x10" * 40)


def damage_fit_missing(folder):
    (folder / "love" / "fit.safetensors").unlink()


def damage_config(folder):
    (folder / "love" / "config.json").write_text("{")


def damage_tables(folder):
    path = next(file for file in sorted((folder / "love").glob("*.safetensors")) if file.name != "fit.safetensors")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(bytes(data))


DAMAGES = damage_missing, damage_fit, damage_fit_missing, damage_config, damage_tables


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda one: one.__name__)
def test_damage_is_one_clear_error(damage, small, love, tmp_path):
    save(tmp_path, *robustify(small("bert"), love, space="direct"))
    damage(tmp_path)
    with pytest.raises(LovevecError, match="love") as caught:
        AutoModel.from_pretrained(tmp_path)
    assert "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_model_made_from_a_config_has_no_love_and_says_so(small, love, tmp_path):
    robust, tokenizer = robustify(small("bert"), love, space="direct")
    empty = AutoModel.from_config(robust.config)
    assert empty.love is None
    answer(empty, tokenizer, [WORDS[0]])
    with pytest.raises(LovevecError, match="without LOVE"):
        answer(empty, tokenizer, [NEW[0]])
    with pytest.raises(LovevecError, match="without LOVE"):
        empty.save_pretrained(tmp_path)
