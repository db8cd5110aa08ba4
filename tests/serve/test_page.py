"""The page in a real browser: typing, clicking, reading what it says. Pictures are kept in the tests' folder."""

from __future__ import annotations

import csv
import re
from urllib.parse import quote

import numpy as np
import pytest
from tests.odd_strings import OF_A_KIND
from tests.serve.browser import lovevec_server, needs_axe, needs_browser, opened, violations

pytest.importorskip("playwright")
pytest.importorskip("fastapi")
pytestmark = [needs_browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def server():
    with lovevec_server() as address:
        yield address


@pytest.fixture
def page(chromium, server, tmp_path):
    with opened(chromium, server) as page:
        settled(page)
        yield page
        page.screenshot(path=tmp_path / "page.png", full_page=True)


def wait_for(page, where: str, text: str) -> None:
    """Until a part of the page holds the text."""
    page.wait_for_function(
        "([where, text]) => document.querySelector(where)?.textContent.includes(text)", arg=[where, text]
    )


def settled(page, number: int = 1) -> None:
    """Until all is shown of the word that stands there."""
    page.wait_for_function(
        """(number) => {
            const field = document.querySelector(`#word-${number}`);
            return field !== null && field.closest(".panel").dataset.shown === field.value;
        }""",
        arg=number,
    )


def type_word(page, word: str, number: int = 1) -> None:
    field = page.locator(f"#word-{number}")
    field.fill("")
    field.press_sequentially(word, delay=5)


def rows(page, number: int = 1) -> list[str]:
    return page.locator(f"#nearest-{number} td.name").all_text_contents()


def test_a_misspelling_is_read_as_it_is_typed(page, shipped_love):
    type_word(page, "recieve")
    settled(page)
    assert page.locator("#verdict-1").text_content() == "probably receive"
    assert page.locator("#badge-1").text_content() == "near"
    assert rows(page) == [word for word, _ in shipped_love.neighbors("recieve", 10)]
    first = page.locator("#chances-1 li").first.text_content()
    assert first == f"receive{round(100 * shipped_love.near('recieve')[0][1])} %"
    assert f"{round(100 * shipped_love.confidence(['recieve'])[0])} %" in page.locator("#sure-1").text_content()
    assert page.locator("#letters-1 span").all_text_contents() == list("recieve")


@pytest.mark.parametrize(("word", "reading"), [("Oxygen", "known"), ("deplatformed", "new"), ("bl00d", "near")])
def test_readings(page, word, reading):
    type_word(page, word)
    settled(page)
    assert page.locator("#badge-1").text_content() == reading
    wait_for(page, "#map-says", f"“{word}” lies among")


def test_parts_are_shown_and_looked_at_by_keyboard(page, shipped_love):
    """Each part with how it is read; Tab goes to it, Enter looks at it alone."""
    type_word(page, "neural-netwrok")
    settled(page)
    assert page.locator("#badge-1").text_content() == "parts"
    assert page.locator("#verdict-1").text_content() == "several words: neural network"
    chance = shipped_love.lookup("neural-netwrok").parts[0][1].probability
    assert page.locator("#parts-1 li").all_text_contents() == [
        "neuralknown",
        f"netwroknear → network {chance:.0%}".replace("%", " %"),
    ]
    assert rows(page) == [word for word, _ in shipped_love.neighbors("neural-netwrok", 10)]
    assert page.locator(".made").is_hidden()
    page.locator("#parts-1 button").first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    wait_for(page, "#verdict-1", "probably network")
    assert page.locator("#word-1").input_value() == "netwrok"
    assert page.locator("#parts-1").is_hidden()


@pytest.mark.parametrize(
    ("string", "verdict", "parts"),
    [
        ("500mg", "a quantity, read by its parts", ["500number", "mgknown"]),
        ("hapybirthday", "several words: happy birthday", ["hapynear → happy", "birthdayknown"]),
        ("alot", "several words: a lot", ["aknown", "lotknown"]),
        ("#ThrowbackThursday", "several words: throwback thursday", ["Throwbackknown", "Thursdayknown"]),
        ("$1.5", "an amount of money, read by its parts", ["$known → dollars", "1.5number"]),
        ("98765", "a number, placed by its digits", []),
    ],
)
def test_readings_of_odd_strings(page, string, verdict, parts):
    page.locator("#word-1").fill(string)
    settled(page)
    assert page.locator("#verdict-1").text_content() == verdict
    assert page.locator("#parts-1 li").all_text_contents() == parts


def test_every_kind_has_a_name_for_people(page):
    for strings in OF_A_KIND.values():
        page.locator("#word-1").fill(strings[0])
        settled(page)
        assert re.match(
            r"(an? \w.*|dimensions), (read by its parts|placed by its digits)$",
            page.locator("#verdict-1").text_content(),
        )


def test_nothing_and_strange_things(page):
    type_word(page, "")
    wait_for(page, "#verdict-1", "Nothing to read yet")
    assert rows(page) == []
    page.locator("#word-1").fill("👩‍👩‍👧<b>&\u202e")
    wait_for(page, "#map-says", "<b>")
    assert page.locator("#problem").is_hidden()
    page.locator("#word-1").fill("x" * 300)
    wait_for(page, "#badge-1", "new")


def test_of_a_text_the_last_word_is_looked_at(page):
    type_word(page, "a wonderfull fi1m")
    wait_for(page, "#verdict-1", "probably film")
    assert page.locator("#text-1 .token.near").all_text_contents() == ["wonderfull", "fi1m"]


def test_a_neighbor_is_looked_at_when_clicked(page):
    page.get_by_role("button", name="lymphoma", exact=True).click()
    wait_for(page, "#badge-1", "known")
    assert page.locator("#word-1").input_value() == "lymphoma"


def test_damage_moves_the_vector_and_neighbors_stay(page):
    type_word(page, "architecture")
    wait_for(page, "#badge-1", "known")
    slider = page.get_by_label("How many slips")
    slider.focus()
    slider.press("ArrowRight")
    wait_for(page, "#damaged-1", "nearest words stay")
    damaged = page.locator("#damaged-1 strong").text_content()
    assert damaged != "architecture"
    assert int(re.search(r"(\d+) of 10 nearest", page.locator("#damaged-1").text_content())[1]) >= 5
    page.get_by_label("Kind of damage").select_option("ocr")
    page.wait_for_function(
        "(before) => document.querySelector('#damaged-1 strong').textContent !== before", arg=damaged
    )
    slider.press("Home")
    page.locator("#damaged-1").wait_for(state="hidden")


def test_units_tell_what_they_attend_to_by_keyboard(page):
    first = page.locator("#units-1 button").first
    assert first.text_content() == "[CLS]"
    first.focus()
    first.press("ArrowRight")
    page.keyboard.press("Enter")
    said = page.locator("#unit-says-1").text_content()
    assert re.match(r"l counts \d\.\d\d and brings -?\d+ % of the vector; it attends to ", said)
    assert page.locator("#units-1 [aria-pressed=true]").text_content() == "l"


def test_two_words_side_by_side(page, shipped_love):
    page.get_by_role("button", name="Compare with another word or model").click()
    type_word(page, "lymphoma", 2)
    wait_for(page, "#map-says", "“lymphoma” lies among")
    wait_for(page, "#map-says", f"Cosine of the two: {shipped_love.similar('leukamia', 'lymphoma'):.2f}")
    page.get_by_role("button", name="One word alone").click()
    assert page.locator(".panel").count() == 1


def test_the_map_moves_and_zooms(page):
    canvas = page.locator("#map")
    canvas.scroll_into_view_if_needed()
    wait_for(page, "#map-says", "leukamia")
    pictures = [canvas.screenshot()]
    canvas.focus()
    for key in ("+", "ArrowLeft", "ArrowUp", "0"):
        canvas.press(key)
        page.wait_for_timeout(100)
        pictures.append(canvas.screenshot())
    assert len(set(pictures)) == len(pictures)
    page.get_by_role("button", name="Closer").click()
    page.wait_for_timeout(100)
    assert canvas.screenshot() != pictures[-1]


def open_text(page, text: str) -> None:
    page.get_by_role("tab", name="Text").click()
    page.locator("#text").fill(text)


def test_a_text_is_coloured_and_repaired(page, shipped_love):
    text = "The goverment 👍 of Reykjavik\nis deplatformed, tommorow. Alot, to morrow, 98765"
    open_text(page, text)
    wait_for(page, "#counts", f"{len(shipped_love.tokens(text))} words")
    assert page.locator("#tokens").text_content() == text
    near = page.locator("#tokens .token.near")
    assert near.all_text_contents() == ["goverment", "tommorow", "to morrow"]
    assert page.locator("#tokens .token.new").all_text_contents() == ["deplatformed", "98765"]
    assert page.locator("#tokens .token.parts").all_text_contents() == ["Alot"]
    assert "1 in parts" in page.locator("#counts").text_content()
    page.locator("#tokens .token.parts").focus()
    assert page.locator("#repair").text_content() == "Alot: parts, read as A lot"
    near.first.hover()
    assert page.locator("#repair").text_content() == "goverment: near, read as government"
    near.last.focus()
    assert "read as tomorrow" in page.locator("#repair").text_content()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_a_file_is_read(page, tmp_path, encoding):
    (tmp_path / "words.txt").write_text("oxgen\nleukamia\ncafé\n", encoding)
    page.get_by_role("tab", name="Text").click()
    page.locator("#file").set_input_files(tmp_path / "words.txt")
    wait_for(page, "#tokens", "café")
    wait_for(page, "#counts", "3 words: 1 known, 2 near")


@pytest.mark.parametrize("content", [b"PK\x03\x04\x00\x00words", b"word " * 2_100_000])
def test_a_file_that_cannot_be_shown_is_refused(page, tmp_path, content):
    open_text(page, "oxgen")
    wait_for(page, "#counts", "1 words")
    (tmp_path / "words.txt").write_bytes(content)
    page.locator("#file").set_input_files(tmp_path / "words.txt")
    wait_for(page, "#problem", "words.txt is")
    assert page.locator("#text").input_value() == "oxgen"


DRAFT = "👍 the Goverment 👍\nrecieves it tommorow, <b>tommorow"


@pytest.fixture
def draft(page):
    """The tab *Correct* with a text in it, where clipboards may be read."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("tab", name="Correct").click()
    page.locator("#draft").fill(DRAFT)
    wait_for(page, "#corrections", "4 words corrected")
    return page


def copied(page) -> str:
    page.get_by_role("button", name="Copy").click()
    wait_for(page, "#copied", "Copied.")
    return page.evaluate("navigator.clipboard.readText()")


def test_a_text_is_corrected_and_corrections_are_taken_back(draft, shipped_love):
    """An emoji is two places for JavaScript and one for the server."""
    expected = shipped_love.correct(DRAFT)
    marked = draft.locator("#corrected button")
    assert draft.locator("#corrected").text_content() == expected.text
    assert marked.all_text_contents() == ["Government", "receives", "tomorrow", "tomorrow"]
    assert copied(draft) == expected.text
    marked.nth(2).click()
    assert marked.nth(2).get_attribute("aria-pressed") == "false"
    assert draft.locator("#corrections").text_content() == "3 words corrected, 1 left as written"
    assert draft.locator("#copied").text_content() == ""
    assert copied(draft) == "👍 the Government 👍\nreceives it tommorow, <b>tomorrow"
    draft.locator("#draft").press("Control+End")
    draft.locator("#draft").press_sequentially(" and the hosue")
    wait_for(draft, "#corrected", "house")
    assert marked.all_text_contents()[:4] == ["Government", "receives", "tommorow", "tomorrow"]
    marked.nth(2).click()
    assert copied(draft).endswith("it tomorrow, <b>tomorrow and the house")


def test_other_words_are_chosen_by_keyboard(draft, shipped_love):
    edit = shipped_love.correct(DRAFT).edits[1]
    others = [word for word, _ in edit.suggestions if word != edit.after]
    assert others
    first = draft.locator("#corrected button").first
    first.focus()
    draft.keyboard.press("Tab")
    assert draft.locator("#choices legend").text_content() == "recieves: misspelled"
    draft.keyboard.press("Enter")
    assert draft.locator("#corrected button").nth(1).text_content() == "recieves"
    draft.keyboard.press("Enter")
    draft.keyboard.press("ArrowDown")
    labels = draft.locator("#choices label span:first-of-type")
    assert labels.all_text_contents() == ["receives", *others, "recieves"]
    assert draft.locator("#choices :checked").evaluate("(radio) => radio === document.activeElement")
    draft.keyboard.press("ArrowDown")
    assert draft.locator("#corrected button").nth(1).text_content() == others[0]
    draft.keyboard.press("Escape")
    assert draft.locator("#corrected button").nth(1).evaluate("(button) => button === document.activeElement")
    assert others[0] in copied(draft)


def test_fewer_and_surer_corrections(draft, shipped_love):
    draft.locator("#draft").fill("a wonderfull grat hosue, tommorow")
    draft.locator("#threshold").fill("99")
    expected = shipped_love.correct("a wonderfull grat hosue, tommorow", threshold=0.99)
    wait_for(draft, "#corrected", expected.text)
    assert draft.locator("#least").text_content() == "99 %"
    draft.locator("#draft").fill("")
    wait_for(draft, "#corrections", "0 words corrected")
    assert copied(draft) == ""


def test_without_leave_the_text_is_copied_the_old_way(chromium, server):
    """Pages that come neither from this machine nor by https have no clipboard."""
    context = chromium.new_context()
    page = context.new_page()
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.goto(f"{server}#correct")
    wait_for(page, "#corrections", "corrected")
    page.get_by_role("button", name="Copy").click()
    wait_for(page, "#copied", "Copied.")
    page.locator("#draft").fill("")
    page.locator("#draft").press("Control+V")
    assert "government" in page.locator("#draft").input_value()
    context.close()


HOSTILE = "<img/src=x/onerror=alert(1)>"


def test_markup_stays_text(chromium, server, tmp_path):
    """Typed, in the address, pasted, in a file's name: it is shown, and nothing of it becomes a part of the page."""
    script = "<script>alert(2)</script>"
    with opened(chromium, f"{server}?word={quote(HOSTILE)}&with={quote(script)}") as page:
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        settled(page)
        settled(page, 2)
        assert page.locator("#word-1").input_value() == HOSTILE
        type_word(page, f"{HOSTILE} {script} x")
        settled(page)
        open_text(page, f"{HOSTILE}\n{script}")
        wait_for(page, "#tokens", "onerror=alert(1)>")
        (tmp_path / f"{HOSTILE.replace('/', ' ')}.txt").write_bytes(b"\0")
        page.locator("#file").set_input_files(tmp_path / f"{HOSTILE.replace('/', ' ')}.txt")
        wait_for(page, "#problem", "<img src=x onerror=alert(1)>.txt is no text.")
        page.get_by_role("tab", name="Correct").click()
        page.locator("#draft").fill(f"the goverment {HOSTILE}\n{script}")
        wait_for(page, "#corrected", "alert(1)>")
        page.locator("#corrected button").first.click()
        assert page.locator("img").count() == 0
        assert page.locator("body script").count() == 0


def test_no_formulas_in_a_csv(page, tmp_path):
    """A spreadsheet takes them for text; Parquet has the lines as they are."""
    lines = ["=cmd|' /C calc'!A0", "+1 (555) oxgen", "-5 oxgen", "@oxgen", "\t=1+1", "a = b", ";=cmd|' /C calc'!A0"]
    lines += ["x\t=1+1", 'a";=1+1', "-5.25", "+3e5"]
    open_text(page, "\n".join(lines))
    wait_for(page, "#counts", "words")
    page.locator("#per").select_option("line")
    for button, expected in {"CSV": [*(f"'{line}" for line in lines[:5]), *lines[5:]], "Parquet": lines}.items():
        with page.expect_download() as coming:
            page.get_by_role("button", name=button, exact=True).click()
        coming.value.save_as(tmp_path / button)
        if button == "CSV":
            assert [row[0] for row in csv.reader((tmp_path / button).open(encoding="utf-8"))][1:] == expected
            for separator in ";\t":  # as spreadsheets read it elsewhere
                rows = csv.reader((tmp_path / button).open(encoding="utf-8"), delimiter=separator)
                cells = [cell for row in rows for cell in row]
                assert len(cells) == len(expected) + 1
                assert not [cell for cell in cells if cell.startswith(("=", "@", "\t", "\r"))]
        elif parquet := pytest.importorskip("pyarrow.parquet"):
            assert parquet.read_table(tmp_path / button).column("word").to_pylist() == expected


@pytest.mark.parametrize("per", ["word", "line"])
def test_vectors_are_taken_home(page, shipped_love, tmp_path, per):
    lines = ['say "oxgen", twice', "leukamia, Grüße"]
    open_text(page, "\n".join(lines))
    wait_for(page, "#counts", "5 words")
    page.locator("#per").select_option(per)
    words = ["say", "oxgen", "twice", "leukamia", "Grüße"]
    names = words if per == "word" else lines
    expected = shipped_love.embed(words) if per == "word" else shipped_love.encode(lines)

    def saved(button: str):
        with page.expect_download() as coming:
            page.get_by_role("button", name=button, exact=True).click()
        path = tmp_path / coming.value.suggested_filename
        coming.value.save_as(path)
        return path

    table = list(csv.reader(saved("CSV").open(encoding="utf-8")))
    assert [row[0] for row in table] == ["word", *names]
    assert np.array_equal(np.array([row[1:] for row in table[1:]], dtype=np.float32), expected)
    assert np.array_equal(np.load(saved("npy")), expected)
    parquet = pytest.importorskip("pyarrow.parquet")
    read = parquet.read_table(saved("Parquet"))
    assert read.column("word").to_pylist() == names
    assert np.array_equal(np.array(read.column("vector").to_pylist(), dtype=np.float32), expected)


def test_two_models_side_by_side(chromium):
    with lovevec_server("--model", "default", "--model", "minilm-input") as address, opened(chromium, address) as page:
        wait_for(page, "#verdict-1", "probably leukaemia")
        assert page.get_by_label("Model").first.locator("option").all_text_contents() == ["default", "minilm-input"]
        page.get_by_role("button", name="Compare with another word or model").click()
        wait_for(page, "#map-says", "nearest words are the same by both models")
        assert page.locator("#model-2").input_value() == "minilm-input"
        assert page.locator("#word-2").input_value() == "leukamia"


def test_an_attached_table_has_readings_but_no_units(chromium, tmp_path, shipped_love):
    words = list(shipped_love.words[:3000])
    rows = [" ".join([word, *map("{:.4f}".format, row)]) for word, row in zip(words, shipped_love[words], strict=True)]
    (tmp_path / "mine.vec").write_text("\n".join([f"{len(words)} 300", *rows, ""]), "utf-8")
    with lovevec_server("--vectors", str(tmp_path / "mine.vec")) as address, opened(chromium, address) as page:
        settled(page)
        page.locator("#model-1").select_option("mine")
        type_word(page, "goverment")
        settled(page)
        assert page.locator("#verdict-1").text_content() == "probably government"
        assert page.locator(".made").is_hidden()


def test_what_goes_wrong_is_said_and_forgotten(chromium, server):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(server)
    settled(page)
    problem = '{"error": {"message": "the server is busy: ask again in a second"}}'
    page.route("**/v1/near", lambda route: route.fulfill(status=429, body=problem, content_type="application/json"))
    type_word(page, "oxgen")
    wait_for(page, "#problem", "the server is busy")
    page.unroute("**/v1/near")
    type_word(page, "bl00d")
    settled(page)
    assert page.locator("#problem").is_hidden()
    page.route("**/v1/**", lambda route: route.abort())
    type_word(page, "leukaemic")
    wait_for(page, "#problem", "The server does not answer.")
    context.close()


def test_a_key_is_asked_for_where_one_is_needed(chromium):
    with lovevec_server(LOVEVEC_API_KEY="secret") as address:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(address)
        page.get_by_label("This server wants its API key").fill("secret")
        page.get_by_role("button", name="Use it").click()
        wait_for(page, "#verdict-1", "probably leukaemia")
        assert page.locator("#key").is_hidden()
        context.close()


@needs_axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_nothing_stands_in_the_way_of_anybody(chromium, server, dark, phone, tmp_path):
    with opened(chromium, server, phone=phone, dark=dark) as page:
        settled(page)
        assert violations(page) == []
        page.get_by_role("button", name="Compare with another word or model").click()
        settled(page, 2)
        page.locator("#units-1 button").nth(1).click()
        assert violations(page) == []
        page.locator("#word-1").fill("hapy-netwrok15")
        wait_for(page, "#parts-1", "network")
        settled(page)
        assert violations(page) == []
        page.get_by_role("tab", name="Text").click()
        wait_for(page, "#counts", "words")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.screenshot(path=tmp_path / "text.png", full_page=True)
        page.get_by_role("tab", name="Correct").click()
        wait_for(page, "#corrections", "corrected")
        page.locator("#corrected button").first.click()
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.screenshot(path=tmp_path / "correct.png", full_page=True)


def test_the_theme_is_chosen_and_kept(page):
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    wait_for(page, "#verdict-1", "probably leukaemia")


def test_tabs_are_chosen_by_keyboard(page):
    page.get_by_role("tab", name="Word").focus()
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="Text").get_attribute("aria-selected") == "true"
    assert page.locator("#view-word").is_hidden()
    wait_for(page, "#counts", "words")
    page.keyboard.press("ArrowRight")
    wait_for(page, "#corrections", "words corrected")
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="Word").get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowLeft")
    assert page.get_by_role("tab", name="Correct").get_attribute("aria-selected") == "true"
