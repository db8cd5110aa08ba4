"""Robust models against plain ones that are given, as `inputs_embeds`, rows put together by hand."""

from __future__ import annotations

import copy
from itertools import groupby

import pytest
import torch
from tests.transformer_factories import KINDS, mixed_texts

from lovevec.plugins.transformers import robustify
from lovevec.plugins.transformers.embedding import WordCache

STRATEGIES = ("replace", "linear", "add")


def by_hand(plain, tokenizer, text, imputer, strategy, gate):
    """The rows of one text, [positions, dim]: the plain tokenizer's pieces, word after word."""
    encoded = tokenizer(text)
    table, words, result = plain.get_input_embeddings().weight.detach(), text.split(), []
    numbered = zip(encoded["input_ids"], encoded.word_ids(), range(1000), strict=False)
    for word, group in groupby(numbered, key=lambda piece: piece[2] if piece[1] is None else f"word {piece[1]}"):
        own = table[[piece[0] for piece in group]]
        if isinstance(word, int) or len(own) == 1:
            result.append(own)
            continue
        made = torch.from_numpy(imputer([words[int(word.split()[1])]]))
        if strategy == "replace":
            result.append(made)
        elif strategy == "add":
            result.append(own + made)
        else:
            weight = 1 / (1 + torch.exp(-(own @ gate)))[:, None]
            result.append((1 - weight) * own + weight * made)
    return torch.cat(result)


def check(plain, plain_tokenizer, robust, tokenizer, texts, strategy):
    layer = robust.robust_embeddings
    gate = torch.randn(layer.embedding_dim, generator=torch.Generator().manual_seed(1))
    if strategy == "linear":
        layer.gate.weight.data[:] = gate
    rows = [by_hand(plain, plain_tokenizer, text, layer.imputer, strategy, gate) for text in texts]
    longest = max(map(len, rows))
    empty = plain.get_input_embeddings().weight.detach()[plain_tokenizer.pad_token_id]
    padded = torch.stack([torch.cat([one, empty.expand(longest - len(one), -1)]) for one in rows])
    mask = torch.tensor([[1] * len(one) + [0] * (longest - len(one)) for one in rows])
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    assert torch.equal(batch["attention_mask"], mask)
    with torch.no_grad():
        expected = plain(inputs_embeds=padded, attention_mask=mask).last_hidden_state
        found = robust(**batch).last_hidden_state
    torch.testing.assert_close(found[mask > 0], expected[mask > 0], rtol=1e-4, atol=2e-5)
    return [len(one) for one in rows]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", KINDS)
def test_broken_words_get_the_rows_that_the_strategy_says(kind, strategy, small, love):
    plain, plain_tokenizer = small(kind)
    robust, tokenizer = robustify((plain, plain_tokenizer), love, strategy, space="direct")
    texts = mixed_texts(9, broken=0.4)
    positions = check(plain, plain_tokenizer, robust, tokenizer, texts, strategy)
    pieces = [len(plain_tokenizer(text)["input_ids"]) for text in texts]
    if strategy == "replace":
        assert positions == [len(text.split()) + 2 for text in texts]
        assert sum(positions) < sum(pieces)
    else:
        assert positions == pieces


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_real_model_with_the_shipped_love(strategy, minilm):
    robust, tokenizer = robustify(minilm, strategy=strategy, keep=())
    texts = ["a mispelled sentense with plain words", "the quick fox", "archiitect", "unbeleivable storys of oxgen"]
    check(*minilm, robust, tokenizer, texts, strategy)


