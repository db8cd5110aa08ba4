"""The endpoints: OpenAI's embeddings; beside them readings, neighbors, explanations, similarities, tokens, corrections,
and searches in indexes.

FastAPI checks requests by the types of schema.py, and describes them in OpenAPI.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from numpy.typing import NDArray
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from lovevec import __version__
from lovevec.serve import schema
from lovevec.serve.batches import Limits
from lovevec.serve.body import json_route
from lovevec.serve.gate import OTHER, PAGE, ApiError, Gate
from lovevec.serve.indexes import ServedIndex
from lovevec.serve.metrics import Metrics
from lovevec.serve.models import EmbeddingResult, ServedModel
from lovevec.serve.pages import add_pages
from lovevec.serve.service import Service
from lovevec.vectors.rows import normalized

Floats = NDArray[np.float32]
ABOUT = "Vectors for any word: known, misspelled, rare or new."
# Some answers take long: of their words fewer are taken, and each counts for more in the queue.
NEIGHBORS_INPUTS, NEIGHBORS_COST = 256, 16
EXPLAIN_INPUTS, EXPLAIN_LENGTH, EXPLAIN_COST = 16, 64, 64
SEARCH_INPUTS, SEARCH_WORDS, SEARCH_COST = 256, 2048, 16
# What answers take, in bytes: a number of a vector, a neighbor, an explanation of a letter.
NUMBER_BYTES, NEIGHBOR_BYTES, EXPLAIN_BYTES = {"float": 14, "base64": 6}, 64, 4096
HIT_BYTES = 1024
VALUES_PER_INPUT, OTHER_VALUES = 4, 64  # of a request's JSON: a pair has three, and a word to keep may be as many
ROWS_AT_ONCE = 64  # of an answer that are written before other requests have their turn
PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": {"model": schema.ErrorAnswer, "description": "what is wrong"}}


def make_app(
    models: dict[str, ServedModel],
    limits: Limits | None = None,
    key: str | None = None,
    origins: Sequence[str] = (),
    workers: int = 1,
    indexes: dict[str, ServedIndex] | None = None,
) -> FastAPI:
    """The server as an ASGI app, for `lovevec serve` or any ASGI server.

    `models` come from `lovevec.serve.models.load_models`, `indexes` from `lovevec.serve.indexes.load_indexes`. Clients
    have to show `key`, if there is one. `origins` are those of other sites whose pages may ask (CORS). Forked
    processes, as many as `workers` says, count together: each has to set `app.state.metrics.row` to its number.
    """
    limits = limits or Limits()
    service = Service(models, limits, indexes)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(title="lovevec", version=__version__, summary=ABOUT, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.router.redirect_slashes = False  # it would send clients to whatever host they named
    app.router.route_class = json_route(VALUES_PER_INPUT * limits.inputs + OTHER_VALUES)
    add_answers(app, service)
    add_search(app, service)
    add_operations(app, service)
    add_pages(app)
    app.add_exception_handler(HTTPException, _http_problem)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(Exception, _internal_error)
    paths = frozenset(str(route.path) for route in app.routes if hasattr(route, "path"))
    app.state.metrics = service.metrics = Metrics(
        dict.fromkeys([*models, *service.indexes]), [*sorted(paths), *({PAGE, OTHER} - paths)], workers
    )
    app.add_middleware(Gate, limit=limits.body, room=service.room, key=key, metrics=service.metrics, paths=paths)
    if origins:  # outside the gate: whom it refuses should be able to read why
        app.add_middleware(
            CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"], allow_headers=["*"]
        )
    _describe_key(app)
    return app


def add_answers(app: FastAPI, service: Service) -> None:
    """Add the endpoints that models answer: POST /v1/embeddings, near, neighbors, explain, similar, tokens,
    correct."""

    async def vectors_of(request: Request, served: ServedModel, body: schema.EmbeddingsRequest) -> Floats:
        strings, kind, costs = body.input, body.input_type, request.state.costs
        encode = partial(served.encode, context=body.context)
        texts = [kind == "text" or (kind == "auto" and len(string.split(maxsplit=1)) > 1) for string in strings]
        if all(texts):
            encoded: Floats = await service.ask(request, served, encode, strings, sum(costs), key=body.context)
            return encoded
        both = list(zip(strings, texts, strict=True))
        count = sum(cost for cost, text in zip(costs, texts, strict=True) if text)
        words: EmbeddingResult = await service.ask(
            request, served, served.embed, [string for string, text in both if not text], sum(costs) - count
        )
        service.count_readings(served, words.readings)
        if not any(texts):
            return words.vectors
        vectors = np.empty((len(strings), served.dim), dtype=np.float32)
        vectors[~np.array(texts)] = words.vectors
        some = [string for string, text in both if text]
        vectors[texts] = await service.ask(request, served, encode, some, count, key=body.context)
        return vectors

    async def embeddings(body: schema.EmbeddingsRequest, request: Request) -> Response:
        """Vectors of words or texts, as OpenAI's clients ask for them. A string with white space inside is a text and
        encoded as `love.encode` does; any other is a word and has the vector of `love.embed`. `input_type` says
        otherwise."""
        size = service.find(body.model).dim * NUMBER_BYTES[body.encoding_format]
        served = service.admit(request, body, body.input, size=0)
        request.state.share.claim(size * len(body.input))
        words = request.state.words
        vectors = first_dimensions(await vectors_of(request, served, body), body.dimensions)
        rows: Iterable[Any] = vectors
        if body.encoding_format == "base64":
            rows = (base64.b64encode(row.astype("<f4", copy=False).tobytes()).decode("ascii") for row in vectors)
        data = ({"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows))
        usage = {"prompt_tokens": words, "total_tokens": words}
        return await respond_rows(service, {"object": "list", "model": served.name, "usage": usage}, data)

    async def near(body: schema.NearRequest, request: Request) -> Response:
        """How words are read: known, near (probably a known word, damaged), parts (several words), new or empty; how
        probably, which known words may be meant, what stands where in parts, and the kind of what is no word."""
        served = service.admit(request, body, body.input)
        readings = await service.ask(request, served, served.near, body.input, sum(request.state.costs))
        service.count_readings(served, (reading["reading"] for reading in readings))
        return await answer(service, served, ({**reading, "near": reading["near"][: body.k]} for reading in readings))

    async def neighbors(body: schema.NeighborsRequest, request: Request) -> Response:
        """The known words whose vectors are nearest, with their cosine; the word itself is left out."""
        served = service.admit(request, body, body.input, NEIGHBORS_INPUTS, size=NEIGHBOR_BYTES * body.k)
        words, compute = body.input, partial(served.neighbors, k=body.k)
        lists = await service.ask(request, served, compute, words, NEIGHBORS_COST * len(words), True, body.k)
        both = zip(words, lists, strict=True)
        return await answer(service, served, ({"word": word, "neighbors": near} for word, near in both))

    async def explain(body: schema.ExplainRequest, request: Request) -> Response:
        """What words' vectors are made of: units, which letters they cover, what each counts, attention."""
        size = EXPLAIN_BYTES * EXPLAIN_LENGTH
        served = service.admit(request, body, body.input, EXPLAIN_INPUTS, EXPLAIN_LENGTH, size)
        compute, cost = partial(served.explain, k=body.k), EXPLAIN_COST * len(body.input)
        return await answer(
            service, served, await service.ask(request, served, compute, body.input, cost, True, body.k)
        )

    async def similar(body: schema.SimilarRequest, request: Request) -> Response:
        """How near the two words of each pair are, as the cosine of their vectors."""
        words = [word for pair in body.pairs for word in pair]
        served = service.admit(request, body, words)
        pairs, cost = [(one, other) for one, other in body.pairs], sum(request.state.costs)
        cosines = await service.ask(request, served, served.similar, pairs, cost)
        return await answer(service, served, ({"cosine": cosine} for cosine in cosines))

    async def tokens(body: schema.TokensRequest, request: Request) -> Response:
        """The words of texts as they are read when a text is encoded, and where they stand."""
        served = service.admit(request, body, body.input)
        compute, cost = partial(served.tokens, context=body.context), sum(request.state.costs)
        lists = await service.ask(request, served, compute, body.input, cost, key=body.context)
        service.count_readings(served, (token["reading"] for tokens in lists for token in tokens))
        return await answer(service, served, ({"tokens": tokens} for tokens in lists))

    async def correct(body: schema.CorrectRequest, request: Request) -> Response:
        """Texts with their misspellings put right, and what was changed. The spelling and the sentence decide together;
        capitals, blanks and marks stay."""
        served, keep = service.admit(request, body, body.input), frozenset(body.keep)
        compute, cost = partial(served.correct, threshold=body.threshold, keep=keep), sum(request.state.costs)
        return await answer(
            service, served, await service.ask(request, served, compute, body.input, cost, key=(body.threshold, keep))
        )

    for endpoint, model in (
        (embeddings, schema.EmbeddingsAnswer),
        (near, schema.NearAnswer),
        (neighbors, schema.NeighborsAnswer),
        (explain, schema.ExplainAnswer),
        (similar, schema.SimilarAnswer),
        (tokens, schema.TokensAnswer),
        (correct, schema.CorrectAnswer),
    ):
        app.post(f"/v1/{endpoint.__name__}", response_model=model, responses=PROBLEMS, tags=["vectors"])(endpoint)


