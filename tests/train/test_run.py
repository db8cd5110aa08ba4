"""Whole runs on small made-up targets: what comes out, and that stopping one loses nothing."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from lovevec import LOVE
from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec.train import Prepared, PrepareSettings, Settings, prepare, resume, train
from lovevec.train.group import Group
from lovevec.train.loop import Trainer, held_back

QUICK = {"vocabulary_size": 400, "epochs": 4, "batch": 32, "negatives": 20, "holdout": 0.05, "device": "cpu", "seed": 3}


def save_npz(path: Path, target: tuple[list[str], np.ndarray]) -> Path:
    np.savez(path, words=np.array(target[0]), vectors=target[1])
    return path


@pytest.fixture(scope="module")
def prepared(tiny_target) -> Prepared:
    return prepare(tiny_target, Settings(**QUICK).prepare_part())


def weights_of(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def test_training_learns_and_the_folder_says_how(tiny_target, tmp_path):
    path = save_npz(tmp_path / "made.npz", tiny_target)
    settings = Settings(**{**QUICK, "epochs": 40, "learning_rate": 0.01})
    love = train(path, settings, output=tmp_path / "model")
    report = json.loads((tmp_path / "model" / "report.json").read_text())
    losses = report["report"]["losses"]
    assert len(losses) == 40
    assert losses[-1] < 0.6 * losses[0]
    words, vectors = tiny_target
    cosine = (love.embed(words) * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).sum(axis=1)
    assert cosine.mean() > 0.6
    unseen = held_back(300, settings)
    assert cosine[unseen].mean() > 0.2
    assert report["report"]["score"]["words"] == len(unseen) == 15
    assert report["report"]["score"]["clean"]["cosine"] == pytest.approx(cosine[unseen].mean(), abs=1e-3)
    assert report["target"]["file"] == "made.npz"
    assert report["parameters"]["others"] == love.dim * (2 * love.dim + 2 * settings.key_width)
    found = {path.name for path in (tmp_path / "model").iterdir()}
    assert found == {"config.json", "model.safetensors", "tokenizer.json", "words.json", "README.md", "report.json"}
    card = (tmp_path / "model" / "README.md").read_text()
    assert "300 words, 16 dimensions" in card
    assert "never saw" in card
    again = LOVE.load(tmp_path / "model")
    assert np.array_equal(again.embed(words), love.embed(words))
    assert again.about["settings"] == settings.as_dict()


@pytest.mark.parametrize(
    "change",
    [
        *({"encoder": kind} for kind in ("authors", "attention", "cnn", "rnn", "sum")),
        *({"loss": kind} for kind in ("mse", "alignment")),
        *({"input": kind} for kind in ("chars", "pieces")),
        *({"shrink": kind, "keep": 150, "factor": 8} for kind in ("none", "top", "hash", "factor")),
        {"optimiser": "rows"},
        {"head": 8},
        {"precision": "bfloat16"},
        {"synonyms": 0, "negatives": 0, "hard_negatives": 0},
        {"schedule": "constant", "lowercase": False},
    ],
    ids=lambda change: " ".join(f"{key}={value}" for key, value in change.items()),
)
def test_every_choice_trains_saves_and_loads(tiny_target, tmp_path, change):
    settings = Settings(**{**QUICK, "epochs": 12, **change})
    love = train(tiny_target, settings, output=tmp_path / "m")
    losses = love.about["report"]["losses"]
    assert losses[-1] < losses[0]
    again = LOVE.load(tmp_path / "m")
    odd = ["", "never", "seen", "🙂"]
    np.testing.assert_allclose(again.embed(odd), love.embed(odd), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(again.embed(odd), axis=1), 1, atol=1e-5)


def test_the_seed_decides_and_global_generators_are_left_alone(prepared):
    before = torch.random.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
    first, second = (train(prepared, Settings(**QUICK)) for _ in range(2))
    other = train(prepared, Settings(**{**QUICK, "seed": 4}))
    for name, weight in first.parts.weights.items():
        assert np.array_equal(weight, second.parts.weights[name])
        assert not np.array_equal(weight, other.parts.weights[name])
    assert torch.equal(torch.random.get_rng_state(), before[0])
    assert random.getstate() == before[1]
    assert np.random.get_state()[1].tolist() == before[2]  # noqa: NPY002


def test_held_back_words_are_never_shown(prepared):
    settings = Settings(**QUICK)
    trainer = Trainer(prepared, settings, torch.device("cpu"), Group())
    hidden = set(trainer.held_back.tolist())
    assert len(hidden) == 15
    for batch in trainer.batches():
        assert not hidden & set(batch.words.tolist())
    assert not hidden & set(trainer.batches.augment.synonyms.indices.tolist())


class StopAt(Progress):
    """A progress display that presses Ctrl-C after so many updates."""

    def __init__(self, updates: int) -> None:
        super().__init__(quiet=True)
        self.left = updates

    def phase(self, name, *rest, **more):
        if name != "training":
            return super().phase(name, *rest, **more)
        return self._counting(name, *rest, **more)

    def _counting(self, name, *rest, **more):
        from contextlib import contextmanager

        @contextmanager
        def wrapped():
            with Progress.phase(self, name, *rest, **more) as phase:
                advance = phase.advance

                def counted(*given, **named):
                    advance(*given, **named)
                    self.left -= 1
                    if self.left == 0:
                        raise KeyboardInterrupt

                phase.advance = counted
                yield phase

        return wrapped()


@pytest.mark.parametrize("optimiser", ["adam", "rows"])
def test_a_run_stopped_twice_by_ctrl_c_ends_bit_equal(prepared, tmp_path, optimiser):
    settings = Settings(**QUICK, optimiser=optimiser)
    prepared.save(tmp_path / "prepared")
    train(tmp_path / "prepared", settings, output=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "prepared", settings, output=tmp_path / "cut", progress=StopAt(7))
    with pytest.raises(LovevecError, match="--resume"):
        train(tmp_path / "prepared", settings, output=tmp_path / "cut")
    with pytest.raises(KeyboardInterrupt):
        resume(tmp_path / "cut", StopAt(11))
    resume(tmp_path / "cut")
    assert weights_of(tmp_path / "cut") == weights_of(tmp_path / "whole")
    reports = [json.loads((tmp_path / name / "report.json").read_text())["report"] for name in ("whole", "cut")]
    assert reports[0]["losses"] == reports[1]["losses"]
    with pytest.raises(LovevecError, match="complete"):
        resume(tmp_path / "cut")


def test_a_run_with_a_vocabulary_file_goes_on_from_another_folder(tiny_target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("made.npy", tiny_target[1])
    Path("list.txt").write_text("\n".join(tiny_target[0]) + "\n")
    Path("vocab.txt").write_text("[PAD]\n" + "\n".join([*"abdefgiklmnoprstuvxhcy", "##ing", "##ed", "bro"]) + "\n")
    settings = Settings(**QUICK, vocabulary="vocab.txt", words="list.txt")
    with pytest.raises(KeyboardInterrupt):
        train("made.npy", settings, output="m", progress=StopAt(5))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    love = resume(tmp_path / "m")
    assert "##ing" in love.parts.units.vocabulary.units
    assert love.about["settings"]["vocabulary"] == "vocab.txt"
    assert str(tmp_path) not in (tmp_path / "m" / "config.json").read_text()


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "lovevec.train", *map(str, arguments)]


def test_kill_9_at_any_moment_loses_nothing(tiny_target, tmp_path):
    """Killed again and again, in preparation, training and saving, a run still ends bit-equal to one left alone."""
    path = save_npz(tmp_path / "made.npz", tiny_target)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in {**QUICK, "epochs": 60}.items()]
    flags.append("--checkpoint-minutes=0.001")
    subprocess.run(command(path, "-o", tmp_path / "whole", "-q", *flags), check=True)
    cut = tmp_path / "cut"
    rng = random.Random(0)
    kills = 0
    while not (cut / "config.json").exists() or (cut / "run.json").exists():
        again = ("--resume", cut) if (cut / "run.json").exists() else (path, "-o", cut, *flags)
        process = subprocess.Popen(command(*again, "-q"))
        try:
            code = process.wait(1.0 + 2.5 * rng.random() if kills < 6 else 120)
            assert code == 0
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    assert kills > 0
    assert weights_of(cut) == weights_of(tmp_path / "whole")
    with pytest.raises(LovevecError, match="complete"):
        resume(cut)
    assert {path.name for path in cut.iterdir()} == {path.name for path in (tmp_path / "whole").iterdir()}


def test_two_processes_make_the_model_of_one(prepared, tmp_path):
    prepared.save(tmp_path / "prepared")
    flags = ["--epochs=4", "--batch=33", "--dropout=0", "--holdout=0.05", "--device=cpu", "--seed=3", "-q"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(command(tmp_path / "prepared", "-o", tmp_path / "one", *flags), check=True, env=environment)
    launch = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node=2",
        "-m",
        "lovevec.train",
    ]
    subprocess.run(
        [*launch, str(tmp_path / "prepared"), "-o", str(tmp_path / "two"), *flags], check=True, env=environment
    )
    one, two = LOVE.load(tmp_path / "one"), LOVE.load(tmp_path / "two")
    assert two.about["report"]["processes"] == 2
    for name, weight in one.parts.weights.items():
        np.testing.assert_allclose(two.parts.weights[name], weight, atol=2e-3)
    cosine = (one.embed(one.words) * two.embed(one.words)).sum(axis=1)
    assert cosine.min() > 0.999


def test_prepared_folder_round_trip(prepared, tmp_path):
    prepared.save(tmp_path / "p")
    again = Prepared.load(tmp_path / "p")
    assert again.words == prepared.words
    assert np.array_equal(again.vectors, prepared.vectors)
    assert again.vocabulary == prepared.vocabulary
    assert np.array_equal(again.negatives, prepared.negatives)
    assert np.array_equal(again.synonyms.indices, prepared.synonyms.indices)
    assert (again.settings, again.target) == (prepared.settings, prepared.target)


def test_prepared_half_vectors_are_kept_as_halves(tiny_target, tmp_path):
    words, vectors = tiny_target
    half = vectors.astype(np.float16).astype(np.float32)
    settings = PrepareSettings(vocabulary_size=300, negatives=5)
    prepare((words, half), settings).save(tmp_path / "half")
    prepare((words, vectors), settings).save(tmp_path / "full")
    assert np.array_equal(Prepared.load(tmp_path / "half").vectors, half)
    sizes = [(tmp_path / name / "prepared.safetensors").stat().st_size for name in ("half", "full")]
    assert sizes[1] - sizes[0] == vectors.nbytes // 2


def test_characters_alone_need_no_rows_for_pieces(tiny_target):
    chars = prepare(tiny_target, PrepareSettings(input="chars", negatives=5))
    assert set(chars.vocabulary.units[5:]) == set("".join(tiny_target[0]))


def test_wrong_prepared_folders_are_refused(prepared, tmp_path):
    prepared.save(tmp_path / "p")
    (tmp_path / "p" / "prepared.safetensors").write_bytes(b"nothing")
    with pytest.raises(LovevecError, match="prepare again"):
        Prepared.load(tmp_path / "p")
    with pytest.raises(LovevecError, match="not a prepared folder"):
        Prepared.load(tmp_path)


def test_settings_that_preparation_fixed_cannot_change_later(prepared):
    with pytest.raises(LovevecError, match="--shrink: fixed when this target was prepared"):
        train(prepared, Settings(**{**QUICK, "shrink": "top"}))


def test_what_stands_in_the_output_folder_is_safe(tiny_target, tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "notes.txt").write_text("mine")
    train(tiny_target, Settings(**QUICK), output=tmp_path / "m")
    first = weights_of(tmp_path / "m")
    with pytest.raises(LovevecError, match="holds a model already"):
        train(tiny_target, Settings(**QUICK), output=tmp_path / "m")
    assert weights_of(tmp_path / "m") == first
    train(tiny_target, Settings(**{**QUICK, "seed": 8}), output=tmp_path / "m", overwrite=True)
    assert weights_of(tmp_path / "m") != first
    assert (tmp_path / "m" / "notes.txt").read_text() == "mine"


def test_a_loss_that_blows_up_is_said_in_words(prepared, tmp_path):
    with pytest.raises(LovevecError, match="lower --learning-rate"):
        train(prepared, Settings(**{**QUICK, "learning_rate": 1e30, "epochs": 30}), output=tmp_path / "m")
    assert not (tmp_path / "m" / "config.json").exists()


def test_a_device_that_is_not_there_is_refused(prepared):
    with pytest.raises(LovevecError, match="--device nowhere cannot be used here"):
        train(prepared, Settings(**{**QUICK, "device": "nowhere"}))


def test_two_words_are_enough():
    love = train((["cat", "dog"], np.eye(2, 4, dtype=np.float32)), Settings(**QUICK))
    assert love.embed(["cat", "dog"]).shape == (2, 4)
