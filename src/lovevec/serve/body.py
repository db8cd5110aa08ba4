"""The JSON of a request, refused before it is parsed where it holds more than any good request does.

Two million zeros take 4 MB to send, and a hundred times as much once each is an object with an error of its own. What
a body holds is counted by its commas and brackets outside of strings, some gigabytes a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from lovevec.serve.gate import ApiError

BLOCK_BYTES = 1 << 16
LARGE_BODY = 1 << 16  # bytes: one of these is parsed at a time, and others have their turn before the next
QUOTE, COMMA, BRACKET, BRACE = b'",[{'


def json_values(body: bytes, most: int) -> int:
    """How many values a body holds at most, in lists and as members of objects; counting ends beyond `most`."""
    blocks = [(start, start + BLOCK_BYTES) for start in range(0, len(body), BLOCK_BYTES)]
    count = 0
    for place in blocks:
        count += body.count(b",", *place) + body.count(b"[", *place) + body.count(b"{", *place)
        if count > most:
            return _values_outside_of_strings(body, most)
    return count + 1


def _values_outside_of_strings(body: bytes, most: int) -> int:
    if b"\\" in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")  # no quotes but those around strings are left
    count, inside = 0, np.False_
    for start in range(0, len(body), BLOCK_BYTES):
        block = np.frombuffer(body, dtype=np.uint8, offset=start, count=min(BLOCK_BYTES, len(body) - start))
        within = np.bitwise_xor.accumulate(block == QUOTE) ^ inside
        marks = (block == COMMA) | (block == BRACKET) | (block == BRACE)
        count, inside = count + int(np.count_nonzero(marks & ~within)), within[-1]
        if count > most:
            break
    return count + 1


def json_route(most: int) -> type[APIRoute]:
    """A kind of route whose requests have an ApiError 413 for bodies of more than `most` values."""
    turn = asyncio.Lock()

    class JsonRequest(Request):
        async def json(self) -> Any:
            if len(await self.body()) <= LARGE_BODY:
                return await self._parsed()
            async with turn:
                await asyncio.sleep(0)
                return await self._parsed()

        async def _parsed(self) -> Any:
            if json_values(await self.body(), most) > most:
                message = f"the body holds more than {most:,} values; send lists of strings, in several requests"
                raise ApiError(413, message, code="request_too_large")
            return await super().json()

    class JsonRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handler = super().get_route_handler()

            async def handle(request: Request) -> Response:
                return await handler(JsonRequest(request.scope, request.receive))

            return handle

    return JsonRoute
