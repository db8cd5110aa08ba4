"""What people open in a browser: the page at / with its files, and /docs, which describes the API.

/docs is made of our own OpenAPI, without a script and without anything from elsewhere.
"""

from __future__ import annotations

import mimetypes
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

PAGE_FOLDER = Path(__file__).parent / "page"
MEDIA_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
REVALIDATE = {"Cache-Control": "no-cache"}  # browsers ask again before they use a copy: no new page with old scripts
STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h2 b { font: 700 0.8em ui-monospace, monospace; background: var(--soft); padding: 0.1em 0.5em; border-radius: 0.3em; }
code, pre { font: 0.9em/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: 0.75rem 1rem; overflow-x: auto; border-radius: 0.4rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.75rem 0.3rem 0; }
td { border-bottom: 1px solid var(--line); }
"""
REFERENCE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}: what programs may ask</title><link rel="icon" href="/page/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/docs.css"></head>
<body><main><h1>{title} {version}</h1><p>{summary} <a href="/">The page for people</a> ·
<a href="/openapi.json">OpenAPI</a></p>{body}</main></body></html>
"""
EXAMPLES = {
    "/v1/embeddings": '{"input": ["mispelling", "a wonderfull fi1m"], "encoding_format": "float"}',
    "/v1/near": '{"input": ["recieve", "neural-netwrok", "500mg"], "k": 3}',
    "/v1/neighbors": '{"input": "leukamia", "k": 5}',
    "/v1/explain": '{"input": "bec0me"}',
    "/v1/similar": '{"pairs": [["colour", "color"]]}',
    "/v1/tokens": '{"input": "alot of wonderfull fi1ms"}',
    "/v1/correct": '{"input": "Ths is a tset", "threshold": 0.5, "keep": ["Vestergaard"]}',
    "/v1/search": '{"input": "wireles hedphones", "k": 3, "why": true}',
}


def add_pages(app: FastAPI) -> None:
    """Add the page at /, its files below /page/, and /docs."""
    for ending, kind in MEDIA_TYPES.items():  # the tables of some systems have other types, which browsers refuse
        mimetypes.add_type(kind, ending)

    @app.head("/", include_in_schema=False)
    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return FileResponse(PAGE_FOLDER / "index.html", headers=REVALIDATE)

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        return FileResponse(PAGE_FOLDER / "icon.svg", media_type=MEDIA_TYPES[".svg"], headers=REVALIDATE)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(reference_page(app.openapi()), media_type="text/html", headers=REVALIDATE)

    @app.get("/docs.css", include_in_schema=False)
    async def style() -> Response:
        return Response(STYLE, media_type="text/css", headers=REVALIDATE)

    app.mount("/page", PageFiles(directory=PAGE_FOLDER))


class PageFiles(StaticFiles):
    """Files of the page, which browsers may keep but have to ask for again."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(REVALIDATE)
        return response


def reference_page(openapi: dict[str, Any]) -> str:
    """The page at /docs, as HTML: a section for each operation that the OpenAPI description names."""
    schemas = openapi["components"]["schemas"]
    body = [
        _operation(method, path, operation, schemas)
        for path, methods in openapi["paths"].items()
        for method, operation in methods.items()
    ]
    about = {name: escape(openapi["info"][name]) for name in ("title", "version", "summary")}
    return REFERENCE.format(**about, body="".join(body))


def _operation(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    html = f"<section><h2><b>{method.upper()}</b> <code>{escape(path)}</code></h2>"
    html += f"<p>{escape(operation.get('description', ''))}</p>"
    if body := operation.get("requestBody"):
        html += "<h3>Request</h3>" + _fields(body["content"]["application/json"]["schema"], schemas)
    if path in EXAMPLES:
        ask = f"curl -s localhost:8765{path} -H 'Content-Type: application/json' -d '{EXAMPLES[path]}'"
        html += f"<pre>{escape(ask)}</pre>"
    if answer := operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema"):
        html += "<h3>Answer</h3>" + _fields(answer, schemas)
    return html + "</section>"


def _fields(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """A table of the fields of an object, with those of the objects inside."""
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(kind)}</td><td>{escape(about)}</td></tr>"
        for name, kind, about in _flat(_resolve(schema, schemas), schemas, "")
    )
    return f"<table><thead><tr><th>field</th><th>type</th><th></th></tr></thead><tbody>{rows}</tbody></table>"


def _flat(schema: dict[str, Any], schemas: dict[str, Any], prefix: str) -> list[tuple[str, str, str]]:
    rows = []
    for name, field in schema.get("properties", {}).items():
        default = f"default {field['default']!r}" if field.get("default") is not None else ""
        about = "; ".join(part for part in (field.get("description", ""), default) if part)
        rows.append((prefix + name, _kind(field, schemas), about))
        inner = _resolve(field.get("items", {}), schemas)
        if "properties" in inner:
            rows += _flat(inner, schemas, f"{prefix}{name}[].")
        elif "$ref" in field:
            rows += _flat(_resolve(field, schemas), schemas, f"{prefix}{name}.")
    return rows


def _kind(field: dict[str, Any], schemas: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_kind(one, schemas) for one in field["anyOf"])
    if "const" in field:
        return repr(field["const"])
    if "enum" in field:
        return " or ".join(map(repr, field["enum"]))
    if field.get("type") == "array":
        return f"list of {_kind(field.get('items', {}), schemas)}"
    return "object" if "$ref" in field else str(field.get("type", "any"))


def _resolve(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    target: dict[str, Any] = schemas[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
    return target
