"""`lovevec distill` and `lovevec train hf:…` as people run them."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields

import numpy as np
import pytest
from tests.factories import toy_words
from tests.transformer_factories import bert, save_transformer, wordpiece

from lovevec import LOVE
from lovevec.cli import main
from lovevec.cli.distill import add_arguments
from lovevec.train.target import load_target
from lovevec.transformer.distill_plan import POOLINGS, PRECISIONS, DistillSettings
from lovevec.vectors import read_vectors

QUICK = ["--epochs", "1", "--vocabulary-size", "300", "--negatives", "5", "--device", "cpu"]


pytestmark = pytest.mark.usefixtures("on_one_thread")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A cased BERT of two layers, and a text."""
    folder = tmp_path_factory.mktemp("distill")
    tokenizer = wordpiece(lowercase=False)
    save_transformer(folder / "tiny-bert", bert(tokenizer), tokenizer)
    bert(tokenizer).save_pretrained(folder / "mute")
    (folder / "empty.txt").touch()
    rng = np.random.default_rng(0)
    words = [*toy_words(400), "The", "Cat"]
    lines = [" ".join(rng.choice(words, 12).tolist()) for _ in range(3600)]
    (folder / "text.txt").write_text("\n".join(lines), "utf-8")
    (folder / "words.txt").write_text("The\nCat\r\nbritonk\n\nThe\n", "utf-8")
    return folder


@pytest.mark.slow
def test_kill_9_then_the_same_command_gives_the_file_of_one_run(folder, tmp_path, capfd):
    how = ["--most", "0", "--device", "cpu", "--batch", "512", "--checkpoint-minutes", "0"]
    command = ["distill", str(folder / "tiny-bert"), "--corpus", str(folder / "text.txt"), *how]
    one = {**os.environ, "OMP_NUM_THREADS": "1"}
    killed = tmp_path / "killed.npz"
    with subprocess.Popen([sys.executable, "-m", "lovevec.cli", *command, "-o", killed, "-q"], env=one) as process:
        while process.poll() is None and not (tmp_path / "killed.npz.parts" / "texts.safetensors").exists():
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not killed.exists()
    assert main([*command, "-o", str(killed)]) == 0
    out, shown = capfd.readouterr()
    assert out == ""
    for part in ("going on: ", "reading texts", "words complete", "402 words × 16, mean over 43,200 occurrences"):
        assert part in shown
    assert main([*command, "-o", str(tmp_path / "whole.npz"), "-q"]) == 0
    assert killed.read_bytes() == (tmp_path / "whole.npz").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["killed.npz", "whole.npz"]


@pytest.mark.slow
def test_words_from_a_list_and_text_from_a_pipe(program, folder, tmp_path):
    out = tmp_path / "d.vec"
    command = ["distill", folder / "tiny-bert", "--corpus", "-", "--words", folder / "words.txt", "-o", out]
    done = program(*command, "--device", "cpu", input=b"The Cat\nThe Cat")
    assert done.returncode == 0, done.stderr
    assert b"1 words never occur as one word: left out (britonk); --fill-missing takes them alone" in done.stderr
    assert read_vectors(out).words == ["The", "Cat"]
    assert os.listdir(tmp_path) == ["d.vec"]


def test_train_on_input_embeddings_and_on_distilled_ones_keeps_case(folder, tmp_path, capfd):
    target = f"hf:{folder / 'tiny-bert'}"
    assert main(["train", target, "-o", str(tmp_path / "input"), *QUICK]) == 0
    assert "tiny-bert is cased: words keep their case" in capfd.readouterr().err
    love = LOVE.load(tmp_path / "input")
    assert love.words == load_target(target, lowercase=False).words
    assert not np.allclose(love["Cat"], love["cat"])
    assert json.loads((tmp_path / "input" / "report.json").read_text())["target"]["file"] == "hf:tiny-bert"
    assert str(folder) not in (tmp_path / "input" / "config.json").read_text()

    words, out, prepared = (str(path) for path in (folder / "words.txt", tmp_path / "d.npz", tmp_path / "p"))
    assert main(["distill", target, "--single", "--words", words, "-o", out, "--device", "cpu", "-q"]) == 0
    assert main(["prepare", out, "-o", prepared, "--vocabulary-size", "100"]) == 0
    metadata = json.loads((tmp_path / "p" / "prepared.json").read_text())
    assert metadata["settings"]["lowercase"] is False
    assert metadata["target"]["made"]["model"] == "tiny-bert"
    assert metadata["words"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("./nowhere", "--single", "--words", "words.txt", "-o", "x.npz"), "./nowhere: no such folder"),
        (("tiny-bert", "-o", "x.npz"), "name the text to read with --corpus"),
        (("tiny-bert", "--corpus", "text.txt", "-o", "text.txt"), "text.txt: is the input too"),
        (("tiny-bert", "--corpus", "no.txt", "-o", "x.npz"), "no.txt: cannot be read"),
        (("tiny-bert", "--corpus", "empty.txt", "-o", "x.npz"), "the corpus is empty"),
        (("tiny-bert", "--corpus", "text.txt", "-o", "mute", "--overwrite"), "mute: is a folder; name a file"),
        (("tiny-bert", "--corpus", "text.txt", "-o", "x.xyz"), ".parquet, .jsonl, .ndjson\n"),
        (("tiny-bert", "--corpus", "text.txt", "-o", "no/x.npz"), "there is no folder no"),
        (("mute", "--corpus", "text.txt", "-o", "x.npz"), "mute: its tokenizer has no vocabulary"),
        (("tiny-bert", "--corpus", "text.txt", "--words", "no.txt", "-o", "x.npz"), "no.txt: no such file"),
        (
            ("tiny-bert", "--corpus", "text.txt", "--words", "words.txt", "--min-count", "2", "-o", "x.npz"),
            "--words and --min-count: name one of the two",
        ),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(folder, monkeypatch, capfd, arguments, message):
    monkeypatch.chdir(folder)
    before = sorted(os.listdir(folder))
    assert main(["distill", *arguments, "-q"]) == 2
    out, error = capfd.readouterr()
    assert out == ""
    assert message in error
    assert error.count("\n") == 1
    assert sorted(os.listdir(folder)) == before


def test_help_teaches_without_torch():
    code = (
        "import sys\nfrom lovevec.cli import main\n"
        "try:\n    main(['distill', '--help'])\nexcept SystemExit:\n    pass\n"
        "assert not {'numpy', 'torch', 'transformers'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for part in ("--fill-missing", "mean of the states of its pieces", "lovevec train distilled.npz -o my-love"):
        assert part in done.stdout


def test_the_defaults_that_help_names_are_those_of_the_settings():
    """Said twice, since --help is not to import numpy."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    usual = DistillSettings()
    told = {action.dest: action for action in parser._actions}
    for field in fields(usual):
        action, value = told[field.name], getattr(usual, field.name)
        assert action.default is None, "a flag that is not given leaves the setting alone"
        if "(default " in action.help and action.dest != "length":
            assert (
                f"(default {value:g})" in action.help
                if isinstance(value, float)
                else f"(default {value})" in action.help
            )
        if action.choices:
            assert tuple(action.choices) == {"pooling": POOLINGS, "precision": PRECISIONS}[action.dest]
