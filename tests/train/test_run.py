"""Whole runs on small made-up targets: what comes out, and that stopping one loses nothing."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.command_line import run_here
from tests.factories import toy_words

from lovevec import LOVE
from lovevec.errors import LovevecError
from lovevec.files import Lock
from lovevec.files.checkpoints import CheckpointFolder
from lovevec.progress import Progress
from lovevec.train import Prepared, PrepareSettings, Settings, prepare, resume, train
from lovevec.train.group import Group
from lovevec.train.loop import Trainer, holdout_rows
from lovevec.train.prepared import settings_of
from lovevec.units.characters import normalise

QUICK = {"vocabulary_size": 400, "epochs": 4, "batch": 32, "negatives": 20, "holdout": 0.05, "device": "cpu", "seed": 3}


def save_npz(path: Path, target: tuple[list[str], np.ndarray]) -> Path:
    np.savez(path, words=np.array(target[0]), vectors=target[1])
    return path


@pytest.fixture(scope="module")
def prepared(tiny_target) -> Prepared:
    return prepare(tiny_target, Settings(**QUICK).prepare_part())


@pytest.fixture(scope="module")
def whole(tiny_target) -> dict[str, np.ndarray]:
    """The weights of a run that nobody stops."""
    return train(tiny_target, Settings(**QUICK)).parts.weights


def weights_of(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def test_a_mapped_target_of_float16_trains_the_same_model(tiny_target, tmp_path, monkeypatch):
    words, vectors = tiny_target
    half = vectors.astype(np.float16)
    np.savez(tmp_path / "made.npz", words=np.array(words), vectors=half.astype(np.float32))
    np.save(tmp_path / "made.npy", half)
    (tmp_path / "made.words.txt").write_text("\n".join(words) + "\n", "utf-8")
    train(tmp_path / "made.npz", QUICK, output=tmp_path / "read")
    monkeypatch.setattr("lovevec.vectors.LARGE_FILE", 1)
    assert isinstance(prepare(tmp_path / "made.npy", Settings(**QUICK).prepare_part()).vectors, np.memmap)
    train(tmp_path / "made.npy", QUICK, output=tmp_path / "mapped")
    prepare(tmp_path / "made.npy", Settings(**QUICK).prepare_part()).save(tmp_path / "prepared")
    train(tmp_path / "prepared", QUICK, output=tmp_path / "loaded")
    for name in ("model.safetensors", "rows.safetensors"):
        expected = (tmp_path / "read" / name).read_bytes()
        assert (tmp_path / "mapped" / name).read_bytes() == expected
        assert (tmp_path / "loaded" / name).read_bytes() == expected


def test_a_large_target_stays_in_files_and_trains_the_same_model(tiny_target, tmp_path, monkeypatch):
    path = save_npz(tmp_path / "made.npz", tiny_target)
    train(path, QUICK, output=tmp_path / "in-memory")
    monkeypatch.setattr("lovevec.vectors.LARGE_FILE", 1)
    monkeypatch.setattr("lovevec.train.prepared.LARGE_FILE", 1)
    seen = []
    begin = Trainer.__init__

    def watched(self: Trainer, prepared: Prepared, *rest: object) -> None:
        seen.append(prepared)
        begin(self, prepared, *rest)

    monkeypatch.setattr(Trainer, "__init__", watched)
    train(path, QUICK, output=tmp_path / "in-files")
    assert isinstance(seen[0].vectors, np.memmap)
    assert isinstance(seen[0].negatives, np.memmap)
    assert not seen[0].vectors.flags.writeable
    for name in ("model.safetensors", "rows.safetensors", "words.json"):
        assert (tmp_path / "in-files" / name).read_bytes() == (tmp_path / "in-memory" / name).read_bytes()
    assert sorted(one.name for one in (tmp_path / "in-files").iterdir()) == sorted(
        one.name for one in (tmp_path / "in-memory").iterdir()
    )


def test_vectors_in_memory_are_prepared_from_a_file_where_there_is_room(tiny_target, tmp_path, monkeypatch):
    settings = Settings(**QUICK).prepare_part()
    expected = prepare(tiny_target, settings, scratch=tmp_path)
    assert not isinstance(expected.vectors, np.memmap)  # small
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr("lovevec.train.prepared.LARGE_FILE", 1)
    found = prepare(tiny_target, settings, scratch=tmp_path)
    assert isinstance(found.vectors, np.memmap)
    np.testing.assert_array_equal(found.vectors, expected.vectors)
    np.testing.assert_array_equal(found.negatives, expected.negatives)


def test_what_is_prepared_is_a_file_of_safetensors(prepared, tmp_path):
    from safetensors.numpy import load_file

    prepared.save(tmp_path)
    found, size = load_file(tmp_path / "prepared.safetensors"), (tmp_path / "prepared.safetensors").stat().st_size
    np.testing.assert_array_equal(found["vectors"], prepared.vectors)
    np.testing.assert_array_equal(found["negatives"], prepared.negatives)
    np.testing.assert_array_equal(found["synonyms"], prepared.synonyms.values)
    assert found["words"].tobytes().decode() == "".join(prepared.words)
    assert 0 < size - sum(tensor.nbytes for tensor in found.values()) < 1000


def test_training_learns_and_the_folder_says_how(tiny_target, tmp_path):
    path = save_npz(tmp_path / "made.npz", tiny_target)
    settings = Settings(**{**QUICK, "epochs": 40, "learning_rate": 0.01})
    love = train(path, settings, output=tmp_path / "model")
    report = json.loads((tmp_path / "model" / "report.json").read_text())
    losses = report["report"]["losses"]
    assert len(losses) == 40
    assert losses[-1] < 0.6 * losses[0]
    words, vectors = tiny_target
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose((love.embed(words) * unit).sum(axis=1), 1, atol=1e-4)  # known words their own
    cosine = (love.impute(words) * unit).sum(axis=1)
    assert cosine.mean() > 0.6
    unseen = holdout_rows(300, settings.holdout, settings.seed)
    assert cosine[unseen].mean() > 0.2
    assert report["report"]["score"]["words"] == len(unseen) == 15
    assert report["report"]["score"]["clean"]["cosine"] == pytest.approx(cosine[unseen].mean(), abs=1e-3)
    assert report["target"]["file"] == "made.npz"
    assert report["parameters"]["others"] == love.dim * (2 * love.dim + 2 * settings.key_width)
    found = {path.name for path in (tmp_path / "model").iterdir()}
    files = {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "words.json",
        "rows.safetensors",
        "lexicon.safetensors",
    }
    assert found == files | {"README.md", "report.json"}
    card = (tmp_path / "model" / "README.md").read_text()
    assert "300 words, 16 dimensions" in card
    assert "never saw" in card
    again = LOVE.load(tmp_path / "model")
    assert np.array_equal(again.embed(words), love.embed(words))
    assert again.metadata["settings"] == {**settings.as_dict(), "lowercase": True}


@pytest.mark.parametrize(
    "change",
    [
        *({"encoder": kind} for kind in ("authors", "attention", "cnn", "rnn", "sum")),
        *({"loss": kind} for kind in ("mse", "alignment")),
        *({"input": kind} for kind in ("chars", "pieces")),
        *({"shrink": kind, "keep": 150, "factor": 8} for kind in ("none", "top", "hash", "factor")),
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
    losses = love.metadata["report"]["losses"]
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
    hidden = set(trainer.holdout.tolist())
    assert len(hidden) == 15
    for batch in trainer.batches():
        assert not hidden & set(batch.words.tolist())
    assert not hidden & set(trainer.batches.augment.synonyms.values.tolist())


class CtrlC(Progress):
    """A quiet progress display that presses Ctrl-C at the given time of training, in steps: 2.5 is inside the third."""

    def __init__(self, after: float) -> None:
        super().__init__(quiet=True)
        self.after = after

    @contextmanager
    def phase(self, name, *rest, **more):
        with super().phase(name, *rest, **more) as phase:
            if name == "training":
                advance, left = phase.advance, [self.after]

                def counted(*given, **named):
                    advance(*given, **named)
                    left[0] -= 1
                    if left[0] == 0:
                        os.kill(os.getpid(), signal.SIGINT)
                    elif 0 < left[0] < 1:
                        threading.Timer(0.002, os.kill, (os.getpid(), signal.SIGINT)).start()

                phase.advance = counted
            yield phase


def test_a_run_stopped_twice_by_ctrl_c_ends_bit_equal(prepared, tmp_path):
    settings = Settings(**QUICK)
    prepared.save(tmp_path / "prepared")
    train(tmp_path / "prepared", settings, output=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "prepared", settings, output=tmp_path / "cut", progress=CtrlC(7))
    with pytest.raises(LovevecError, match=r"go on with resume\('"):
        train(tmp_path / "prepared", settings, output=tmp_path / "cut")
    with pytest.raises(KeyboardInterrupt):
        resume(tmp_path / "cut", CtrlC(11.5))
    resume(tmp_path / "cut")
    assert weights_of(tmp_path / "cut") == weights_of(tmp_path / "whole")
    reports = [json.loads((tmp_path / name / "report.json").read_text())["report"] for name in ("whole", "cut")]
    assert reports[0]["losses"] == reports[1]["losses"]
    with pytest.raises(LovevecError, match="complete"):
        resume(tmp_path / "cut")


class SlowCtrlC(CtrlC):
    """The same, on a machine where everything but training takes 0.2 s longer."""

    @contextmanager
    def phase(self, name, *rest, **more):
        with super().phase(name, *rest, **more) as phase:
            if name != "training":
                time.sleep(0.2)
            yield phase


def test_the_times_of_a_stopped_run_add_up(tiny_target, tmp_path):
    """The report tells of all stretches together: each phase, training, and the total."""
    path, cut = save_npz(tmp_path / "made.npz", tiny_target), tmp_path / "cut"
    stretches = []
    kept = []
    for steps in (7, 11, 10_000):
        start = time.perf_counter()
        if steps == 10_000:
            resume(cut, SlowCtrlC(steps))
        else:
            with pytest.raises(KeyboardInterrupt):
                resume(cut, SlowCtrlC(steps)) if kept else train(
                    path, Settings(**QUICK), output=cut, progress=SlowCtrlC(steps)
                )
            kept.append(CheckpointFolder(cut / ".unfinished").load("seconds").values)
        stretches.append(time.perf_counter() - start)
    report = json.loads((cut / "report.json").read_text())["report"]["seconds"]
    early = {"reading", "vocabulary", "hard negatives", "saving"}
    assert early <= set(kept[0])
    assert {name: round(kept[0][name], 2) for name in early} == {name: report[name] for name in early}
    assert all(report[name] >= 0.2 for name in early)
    assert 0.2 * len(early) < kept[0]["total"] < kept[1]["total"] < report["total"]
    assert sum(value for name, value in report.items() if name != "total") <= report["total"] + 0.1
    assert kept[0]["total"] <= stretches[0]
    assert report["total"] <= sum(stretches)
    assert report["total"] >= kept[1]["total"] + 0.2  # what came last: scoring
    assert f"{report['training']:.0f} s on" in (cut / "README.md").read_text()


def test_a_display_that_serves_several_runs_reports_each_alone(tiny_target):
    progress = SlowCtrlC(10_000)
    reports = [train(tiny_target, Settings(**QUICK), progress=progress).metadata["report"] for _ in range(2)]
    assert all(0.2 <= report["seconds"]["hard negatives"] < report["seconds"]["total"] for report in reports)
    assert progress.seconds["hard negatives"] == pytest.approx(
        sum(report["seconds"]["hard negatives"] for report in reports), abs=0.02
    )


def test_a_run_with_a_vocabulary_file_goes_on_from_another_folder(tiny_target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("made.npy", tiny_target[1])
    Path("list.txt").write_text("\n".join(tiny_target[0]) + "\n")
    Path("vocab.txt").write_text("[PAD]\n" + "\n".join([*"abdefgiklmnoprstuvxhcy", "##ing", "##ed", "bro"]) + "\n")
    settings = Settings(**QUICK, vocabulary="vocab.txt", words="list.txt")
    with pytest.raises(KeyboardInterrupt):
        train("made.npy", settings, output="m", progress=CtrlC(5))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    love = resume(tmp_path / "m")
    assert "##ing" in love.parts.units.vocabulary.units
    assert love.metadata["settings"]["vocabulary"] == "vocab.txt"
    assert str(tmp_path) not in (tmp_path / "m" / "config.json").read_text()


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "lovevec.cli", "train", *map(str, arguments)]


@pytest.mark.slow
def test_kill_9_in_preparation_training_and_saving_loses_nothing(tiny_target, tmp_path):
    """Killed whenever the next file of a run appears, it still ends bit-equal to a run left alone."""
    path = save_npz(tmp_path / "made.npz", tiny_target)
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in {**QUICK, "epochs": 60}.items()]
    flags.append("--checkpoint-minutes=0.001")
    subprocess.run(command(path, "-o", tmp_path / "whole", "-q", *flags), check=True)
    cut = tmp_path / "cut"
    own = cut / ".unfinished"
    events = ["run.json", "prepared/prepared.safetensors", "prepared/prepared.json", "checkpoint.safetensors"]
    for event in [*(own / name for name in events), own / events[-1], cut / "model.safetensors"]:
        if (cut / "config.json").exists() and not (own / "run.json").exists():
            break  # the last kill came too late: the run was over
        begin = ("--resume", cut) if (own / "run.json").exists() else (path, "-o", cut, *flags)
        seen = event.stat().st_mtime_ns if event.exists() else 0
        process = subprocess.Popen(command(*begin, "-q"))
        while process.poll() is None and not (event.exists() and event.stat().st_mtime_ns > seen):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        assert process.wait() in (-signal.SIGKILL, 0)
    if (own / "run.json").exists():
        before = CheckpointFolder(own).load("seconds").values
        subprocess.run(command("--resume", cut, "-q"), check=True)
        seconds = json.loads((cut / "report.json").read_text())["report"]["seconds"]
        assert seconds["total"] > before["total"] > before["hard negatives"]
        assert seconds["hard negatives"] == round(before["hard negatives"], 2)
    assert weights_of(cut) == weights_of(tmp_path / "whole")
    with pytest.raises(LovevecError, match="complete"):
        resume(cut)
    assert {path.name for path in cut.iterdir()} == {path.name for path in (tmp_path / "whole").iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_at_the_command_line_stops_between_steps_and_says_how_to_go_on(prepared, tmp_path, number, code):
    prepared.save(tmp_path / "p")
    process = subprocess.Popen(
        command(tmp_path / "p", "-o", tmp_path / "m", "--epochs=5000", "--batch=32", "--checkpoint-minutes=0.0001"),
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "m" / ".unfinished" / "checkpoint.safetensors").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert "Traceback" not in errors
    assert f"go on with: lovevec train --resume {tmp_path / 'm'}\n" in errors
    assert errors.endswith("lovevec: stopped\n") == (number == signal.SIGINT)
    assert not (tmp_path / "m" / "config.json").exists()


@pytest.mark.slow
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
        "lovevec.cli",
        "train",
    ]
    subprocess.run(
        [*launch, str(tmp_path / "prepared"), "-o", str(tmp_path / "two"), *flags], check=True, env=environment
    )
    one, two = LOVE.load(tmp_path / "one"), LOVE.load(tmp_path / "two")
    assert two.metadata["report"]["processes"] == 2
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
    assert np.array_equal(again.synonyms.values, prepared.synonyms.values)
    assert np.array_equal(again.synonyms.offsets, prepared.synonyms.offsets)
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


@pytest.mark.parametrize("name", ["prepared.json", "prepared.safetensors", "tokenizer.json"])
def test_damaged_prepared_folders_are_refused(prepared, tmp_path, name):
    prepared.save(tmp_path / "p")
    good = (tmp_path / "p" / name).read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    for content in (b"", b"[]", b"{}", good[: len(good) // 2], bytes(flipped)):
        (tmp_path / "p" / name).write_bytes(content)
        with pytest.raises(LovevecError, match="prepare again") as found:
            Prepared.load(tmp_path / "p")
        assert "\n" not in str(found.value)


def test_no_flip_of_a_bit_of_prepared_json_is_accepted(prepared, tmp_path):
    prepared.save(tmp_path / "p")
    path = tmp_path / "p" / "prepared.json"
    good = path.read_bytes()
    for place in np.random.default_rng(0).integers(0, len(good), 400).tolist():
        flipped = bytearray(good)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(LovevecError, match="prepare again"):
            settings_of(tmp_path / "p")


def test_vectors_that_no_training_could_hold_are_refused_in_one_line(tmp_path):
    """Sixty words of 20,000 numbers are 5 MB; their encoder would be 13 GB."""
    with pytest.raises(LovevecError, match=r"have 20,000 dimensions, .* at most 16,384 can be learned"):
        prepare((toy_words(60), np.ones((60, 20_000), np.float32)))
    script = f"""
