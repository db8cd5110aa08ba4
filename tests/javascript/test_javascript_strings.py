"""Characters and patterns are the same in JavaScript as in Python (strings.js, serve/web.py)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import unicodedata
from importlib.resources import files
from pathlib import Path

import pytest
from tests.nasty import nasty_words
from tests.odd_strings import ODD, ODD_TEXTS

from lovevec.near import forms, kinds
from lovevec.serve.web import PATTERNS, in_javascript

SCRIPTS = Path(__file__).parent
PAGE = Path(str(files("lovevec").joinpath("serve", "page")))
NEWER = "\u0295\u10fc\ua7f2\ua7f3\ua7f4\uab69"  # in lower case or not by the version of Unicode
ASSIGNED = [chr(code) for code in range(0x30000) if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")]
# Of those without case, letters of large scripts, a few do.
CHARACTERS = [one for one in ASSIGNED if unicodedata.category(one) != "Lo" or ord(one) % 64 == 0 or ord(one) < 0x3400]
MARKS = forms.LEADING + forms.TRAILING


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed: apt-get install nodejs")
def test_characters_and_patterns(tmp_path):
    """Every character of Unicode by itself, digits in numbers, and every pattern in odd strings."""
    around = ["5{}000", "a{}b", "A{}", "ǅ{}", "{}.5"]
    odd = [around[place % len(around)].format(one) for place, one in enumerate(CHARACTERS)]
    nasty = [word for word in nasty_words(ODD, 1500) if len(word) < 1000 and word.isprintable()]
    strings = [*ODD, *ODD_TEXTS[:6], *nasty, *CHARACTERS, *odd]
    strings = [
        one for one in strings if not one.endswith("\n") and not {*NEWER} & {*one}
    ]  # \n: $ fits before it in Python
    digits = [one for one in CHARACTERS if one.isdecimal()]
    compiled = [getattr(module, name) for module, names in PATTERNS.items() for name in names.split()]
    compiled += [re.compile(kind.pattern, re.IGNORECASE) for kind in kinds.KINDS]
    questions, output = tmp_path / "questions.json", tmp_path / "answers.json"
    table = {chr(code): other or "" for code, other in forms.SAME.items()}
    asked = {"strings": strings, "digits": digits, "characters": CHARACTERS, "marks": MARKS, "table": table}
    questions.write_text(json.dumps(asked | {"patterns": list(map(in_javascript, compiled))}))
    subprocess.run(["node", SCRIPTS / "strings.mjs", PAGE, questions, output], check=True, timeout=300)
    answers = json.loads(output.read_text())
    assert answers["digits"] == [unicodedata.decimal(one) for one in digits]
    assert answers["combining"] == [unicodedata.combining(one) > 0 for one in CHARACTERS]
    for one, facts, found in zip(strings, answers["strings"], answers["found"], strict=True):
        seen = [one.isalpha(), one.islower(), one.isupper(), one.isascii(), len(one), one.strip(MARKS)]
        assert facts == [*seen, one.translate(forms.SAME)], ascii(one)
        for pattern, (fits, runs) in zip(compiled, found, strict=True):
            assert fits == (pattern.fullmatch(one) is not None), (ascii(one), pattern)
            assert runs == [[run.group(), *run.span()] for run in pattern.finditer(one)], (ascii(one), pattern)


@pytest.mark.parametrize("pattern", [r"\bword", r"\Aa", r"a\Z", r"[\W]", r"\D"])
def test_a_pattern_that_javascript_might_misread_is_refused(pattern):
    with pytest.raises(ValueError, match="JavaScript"):
        in_javascript(re.compile(pattern))
