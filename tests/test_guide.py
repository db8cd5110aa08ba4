"""Every code block of the guide and of README runs, and prints what the page shows; the site builds, and needs no
network. How pages are run stands in guide_page.py."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from tools.requirements import MODELS

from tests.guide_page import Block, blocks_of, commands_of, matches
from tests.model_packages import site_of

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "guide"
PAGES = {page.stem: page for page in [*sorted(GUIDE.glob("*.md")), ROOT / "README.md"]}
# torch in processes, frameworks, Ray, a server: what they show has quick tests of its own.
SLOW = {"inside-bert", "train-your-own", "embeddings", "bulk", "sentence-transformers", "torch", "sklearn", "spacy"}
SLOW |= {"gensim", "serving"}
IN_ORDER = [
    "first-vector",
    "strings",
    "your-own-vectors",
    "texts-and-search",
    "search",
    "inside-bert",
    "train-your-own",
]
# Blocks that stand in a page for a reader to see, and are not run: what they may be, and how many a page may have.
REASONS = {
    "installs packages": r"\A(?:(?:pip|npm) install .*\n)+\Z",
    "downloads a model": r"[\w.-]+/[\w.-]+|bert-base|from_pretrained|load\(",
    "needs an account": r"push_to_hub",
    "needs data that is not ours to ship": r"lovevec (?:evaluate|reproduce)|typos\(",
    "needs two processes and a GPU each": r"torchrun",
    "sets up the repository": r"\A(?:make .*\n)+\Z",
    "takes minutes": r"",
    "runs until it is stopped": r"lovevec (?:serve|ui)|docker compose",
    "reads files of yours": r"lovevec bulk|read_parquet",
    "a query for Prometheus": r"\Arate\(",
}
MOST = 7  # of a page, README included
# What README calls yours.
YOURS = {
    "words.txt": "oxgen\narchiitect\nrecieve\n",
    "corpus.txt": "a mispelling in a sentense of the corpus\n",
    "products.csv": "id,title\n1,wonderfull fi1m\n2,a wonderful film\n",
    "notes.csv": "id,note\n1,wonderfull fi1m\n2,a wonderful film\n",
}


def environment() -> dict[str, str]:
    """The programs of this Python first, and no network: no hub, no telemetry."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    source = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    quiet = {"HF_HUB_OFFLINE": "1", "HAYSTACK_TELEMETRY_ENABLED": "False", "COLUMNS": "100"}
    return {**os.environ, "PATH": path, "PYTHONPATH": source, **quiet}


def with_models(folder: Path) -> dict[str, str]:
    """The same, where the models of languages are installed."""
    if not MODELS:
        pytest.skip("the models of languages lie in the repository alone")
    site_of(folder / "site", list(MODELS.values()))
    sources = [folder / "site", *(package / "src" for package in MODELS.values())]
    usual = environment()
    return usual | {"PYTHONPATH": os.pathsep.join([*map(str, sources), usual["PYTHONPATH"]])}


def your_files(folder: Path) -> None:
    """The files that README's commands name: a small table of vectors, words, texts."""
    from lovevec import LOVE

    love = LOVE.load()
    words = list(love.words[:2000])
    rows = [" ".join([word, *map("{:.4f}".format, row)]) for word, row in zip(words, love.embed(words), strict=True)]
    (folder / "my.vec").write_text("\n".join([f"{len(words)} {love.dim}", *rows, ""]), "utf-8")
    (folder / "glove.txt").write_text("\n".join([*rows, ""]), "utf-8")
    for name, text in YOURS.items():
        (folder / name).write_text(text, "utf-8")


@contextmanager
def served() -> Iterator[None]:
    """The server that its page asks, at its usual port."""
    command = [sys.executable, "-m", "lovevec", "serve", "--quiet"]
    server = subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(600):
            if server.poll() is not None:
                pytest.skip(f"no server at its usual port: {server.stderr.read().strip()}")
            with suppress(OSError), urlopen("http://127.0.0.1:8765/readyz", timeout=5) as answer:
                assert answer.status == 200
                break
            time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait(timeout=60)


def where(page: Path, block: Block) -> str:
    return f"{page.relative_to(ROOT)}:{block.line}"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in PAGES]
)
def test_a_page_runs_and_prints_what_it_shows(name, tmp_path):
    page = PAGES[name]
    if page.name == "README.md":
        your_files(tmp_path)
    command = [sys.executable, "-m", "tests.guide_page", str(page)]
    settings = with_models(tmp_path) if name == "other-languages" else environment()
    with served() if name == "serving" else nullcontext():
        done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout.splitlines()[-1])
    assert runs, f"{page.name}: nothing ran"
    for run in runs:
        place = f"{page.relative_to(ROOT)}:{run['line']}\n{run['code']}"
        if run["shown"] is not None:
            assert matches(run["shown"], run["printed"]), f"{place}\nshown:\n{run['shown']}\nprinted:\n{run['printed']}"


