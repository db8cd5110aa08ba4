"""`make versions`: does lovevec work with what pyproject.toml says it works with? docs/results/versions.md says.

Each row is an environment of its own, made by uv around the wheel: a Python, a way to choose versions (the newest, the
oldest that is stated, a pinned numpy), an extra or the lab; and the tests that belong to it. An interpreter that is not
here, or a version that has no wheel for it, is a row that says so.

    python -m tools.versions [python3.10 /opt/bin/python3.12 …] [--only TEXT] [--with-torch]

Pythons are those named, or else those on the path. The oldest torch brings gigabytes of CUDA: only with --with-torch.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tools.requirements import LAB, LIBRARY, PACKAGES, ROOT, stated

PAGE = ROOT / "docs" / "results" / "versions.md"
DATA = ROOT / "docs" / "results" / "data" / "versions.json"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
TEST_SECONDS = 900  # at most, for a row
# Tests of inference: they need neither torch nor any extra.
INFERENCE = (
    "tests/engine/test_products.py",
    "tests/model/test_known_rows.py",
    "tests/model/test_shipped.py",
    "tests/near/test_love_readings.py",
    "tests/texts/test_tokens.py",
    "tests/units/test_units.py",
    "tests/vectors/test_table.py",
    "tests/vectors/read/test_read_numpy.py",
    "tests/files",
    "tests/test_security.py",
)
# The tests that belong to each extra, and to the lab. Those of bert and train need torch.
EXTRAS = {
    "parquet": ("tests/vectors/write/test_write_files.py",),
    "plots": ("tests/test_attention_map.py",),
    "gensim": ("tests/vectors/read/test_read_text.py", "tests/vectors/read/test_read_word2vec_bin.py"),
    "model2vec": ("tests/plugins/test_model2vec.py",),
    "sklearn": ("tests/plugins/test_sklearn.py",),
    "spacy": ("tests/plugins/test_spacy.py",),
    "frames": ("tests/plugins/test_frames.py",),
    "onnx": ("tests/plugins/test_onnx.py",),
    "serve": ("tests/serve/test_answers.py", "tests/serve/test_limits.py"),
    "train": ("tests/train/test_run.py", "tests/train/test_checkpoint.py", "tests/encoders"),
    "bert": ("tests/plugins/transformers/test_tokenizer.py", "tests/plugins/transformers/test_oracle.py"),
    LAB: ("lab/tests/methods/test_symspell.py", "lab/tests/methods/test_edit_distance.py", "lab/tests/figures"),
}
NEEDS_TORCH = {"train", "bert"}
# What the tests of an extra import besides: another library as an oracle.
ORACLES = {
    "parquet": ("pandas", "gensim"),
    "model2vec": ("tokenizers",),
    "frames": ("pandas", "polars"),
    "serve": ("httpx",),
}


@dataclass(frozen=True)
class Row:
    """One environment: a Python, an extra (or LAB; "" for inference alone), how its versions are chosen."""

    python: str
    extra: str = ""
    oldest: bool = False
    pinned: tuple[str, ...] = ()

    @property
    def choice(self) -> str:
        """How versions are chosen, in words."""
        return ", ".join([*(["oldest stated"] if self.oldest else []), *self.pinned]) or "newest"

    @property
    def name(self) -> str:
        """What is installed, as pip spells it."""
        if self.extra == LAB:
            return LAB
        return f"{LIBRARY}[{self.extra}]" if self.extra else LIBRARY

    @property
    def requirements(self) -> list[Requirement]:
        """What is stated for the extra, or for the lab."""
        return stated(package=LAB) if self.extra == LAB else stated(self.extra or None)

    @property
    def title(self) -> str:
        """What names the row, in the table and for --only."""
        return f"Python {self.python}, {self.extra or 'inference'}, {self.choice}"

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that it has to pass."""
        return EXTRAS[self.extra] if self.extra else INFERENCE


def rows(with_torch: bool) -> Iterator[Row]:
    """Every Python with the newest; numpy 1.26 and 2.0; the oldest of everything, one extra after the other."""
    for python in PYTHONS:
        yield Row(python)
    yield Row("3.10", oldest=True)
    yield Row("3.12", pinned=("numpy==1.26.4",))
    yield Row("3.12", pinned=("numpy==2.0.2",))
    for extra in EXTRAS:
        if with_torch or extra not in NEEDS_TORCH:
            yield Row("3.10", extra, oldest=True)


