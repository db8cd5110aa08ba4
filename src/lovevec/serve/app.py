"""The endpoints: OpenAI's embeddings, and what only we have. FastAPI checks requests and describes them."""

from __future__ import annotations

import base64
import mimetypes
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from numpy.typing import NDArray
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from lovevec import __version__
from lovevec.errors import LovevecError, as_field
from lovevec.serve import schema
from lovevec.serve.batches import Batcher, Busy, Compute, Limits
from lovevec.serve.gate import ApiError, Gate, Metrics
from lovevec.serve.models import Embedded, Served
from lovevec.serve.pages import STYLE, reference_page
from lovevec.vectors.rows import normalized

Floats = NDArray[np.float32]
PAGE = Path(__file__).parent / "page"
TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
FRESH = {"Cache-Control": "no-cache"}  # kept, but asked for again: a new version never meets old scripts
ABOUT = "Vectors for any word: known, misspelled, rare or new."
AT_ONCE = 16
# Some answers are dear: of these fewer words are taken, and each counts for more in the queue.
NEIGHBORS_INPUTS, NEIGHBORS_COST = 256, 16
EXPLAIN_INPUTS, EXPLAIN_LENGTH, EXPLAIN_COST = 16, 64, 64
MOST = 1 << 62
SURROGATE = re.compile("[\ud800-\udfff]")
PROBLEMS: dict[int | str, dict[str, Any]] = {"4XX": {"model": schema.ErrorAnswer, "description": "what is wrong"}}


