"""A running server: its socket, its worker processes, its signals, its log.

Models are loaded and made ready once; workers are forked from there and share that memory. SIGTERM and Ctrl-C end a
server when what it is computing is answered. The log is one JSON object a line on stderr.
"""

from __future__ import annotations

import gc
import ipaddress
import json
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lovevec.errors import LovevecError, MissingExtra

if TYPE_CHECKING:
    import uvicorn

    from lovevec.serve.gate import Limits

PORT = 8765
KEY = "LOVEVEC_API_KEY"
NEEDED = ("fastapi", "uvicorn", "prometheus_client", "orjson")
BACKLOG = 2048
GRACE = 30  # seconds that requests have to end after SIGTERM
log = logging.getLogger("lovevec.serve")


@dataclass(frozen=True)
class ServerSettings:
    """What `lovevec serve` is told."""

    models: Sequence[str] = ()
    tables: Sequence[str] = ()
    host: str = "127.0.0.1"
    port: int = PORT
    workers: int = 1
    origins: Sequence[str] = ()
    limits: Limits | None = None
    quiet: bool = False
    on_start: Callable[[str], Any] = field(default=lambda address: None)


def serve(settings: ServerSettings) -> None:
    """Run a server until it is told to stop."""
    for package in NEEDED:
        if find_spec(package) is None:
            raise MissingExtra(package, "serve")
    log_as_json(logging.WARNING if settings.quiet else logging.INFO)
    from lovevec.serve.app import make_app
    from lovevec.serve.models import load_models

    with listening(settings.host, settings.port) as listener:
        models = load_models(settings.models, settings.tables)
        for served in models.values():
            served.warm_up()
        app = make_app(models, settings.limits, os.environ.get(KEY) or None, settings.origins)
        host, port = listener.getsockname()[:2]
        log.info("serving", extra={"facts": {"address": f"http://{host}:{port}", "models": list(models)}})
        settings.on_start(f"http://{host}:{port}")
        run(app, listener)


def run(app: Any, listener: socket.socket) -> None:
    """Answer until SIGTERM or Ctrl-C."""
    import uvicorn

    config = uvicorn.Config(app, log_config=None, access_log=False, ws="none", server_header=False,
                            timeout_graceful_shutdown=GRACE, backlog=BACKLOG)
    server = uvicorn.Server(config)
    server.run(sockets=[listener])


@contextmanager
def listening(host: str, port: int):
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError as error:
        raise LovevecError(f"{host}:{port}: cannot listen there: {error.strerror or error}; choose another --port") from None
    with listener:
        yield listener


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": round(record.created, 3), "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, "facts", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_as_json(level: int) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
