from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
import torch

from lovevec.evaluate.nets import TaggerSettings
from lovevec.evaluate.nets.char_cnn import Frozen, seeded
from lovevec.evaluate.nets.tagger import Batch, Sentences, Tagger, trained

CPU = torch.device("cpu")
WORDS, DIM, TAGS = 24, 16, 4
VECTORS = np.random.default_rng(0).normal(size=(WORDS + 1, DIM)).astype(np.float32)
VECTORS[0] = 0
SMALL = TaggerSettings(hidden=10, tokens=40, epochs=3)


pytestmark = pytest.mark.usefixtures("on_one_thread")


def made_model(seed: int = 0, settings: TaggerSettings = SMALL) -> Tagger:
    model = Tagger(Frozen(VECTORS), TAGS, settings)
    seeded(model, seed, CPU)
    return model


def made_sentences(count: int, seed: int = 0) -> Sentences:
    """A word's tag is its number modulo 3, but 3 behind a word of the first half."""
    rng = np.random.default_rng(seed)
    ids = [rng.integers(1, WORDS + 1, size=rng.integers(1, 12)) for _ in range(count)]
    before = [np.concatenate([[WORDS], sentence[:-1]]) for sentence in ids]
    tags = [np.where(word <= WORDS // 2, 3, sentence % 3) for sentence, word in zip(ids, before, strict=True)]
    return Sentences(ids, tags, CPU)


def as_batch(sentences: Sentences) -> Batch:
    (batch,) = sentences.batches(10_000)
    return batch


def reference(model: Tagger, ids: np.ndarray) -> np.ndarray:
    """By the definition of an LSTM (Hochreiter and Schmidhuber, with forget gates), in float64, one sentence."""
    weights = {name: weight.detach().double().numpy() for name, weight in model.lstm.named_parameters()}

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def read(x, end):
        hidden = cell = np.zeros(weights["weight_hh_l0"].shape[1])
        states = []
        for row in x:
            gates = weights[f"weight_ih_l0{end}"] @ row + weights[f"bias_ih_l0{end}"]
            gates = gates + weights[f"weight_hh_l0{end}"] @ hidden + weights[f"bias_hh_l0{end}"]
            enter, keep, new, show = np.split(gates, 4)
            cell = sigmoid(keep) * cell + sigmoid(enter) * np.tanh(new)
            hidden = sigmoid(show) * np.tanh(cell)
            states.append(hidden)
        return np.array(states)

    x = VECTORS[ids].astype(np.float64)
    both = np.concatenate([read(x, ""), read(x[::-1], "_reverse")[::-1]], axis=1)
    return both @ model.out.weight.detach().double().numpy().T + model.out.bias.detach().double().numpy()


def test_emissions_are_those_of_the_definition_whatever_else_is_in_the_batch():
    model, sentences = made_model().eval(), made_sentences(12)
    batch = as_batch(sentences)
    together = model.emissions(batch.ids, batch.lengths).detach()
    for row, length in enumerate(batch.lengths.tolist()):
        ids = batch.ids[row : row + 1, :length]
        np.testing.assert_allclose(together[row, :length], reference(model, ids[0].numpy()), atol=1e-5)
        alone = model.emissions(ids, batch.lengths[row : row + 1]).detach()
        torch.testing.assert_close(alone[0], together[row, :length], rtol=0, atol=1e-6)


def test_the_loss_is_the_mean_over_tokens_of_what_each_sentence_has_alone():
    model, batch = made_model().eval(), as_batch(made_sentences(9, seed=1))
    total = 0.0
    for row, length in enumerate(batch.lengths.tolist()):
        emissions = model.emissions(batch.ids[row : row + 1, :length], batch.lengths[row : row + 1])
        total -= float(
            model.crf.log_likelihood(emissions, batch.tags[row : row + 1, :length], torch.tensor([length])).detach()
        )
    assert float(model.loss(batch).detach()) == pytest.approx(total / int(batch.lengths.sum()), rel=1e-5)


@pytest.mark.parametrize("rng", [None, np.random.default_rng(3)], ids=["in order", "shuffled"])
@pytest.mark.parametrize("tokens", [1, 25, 1000])
def test_batches_hold_every_sentence_once_and_no_more_tokens_than_asked(rng, tokens):
    sentences, seen = made_sentences(40, seed=2), []
    for batch in sentences.batches(tokens, rng):
        assert batch.ids.numel() <= tokens or len(batch.rows) == 1
        assert batch.lengths.tolist() == sorted(batch.lengths.tolist(), reverse=True)
        for row, ids, tags, length in zip(batch.rows, batch.ids, batch.tags, batch.lengths, strict=True):
            assert length == sentences.lengths[row]
            assert torch.equal(ids[:length], sentences.ids[row, :length])
            assert torch.equal(tags[:length], sentences.tags[row, :length])
            assert not ids[length:].any()
        seen += batch.rows.tolist()
    assert sorted(seen) == list(range(40))


def test_each_epoch_has_other_batches():
    sentences, rng = made_sentences(40), np.random.default_rng(4)
    first, second = ([batch.rows.tolist() for batch in sentences.batches(30, rng)] for _ in range(2))
    assert first != second


def test_it_learns_what_a_word_and_the_word_before_it_say():
    settings = TaggerSettings(hidden=40, tokens=200, epochs=8)
    model, train, dev = made_model(settings=settings), made_sentences(400), made_sentences(80, seed=9)
    gold = [tags[:length].numpy() for tags, length in zip(dev.tags, dev.lengths, strict=True)]

    def right() -> float:
        return float(np.mean(np.concatenate(model.tag(dev)) == np.concatenate(gold)))

    before = right()
    assert trained(model, train, right, 2e-2, 0, settings) == right() > 0.95 > 0.6 > before


def test_the_seed_decides_everything():
    train = made_sentences(30)

    def weights(seed: int) -> list[torch.Tensor]:
        model = made_model(seed=99)
        trained(model, train, lambda: 0.0, 1e-2, seed, SMALL)
        return [weight.detach().clone() for weight in model.parameters()]

    first, again, other = weights(1), weights(1), weights(2)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(first, other, strict=True))


def test_the_best_epoch_on_dev_stays():
    model, kept, answers = made_model(), [], iter([10.0, 30.0, 20.0])

    def on_dev() -> float:
        kept.append(deepcopy(model.state_dict()))
        return next(answers)

    assert trained(model, made_sentences(30), on_dev, 1e-2, 0, SMALL) == 30
    now = model.state_dict()
    assert all(torch.equal(now[name], kept[1][name]) for name in now)
    assert not all(torch.equal(now[name], kept[2][name]) for name in now)


def test_it_ends_when_dev_gets_no_better():
    answers = iter([10.0, 30.0, 20.0, 30.0, 25.0, 99.0])
    settings = TaggerSettings(hidden=10, tokens=40, epochs=6, patience=3)
    assert trained(made_model(), made_sentences(20), lambda: next(answers), 1e-2, 0, settings) == 30
    assert next(answers) == 99


def test_tags_come_back_in_the_order_of_the_sentences():
    model, sentences = made_model().eval(), made_sentences(25, seed=6)
    for row, tags in enumerate(model.tag(sentences)):
        length = sentences.lengths[row]
        ids = sentences.ids[row, :length].numpy()
        (alone,) = model.tag(Sentences([ids], None, CPU))
        assert len(tags) == length
        np.testing.assert_array_equal(tags, alone)