@pytest.mark.parametrize("name", PAGES)
def test_what_is_not_run_has_one_of_few_reasons(name):
    page = PAGES[name]
    left = [block for block in blocks_of(page.read_text("utf-8")) if block.not_run is not None]
    for block in left:
        kinds = [kind for kind in REASONS if block.not_run.startswith(kind)]
        assert kinds, f"{where(page, block)}: {block.not_run!r} is none of {', '.join(REASONS)}"
        assert re.search(REASONS[kinds[0]], block.code), f"{where(page, block)}: that is not what {kinds[0]!r} is for"
    assert len(left) <= MOST, [where(page, block) for block in left]


def test_the_first_five_pages_are_there_and_show_output():
    for name in IN_ORDER:
        blocks = [block for block in blocks_of(PAGES[name].read_text("utf-8")) if block.not_run is None]
        shown = [block.shown for block in blocks if block.shown]
        for block in blocks:
            if block.language == "console":
                shown += [text for _, _, text in commands_of(block.code) if text]
        assert len(shown) >= 3, f"{name}: a page that shows little teaches little"
        assert all(len(text.replace("…", "").split()) >= 1 for text in shown), f"{name}: shows nothing but `…`"


def test_the_site_leads_through_them_in_order():
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    places = [navigation.index(f"guide/{name}.md") for name in IN_ORDER]
    assert places == sorted(places)
    following = [*IN_ORDER[1:], None]
    for name, after in zip(IN_ORDER, following, strict=True):
        last = PAGES[name].read_text("utf-8").rstrip().splitlines()[-1]
        assert after is None or f"({after}.md)" in last, f"{name} does not say what comes next"


PAGE = """
<!-- file: a/words.txt -->
```text
dog
```

```python
word = open("a/words.txt").read().strip()
print(word, 0.123456)
```

```text
dog 0.12…
```

Words between.

```console
$ cat a/words.txt
dog
$ printf '%s\\n' one two three |
>   head -n 2
one
…
```

<!-- not run: installs packages -->
```sh
pip install lovevec
```
"""


def run_text(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "page.md").write_text(text, "utf-8")
    command = [sys.executable, "-m", "tests.guide_page", "page.md"]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=60)


def test_pages_are_read_as_the_rules_say(tmp_path):
    file, python, console, install = blocks_of(PAGE)
    assert (file.file, file.code) == ("a/words.txt", "dog\n")
    assert python.shown == "dog 0.12…\n"
    assert [command for _, command, _ in commands_of(console.code)] == [
        "cat a/words.txt",
        "printf '%s\\n' one two three |\n  head -n 2",
    ]
    assert install.not_run == "installs packages"
    done = run_text(PAGE, tmp_path)
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout.splitlines()[-1])
    assert [run["line"] for run in runs] == [8, 19, 21]
    assert all(matches(run["shown"], run["printed"]) for run in runs)


@pytest.mark.parametrize(
    "text",
    ["```python\n1 / 0\n```\n", "```console\n$ false\n```\n", "```sh\nfalse | true\n```\n", "```\nwhat\n```\n"],
    ids=["python", "console", "pipe", "unknown"],
)
def test_a_page_that_is_wrong_fails(text, tmp_path):
    done = run_text(f"{text}\n```python\nopen('never', 'w')\n```\n", tmp_path)
    assert done.returncode == 1
    assert re.search(r"page.md(:|\", line )2", done.stderr), done.stderr
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a 0.1…\n", "a 0.123\n", True),
        ("a 0.1…\n", "a 0.223\n", False),
        ("a\n…\nz\n", "a\nb\nc\nz\n", True),
        ("a\n…\nz\n", "a\nz\n", True),
        ("a\n…\nz\n", "a\nb\n", False),
        ("a", "a  \n\n", True),
        ("a\n", "a\nb\n", False),
        ("a…\n", "a\nb\n", False),
        ("(1, 2)", "(1, 2)", True),
    ],
)
def test_shown_and_printed_are_compared(shown, printed, same):
    assert matches(shown, printed) is same


@pytest.mark.slow
def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path):
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    names = {page.stem for page in pages}
    assert set(IN_ORDER) <= names
    loads = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"?(https?:)?//|<link\b[^>]*\bhref=\"?(https?:)?//")
    for page in pages:
        found = [line for line in page.read_text("utf-8").splitlines() if loads.search(line)]
        assert not found, f"{page.name}: {found[0][:200]}"
    styles = "".join(style.read_text("utf-8") for style in (tmp_path / "site").rglob("*.css"))
    assert not re.search(r"@import\s+(?:url\()?[\"']?(?:https?:)?//|url\([\"']?(?:https?:)?//", styles)
