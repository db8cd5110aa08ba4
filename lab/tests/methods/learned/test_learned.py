"""Models that are trained once and kept: which folder counts as the one that is wanted."""

from __future__ import annotations

import json
import os
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from lab_factories import stem_table, word_table

from lovevec.errors import LovevecError
from lovevec.progress import Progress
from lovevec.train import Settings
from lovevec_lab.methods.learned.learn import PRESETS, TITLES, fingerprint, learn, rival_class
from lovevec_lab.methods.love import LoveMethod

TARGET = stem_table(150, 8)
WORDS = [*TARGET.words[:50], "unheardof"]


class Told(Progress):
    """Quiet, but remembers the phases and what was said; stops in the phase `stop`, or presses Ctrl-C in the step
    `press` of training."""

    def __init__(self, stop: str = "", press: int = 0) -> None:
        super().__init__(quiet=True)
        self.said: list[str] = []
        self.phases: list[str] = []
        self.stop, self.press = stop, press

    def say(self, line: str) -> None:
        self.said.append(line)

    @contextmanager
    def phase(self, name, *rest, **more):
        self.phases.append(name)
        if name == self.stop:
            raise KeyboardInterrupt
        with super().phase(name, *rest, **more) as phase:
            advance = phase.advance

            def pressed(*given, **named):
                advance(*given, **named)
                self.press -= name == "training"
                if name == "training" and self.press == 0:
                    os.kill(os.getpid(), signal.SIGINT)

            phase.advance = pressed
            yield phase


def learned(name: str, folder: Path | None, progress: Progress, seed: int = 0, target=TARGET):
    return learn(name, target, folder, device="cpu", seed=seed, quick=True, progress=progress)


def test_names_are_those_of_the_papers():
    assert PRESETS["love"] == Settings()
    for name, title in TITLES.items():
        assert name in PRESETS or rival_class(name).name == title


@pytest.mark.parametrize("name", TITLES)
def test_trained_once_then_loaded(tmp_path, name):
    first, again = Told(), Told()
    model = learned(name, tmp_path, first)
    assert model.name == TITLES[name]
    assert model.words == TARGET.words
    assert "training" in first.phases
    file = tmp_path / name / ("config.json" if name in PRESETS else "rival.json")
    stamp = file.stat().st_mtime_ns
    loaded = learned(name, tmp_path, again)
    assert not again.phases
    assert file.stat().st_mtime_ns == stamp
    assert (loaded.name, loaded.parameters) == (model.name, model.parameters)
    np.testing.assert_allclose(loaded.embed(WORDS), model.embed(WORDS), atol=1e-6)
    metadata = loaded.love.metadata if isinstance(loaded, LoveMethod) else loaded.metadata
    assert metadata["target"]["name"] == "made"
    assert len(metadata.get("report", metadata)["losses"]) == 3
    assert not list((tmp_path / name).glob(".*"))


def test_without_a_folder_it_is_trained_in_memory(tmp_path):
    model, kept = learned("bos", None, Told()), learned("bos", tmp_path, Told())
    assert np.array_equal(model.embed(WORDS), kept.embed(WORDS))


def test_another_seed_or_target_is_trained_again_and_said(tmp_path):
    first = learned("bos", tmp_path, Told()).embed(WORDS)
    other = word_table(TARGET.words, TARGET.vectors[::-1])
    for change in ({"seed": 1}, {"seed": 1, "target": other}):
        told = Told()
        assert not np.array_equal(learned("bos", tmp_path, told, **change).embed(WORDS), first)
        assert any("training again" in line for line in told.said)
    (tmp_path / "bos" / "rival.json").write_text("{}")
    told = Told()
    assert np.array_equal(learned("bos", tmp_path, told).embed(WORDS), first)
    assert any("training again" in line for line in told.said)


def test_older_settings_that_lack_new_names_or_have_old_ones_still_count(tmp_path):
    learned("love", tmp_path, Told())
    from lovevec.model.validation import checksums

    path = tmp_path / "love" / "config.json"
    config = json.loads(path.read_text())
    del config["settings"]["twice"]
    config["settings"] |= {"zipf": 0.0, "optimiser": "adam", "hashes": 1}
    config["checksum_metadata"] = checksums(config)["checksum_metadata"]
    path.write_text(json.dumps(config))
    told = Told()
    learned("love", tmp_path, told)
    assert not told.phases


@pytest.mark.parametrize("stop", ["vocabulary", "training", "scoring"])
def test_a_stopped_run_of_love_is_gone_on_with(tmp_path, stop):
    with pytest.raises(KeyboardInterrupt):
        learned("love", tmp_path, Told(stop))
    told = Told()
    model = learned("love", tmp_path, told)
    assert ("vocabulary" in told.phases) == (stop == "vocabulary")
    assert np.array_equal(model.embed(WORDS), learned("love", None, Told()).embed(WORDS))


@pytest.mark.parametrize("name", ["mimick", "bos", "kvq-fh", "pbos"])
def test_a_rival_stopped_by_ctrl_c_ends_bit_equal(tmp_path, name):
    told = Told(press=2)
    with pytest.raises(KeyboardInterrupt):
        learned(name, tmp_path, told)
    assert told.said == [f"{TITLES[name]}: stopped in epoch 2; the same command goes on from there"]
    assert not (tmp_path / name / "rival.json").exists()
    told = Told()
    model = learned(name, tmp_path, told)
    assert any("going on from step 2 of 3" in line for line in told.said)
    whole = learned(name, None, Told())
    assert np.array_equal(model.embed(WORDS), whole.embed(WORDS))
    assert model.metadata["losses"] == whole.metadata["losses"]


def test_a_stopped_run_of_other_settings_is_begun_again(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        learned("bos", tmp_path, Told(press=1))
    told = Told()
    learned("bos", tmp_path, told, seed=5)
    assert not any("going on" in line for line in told.said)
    assert any("training again" in line for line in told.said)


def test_one_word_is_too_few():
    with pytest.raises(LovevecError, match="made: has one word"):
        learned("bos", None, Told(), target=word_table(["alone"]))


def test_unknown_names_are_refused():
    with pytest.raises(LovevecError, match=r"choose one of love, .*mimick, bos, kvq-fh, pbos"):
        learned("bert", None, Told())


def test_a_table_and_its_lower_case_form_are_one_target():
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    cased = word_table(["The", "the", "US"], rows)
    assert fingerprint(cased) == fingerprint(word_table(["the", "us"], rows[1:]))
    assert fingerprint(cased) != fingerprint(word_table(["the", "us"], rows[:2]))
    assert fingerprint(cased) != fingerprint(word_table(["the", "uk"], rows[1:]))
