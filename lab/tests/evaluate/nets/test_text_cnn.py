"""The CNN computes what its papers define, padding and company have no say, and a seed decides the rest."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lovevec.encoders.shared import initialise
from lovevec_lab.evaluate.nets import CNNSettings
from lovevec_lab.evaluate.nets.char_cnn import Frozen
from lovevec_lab.evaluate.nets.text_cnn import TextCNN, TextRows, accuracy, train_cnn

pytestmark = pytest.mark.usefixtures("on_one_thread")
CPU = torch.device("cpu")
SMALL = CNNSettings(widths=(1, 3, 5), filters=7, batch=10, epochs=4)
WORDS, DIM, CLASSES = 40, 6, 3


def vectors(rows: int = WORDS, dim: int = DIM, seed: int = 0) -> np.ndarray:
    made = np.random.default_rng(seed).normal(size=(rows + 1, dim)).astype(np.float32)
    made[rows // 2 :, 0] += 3  # what the words of the second half have in common
    made[0] = 0
    return made


def model_of(table: np.ndarray, settings: CNNSettings = SMALL, classes: int = CLASSES, seed: int = 0) -> TextCNN:
    model = TextCNN(Frozen(table), classes, settings)
    initialise(model, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        for convolution in model.convolution.convolutions:
            convolution.bias.normal_(0, 0.5, generator=torch.Generator().manual_seed(seed + 1))
    return model.eval()


def reference(model: TextCNN, table: np.ndarray, sentence: list[int]) -> np.ndarray:
    """Window by window in float64: what stands behind the end of a sentence is zero."""
    words = np.concatenate([table[sentence], np.zeros((10, table.shape[1]))]).astype(np.float64)
    pooled = []
    for convolution in model.convolution.convolutions:
        weight, bias = (w.detach().numpy().astype(np.float64) for w in (convolution.weight, convolution.bias))
        width = weight.shape[2]
        answers = [
            np.maximum(np.einsum("fdw,wd->f", weight, words[start : start + width]) + bias, 0)
            for start in range(max(len(sentence), 1))
        ]
        pooled += np.max(answers, axis=0).tolist()
    weight, bias = (w.detach().numpy().astype(np.float64) for w in (model.out.weight, model.out.bias))
    return weight @ np.array(pooled) + bias


SENTENCES = st.lists(st.lists(st.integers(1, WORDS), max_size=9), min_size=1, max_size=6)


@given(SENTENCES, st.integers(0, 3), st.integers(0, 5))
@settings(deadline=None, max_examples=40)
def test_the_numbers_are_those_of_the_definition_whatever_the_batch_and_its_padding(sentences, seed, more):
    table = vectors(seed=seed)
    model = model_of(table, seed=seed)
    ids = torch.zeros((len(sentences), max(map(len, sentences)) + more + 1), dtype=torch.int64)
    for row, sentence in enumerate(sentences):
        ids[row, : len(sentence)] = torch.tensor(sentence)
    with torch.no_grad():
        found = model(ids).numpy()
        alone = [model(ids[row : row + 1, : max(len(s), 1)]).numpy()[0] for row, s in enumerate(sentences)]
    expected = [reference(model, table, sentence) for sentence in sentences]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_allclose(alone, expected, atol=1e-5)


def rows_of(sentences: list[list[int]], classes: list[int]) -> TextRows:
    return TextRows([np.array(sentence, dtype=np.int64) for sentence in sentences], classes, CPU)


def made(count: int, seed: int) -> TextRows:
    """Class 0: words of the first half only; 1: one word of the second half among them."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 2, count)
    sentences = []
    for one in classes:
        sentence = rng.integers(1, WORDS // 2, rng.integers(1, 12))
        if one:
            sentence[rng.integers(len(sentence))] = rng.integers(WORDS // 2, WORDS + 1)
        sentences.append(sentence.tolist())
    return rows_of(sentences, classes.tolist())


@pytest.mark.parametrize("size", [1, 4, 50])
def test_an_epoch_has_every_sentence_once_with_its_class(size):
    rows = made(130, 0)
    spelled = sorted((tuple(ids[ids > 0].tolist()), int(one)) for ids, one in zip(rows.ids, rows.classes, strict=True))
    for batches in (rows.random_batches(size, np.random.default_rng(0)), rows.by_length()):
        seen = [(tuple(row[row > 0].tolist()), int(c)) for ids, classes in batches for row, c in zip(ids, classes)]  # noqa: B905
        assert sorted(seen) == spelled
    sizes = [len(classes) for _, classes in rows.random_batches(size, np.random.default_rng(0))]
    assert max(sizes) == min(size, 130)
    assert len(sizes) == -(-130 // size)


def test_what_can_be_learned_is_learned_and_the_seed_decides_all():
    train, dev, test = made(300, 1), made(100, 2), made(200, 3)
    state = torch.get_rng_state()

    def run(seed: int) -> tuple[float, float, torch.Tensor]:
        model = TextCNN(Frozen(vectors()), 2, SMALL)
        reached = train_cnn(model, train, dev, 0.02, seed, SMALL)
        assert accuracy(model, dev) == pytest.approx(reached)  # the best epoch's weights are back
        return reached, accuracy(model, test), model.out.weight.detach()

    first, again, other = run(0), run(0), run(1)
    assert first[1] > 90
    assert first[:2] == again[:2]
    assert torch.equal(first[2], again[2])
    assert not torch.equal(first[2], other[2])
    assert torch.equal(torch.get_rng_state(), state)


def test_word_vectors_stay_as_they_are():
    table = vectors()
    model = TextCNN(Frozen(table.copy()), 2, SMALL)
    train_cnn(model, made(100, 0), made(20, 1), 0.01, 0, SMALL)
    np.testing.assert_array_equal(model.layer.vectors.numpy(), table)


def test_accuracy_is_the_share_of_right_answers():
    model = model_of(vectors(), classes=2)
    rows = made(90, 4)
    with torch.no_grad():
        right = [int(model(rows.ids[row : row + 1]).argmax()) == int(rows.classes[row]) for row in range(90)]
    assert accuracy(model, rows) == pytest.approx(100 * np.mean(right))
    assert 0 < np.mean(right) < 1
