"""What is too much is refused with a clear answer; who has no key gets none; what is counted is what was asked."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest
import uvicorn
from prometheus_client.parser import text_string_to_metric_families
from tests.factories import at_once
from tests.serve.conftest import Live, started

from lovevec.errors import LovevecError
from lovevec.serve.app import make_app
from lovevec.serve.batches import Batcher, Busy, Limits
from lovevec.serve.models import ServedModel
from lovevec.serve.processes import ServerSettings, address_of, listening, uvicorn_config

SECRET = "s3cret-k3y-that-no-log-may-hold"


def problem(answer: httpx.Response) -> dict:
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


@pytest.fixture(scope="module")
def limited(tmp_path_factory, small_model) -> Iterator[Live]:
    """A server that takes little."""
    limits = ("--max-body", 2000, "--max-inputs", 5, "--max-words", 20, "--max-length", 30)
    with started(tmp_path_factory.mktemp("limited"), "--model", f"small={small_model}", *limits) as server:
        yield server


def test_too_much_of_anything_is_refused(limited):
    refused = {
        "5 a request": {"input": ["a"] * 6},
        "more than 30 characters": {"input": ["a", "b " + "x" * 31]},
        "20 a request": {"input": ["a b c d e", "a b c d e", "a b c d e", "a b c d e", "f"]},
        "2,000 bytes": {"input": "a " * 2000},
    }
    for says, content in refused.items():
        answer = limited.post("/v1/embeddings", content)
        assert answer.status_code == 413
        assert says in problem(answer)["message"]
        assert problem(answer)["code"] == "request_too_large"
    assert limited.post("/v1/embeddings", {"input": ["a b c d"] * 5}).status_code == 200
    assert limited.post("/v1/similar", {"pairs": [["a", "b"]] * 3}).status_code == 413
    assert limited.post("/v1/explain", {"input": "x" * 31}).status_code == 413
    assert limited.post("/v1/correct", {"input": ["a b c d e f"] * 4}).status_code == 413


def test_a_body_of_unknown_size_is_counted_as_it_comes(limited):
    def parts():
        yield b'{"input": "'
        for _ in range(100):
            yield b"a " * 500
        yield b'"}'

    answer = limited.client.post("/v1/embeddings", content=parts(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
    assert "2,000 bytes" in problem(answer)["message"]


def test_neighbors_and_explanations_are_dear(live):
    assert live.post("/v1/neighbors", {"input": ["a"] * 257}).status_code == 413
    assert live.post("/v1/explain", {"input": ["a"] * 17}).status_code == 413
    assert live.post("/v1/explain", {"input": "a" * 65}).status_code == 413


def connection_of(server) -> socket.socket:
    host, port = server.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def test_a_head_without_an_end_is_cut_off(live):
    with connection_of(live) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n")
        sent = 0
        with suppress(ConnectionError):
            while sent < 50_000_000:
                sent += connection.send(b"X-Filler: " + b"x" * 4096 + b"\r\n")
        assert sent < 50_000_000
        assert live.client.get("/healthz").status_code == 200


@pytest.mark.slow
def test_who_sends_too_slowly_is_cut_off(serve):
    """In half a minute: nothing sent, half a head, half a body, blank lines, the rest of what was refused; but not who
    asks now and then."""
    head = b"POST /v1/near HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    slow = [
        b"",
        head,
        head + b'Content-Length: 50\r\n\r\n{"input',
        b"\r\n",
        head + b"Content-Length: 99999999\r\n\r\n{",
    ]
    with serve() as server:
        connections = [connection_of(server) for _ in slow]
        start = time.monotonic()
        for connection, sent in zip(connections, slow, strict=True):
            connection.sendall(sent)
        while time.monotonic() < start + 34:
            assert server.post("/v1/near", {"input": "a"}).status_code == 200  # by one connection
            time.sleep(2)
        for connection in connections:
            answer = b""
            while part := connection.recv(65_536):
                answer += part
            assert not answer or answer.startswith(b"HTTP/1.1 413")
        assert time.monotonic() < start + 50
        for connection in connections:
            connection.close()


def test_who_does_not_read_is_cut_off(shipped_love, monkeypatch):
    """Once its time is over, what waited for it is gone; meanwhile others get the same answer whole."""
    monkeypatch.setattr("lovevec.serve.connection.ANSWER_SECONDS", 2)
    words = {"input": ["house"] * 2048}  # megabytes of an answer: more than the system's buffers take
    server = uvicorn.Server(uvicorn_config(make_app({"default": ServedModel("default", shipped_love, "model")})))
    with listening("127.0.0.1", 0) as listener, socket.socket() as connection:
        listener.listen()
        serving = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        serving.start()
        try:
            body = json.dumps(words).encode()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(60)
            connection.connect(listener.getsockname())
            head = f"Host: a\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(f"POST /v1/embeddings HTTP/1.1\r\n{head}".encode() + body)
            connection.recv(1, socket.MSG_PEEK)  # the answer begins
            until = time.monotonic() + 2.5
            while time.monotonic() < until:
                other = httpx.post(f"{address_of(listener)}/v1/embeddings", json=words, timeout=60)
                assert (other.status_code, len(other.json()["data"])) == (200, 2048)
            answer = b""
            while part := connection.recv(1 << 16):
                answer += part
            assert answer.startswith(b"HTTP/1.1 200")
            assert len(answer) < len(other.content) / 2
        finally:
            server.should_exit = True
            serving.join(60)
    assert not serving.is_alive()


def test_what_clients_write_reaches_no_header(live):
    for path in ("/docs/", "/page", "/v1/models/"):
        answer = live.client.get(path, headers={"Host": "evil.example"})
        assert answer.status_code == 404
        assert "evil" not in str(answer.headers) + answer.text
    answer = live.client.get("/v1/models/a%0d%0aSet-Cookie:%20b=c")
    assert (answer.status_code, "set-cookie" in answer.headers) == (404, False)


def test_deep_and_endless_json_is_refused(live):
    bodies = {
        b"[" * 100_000: 413,
        b'{"input": ' + b"[" * 9_000 + b"]" * 9_000 + b"}": 413,
        b'{"input": ' + b"[" * 5_000 + b"]" * 5_000 + b"}": 400,
        b'{"k": ' + b"9" * 9_000 + b"}": 400,
    }
    for body, status in bodies.items():
        answer = live.client.post("/v1/near", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == status
        assert problem(answer)["type"] == "invalid_request_error"


def test_the_key_opens_what_is_guarded_and_is_never_logged(serve):
    with serve(key=SECRET) as server:
        for path in ("/v1/models", "/metrics"):
            assert server.client.get(path).status_code == 401
        for wrong in (
            "",
            "Bearer",
            f"Bearer {SECRET}x",
            f"Bearer {SECRET[:-1]}",
            f"Basic {SECRET}",
            SECRET,
            "Bearer é",
        ):
            given = {"Authorization": wrong.encode()}
            refused = server.post("/v1/embeddings", {"input": "a"}, headers=given)
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            assert problem(refused) == {
                "message": "this server wants its API key: Authorization: Bearer …",
                "type": "authentication_error",
                "param": None,
                "code": "invalid_api_key",
            }
        good = {"Authorization": f"Bearer {SECRET}"}
        assert server.post("/v1/embeddings", {"input": "a"}, headers=good).status_code == 200
        assert server.client.get("/metrics", headers=good).status_code == 200
        for path in ("/healthz", "/readyz", "/docs", "/openapi.json", "/"):
            assert server.client.get(path).status_code == 200
        assert server.client.get(f"/v1/{SECRET}?key={SECRET}").status_code == 401
        assert {line["endpoint"] for line in server.logged_requests(17)} >= {"/v1/embeddings", "/metrics", "other"}


def test_other_sites_may_ask_only_where_they_are_named(live, serve):
    asked = {"Origin": "https://pages.example", "Access-Control-Request-Method": "POST"}
    refused = live.client.options("/v1/near", headers=asked)
    assert refused.status_code == 405
    assert not [name for name in refused.headers if name.startswith("access-control")]
    with serve("--cors", "https://pages.example", key=SECRET) as server:
        assert server.client.options("/v1/near", headers=asked).status_code == 200
        other = server.client.options("/v1/near", headers=asked | {"Origin": "https://other.example"})
        assert other.status_code == 400
        given = {"Origin": "https://pages.example", "Authorization": f"Bearer {SECRET}"}
        answer = server.post("/v1/near", {"input": "a"}, headers=given)
        assert answer.headers["access-control-allow-origin"] == "https://pages.example"


def counted(text: str) -> dict[tuple, float]:
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if not sample.name.endswith(("_bucket", "_created"))
    }


def test_metrics_count_what_was_asked(serve):
    with serve() as server:
        server.post("/v1/embeddings", {"input": ["house", "hosue", "blorfingly", ""]})
        server.post("/v1/embeddings", {"input": ["two words", "house"]})
        server.post("/v1/near", {"input": "house"})
        server.post("/v1/near", {"input": 5})
        server.client.get("/made/up")
        found = counted(server.client.get("/metrics").text)
    assert found["lovevec_requests_total", "/v1/embeddings", "200"] == 2
    assert found["lovevec_requests_total", "/v1/near", "400"] == 1
    assert found["lovevec_requests_total", "404", "other"] == 1
    assert found["lovevec_words_total", "/v1/embeddings", "small"] == 7
    assert found["lovevec_readings_total", "known", "small"] == 3
    assert found["lovevec_readings_total", "empty", "small"] == 1
    assert found["lovevec_readings_total", "near", "small"] + found["lovevec_readings_total", "new", "small"] == 2
    assert found["lovevec_request_seconds_count", "/v1/embeddings"] == 2


def test_a_full_queue_is_told_at_once(serve):
    """While one large request is computed, others wait; what is beyond the limit comes back with 429."""
    many = {"input": [f"wonderfull{number}" for number in range(2000)]}
    with serve("--max-waiting", 2000) as server:
        answers = at_once(lambda: httpx.post(f"{server.address}/v1/embeddings", json=many, timeout=60), 8)
        assert 200 in [answer.status_code for answer in answers]
        for answer in answers:
            assert answer.status_code in (200, 429)
            if answer.status_code == 429:
                assert answer.headers["retry-after"] == "1"
                assert problem(answer)["type"] == "rate_limit_error"
        assert server.post("/v1/embeddings", {"input": "a"}).status_code == 200


def test_batches_join_what_comes_together_and_mix_nothing_up():
    calls: list[list[int]] = []

    def double(items: list[int]) -> list[int]:
        calls.append(list(items))
        time.sleep(0.01)
        return [2 * item for item in items]

    async def run() -> None:
        batcher = Batcher(10_000)
        asked = [list(range(number, number + number % 5 + 1)) for number in range(200)]
        answers = await asyncio.gather(*(batcher("double", double, items) for items in asked))
        assert answers == [[2 * item for item in items] for items in asked]
        assert batcher.waiting == 0
        batcher.close()

    asyncio.run(run())
    assert len(calls) < 20
    assert sorted(item for call in calls for item in call) == sorted(
        item for number in range(200) for item in range(number, number + number % 5 + 1)
    )


def test_batches_part_keys_and_survive_failures_and_clients_that_leave():
    def fail(items: list[int]) -> list[int]:
        raise LovevecError("no")

    async def run() -> None:
        batcher = Batcher(3, in_loop=1)
        left = asyncio.create_task(batcher("slow", lambda items: time.sleep(0.05) or items, [1, 2]))
        await asyncio.sleep(0.01)
        with pytest.raises(Busy):
            await batcher("other", list, [1, 2])
        left.cancel()
        with pytest.raises(asyncio.CancelledError):
            await left
        with pytest.raises(LovevecError, match="no"):
            await batcher("fails", fail, [1])
        assert await batcher("other", list, [1, 2]) == [1, 2]
        assert await batcher("large", list, range(10)) == list(range(10))  # alone it may be as large as it is
        assert batcher.waiting == 0
        batcher.close()

    asyncio.run(run())


def test_settings_are_checked():
    for wrong in ({"port": 70_000}, {"workers": 0}, {"key": "ключ"}, {"key": " a"}):
        with pytest.raises(LovevecError, match="must be"):
            ServerSettings(**wrong)
    with pytest.raises(LovevecError, match="body is 0: must be at least 1"):
        Limits(body=0)


def test_log_lines_are_json_objects(serve):
    with serve() as server:
        server.post("/v1/near", {"input": ["house", "recieve"]})
        (line,) = server.logged_requests(1)
        assert {name: line[name] for name in ("method", "endpoint", "status", "words")} == {
            "method": "POST",
            "endpoint": "/v1/near",
            "status": 200,
            "words": 2,
        }
        assert "house" not in json.dumps(server.log())
