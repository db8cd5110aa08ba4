"""Packages of models as an installer leaves them, without installing: what Python reads of them is a folder of metadata
beside the package."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from tools.requirements import project_of

from lovevec.model.find import GROUP


def install_model(site: Path, name: str, package: str, model: Path | None) -> Path:
    """A package of this name with a model in it (None: without the package); the folder where its model is."""
    write_metadata(site, f"{package.replace(' ', '').replace('.', '_')}_{name}", {name: package})
    folder = site / package / name
    if model is not None:
        shutil.copytree(model, folder)
        (site / package / "__init__.py").write_text("raise SystemExit('a package of a model is not run')\n")
    return folder


def site_of(site: Path, packages: Sequence[Path]) -> None:
    """The metadata of packages that lie in the repository; their `src` folders must be on Python's path, too."""
    for folder in packages:
        write_metadata(site, folder.name.replace("-", "_"), project_of(folder)["entry-points"][GROUP])


def write_metadata(site: Path, distribution: str, models: dict[str, str]) -> None:
    """What says that a distribution is installed, and which models it has."""
    metadata = site / f"{distribution}-1.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1\n")
    lines = "".join(f"{name} = {value}\n" for name, value in models.items())
    (metadata / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}")
