"""Settings as flags: presets, and help on two levels, short and whole."""

from __future__ import annotations

import argparse
from dataclasses import fields

import pytest
from tests.command_line import run_here

from lovevec.cli import prepare as prepare_command
from lovevec.cli import train as train_command
from lovevec.cli.settings import chosen_settings, flag_of
from lovevec.errors import LovevecError
from lovevec.train.settings import PRESETS, PrepareSettings, Settings, TrainSettings, by_group
from lovevec_lab.methods.learned.learn import PRESETS as LEARNED


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    train_command.add_arguments(parser)
    return parser.parse_args(arguments)


def chosen(*arguments: str) -> Settings:
    return Settings(**chosen_settings(parsed("vectors.txt", "-o", "m", *arguments), Settings))


def test_each_preset_is_what_it_says():
    assert chosen() == chosen("--preset", "paper") == Settings()
    assert chosen("--preset", "recipe") == LEARNED["love-recipe"] != Settings()
    typos = chosen("--preset", "typos")
    assert typos == Settings(**PRESETS["typos"])
    assert typos.ngrams > LEARNED["love-recipe"].ngrams
    assert (typos.factor, typos.scan, typos.epochs) == (0, 0.4, 70)


def test_what_is_said_counts_more():
    said = chosen("--preset", "typos", "--epochs", "3", "--scan", "0")
    assert (said.epochs, said.scan, said.ngrams) == (3, 0.0, 30_000)


def test_a_resumed_run_has_its_settings_already():
    with pytest.raises(LovevecError, match="--resume takes the folder alone"):
        train_command.run(parsed("--resume", "m", "--preset", "typos"))


@pytest.mark.parametrize("setting", fields(Settings), ids=lambda setting: setting.name)
def test_every_setting_has_a_flag(setting):
    flag, default = flag_of(setting.name), setting.default
    other = (setting.metadata.get("choices") or [None])[-1]
    if default is None or isinstance(default, bool):
        assert getattr(chosen(f"--no{flag[1:]}"), setting.name) is False
        assert getattr(chosen(flag), setting.name) is True
    elif other is not None:
        assert chosen_settings(parsed("v", "-o", "m", flag, other), Settings) == {setting.name: other}
    elif isinstance(default, str):
        value = "de" if setting.name == "language" else "text"
        assert getattr(chosen(flag, value), setting.name) == value
    else:
        least = type(default)(setting.metadata["range"][0])
        value = chosen_settings(parsed("v", "-o", "m", flag, str(least)), Settings)[setting.name]
        assert (value, type(value)) == (least, type(default))


def help_of(command: str, flag: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", "100")
    done = run_here(command, flag)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode().splitlines()


COMMANDS = [("train", Settings), ("prepare", PrepareSettings)]


@pytest.mark.parametrize(("command", "kind"), COMMANDS)
def test_short_help_explains_eleven_settings_and_names_all_others(command, kind, monkeypatch):
    lines = help_of(command, "--help", monkeypatch)
    assert len(lines) <= 60
    words = " ".join(lines).replace(",", " ").split()
    explained = {line.split()[0].rstrip(",") for line in lines if line.startswith("  --")}
    for setting in fields(kind):
        flag = flag_of(setting.name)
        assert flag in words
        assert (flag in explained) == bool(setting.metadata.get("basic"))
    assert sum(bool(setting.metadata.get("basic")) for setting in fields(Settings)) + len(["--preset"]) == 11
    titles = [line.partition(":")[0].strip() for line in lines if line.startswith("  ") and ": --" in line]
    groups = {**by_group(PrepareSettings), **(by_group(TrainSettings) if kind is Settings else {})}
    assert titles == list(groups)


@pytest.mark.parametrize(("command", "kind"), COMMANDS)
def test_whole_help_explains_every_setting_in_its_group(command, kind, monkeypatch):
    lines = help_of(command, "--help-all", monkeypatch)
    whole = " ".join(" ".join(lines).split())
    for setting in fields(kind):
        assert (
            sum(line.split()[0].rstrip(",") == flag_of(setting.name) for line in lines if line.startswith("  --")) == 1
        )
        assert " ".join(setting.metadata["help"].split()) in whole
        if setting.default not in ("", None):
            assert f"(default {setting.default})" in whole
    groups = [group for base in (PrepareSettings, TrainSettings) if issubclass(kind, base) for group in by_group(base)]
    headings = [line.removesuffix(":") for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert [heading for heading in headings if heading in groups] == groups
    assert "more settings" not in whole


def test_groups_hold_each_setting_once():
    for kind in (PrepareSettings, TrainSettings):
        assert [setting.name for group in by_group(kind).values() for setting in group] == [
            setting.name for setting in fields(kind)
        ]
    assert list(by_group(TrainSettings)) == ["encoder", "loss", "augmentation", "run", "readings"]


def test_prepare_takes_what_concerns_it_from_a_preset():
    parser = argparse.ArgumentParser()
    prepare_command.add_arguments(parser)
    options = parser.parse_args(["v", "-o", "p", "--preset", "recipe", "--limit", "5"])
    assert chosen_settings(options, PrepareSettings) == {"ngrams": 15_000, "factor": 165, "negatives": 15, "limit": 5}
