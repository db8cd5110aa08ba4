"""Gradients, precision, compilation: a robust model is trained as the plain one is."""

from __future__ import annotations

import shutil
import warnings

import numpy as np
import pytest
import torch
from tests.transformer_factories import NEW, WORDS, load_small, mixed_texts
from transformers import AutoModelForSequenceClassification

from lovevec import LOVE
from lovevec.plugins.transformers import robustify

CLEAN, NOISY = mixed_texts(6, broken=0), mixed_texts(6, broken=0.5)


@pytest.fixture
def fresh(small_folder, love):
    """A model that a test may change: plain model and tokenizer, robust model and tokenizer."""

    def make(strategy="replace", kind="bert", auto=None, inside=love, **options):
        torch.manual_seed(0)
        pair = load_small(small_folder(kind), auto) if auto else load_small(small_folder(kind))
        return (*pair, *robustify(pair, inside, strategy, space="direct", **options))

    return make


def loss(model, batch):
    out = model(**batch)[0]
    return (out * torch.randn(out.shape, generator=torch.Generator().manual_seed(2)).to(out)).sum()


def gradients(model, batch):
    model.zero_grad()
    loss(model, batch).backward()
    return {name: part.grad.clone() for name, part in model.named_parameters() if part.grad is not None}


def test_gradients_on_clean_text_are_the_plain_models_to_the_bit(fresh):
    for strategy in ("replace", "linear", "add"):
        plain, plain_tokenizer, robust, tokenizer = fresh(strategy)
        expected = gradients(plain, plain_tokenizer(CLEAN, padding=True, return_tensors="pt"))
        found = gradients(robust, tokenizer(CLEAN, padding=True, return_tensors="pt"))
        assert set(found) == set(expected)
        assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_gradients_on_noisy_text_are_those_by_inputs_embeds(fresh):
    plain, _, robust, tokenizer = fresh()
    batch = tokenizer(NOISY, padding=True, return_tensors="pt")
    words = [word for text in NOISY for word in text.split() if word in NEW]
    rows = plain.get_input_embeddings()(batch["input_ids"]).clone()
    rows[batch["love_words"].any(-1)] = torch.from_numpy(robust.robust_embeddings.imputer(words))
    expected = gradients(plain, {"inputs_embeds": rows, "attention_mask": batch["attention_mask"]})
    found = gradients(robust, batch)
    assert set(found) == set(expected)
    for name in expected:
        torch.testing.assert_close(found[name], expected[name], rtol=1e-3, atol=1e-6, msg=name)


def test_love_is_frozen_unless_it_shall_train(fresh):
    plain, _, robust, tokenizer = fresh()
    assert {name for name, _ in robust.named_parameters()} == {name for name, _ in plain.named_parameters()}
    before = robust.robust_embeddings.imputer([NEW[0]])
    batch = tokenizer(NOISY, padding=True, return_tensors="pt")
    optimiser = torch.optim.SGD(robust.parameters(), lr=0.1)
    for _ in range(3):
        gradients(robust, batch)
        optimiser.step()
    assert np.array_equal(robust.robust_embeddings.imputer([NEW[0]]), before)


def test_the_gate_learns(fresh):
    *_, robust, tokenizer = fresh("linear")
    robust.double()
    batch = tokenizer(NOISY, padding=True, return_tensors="pt")
    found = gradients(robust, batch)["embeddings.word_embeddings.gate.weight"]
    assert found.abs().min() > 0
    weight, by_hand = robust.robust_embeddings.gate.weight, []
    with torch.no_grad():
        for place in range(3):
            weight[0, place] += 1e-4
            high = loss(robust, batch)
            weight[0, place] -= 2e-4
            by_hand.append((high - loss(robust, batch)) / 2e-4)
            weight[0, place] += 1e-4
    torch.testing.assert_close(found[0, :3], torch.stack(by_hand), rtol=1e-5, atol=1e-8)


def test_a_love_that_trains_begins_as_the_frozen_one_and_changes_words_it_never_saw(fresh, love):
    """The frozen one that reads by spelling only: known words' own rows do not train."""
    *_, frozen, tokenizer = fresh(inside=LOVE(love.parts, spelling_only=True))
    *_, robust, _ = fresh(trainable=True)
    batch, unseen = (tokenizer(some, padding=True, return_tensors="pt") for some in (NOISY, [NEW[-1]]))
    with torch.no_grad():
        torch.testing.assert_close(robust(**batch)[0], frozen(**batch)[0], rtol=1e-4, atol=1e-5)
        before = robust(**unseen)[0]
    found = gradients(robust, batch)
    love = {name for name in found if ".love." in name}
    assert love
    assert all(found[name].abs().max() > 0 for name in love)
    optimiser = torch.optim.SGD([part for name, part in robust.named_parameters() if name in love], lr=0.1)
    optimiser.step()
    with torch.no_grad():
        assert not torch.equal(robust(**unseen)[0], before)


