"""What people install: the wheels and sdists of the library and the lab, and the lists of what comes along."""

from __future__ import annotations

import re
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from tools import audit, dist, licences
from tools.requirements import BUILDS, LAB, LIBRARY, LOCK, MODELS, PACKAGES, pins, project, stated, torch_version

import lovevec
import lovevec_lab

PYTHONS = [f"3.{minor}" for minor in range(10, 14)]
PINS = pins(LOCK.read_text("utf-8"))
PACKAGE = Path(lovevec.__file__).parent
SHIPPED_MODELS = [path.parent for path in (PACKAGE / "model" / "shipped").glob("*/config.json")]


def pinned(python: str, system: str = "linux") -> dict[str, str]:
    """Name and version of what the lock holds for a Python on a system."""
    there = {"python_version": python, "python_full_version": f"{python}.1", "sys_platform": system}
    there |= {"platform_system": system.title(), "os_name": "posix", "platform_machine": "x86_64"}
    there |= {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
    chosen = [pin for pin in PINS if pin.marker is None or pin.marker.evaluate(there)]
    assert len({pin.name for pin in chosen}) == len(chosen), "two versions of one package"
    return {pin.name: pin.version for pin in chosen}


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_fits_what_pyproject_states(python):
    """A change of pyproject.toml that the lock does not know of fails here: run `make lock`."""
    versions = pinned(python)
    for requirement in [*stated(), *stated("dev"), *stated("release"), *stated(package=LAB)]:
        name = canonicalize_name(requirement.name)
        if requirement.marker is not None and not requirement.marker.evaluate({"python_version": python}):
            continue
        version = torch_version() if name == "torch" else versions.get(name)
        assert version is not None, f"{name}: not in the lock; run make lock"
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement}: the lock has {version}"


def test_the_lock_has_hashes_and_names_no_place():
    text = LOCK.read_text("utf-8")
    assert len(PINS) == len(re.findall(r"^\w\S*==", text, flags=re.MULTILINE)) > 100
    assert all(pin.hashes for pin in PINS)
    assert not [pin.name for pin in PINS if BUILDS.fullmatch(pin.name)]
    assert not re.findall(r"https?:|file:|--index|--find|@ ", text)


def test_pythons_are_stated_alike_everywhere():
    classifiers = [line.split(" :: ")[-1] for line in project()["classifiers"] if "Python :: 3." in line]
    assert classifiers == PYTHONS
    for package in PACKAGES:
        assert SpecifierSet(project(package)["requires-python"]) == SpecifierSet(f">={PYTHONS[0]}")


def test_the_packages_have_one_version_and_one_licence():
    assert lovevec.__version__ == lovevec_lab.__version__
    assert len({(folder / "LICENSE").read_bytes() for folder in PACKAGES.values()}) == 1


def rows_of_licences() -> dict[str, tuple[str, str]]:
    lines = [line.strip("| ").split(" | ") for line in licences.PAGE.read_text("utf-8").splitlines() if "| " in line]
    return {name: (licence, by) for name, licence, by in lines[1:]}


def test_the_page_of_licences_has_every_package_of_the_lock():
    assert rows_of_licences().keys() - {"torch"} == pinned("3.11").keys(), "run make licences"


def test_licences_on_the_page_are_fit():
    for name, (licence, by) in rows_of_licences().items():
        licences.check(name, licence, licences.FOR_ALL if by == "lovevec" else licences.FOR_EXTRAS)


def test_licences_of_what_is_installed_here_are_fit():
    base = licences.closure(stated())
    assert {"numpy", "tokenizers", "safetensors"} <= base
    for name in base:
        licences.check(name, licences.licence_of(name), licences.FOR_ALL)
    for name in licences.closure([*stated("dev"), *stated(package=LAB)]):
        licences.check(name, licences.licence_of(name), licences.FOR_EXTRAS)


