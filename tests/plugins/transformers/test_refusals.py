"""What cannot be made robust is refused in words that say why and what to do."""

from __future__ import annotations

import pytest
import transformers
from tests.factories import toy_vectors
from tests.transformer_factories import DIM, WORDS
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from lovevec import LovevecError
from lovevec.plugins.transformers import robustify

SMALL = {"vocab_size": 50, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GPT = transformers.GPT2Config(n_embd=DIM, n_layer=1, n_head=2, n_positions=16, **SMALL)
BART = transformers.BartConfig(
    d_model=DIM, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, **SMALL
)
BERT = {"hidden_size": DIM, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 50}


def generating():
    yield transformers.GPT2Model(GPT)
    yield transformers.GPT2LMHeadModel(GPT)
    yield transformers.BartModel(BART)
    yield transformers.BertLMHeadModel(transformers.BertConfig(is_decoder=True, **BERT))


def test_models_that_generate(small, love):
    for model in generating():
        with pytest.raises(LovevecError, match="generates text"):
            robustify((model, small("bert")[1]), love)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"strategy": "swap"}, "replace, linear, add"),
        ({"space": "mappd"}, "space is 'mappd': choose one of auto, direct, mapped"),
        ({"keep": 7}, "a list of strings, not int"),
        ({"keep": ["a", 7]}, "word 1 is not a string"),
        ({"num_labels": 2}, "num_labels: only for a model given by its name"),
        ({"auto": transformers.AutoModel}, "auto: only for a model given by its name"),
    ],
)
def test_wrong_arguments(small, love, given, words):
    with pytest.raises(LovevecError, match=words):
        robustify(small("bert"), love, **given)


def test_other_things_than_models(small, love):
    for wrong in (7, small("bert")[0], [1, 2, 3]):
        with pytest.raises(LovevecError, match="takes a model's name or folder"):
            robustify(wrong, love)
    with pytest.raises(LovevecError, match="is no model of transformers"):
        robustify(("a", small("bert")[1]), love)
    with pytest.raises(LovevecError, match="is no tokenizer of transformers"):
        robustify((small("bert")[0], "a"), love)
    with pytest.raises(LovevecError, match="no such folder, and not to be had as a hub id"):
        robustify("/there/is/no/such/folder", love)


def test_folders_that_lack_something(small, love, tmp_path):
    model, tokenizer = small("bert")
    model.save_pretrained(tmp_path / "mute")
    with pytest.raises(LovevecError, match=r"mute: its tokenizer has no vocabulary; is tokenizer.json missing"):
        robustify(tmp_path / "mute", love)
    tokenizer.save_pretrained(tmp_path / "torn")
    model.save_pretrained(tmp_path / "torn")
    (tmp_path / "torn" / "model.safetensors").write_bytes(b"torn")
    with pytest.raises(LovevecError, match=r"torn: cannot be read as a transformers model") as error:
        robustify(tmp_path / "torn", love)
    assert "\n" not in str(error.value)


def test_a_model_of_another_tokenizer(small, love):
    tokenizer = small("bert")[1]
    with pytest.raises(LovevecError, match="its table of input embeddings 50 rows"):
        robustify((transformers.BertModel(transformers.BertConfig(**BERT)), tokenizer), love)
    sees = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    with pytest.raises(LovevecError, match="ViTModel has no table of input embeddings"):
        robustify((transformers.ViTModel(transformers.ViTConfig(image_size=8, patch_size=4, **sees)), tokenizer), love)


def test_a_robust_model(small, love):
    robust = robustify(small("bert"), love, space="direct")
    with pytest.raises(LovevecError, match="robust already"):
        robustify(robust, love)


def test_a_love_of_other_dimensions(small, minilm, love):
    with pytest.raises(LovevecError, match="16 dimensions"):
        robustify(minilm, love, space="direct")
    with pytest.raises(LovevecError, match=r"share \d+ words, too few"):
        robustify(minilm, love)


def test_no_love_for_this_model(small):
    with pytest.raises(LovevecError, match=r"lovevec train hf:.* -o my-love"):
        robustify(small("bert"))


def wrapped(below, **names):
    return PreTrainedTokenizerFast(tokenizer_object=below, pad_token="[PAD]", **names)


def test_tokenizers_that_cannot(small, love):
    model = small("bert")[0]
    entries = {entry: number for number, entry in enumerate(["[UNK]", "[PAD]", *WORDS])}
    level = Tokenizer(models.WordLevel(entries, unk_token="[UNK]"))
    level.pre_tokenizer = pre_tokenizers.Whitespace()
    with pytest.raises(LovevecError, match=r"WordLevel.*WordPiece, byte-level BPE"):
        robustify((model, wrapped(level, unk_token="[UNK]")), love)
    with pytest.raises(LovevecError, match="no token for unknown words"):
        robustify((model, wrapped(Tokenizer(models.WordPiece(entries)))), love)
    with pytest.raises(LovevecError, match="no fast tokenizer"):
        robustify((model, transformers.CanineTokenizer(unk_token="[UNK]")), love)


def test_the_map_needs_words_enough(small, tmp_path):
    """A LOVE of another space is brought over by a linear map, where it shares words enough with the vocabulary."""
    import numpy as np
    import torch

    from lovevec import LOVE
    from lovevec.train import Settings, train

    other = np.random.default_rng(0).normal(size=(DIM, 24)).astype(np.float32)
    settings = Settings(vocabulary_size=300, epochs=4, batch=64, negatives=10, device="cpu", learning_rate=0.01)
    train((WORDS, toy_vectors(WORDS, DIM) @ other), settings, output=tmp_path / "m")
    robust, tokenizer = robustify(small("bert"), LOVE.load(tmp_path / "m"))
    assert robust.robust_embeddings.imputer.map.slope.shape == (24, DIM)
    with torch.no_grad():
        assert robust(**tokenizer("zqzqzq", return_tensors="pt"))[0].isfinite().all()
