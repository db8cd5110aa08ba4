"""What the server answers is what the library says, number for number; and what is wrong is said in OpenAI's shape."""

from __future__ import annotations

import asyncio
import base64
import re

import httpx
import numpy as np
import pytest
from tests.odd_strings import ODD, OF_A_KIND, OF_WORDS

from lovevec import LOVE
from lovevec.explain import edit_facts, part_facts
from lovevec.serve.app import make_app
from lovevec.serve.models import ServedModel
from lovevec.vectors import read_vectors
from lovevec.vectors.memory import table_from_memory
from lovevec.vectors.write import save_table

WORDS = ["house", "recieve", "House", "blorfingly", "", "🙂", "x" * 300, "don't", "привет", "\u0000", "tommorow"]
WORDS += ["500mg", "neural-netwrok", "alot", "hapybirthday", "#ThrowbackThursday", "dont", "a.b@c.org", "iphone15"]
TEXTS = ["a wonderfull fi1m", "House, hosue!", "un café 🙂 well-known e-mail", "  two   words  "]
TEXTS += ["alot of it, to morrow at 10:30", "#ThrowbackThursday 500mg ❤️"]


def vectors_in(answer: httpx.Response) -> np.ndarray:
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert [one["index"] for one in found["data"]] == list(range(len(found["data"])))
    return np.array([one["embedding"] for one in found["data"]], dtype=np.float32)


def test_words_are_embedded_and_texts_encoded_to_the_bit(live, shipped_love):
    mixed = [*WORDS, *TEXTS]
    found = vectors_in(live.post("/v1/embeddings", {"input": mixed}))
    assert np.array_equal(found[: len(WORDS)], shipped_love.embed(WORDS))
    assert np.array_equal(found[len(WORDS) :], shipped_love.encode(TEXTS))
    assert np.array_equal(vectors_in(live.post("/v1/embeddings", {"input": "recieve"}))[0], shipped_love["recieve"])
    as_text = vectors_in(live.post("/v1/embeddings", {"input": WORDS, "input_type": "text"}))
    assert np.array_equal(as_text, shipped_love.encode(WORDS))
    as_word = vectors_in(live.post("/v1/embeddings", {"input": TEXTS, "input_type": "word"}))
    assert np.array_equal(as_word, shipped_love.embed(TEXTS))


def test_base64_holds_the_same_numbers(live, shipped_love):
    answer = live.post("/v1/embeddings", {"input": WORDS, "encoding_format": "base64", "model": "default"}).json()
    rows = [np.frombuffer(base64.b64decode(one["embedding"]), dtype="<f4") for one in answer["data"]]
    assert np.array_equal(np.array(rows), shipped_love.embed(WORDS))
    assert answer["model"] == "default"
    assert answer["usage"] == {"prompt_tokens": len(WORDS), "total_tokens": len(WORDS)}


def test_fewer_dimensions_are_the_first_at_unit_length(live, shipped_love):
    found = vectors_in(live.post("/v1/embeddings", {"input": ["house", "recieve"], "dimensions": 64}))
    cut = shipped_love.embed(["house", "recieve"])[:, :64].astype(np.float64)
    assert np.allclose(found, cut / np.linalg.norm(cut, axis=1, keepdims=True), atol=1e-6)
    refused = live.post("/v1/embeddings", {"input": "house", "dimensions": 301})
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "dimensions"


def test_readings(live, shipped_love):
    data = live.post("/v1/near", {"input": WORDS, "k": 3}).json()["data"]
    assert [one["word"] for one in data] == WORDS
    assert [one["reading"] for one in data] == shipped_love.readings(WORDS)
    assert np.allclose([one["confidence"] for one in data], shipped_love.confidence(WORDS))
    for one, near in zip(data, shipped_love.near(WORDS, 10), strict=True):
        assert [(each["word"], each["probability"]) for each in one["near"]] == near[:3]
        assert one["new"] + sum(probability for _, probability in near) <= 1 + 1e-9
    assert [one["new"] for one in data] == shipped_love.lookup(WORDS).new.tolist()