def interpreters(programs: list[str]) -> dict[str, str]:
    """The programs to run, by version: those that were named (or else those on the path), and this one."""
    path_of: dict[str, str] = {}
    for program in [*(programs or [f"python{version}" for version in PYTHONS]), sys.executable]:
        path = shutil.which(program)
        if path is not None:
            code = "import sys; print('%d.%d' % sys.version_info[:2])"
            version = subprocess.run([path, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
            path_of.setdefault(version, path)
    return path_of


def uv(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run uv and capture what it says."""
    program = [sys.executable, "-m", "uv", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def build_wheels(folder: Path, python: str) -> dict[str, Path]:
    """The wheels of both packages, by name, as a Python builds them: the compiled core of 3.10 is for 3.10 only."""
    wheels = {}
    for package, source in PACKAGES.items():
        output = folder / package
        done = uv("build", "--wheel", "--python", python, "--out-dir", output, source)
        if done.returncode:
            raise SystemExit(done.stderr)
        wheels[package] = next(output.glob("*.whl"))
    return wheels


def test_row(row: Row, wheels: dict[str, Path], program: str, folder: Path) -> tuple[str, str]:
    """Make the environment and run the tests in it: the versions that it has, and the result."""
    uv("venv", "--quiet", "--python", program, folder)
    python = folder / "bin" / "python"
    requirements = [f"{row.name} @ {wheels[LAB if row.extra == LAB else LIBRARY].as_uri()}"]
    requirements += [f"{LIBRARY} @ {wheels[LIBRARY].as_uri()}"] if row.extra == LAB else []
    requirements += [*row.pinned, "pytest>=8.2", "hypothesis>=6.100", "packaging>=23", "tomli>=2"]
    if row.oldest:  # uv takes for direct what it is given by name: so it is given what the wheel needs
        requirements += ["--resolution", "lowest-direct", *map(str, [*stated(), *row.requirements])]
    done = uv("pip", "install", "--quiet", "--python", python, "--only-binary", ":all:", *requirements)
    if done.returncode:
        return "", "cannot be installed: " + " ".join(done.stderr.split())[:200]
    if oracles := ORACLES.get(row.extra):  # which must not change the versions of what is tested
        versions = [line.replace(" ", "==") for line in _versions(python, row).split(", ")]
        uv("pip", "install", "--quiet", "--python", python, *oracles, *versions)
    tests = [str(ROOT / test) for test in row.tests]
    pytest = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", "--tb=line", *tests]
    try:
        run = subprocess.run(pytest, capture_output=True, text=True, cwd=ROOT, timeout=TEST_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return _versions(python, row), f"not done after {TEST_SECONDS} s"
    lines = run.stdout.strip().splitlines() or run.stderr.strip().splitlines() or ["no output"]
    if run.returncode:
        print("\n".join(line for line in lines if line.startswith(("FAILED", "ERROR", "E "))))
    return _versions(python, row), re.sub(r" in [\d.]+s.*", "", lines[-1].strip("= "))


def _versions(python: Path, row: Row) -> str:
    """numpy's version, and those of what the row is about."""
    names = ["numpy"]
    if row.oldest:
        names += [requirement.name for requirement in row.requirements if requirement.name != "numpy"]
    lines = uv("pip", "freeze", "--python", python).stdout.split()
    versions = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}
    return ", ".join(f"{name} {versions[key]}" for name in names if versions.get(key := canonicalize_name(name)))


def page(results: dict[str, list[str]], plan: list[Row], left_out: list[str]) -> str:
    """The page for people: the rows of the plan that have a result, of this run or an earlier one, and what was not
    tried."""
    lines = [
        "# Versions",
        "",
        "Made by `make versions`: each row is an environment of its own around the wheel, and the tests that belong to",
        "it (not the slow ones). Tests that need what is not there skip.",
        "",
        "| Python | lovevec | versions | which | result |",
        "|---|---|---|---|---|",
    ]
    for row in plan:
        if row.title in results:
            lines.append(f"| {row.python} | {row.name} | {row.choice} | {' | '.join(results[row.title])} |")
    left_out = [*left_out, *(row.title for row in plan if row.title not in results)]
    return "\n".join([*lines, "", *(f"- Not tried: {line}." for line in left_out), ""])


def main() -> int:
    """Test every row, print and write the table; 1 when something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", help="interpreters (default: python3.10 … python3.13 on the path)")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows that hold this text; others stay as they are")
    parser.add_argument("--with-torch", action="store_true", help="the oldest torch too: gigabytes")
    options = parser.parse_args()
    programs, left_out = interpreters(options.pythons), []
    plan = list(rows(options.with_torch))
    earlier: dict[str, list[str]] = json.loads(DATA.read_text("utf-8")) if options.only and DATA.exists() else {}
    results: dict[str, list[str]] = {}
    if not options.with_torch:
        left_out.append("the oldest torch (extras train and bert), gigabytes with its CUDA libraries (--with-torch)")
    with tempfile.TemporaryDirectory() as name:
        wheels = {python: build_wheels(Path(name) / python, program) for python, program in programs.items()}
        for number, row in enumerate(row for row in plan if options.only in row.title and row.python in programs):
            folder = Path(name) / str(number)
            results[row.title] = list(test_row(row, wheels[row.python], programs[row.python], folder))
            print(row.title, *results[row.title], sep="  ", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
            # after each row: a run that is stopped leaves the results that it has
            DATA.write_text(json.dumps(earlier | results, indent=2) + "\n", "utf-8")
            PAGE.write_text(page(earlier | results, plan, left_out), "utf-8")
    return 0 if all("passed" in result and not re.search("fail|error", result) for _, result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
