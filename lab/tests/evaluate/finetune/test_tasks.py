"""A word's tag sits at its first position, whether the word is whole, broken into pieces, or made one by LOVE."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformer_factory import save_transformer

from lovevec_lab.evaluate.finetune import TagTask, Transformer
from lovevec_lab.evaluate.finetune.loop import IGNORED
from lovevec_lab.evaluate.tag import TagPart, TagSplit

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def split(words) -> TagSplit:
    """Whole words, broken ones, punctuation, and a word of which the tokenizer leaves nothing."""
    rng = np.random.default_rng(1)
    pool = [*words[:20], "zzyx", "Br0ken", "mi,x.ed", "\u200b\u0007", "."]
    sentences = [[pool[i] for i in rng.integers(0, len(pool), rng.integers(1, 12))] for _ in range(40)]
    tags = [["B-A" if word[0] in "bz" else "I-A" if word[0] == "s" else "O" for word in line] for line in sentences]
    part = TagPart(sentences, tags)
    return TagSplit("made", part, part, part)


@pytest.mark.parametrize("strategy", [None, "replace", "linear"])
def test_tags_come_back_as_they_were(split, folder, love, strategy):
    encoder = Transformer(str(folder), str(love), strategy) if strategy else Transformer(str(folder))
    task = TagTask(split)
    rows = task.rows("test", split.test.sentences, encoder.tokenizer, 512, CPU)
    labelled = rows.labels != IGNORED
    words = sum(len(line) for line in split.test.sentences)
    lost = sum(word == "\u200b\u0007" for line in split.test.sentences for word in line)
    assert lost
    assert int(labelled.sum()) == words - lost
    predicted = torch.where(labelled, rows.labels, task.classes.index("B-A"))  # what lies between must not count
    assert task.tags("test", rows, predicted) == split.test.tags
    assert task.score("test", rows, predicted) == 100
    first = rows.inputs["input_ids"][labelled].tolist()
    pieces = [encoder.tokenizer.convert_ids_to_tokens(number) for number in first]
    spelled = [word for line in split.test.sentences for word in line if word != "\u200b\u0007"]
    for piece, word in zip(pieces, spelled, strict=True):
        assert piece == "[UNK]" or word.lower().startswith(piece), (piece, word)


def test_words_behind_the_last_position_are_tagged_outside(words, tmp_path):
    short = save_transformer(tmp_path, words, positions=8)
    line, tags = words[:10], ["B-A"] * 10
    part = TagPart([line, line[:2]], [tags, tags[:2]])
    task = TagTask(TagSplit("made", part, part, part))
    rows = task.rows("test", part.sentences, Transformer(str(short)).tokenizer, 512, CPU)
    assert rows.inputs["input_ids"].shape == (2, 8)
    everywhere = torch.full_like(rows.labels, task.classes.index("B-A"))
    assert task.tags("test", rows, everywhere) == [["B-A"] * 6 + ["O"] * 4, ["B-A"] * 2]


def test_a_tag_that_training_lacks_is_not_learned_from_but_counts(split, folder):
    odd = TagPart([["zzyx", "."]], [["B-B", "O"]])
    task = TagTask(TagSplit("made", split.train, odd, split.test))
    rows = task.rows("dev", odd.sentences, Transformer(str(folder)).tokenizer, 512, CPU)
    assert (rows.labels != IGNORED).sum() == 1
    assert task.score("dev", rows, torch.full_like(rows.labels, task.classes.index("O"))) == 0