@pytest.mark.parametrize("kind", KINDS)
def test_text_without_broken_words_is_answered_to_the_bit(kind, small, love):
    plain, plain_tokenizer = small(kind)
    texts = [f". {text} ( ! ) 987654" for text in mixed_texts(7, broken=0)]
    for strategy in STRATEGIES:
        robust, tokenizer = robustify((plain, plain_tokenizer), love, strategy, space="direct")
        for some in ([texts[0]], texts):
            batch, plain_batch = (one(some, padding=True, return_tensors="pt") for one in (tokenizer, plain_tokenizer))
            assert not batch.pop("love_words").any()
            assert set(batch) == set(plain_batch)
            assert all(torch.equal(batch[name], plain_batch[name]) for name in batch)
            words = torch.zeros(*batch["input_ids"].shape, 8, dtype=torch.int64)
            with torch.no_grad():
                expected, found = plain(**plain_batch), robust(**batch, love_words=words)
            assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_a_row_of_clean_text_is_the_same_to_the_bit_in_a_noisy_batch(small, love):
    plain, plain_tokenizer = small("bert")
    robust, tokenizer = robustify((plain, plain_tokenizer), love, space="direct")
    clean = mixed_texts(1, broken=0, seed=3)[0]
    noisy = " ".join(["zzyzzx"] * len(clean.split()))
    with torch.no_grad():
        expected = plain(**plain_tokenizer([clean, clean], return_tensors="pt")).last_hidden_state[0]
        found = robust(**tokenizer([clean, noisy], return_tensors="pt")).last_hidden_state
    assert torch.equal(found[0], expected)
    assert not torch.equal(found[1], expected)


def test_vectors_are_those_of_love_at_lengths_like_the_models_own(minilm, robust_minilm):
    robust, _ = robust_minilm
    words = ["mispelled", "sentense", "archiitect", "oxgen"]
    made, directions = robust.robust_embeddings.imputer(words), robust.love.lookup(words, in_text=True).vectors
    lengths = (made**2).sum(axis=1) ** 0.5
    torch.testing.assert_close(torch.from_numpy(made / lengths[:, None]), torch.from_numpy(directions))
    usual = minilm[0].get_input_embeddings().weight.detach().norm(dim=1)[2000:].numpy()
    assert usual.min() <= lengths.min()
    assert lengths.max() <= usual.max()


def test_threads_that_share_a_model_get_the_same_vectors(small, love):
    from concurrent.futures import ThreadPoolExecutor

    robust, tokenizer = robustify(small("bert"), love, space="direct")
    parts = [mixed_texts(6, broken=0.5, seed=seed) for seed in range(24)]

    def run(texts):
        batch = tokenizer(texts, padding=True, truncation=True, max_length=7, return_tensors="pt")
        with torch.no_grad():
            return robust(**batch).last_hidden_state

    expected = [run(texts) for texts in parts]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(run, parts * 3))
    assert all(torch.equal(one, other) for one, other in zip(found, expected * 3, strict=True))


def test_more_words_than_the_cache_holds(small, love):
    robust, tokenizer = robustify(small("bert"), love, space="direct")
    batches = [tokenizer(mixed_texts(8, broken=0.9, seed=seed), padding=True, return_tensors="pt") for seed in range(6)]
    with torch.no_grad():
        expected = [robust(**batch).last_hidden_state for batch in batches]
        crowded, _ = robustify(small("bert"), love, space="direct")
        crowded.robust_embeddings.cache = WordCache(max_words=20)
        for _ in range(2):
            for batch, one in zip(batches, expected, strict=True):
                assert torch.equal(crowded(**batch).last_hidden_state, one)
    assert len(crowded.robust_embeddings.cache.row) < 60 < len(robust.robust_embeddings.cache.row)


@pytest.mark.parametrize("strategy", ["replace", "linear", "add"])
def test_words_of_an_earlier_call_do_not_linger(small, love, strategy):
    plain, plain_tokenizer = small("bert")
    robust, tokenizer = robustify((copy.deepcopy(plain), plain_tokenizer), love, strategy, space="direct")
    clean, noisy = mixed_texts(1, broken=0, seed=4)[0], "zzyzzx qwrtzp"
    batch = plain_tokenizer(clean, return_tensors="pt")
    with torch.no_grad():
        robust(**tokenizer(noisy, return_tensors="pt"))
        robust.double()
        expected = copy.deepcopy(plain).double()(**batch).last_hidden_state
        assert torch.equal(robust(**batch).last_hidden_state, expected)
        robust(**tokenizer(noisy, return_tensors="pt"))
        robust.robust_embeddings.use(robust.robust_embeddings.imputer)
        assert torch.equal(robust(**batch).last_hidden_state, expected)
