"""Dependencies point one way, `import lovevec` is light, and inference knows no torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import lovevec

SOURCE = Path(lovevec.__file__).parent
# From the top down: a module may import what stands on its own line or below, never above.
ORDER = [
    {"cli"},
    {"reproduce"},
    {"evaluate"},
    {"methods"},
    {"plugins"},
    {"train"},
    {"love"},
    {"attach", "explain", "transformer"},
    {"damage", "vectors"},
    {"encoders"},
    {"model"},
    {"confidence", "engine"},
    {"figures", "units"},
    {"device", "errors", "files", "progress"},
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The lovevec parts that a file imports, at its top or inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "lovevec":
            names = node.module.split(".")[1:2]
            found |= set(names or (alias.name for alias in node.names))
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("lovevec.")}
    return found - {"__version__"}


FILES = sorted(path for path in SOURCE.rglob("*.py") if part_of(path) != "__init__")


def test_every_part_has_its_place():
    assert {part_of(path) for path in FILES} == set(LEVEL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path):
    wrong = {name for name in imported(path) if LEVEL[name] < LEVEL[part_of(path)]}
    assert not wrong, f"{path.relative_to(SOURCE)} imports {wrong} from above"


def modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(' '.join(sys.modules))"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_import_lovevec_loads_next_to_nothing():
    loaded = modules_after("import lovevec")
    assert not loaded & {"numpy", "torch", "tokenizers", "safetensors", "argparse"}


def test_inference_needs_numpy_and_safetensors_alone():
    loaded = modules_after("from lovevec import LOVE")
    assert not loaded & {"torch", "rapidfuzz", "snowballstemmer", "gensim", "tokenizers"}


def test_help_is_instant_because_it_loads_no_heavy_module():
    loaded = modules_after("from lovevec.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass")
    assert not loaded & {"numpy", "torch", "tokenizers", "safetensors"}
    loaded = modules_after(
        "from lovevec.cli import main\ntry:\n    main(['train', '--help'])\nexcept SystemExit:\n    pass"
    )
    assert "torch" not in loaded


def test_training_a_prepared_folder_needs_four_packages(tmp_path):
    """On a bare GPU machine: what only preparation needs refuses to be imported."""
    prepare = f"""
from tests.conftest import made_vectors, made_words
from lovevec.train import PrepareSettings, prepare
words = made_words(200)
settings = PrepareSettings(vocabulary_size=300, negatives=10)
prepare((words, made_vectors(words, 8)), settings).save({str(tmp_path / "p")!r})
"""
    subprocess.run([sys.executable, "-c", prepare], check=True)
    train = f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {{"rapidfuzz", "snowballstemmer", "gensim"}}:
            raise ImportError(f"{{name}} is not there")
sys.meta_path.insert(0, Refuse())
sys.argv = ["lovevec", "train", {str(tmp_path / "p")!r}, "-o", {str(tmp_path / "m")!r}, "--epochs", "2", "-q"]
sys.argv += ["--device", "cpu"]
import runpy
try:
    runpy.run_module("lovevec.cli", run_name="__main__")
except SystemExit as end:
    assert end.code == 0, end.code
assert not {{"rapidfuzz", "snowballstemmer", "gensim"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", train], check=True)
    assert (tmp_path / "m" / "config.json").is_file()
