"""A client's connection, which ends where uvicorn would wait or gather without an end.

What a connection may cost is limited, whatever comes through it: time (for a request to arrive whole, for an answer to
be read) and memory (for what stands outside of a body: the head, trailers, the sizes of chunks; for requests that are
sent before the last one is answered). Bodies are counted by gate.py, which knows what they may hold.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MAX_OUTSIDE_BYTES = 64 << 10  # without a byte of a body between them
MAX_HEADERS = 128
MAX_PIPELINED = 8  # requests that wait for the answer to the one before
PART_BYTES = 16 << 10  # that the parser is given at a time, so that limits are seen soon; that may wait to be sent
REQUEST_SECONDS = 30  # for a request to arrive whole
ANSWER_SECONDS = 120  # for a client to read what waits for it
STOP_SECONDS = 3  # for both once the server has been told to stop


class TooMuch(Exception):
    """Raised inside of the parser, so that it stops where a limit is passed."""


class Connection(HttpToolsProtocol):
    """uvicorn's connection with an end to everything."""

    _arrival: asyncio.TimerHandle | None = None  # until a request has to be there
    _reading: asyncio.TimerHandle | None = None  # until the answer has to be read
    _answer_seconds: float | None = None
    _outside = 0  # bytes since the last byte of a body, or since the request began
    _has_head = False
    _progress = False  # a request began, or its body went on

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._unanswered: list[RequestResponseCycle] = []

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=PART_BYTES, low=0)  # writing resumes when everything is taken
        self._expect()

    def data_received(self, data: bytes) -> None:
        self._expect()
        for start in range(0, len(data), PART_BYTES):
            part = data[start : start + PART_BYTES]
            self._progress = False
            super().data_received(part)
            self._outside = 0 if self._progress else self._outside + len(part)
            if self._outside > MAX_OUTSIDE_BYTES:
                self.transport.abort()
            if self.transport.is_closing():
                return

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._has_head, self._progress = False, True
        self._expect()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._has_head:
            return  # a trailer: nobody asks for it, and it is not kept
        if len(self.headers) == MAX_HEADERS:
            self._refuse("headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._has_head = True
        super().on_headers_complete()
        self._unanswered = [*(one for one in self._unanswered if not one.response_complete), self.cycle]
        if len(self.pipeline) > MAX_PIPELINED:
            self._refuse("requests")

    def on_body(self, body: bytes) -> None:
        self._progress = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        _cancel(self._arrival)
        self._arrival = None
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._limit_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_reading()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():  # it closes when all is read
            self._limit_reading()
        else:
            self._end_reading()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._limit_reading()

    def shutdown(self) -> None:
        self._answer_seconds = STOP_SECONDS
        super().shutdown()
        if self._arrival is not None:
            _cancel(self._arrival)
            self._arrival = self.loop.call_later(STOP_SECONDS, self._give_up)
        if self._reading is not None or self.transport.is_closing():
            _cancel(self._reading)
            self._reading = None
            self._limit_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._arrival)
        _cancel(self._reading)
        for request in self._unanswered:  # uvicorn thinks of the last one alone
            request.disconnected = True
            request.message_event.set()
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._arrival is None:
            self._arrival = self.loop.call_later(REQUEST_SECONDS, self._give_up)

    def _give_up(self) -> None:
        """Close it; what was answered already may still be read for a while."""
        self.transport.close()
        self._limit_reading()

    def _limit_reading(self) -> None:
        if self._reading is None:
            self._reading = self.loop.call_later(self._answer_seconds or ANSWER_SECONDS, self.transport.abort)

    def _end_reading(self) -> None:
        """The client has its time anew once it has taken all that there is for it, and not just a part."""
        done = not self.pipeline and (self.cycle is None or self.cycle.response_complete)
        if done and not self.flow.write_paused and not self.transport.is_closing():
            _cancel(self._reading)
            self._reading = None

    def _refuse(self, what: str) -> None:
        self.transport.abort()
        raise TooMuch(what)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
