"""Models behind limits, batches and counts: what every endpoint that computes goes through."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Coroutine, Hashable, Iterable, Sequence
from functools import partial
from sys import maxsize
from typing import Any

from fastapi import Request

from lovevec.errors import LovevecError, as_field
from lovevec.serve.batches import Batcher, Busy, Compute, Limits
from lovevec.serve.gate import ApiError, Room
from lovevec.serve.indexes import ServedIndex
from lovevec.serve.metrics import Metrics
from lovevec.serve.models import ServedModel
from lovevec.serve.schema import ModelRequest, SimilarRequest

WORDS_IN_LOOP = 16  # up to so many are computed in the event loop's own thread: changing threads would take longer
LARGE_REQUEST = 1024  # words: a request of more waits and is computed apart from others
LOOK_SECONDS = 0.5  # between two looks whether a client still waits
LETTERS_PER_WORD = 16  # what a string's letters count for at least: no word is read in no time
ANSWER_BYTES = 1024  # what an answer takes for each word of a request, until its size is known
RUN = re.compile(r"[^\W\d_]+|\d+")  # of letters, of digits: what is looked up, at most, of well-known, 5km, a.b.c
SURROGATE = re.compile("[\ud800-\udfff]")


class Service:
    """Models, and what stands between them and requests: limits, batches, counts.

    A few words, longer requests, large ones, and slow answers (neighbors, explanations) have a queue and a thread each,
    so that no word waits for a book or an explanation.
    """

    metrics: Metrics  # its columns are the endpoints, which are made for the service

    def __init__(
        self, models: dict[str, ServedModel], limits: Limits, indexes: dict[str, ServedIndex] | None = None
    ) -> None:
        self.models, self.limits, self.indexes = models, limits, indexes or {}
        self.room = Room(limits.room)
        self.writing = asyncio.Lock()  # of the one large answer that is written at a time
        self.few = Batcher(limits.waiting, WORDS_IN_LOOP)
        self.quick, self.large, self.slow = (Batcher(limits.waiting) for _ in range(3))

    def close(self) -> None:
        """Wait until what is being computed is done, and end the threads."""
        for batcher in (self.few, self.quick, self.large, self.slow):
            batcher.close()

    def find(self, name: str | None) -> ServedModel:
        """The model of that name, or without a name the first; an ApiError 404 where none has it."""
        name = next(iter(self.models)) if name is None else name
        if name not in self.models:
            message = f"no model named {name[:64]!r} is served here; there is: {', '.join(self.models)}"
            raise ApiError(404, message, "model", "model_not_found")
        return self.models[name]

    def find_index(self, name: str | None) -> ServedIndex:
        """The index of that name, or without a name the first; an ApiError 404 where none has it."""
        if not self.indexes:
            message = (
                "no index is served here: make one with `lovevec index`, then start `lovevec serve --index FOLDER`"
            )
            raise ApiError(404, message, "index", "index_not_found")
        name = next(iter(self.indexes)) if name is None else name
        if name not in self.indexes:
            message = f"no index named {name[:64]!r} is served here; there is: {', '.join(self.indexes)}"
            raise ApiError(404, message, "index", "index_not_found")
        return self.indexes[name]

    async def ask(
        self,
        request: Request,
        served: ServedModel | ServedIndex,
        compute: Compute,
        items: Sequence[Any],
        cost: int = 0,
        slow: bool = False,
        key: Hashable = None,
    ) -> Any:
        """One result for each item, computed together with what other requests ask of the same model.

        `cost` is what the items count for in the queue, in words (default: one each). `slow` work has a thread of its
        own. Requests with different `key` (say, another k) are not joined.
        """
        batcher = self.slow if slow else self._batcher(cost or len(items))
        name = compute.func.__name__ if isinstance(compute, partial) else compute.__name__
        try:
            answer = batcher((served.name, name, key), compute, items, cost)
            return await (answer if batcher is self.few else _while_there(request, answer))
        except Busy:
            message = f"the server is busy: {batcher.waiting:,} words wait already; ask again in a second"
            raise ApiError(429, message, code="server_busy", headers={"Retry-After": "1"}) from None
        except LovevecError as error:
            raise ApiError(400, error.spelled(as_field), next(iter(error.parameters), None)) from None

    def _batcher(self, cost: int) -> Batcher:
        if cost <= WORDS_IN_LOOP:
            return self.few
        return self.quick if cost <= LARGE_REQUEST else self.large

    def count_readings(self, served: ServedModel, readings: Iterable[str]) -> None:
        """Add to the counts of known, near, new and empty words, and of parts, that /metrics shows."""
        for reading, count in Counter(readings).items():
            self.metrics.add_readings(served.name, reading, count)

    def admit(
        self,
        request: Request,
        body: ModelRequest,
        strings: Sequence[str],
        inputs: int = maxsize,
        length: int = maxsize,
        size: int = ANSWER_BYTES,
    ) -> ServedModel:
        """The model that a request names; its words are counted for the log and /metrics, and what each string costs,
        in words to look up, goes to `request.state.costs`. An ApiError 413 if there are too many strings or words, or
        one is too long; 429 if there is no room for the answer, of `size` bytes a word. `inputs` and `length` are lower
        limits for what costs more."""
        served, param = self.find(body.model), "pairs" if isinstance(body, SimilarRequest) else "input"
        self.count_words(request, served.name, strings, param, inputs, length, size=size)
        return served

    def count_words(
        self,
        request: Request,
        name: str,
        strings: Sequence[str],
        param: str = "input",
        inputs: int = maxsize,
        length: int = maxsize,
        words_allowed: int = maxsize,
        size: int = ANSWER_BYTES,
    ) -> None:
        """Check the strings of a request as `admit` does, and count their words for what is asked by that name."""
        inputs, length = min(inputs, self.limits.inputs), min(length, self.limits.length)
        words_allowed = min(words_allowed, self.limits.words)
        if len(strings) > inputs:
            raise _too_much(f"{len(strings):,} strings: at most {inputs:,} a request", param)
        words, left, costs = 0, words_allowed, list[int]()
        for place, string in enumerate(strings):
            if not string.isascii() and SURROGATE.search(string):
                raise ApiError(400, f"string {place} holds half a surrogate pair: no JSON can answer it", param)
            costs.append(cost_of(string, left))
            left -= costs[-1]
            if left < 0:
                message = f"too many words: at most {words_allowed:,} a request, where {LETTERS_PER_WORD} letters"
                raise _too_much(f"{message} count as one at least", param)
            parts = string.split()
            words += max(len(parts), 1)
            if len(string) > length and max(map(len, parts), default=len(string)) > length:
                raise _too_much(f"string {place} has a word of more than {length:,} characters", param)
        request.state.words, request.state.costs = words, costs
        request.state.share.claim(size * sum(costs))
        self.metrics.add_words(name, request.scope["path"], words)


async def _while_there(request: Request, answer: Coroutine[Any, Any, Any]) -> Any:
    """The answer; an ApiError, which nobody will read, if the client hangs up before it is there."""
    task = asyncio.ensure_future(answer)
    try:
        while not (await asyncio.wait({task}, timeout=LOOK_SECONDS))[0]:
            if await request.is_disconnected():
                raise ApiError(400, "the client has gone", code="client_gone")
        return task.result()
    finally:
        task.cancel()


def cost_of(string: str, limit: int) -> int:
    """How many words of a string are looked up at most, by its runs of letters and of digits; counting ends beyond
    `limit`. Marks alone are not free: every 16 characters count for one."""
    least = max(1, len(string) // LETTERS_PER_WORD)
    if least > limit or (len(string) <= LETTERS_PER_WORD and string.isalpha()):
        return least
    return max(least, len(RUN.split(string, maxsplit=limit + 1)) - 1)


def _too_much(message: str, param: str) -> ApiError:
    return ApiError(413, message, param, "request_too_large")
