"""The page with the model inside it: no server, the same vectors."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from tests.factories import random_parts
from tests.nasty import nasty_words
from tests.serve.browser import free_port, needs_axe, needs_browser, opened, process, violations

from lovevec import LOVE
from lovevec.cli import main
from lovevec.damage.misspell import misspell
from lovevec.errors import LovevecError
from lovevec.serve.web import export_web

pytest.importorskip("playwright")
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
    const near = (await local.near(words)).map((one) => [one.reading, one.confidence]);
    return { vectors, near, neighbors: await local.neighbors(words.slice(-40)) };
}"""


@needs_browser
@pytest.mark.slow
def test_the_browser_gives_the_same_vectors(chromium, address, demo, shipped_love):
    rng = np.random.default_rng(0)
    words = nasty_words(shipped_love.words, 1000) + misspell(list(shipped_love.words[200:20_000:100]), rng)
    (demo / "words.json").write_text(json.dumps(words))  # escaped: a page is told no half surrogates otherwise
    with opened(chromium, address) as page:
        found = page.evaluate(ANSWERS)
    assert np.abs(np.array(found["vectors"]) - shipped_love.embed(words)).max() <= 1e-4
    assert [reading for reading, _ in found["near"]] == shipped_love.readings(words)
    assert np.abs(np.array([sure for _, sure in found["near"]]) - shipped_love.confidence(words)).max() <= 1e-4
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
        page.get_by_role("tab", name="Text").click()
        page.locator("#text").fill("a well-knwon goverment 𝔘 deplatformed")
        page.get_by_text("6 words: 3 known, 2 near, 1 new").wait_for()
        assert page.locator("#tokens .token.near").all_text_contents() == ["knwon", "goverment"]
        assert page.locator("#tokens").text_content() == "a well-knwon goverment 𝔘 deplatformed"
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
@pytest.mark.parametrize("rows", ["float16", "int4"])
def test_other_codes_of_rows(tmp_path, shipped_love, rows):
    """Rows and tables of other precisions, decoded alike."""
    export_web(shipped_love, tmp_path / "demo", "float16", rows)
    shipped_love.save(tmp_path / "model", "float16", rows)
    words = ["oxygen", "oxgen", "deplatformed", "Grüße", ""]
    found = np.array(by_node(tmp_path, words, [])["vectors"])
    assert np.abs(found - LOVE.load(tmp_path / "model").embed(words)).max() <= 1e-5


@needs_node
def test_texts_have_the_same_words(tmp_path, shipped_love):
    """But for emoji, which have no names in a browser."""
    texts = [
        "The goverment of Reykjavik\nis deplatformed, tommorow.",
        "A well-knwon e-mail of Deen's, #ThrowbackThursday 1,000.50 24/7 U.S. o’brien don't",
        "𝔘 x Grüße_an e\u0301te\u0301 шлом 日本語 co-op CamelCase iPhone a--b 'quoted' @anna",
        "",
        " ".join(nasty_words(shipped_love.words, 120)[30:]),
    ]
    export_web(shipped_love, tmp_path / "demo")
    found = by_node(tmp_path, [], texts)["tokens"]
    for text, tokens in zip(texts[:4], found, strict=False):
        seen = shipped_love.tokens(text)
        assert [token["reading"] for token in tokens] == [token.reading for token in seen], text
        assert [token["repair"] for token in tokens] == [t.word if t.reading == "near" else None for t in seen]
        assert [(token["start"], token["end"]) for token in tokens] == [
            (token.start, token.end) for token in shipped_love.tokens(text)
        ]
    assert all(token["text"] == texts[4][token["start"] : token["end"]] for token in found[4])
    assert found[4]


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