def test_kinds_and_parts(live, shipped_love):
    """As people name them, and as the library has them."""
    words = [word for word in ODD if len(word) <= 1000]
    data = live.post("/v1/near", {"input": words}).json()["data"]
    lookup = shipped_love.lookup(words)
    assert [one["kind"] for one in data] == lookup.kinds
    assert [one["parts"] for one in data] == [[part_facts(part) for part in parts] for parts in lookup.parts]
    answers = {one["word"]: one for one in data}
    for kind, strings in OF_A_KIND.items():
        assert {string: answers[string]["kind"] for string in strings} == dict.fromkeys(strings, kind)
    for string, words in OF_WORDS.items():
        parts = answers[string]["parts"]
        assert answers[string]["reading"] == "parts", string
        assert " ".join(part["word"] or part["text"].lower() for part in parts) == words
        assert all(part["text"] == string[part["start"] : part["end"]] for part in parts)


def test_neighbors(live, shipped_love):
    data = live.post("/v1/neighbors", {"input": WORDS, "k": 7}).json()["data"]
    expected = shipped_love.neighbors(WORDS, 7)
    for one, near in zip(data, expected, strict=True):
        assert [(each["word"], each["cosine"]) for each in one["neighbors"]] == near
    assert len(live.post("/v1/neighbors", {"input": "house"}).json()["data"][0]["neighbors"]) == 5


def test_similarities(live, shipped_love):
    pairs = [["colour", "color"], ["house", "hosue"], ["house", ""], ["a", "a"]]
    data = live.post("/v1/similar", {"pairs": pairs}).json()["data"]
    for one, (left, right) in zip(data, pairs, strict=True):
        expected = shipped_love.similar(left, right)
        assert one["cosine"] is None if np.isnan(expected) else one["cosine"] == pytest.approx(expected)


def test_explanations(live, shipped_love):
    words = ["bec0me", "house", "neural-netwrok", "500mg", "hapybirthday"]
    data = live.post("/v1/explain", {"input": words}).json()["data"]
    for one, word in zip(data, words, strict=True):
        expected = shipped_love.explain(word).as_dict()
        assert {name: value for name, value in one.items() if name != "index"} == expected
    covered = [unit["name"] for unit in data[0]["units"] if (unit["start"], unit["end"]) == (3, 4)]
    assert covered == ["0", "##0"]


def test_words_of_a_text_stand_where_they_stand(live, shipped_love):
    text = "A wonderfull, well-known fi1m 🙂 e-mail. Alot to morrow, 10:30"
    (found,) = live.post("/v1/tokens", {"input": text}).json()["data"]
    seen = shipped_love.tokens(text)
    assert [(one["reading"], one["word"]) for one in found["tokens"]] == [(one.reading, one.word) for one in seen]
    assert [one["text"] for one in found["tokens"]][:6] == ["A", "wonderfull", "well", "known", "fi1m", "🙂"]
    assert all(one["text"] == text[one["start"] : one["end"]] for one in found["tokens"])
    readings = {one["text"]: (one["reading"], one["repair"]) for one in found["tokens"]}
    assert readings["wonderfull"] == ("near", "wonderful")
    assert readings["known"] == ("known", None)
    assert readings["Alot"] == ("parts", "A lot")
    assert readings["to morrow"] == ("near", "tomorrow")
    assert [one["text"] for one in found["tokens"]][-2:] == ["10", "30"]


def test_texts_are_corrected(live, shipped_love):
    """As the library does it; places are code points, also behind an emoji."""
    texts = [
        *TEXTS,
        "👍 the Goverment recieves it",
        "",
        "nothing to correct",
        "THE GOVERMENT",
        "Ths is a tset",
        "It came form my freind",
    ]

    def expected(**limits):
        corrections = shipped_love.correct(texts, **limits)
        edits = [[edit_facts(edit) for edit in correction.edits] for correction in corrections]
        rows = enumerate(zip(corrections, edits, strict=True))
        return [{"index": index, "text": one.text, "edits": edits} for index, (one, edits) in rows]

    data = live.post("/v1/correct", {"input": texts}).json()["data"]
    assert data == expected()
    assert data[6]["text"] == "👍 the Government receives it"
    edit = data[6]["edits"][0]
    assert (edit["start"], edit["end"], edit["before"], edit["after"]) == (6, 15, "Goverment", "Government")
    assert edit["suggestions"][0] == {"word": "Government", "probability": edit["probability"]}
    for limits in ({"threshold": 0.01}, {"threshold": 1}, {"keep": ["goverment", "fi1m"]}):
        assert live.post("/v1/correct", {"input": texts} | limits).json()["data"] == expected(**limits)
    assert live.post("/v1/correct", {"input": "tommorow"}).json()["data"][0]["text"] == "tomorrow"


