"""The tab *Search* in a real browser: typing, why something was found, the keyboard, narrow and dark."""

from __future__ import annotations

import json

import pytest
from tests.serve.browser import lovevec_server, needs_axe, needs_browser, opened, violations
from tests.serve.test_page import wait_for

from lovevec.search import Index

pytest.importorskip("playwright")
pytest.importorskip("fastapi")
pytestmark = [needs_browser, pytest.mark.slow]

LONG = "Words that nobody looks for. " * 40 + "The zeppelin museum is closed on Mondays."
TEXTS = [
    *(f"Wireless headphones, model {number}" for number in range(25)),
    "Stainless steel kettle, 1.7 l",
    "Vestergaard oak bookshelf <b>&amp;",
    LONG,
]


@pytest.fixture(scope="module")
def index(shipped_love) -> Index:
    return shipped_love.index(TEXTS, ids=[f"#{number}" for number in range(len(TEXTS))])


@pytest.fixture(scope="module")
def server(index, shipped_love, tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    index.save(folder / "shop")
    shipped_love.index(["oak", "steel"]).save(folder / "other")
    with lovevec_server("--index", str(folder / "shop"), "--index", str(folder / "other")) as address:
        yield address


@pytest.fixture
def page(chromium, server, tmp_path):
    with opened(chromium, f"{server}#search") as page:
        page.locator("#view-search").wait_for()
        yield page
        page.screenshot(path=tmp_path / "search.png", full_page=True)


def search(page, query: str) -> None:
    """Type a query and wait for its hits."""
    page.locator("#query").fill("")
    page.locator("#query").press_sequentially(query, delay=5)
    page.wait_for_function("(query) => document.querySelector('#hits').dataset.shown === query", arg=query)


def focused(page) -> str:
    return page.evaluate("document.activeElement.id || document.activeElement.textContent")


def test_hits_appear_as_one_types_with_what_met(page, index):
    assert focused(page) == "query"
    assert page.locator("#found").text_content() == f"{len(TEXTS)} texts to search in."
    search(page, "stainles ketle")
    hit = index.search("stainles ketle", 1)[0]
    first = page.locator("#hits > li").first
    assert first.locator(".hit-text").text_content() == hit.text
    assert first.locator("mark").all_text_contents() == ["Stainless", "kettle"]
    assert set(first.locator(".met > span").all_text_contents()) == {"stainles → stainless", "ketle → kettle"}
    assert first.locator(".score .number").text_content() == f"{hit.score:.2f}"
    shares = (f"{name} {getattr(hit.why, name):.2f}" for name in ("words", "letters", "meaning"))
    assert first.get_by_role("img").get_attribute("aria-label") == f"score {hit.score:.2f}: {', '.join(shares)}"


def test_only_the_last_of_many_letters_is_asked_for(page):
    asked = []
    page.on("request", lambda request: asked.append(request) if request.url.endswith("/v1/search") else None)
    search(page, "vestergard")
    assert len(asked) < len("vestergard")
    assert json.loads(asked[-1].post_data)["input"] == ["vestergard"]
    assert page.locator("#hits .hit-text").first.text_content() == "Vestergaard oak bookshelf <b>&amp;"


def test_why_by_keyboard(page, index):
    search(page, "wireles hedphones")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    hits = index.search("wireles hedphones", 2)
    assert focused(page) == hits[1].text
    second = page.locator("#hits > li").nth(1)
    assert second.locator(".why").is_hidden()
    page.keyboard.press("Enter")
    assert second.locator(".hit-text").get_attribute("aria-expanded") == "true"
    shown = second.locator(".met-words li").all_text_contents()
    assert {line.split("misspelled")[0] for line in shown} == {"wireles → wireless", "hedphones → headphones"}
    assert f"= {hits[1].score:.2f} · id {hits[1].id}" in second.locator(".why .note").text_content()
    page.keyboard.press("Enter")
    assert second.locator(".why").is_hidden()
    page.keyboard.press("End")
    assert focused(page) == page.locator(".hit-text").last.text_content()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "query"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    assert focused(page) == "query"


def test_more_and_nothing(page):
    search(page, "wireless headphones")
    assert page.locator("#hits > li").count() == 10
    page.get_by_role("button", name="More").click()
    wait_for(page, "#found", "The best 20 of")
    assert focused(page) == page.locator(".hit-text").nth(10).text_content()
    search(page, "qqxxzz")
    assert page.locator("#hits > li").count() == 0
    assert page.locator("#found").text_content() == f"Nothing in {len(TEXTS)} texts has anything to do with it."
    assert page.get_by_role("button", name="More").is_hidden()
    search(page, "")
    wait_for(page, "#found", "texts to search in")


def test_a_long_text_is_shown_where_it_was_found(page):
    search(page, "zepelin musem")
    first = page.locator(".hit-text").first
    assert first.text_content().startswith("… ")
    assert first.locator("mark").all_text_contents() == ["zeppelin", "museum"]
    first.click()
    assert first.text_content() == LONG


def test_another_index(page):
    search(page, "steal")
    page.locator("#search-index").select_option("other")
    wait_for(page, "#found", "of 2 texts")
    assert page.locator(".hit-text").first.text_content() == "steel"


def test_without_an_index_there_is_no_tab(chromium):
    with lovevec_server() as address, opened(chromium, address) as page:
        wait_for(page, "#verdict-1", "probably")
        assert page.get_by_role("tab").all_text_contents() == ["Word", "Text", "Correct"]
        assert page.locator("#view-search").is_hidden()


@needs_axe
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("phone", [False, True])
def test_axe_finds_nothing(chromium, server, tmp_path, phone, dark):
    with opened(chromium, f"{server}#search", phone=phone, dark=dark) as page:
        page.locator("#view-search").wait_for()
        assert violations(page) == []
        search(page, "wireles hedphones")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.screenshot(path=tmp_path / "search.png", full_page=True)
