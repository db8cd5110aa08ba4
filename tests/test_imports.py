"""Dependencies point one way, `import lovevec` is light, and inference knows no torch."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

import lovevec
import lovevec_lab
from tests.factories import toy_vectors, toy_words

DESIGN = Path(__file__).parents[1] / "docs" / "design.md"


@dataclass(frozen=True)
class House:
    """A package, and its parts from the top down: a module may import what stands on its own line or below."""

    package: ModuleType
    order: Sequence[set[str]]

    @property
    def name(self) -> str:
        return self.package.__name__

    @property
    def paths(self) -> dict[str, Path]:
        """The file of each module, but for the package's own `__init__` and `__main__`, which no part imports."""
        folder = Path(str(self.package.__file__)).parent
        names = {path: (self.name, *path.relative_to(folder).with_suffix("").parts) for path in folder.rglob("*.py")}
        paths = {".".join(parts).removesuffix(".__init__"): path for path, parts in sorted(names.items())}
        return {name: path for name, path in paths.items() if name not in {self.name, f"{self.name}.__main__"}}

    def level(self, module: str) -> int:
        return next(level for level, parts in enumerate(self.order) if module.split(".")[1] in parts)


LIBRARY = House(
    lovevec,
    [
        {"cli"},
        {"bulk", "plugins", "serve"},
        {"train"},
        {"love"},
        {"search"},
        {"attach", "explain", "learn", "own_words"},
        {"word_vectors"},
        {"texts", "transformer"},
        {"encoders", "vectors"},
        {"model"},
        {"near"},
        {"confidence", "damage", "engine"},
        {"figures", "units"},
        {"arguments", "device", "errors", "files", "locks", "progress", "room"},
    ],
)
LAB = House(lovevec_lab, [{"cli"}, {"reproduce"}, {"evaluate"}, {"methods"}, {"figures"}])
HOUSES = [LIBRARY, LAB]
PATHS = {module: path for house in HOUSES for module, path in house.paths.items()}


def imports_of(path: Path) -> set[str]:
    """The modules of both packages that a file imports: at its top, inside functions, and for type checkers only."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            inside = (f"{node.module}.{alias.name}" for alias in node.names)
            names |= {name if name in PATHS else node.module for name in inside}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name for name in names if name.split(".")[0] in {house.name for house in HOUSES}}


GRAPH = {module: imports_of(path) - {module} for module, path in PATHS.items()}


@pytest.mark.parametrize("house", HOUSES, ids=lambda house: house.name)
def test_every_part_has_its_place(house):
    assert {module.split(".")[1] for module in house.paths} == set().union(*house.order)


def test_the_library_never_imports_the_lab():
    doors = [Path(str(lovevec.__file__)), Path(str(lovevec.__file__)).with_name("__main__.py")]
    imports = {str(path): imports_of(path) for path in [*LIBRARY.paths.values(), *doors]}
    assert not {path for path, names in imports.items() if any(name.startswith("lovevec_lab") for name in names)}


@pytest.mark.parametrize("house", HOUSES, ids=lambda house: house.name)
def test_imports_point_down(house):
    above = {
        (module, name)
        for module in house.paths
        for name in GRAPH[module] & house.paths.keys()
        if house.level(name) < house.level(module)
    }
    assert not above


def test_no_module_imports_itself_by_way_of_others():
    """Inside folders too imports point one way."""
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join([*way[way.index(module) :], module])
        if module not in done:
            for name in sorted(GRAPH[module] & GRAPH.keys()):
                visit(name, (*way, module))
            done.add(module)

    for module in GRAPH:
        visit(module, ())


@pytest.mark.parametrize("house", HOUSES, ids=lambda house: house.name)
def test_the_design_page_shows_the_order(house):
    """Behind the package's folder and a colon, a list: a number, the folders and files of a line, what they hold."""
    page = DESIGN.read_text("utf-8").split(f"/{house.name}`:")[1].split("\n\n    ")[1].split("\n\n")[0]
    parts = re.findall(r"^ *\d+ +((?:[a-z_]+(?:\.py|/)(?: +|, )?)+)", page, flags=re.MULTILINE)
    assert [set(re.findall(r"[a-z_]+(?=\.py|/)", line)) for line in parts] == list(house.order)


def test_the_design_page_names_files_that_are_there():
    """In the table of ideas: every path of a file or folder, from the package's folder on."""
    table = DESIGN.read_text("utf-8").split("## Where the paper's ideas are")[1].split("\n## ")[0]
    rows = [row.split("|") for row in table.splitlines() if row.startswith("| ") and "`" in row]
    assert len(rows) > 20
    for _, idea, library, lab, _ in rows:
        for text, house in ((library, LIBRARY), (lab, LAB)):
            folder = Path(str(house.package.__file__)).parent
            for name in re.findall(r"`([a-z_/0-9]+(?:\.py|\.js|/))`", text):
                assert (folder / name).exists(), f"{idea}: {name}"


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
    from lovevec.train import PrepareSettings, prepare

    words = toy_words(200)
    settings = PrepareSettings(vocabulary_size=300, negatives=10)
    prepare((words, toy_vectors(words, 8)), settings).save(tmp_path / "p")
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