def make_app(
    models: dict[str, Served],
    limits: Limits | None = None,
    key: str | None = None,
    origins: Sequence[str] = (),
    metrics_of: Callable[[], CollectorRegistry] | None = None,
) -> FastAPI:
    """The server's app. `origins` are those of other sites' pages that may ask (CORS); `metrics_of` gives the registry
    that /metrics shows, where several processes count together."""
    service = Service(models, limits or Limits())

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = FastAPI(title="lovevec", version=__version__, summary=ABOUT, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.router.redirect_slashes = False  # it would send clients to whatever host they named
    add_questions(app, service)
    add_operations(app, service, metrics_of or (lambda: service.registry))
    add_page(app)
    app.add_exception_handler(HTTPException, _http_problem)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(Exception, _broken)
    paths = frozenset(str(route.path) for route in app.routes if hasattr(route, "path"))
    app.add_middleware(Gate, limit=service.limits.body, key=key, metrics=service.metrics, paths=paths)
    if origins:  # outside the gate: whom it refuses should be able to read why
        app.add_middleware(
            CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"], allow_headers=["*"]
        )
    _say_that_a_key_may_be_needed(app)
    return app


class Service:
    """Models with what they are asked through: limits, batches, counts."""

    def __init__(self, models: dict[str, Served], limits: Limits) -> None:
        self.models, self.limits = models, limits
        self.registry = CollectorRegistry()
        self.metrics = Metrics(self.registry)
        self.quick, self.dear = Batcher(limits.waiting, AT_ONCE), Batcher(limits.waiting)

    def close(self) -> None:
        """Let what runs end."""
        self.quick.close()
        self.dear.close()

    def find(self, name: str | None) -> Served:
        """The model of that name; the first without one."""
        if name is None:
            return next(iter(self.models.values()))
        try:
            return self.models[name]
        except KeyError:
            there = ", ".join(self.models)
            message = f"no model named {name[:64]!r} is served here; there is: {there}"
            raise ApiError(404, message, "model", "model_not_found") from None

    async def ask(
        self, served: Served, compute: Compute, items: Sequence[Any], cost: int = 0, dear: bool = False, key: int = 0
    ) -> Any:
        """One result an item, computed with what others ask of the same model; `cost` in words, else one an item. What
        is `dear` has a thread apart, so that quick answers need not wait; `key` parts what may not be joined."""
        batcher = self.dear if dear else self.quick
        name = compute.func.__name__ if isinstance(compute, partial) else compute.__name__
        try:
            return await batcher((served.name, name, key), compute, items, cost)
        except Busy:
            message = f"the server is busy: {batcher.waiting:,} words wait already; ask again in a second"
            raise ApiError(429, message, code="server_busy", headers={"Retry-After": "1"}) from None
        except LovevecError as error:
            raise ApiError(400, error.spelled(as_field), next(iter(error.parameters), None)) from None

    def count_readings(self, served: Served, readings: Iterable[str]) -> None:
        """For /metrics."""
        for reading, count in Counter(readings).items():
            self.metrics.readings.labels(served.name, reading).inc(count)

    def count(
        self,
        request: Request,
        served: Served,
        strings: Sequence[str],
        inputs: int = MOST,
        length: int = MOST,
        param: str = "input",
    ) -> None:
        """Count the words of strings; an error for too many, or one too long. `inputs` and `length` are further limits
        of what costs more."""
        inputs, length = min(inputs, self.limits.inputs), min(length, self.limits.length)
        if len(strings) > inputs:
            raise _too_much(f"{len(strings):,} strings: at most {inputs:,} a request", param)
        words = 0
        for place, string in enumerate(strings):
            if not string.isascii() and SURROGATE.search(string):
                raise ApiError(400, f"string {place} holds half a surrogate pair: no JSON can answer it", param)
            parts = string.split()
            words += max(len(parts), 1)
            if len(string) > length and max(map(len, parts), default=len(string)) > length:
                raise _too_much(f"string {place} has a word of more than {length:,} characters", param)
        if words > self.limits.words:
            raise _too_much(f"{words:,} words: at most {self.limits.words:,} a request", param)
        request.state.words = words
        self.metrics.words.labels(served.name, request.scope["path"]).inc(words)


def add_questions(app: FastAPI, service: Service) -> None:
    """What models answer."""

    async def vectors_of(served: Served, strings: list[str], kind: str, count: int) -> Floats:
        texts = [is_text(string, kind) for string in strings]
        if all(texts):
            encoded: Floats = await service.ask(served, served.encode, strings, count)
            return encoded
        both = list(zip(strings, texts, strict=True))
        words: Embedded = await service.ask(served, served.embed, [string for string, text in both if not text])
        service.count_readings(served, words.readings)
        if not any(texts):
            return words.vectors
        vectors = np.empty((len(strings), served.dim), dtype=np.float32)
        vectors[~np.array(texts)] = words.vectors
        vectors[texts] = await service.ask(served, served.encode, [string for string, text in both if text], count)
        return vectors

    async def embeddings(question: schema.EmbeddingsRequest, request: Request) -> Response:
        """Vectors of words or texts, as OpenAI's clients ask for them. A string with white space inside is a text and
        encoded as `love.encode` does; any other is a word and has the vector of `love.embed`. `input_type` says
        otherwise."""
        served = service.find(question.model)
        strings = question.input
        service.count(request, served, strings)
        vectors = await vectors_of(served, strings, question.input_type, request.state.words)
        vectors = shortened(vectors, question.dimensions)
        rows: Iterable[Any] = map(_base64, vectors) if question.encoding_format == "base64" else vectors
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
        words = request.state.words
        return answer(served, data, usage={"prompt_tokens": words, "total_tokens": words})

    async def near(question: schema.NearRequest, request: Request) -> Response:
        """How words are read: known, near (probably a known word, damaged), new or empty; how probably, and which known
        words may be meant."""
        served = service.find(question.model)
        words = question.input
        service.count(request, served, words)
        found = await service.ask(served, served.near, words)
        service.count_readings(served, (reading["reading"] for reading in found))
        return answer(
            served,
            [
                {"index": index, **reading, "candidates": reading["candidates"][: question.k]}
                for index, reading in enumerate(found)
            ],
        )

    async def neighbors(question: schema.NeighborsRequest, request: Request) -> Response:
        """The known words whose vectors are nearest, with their cosine; the word itself is left out."""
        served = service.find(question.model)
        words = question.input
        service.count(request, served, words, NEIGHBORS_INPUTS)
        compute = partial(served.neighbors, k=question.k)
        found = await service.ask(served, compute, words, NEIGHBORS_COST * len(words), True, question.k)
        data = zip(words, found, strict=True)
        return answer(served, [{"index": i, "word": word, "neighbors": near} for i, (word, near) in enumerate(data)])

    async def explain(question: schema.ExplainRequest, request: Request) -> Response:
        """What words' vectors are made of: units, which letters they cover, what each counts, attention."""
        served = service.find(question.model)
        words = question.input
        service.count(request, served, words, EXPLAIN_INPUTS, EXPLAIN_LENGTH)
        compute = partial(served.explain, k=question.k)
        found = await service.ask(served, compute, words, EXPLAIN_COST * len(words), True, question.k)
        return answer(served, [{"index": index, **explanation} for index, explanation in enumerate(found)])

    async def similar(question: schema.SimilarRequest, request: Request) -> Response:
        """The cosine of the two words of each pair."""
        served = service.find(question.model)
        words = [word for pair in question.pairs for word in pair]
        service.count(request, served, words, param="pairs")
        found = await service.ask(served, served.similar, [(one, other) for one, other in question.pairs], len(words))
        return answer(served, [{"index": index, "similarity": cosine} for index, cosine in enumerate(found)])

    async def tokens(question: schema.TokensRequest, request: Request) -> Response:
        """The words of texts as they are read when a text is encoded, and where they stand."""
        served = service.find(question.model)
        texts = question.input
        service.count(request, served, texts)
        found = await service.ask(served, served.tokens, texts, request.state.words)
        service.count_readings(served, (token["reading"] for tokens in found for token in tokens))
        return answer(served, [{"index": index, "tokens": seen} for index, seen in enumerate(found)])

    for ask, model in (
        (embeddings, schema.EmbeddingsAnswer),
        (near, schema.NearAnswer),
        (neighbors, schema.NeighborsAnswer),
        (explain, schema.ExplainAnswer),
        (similar, schema.SimilarAnswer),
        (tokens, schema.TokensAnswer),
    ):
        app.post(f"/v1/{ask.__name__}", response_model=model, responses=PROBLEMS, tags=["vectors"])(ask)


def add_operations(app: FastAPI, service: Service, metrics_of: Callable[[], CollectorRegistry]) -> None:
    """What those ask who run a server."""

    @app.get("/v1/models", response_model=schema.ModelsAnswer, responses=PROBLEMS, tags=["models"])
    async def models() -> Response:
        """What is served; the first is the default."""
        return respond({"object": "list", "data": [card(served) for served in service.models.values()]})

    @app.get("/v1/models/{name}", response_model=schema.ModelCard, responses=PROBLEMS, tags=["models"])
    async def model(name: str) -> Response:
        """One of them."""
        return respond(card(service.find(name)))

    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz", response_model=schema.Health, tags=["operations"])
    async def healthz() -> Response:
        """The process lives."""
        return respond({"status": "ok"})

    @app.head("/readyz", include_in_schema=False)
    @app.get("/readyz", response_model=schema.Health, tags=["operations"])
    async def readyz() -> Response:
        """The models are loaded: they are before the server listens."""
        return respond({"status": "ok"})

    @app.get("/metrics", response_class=Response, responses=PROBLEMS, tags=["operations"])
    async def metrics() -> Response:
        """Counts for Prometheus."""
        return Response(generate_latest(metrics_of()), media_type=CONTENT_TYPE_LATEST)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(reference_page(app.openapi()), media_type="text/html", headers=FRESH)

    @app.get("/docs.css", include_in_schema=False)
    async def style() -> Response:
        return Response(STYLE, media_type="text/css", headers=FRESH)


def add_page(app: FastAPI) -> None:
    """The page at /, and its files below /page/."""
    for ending, kind in TYPES.items():  # some systems have odd ideas
        mimetypes.add_type(kind, ending)

    @app.head("/", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return FileResponse(PAGE / "index.html", headers=FRESH)

    app.mount("/page", PageFiles(directory=PAGE))


class PageFiles(StaticFiles):
    """Files that are kept, but asked for again."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, or that it is the same."""
        response = await super().get_response(path, scope)
        response.headers.update(FRESH)
        return response


def is_text(string: str, kind: str = "auto") -> bool:
    """Whether a string is encoded as a text, not embedded as a word: it has white space inside."""
    return kind == "text" or (kind == "auto" and len(string.split(maxsplit=1)) > 1)


def shortened(vectors: Floats, dimensions: int | None) -> Floats:
    """The first so many numbers of each vector, at unit length; without a number the vectors as they are."""
    if dimensions is None or dimensions == vectors.shape[1]:
        return vectors
    if dimensions > vectors.shape[1]:
        message = f"dimensions is {dimensions:,}: this model's vectors have {vectors.shape[1]:,}"
        raise ApiError(400, message, "dimensions")
    return normalized(np.ascontiguousarray(vectors[:, :dimensions]))


def _base64(row: Floats) -> str:
    return base64.b64encode(row.astype("<f4", copy=False).tobytes()).decode("ascii")


def card(served: Served) -> dict[str, Any]:
    """A model as /v1/models shows it."""
    return {
        "id": served.name,
        "object": "model",
        "created": served.created,
        "owned_by": "lovevec",
        "kind": served.kind,
        "dim": served.dim,
        "known_words": len(served.vectors),
    }


def answer(served: Served, data: list[dict[str, Any]], **more: Any) -> Response:
    """A list, as OpenAI gives one."""
    return respond({"object": "list", "model": served.name, "data": data, **more})


def respond(content: Any) -> Response:
    """JSON; numpy's numbers are written as they are."""
    return Response(orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")


def _too_much(message: str, param: str) -> ApiError:
    return ApiError(413, message, param, "request_too_large")


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if not isinstance(error, ApiError):
        error = ApiError(error.status_code, str(error.detail), headers=dict(error.headers or {}))
    return error.response()


async def _bad_request(request: Request, error: Exception) -> Response:
    """The first thing that is wrong; never what was given, which may be anything."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = [str(part) for part in first["loc"] if part not in ("body", "path", "query")]
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "json_invalid":
        return ApiError(400, f"the body is no JSON: {first.get('ctx', {}).get('error', message)}").response()
    param = place[0] if place else None
    return ApiError(400, f"{param}: {message}" if param else f"the body: {message}", param).response()


async def _broken(request: Request, error: Exception) -> Response:
    return ApiError(500, "the server failed; its log says why", code="internal_error").response()


def _say_that_a_key_may_be_needed(app: FastAPI) -> None:
    """OpenAPI: a bearer key, where the server has one."""
    described = app.openapi

    def openapi() -> dict[str, Any]:
        page = described()
        page.setdefault("components", {})["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        page["security"] = [{}, {"key": []}]
        return page

    app.openapi = openapi  # type: ignore[method-assign]
