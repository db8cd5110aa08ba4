"""What every request passes on its way in and out: its size, its key, the room for answers, security headers, metrics,
one line of log.

A request's words and the key are never logged, nor is anything else that a client wrote but the path, where we have it.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import time

import orjson
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lovevec.serve.logs import REQUEST
from lovevec.serve.metrics import Metrics

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
PAGE, OTHER = "/page", "other"  # the names in logs and metrics of the page's files, and of what clients make up
PART_BYTES = 128 << 10  # of an answer that is sent at a time


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


class Room:
    """Bytes that all requests and answers under way may take together."""

    def __init__(self, limit: int) -> None:
        self.limit, self.used = limit, 0


class Share:
    """What one request takes of the room."""

    def __init__(self, room: Room) -> None:
        self.room, self.taken = room, 0

    def claim(self, size: int) -> None:
        """Take at least so many bytes; an ApiError 429 where others leave no room for them."""
        more, others = size - self.taken, self.room.used - self.taken
        if more > 0:
            if others and others + size > self.room.limit:
                message = f"the server is busy: requests and answers under way take {others:,} bytes; ask again soon"
                raise ApiError(429, message, code="server_busy", headers={"Retry-After": "1"})
            self.resize(size)

    def resize(self, size: int) -> None:
        """Take exactly so many bytes."""
        self.room.used += size - self.taken
        self.taken = size


class Gate:
    """ASGI middleware around the app: refuses what is too large or lacks the key, adds headers, counts, logs."""

    def __init__(
        self, app: ASGIApp, *, limit: int, room: Room, key: str | None, metrics: Metrics, paths: frozenset[str]
    ) -> None:
        self.app, self.limit, self.room, self.metrics, self.paths = app, limit, room, metrics, paths
        self._key = None if key is None else f"Bearer {key}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, sent, number = time.perf_counter(), 500, 0, os.urandom(8).hex()
        share = Share(self.room)
        scope.setdefault("state", {}).update(words=0, share=share)

        async def answer(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS, (b"x-request-id", number.encode())]
                await send(message)
                return
            body, more = message.get("body", b""), message.get("more_body", False)
            share.resize(len(body))
            for start in range(0, max(len(body), 1), PART_BYTES):
                # A part waits until the client has taken the one before: what waits is ours, and counts. And if the
                # client has gone, we hear of it in between.
                if start:
                    await asyncio.sleep(0)
                part = body[start : start + PART_BYTES]
                await send({**message, "body": part, "more_body": more or start + PART_BYTES < len(body)})
                sent += len(part)

        try:
            refusal = self._refusal(scope)
            if refusal is None:
                await self.app(scope, self._with_limit(receive, share), answer)
            else:
                await refusal.response()(scope, receive, answer)
        finally:
            share.resize(0)
            seconds, path = time.perf_counter() - start, scope["path"]
            # What clients make up is one name.
            endpoint = path if path in self.paths else PAGE if path.startswith("/page/") else OTHER
            self.metrics.add_request(endpoint, status, seconds)
            facts = {"method": scope["method"], "endpoint": endpoint, "status": status, "ms": round(seconds * 1e3, 2)}
            facts |= {"words": scope["state"]["words"], "bytes": sent, "id": number}
            log.info(REQUEST, extra={"facts": facts})

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

    def _with_limit(self, receive: Receive, share: Share) -> Receive:
        """`receive` with an error where the body grows too large: a client need not state its size before. What has
        come takes its share of the room."""
        total = 0

        async def receive_part() -> Message:
            nonlocal total
            message = await receive()
            total += len(message.get("body", b""))
            if total > self.limit:
                raise self._too_large()
            share.claim(total)
            return message

        return receive_part
