"""Searches over HTTP are those of the library, to the bit; what is wrong is said in OpenAI's shape."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator

import httpx
import pytest

from lovevec import LOVE
from lovevec.search import Index
from lovevec.serve.app import SEARCH_INPUTS, SEARCH_WORDS, make_app
from lovevec.serve.indexes import ServedIndex
from lovevec.serve.models import ServedModel

TEXTS = [
    "Wireless headphones with noise cancelling",
    "A stand for headphones, oak",
    "Stainless steel kettle 1.7 l",
    "Vestergaard tea kettle",
    "Running shoes for women",
    "Café chair, 2 pieces 🪑",
]
QUERIES = ["wireles hedphones", "ketle", "Vestergard", "shooes for joging", "cafe", "", "zzz", "1.7l"]
HEADERS = {"Content-Type": "application/json"}
Ask = Callable[..., httpx.Response]


@pytest.fixture(scope="module")
def index(shipped_love) -> Index:
    return shipped_love.index(TEXTS, ids=["a", 1, 2, "3", "x y", "é"])


def asking(app) -> Ask:
    """Asks an app in this process."""

    def ask(path: str, content: object = None) -> httpx.Response:
        async def answer() -> httpx.Response:
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://here", headers=HEADERS
            ) as client:
                return await (client.get(path) if content is None else client.post(path, content=json.dumps(content)))

        return asyncio.run(answer())

    return ask


@pytest.fixture(scope="module")
def ask(shipped_love, index) -> Iterator[Ask]:
    other = shipped_love.index(["oak", "steel"])
    served = {"shop": ServedIndex("shop", index), "other": ServedIndex("other", other)}
    return asking(make_app({"default": ServedModel("default", shipped_love, "model")}, indexes=served))


def found(answer: httpx.Response) -> list[list[tuple[object, str, float]]]:
    assert answer.status_code == 200, answer.text
    return [[(hit["id"], hit["text"], hit["score"]) for hit in one["hits"]] for one in answer.json()["data"]]


def test_hits_are_those_of_the_library(ask, index):
    answer = ask("/v1/search", {"input": QUERIES, "k": 3})
    assert found(answer) == [[(hit.id, hit.text, hit.score) for hit in hits] for hits in index.search(QUERIES, 3)]
    body = answer.json()
    assert (body["object"], body["searched"]) == ("list", "shop")
    assert [(one["index"], one["query"]) for one in body["data"]] == list(enumerate(QUERIES))
    assert all("why" not in hit for one in body["data"] for hit in one["hits"])
    assert found(ask("/v1/search", {"input": QUERIES[0], "k": 3})) == found(answer)[:1]


def test_reasons_where_they_are_asked_for(ask, index):
    hit = ask("/v1/search", {"input": "wireles hedphones", "k": 1, "why": True}).json()["data"][0]["hits"][0]
    why = index.search("wireles hedphones", 1)[0].why
    assert hit["why"]["met"] == [met._asdict() for met in why.met]
    assert {(met["query"], met["word"]) for met in hit["why"]["met"]} == {
        ("wireles", "wireless"),
        ("hedphones", "headphones"),
    }
    shares = [hit["why"][name] for name in ("words", "letters", "meaning")]
    assert shares == list(why[1:])
    assert sum(shares) == pytest.approx(hit["score"])


def test_only_the_texts_of_these_ids(ask, index):
    asked = {"input": ["kettle", "headphones"], "ids": [1, "3", "3"]}
    assert found(ask("/v1/search", asked)) == [
        [(hit.id, hit.text, hit.score) for hit in hits]
        for hits in index.search(["kettle", "headphones"], only=[1, "3"])
    ]
    assert {hit[0] for hits in found(ask("/v1/search", asked)) for hit in hits} <= {1, "3"}
    assert found(ask("/v1/search", {"input": "kettle", "ids": []})) == [[]]


def test_several_indexes(ask):
    cards = ask("/v1/indexes").json()["data"]
    assert [(card["id"], card["object"], card["texts"], card["fields"]) for card in cards] == [
        ("shop", "index", len(TEXTS), []),
        ("other", "index", 2, []),
    ]
    answer = ask("/v1/search", {"input": "oka", "index": "other", "k": 1})
    assert answer.json()["searched"] == "other"
    assert found(answer)[0][0][:2] == (0, "oak")


@pytest.mark.parametrize(
    ("content", "status", "param", "message"),
    [
        ({"input": "a", "index": "nope"}, 404, "index", "no index named 'nope' is served here; there is: shop, other"),
        ({"input": "a", "k": 0}, 400, "k", "k: "),
        ({"input": "a", "k": 101}, 400, "k", "k: "),
        ({"input": "a", "k": "3"}, 400, "k", "k: "),
        ({"input": []}, 400, "input", "input: "),
        ({"input": [1]}, 400, "input", "input: these are token ids"),
        ({}, 400, "input", "input: "),
        ({"input": "a", "ids": "a"}, 400, "ids", "ids: "),
        ({"input": "a", "ids": [1.5]}, 400, "ids", "ids: "),
        ({"input": "a", "ids": [True]}, 400, "ids", "ids: "),
        ({"input": "a", "ids": ["a", "b"]}, 400, "ids", "ids: 'b' is not in the index"),
        ({"input": "a", "ids": [10**30]}, 400, "ids", "ids: "),
        ({"input": "half \ud800"}, 400, "input", "string 0 holds half a surrogate pair"),
        ({"input": ["a"] * (SEARCH_INPUTS + 1)}, 413, "input", f"{SEARCH_INPUTS + 1} strings: at most {SEARCH_INPUTS}"),
        ({"input": "a " * (SEARCH_WORDS + 1)}, 413, "input", f"too many words: at most {SEARCH_WORDS:,}"),
        ({"input": "x" * 2000}, 413, "input", "string 0 has a word of more than 1,024 characters"),
    ],
)
def test_what_is_wrong_is_said(ask, content, status, param, message):
    answer = ask("/v1/search", content)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["param"] == param
    assert answer.json()["error"]["message"].startswith(message)


def test_without_an_index_it_says_how_to_have_one(shipped_love):
    ask = asking(make_app({"default": ServedModel("default", shipped_love, "model")}))
    answer = ask("/v1/search", {"input": "kettle"})
    assert answer.status_code == 404
    assert answer.json()["error"] == {
        "message": "no index is served here: make one with `lovevec index`, then start `lovevec serve --index FOLDER`",
        "type": "not_found_error",
        "param": "index",
        "code": "index_not_found",
    }
    assert ask("/v1/indexes").json() == {"object": "list", "data": []}


def test_searches_are_counted(ask):
    def words() -> float:
        lines = ask("/metrics").text.splitlines()
        counts = [line for line in lines if "words" in line and '"/v1/search"' in line and '"shop"' in line]
        return float(counts[0].split()[-1]) if counts else 0.0

    before = words()
    found(ask("/v1/search", {"input": ["two words", "one"]}))
    assert words() == before + 3


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_with_indexes_in_folders(serve, small_model, tmp_path, workers):
    """The model that an index was made with is the one that is served."""
    love = LOVE.load(small_model)
    texts = ["a house", "the river", "house by the river"]
    love.index(texts, ["x", "y", "z"]).save(tmp_path / "shop")
    love.index(texts[:1]).save(tmp_path / "other.v2")
    with serve("--index", tmp_path / "shop", "--index", f"more={tmp_path / 'other.v2'}", "--workers", workers) as live:
        assert [card["id"] for card in live.client.get("/v1/indexes").json()["data"]] == ["shop", "more"]
        expected = Index.load(tmp_path / "shop", love).search(["hosue", "river"])
        for _ in range(3):
            answer = live.post("/v1/search", {"input": ["hosue", "river"]})
            assert found(answer) == [[(hit.id, hit.text, hit.score) for hit in hits] for hits in expected]
        assert live.post("/v1/search", {"input": "a", "index": "more"}).json()["searched"] == "more"
        assert next(line for line in live.log() if line["event"] == "serving")["indexes"] == ["shop", "more"]


@pytest.mark.parametrize(
    ("made", "arguments", "message"),
    [
        ("nothing", ["shop"], "shop: holds no index (config.json is missing)"),
        ("with another", ["shop"], "shop: was made with another model; serve that too, with --model"),
        ("with an encoder", ["shop"], "shop: was made with an encoder of your own, which the server does not have"),
        ("damaged", ["shop"], "index.safetensors: damaged"),
        ("well", ["shop", "a=shop", "a=shop"], "two indexes are named a: give each a name of its own, NAME=FOLDER"),
        ("well", ["a b=shop"], "a b=shop: an index is given as NAME=FOLDER, its name of letters, digits, . _ -"),
    ],
)
def test_an_index_that_cannot_be_served_is_one_line(
    program, small_model, shipped_love, tmp_path, monkeypatch, made, arguments, message
):
    monkeypatch.chdir(tmp_path)
    if made == "with another":
        LOVE.load(small_model).index(["a house"]).save("shop")
    elif made != "nothing":
        shipped_love.index(["a house"], encoder=shipped_love if made == "with an encoder" else None).save("shop")
    if made == "damaged":
        (tmp_path / "shop" / "index.safetensors").write_bytes(b"x" * 100)
    done = program("serve", "--port", "0", *(word for one in arguments for word in ("--index", one)))
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
