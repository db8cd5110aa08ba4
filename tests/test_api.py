"""Every public name has a docstring and stands in docs/api.md; the page names nothing that is not there."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import lovevec
from lovevec import LOVE, Attached
from lovevec.explain import Explanation
from lovevec_lab.evaluate import Result

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text("utf-8")
CODE = " ".join(re.findall(r"`([^`\n]+)`", PAGE))
PACKAGES = ("lovevec", "lovevec.train", "lovevec_lab.evaluate", "lovevec.vectors", "lovevec.attach", "lovevec.bulk")
NAMES = [(package, name) for package in PACKAGES for name in import_module(package).__all__]
MEMBERS = [
    (kind, name)
    for kind in (LOVE, Attached, Result, Explanation)
    for name in vars(kind)
    if not name.startswith("_") and name not in getattr(kind, "__dataclass_fields__", {})
]


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_public_names_are_documented(package, name):
    public = getattr(import_module(package), name)
    assert re.search(rf"\b{name}\b", CODE), f"{package}.{name} is not in docs/api.md"
    assert isinstance(public, str) or inspect.getdoc(public), f"{package}.{name} has no docstring"


@pytest.mark.parametrize(("kind", "name"), MEMBERS, ids=lambda value: getattr(value, "__name__", value))
def test_members_of_public_classes_are_documented(kind, name):
    assert re.search(rf"\b{name}\b", CODE), f"{kind.__name__}.{name} is not in docs/api.md"
    assert inspect.getdoc(inspect.getattr_static(kind, name).__get__(None, kind)), f"{kind.__name__}.{name}"


def test_the_page_names_what_is_there():
    """Modules are looked for as files and their names in their source: no other library need be imported."""
    for path in re.findall(r"`(lovevec(?:\.\w+)+)", PAGE):
        parent, _, name = path.rpartition(".")
        source = source_of(parent)
        assert source_of(path) or (source and name in names_in(source)) or hasattr(import_module(parent), name), path


def source_of(module: str) -> Path | None:
    """The file of a module of ours."""
    package, *names = module.split(".")
    place = Path(import_module(package).__file__).parent.joinpath(*names)
    return next((file for file in (place / "__init__.py", place.with_suffix(".py")) if file.is_file()), None)


def names_in(source: Path) -> set[str]:
    """The functions, classes and variables of a module."""
    tree = ast.parse(source.read_text("utf-8"))
    named = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return named | {target.id for node in tree.body for target in ast.walk(node) if isinstance(target, ast.Name)}


def test_the_public_names_come_in_one_line():
    from lovevec import prepare, robustify, train

    assert callable(train)
    assert train.prepare is prepare
    assert callable(robustify)
    assert set(dir(lovevec)) == set(lovevec.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lovevec.nothing  # noqa: B018
