"""What every request passes on its way in and out: its size, its time, its key, security headers, metrics, one line of
log.

A request's words and the key are never logged, nor is anything else that a client wrote but the path, where we have it.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import time
from typing import Any

import orjson
from prometheus_client import Counter, Histogram
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

Headers = dict[str, str] | None
log = logging.getLogger("lovevec.serve")
CONTENT_POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS = [
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
ERROR_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 500: "server_error"}
MAX_HEAD_BYTES = 64 << 10
REQUEST_SECONDS = 30  # for a request to arrive whole
ANSWER_SECONDS = 120  # for a client to read what waits for it
LATENCY_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Connection(HttpToolsProtocol):
    """A client's connection, which ends where uvicorn would wait forever: for a request that does not arrive whole, for
    a head without an end, for a client that does not read its answer."""

    _arrival: asyncio.TimerHandle | None = None
    _reading: asyncio.TimerHandle | None = None
    _head = 0  # bytes of a head that is not whole yet
    _has_head = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        self._expect()
        super().data_received(data)
        self._head = 0 if self._has_head else self._head + len(data)
        if self._head > MAX_HEAD_BYTES:
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._has_head = False
        self._expect()

    def on_headers_complete(self) -> None:
        self._has_head = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        _cancel(self._arrival)
        self._arrival = None
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading = self._reading or self.loop.call_later(ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        _cancel(self._reading)
        self._reading = None
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._arrival)
        _cancel(self._reading)
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._arrival is None:
            self._arrival = self.loop.call_later(REQUEST_SECONDS, self.transport.close)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class ApiError(HTTPException):
    """What is wrong with a request: becomes an answer in the shape of OpenAI's errors."""

    def __init__(
        self, status: int, message: str, param: str | None = None, code: str | None = None, headers: Headers = None
    ) -> None:
        super().__init__(status, message, headers)
        self.param, self.code = param, code

    def response(self) -> Response:
        kind = ERROR_TYPES.get(self.status_code, "invalid_request_error")
        error = {"message": self.detail, "type": kind, "param": self.param, "code": self.code}
        return Response(orjson.dumps({"error": error}), self.status_code, self.headers, "application/json")


class Metrics:
    """The counts and times that /metrics shows to Prometheus."""

    def __init__(self, registry: Any) -> None:
        on: dict[str, Any] = {"registry": registry}
        self.requests = Counter("lovevec_requests", "Requests answered", ["endpoint", "status"], **on)
        self.seconds = Histogram(
            "lovevec_request_seconds", "Seconds a request", ["endpoint"], buckets=LATENCY_BUCKETS, **on
        )
        self.words = Counter("lovevec_words", "Words read", ["model", "endpoint"], **on)
        self.readings = Counter("lovevec_readings", "Words of word lists by reading", ["model", "reading"], **on)


class Gate:
    """ASGI middleware around the app: refuses what is too large or lacks the key, adds headers, counts, logs."""

    def __init__(self, app: ASGIApp, *, limit: int, key: str | None, metrics: Metrics, paths: frozenset[str]) -> None:
        self.app, self.limit, self.metrics, self.paths = app, limit, metrics, paths
        self._key = None if key is None else f"Bearer {key}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, sent, number = time.perf_counter(), 500, 0, os.urandom(8).hex()
        scope.setdefault("state", {})["words"] = 0

        async def answer(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS, (b"x-request-id", number.encode())]
            else:
                sent += len(message.get("body", b""))
            await send(message)

        try:
            refusal = self._refusal(scope)
            if refusal is None:
                await self.app(scope, self._with_limit(receive), answer)
            else:
                await refusal.response()(scope, receive, answer)
        finally:
            seconds, path = time.perf_counter() - start, scope["path"]
            # What clients make up is one name.
            endpoint = path if path in self.paths else "/page" if path.startswith("/page/") else "other"
            self.metrics.requests.labels(endpoint, str(status)).inc()
            self.metrics.seconds.labels(endpoint).observe(seconds)
            facts = {"method": scope["method"], "endpoint": endpoint, "status": status, "ms": round(seconds * 1e3, 2)}
            facts |= {"words": scope["state"]["words"], "bytes": sent, "id": number}
            log.info("request", extra={"facts": facts})

    def _refusal(self, scope: Scope) -> ApiError | None:
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        if length.isdigit() and (len(length) > 18 or int(length) > self.limit):
            return self._too_large()
        guarded = scope["path"].startswith("/v1/") or scope["path"] == "/metrics"
        if self._key is None or not guarded or hmac.compare_digest(headers.get(b"authorization", b""), self._key):
            return None
        message = "this server wants its API key: Authorization: Bearer …"
        return ApiError(401, message, code="invalid_api_key", headers={"WWW-Authenticate": "Bearer"})

    def _too_large(self) -> ApiError:
        message = f"the request's body is larger than {self.limit:,} bytes: send it in parts"
        return ApiError(413, message, code="request_too_large")

    def _with_limit(self, receive: Receive) -> Receive:
        """`receive` with an error where the body grows too large: a client need not state its size before."""
        total = 0

        async def receive_part() -> Message:
            nonlocal total
            message = await receive()
            total += len(message.get("body", b""))
            if total > self.limit:
                raise self._too_large()
            return message

        return receive_part