@pytest.mark.parametrize("trainable", [False, True])
def test_inference_first_then_training(fresh, trainable):
    *_, robust, tokenizer = fresh(trainable=trainable)
    batch = tokenizer(NOISY, padding=True, return_tensors="pt")
    with torch.inference_mode():
        expected = robust(**batch)[0].clone()
    assert torch.equal(robust(**batch)[0], expected)
    *_, other, _ = fresh(trainable=trainable)
    found, wanted = gradients(robust, batch), gradients(other, batch)
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("strategy", ["replace", "linear", "add"])
def test_half_precision(fresh, strategy, dtype):
    plain, plain_tokenizer, robust, tokenizer = fresh(strategy)
    batch = tokenizer(NOISY, padding=True, return_tensors="pt")
    with torch.no_grad():
        whole = robust(**batch)[0]
        half = robust.to(dtype)(**batch)[0]
        assert half.dtype == dtype
        torch.testing.assert_close(half.float(), whole, rtol=0.1, atol=0.1)
        expected = plain.to(dtype)(**plain_tokenizer(CLEAN, padding=True, return_tensors="pt"))[0]
        assert torch.equal(robust(**tokenizer(CLEAN, padding=True, return_tensors="pt"))[0], expected)


def test_half_precision_with_a_love_that_trains_and_autocast(fresh):
    *_, robust, tokenizer = fresh(trainable=True)
    batch = tokenizer(NOISY, padding=True, return_tensors="pt")
    with torch.no_grad():
        whole = robust(**batch)[0]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            torch.testing.assert_close(robust(**batch)[0].float(), whole, rtol=0.1, atol=0.1)
        torch.testing.assert_close(robust.to(torch.bfloat16)(**batch)[0].float(), whole, rtol=0.1, atol=0.1)


NEEDS_COMPILER = pytest.mark.skipif(not shutil.which("g++"), reason="no compiler")
COMPILERS = [
    "eager",
    pytest.param("aot_eager", marks=pytest.mark.slow),
    pytest.param("inductor", marks=[pytest.mark.slow, NEEDS_COMPILER]),
]


@pytest.mark.parametrize("backend", COMPILERS)
def test_compiled(fresh, backend):
    *_, robust, tokenizer = fresh("linear")
    robust.encoder.layer = robust.encoder.layer[:1]
    torch.compiler.reset()
    fast = torch.compile(robust, backend=backend)
    with torch.no_grad():
        for texts in (NOISY, CLEAN, mixed_texts(6, broken=0.5, seed=8)):
            batch = tokenizer(texts, padding="max_length", max_length=60, return_tensors="pt")
            torch.testing.assert_close(fast(**batch)[0], robust(**batch)[0], rtol=1e-4, atol=1e-5)
    if backend == "aot_eager":
        expected, found = gradients(robust, batch), gradients(fast, batch)
        for name, one in expected.items():
            torch.testing.assert_close(found[f"_orig_mod.{name}"], one, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("reentrant", [True, False])
def test_gradient_checkpointing(fresh, reentrant):
    *_, robust, tokenizer = fresh("linear", auto=AutoModelForSequenceClassification)
    batch = tokenizer(NOISY, padding=True, return_tensors="pt")
    for module in robust.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    robust.train()
    expected = gradients(robust, batch)
    robust.gradient_checkpointing_enable({"use_reentrant": reentrant})
    robust.enable_input_require_grads()
    found = gradients(robust, batch)
    assert set(found) == set(expected)
    for name in expected:
        torch.testing.assert_close(found[name], expected[name], rtol=1e-4, atol=1e-7)


def test_what_does_not_go_together_is_told(fresh):
    from lovevec import LovevecError

    *_, robust, tokenizer = fresh()
    batch = tokenizer([f"{WORDS[0]} {NEW[0]}"], return_tensors="pt")
    with pytest.raises(LovevecError, match="love_words has the shape"):
        robust(input_ids=batch["input_ids"][:, :-1], love_words=batch["love_words"])
    with pytest.raises(LovevecError, match="input_ids"):
        robust(inputs_embeds=torch.zeros(1, 2, 16), love_words=batch["love_words"])
    with torch.no_grad():
        by_place = robust(batch["input_ids"], love_words=batch["love_words"])[0]
        assert torch.equal(by_place, robust(**batch)[0])


@pytest.mark.parametrize("by_name", [True, False])
def test_ids_without_their_words_are_told_once(fresh, by_name):
    *_, robust, tokenizer = fresh()
    clean, noisy = (tokenizer([text], return_tensors="pt") for text in (WORDS[0], f"{WORDS[0]} {NEW[0]}"))

    def lost(batch):
        return robust(input_ids=batch["input_ids"])[0] if by_name else robust(batch["input_ids"])[0]

    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = robust(**noisy)[0]
        assert torch.equal(lost(clean), robust(**clean)[0])
        robust(inputs_embeds=torch.zeros(1, 2, 16))
        with pytest.warns(UserWarning, match=r"without love_words.*model\(\*\*batch\)"):
            assert not torch.equal(lost(noisy), expected)
        lost(noisy)  # it was told
        assert torch.equal(robust(**noisy)[0], expected)


@pytest.mark.parametrize("strategy", ["linear", "add"])
def test_where_pieces_stay_ids_without_words_are_the_plain_models(fresh, strategy):
    plain, _, robust, tokenizer = fresh(strategy)
    ids = tokenizer([f"{WORDS[0]} {NEW[0]} 漢"], return_tensors="pt")["input_ids"]
    assert tokenizer.unk_token_id in ids
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(robust(ids)[0], plain(ids)[0])
