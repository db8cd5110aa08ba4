"""The page with the model inside it: no server, the same vectors."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.factories import random_love, random_parts
from tests.nasty import nasty_words
from tests.odd_strings import ODD, ODD_TEXTS, OF_A_KIND, OF_WORDS
from tests.serve.browser import free_port, needs_axe, needs_browser, opened, process, violations

from lovevec import LOVE
from lovevec.cli import main
from lovevec.damage.misspell import misspell
from lovevec.errors import LovevecError
from lovevec.explain import part_facts
from lovevec.near.kinds import KINDS
from lovevec.serve.web import export_web
from lovevec.vectors.rows import normalized

pytest.importorskip("playwright")
STRINGS_PAGE = Path(__file__).parents[2] / "docs" / "guide" / "strings.md"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed: apt-get install nodejs")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("web") / "demo"
    assert main(["export", "--web", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def address(demo):
    port = free_port()
    command = ["-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(demo)]
    with process(command, f"http://127.0.0.1:{port}/") as address:
        yield address


ANSWERS = """async () => {
    const { Local } = await import("/page/local.js");
    const local = await Local.open("/model/");
    const words = await (await fetch("/words.json")).json();
    const vectors = (await local.vectors(words)).map((vector) => Array.from(vector));
    const near = await local.near(words);
    return { vectors, near, neighbors: await local.neighbors(words.slice(-40)) };
}"""


@needs_browser
@pytest.mark.slow
def test_the_browser_gives_the_same_vectors(chromium, address, demo, shipped_love):
    rng = np.random.default_rng(0)
    words = nasty_words(shipped_love.words, 1000) + ODD + misspell(list(shipped_love.words[200:20_000:100]), rng)
    (demo / "words.json").write_text(json.dumps(words))  # escaped: a page is told no half surrogates otherwise
    with opened(chromium, address) as page:
        found = page.evaluate(ANSWERS)
    assert np.abs(np.array(found["vectors"]) - shipped_love.embed(words)).max() <= 1e-4
    assert_same_readings(shipped_love, words, found["near"])
    assert [[one["word"] for one in row] for row in found["neighbors"]] == [
        [word for word, _ in row] for row in shipped_love.neighbors(words[-40:], 10)
    ]


@needs_browser
@pytest.mark.slow
def test_the_page_works_without_a_server(chromium, address):
    with opened(chromium, address) as page:
        page.locator("#badge-1.near").wait_for()
        page.locator("#word-1").fill("recieve")
        page.get_by_role("button", name="receiving", exact=True).wait_for()
        assert page.locator("#verdict-1").text_content() == "probably receive"
        assert "nothing that you type leaves it" in page.locator("#about").text_content()
        assert page.locator("#reference").is_hidden()
        assert page.get_by_role("tab").all_text_contents() == ["Word", "Text"]  # correcting needs the server
        page.get_by_role("tab", name="Text").click()
        page.locator("#text").fill("alot of well-knwon goverment 𝔘nits deplatformed at 10:30")
        page.get_by_text("10 words: 6 known, 2 near, 1 in parts, 1 new").wait_for()
        assert page.locator("#tokens .token.near").all_text_contents() == ["knwon", "goverment"]
        assert page.locator("#tokens .token.parts").all_text_contents() == ["alot"]
        assert page.locator("#tokens").text_content() == "alot of well-knwon goverment 𝔘nits deplatformed at 10:30"
        assert page.locator("#per option").all_text_contents() == ["word"]


@needs_axe
@needs_browser
@pytest.mark.slow
def test_nothing_stands_in_the_way_of_anybody(chromium, address):
    with opened(chromium, address) as page:
        page.locator("#badge-1.near").wait_for()
        assert violations(page) == []


def by_node(folder: Path, words: list[str], texts: list[str]) -> dict[str, list]:
    """What the engine of the page in `folder`/demo says, by Node."""
    (folder / "demo" / "package.json").write_text('{"type": "module"}')
    (folder / "words.json").write_text(json.dumps(words))
    (folder / "texts.json").write_text(json.dumps(texts))
    script = Path(__file__).parents[1] / "javascript" / "vectors.mjs"
    files = [folder / name for name in ("demo", "words.json", "texts.json", "out.json")]
    subprocess.run(["node", script, *files], check=True, timeout=300)
    return json.loads((folder / "out.json").read_text())


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("rows", ["float16", "int4"])
def test_other_codes_of_rows(tmp_path, shipped_love, rows):
    """Rows and tables of other precisions, decoded alike."""
    export_web(shipped_love, tmp_path / "demo", "float16", rows)
    shipped_love.save(tmp_path / "model", "float16", rows)
    words = ["oxygen", "oxgen", "deplatformed", "Grüße", ""]
    found = np.array(by_node(tmp_path, words, [])["vectors"])
    assert np.abs(found - LOVE.load(tmp_path / "model").embed(words)).max() <= 1e-5


def assert_same_readings(love: LOVE, words: list[str], found: list[dict[str, Any]]) -> None:
    """What a page says of words is what the model says: to the letter, numbers but for rounding."""
    lookup = love.lookup(words)
    assert [one["reading"] for one in found] == lookup.readings
    assert [one["kind"] for one in found] == lookup.kinds
    for one, near, parts in zip(found, lookup.near(10), lookup.parts, strict=True):
        assert [each["word"] for each in one["near"]] == [word for word, _ in near], one
        assert [each["probability"] for each in one["near"]] == pytest.approx([chance for _, chance in near], abs=1e-6)
        facts = [{**part_facts(part), "probability": pytest.approx(part.probability, abs=1e-6)} for part in parts]
        assert one["parts"] == facts, one
    assert np.allclose([one["new"] for one in found], lookup.new, atol=1e-6)
    assert np.allclose([one["confidence"] for one in found], lookup.confidence, atol=1e-4)


def test_every_kind_of_strings_is_tried():
    assert set(OF_A_KIND) == {kind.name for kind in KINDS} | {"emoji"}


@needs_node
def test_the_page_reads_odd_strings_as_python_does(tmp_path, shipped_love):
    """What is no word, what holds several, forms, the guide's examples: kinds and parts as people name them, numbers as
    the library has them."""
    export_web(shipped_love, tmp_path / "demo")
    named = re.findall(r"^\| `(.+?)` \|", STRINGS_PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(named) > 50
    words = list(dict.fromkeys([*ODD, *named, *nasty_words(shipped_love.words, 300, seed=1)]))
    found = by_node(tmp_path, words, [])
    assert_same_readings(shipped_love, words, found["near"])
    assert np.abs(np.array(found["vectors"]) - shipped_love.embed(words)).max() <= 1e-5
    answers = dict(zip(words, found["near"], strict=True))
    for kind, strings in OF_A_KIND.items():
        assert {string: answers[string]["kind"] for string in strings} == dict.fromkeys(strings, kind)
    assert {string: words_in(answers[string]["parts"]) for string in OF_WORDS} == OF_WORDS
    vectors = dict(zip(words, normalized(np.array(found["vectors"], dtype=np.float32)), strict=True))
    assert vectors["500mg"] @ vectors["5.5mg"] < 0.95
    assert vectors["101st"] @ vectors["33rd"] < 0.95


def words_in(parts: list[dict[str, Any]]) -> str:
    """The words that stand in a string, as they are read."""
    return " ".join(part["word"] or part["text"].lower() for part in parts)


@needs_node
@pytest.mark.parametrize(
    "name",
    [pytest.param("own words", marks=pytest.mark.slow), pytest.param("own lexicon", marks=pytest.mark.slow), "random"],
)
def test_pages_of_other_models_read_alike(tmp_path, shipped_love, name):
    """Ranks that are not the words' order, weights and forms of one's own; no lexicon and no calibration."""
    own = ["Vestergaard", "Novo Nordisk", "blorfingly", "KCFT-32A"]
    forms = {"xz": (("you know", 0.6), ("you", 0.3)), "Dön't": (("don't", 1.0),)}
    love = {
        "own words": lambda: shipped_love.with_words(own).fitted(
            ["alot of words", "a Vestergaard", "Novo and nordisk"]
        ),
        "own lexicon": lambda: shipped_love.with_lexicon(["oxgen", "fotograf"], forms=forms, replace=True),
        "random": random_love,
    }[name]()
    export_web(love, tmp_path / "demo")
    words = [*ODD, *love.words[:50], "Vestergard", "vestergaards", "novonordisk", "xz", "DÖN'T", "oxgen", "blorfing"]
    found = by_node(tmp_path, words, ODD_TEXTS[:6])
    if name == "random":
        assert {one["confidence"] for one in found["near"]} == {None}
        assert [one["reading"] for one in found["near"]] == love.readings(words)
    else:
        assert_same_readings(love, words, found["near"])
        assert np.abs(np.array(found["vectors"]) - love.embed(words)).max() <= 1e-5
    assert_same_tokens(love, ODD_TEXTS[:6], found["tokens"])


@needs_node
def test_texts_have_the_same_words(tmp_path, shipped_love):
    rng = np.random.default_rng(0)
    nasty = [word for word in nasty_words(shipped_love.words, 300) if len(word) < 1000]
    texts = [*ODD_TEXTS, *(" ".join(rng.choice(nasty, 8)) for _ in range(60))]
    export_web(shipped_love, tmp_path / "demo")
    assert_same_tokens(shipped_love, texts, by_node(tmp_path, [], texts)["tokens"])


def assert_same_tokens(love: LOVE, texts: list[str], found: list[list[dict[str, Any]]]) -> None:
    """The page reads each word alone."""
    for text, tokens in zip(texts, found, strict=True):
        expected = [
            part_facts(token)
            | {
                "probability": pytest.approx(token.probability, abs=1e-6),
                "repair": token.replacement if token.reading in ("near", "parts") else None,
            }
            for token in love.tokens(text, context=False)
        ]
        assert tokens == expected, text


def test_a_page_that_is_there_stays_unless_asked(demo, capsys):
    before = (demo / "index.html").read_bytes()
    assert main(["export", "--web", str(demo)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main(["export", "--web", str(demo), "--overwrite"]) == 0
    assert (demo / "index.html").read_bytes() == before


def test_what_cannot_be_a_page_is_one_error(tmp_path, shipped_love):
    (tmp_path / "file").touch()
    with pytest.raises(LovevecError, match="is a file"):
        export_web(shipped_love, tmp_path / "file")
    with pytest.raises(LovevecError, match="no rows"):
        export_web(LOVE(random_parts()), tmp_path / "demo")
    assert not (tmp_path / "demo").exists()


def test_the_page_is_small_and_asks_nobody_else():
    """In the wheel at most 500 KB; no address of anybody, no script or style inside the markup."""
    page = sorted(Path(str(files("lovevec").joinpath("serve", "page"))).iterdir())
    assert sum(file.stat().st_size for file in page) <= 500_000
    texts = {file.name: file.read_text("utf-8") for file in page if file.suffix in (".html", ".js", ".css")}
    for name, text in texts.items():
        assert "http://" not in text and "https://" not in text, name  # noqa: PT018
    markup = texts["index.html"]
    assert " style=" not in markup
    assert "<style" not in markup
    assert not [line for line in markup.splitlines() if "<script" in line and "src=" not in line]
