"""Does an installed lovevec work? Run by `make dist` in an environment that holds nothing else."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import lovevec
from lovevec import LOVE


def command(*arguments: str) -> str:
    """What `lovevec …` prints, run as people run it."""
    program = Path(sys.executable).with_name("lovevec")
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Ends with an AssertionError, or says that it works."""
    assert Path(sys.prefix) in Path(lovevec.__file__).parents, f"not the installed one: {lovevec.__file__}"
    assert find_spec("torch") is None, "inference is to work without torch"
    assert command("--version").split() == ["lovevec", lovevec.__version__]
    assert command("near", "-k", "1", "recieve").split("\t")[2].startswith("receive ")
    assert "complete -F _lovevec lovevec" in command("completion", "bash")
    for name, dim in (("default", 300), ("minilm-input", 384)):
        love = LOVE.load(name)
        vectors = love.embed(["oxgen", "", "🙂"])
        assert vectors.shape == (3, dim)
        assert np.isfinite(vectors).all()
        with tempfile.TemporaryDirectory() as folder:
            love.save(Path(folder) / "copy")
            assert np.array_equal(LOVE.load(Path(folder) / "copy").embed(["oxgen", "", "🙂"]), vectors)
    love = LOVE.load()
    words = love.words[:2000]
    own = love.embed(words)[:, :50]
    assert np.array_equal(love.attach(dict(zip(words, own, strict=True))).embed(words), own)
    said = subprocess.run(
        [sys.executable, "-m", "lovevec", "train", __file__, "-o", "x"], capture_output=True, text=True, check=False
    )
    assert said.returncode == 2, said
    assert "lovevec[train]" in said.stderr, said.stderr
    print(f"lovevec {lovevec.__version__} on Python {sys.version.split()[0]}, numpy {np.__version__}: works")


if __name__ == "__main__":
    main()
