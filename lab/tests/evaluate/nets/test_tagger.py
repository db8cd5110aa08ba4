from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from lovevec_lab.evaluate.nets import CharCNNSettings, TaggerSettings
from lovevec_lab.evaluate.nets.char_cnn import CharCNN, Frozen
from lovevec_lab.evaluate.nets.tagger import Recurrence, RunAdam, TagBatch, Taggers, TagSentences, train_taggers

CPU = torch.device("cpu")
WORDS, DIM, TAGS = 24, 16, 4
VECTORS = np.random.default_rng(0).normal(size=(WORDS + 1, DIM)).astype(np.float32)
VECTORS[0] = 0
SMALL = TaggerSettings(hidden=10, tokens=40, epochs=3)


pytestmark = pytest.mark.usefixtures("on_one_thread")


RUNS = [(1e-2, 0), (3e-3, 0), (1e-2, 1)]


def made_model(runs=tuple(RUNS[:1]), settings: TaggerSettings = SMALL) -> Taggers:
    model = Taggers([Frozen(VECTORS)], TAGS, settings, runs)
    model.seed_weights(CPU)
    return model


def made_sentences(count: int, seed: int = 0) -> TagSentences:
    """A word's tag is its number modulo 3, but 3 behind a word of the first half."""
    rng = np.random.default_rng(seed)
    ids = [rng.integers(1, WORDS + 1, size=rng.integers(1, 12)) for _ in range(count)]
    before = [np.concatenate([[WORDS], sentence[:-1]]) for sentence in ids]
    tags = [np.where(word <= WORDS // 2, 3, sentence % 3) for sentence, word in zip(ids, before, strict=True)]
    return TagSentences(ids, tags, CPU)


def as_batch(sentences: TagSentences) -> TagBatch:
    (batch,) = sentences.in_order(10_000)
    return batch


def reference(model: Taggers, ids: np.ndarray, run: int) -> np.ndarray:
    """By the definition of an LSTM (Hochreiter and Schmidhuber, with forget gates), in float64, one sentence."""

    def weight(named):
        return named[run].detach().double().numpy()

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    def read(x, way):
        hidden = cell = np.zeros(model.recur[way].shape[1])
        states = []
        for row in x:
            gates = row @ weight(model.read[way]) + weight(model.bias[way]) + hidden @ weight(model.recur[way])
            enter, keep, show, new = np.split(gates, 4)
            cell = sigmoid(keep) * cell + sigmoid(enter) * np.tanh(new)
            hidden = sigmoid(show) * np.tanh(cell)
            states.append(hidden)
        return np.array(states)

    x = VECTORS[ids].astype(np.float64)
    both = np.concatenate([read(x, 0), read(x[::-1], 1)[::-1]], axis=1)
    return both @ weight(model.out) + weight(model.out_bias)


def test_emissions_are_those_of_the_definition_whatever_else_is_in_the_batch():
    model, sentences = made_model(RUNS).eval(), made_sentences(12)
    batch = as_batch(sentences)
    together = model.emissions(batch.ids, batch.lengths).detach()
    for row, length in enumerate(batch.lengths.tolist()):
        ids = batch.ids[:, row : row + 1, :length]
        for run in range(len(RUNS)):
            right = reference(model, ids[0, 0].numpy(), run)
            np.testing.assert_allclose(together[run, row, :length], right, atol=1e-5)
        alone = model.emissions(ids, batch.lengths[row : row + 1]).detach()
        torch.testing.assert_close(alone[:, 0], together[:, row, :length], rtol=0, atol=1e-6)


def test_the_gradients_of_the_recurrence_are_those_of_torchs_lstm():
    draw, size = torch.Generator().manual_seed(0), 3
    theirs = torch.nn.LSTM(2, size, batch_first=True, dtype=torch.float64)
    x = torch.randn(4, 5, 2, generator=draw, dtype=torch.float64)
    order = torch.cat([torch.arange(size) + size * gate for gate in (0, 1, 3, 2)])  # torch has the new content third
    recur = theirs.weight_hh_l0.detach()[order].T[None].clone().requires_grad_()
    gates = (x @ theirs.weight_ih_l0.T + theirs.bias_ih_l0 + theirs.bias_hh_l0).detach()[..., order]
    wanted = torch.randn(4, 5, size, generator=draw, dtype=torch.float64)
    states = Recurrence.apply(gates.transpose(0, 1)[:, None], recur)[:, 0].transpose(0, 1)
    right = theirs(x)[0]
    torch.testing.assert_close(states, right)
    (states * wanted).sum().backward()
    (right * wanted).sum().backward()
    torch.testing.assert_close(recur.grad[0].T, theirs.weight_hh_l0.grad[order])
    gates = torch.randn(4, 2, 3, 4 * size, generator=draw, dtype=torch.float64, requires_grad=True)
    recur = torch.randn(2, size, 4 * size, generator=draw, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Recurrence.apply, (gates, recur))


def test_the_loss_is_the_mean_over_tokens_of_what_each_sentence_has_alone():
    model, batch = made_model().eval(), as_batch(made_sentences(9, seed=1))
    total = 0.0
    for row, length in enumerate(batch.lengths.tolist()):
        emissions = model.emissions(batch.ids[:, row : row + 1, :length], batch.lengths[row : row + 1])
        tags = batch.tags[:, row : row + 1, :length]
        total -= float(model.crf.log_likelihood(emissions, tags, torch.tensor([length])).detach())
    assert float(model.loss(batch).detach()) == pytest.approx(total / int(batch.lengths.sum()), rel=1e-5)


def test_adam_with_a_rate_for_each_run_is_torchs_adam_for_each():
    rng = torch.Generator().manual_seed(0)
    rates, start = [1e-1, 1e-3], torch.randn(2, 3, 4, generator=rng)
    together = torch.nn.Parameter(start.clone())
    alone = [torch.nn.Parameter(start[run].clone()) for run in range(2)]
    ours = RunAdam([(together, torch.tensor(rates).view(2, 1, 1))])
    theirs = [torch.optim.Adam([weight], lr=rate) for weight, rate in zip(alone, rates, strict=True)]
    for _ in range(5):
        gradient = torch.randn(2, 3, 4, generator=rng)
        together.grad = gradient.clone()
        ours.step()
        for run, optimiser in enumerate(theirs):
            alone[run].grad = gradient[run].clone()
            optimiser.step()
            torch.testing.assert_close(together[run], alone[run], rtol=1e-5, atol=1e-7)


def test_runs_side_by_side_learn_what_each_learns_alone():
    train, dev = made_sentences(60), made_sentences(20, seed=5)
    settings = replace(SMALL, dropout=0.3)

    def tagged(runs):
        model = made_model(runs, settings)
        train_taggers(model, train, lambda _: [0.0] * len(runs), settings)
        batch = as_batch(dev)
        return model.eval().emissions(batch.ids, batch.lengths).detach()

    together = tagged(RUNS)
    for run, one in enumerate(RUNS):
        torch.testing.assert_close(together[run], tagged([one])[0], rtol=0, atol=1e-4)
    assert (together[0] - together[2]).abs().max() > 0.1


def test_char_cnns_side_by_side_learn_what_each_learns_alone():
    words = [chr(97 + row % 26) * (1 + row % 5) for row in range(WORDS + 1)]
    known = np.arange(WORDS + 1) % 2 == 0
    train, batch = made_sentences(40), as_batch(made_sentences(20, seed=5))

    def tagged(runs):
        layers = [CharCNN(VECTORS, known, words, CharCNNSettings(8, (3,), 6)) for _ in runs]
        model = Taggers(layers, TAGS, SMALL, runs)
        train_taggers(model, train, lambda _: [0.0] * len(runs), SMALL)
        return model.eval().emissions(batch.ids, batch.lengths).detach()

    together = tagged(RUNS)
    for run, one in enumerate(RUNS):
        torch.testing.assert_close(together[run], tagged([one])[0], rtol=0, atol=1e-4)


def made_batches(sentences, tokens, seeds):
    if not seeds:
        return sentences.in_order(tokens)
    return sentences.random_batches(tokens, [np.random.default_rng(seed) for seed in seeds], np.random.default_rng(9))


@pytest.mark.parametrize("seeds", [[], [3], [4, 5, 6]], ids=["in order", "shuffled", "three seeds"])
@pytest.mark.parametrize("tokens", [1, 25, 1000])
def test_batches_hold_every_sentence_once_and_no_more_tokens_than_asked(seeds, tokens):
    sentences, seen = made_sentences(40, seed=2), [[] for _ in seeds or [0]]
    for batch in made_batches(sentences, tokens, seeds):
        assert batch.ids[0].numel() <= tokens or batch.rows.shape[1] == 1
        assert batch.lengths.tolist() == sorted(batch.lengths.tolist(), reverse=True)
        for place, of_seed in enumerate(batch.rows):
            for row, ids, tags, length in zip(of_seed, batch.ids[place], batch.tags[place], batch.lengths, strict=True):
                assert length == sentences.lengths[row]
                assert torch.equal(ids[:length], sentences.ids[row, :length])
                assert torch.equal(tags[:length], sentences.tags[row, :length])
                assert not ids[length:].any()
            seen[place] += of_seed.tolist()
    assert all(sorted(rows) == list(range(40)) for rows in seen)
    assert len({tuple(rows) for rows in seen}) == len(seen)


def test_each_epoch_has_other_batches():
    sentences, company, order = made_sentences(40), [np.random.default_rng(4)], np.random.default_rng(5)
    first, second = ([batch.rows.tolist() for batch in sentences.random_batches(30, company, order)] for _ in range(2))
    assert first != second


def test_it_learns_what_a_word_and_the_word_before_it_say():
    settings = TaggerSettings(hidden=40, tokens=200, epochs=8)
    model = made_model([(2e-2, 0), (1e-5, 0)], settings)
    train, dev = made_sentences(400), made_sentences(80, seed=9)
    gold = [tags[:length].numpy() for tags, length in zip(dev.tags, dev.lengths, strict=True)]

    def right(_epoch: int = 0) -> list[float]:
        return [float(np.mean(np.concatenate(tags) == np.concatenate(gold))) for tags in model.tag(dev)]

    before = right()
    learned, hardly = train_taggers(model, train, right, settings)
    assert [learned, hardly] == right()
    assert learned > 0.95 > 0.6 > hardly
    assert before[0] < 0.6


def test_the_seed_decides_everything():
    train = made_sentences(30)

    def weights(seed: int) -> list[torch.Tensor]:
        model = made_model([(1e-2, seed)])
        train_taggers(model, train, lambda _: [0.0], SMALL)
        return [weight.detach().clone() for weight in model.parameters()]

    first, again, other = weights(1), weights(1), weights(2)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(first, other, strict=True))


def test_the_best_epoch_on_dev_stays_of_each_run():
    model, kept, answers = made_model(RUNS[:2]), [], iter([(10.0, 50.0), (30.0, 40.0), (20.0, 45.0)])

    def on_dev(_epoch: int) -> tuple[float, ...]:
        kept.append([[weight.clone() for weight in model.weights(run)] for run in range(2)])
        return next(answers)

    assert train_taggers(model, made_sentences(30), on_dev, SMALL) == [30, 50]
    for run, epoch in enumerate((1, 0)):
        now = model.weights(run)
        assert all(torch.equal(a, b) for a, b in zip(now, kept[epoch][run], strict=True))
        assert not all(torch.equal(a, b) for a, b in zip(now, kept[2][run], strict=True))


def test_it_ends_when_dev_gets_no_better():
    answers = iter([10.0, 30.0, 20.0, 30.0, 25.0, 99.0])
    settings = TaggerSettings(hidden=10, tokens=40, epochs=6, patience=3)
    assert train_taggers(made_model(), made_sentences(20), lambda _: [next(answers)], settings) == [30]
    assert next(answers) == 99


def test_a_run_that_ended_takes_no_better_epoch_from_its_company():
    answers = iter([(30.0, 1.0), (20.0, 2.0), (20.0, 3.0), (99.0, 4.0), (99.0, 5.0)])
    settings = TaggerSettings(hidden=10, tokens=40, epochs=5, patience=2)
    assert train_taggers(made_model(RUNS[:2]), made_sentences(20), lambda _: next(answers), settings) == [30, 5]


def test_tags_come_back_in_the_order_of_the_sentences():
    model, sentences = made_model(RUNS).eval(), made_sentences(25, seed=6)
    for run, of_run in enumerate(model.tag(sentences)):
        for row, tags in enumerate(of_run):
            length = sentences.lengths[row]
            ids = sentences.ids[row, :length].numpy()
            alone = model.tag(TagSentences([ids], None, CPU))[run][0]
            assert len(tags) == length
            np.testing.assert_array_equal(tags, alone)
