"""Dependencies point one way, `import lovevec` is light, and inference knows no torch."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lovevec

SOURCE = Path(lovevec.__file__).parent
DESIGN = Path(__file__).parents[1] / "docs" / "design.md"
# From the top down: a module may import what stands on its own line or below, never above.
ORDER = [
    {"cli"},
    {"reproduce"},
    {"evaluate"},
    {"methods"},
    {"bulk", "plugins", "serve"},
    {"train"},
    {"love"},
    {"attach"},
    {"word_vectors"},
    {"explain", "texts", "transformer"},
    {"encoders", "vectors"},
    {"model"},
    {"near"},
    {"confidence", "damage", "engine"},
    {"figures", "units"},
    {"device", "errors", "files", "progress"},
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
PATHS = sorted(path for path in SOURCE.rglob("*.py"))


def module_of(path: Path) -> str:
    parts = ("lovevec", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in PATHS}


def part_of(module: str) -> str:
    return module.split(".")[1]


def imports_of(module: str) -> set[str]:
    """The modules of ours that one imports: at its top, inside functions, and for type checkers only."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "lovevec":
            inside = (f"{node.module}.{alias.name}" for alias in node.names)
            names |= {name if name in MODULES else node.module for name in inside}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name in MODULES}
    return names - {module, "lovevec"}  # of the package itself only its version is imported


DOORS = {"lovevec", "lovevec.__main__"}  # what lets people in; no part of the house imports it
GRAPH = {module: imports_of(module) for module in MODULES if module not in DOORS}


def test_every_part_has_its_place():
    assert {part_of(module) for module in GRAPH} == set(LEVEL)


@pytest.mark.parametrize("module", GRAPH)
def test_imports_point_down(module):
    above = {name for name in GRAPH[module] if LEVEL[part_of(name)] < LEVEL[part_of(module)]}
    assert not above, f"{module} imports {above} from above"


def test_no_module_imports_itself_by_way_of_others():
    """Inside folders too imports point one way."""
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join([*way[way.index(module) :], module])
        if module not in done:
            for name in sorted(GRAPH[module]):
                visit(name, (*way, module))
            done.add(module)

    for module in GRAPH:
        visit(module, ())


def test_the_design_page_shows_the_order():
    page = DESIGN.read_text("utf-8")
    shown = re.findall(r"^ *\d+ +((?:[a-z]+(?:\.py|/)(?: +|, )?)+)", page, flags=re.MULTILINE)
    layers = [set(re.findall(r"[a-z]+(?=\.py|/)", line)) for line in shown]
    assert layers == ORDER


def test_the_house_stays_small():
    """What a reader has to find the way in; more files want a reason."""
    assert len(PATHS) <= 266
    assert len(list(SOURCE.glob("*.py"))) <= 8
    assert len(ORDER) <= 14


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
    assert not loaded & {
        "torch",
        "rapidfuzz",
        "snowballstemmer",
        "gensim",
        "spacy",
        "sklearn",
        "transformers",
        "tokenizers",
    }


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
from tests.factories import toy_vectors, toy_words
from lovevec.train import PrepareSettings, prepare
words = toy_words(200)
settings = PrepareSettings(vocabulary_size=300, negatives=10)
prepare((words, toy_vectors(words, 8)), settings).save({str(tmp_path / "p")!r})
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
