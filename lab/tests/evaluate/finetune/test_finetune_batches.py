"""Batches hold what the tokenizer would give for those sentences alone, each sentence once."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lovevec_lab.evaluate.classify import TextPart, TextSplit
from lovevec_lab.evaluate.finetune import TextTask, Transformer
from lovevec_lab.evaluate.finetune import loop as module

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def made(words, folder, love):
    """Rows of 50 sentences of 1 to 9 words, some of them broken, under LOVE: two tensors for each position."""
    rng = np.random.default_rng(3)
    pool = [*words, "zzyx", "br0ken", "3"]
    sentences = [[pool[i] for i in rng.integers(0, len(pool), rng.integers(1, 10))] for _ in range(50)]
    labels = [str(i % 3) for i in range(50)]
    part = TextPart(sentences, labels)
    task, tokenizer = TextTask(TextSplit("made", part, part, part)), Transformer(str(folder), str(love)).tokenizer
    return sentences, tokenizer, task.rows("test", sentences, tokenizer, 512, CPU)


def test_shuffled_batches_are_the_sentences_tokenised_alone(made, rng):
    sentences, tokenizer, rows = made
    order = np.random.default_rng(0).permutation(50)
    seen = 0
    for inputs, labels in rows.random_batches(8, rng):
        which = order[seen : seen + 8]
        alone = tokenizer([" ".join(sentences[i]) for i in which], padding=True, return_tensors="pt")
        assert set(inputs) == set(alone) >= {"input_ids", "attention_mask", "love_words"}
        for name, tensor in alone.items():
            assert torch.equal(inputs[name], tensor), name
        assert labels.tolist() == (which % 3).tolist()
        seen += len(which)
    assert seen == 50


def test_large_batches_hold_each_sentence_once_the_longest_first(made, monkeypatch):
    _, _, rows = made
    monkeypatch.setattr(module, "POSITIONS_PER_BATCH", 60)
    batches = [(which.tolist(), inputs) for which, inputs in rows.by_length()]
    assert sorted(row for which, _ in batches for row in which) == list(range(50))
    assert len(batches) > 5
    widths = [inputs["input_ids"].shape for _, inputs in batches]
    assert all(count * width <= 60 for count, width in widths)
    assert [width for _, width in widths] == sorted((width for _, width in widths), reverse=True)
    for which, inputs in batches:
        assert inputs["attention_mask"].sum(1).tolist() == rows.lengths[which].tolist()
