"""A plug-in whose tool is missing, or too old, says in one line what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys
from importlib import import_module

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name == {package!r} or name.startswith({package!r} + "."):
            raise ImportError(name + " is not there")

sys.meta_path.insert(0, Refuse())
from lovevec import LOVE, LovevecError
try:
    {use}
except LovevecError as error:
    print(error)
"""
PLUGINS = {
    "gensim": ("gensim", 'import_module("lovevec.plugins.gensim")', "this needs gensim: "),
    "sklearn": ("sklearn", 'import_module("lovevec.plugins.sklearn")', "this needs scikit-learn 1.6 or newer: "),
    "spacy": ("spacy", 'import_module("lovevec.plugins.spacy")', "this needs spaCy 3.8 or newer: "),
    "sentence-transformers": (
        "sentence_transformers",
        'import_module("lovevec.plugins.sentence_transformers")',
        "this needs sentence-transformers 5 or newer: ",
    ),
    "bulk": (
        "pyarrow",
        'import_module("lovevec.bulk").embed_files(["words.txt"], "vectors")',
        "this needs pyarrow: ",
    ),
    "torch": ("torch", "LOVE.load().to_torch()", "this needs torch: "),
}


@pytest.mark.parametrize("extra", PLUGINS)
def test_what_is_missing_is_named(extra):
    package, use, needs = PLUGINS[extra]
    code = SCRIPT.format(package=package, use=use)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.stdout == f"{needs}pip install 'lovevec[{extra}]'\n", done.stderr
