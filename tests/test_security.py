"""What SECURITY.md promises and no other test shows: loading runs nothing, sends nothing, writes nothing."""

from __future__ import annotations

import ast
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lovevec
from lovevec import LOVE
from lovevec.errors import LovevecError
from lovevec.vectors import read_vectors

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "SECURITY.md"
# Names that turn data into running code.
DANGEROUS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "eval", "exec", "__import__"}
FLAGS = {"allow_pickle", "trust_remote_code"}


def test_every_promise_names_a_test_that_is_there():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE.read_text("utf-8"))
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ") and "tests/" in line]
    assert len(named) == len(rows) >= 12
    for file, name in named:
        functions = {node.name for node in ast.parse((ROOT / file).read_text("utf-8")).body if hasattr(node, "name")}
        assert name in functions, f"{file} has no {name}"


def dangerous(node: ast.AST) -> str | None:
    """What an expression or import has of ways to run data."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
        return next((name for name in names if name.split(".")[0] in DANGEROUS), None)
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Name) and function.id in DANGEROUS:
            return function.id
        if isinstance(function, ast.Attribute) and ast.unparse(function) in (
            "torch.load",
            "torch.jit.load",
            "os.system",
        ):
            return ast.unparse(function)
        for keyword in node.keywords:
            wrong = keyword.arg in FLAGS and not (
                isinstance(keyword.value, ast.Constant) and keyword.value.value is False
            )
            if wrong or (keyword.arg == "shell" and isinstance(keyword.value, ast.Constant) and keyword.value.value):
                return keyword.arg
    return None


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from pickle import loads",
        "eval(x)",
        "torch.load(f)",
        "np.load(f, allow_pickle=True)",
        "np.load(f, allow_pickle=flag)",
        "AutoModel.from_pretrained(x, trust_remote_code=True)",
        "subprocess.run(x, shell=True)",
    ],
)
def test_the_search_finds_what_it_looks_for(text):
    assert any(dangerous(node) for node in ast.walk(ast.parse(text)))


def test_no_source_file_knows_a_way_to_run_data():
    for path in Path(lovevec.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            assert dangerous(node) is None, f"{path}:{node.lineno}: {dangerous(node)}"


class Bomb:
    """What a pickle may do: run a command when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("name", ["x.pkl", "x.vec", "x.bin", "x.model", "x.npy", "x.npz", "x.safetensors", "x.txt"])
def test_pickles_are_refused_and_not_run(tmp_path, name):
    sign = tmp_path / "it ran"
    path = tmp_path / name
    if name in ("x.npy", "x.npz"):
        bomb = np.array([Bomb(sign)] * 2, dtype=object)
        with path.open("wb") as file:
            np.savez(file, vectors=bomb, words=bomb) if name == "x.npz" else np.save(file, bomb)
    else:
        path.write_bytes(pickle.dumps(Bomb(sign)))
    with pytest.raises(LovevecError, match=re.escape(name)):
        read_vectors(path)
    assert not sign.exists()


# Every event that Python reports while a model and vector files are loaded and used. Modules are imported before.
# (`compile` is not among them: numpy parses the head of an .npy as a literal, which runs nothing; an `exec` would.)
WATCH = """
import sys
import numpy as np
from lovevec import LOVE
from lovevec.vectors import read_vectors
model, *files = sys.argv[1:]
LOVE.load().near("recieve"), LOVE.load().attach(files[0]).embed(["wrod"])  # whatever is imported late
for file in files:
    read_vectors(file)
seen = []
def watch(event, given):
    if event == "open" and isinstance(given[0], (str, bytes)):
        mode, flags = given[1] or "", given[2] or 0
        if any(letter in mode for letter in "wax+") or flags & 0b11:
            seen.append((event, str(given[0])))
    elif event in ("exec", "import", "marshal.loads", "pickle.find_class", "os.system", "os.exec"):
        seen.append((event, str(given[0])[:200]))
    elif event.split(".")[0] in ("socket", "subprocess", "ctypes", "shutil") or event in (
        "os.fork", "os.posix_spawn", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.symlink"
    ):
        seen.append((event, str(given)[:200]))
sys.addaudithook(watch)
love = LOVE.load(model)
love.embed(["oxgen", ""])
love.neighbors("oxgen"), love.near("oxgen"), love.readings(["oxgen"])
for file in files:
    read_vectors(file)
    love.attach(file).embed(["wrod"])
found = list(seen)
print("\\n".join(f"{event}: {what}" for event, what in found))
"""


def test_loading_runs_nothing_starts_nothing_sends_nothing_writes_nothing(tmp_path):
    words = LOVE.load().words[:800]
    vectors = np.random.default_rng(0).normal(size=(800, 5)).astype(np.float32)
    text = "".join(f"{word} {' '.join(f'{x:.4f}' for x in row)}\n" for word, row in zip(words, vectors, strict=True))
    (tmp_path / "x.vec").write_text(f"800 5\n{text}")
    (tmp_path / "glove.txt").write_text(text)
    np.savez(tmp_path / "x.npz", words=np.array(words), vectors=vectors)
    rows = b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, vectors, strict=True))
    (tmp_path / "x.bin").write_bytes(b"800 5\n" + rows)
    model = Path(lovevec.__file__).parent / "model" / "shipped" / "default"
    files = [str(tmp_path / name) for name in ("x.vec", "glove.txt", "x.npz", "x.bin")]
    program = [sys.executable, "-c", WATCH, str(model), *files]
    done = subprocess.run(program, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
