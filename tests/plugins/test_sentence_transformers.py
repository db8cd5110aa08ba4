"""LoveWords in real SentenceTransformers: encodes as love.encode, trains, saves, loads, and is half of a retriever."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from datasets import Dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import Dense, Router
from tests.factories import toy_words

from lovevec import LOVE, LovevecError
from lovevec.plugins.sentence_transformers import LoveWords

pytestmark = pytest.mark.usefixtures("on_one_thread")
TEXTS = ["wonderfull fi1m, definately recomended", "a wonderful film", "well-known oxgen", "", "?!", "the the the"]


@pytest.fixture(scope="module")
def small(tiny_model) -> LOVE:
    return LOVE.load(tiny_model)


@pytest.mark.parametrize("normalize", [True, False])
def test_it_encodes_as_the_love_does(shipped_love, normalize):
    expected = shipped_love.encode(TEXTS, normalize_embeddings=normalize)
    frozen = SentenceTransformer(modules=[LoveWords(shipped_love, normalize=normalize)], device="cpu")
    assert np.array_equal(frozen.encode(TEXTS), expected)
    assert frozen.get_embedding_dimension() == 300
    module = LoveWords(shipped_love, trainable=True, normalize=normalize)
    trainable = SentenceTransformer(modules=[module], device="cpu")
    assert np.array_equal(trainable.encode(TEXTS), expected)  # nothing has been learned yet
    module.train()
    by_torch = module(module.preprocess(TEXTS))["sentence_embedding"].detach().numpy()
    alone = shipped_love.encode(TEXTS, normalize_embeddings=normalize, context=False)  # torch sums words as they are
    np.testing.assert_allclose(by_torch, alone, atol=1e-5)
    prompted = frozen.encode(TEXTS, prompt="film ")
    assert np.array_equal(
        prompted, shipped_love.encode(["film " + text for text in TEXTS], normalize_embeddings=normalize)
    )


def test_it_trains_saves_and_loads(small, tmp_path):
    """By the library's own trainer: pairs of words come together, and the folder is a LOVE again."""
    words = toy_words(300)
    pairs = {"anchor": words[:64] * 2, "positive": words[64:128] * 2}
    model = SentenceTransformer(modules=[LoveWords(small, trainable=True)], device="cpu")
    arguments = SentenceTransformerTrainingArguments(
        str(tmp_path / "run"), num_train_epochs=12, per_device_train_batch_size=32, learning_rate=0.05,
        save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True, logging_strategy="no", seed=0,
    )  # fmt: skip

    def found() -> int:
        """Which anchors have their own positive nearest."""
        rows = model.encode(pairs["anchor"][:64]) @ model.encode(pairs["positive"][:64]).T
        return int((rows.argmax(axis=1) == np.arange(64)).sum())

    before = found()
    SentenceTransformerTrainer(
        model, arguments, Dataset.from_dict(pairs), loss=MultipleNegativesRankingLoss(model)
    ).train()
    assert found() > max(2 * before, 48)
    model.save_pretrained(str(tmp_path / "model"))
    again = SentenceTransformer(str(tmp_path / "model"), device="cpu", trust_remote_code=True)
    texts = [*words[:20], "plorickz streabnd", ""]
    np.testing.assert_allclose(again.encode(texts), model.encode(texts), atol=2e-3)
    assert isinstance(again[0], LoveWords)
    assert again[0].trainable
    love = LOVE.load(tmp_path / "model" / "love")
    np.testing.assert_allclose(love.encode(texts), again.encode(texts), atol=1e-6)
    assert not np.allclose(love.embed(words[:5]), small.embed(words[:5]), atol=0.05)


def test_the_static_half_of_a_retriever(small):
    """A layer behind the frozen LOVE learns; a state dict goes from one model to another."""
    model = SentenceTransformer(modules=[LoveWords(small), Dense(16, 8)], device="cpu")
    assert [name for name, _ in model.named_parameters()] == ["1.linear.weight", "1.linear.bias"]
    features = model.preprocess(["plorickz", toy_words(3)[0]])
    model(features)["sentence_embedding"].sum().backward()
    assert model[1].linear.weight.grad.any()
    one, other = LoveWords(small, trainable=True), LoveWords(small, trainable=True)
    with torch.no_grad():
        one.words.known.mul_(-1)
    other.load_state_dict(one.state_dict())
    for module in (one, other):
        rows = SentenceTransformer(modules=[module], device="cpu").encode(toy_words(3))
        assert not np.allclose(rows, small.encode(toy_words(3)), atol=0.1)
        np.testing.assert_allclose(module.trained_love().encode(toy_words(3)), rows, atol=2e-3)


def test_queries_by_love_and_documents_by_another_module(small, tmp_path):
    """The library's own router: what is asked goes one way, what is found the other."""
    router = Router.for_query_document([LoveWords(small), Dense(16, 16, bias=False)], [LoveWords(small)])
    with torch.no_grad():
        router.sub_modules["query"][1].linear.weight.copy_(torch.eye(16))
        router.sub_modules["query"][1].activation_function = torch.nn.Identity()
    model = SentenceTransformer(modules=[router], device="cpu")
    words = toy_words(5)
    np.testing.assert_allclose(model.encode_document(words), small.encode(words), atol=1e-6)
    np.testing.assert_allclose(model.encode_query(words), small.encode(words), atol=1e-6)
    model.save_pretrained(str(tmp_path / "m"))
    again = SentenceTransformer(str(tmp_path / "m"), device="cpu", trust_remote_code=True)
    np.testing.assert_allclose(again.encode_query(words), small.encode(words), atol=1e-6)


def test_by_spelling_only_and_errors(small, shipped_love, tmp_path):
    model = SentenceTransformer(modules=[LoveWords(small, spelling_only=True)], device="cpu")
    expected = LOVE(small.parts, spelling_only=True).encode(["plorickz"])
    np.testing.assert_allclose(model.encode(["plorickz"]), expected, atol=1e-6)
    model.save_pretrained(str(tmp_path / "m"))
    assert SentenceTransformer(str(tmp_path / "m"), device="cpu", trust_remote_code=True)[0].love.spelling_only
    with pytest.raises(LovevecError, match="takes a LOVE"):
        LoveWords(shipped_love.attach((["a", "b"], shipped_love.embed(["a", "b"]))))
    with pytest.raises(LovevecError, match="holds no LoveWords"):
        LoveWords.load(str(tmp_path))
