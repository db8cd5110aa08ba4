"""Models that are trained once and kept: which folder counts as the one that is wanted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.methods.made_tables import made_table, table_of

from lovevec.errors import LovevecError
from lovevec.methods.learned.learn import PRESETS, TITLES, fingerprint, learn
from lovevec.progress import Progress
from lovevec.train import Settings

TARGET = made_table(150, 8)
WORDS = [*TARGET.words[:50], "unheardof"]


class Told(Progress):
    """Quiet, but remembers the phases and what was said; stops where it is told to."""

    def __init__(self, stop: str = "") -> None:
        super().__init__(quiet=True)
        self.said: list[str] = []
        self.phases: list[str] = []
        self.stop = stop

    def say(self, line: str) -> None:
        self.said.append(line)

    def phase(self, name, *rest, **more):
        self.phases.append(name)
        if name == self.stop:
            raise KeyboardInterrupt
        return super().phase(name, *rest, **more)


def learned(name: str, folder: Path | None, progress: Progress, seed: int = 0, target=TARGET):
    return learn(name, target, folder, device="cpu", seed=seed, quick=True, progress=progress)


def test_the_presets_are_the_papers():
    assert list(PRESETS) == list(TITLES)
    assert PRESETS["love"] == Settings()
    for name, settings in PRESETS.items():
        if name not in ("love", "love-recipe"):
            assert settings.augmentation == {**dict.fromkeys(settings.augmentation, 0.0), "none": 1.0}
            assert (settings.loss, settings.hard_negatives, settings.negatives, settings.synonyms) == ("mse", 0, 0, 0)


@pytest.mark.parametrize("name", PRESETS)
def test_trained_once_then_loaded(tmp_path, name):
    first, again = Told(), Told()
    model = learned(name, tmp_path, first)
    assert model.name == TITLES[name]
    assert "training" in first.phases
    assert sum(model.parameters) == sum(
        weight.size for key, weight in model.love.parts.weights.items() if "chances" not in key
    )
    stamp = (tmp_path / name / "config.json").stat().st_mtime_ns
    loaded = learned(name, tmp_path, again)
    assert not again.phases
    assert (tmp_path / name / "config.json").stat().st_mtime_ns == stamp
    np.testing.assert_allclose(loaded.embed(WORDS), model.embed(WORDS), atol=1e-6)
    assert loaded.love.metadata["target"]["name"] == "made"
    assert len(loaded.love.metadata["report"]["losses"]) == 3


def test_without_a_folder_it_is_trained_in_memory(tmp_path):
    model, kept = learned("bos", None, Told()), learned("bos", tmp_path, Told())
    assert np.array_equal(model.embed(WORDS), kept.embed(WORDS))


def test_another_seed_or_target_is_trained_again_and_said(tmp_path):
    first = learned("bos", tmp_path, Told()).embed(WORDS)
    other = table_of(TARGET.words, TARGET.vectors[::-1])
    for change in ({"seed": 1}, {"seed": 1, "target": other}):
        told = Told()
        assert not np.array_equal(learned("bos", tmp_path, told, **change).embed(WORDS), first)
        assert any("training again" in line for line in told.said)
    (tmp_path / "bos" / "config.json").write_text("{}")
    told = Told()
    assert np.array_equal(learned("bos", tmp_path, told).embed(WORDS), first)
    assert any("training again" in line for line in told.said)


def test_older_settings_that_lack_new_names_still_count(tmp_path):
    learned("bos", tmp_path, Told())
    from lovevec.model.folder import checksum_metadata

    path = tmp_path / "bos" / "config.json"
    config = json.loads(path.read_text())
    del config["settings"]["zipf"]
    config["checksum_metadata"] = checksum_metadata(config)
    path.write_text(json.dumps(config))
    told = Told()
    learned("bos", tmp_path, told)
    assert not told.phases


@pytest.mark.parametrize("stop", ["vocabulary", "training", "scoring"])
def test_a_stopped_run_is_gone_on_with(tmp_path, stop):
    with pytest.raises(KeyboardInterrupt):
        learned("kvq-fh", tmp_path, Told(stop))
    told = Told()
    model = learned("kvq-fh", tmp_path, told)
    assert ("vocabulary" in told.phases) == (stop == "vocabulary")
    assert np.array_equal(model.embed(WORDS), learned("kvq-fh", None, Told()).embed(WORDS))


def test_a_stopped_run_of_other_settings_is_begun_again(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        learned("bos", tmp_path, Told("scoring"))
    told = Told()
    learned("bos", tmp_path, told, seed=5)
    assert "vocabulary" in told.phases
    assert any("training again" in line for line in told.said)


def test_unknown_names_are_refused():
    with pytest.raises(LovevecError, match=r"choose one of love, .*mimick, bos, kvq-fh, pbos"):
        learned("bert", None, Told())


def test_a_table_and_its_lower_case_form_are_one_target():
    rows = np.arange(6, dtype=np.float32).reshape(3, 2)
    cased = table_of(["The", "the", "US"], rows)
    assert fingerprint(cased) == fingerprint(table_of(["the", "us"], rows[1:]))
    assert fingerprint(cased) != fingerprint(table_of(["the", "us"], rows[:2]))
    assert fingerprint(cased) != fingerprint(table_of(["the", "uk"], rows[1:]))
