"""`make versions`: does lovevec work with what pyproject.toml says it works with? docs/results/versions.md says.

Each row is an environment of its own, made by uv around the wheel: a Python, a way to choose versions (the newest, the
oldest that is stated, a pinned numpy), an extra; and the tests that this extra is for. An interpreter that is not here,
or a version that has no wheel for it, is a row that says so.

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

from tools.requirements import ROOT, stated

PAGE = ROOT / "docs" / "results" / "versions.md"
DATA = ROOT / "docs" / "results" / "data" / "versions.json"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
PATIENCE = 900  # seconds for the tests of a row
# What inference is: tests that need neither torch nor any extra.
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
# The tests that each extra is for. Those of bert and train need torch.
EXTRAS = {
    "fast": ("tests/near/test_kernel.py", "tests/engine/test_products.py", "tests/texts/test_text_vectors.py"),
    "parquet": ("tests/vectors/write/test_write_files.py",),
    "plots": ("tests/figures",),
    "gensim": ("tests/vectors/read/test_read_text.py", "tests/vectors/read/test_read_word2vec_bin.py"),
    "model2vec": ("tests/plugins/test_model2vec.py",),
    "rivals": ("tests/methods/test_symspell.py", "tests/methods/test_edit_distance.py"),
    "evaluate": ("tests/evaluate/test_clusters.py",),
    "sklearn": ("tests/plugins/test_sklearn.py",),
    "spacy": ("tests/plugins/test_spacy.py",),
    "frames": ("tests/plugins/test_frames.py",),
    "onnx": ("tests/plugins/test_onnx.py",),
    "serve": ("tests/serve/test_answers.py", "tests/serve/test_limits.py"),
    "train": ("tests/train/test_run.py", "tests/train/test_checkpoint.py", "tests/encoders"),
    "bert": ("tests/plugins/transformers/test_tokenizer.py", "tests/plugins/transformers/test_oracle.py"),
}
NEEDS_TORCH = {"train", "bert"}
# What tests import besides: an extra's tests may have another library for an oracle.
BESIDE = {
    "parquet": ("pandas", "gensim"),
    "model2vec": ("tokenizers",),
    "evaluate": ("rapidfuzz",),
    "frames": ("pandas", "polars"),
    "serve": ("httpx",),
}


@dataclass(frozen=True)
class Row:
    """One environment: a Python, an extra, how its versions are chosen."""

    python: str
    extra: str = ""
    oldest: bool = False
    pinned: tuple[str, ...] = ()

    @property
    def chosen(self) -> str:
        """How versions are chosen, in words."""
        return ", ".join([*(["oldest stated"] if self.oldest else []), *self.pinned]) or "newest"

    @property
    def title(self) -> str:
        """What the row is called."""
        return f"Python {self.python}, {self.extra or 'inference'}, {self.chosen}"

    @property
    def tests(self) -> tuple[str, ...]:
        """What it has to pass."""
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


def interpreters(named: list[str]) -> dict[str, str]:
    """The programs to run, by version: those that were named, and this one, or else those on the path."""
    found = {}
    for program in [*(named or [f"python{version}" for version in PYTHONS]), sys.executable]:
        path = shutil.which(program)
        if path is not None:
            say = "import sys; print('%d.%d' % sys.version_info[:2])"
            version = subprocess.run([path, "-c", say], capture_output=True, text=True, check=True).stdout.strip()
            found.setdefault(version, path)
    return found


def uv(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run uv quietly; its last lines tell what is wrong."""
    program = [sys.executable, "-m", "uv", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def tried(row: Row, wheel: Path, program: str, folder: Path) -> tuple[str, str]:
    """Make the environment and run the tests in it: the versions that it has, and the result."""
    uv("venv", "--quiet", "--python", program, folder)
    python = folder / "bin" / "python"
    wanted = [f"lovevec[{row.extra}] @ {wheel.as_uri()}" if row.extra else f"lovevec @ {wheel.as_uri()}"]
    wanted += [*row.pinned, "pytest>=8.2", "hypothesis>=6.100", "packaging>=23", "tomli>=2"]
    how = ["--resolution", "lowest-direct"] if row.oldest else []
    done = uv("pip", "install", "--quiet", "--python", python, "--only-binary", ":all:", *how, *_direct(row), *wanted)
    if done.returncode:
        return "", "cannot be installed: " + " ".join(done.stderr.split())[:200]
    if beside := BESIDE.get(row.extra):
        uv("pip", "install", "--quiet", "--python", python, *beside, *(_installed(python, row)))
    tests = [str(ROOT / test) for test in row.tests]
    program_of_tests = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-m", "not slow", "--tb=line", *tests]
    try:
        run = subprocess.run(program_of_tests, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return _versions(python, row), f"not done after {PATIENCE} s"
    lines = run.stdout.strip().splitlines() or run.stderr.strip().splitlines() or ["nothing was said"]
    if run.returncode:
        print("\n".join(line for line in lines if line.startswith(("FAILED", "ERROR", "E "))))
    return _versions(python, row), re.sub(r" in [\d.]+s.*", "", lines[-1].strip("= "))


def _direct(row: Row) -> list[str]:
    """To uv only what it is told itself is direct: so it is told what the wheel needs."""
    if not row.oldest:
        return []
    return [str(requirement) for requirement in [*stated(), *(stated(row.extra) if row.extra else [])]]


def _installed(python: Path, row: Row) -> list[str]:
    """The packages of this row at the versions that they have: what tests need besides must not change them."""
    return [line.replace(" ", "==") for line in _versions(python, row).split(", ")]


def _versions(python: Path, row: Row) -> str:
    """numpy's version, and those of what the row is about."""
    names = ["numpy"]
    if row.oldest:
        names += [requirement.name for requirement in stated(row.extra or None) if requirement.name != "numpy"]
    listed = dict(line.split("==") for line in uv("pip", "freeze", "--python", python).stdout.split() if "==" in line)
    known = {name.lower().replace("_", "-"): version for name, version in listed.items()}
    return ", ".join(f"{name} {known[key]}" for name in names if (key := name.lower().replace("_", "-")) in known)


def page(results: dict[str, list[str]], planned: list[Row], left_out: list[str]) -> str:
    """The table, for people: rows in their order, those of earlier runs too; and what was not tried."""
    lines = [
        "# Versions",
        "",
        "Made by `make versions`: each row is an environment of its own around the wheel, and the tests that it is for",
        "(not the slow ones). Tests that need what is not there skip.",
        "",
        "| Python | lovevec | versions | which | result |",
        "|---|---|---|---|---|",
    ]
    for row in planned:
        name = f"lovevec[{row.extra}]" if row.extra else "lovevec"
        if row.title in results:
            lines.append(f"| {row.python} | {name} | {row.chosen} | {' | '.join(results[row.title])} |")
    left_out = [*left_out, *(row.title for row in planned if row.title not in results)]
    return "\n".join([*lines, "", *(f"- Not tried: {line}." for line in left_out), ""])


def main() -> int:
    """Try every row, print and write the table; 1 when something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="*", help="interpreters (default: python3.10 … python3.13 on the path)")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows that hold this text; others stay as they are")
    parser.add_argument("--with-torch", action="store_true", help="the oldest torch too: gigabytes")
    given = parser.parse_args()
    there, left_out = interpreters(given.pythons), []
    planned = list(rows(given.with_torch))
    known: dict[str, list[str]] = json.loads(DATA.read_text("utf-8")) if given.only and DATA.exists() else {}
    fresh: dict[str, list[str]] = {}
    if not given.with_torch:
        left_out.append("the oldest torch (extras train and bert), gigabytes with its CUDA libraries (--with-torch)")
    with tempfile.TemporaryDirectory() as name:
        built = subprocess.run(
            [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", name, str(ROOT)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if built.returncode:
            print(built.stderr, file=sys.stderr)
            return 1
        wheel = next(Path(name).glob("*.whl"))
        chosen = [row for row in planned if given.only in row.title and row.python in there]
        for number, row in enumerate(chosen):
            folder = Path(name) / str(number)
            fresh[row.title] = list(tried(row, wheel, there[row.python], folder))
            print(row.title, *fresh[row.title], sep="  ", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
            # after each row: a run that is stopped has said what it knows
            DATA.write_text(json.dumps(known | fresh, indent=2) + "\n", "utf-8")
            PAGE.write_text(page(known | fresh, planned, left_out), "utf-8")
    return 0 if all("passed" in result and not re.search("fail|error", result) for _, result in fresh.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
