"""Whatever is asked, the server answers as its OpenAPI says: never with a 500, never with a traceback.

Requests are made by schemathesis from our own OpenAPI, good and bad ones; and of random bytes, as bodies and as whole
requests. Here a fixed share; all of them by

    LOVEVEC_FUZZ=10000 python -m pytest tests/serve/test_fuzz.py
"""

from __future__ import annotations

import json
import os
import random
import socket

import hypothesis
import pytest
import schemathesis
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.serve.conftest import Live, started
from tests.serve.test_limits import SECRET

from lovevec import LOVE

WHOLE = int(os.environ.get("LOVEVEC_FUZZ", "0"))
REQUESTS = WHOLE or 600
PATHS = (
    "/v1/embeddings",
    "/v1/near",
    "/v1/neighbors",
    "/v1/explain",
    "/v1/similar",
    "/v1/tokens",
    "/v1/correct",
    "/v1/search",
    "/v1/models",
    "/v1/indexes",
    "/",
)
GOOD = b'{"input": ["recieve", "a wonderfull fi1m"], "model": "small"}'
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def server(small_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    LOVE.load(small_model).index(["a house", "the river, 500mg", ""]).save(folder / "shop")
    with started(folder, "--model", f"small={small_model}", "--index", folder / "shop", key=SECRET) as live:
        yield live


def refuse_trouble(answer) -> None:
    assert answer.status_code < 500, answer.text
    assert "Traceback" not in answer.text
    assert SECRET not in answer.text
    if answer.status_code >= 400:
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_what_openapi_allows_and_what_it_does_not(server: Live, mode):
    described = schemathesis.openapi.from_dict(server.client.get("/openapi.json").json())
    operations = [result.ok() for result in described.get_all_operations()]
    headers = {"Authorization": f"Bearer {SECRET}"}
    seen: list[int] = []
    for operation in operations:
        body = operation.method.upper() == "POST"
        if not body and mode == GenerationMode.NEGATIVE:
            continue

        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        @hypothesis.settings(
            max_examples=max(1, REQUESTS * 2 // 5 // 7) if body else 3,
            derandomize=True,
            database=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        def ask(case):
            answer = case.call(base_url=server.address, headers=headers, session=None)
            seen.append(answer.status_code)
            case.validate_response(answer, checks=CHECKS)
            assert "Traceback" not in answer.text

        ask()
    assert max(seen) < 500
    assert (200 in seen) if mode == GenerationMode.POSITIVE else min(seen) >= 400


def test_bodies_of_random_bytes_and_damaged_json(server: Live):
    rng = random.Random(0)
    for _ in range(REQUESTS // 10):
        body = bytearray(GOOD if rng.random() < 0.8 else rng.randbytes(rng.randrange(300)))
        for _ in range(rng.randrange(4)):
            if body:
                body[rng.randrange(len(body))] = rng.randrange(256)
        kind = rng.choice(["application/json", "application/json", "text/plain", "application/json; charset=utf-16"])
        headers = {"Content-Type": kind, "Authorization": f"Bearer {SECRET}"}
        refuse_trouble(
            server.client.request(
                rng.choice(["POST", "PUT", "GET"]), rng.choice(PATHS[:-1]), content=bytes(body), headers=headers
            )
        )


def test_requests_of_random_bytes(server: Live):
    """Over a bare socket; the server may close it, but lives."""
    rng = random.Random(1)
    host, port = server.address.removeprefix("http://").split(":")
    whole = b"POST /v1/near HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(
        GOOD
    )
    for _ in range(REQUESTS // 10):
        sent = bytearray(whole + GOOD if rng.random() < 0.7 else rng.randbytes(rng.randrange(1, 400)))
        for _ in range(rng.randrange(1, 6)):
            sent[rng.randrange(len(sent))] = rng.randrange(256)
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            while part := _received(connection):
                answer += part
        assert not answer or answer.startswith(b"HTTP/1.1 ")
        assert not answer.startswith(b"HTTP/1.1 5") or answer.startswith((b"HTTP/1.1 501", b"HTTP/1.1 505"))
        assert b"Traceback" not in answer
    assert server.client.get("/healthz").status_code == 200
    assert SECRET not in json.dumps(server.log())


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except ConnectionError:
        return b""