import resource
import numpy as np
from lovevec import LovevecError
from lovevec.train import Settings, train
from tests.factories import toy_words
import torch
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * 4096 + (1 << 30),) * 2)
try:
    wide = np.random.default_rng(0).normal(size=(60, 16_000)).astype(np.float32)
    train((toy_words(60), wide), Settings(negatives=5, device="cpu"), output={str(tmp_path / "m")!r})
except LovevecError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert re.match(
        r"not enough memory for this run: an encoder of 16,000 dimensions needs about \d+\.\d GB", done.stdout
    )
    assert not (tmp_path / "m").exists()


def test_of_long_words_preparation_sees_head_and_tail(tiny_target):
    words, vectors = tiny_target
    middle = ["x" * 5000, "y" * 300]
    long = [word + middle[place % 2] + word for place, word in enumerate(words[:40])]
    cut = [normalise(word) for word in long]
    settings = PrepareSettings(negatives=5, vocabulary_size=300)
    one, other = (prepare((some + words[40:], vectors), settings) for some in (long, cut))
    assert one.vocabulary == other.vocabulary
    np.testing.assert_array_equal(one.negatives, other.negatives)


def test_a_folder_that_was_not_prepared_is_refused(tmp_path):
    with pytest.raises(LovevecError, match="not a prepared folder"):
        Prepared.load(tmp_path)