def test_corrections_by_other_limits_are_not_joined(live):
    """Requests that come together are computed together, but for those that ask for something else."""
    asked = [
        {"input": ["the goverment", "tommorow"], "keep": keep, "threshold": threshold}
        for keep in ([], ["goverment"], ["tommorow"], ["Tommorow", "goverment"])
        for threshold in (0.5, 1.0)
    ]

    async def ask() -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=live.address, timeout=60) as client:
            return await asyncio.gather(*(client.post("/v1/correct", json=one) for one in asked * 5))

    for one, answer in zip(asked * 5, asyncio.run(ask()), strict=True):
        alone = live.post("/v1/correct", one).json()["data"]
        assert answer.json()["data"] == alone
        kept = [word for word in one["keep"] if any(word.lower() in row["text"] for row in alone)]
        assert kept == one["keep"]


def test_words_can_be_read_alone(live, shipped_love):
    texts = ["a grat film", "the tset of it"]
    found = live.post("/v1/tokens", {"input": texts, "context": False}).json()["data"]
    expected = [[token.probability for token in shipped_love.tokens(text, context=False)] for text in texts]
    assert [[one["probability"] for one in row["tokens"]] for row in found] == expected
    for context in (False, True):
        answer = live.post("/v1/embeddings", {"input": texts, "context": context})
        assert np.array_equal(vectors_in(answer), shipped_love.encode(texts, context=context))