@pytest.mark.parametrize(
    ("licence", "fit"),
    [
        ("MIT", True),
        ("GPL-3.0-only OR MIT", True),
        ("MPL-2.0 AND MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("AGPL-3.0-or-later", False),
        ("LGPL-2.1-only", False),
        ("Proprietary", False),
        ("", False),
    ],
)
def test_a_licence_that_does_not_fit_is_refused(licence, fit):
    if fit:
        licences.check("x", licence, licences.FOR_ALL)
    else:
        with pytest.raises(licences.Unfit, match=r"^x: "):
            licences.check("x", licence, licences.FOR_ALL)


def test_findings_of_the_audit_are_told_and_silence_is_no_finding():
    """The format is that of pip-audit's JSON."""
    whole = {"name": "fine", "version": "1", "vulns": []}
    bad = {"name": "bad", "version": "2", "vulns": [{"id": "PYSEC-2020-1", "fix_versions": [], "aliases": ["CVE-1"]}]}
    skipped = {"name": "unseen", "skip_reason": "not found"}
    assert audit.findings([whole, bad, skipped], {}) == {"fine 1": [], "bad 2": ["PYSEC-2020-1"]}
    assert audit.findings([whole, bad], {"CVE-1": "why"}) == {"fine 1": [], "bad 2": []}
    assert audit.findings([skipped], {}) is None


def wheel_of(folder: Path, files: dict[str, str]) -> Path:
    """A wheel with the shipped models' files, empty, and these."""
    names = [f"lovevec/model/shipped/{path.name}/{name}" for path in SHIPPED_MODELS for name in dist.MODEL]
    names.append(f"lovevec/model/shipped/{dist.OF_DEFAULT}")
    with zipfile.ZipFile(folder / "lovevec-0-py3-none-any.whl", "w") as archive:
        for name, text in (dict.fromkeys(names, "") | files).items():
            archive.writestr(name, text)
    return folder / "lovevec-0-py3-none-any.whl"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lovevec_lab/__init__.py", ""),
        ("tests/test_love.py", ""),
        ("lovevec/methods/kvq_fh.py", "SIZE = 1"),
        ("lovevec/reproduce/published.py", "TABLE = {}"),
        ("lovevec/train/loop.py", "from lovevec_lab.methods import rivals"),
        ("lovevec/love.py", "# MIMICK: a BiLSTM over characters"),
    ],
)
def test_a_wheel_that_holds_anything_of_the_lab_is_refused(tmp_path, name, text):
    dist.check_wheel(wheel_of(tmp_path, {"lovevec/love.py": "class LOVE: ..."}))
    with pytest.raises(SystemExit, match=re.escape(name)):
        dist.check_wheel(wheel_of(tmp_path, {name: text}))


def test_the_library_holds_no_rival_and_no_paper(tmp_path):
    """The sources as they are: what goes into the wheel."""
    paths = [path for path in PACKAGE.rglob("*.*") if path.suffix in {".py", ".js", ".html", ".css", ".json"}]
    files = {f"lovevec/{path.relative_to(PACKAGE).as_posix()}": path.read_text("utf-8") for path in paths}
    dist.check_wheel(wheel_of(tmp_path, {name: text for name, text in files.items() if "/shipped/" not in name}))


def model_wheel(folder: Path, files: dict[str, bytes]) -> Path:
    """A wheel of a model, its files empty, and these."""
    names = [*(f"lovevec_xx/xx/{name}" for name in dist.OF_LANGUAGE), "lovevec_xx/__init__.py"]
    about = {
        "lovevec_xx-1.dist-info/entry_points.txt": b"[lovevec.models]\nxx = lovevec_xx\n",
        "lovevec_xx-1.dist-info/licenses/LICENSE": b"MIT",
    }
    path = folder / "lovevec_xx-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (dict.fromkeys(names, b"") | about | files).items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"lovevec_xx/more.py": b""}, r"more\.py"),
        ({"lovevec_xx/xx/rows.safetensors": b"\0" * (dist.MOST_BYTES + 1)}, "15,000,001 bytes"),
        ({"lovevec_xx-1.dist-info/entry_points.txt": b"[lovevec.models]\nyy = lovevec_xx\n"}, "yy"),
    ],
)
def test_a_model_that_is_large_or_brings_code_is_refused(tmp_path, files, problem):
    dist.check_model(model_wheel(tmp_path, {}))
    with pytest.raises(SystemExit, match=problem):
        dist.check_model(model_wheel(tmp_path, files))


@pytest.mark.slow
@pytest.mark.skipif(find_spec("build") is None or find_spec("hatchling") is None, reason="build, hatchling missing")
def test_two_builds_have_equal_bytes(tmp_path):
    """And the library's wheel, which is built from its sdist, holds the models and nothing of the lab; its sdist holds
    what its tests need; the lab's wheel holds the lab alone, a model's its folder and its licence."""
    files = dist.build_twice(tmp_path, "1700000000")
    assert len(files) == 2 * (2 + len(MODELS))
    for package in MODELS:
        dist.check_model(dist.file_of(files, package, ".whl"))
    wheel, source = (dist.file_of(files, LIBRARY, suffix) for suffix in (".whl", ".gz"))
    dist.check_wheel(wheel)
    assert {entry.date_time for entry in zipfile.ZipFile(wheel).infolist()} == {(2023, 11, 14, 22, 13, 20)}
    with tarfile.open(source) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {"tests/test_dist.py", "docs/design.md", "requirements/dev.lock", "Makefile", "SECURITY.md"} <= names
    names = set(zipfile.ZipFile(dist.file_of(files, LAB, ".whl")).namelist())
    assert {name.split("/")[0].split("-")[0] for name in names} == {"lovevec_lab"}
    assert {"lovevec_lab/evaluate/__init__.py", "lovevec_lab/reproduce/published.py"} <= names