def add_search(app: FastAPI, service: Service) -> None:
    """Add the endpoints that indexes answer: POST /v1/search, GET /v1/indexes."""

    @app.post("/v1/search", response_model=schema.SearchAnswer, responses=PROBLEMS, tags=["search"])
    async def search(body: schema.SearchRequest, request: Request) -> Response:
        """The texts of an index that answer each query best, the best first. A typo in a query costs little: its words
        are read as words of the collection. `why` says which words met, and what words, letters and meaning account for
        of the score."""
        served, queries = service.find_index(body.index), body.input
        service.count_words(request, served.name, queries, inputs=SEARCH_INPUTS, words_allowed=SEARCH_WORDS, size=0)
        request.state.share.claim(HIT_BYTES * body.k * len(queries))
        only = None if body.ids is None else tuple(dict.fromkeys(body.ids))
        compute = partial(served.search, k=body.k, only=only, why=body.why)
        cost = SEARCH_COST * sum(request.state.costs)
        lists = await service.ask(request, served, compute, queries, cost, True, (body.k, only, body.why))
        rows = ({"query": query, "hits": hits} for query, hits in zip(queries, lists, strict=True))
        numbered = ({"index": index, **row} for index, row in enumerate(rows))
        return await respond_rows(service, {"object": "list", "searched": served.name}, numbered)

    @app.get("/v1/indexes", response_model=schema.IndexesAnswer, responses=PROBLEMS, tags=["search"])
    async def indexes() -> Response:
        """The indexes that are served; the first is the default. None where the server was started without."""
        return respond({"object": "list", "data": [served.card() for served in service.indexes.values()]})


