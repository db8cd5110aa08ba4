"""`make dist`: wheel and sdist into dist/, proved to be reproducible and to work, with a list of what comes along.

1. Everything that git tracks is copied to two folders with different permissions and built in each. Dates are those of
   the commit (SOURCE_DATE_EPOCH). The two wheels have equal bytes, the two sdists too.
2. The wheel holds every shipped model.
3. Each of the two files is installed into an empty environment, where tools/smoke.py runs.
4. The packages in the wheel's environment, lovevec and what it needs without extras, go into a CycloneDX file.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

from packaging.utils import canonicalize_name
from tools.requirements import ROOT, stated

MODEL = ("config.json", "model.safetensors", "tokenizer.json", "words.json", "rows.safetensors", "README.md")
SHIPPED = "src/lovevec/model/shipped"


def tracked() -> list[Path]:
    """What git tracks, in a clone; in an unpacked sdist, everything."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
        return [Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]
    return [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def date_of_commit() -> str:
    """SOURCE_DATE_EPOCH: as it is set, or else the date of the last commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return (
        given
        or subprocess.run(
            ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, check=True, text=True
        ).stdout.strip()
    )


def build(folder: Path, mode: int, date: str) -> list[Path]:
    """A fresh copy of the sources with these permissions, built; the files that came out."""
    source, output = folder / "source", folder / "dist"
    for path in tracked():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, source / path)
        (source / path).chmod(mode)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": date, "PYTHONHASHSEED": str(mode)}
    program = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(output), str(source)]
    subprocess.run(program, check=True, env=environment, stdout=subprocess.DEVNULL)
    return sorted(output.iterdir())


def built_twice(folder: Path, date: str) -> list[Path]:
    """Wheel and sdist, built in two places; refused if a byte differs."""
    first = build(folder / "one", 0o644, date)
    second = build(folder / "two" / "elsewhere", 0o600, date)
    assert [path.name for path in first] == [path.name for path in second]
    for one, other in zip(first, second, strict=True):
        if sha256(one) != sha256(other):
            raise SystemExit(f"{one.name}: two builds differ")
    return first


def sha256(path: Path) -> str:
    """The file's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def refuse_without_models(wheel: Path) -> None:
    """Every shipped model is in the wheel, whole; nothing but the package and its metadata is."""
    names = set(zipfile.ZipFile(wheel).namelist())
    models = [path.name for path in (ROOT / SHIPPED).iterdir() if (path / "config.json").is_file()]
    missing = {f"lovevec/model/shipped/{model}/{name}" for model in models for name in MODEL} - names
    strange = {name for name in names if not name.startswith(("lovevec/", "lovevec-")) or "__pycache__" in name}
    if missing or strange or not models:
        raise SystemExit(f"{wheel.name}: lacks {sorted(missing)}, holds {sorted(strange)}")


def install(file: Path, folder: Path) -> Path:
    """An environment with this file and what it needs, nothing else; its Python."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", str(file)], check=True)
    return python


def smoke(python: Path, folder: Path) -> None:
    """Run tools/smoke.py there, with nothing of ours in reach."""
    subprocess.run([python, "-I", ROOT / "tools" / "smoke.py"], check=True, cwd=folder)


def write_sbom(python: Path, output: Path) -> None:
    """The packages of an environment, as CycloneDX JSON."""
    program = [sys.executable, "-m", "cyclonedx_py", "environment", str(python), "--output-reproducible", "--of=JSON"]
    program += [f"--pyproject={ROOT / 'pyproject.toml'}", "--output-file", str(output)]
    subprocess.run(program, check=True, stderr=subprocess.DEVNULL)
    bom = json.loads(output.read_text("utf-8"))
    _, version = output.name.removesuffix(".cdx.json").split("-")
    bom["metadata"]["component"]["version"] = version  # pyproject.toml leaves it to the source, where no tool looks
    missing = {canonicalize_name(requirement.name) for requirement in stated()} - {
        canonicalize_name(component["name"]) for component in bom["components"]
    }
    if missing:
        raise SystemExit(f"{output.name}: lacks {sorted(missing)}")
    output.write_text(json.dumps(bom, indent=2, sort_keys=True) + "\n", "utf-8")


def main() -> None:
    """Build, check, and put what is right into dist/."""
    date = date_of_commit()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = built_twice(folder, date)
        wheel = next(path for path in files if path.suffix == ".whl")
        refuse_without_models(wheel)
        pythons = {path: install(path, folder / f"environment-{path.suffix[1:]}") for path in files}
        for python in pythons.values():
            smoke(python, folder)
        output = ROOT / "dist"
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir()
        write_sbom(pythons[wheel], output / f"{'-'.join(wheel.name.split('-')[:2])}.cdx.json")
        for path in files:
            shutil.copyfile(path, output / path.name)
    sums = [f"{sha256(path)}  {path.name}" for path in sorted(output.iterdir())]
    (output / "SHA256SUMS").write_text("\n".join(sums) + "\n")
    print("\n".join(sums))


if __name__ == "__main__":
    main()