def test_settings_that_preparation_fixed_cannot_change_later(prepared, tiny_target, tmp_path):
    with pytest.raises(LovevecError, match="shrink: fixed when this target was prepared"):
        train(prepared, Settings(**{**QUICK, "shrink": "top"}))
    prepare(tiny_target, PrepareSettings(vocabulary_size=300, negatives=5)).save(tmp_path / "p")
    said = run_here("train", tmp_path / "p", "-o", tmp_path / "m", "--negatives=100")
    assert said.returncode == 2
    assert b"--negatives: fixed" in said.stderr


def test_what_stands_in_the_output_folder_is_safe(tiny_target, tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "notes.txt").write_text("mine")
    train(tiny_target, Settings(**QUICK), output=tmp_path / "m")
    first = weights_of(tmp_path / "m")
    with pytest.raises(LovevecError, match=r"holds a model already; choose another folder, or overwrite=True$"):
        train(tiny_target, Settings(**QUICK), output=tmp_path / "m")
    path = save_npz(tmp_path / "made.npz", tiny_target)
    said = run_here("train", path, "-o", tmp_path / "m", "--device", "cpu").stderr.decode()
    assert said == f"lovevec: {tmp_path / 'm'}: holds a model already; choose another folder, or --overwrite\n"
    assert weights_of(tmp_path / "m") == first
    train(tiny_target, Settings(**{**QUICK, "seed": 8}), output=tmp_path / "m", overwrite=True)
    assert weights_of(tmp_path / "m") != first
    assert (tmp_path / "m" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("epochs", [1, 30])
def test_a_loss_that_blows_up_is_said_in_words_and_leaves_nothing(prepared, tmp_path, epochs):
    with pytest.raises(LovevecError, match="lower learning_rate"):
        train(prepared, Settings(**{**QUICK, "learning_rate": 1e38, "epochs": epochs}), output=tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_target_whose_vectors_all_point_one_way_is_learned_too(tiny_target):
    words, vectors = tiny_target
    love = train((words, vectors + 20), Settings(**{**QUICK, "epochs": 20, "learning_rate": 0.01}))
    assert love.metadata["report"]["losses"][0] > 1
    assert love.metadata["report"]["losses"][-1] < love.metadata["report"]["losses"][0]


def test_units_that_no_word_had_say_nothing(tiny_target):
    words, vectors = tiny_target
    love = train((words, vectors), Settings(**{**QUICK, "shrink": "none", "holdout": 0.3}))
    table, units = love.parts.weights["table"], love.parts.units
    silent = ~table.any(axis=1)
    assert silent[0]  # [PAD]
    unseen = holdout_rows(300, 0.3, QUICK["seed"])
    seen = units.encode([word for row, word in enumerate(words) if row not in set(unseen.tolist())]).values
    assert not silent[seen].any()
    assert silent.sum() > 5


def test_a_run_from_prepared_words_in_memory_can_be_resumed(prepared, whole, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(prepared, Settings(**QUICK), output=tmp_path / "cut", progress=CtrlC(4))
    for name, weight in resume(tmp_path / "cut").parts.weights.items():
        assert np.array_equal(weight, whole[name])


class StopBefore(Progress):
    """A quiet progress display that presses Ctrl-C when a phase begins."""

    def __init__(self, name: str) -> None:
        super().__init__(quiet=True)
        self.name = name

    def phase(self, name, *rest, **more):
        if name == self.name:
            raise KeyboardInterrupt
        return super().phase(name, *rest, **more)


@pytest.mark.parametrize("phase", ["vocabulary", "hard negatives", "training", "scoring"])
def test_ctrl_c_outside_of_training_can_be_resumed(tiny_target, whole, tmp_path, phase):
    path = save_npz(tmp_path / "made.npz", tiny_target)
    with pytest.raises(KeyboardInterrupt):
        train(path, Settings(**QUICK), output=tmp_path / "m", progress=StopBefore(phase))
    for name, weight in resume(tmp_path / "m").parts.weights.items():
        assert np.array_equal(weight, whole[name])


def test_files_of_others_are_never_touched(tiny_target, tmp_path):
    out = tmp_path / "job"
    prepare(tiny_target, PrepareSettings(vocabulary_size=300, negatives=5)).save(out / "prepared")
    (out / ".mine.1.tmp").write_text("mine")
    train(out / "prepared", Settings(**{**QUICK, "vocabulary_size": 300, "negatives": 5}), output=out)
    assert Prepared.load(out / "prepared").words == tiny_target[0]
    assert (out / ".mine.1.tmp").read_text() == "mine"
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "README.md").write_text("my project")
    with pytest.raises(LovevecError, match=r"holds README\.md"):
        train(tiny_target, Settings(**QUICK), output=tmp_path / "project")
    assert (tmp_path / "project" / "README.md").read_text() == "my project"
    assert [path.name for path in (tmp_path / "project").iterdir()] == ["README.md"]


@pytest.mark.parametrize("content", ["[]", "{}", "nonsense", '{"target": "x", "settings": null}', '{"target": 1}'])
def test_a_damaged_plan_is_one_error(tmp_path, content):
    (tmp_path / ".unfinished").mkdir()
    (tmp_path / ".unfinished" / "run.json").write_text(content)
    with pytest.raises(LovevecError, match="no run to resume here"):
        resume(tmp_path)


def test_a_damaged_checkpoint_is_one_error(prepared, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train(prepared, Settings(**QUICK), output=tmp_path / "m", progress=CtrlC(4))
    path = tmp_path / "m" / ".unfinished" / "checkpoint.safetensors"
    content = bytearray(path.read_bytes())
    content[-5] ^= 4
    for damaged in (bytes(content), bytes(content[:1000]), b""):
        path.write_bytes(damaged)
        with pytest.raises(LovevecError, match="delete it to begin again") as found:
            resume(tmp_path / "m")
        assert "\n" not in str(found.value)


def test_a_device_that_is_not_there_is_refused(prepared):
    there = torch.cuda.is_available()
    for name in ("nowhere", "meta", "cuda:99" if there else "cuda"):
        with pytest.raises(LovevecError, match=f"device {name} cannot be used here"):
            train(prepared, Settings(**{**QUICK, "device": name}))


def test_two_words_are_enough():
    love = train((["cat", "dog"], np.eye(2, 4, dtype=np.float32)), Settings(**QUICK))
    assert love.embed(["cat", "dog"]).shape == (2, 4)


def test_two_runs_do_not_share_an_output_folder(prepared, tmp_path):
    """Neither train nor resume begins where another process is at work; the model of the first is whole."""
    lock = Lock(tmp_path / "m")
    lock.take()
    with pytest.raises(LovevecError, match=r"m: another process .* is at work there"):
        train(prepared, Settings(epochs=1), output=tmp_path / "m", overwrite=True)
    assert [path.name for path in (tmp_path / "m").iterdir()] == [".lock"]
    lock.release()
    train(prepared, Settings(epochs=1), output=tmp_path / "m")
    assert not (tmp_path / "m" / ".lock").exists()
    assert LOVE.load(tmp_path / "m").dim == prepared.vectors.shape[1]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory as Linux has them")
def test_what_memory_has_no_room_for_is_said_in_a_line(tiny_target, tmp_path):
    path = save_npz(tmp_path / "t.npz", tiny_target)
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30)); "
    limited += "from lovevec.cli import main; sys.exit(main(sys.argv[1:]))"
    options = ["train", path, "-o", tmp_path / "m", "--ngrams", "90000000", "--epochs", "1", "--device", "cpu", "-q"]
    done = subprocess.run([sys.executable, "-c", limited, *map(str, options)], capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "not enough memory for this run" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "m").exists()


def test_a_model_of_nothing_but_zeros_is_an_error_and_leaves_no_folder(tmp_path):
    (tmp_path / "a.txt").write_text("2 3\na 1 2 3\nc 0 1 2\n")
    with pytest.raises(LovevecError, match="all zeros: nothing was learned from 2 words of 3 numbers"):
        train(tmp_path / "a.txt", {"epochs": 2, "device": "cpu"}, output=tmp_path / "m")
    assert not (tmp_path / "m").exists()