def add_operations(app: FastAPI, service: Service) -> None:
    """Add the endpoints for those who run a server: models, health, metrics."""

    @app.get("/v1/models", response_model=schema.ModelsAnswer, responses=PROBLEMS, tags=["models"])
    async def models() -> Response:
        """The models and tables that are served; the first is the default."""
        return respond({"object": "list", "data": [_card(served) for served in service.models.values()]})

    @app.get("/v1/models/{name}", response_model=schema.ModelCard, responses=PROBLEMS, tags=["models"])
    async def model(name: str) -> Response:
        """One model or table, by its name."""
        return respond(_card(service.find(name)))

    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz", response_model=schema.Health, tags=["operations"])
    async def healthz() -> Response:
        """Whether the process answers at all."""
        return respond({"status": "ok"})

    @app.head("/readyz", include_in_schema=False)
    @app.get("/readyz", response_model=schema.Health, tags=["operations"])
    async def readyz() -> Response:
        """Whether the models are loaded: they are, before the server listens."""
        return respond({"status": "ok"})

    @app.get("/metrics", response_class=Response, responses=PROBLEMS, tags=["operations"])
    async def metrics() -> Response:
        """Counts and times of requests and words, for Prometheus."""
        return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)


def first_dimensions(vectors: Floats, dimensions: int | None) -> Floats:
    """The first `dimensions` numbers of each vector, at unit length; None leaves the vectors as they are."""
    if dimensions is None or dimensions == vectors.shape[1]:
        return vectors
    if dimensions > vectors.shape[1]:
        message = f"dimensions is {dimensions:,}: this model's vectors have {vectors.shape[1]:,}"
        raise ApiError(400, message, "dimensions")
    return normalized(np.ascontiguousarray(vectors[:, :dimensions]))


