"""Fine-tuning learns what words mean, is decided by its seed, and what it keeps tells runs apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformer_factory import save_transformer

from lovevec.damage.noise import Noise
from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec_lab.evaluate.classify import TextPart, TextSplit
from lovevec_lab.evaluate.finetune import FinetuneSettings, TagTask, TextTask, Transformer, Trials
from lovevec_lab.evaluate.finetune.loop import finetune, predict, slope
from lovevec_lab.evaluate.finetune.transformer import WholeWordSpeller
from lovevec_lab.evaluate.tag import TagPart, TagSplit

pytestmark = pytest.mark.usefixtures("on_one_thread")
HOW = FinetuneSettings(epochs=3, device="cpu")
NOISES = (Noise("ocr", 0.0), Noise("typo", per_sentence=2), Noise("typo", 1.0))
RATE = 1e-2


def sentences(words: list[str], count: int, seed: int) -> list[list[str]]:
    """Words of one half of the list, or of the other."""
    rng = np.random.default_rng(seed)
    half = len(words) // 2
    return [[words[i] for i in rng.integers(0, half, 5) + half * (row % 2)] for row in range(count)]


@pytest.fixture(scope="module")
def texts(words) -> TextSplit:
    def part(count: int, seed: int) -> TextPart:
        return TextPart(sentences(words, count, seed), ["bad" if row % 2 else "good" for row in range(count)])

    return TextSplit("made", part(400, 1), part(60, 2), part(100, 3))


@pytest.fixture(scope="module")
def trials(folder, texts) -> Trials:
    return Trials(Transformer(str(folder)), TextTask(texts), NOISES, HOW)


@pytest.fixture(scope="module")
def run(trials) -> dict:
    return trials.run(RATE, 0)


def test_clean_text_is_learned_and_damage_costs(run):
    assert list(run["test"]) == ["original", "2 typos", "typo 100 %"] == list(run["dev_noisy"])
    assert run["dev"] == run["dev_noisy"]["original"] > 95
    assert run["test"]["original"] > 95
    assert run["test"]["original"] > run["test"]["2 typos"] > run["test"]["typo 100 %"]
    assert run["test"]["typo 100 %"] < 80
    assert run["positions"]["original"] == 100 * 7 < run["positions"]["2 typos"]


def test_the_seed_decides_and_nobody_elses_draws_are_touched(trials, run):
    torch.manual_seed(7)
    before = torch.get_rng_state()
    again = trials.run(RATE, 0)
    assert torch.equal(torch.get_rng_state(), before)
    assert {**again, "seconds": 0} == {**run, "seconds": 0}
    other = trials.run(RATE, 1)
    assert other["test"] != run["test"]


@pytest.mark.parametrize("strategy", ["replace", "linear", "add"])
def test_love_inside_is_trained_around(folder, love, texts, strategy):
    trials = Trials(Transformer(str(folder), str(love), strategy), TextTask(texts), NOISES[:2], replace(HOW, epochs=2))
    run = trials.run(RATE, 0)
    assert run["test"]["original"] > 90
    assert (run["positions"]["2 typos"] == run["positions"]["original"]) == (strategy == "replace")


def test_tags_are_learned(folder, words):
    def part(count: int, seed: int) -> TagPart:
        lines = sentences(words, count, seed)
        return TagPart(lines, [["B-A" if word[0] in "bgs" else "O" for word in line] for line in lines])

    split = TagSplit("made", part(200, 1), part(40, 2), part(40, 3))
    run = Trials(Transformer(str(folder)), TagTask(split), NOISES[:1], HOW).run(RATE, 0)
    assert run["test"]["original"] > 95


def test_the_best_epochs_weights_stay(folder, texts, trials):
    """Scores that fall after the second epoch: the weights are those of the second."""
    model = Transformer(str(folder)).model("AutoModelForSequenceClassification", 2)
    train = trials._train
    seen = []

    def score() -> float:
        seen.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
        return (40.0, 60.0, 50.0)[len(seen) - 1]

    with Progress(quiet=True).phase("x") as phase:
        assert finetune(model, train, score, RATE, 0, HOW, phase) == (60.0, 2)
    assert all(torch.equal(tensor, seen[1][name]) for name, tensor in model.state_dict().items())
    assert not all(torch.equal(tensor, seen[2][name]) for name, tensor in model.state_dict().items())


def test_predictions_are_the_models_own_for_each_sentence_alone(folder, texts, trials):
    encoder = Transformer(str(folder))
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = encoder.model("AutoModelForSequenceClassification", 2)
    found = predict(model, trials._noisy["test"]["2 typos"], "tf32").tolist()
    rows = trials._noisy["test"]["2 typos"].inputs
    with torch.no_grad():
        for row in range(0, 100, 9):
            alone = {name: tensor[row : row + 1][:, rows["attention_mask"][row] > 0] for name, tensor in rows.items()}
            assert int(model(**alone).logits.argmax()) == found[row]


@pytest.mark.parametrize(("steps", "warmup"), [(1, 0.06), (10, 0.0), (100, 0.06), (2165, 0.1)])
def test_the_rate_rises_then_falls_in_straight_lines(steps, warmup):
    shares = [slope(step, steps, warmup) for step in range(steps)]
    top = int(np.argmax(shares))
    assert top == max(round(warmup * steps), 1) - 1
    assert shares[top] == 1
    assert min(shares) > 0
    for line in (shares[: top + 1], shares[top + 1 :]):
        assert np.allclose(np.diff(line, 2), 0)
    assert slope(steps, steps, warmup) == 0


def test_kept_runs_are_told_apart(folder, love, texts, words, tmp_path):
    task, other = TextTask(texts), save_transformer(tmp_path, words[:100])
    keys = [
        Trials(encoder, task, NOISES, how).key
        for encoder in (
            Transformer(str(folder)),
            Transformer(str(other)),
            Transformer(str(folder), spelled=True),
            Transformer(str(folder), str(love)),
            Transformer(str(folder), str(love), "add"),
            Transformer(str(folder), str(love), trainable=True),
        )
        for how in (HOW, replace(HOW, epochs=9))
    ]
    assert all(one != two for i, one in enumerate(keys) for two in keys[:i])
    same = Trials(Transformer(str(folder)), task, NOISES, replace(HOW, rates=(1.0,), seeds=(5,), device="cuda")).key
    assert same == keys[0]


def test_the_speller_mends_broken_words_alone(folder, words):
    speller = WholeWordSpeller(Transformer(str(folder)).tokenizer)
    broken = [word[:2] + "7" + word[2:] for word in words[:30]]
    line = [words[0], broken[1], words[2].upper(), "12345", "x.y", "qqqqqqqqqq", *broken]
    (found,) = speller.correct([line])
    assert found[:6] == [words[0], words[1], words[2].upper(), "12345", "x.y", "qqqqqqqqqq"]
    assert found[6:] == words[:30]


def test_a_missing_encoder_is_told(tmp_path):
    with pytest.raises(LovevecError, match="cannot be read as a transformers model"):
        Transformer(str(tmp_path)).tokenizer  # noqa: B018
    with pytest.raises(LovevecError, match="strategy 'best'"):
        Transformer(str(tmp_path), strategy="best")
    with pytest.raises(LovevecError, match="precision=fp8"):
        FinetuneSettings(precision="fp8")
