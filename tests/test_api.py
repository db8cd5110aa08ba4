"""Every public name has a docstring and stands in docs/api.md; the page names nothing that is not there."""

from __future__ import annotations

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
    for path in re.findall(r"`(lovevec(?:\.\w+)+)", PAGE):
        parent, _, name = path.rpartition(".")
        try:
            import_module(path)
        except ModuleNotFoundError:
            assert hasattr(import_module(parent), name), path


def test_the_public_names_come_in_one_line():
    from lovevec import prepare, robustify, train

    assert callable(train)
    assert train.prepare is prepare
    assert callable(robustify)
    assert set(dir(lovevec)) == set(lovevec.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lovevec.nothing  # noqa: B018