def _card(served: ServedModel) -> dict[str, Any]:
    return {
        "id": served.name,
        "object": "model",
        "created": served.created,
        "owned_by": "lovevec",
        "kind": served.kind,
        "dim": served.dim,
        "known_words": len(served.vectors),
    }


async def answer(service: Service, served: ServedModel, rows: Iterable[dict[str, Any]]) -> Response:
    """The rows of an answer, each with its number, as a list in OpenAI's shape."""
    numbered = ({"index": index, **row} for index, row in enumerate(rows))
    return await respond_rows(service, {"object": "list", "model": served.name}, numbered)


async def respond_rows(service: Service, head: dict[str, Any], rows: Iterable[dict[str, Any]]) -> Response:
    """An answer in JSON, with the rows as its `data`. A large one is written a part at a time, and one after the other:
    between parts others are answered."""
    each = _some_rows(iter(rows))
    parts = [orjson.dumps(head, option=orjson.OPT_SERIALIZE_NUMPY)[:-1], b',"data":[', _written(next(each, []))]
    if (some := next(each, None)) is not None:
        async with service.writing:
            while some is not None:
                parts += [b",", _written(some)]
                await asyncio.sleep(0)
                some = next(each, None)
            return Response(b"".join([*parts, b"]}"]), media_type="application/json")
    return Response(b"".join([*parts, b"]}"]), media_type="application/json")


def _written(rows: list[dict[str, Any]]) -> bytes:
    return orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1]


def _some_rows(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while some := list(islice(rows, ROWS_AT_ONCE)):
        yield some


def respond(content: Any) -> Response:
    """An answer in JSON; arrays of numpy are written without a detour by Python's numbers."""
    return Response(orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if not isinstance(error, ApiError):
        error = ApiError(error.status_code, str(error.detail), headers=dict(error.headers or {}))
    return error.response()


async def _bad_request(request: Request, error: Exception) -> Response:
    """The first thing that is wrong; never what was given, which may be anything."""
    assert isinstance(error, RequestValidationError)
    kind = request.headers.get("content-type", "")
    if request.method == "POST" and "json" not in kind.lower():
        named = "says nothing of" if not kind else "is not sent as"
        message = f"the body {named} JSON: send the header Content-Type: application/json (curl -H 'Content-Type: …')"
        return ApiError(400, message, code="no_json").response()
    first = error.errors()[0]
    place = [str(part) for part in first["loc"] if part not in ("body", "path", "query")]
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "json_invalid":
        return ApiError(400, f"the body is no JSON: {first.get('ctx', {}).get('error', message)}").response()
    param = place[0] if place else None
    return ApiError(400, f"{param}: {message}" if param else f"the body: {message}", param).response()


async def _internal_error(request: Request, error: Exception) -> Response:
    return ApiError(500, "the server failed; its log says why", code="internal_error").response()


def _describe_key(app: FastAPI) -> None:
    """Add to OpenAPI that a request may need a bearer key."""
    without_key = app.openapi

    def openapi() -> dict[str, Any]:
        page = without_key()
        page.setdefault("components", {})["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        page["security"] = [{}, {"key": []}]
        return page

    app.openapi = openapi  # type: ignore[method-assign]
