"""love.to_torch(): the same vectors as the engine, gradients into every table, and the way back to a LOVE folder."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from tests.factories import toy_vectors, toy_words

from lovevec import LOVE, LovevecError
from lovevec.train import Settings, train

pytestmark = pytest.mark.usefixtures("on_one_thread")
WORDS = [
    "oxygen",
    "Oxgen",
    "leukamia",
    "deplatformed",
    "blorfing",
    "",
    "a",
    "(Dog)",
    "日本",
    "x" * 500,
    "naïve",
    "#@!",
    "500mg",
    "KCWT-CD",
    "neural-netwrok",
    "alot",
    "#blacklivesmatter",
    "24/7",
]
KINDS = {"positional": {}, "head": {"head": 24}, "cnn": {"encoder": "cnn"}, "ngrams": {"ngrams": 200}}


@pytest.fixture(scope="module", params=KINDS)
def trained(request, tmp_path_factory) -> LOVE:
    words, path = toy_words(300), tmp_path_factory.mktemp("models") / "m"
    settings = {"vocabulary_size": 300, "epochs": 2, "batch": 32, "negatives": 20, "device": "cpu"}
    train((words, toy_vectors(words, 16)), Settings(**settings, **KINDS[request.param]), output=path)
    return LOVE.load(path)


@pytest.mark.parametrize("spelling_only", [False, True])
def test_the_shipped_model_gives_the_same_vectors(spelling_only):
    love = LOVE.load(spelling_only=spelling_only)
    module = love.to_torch()
    with torch.inference_mode():
        found = module(WORDS).numpy()
    np.testing.assert_allclose(found, love.embed(WORDS), atol=1e-5)
    assert ("known" in module.state_dict()) is not spelling_only


def test_so_does_any_model_as_it_was_trained_and_folded(trained, tmp_path):
    asked = [*WORDS, *toy_words(40, seed=5)]
    trained.save(tmp_path / "folded", precision="int8" if trained.parts.spec.foldable else None)
    for love in (trained, LOVE.load(tmp_path / "folded")):
        module = love.to_torch()
        np.testing.assert_allclose(module(asked).detach().numpy(), love.embed(asked), atol=1e-5)
        assert not module.has_changed()
        assert LOVE.from_torch(module).parts is love.parts


def test_a_step_changes_every_table_and_comes_back_as_a_folder(trained, tmp_path):
    module, words = trained.to_torch(), [*toy_words(300)[:20], "plorickz", "streabnd", "grealtingz"]
    before = trained.embed(words)
    goal = torch.nn.functional.normalize(torch.from_numpy(np.random.default_rng(0).normal(size=(23, 16))).float())
    optimiser = torch.optim.Adam(module.parameters(), lr=0.05)
    losses = []
    for _ in range(40):
        optimiser.zero_grad()
        loss = 1 - (module(words) * goal).sum(dim=1).mean()
        loss.backward()
        assert all(weight.grad is not None and weight.grad.any() for weight in module.parameters())
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 3
    love = LOVE.from_torch(module)
    love.save(tmp_path / "m")
    again = LOVE.load(tmp_path / "m")
    for made in (love, again):
        np.testing.assert_allclose(made.embed(words), module(words).detach().numpy(), atol=2e-3)
    assert np.array_equal(trained.embed(words), before)  # the LOVE that it came from stays as it is
    assert np.isnan(again.confidence(words)).all()
    assert "missing" in again.metadata["confidence"]
    assert "Trained further in torch" in again.card
    assert again.encode(["plorickz streabnd"]).shape == (1, 16)


def test_state_dicts_go_back_and_forth(trained):
    one, other = trained.to_torch(), trained.to_torch()
    with torch.no_grad():
        for weight in one.parameters():
            weight.add_(0.01)
    assert one.has_changed()
    assert not np.array_equal(one(WORDS).detach(), other(WORDS).detach())
    other.load_state_dict(one.state_dict())
    assert torch.equal(one(WORDS), other(WORDS))
    again = pickle.loads(pickle.dumps(one))
    assert torch.equal(one(WORDS), again(WORDS))


def test_gradients_are_right(trained):
    """Against differences, through attention and readings."""
    module = trained.to_torch()
    made = module.prepare([toy_words(300)[0], toy_words(300)[1] + "x", "streabnd"])
    goal = torch.from_numpy(np.random.default_rng(1).normal(size=(3, 16))).float()

    def loss() -> torch.Tensor:
        return (module(made) * goal).double().sum()

    loss().backward()
    for name, weight in module.named_parameters():
        place, values = int(weight.grad.abs().argmax()), []
        with torch.no_grad():
            for step in (1e-2, -1e-2):
                weight.view(-1)[place] += step
                values.append(loss().item())
                weight.view(-1)[place] -= step
        expected = weight.grad.view(-1)[place].item()
        assert (values[0] - values[1]) / 2e-2 == pytest.approx(expected, rel=0.05, abs=1e-4), name


def test_weights_that_are_no_numbers_make_no_model(trained):
    module = trained.to_torch()
    with torch.no_grad():
        next(module.parameters()).view(-1)[0] = float("nan")
    with pytest.raises(LovevecError, match="not finite"):
        LOVE.from_torch(module)


def test_what_is_no_word_is_named(trained):
    with pytest.raises(LovevecError, match="word 1 is not a string"):
        trained.to_torch()(["a", 3])


def test_many_words_of_all_lengths_are_one_call(shipped_love):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), size=length)) for length in [*range(1, 60), 3000]]
    module = shipped_love.to_torch()
    with torch.inference_mode():
        np.testing.assert_allclose(module(words).numpy(), shipped_love.embed(words), atol=2e-5)
        assert module([]).shape == (0, 300)
