"""Errors name parameters; each front writes them as its readers do."""

from __future__ import annotations

import ast
import io
import pickle
import re
from pathlib import Path

import pytest

import lovevec
import lovevec_lab
from lovevec import LOVE
from lovevec.cli import main
from lovevec.cli.shell import as_flag
from lovevec.errors import FormatError, LovevecError, Parameter, as_argument, as_field
from lovevec.progress import Progress


@pytest.mark.parametrize(
    ("parameter", "python", "typed", "json"),
    [
        (Parameter("limit"), "limit", "--limit", "limit"),
        (Parameter("limit", 5), "limit=5", "--limit 5", "limit: 5"),
        (Parameter("overwrite", True), "overwrite=True", "--overwrite", "overwrite: True"),
        (Parameter("near", False), "near=False", "--no-near", "near: False"),
        (Parameter("min_count", 0), "min_count=0", "--min-count 0", "min_count: 0"),
        (Parameter("k"), "k", "-k", "k"),
        (Parameter("resume", "my model"), "resume('my model')", "lovevec train --resume my model", "resume: my model"),
    ],
    ids=str,
)
def test_each_front_spells_a_parameter_its_own_way(parameter, python, typed, json):
    error = LovevecError(f"a/limit=5/v.vec: {parameter} is wrong")
    assert str(error) == f"a/limit=5/v.vec: {python} is wrong"
    assert error.spelled(as_flag) == f"a/limit=5/v.vec: {typed} is wrong"
    assert error.spelled(as_field) == f"a/limit=5/v.vec: {json} is wrong"
    assert error.parameters == [parameter.name]


def test_an_error_that_quotes_another_keeps_its_parameters():
    inner = LovevecError(f"choose another file, or {Parameter('overwrite', True)}")
    outer = FormatError("v.vec", inner.message, line=3)
    assert str(outer) == "v.vec:3: choose another file, or overwrite=True"
    assert outer.spelled(as_flag) == "v.vec:3: choose another file, or --overwrite"
    assert str(LovevecError()) == ""
    assert pickle.loads(pickle.dumps(inner)).spelled(as_flag) == inner.spelled(as_flag)


def test_the_same_mistake_in_python_and_on_the_command_line(capsys):
    with pytest.raises(LovevecError, match=r"^k is 0: must be at least 1") as error:
        LOVE.load().near(["word"], k=0)
    assert main(["near", "-k", "0", "word"]) == 2
    assert capsys.readouterr().err == f"lovevec: -{error.value}\n"


@pytest.mark.parametrize(
    ("spelling", "line"), [(as_argument, "go on with resume('m')"), (as_flag, "go on with lovevec train --resume m")]
)
def test_progress_spells_parameters_for_its_reader(spelling, line):
    stream = io.StringIO()
    Progress(stream=stream, spelling=spelling).say(f"go on with {Parameter('resume', 'm')}")
    assert stream.getvalue() == f"{line}\n"


@pytest.mark.parametrize("package", [lovevec, lovevec_lab], ids=lambda package: package.__name__)
def test_no_message_of_the_library_or_the_lab_names_a_flag(package):
    """Flags belong to the folder cli/: elsewhere a message is read by people who write Python too."""
    root = Path(package.__file__).parent
    files = [file for file in root.rglob("*.py") if file.relative_to(root).parts[0] not in ("cli", "serve")]
    named = {
        f"{file.relative_to(root)}:{text.lineno}"
        for file in [*files, *(root / "serve").glob("[!r]*.py")]
        for call in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(call, ast.Call) and re.search(r"(Error|say|warn)$", ast.unparse(call.func))
        for text in ast.walk(call)
        if isinstance(text, ast.Constant) and re.search(r"(?<![\w-])--[a-z{]", str(text.value))
    }
    assert named == set()
