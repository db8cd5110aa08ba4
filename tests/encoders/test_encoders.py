"""Encoders against a plain float64 reference, one word at a time, written from the paper's formulas."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lovevec.encoders.network import EncoderNetwork
from lovevec.encoders.torch_engine import TorchEngine
from lovevec.engine.fold import ENCODERS, EncoderSpec
from lovevec.engine.positions import positional_attention, sinusoids
from lovevec.errors import LovevecError
from lovevec.model.folder import ModelParts
from lovevec.units.mixed_input import Units
from lovevec.units.ragged import Ragged
from lovevec.units.vocabulary import SPECIAL, UnitVocabulary

ROWS, DIM = 60, 12


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def reference(spec: EncoderSpec, weights: dict[str, np.ndarray], ids: np.ndarray) -> np.ndarray:
    """One word in float64, unfolded: all n positions go through every product."""
    w = {name.removeprefix("encoder."): value.astype(np.float64) for name, value in weights.items()}
    table = w["table"] @ w["factor"] if "factor" in w else w["table"]
    x = table[ids]
    relu = lambda a: np.maximum(a, 0)  # noqa: E731
    if spec.kind == "sum":
        v = x.sum(axis=0)
    elif spec.kind == "attention":
        v = (x + softmax(x @ x.T / np.sqrt(spec.dim)) @ x).sum(axis=0)
    elif spec.kind == "positional":
        a = positional_attention(len(ids), spec.dim, spec.position_scale)
        local = a @ (x @ w["value"])
        scores = (local @ w["query"]) @ (local @ w["key"]).T / np.sqrt(spec.key_width)
        v = (softmax(scores) @ local @ w["output"]).sum(axis=0)
        if spec.head:
            unit = v / np.linalg.norm(v)
            v = v + relu(unit @ w["head.0.weight"].T + w["head.0.bias"]) @ w["head.2.weight"].T + w["head.2.bias"]
    elif spec.kind == "authors":
        linear = lambda name, a: a @ w[f"{name}.weight"].T + w[f"{name}.bias"]  # noqa: E731
        a = positional_attention(len(ids), spec.dim, spec.position_scale)
        local = relu(linear("value", a @ x))
        scores = relu(linear("query", local)) @ relu(linear("key", local)).T / spec.key_width**0.25
        mixed = relu(linear("output", softmax(scores) @ local))
        normed = (mixed - mixed.mean(axis=1, keepdims=True)) / np.sqrt(mixed.var(axis=1, keepdims=True) + 1e-5)
        v = (x + normed * w["norm.weight"] + w["norm.bias"]).sum(axis=0)
    elif spec.kind == "cnn":
        padded = np.concatenate([np.zeros((1, spec.dim)), x, np.zeros((1, spec.dim))])
        kernel = w["convolution.weight"]  # [out, in, window]
        windows = np.stack([padded[i : i + 3] for i in range(len(x))])
        v = (np.einsum("nti,oit->no", windows, kernel) + w["convolution.bias"]).max(axis=0)
    else:
        v = np.concatenate([lstm(w, x, ""), lstm(w, x[::-1], "_reverse")])
    return v / np.linalg.norm(v)


def lstm(w: dict[str, np.ndarray], x: np.ndarray, suffix: str) -> np.ndarray:
    hidden = cell = np.zeros(w[f"lstm.weight_hh_l0{suffix}"].shape[1])
    sigmoid = lambda a: 1 / (1 + np.exp(-a))  # noqa: E731
    for row in x:
        gates = w[f"lstm.weight_ih_l0{suffix}"] @ row + w[f"lstm.bias_ih_l0{suffix}"]
        gates = gates + w[f"lstm.weight_hh_l0{suffix}"] @ hidden + w[f"lstm.bias_hh_l0{suffix}"]
        i, f, g, o = np.split(gates, 4)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        hidden = sigmoid(o) * np.tanh(cell)
    return hidden


def made(kind: str, head: int = 0, factor: int = 0) -> tuple[EncoderSpec, EncoderNetwork, dict[str, np.ndarray]]:
    spec = EncoderSpec(kind, DIM, 4, DIM**0.25, head)  # type: ignore[arg-type]
    network = EncoderNetwork(spec, ROWS, factor, dropout=0.2)
    network.start(1)
    with torch.no_grad():  # biases start at zero: move them, or an error there would not show
        for weight in network.parameters():
            weight.add_(torch.randn(weight.shape, generator=torch.Generator().manual_seed(2)) * 0.1)
    return spec, network, {name: weight.numpy() for name, weight in network.state_dict().items()}


def engine(spec: EncoderSpec, weights: dict[str, np.ndarray], unit_rows: int = ROWS) -> TorchEngine:
    """With so many rows for units, the others for n-grams."""
    letters = [chr(ord("a") + number) for number in range(unit_rows - len(SPECIAL))]
    units = Units(UnitVocabulary((*SPECIAL, *letters), ngrams=ROWS - unit_rows))
    return TorchEngine(ModelParts(spec, weights, units, [], {}))


def words() -> Ragged:
    rng = np.random.default_rng(0)
    lengths = np.array([1, 3, 3, 7, 20, 5, 12, 3])
    return Ragged.from_lengths(rng.integers(0, ROWS, lengths.sum()), lengths)


VARIANTS = [*((kind, 0, 0) for kind in ENCODERS), ("positional", 6, 0), ("positional", 0, 5), ("authors", 0, 5)]


@pytest.mark.parametrize(("kind", "head", "factor"), VARIANTS)
def test_each_encoder_is_its_formula(kind, head, factor):
    spec, _, weights = made(kind, head, factor)
    batch = words()
    expected = np.stack([reference(spec, weights, batch.row(i)) for i in range(len(batch))])
    found = engine(spec, weights).encode(batch)
    np.testing.assert_allclose(found, expected, atol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(("kind", "head", "factor"), VARIANTS)
def test_n_grams_are_added_to_what_the_encoder_makes_of_the_rest(kind, head, factor):
    spec, network, weights = made(kind, head, factor)
    batch, first = words(), ROWS - 20
    mixed = Ragged.from_lengths(np.sort(batch.values % (ROWS - 1)) + 1, batch.lengths)  # rows low to high, some n-grams
    table = weights["table"].astype(np.float64) @ (weights["factor"] if factor else np.eye(DIM))
    expected = []
    for row in map(mixed.row, range(len(mixed))):
        units, bag = row[row < first], row[row >= first]
        if not len(units):
            continue
        with torch.inference_mode():
            index = torch.from_numpy(units.astype(np.int64))[None]
            rows = network.table if network.factor is None else network.table @ network.factor
            plain = network.eval().encoder(rows, index, torch.tensor([len(units)]))[0].numpy()
        v = plain.astype(np.float64) + table[bag].sum(axis=0)
        expected.append(v / np.linalg.norm(v))
    kept = np.flatnonzero([(mixed.row(i) < first).any() for i in range(len(mixed))])
    found = engine(spec, weights, first).encode(mixed.take(kept))
    assert (mixed.values >= first).any()
    np.testing.assert_allclose(found, expected, atol=3e-6)


@pytest.mark.parametrize("kind", ENCODERS)
def test_gradients_are_those_of_finite_differences(kind):
    _, network, _ = made(kind)
    network = network.double().eval()
    encoder = network.encoder
    if hasattr(encoder, "window"):
        encoder.window(torch.tensor([1]), 20)
        encoder.window.table = encoder.window.table.double()
    batch = words()
    index, lengths = torch.from_numpy(batch.padded().astype(np.int64)), torch.from_numpy(batch.lengths)
    rows = network.table.detach().clone().requires_grad_()
    direction = torch.randn(rows.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    goal = torch.randn(len(batch), DIM, dtype=torch.float64, generator=torch.Generator().manual_seed(4))

    def value(at: torch.Tensor) -> torch.Tensor:
        units = at if network.factor is None else at @ network.factor
        return (torch.nn.functional.normalize(encoder(units, index, lengths), dim=1) * goal).sum()

    value(rows).backward()
    step = 1e-6
    with torch.no_grad():
        numeric = (value(rows + step * direction) - value(rows - step * direction)) / (2 * step)
    assert (rows.grad * direction).sum().item() == pytest.approx(numeric.item(), rel=1e-5)


@pytest.mark.parametrize("kind", ENCODERS)
def test_padding_and_company_change_nothing(kind):
    spec, _, weights = made(kind)
    batch, made_engine = words(), engine(spec, weights)
    together = made_engine.encode(batch)
    for row in range(len(batch)):
        np.testing.assert_allclose(made_engine.encode(batch.take(np.array([row])))[0], together[row], atol=1e-6)


def test_torch_has_the_interface_of_an_engine():
    spec, _, weights = made("cnn")
    torch_engine = engine(spec, weights)
    shown = ["abc", "", "zebra", "🙂", "abc"]
    vectors = torch_engine.embed(shown)
    expected = [reference(spec, weights, row) for row in map(torch_engine.units.encode(shown).row, range(5))]
    np.testing.assert_allclose(vectors, expected, atol=2e-6)
    assert (torch_engine.mode, torch_engine.name, torch_engine.threads) == ("auto", "torch", None)
    assert torch_engine.fold is None


def test_parameter_counts_are_the_papers():
    counts = {kind: EncoderNetwork(EncoderSpec(kind, 300), 21_257).parameter_counts() for kind in ENCODERS}  # type: ignore[arg-type]
    assert {found["embedding"] for found in counts.values()} == {6_377_100}
    assert counts["positional"]["others"] == 199_200
    assert counts["authors"]["others"] == 200_464
    assert counts["cnn"]["others"] == 270_300
    assert counts["attention"]["others"] == counts["sum"]["others"] == 0
    factored = EncoderNetwork(EncoderSpec("positional", 300), 30_000, factor=200).parameter_counts()
    assert factored["embedding"] == 30_000 * 200 + 200 * 300


def test_positional_weights_are_trigram_like_with_the_authors_scale():
    weights = positional_attention(20, 300, 300**0.25)[10]
    assert weights[10] == pytest.approx(0.55, abs=0.03)
    assert weights[9] == pytest.approx(0.20, abs=0.02)
    assert weights[11] == pytest.approx(0.20, abs=0.02)
    wide = positional_attention(20, 300, 300**0.5)[10]
    assert wide[10] < 0.25


def test_sinusoids_are_the_transformers():
    position = sinusoids(5, 6)
    assert position[3, 0] == pytest.approx(np.sin(3))
    assert position[3, 3] == pytest.approx(np.cos(3 / 10_000 ** (2 / 6)))
    assert sinusoids(4, 7).shape == (4, 7)


def test_dropout_draws_from_its_generator_and_keeps_the_mean():
    _, network, _ = made("sum")
    network.train()
    network.use_generator(torch.Generator().manual_seed(5))
    drop = network.encoder.dropout
    before = torch.random.get_rng_state()
    out = drop(torch.ones(200, 200))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert set(out.unique().tolist()) == {0.0, 1.25}
    assert out.mean().item() == pytest.approx(1, abs=0.02)
    network.use_generator(torch.Generator().manual_seed(5))
    assert torch.equal(drop(torch.ones(200, 200)), out)


@pytest.mark.parametrize("kind", ENCODERS)
def test_padding_changes_nothing_in_training_either(kind):
    _, network, _ = made(kind)
    network.eval()
    batch = words()
    index, lengths = torch.from_numpy(batch.padded(32).astype(np.int64)), torch.from_numpy(batch.lengths)
    with torch.no_grad():
        together = network(network.table, index, lengths)
        for row in range(len(batch)):
            alone = network(network.table, torch.from_numpy(batch.row(row))[None], lengths[row : row + 1])
            torch.testing.assert_close(alone[0], together[row], atol=1e-6, rtol=0)


def test_an_odd_dimension_is_refused_where_halves_are_needed():
    with pytest.raises(LovevecError, match="even dimension"):
        EncoderNetwork(EncoderSpec("rnn", 7), 10)