@pytest.mark.parametrize(
    ("path", "content", "status", "param", "says"),
    [
        ("/v1/correct", {"input": "a", "threshold": 0}, 400, "threshold", "greater"),
        ("/v1/correct", {"input": "a", "threshold": 2}, 400, "threshold", "less"),
        ("/v1/correct", {"input": "a", "threshold": "0.5"}, 400, "threshold", "number"),
        ("/v1/correct", {"input": "a", "keep": "a"}, 400, "keep", "list"),
        ("/v1/correct", {"input": "a", "keep": [5]}, 400, "keep", "string"),
        ("/v1/correct", {"input": []}, 400, "input", "at least 1"),
        ("/v1/tokens", {"input": "a", "context": "no"}, 400, "context", "boolean"),
        ("/v1/embeddings", {"input": [1, 2, 3]}, 400, "input", "check_embedding_ctx_length=False"),
        ("/v1/embeddings", {"input": [[1, 2], [3]]}, 400, "input", "token ids"),
        ("/v1/embeddings", {"input": []}, 400, "input", "at least 1"),
        ("/v1/embeddings", {}, 400, "input", "required"),
        ("/v1/embeddings", {"input": "a", "encoding_format": "hex"}, 400, "encoding_format", "base64"),
        ("/v1/embeddings", {"input": "a", "dimensions": 0}, 400, "dimensions", "greater"),
        ("/v1/embeddings", {"input": "a", "model": "gpt"}, 404, "model", "default"),
        ("/v1/embeddings", {"input": ["a", None]}, 400, "input", "string"),
        ("/v1/near", {"input": "a", "k": "5"}, 400, "k", "integer"),
        ("/v1/near", {"input": "a", "k": 10**30}, 400, "k", "100"),
        ("/v1/similar", {"pairs": [["a"]]}, 400, "pairs", "at least 2"),
        ("/v1/embeddings", ["a"], 400, None, "body"),
        ("/v1/nothing", {}, 404, None, "Not Found"),
        ("/v1/models", {}, 405, None, "Method"),
    ],
)
def test_what_is_wrong_is_said(live, path, content, status, param, says):
    answer = live.post(path, content)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["param"] == param
    assert says in error["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"input": "\\ud800"}', b"NaN", b"1e999"])
def test_what_is_no_json_is_refused(live, body):
    answer = live.client.post("/v1/embeddings", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == (413 if body.startswith(b"[[") else 400)
    assert answer.json()["error"]["type"] == "invalid_request_error"


def test_pages_of_other_sites_cannot_post_by_form(live):
    """A form's content type needs no leave from us (no preflight), so it is not taken for JSON."""
    answer = live.client.post("/v1/near", content=b'{"input": "a"}', headers={"Content-Type": "text/plain"})
    assert answer.status_code == 400
    assert "access-control-allow-origin" not in answer.headers


def test_models_and_health(live, shipped_love):
    (card,) = live.client.get("/v1/models").json()["data"]
    assert card["id"] == "default"
    assert (card["dim"], card["known_words"]) == (shipped_love.dim, len(shipped_love))
    assert live.client.get("/v1/models/default").json() == card
    assert live.client.get("/v1/models/other").status_code == 404
    assert live.client.get("/healthz").json() == live.client.get("/readyz").json() == {"status": "ok"}
    for path in ("/", "/healthz", "/readyz"):  # what load balancers ask by
        asked = live.client.head(path)
        assert (asked.status_code, asked.content) == (200, b"")


def test_pages_need_nothing_from_elsewhere(live):
    described = live.client.get("/openapi.json").json()
    page = live.client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert all(f"<code>{path}</code>" in page.text for path in described["paths"])
    assert "<script" not in page.text
    assert not re.findall(r"(?:src|href)=.https?:", page.text)
    assert live.client.get("/docs.css").headers["content-type"].startswith("text/css")
    first = live.client.get("/")
    assert first.status_code == 200
    assert first.headers["content-security-policy"].startswith("default-src 'self'")
    again = live.client.get("/", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code in (200, 304)
    assert live.client.get("/page/../../love.py").status_code == 404
    assert live.client.get("/page/%2e%2e/%2e%2e/love.py").status_code == 404


def test_several_models_and_tables(serve, small_model, tmp_path):
    love = LOVE.load(small_model)
    table = table_from_memory((list(love.words), 3 * love.impute(love.words)), None)[0]
    file = tmp_path / "own.vec"
    save_table(table, file)
    with serve("--model", "default", "--vectors", file) as server:
        ids = [card["id"] for card in server.client.get("/v1/models").json()["data"]]
        assert ids == ["small", "default", "own"]
        words = [love.words[3], "blorfingly", love.words[7][:-1]]
        attached = love.attach(read_vectors(file))
        found = vectors_in(server.post("/v1/embeddings", {"input": words, "model": "own"}))
        assert np.allclose(found, attached.embed(words), atol=1e-6)
        near = server.post("/v1/near", {"input": words, "model": "own"}).json()["data"]
        assert [one["reading"] for one in near] == attached.readings(words)
        explained = server.post("/v1/explain", {"input": words[2], "model": "own"}).json()["data"][0]
        assert explained["reading"] == attached.readings(words)[2]
        assert explained["units"] == attached.explain(words[2], 0).as_dict()["units"]
        assert vectors_in(server.post("/v1/embeddings", {"input": "a"})).shape == (1, love.dim)
        assert vectors_in(server.post("/v1/embeddings", {"input": "a", "model": "default"})).shape == (1, 300)


class Broken(ServedModel):
    """A model that fails in a way that nobody thought of."""

    def embed(self, words):
        raise MemoryError(f"no room for {words}")


def test_a_failure_of_ours_says_nothing_of_what_was_asked(shipped_love):
    app = make_app({"default": Broken("default", shipped_love, "model")})

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            words = [f"secret{number}" for number in range(20)]  # in the loop's thread, and in one of its own
            return [await client.post("/v1/embeddings", json={"input": words[:size]}) for size in (1, 20)]

    for answer in asyncio.run(ask()):
        assert answer.status_code == 500
        assert answer.json()["error"] == {
            "message": "the server failed; its log says why",
            "type": "server_error",
            "param": None,
            "code": "internal_error",
        }


def test_who_sends_json_by_another_name_is_told(live):
    """As `curl -d` does, or a script that sets no header."""
    for headers in ({"Content-Type": "application/x-www-form-urlencoded"}, {}):
        asked = httpx.Request("POST", f"{live.address}/v1/near", content=b'{"input": "a"}', headers=headers)
        answer = live.client.send(asked)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, None)
        assert "Content-Type: application/json" in answer.json()["error"]["message"]


def test_browsers_find_an_icon(live):
    icon = live.client.get("/favicon.ico")
    assert (icon.status_code, icon.headers["content-type"]) == (200, "image/svg+xml")
    assert icon.text.startswith("<svg")
