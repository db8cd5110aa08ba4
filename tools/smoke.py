"""Does an installed lovevec work? Run by `make dist` and cibuildwheel in an environment that holds nothing else.

python tools/smoke.py --core       the wheel for a platform, with its compiled core
python tools/smoke.py --no-core    where the core was not built
python tools/smoke.py --lab        where the lab is installed too
python tools/smoke.py --model fr   where a language's model is installed too
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import lovevec
from lovevec import LOVE


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `lovevec …` as people run it."""
    program = shutil.which("lovevec", path=Path(sys.executable).parent)
    assert program is not None, "the command is not there"
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


def output_of(*arguments: str) -> str:
    """What `lovevec …` prints, when it ends well."""
    done = run(*arguments)
    assert done.returncode == 0, done
    return done.stdout


def check_library(has_core: bool) -> None:
    """The commands and the class, without torch and without the lab."""
    assert Path(sys.prefix) in Path(lovevec.__file__).parents, f"not the installed one: {lovevec.__file__}"
    assert (find_spec("lovevec._core") is not None) == has_core, "the compiled core"
    if has_core:
        import_module("lovevec._core")
    assert find_spec("torch") is None, "inference is to work without torch"
    assert find_spec("lovevec_lab") is None, "the library is to work without the lab"
    assert output_of("--version").split() == ["lovevec", lovevec.__version__]
    assert output_of("near", "-k", "1", "recieve").split("\t")[2].startswith("receive ")
    assert "lovevec" in output_of("completion", "bash")
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
    elsewhere = {"lovevec[train]": ["train", __file__, "-o", "x"], "lovevec-lab": ["evaluate", "speed"]}
    for package, arguments in elsewhere.items():
        done = run(*arguments)
        assert done.returncode == 2, done
        assert package in done.stderr, done
        assert done.stderr.count("\n") == 1, done


def check_lab() -> None:
    """Its two commands are there, and a task gives numbers."""
    assert "similarity" in output_of("evaluate", "--help")
    assert "intrinsic" in output_of("reproduce", "--help")
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.tsv"
        pairs.write_text("cat\tdog\t8\ncar\tcabbage\t1\nking\tqueen\t9\n", "utf-8")
        assert "default" in output_of("evaluate", "similarity", "default", "--set", str(pairs), "-q")


def check_model(name: str) -> None:
    """It is found by its name, in Python and by the commands; a damaged word of its own is read as that word."""
    love = LOVE.load(name)
    word = next(word for word in love.words if len(word) > 9 and word.isalpha())
    wrong = word[:4] + word[5:]
    assert love.near(wrong)[0][0] == word, (wrong, love.near(wrong))
    assert output_of("near", "-m", name, "-k", "1", wrong).split("\t")[2].startswith(word)
    assert output_of("info", name).split()[:2] == ["model", name]


def main() -> None:
    """Ends with an AssertionError, or says that it works."""
    kind, *model = sys.argv[1:]
    if kind == "--model":
        check_model(*model)
    elif kind == "--lab":
        check_lab()
    else:
        check_library(has_core=kind == "--core")
    names = {"--core": "lovevec", "--no-core": "lovevec without its core", "--lab": "lovevec with the lab"}
    name = names.get(kind) or f"the model {model[0]} with lovevec"
    print(f"{name} {lovevec.__version__} on Python {sys.version.split()[0]}, numpy {np.__version__}: works")


if __name__ == "__main__":
    main()
