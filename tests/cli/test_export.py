from __future__ import annotations

import numpy as np
import pytest

from lovevec import LOVE
from lovevec.cli import main


@pytest.mark.parametrize(("flags", "least"), [([], 0.999), (["--precision", "float16"], 0.99999)])
def test_the_small_model_gives_the_same_vectors(tiny_model, tmp_path, capsys, flags, least):
    assert main(["export", str(tiny_model), "-o", str(tmp_path / "small"), *flags]) == 0
    assert "MB as" in capsys.readouterr().err
    words = ["brick", "", "zürich", "trickster"]
    one, other = LOVE.load(tiny_model), LOVE.load(tmp_path / "small")
    assert ((one.embed(words) * other.embed(words)).sum(axis=1) > least).all()
    assert list(other.words) == list(one.words)
    assert np.array_equal(one.confidence(words), other.confidence(words), equal_nan=True) or flags == []


def test_a_model_that_is_there_stays_unless_asked(tiny_model, tmp_path, capsys):
    for _ in range(2):
        code = main(["export", str(tiny_model), "-o", str(tmp_path / "small")])
    assert code == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main(["export", str(tiny_model), "-o", str(tmp_path / "small"), "--overwrite"]) == 0


@pytest.mark.parametrize(
    "arguments", [("export", "-o"), ("export", "--onnx"), ("train", "t.txt", "-o"), ("embed", "a", "-m")]
)
def test_an_empty_name_is_no_file(program, tmp_path, monkeypatch, arguments):
    """It would be the working directory, whose README.md a model's would replace."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("a 1 2\nb 2 1\n")
    done = program(*arguments, "")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"is empty: name a file or a folder" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]
