"""A running server: its socket, its worker processes, its signals, its log.

Models are loaded and made ready once; workers are forked from there and share that memory. SIGTERM or Ctrl-C ends a
server once what runs is answered. The log is one JSON object a line on stderr.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import ipaddress
import json
import logging
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from threading import Timer
from typing import TYPE_CHECKING, Any

from lovevec.errors import LovevecError, MissingExtra, Parameter

if TYPE_CHECKING:
    import uvicorn
    from prometheus_client import CollectorRegistry

    from lovevec.serve.batches import Limits
    from lovevec.serve.models import Served

HOST, PORT = "127.0.0.1", 8765
KEY = "LOVEVEC_API_KEY"
SHARED_COUNTS = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client looks there when it is imported
NEEDED = {"fastapi": (0, 132), "pydantic": (2, 10), "uvicorn": (0, 30), "prometheus-client": (0, 20), "orjson": (3, 9)}
BACKLOG = 2048
GRACE = 30  # seconds that requests have to end after SIGTERM
LOOK = 5  # seconds between two looks whether the parent is still there, and what memory can be given back
SHORT_LIFE, MOST_SHORT = 2.0, 5  # a worker that dies within so many seconds, so often in a row: something is wrong
MOST_WORKERS = 256
WARM_UP_AFTER = 2.0  # seconds
SWITCH = 0.0005  # seconds that a computing thread keeps the interpreter while the loop waits; Python's own is 0.005
# glibc's M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX. Arrays that are given back at once have to be made anew page
# by page: from 128 KB on, as glibc begins, that is 40 % of the time of large batches.
MALLOC_OPTIONS = {-1: 8 << 20, -3: 8 << 20, -8: 1}
STOPS = (signal.SIGTERM, signal.SIGINT)
log = logging.getLogger("lovevec.serve")


@dataclass(frozen=True)
class ServerSettings:
    """What a server is told: models and tables as `serve/models.py` reads them, where to listen, how many processes,
    and which origins' pages may ask (CORS). `key` is what clients have to show, if anything. `on_start` gets the
    address when connections are taken."""

    models: Sequence[str] = ()
    tables: Sequence[str] = ()
    host: str = HOST
    port: int = PORT
    workers: int = 1
    origins: Sequence[str] = ()
    limits: Limits | None = None
    key: str | None = None
    quiet: bool = False
    on_start: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16:
            raise LovevecError(f"port is {self.port}: must be 0 (any free one) to 65535")
        if not 1 <= self.workers <= MOST_WORKERS:
            raise LovevecError(f"workers is {self.workers}: must be 1 to {MOST_WORKERS}")
        if self.workers > 1 and not hasattr(os, "fork"):
            raise LovevecError("workers: this system cannot fork; start several servers on several ports instead")
        if self.key is not None and not (
            self.key.isascii() and self.key.isprintable() and self.key.strip() == self.key
        ):
            raise LovevecError(f"{KEY}: must be printable ASCII without blanks around it")


def serve(settings: ServerSettings) -> None:
    """Run a server until it is told to stop."""
    refuse_missing_packages()
    log_as_json(logging.WARNING if settings.quiet else logging.INFO)
    with listening(settings.host, settings.port) as listener, counting_together(settings.workers) as metrics_of:
        start = time.perf_counter()
        with ThreadPoolExecutor(1) as side:  # half of the time to start goes into imports, half into models
            loading = side.submit(_load, settings)
            from lovevec.serve.app import make_app

            models = loading.result()
        config = configured(make_app(models, settings.limits, settings.key, settings.origins, metrics_of))
        settle_memory()
        listener.listen(BACKLOG)
        address = address_of(listener)
        facts = {"address": address, "models": list(models), "workers": settings.workers, "key": bool(settings.key)}
        log.info("serving", extra={"facts": {**facts, "seconds": round(time.perf_counter() - start, 3)}})
        if not settings.key and not is_loopback(listener):
            log.warning(f"anybody who reaches {address} may ask: set {KEY}, or listen on {HOST}")
        if settings.on_start is not None:
            settings.on_start(address)
        if settings.workers == 1:
            later = Timer(WARM_UP_AFTER, _warm_up, [models])
            later.daemon = True
            later.start()
            answer_until_told(config, listener)
        else:
            Supervisor(settings.workers, lambda: answer_until_told(config, listener, os.getppid())).run()


def refuse_missing_packages() -> None:
    """One line for what the extra brings and is not there, or too old."""
    for package, least in NEEDED.items():
        try:
            there = metadata.version(package)
        except metadata.PackageNotFoundError:
            raise MissingExtra(package, "serve") from None
        if tuple(map(int, re.findall(r"\d+", there)[:2])) < least:
            raise MissingExtra(f"{package} {'.'.join(map(str, least))} or newer (there is {there})", "serve")


def _load(settings: ServerSettings) -> dict[str, Served]:
    from lovevec.serve.models import load_models

    models = load_models(settings.models, settings.tables)
    for served in models.values():
        served.try_out()
        if settings.workers > 1:  # what workers are to share has to be there before they are
            served.warm_up()
    return models


def _warm_up(models: dict[str, Served]) -> None:
    """Beside requests, which are slower for half a second: so not at once, when somebody may wait for the page."""
    for served in models.values():
        served.warm_up()


def configured(app: Any) -> uvicorn.Config:
    """uvicorn's settings, with all modules that they need: workers share these too."""
    import uvicorn

    from lovevec.serve.gate import Connection

    config = uvicorn.Config(
        app,
        http=Connection,
        log_config=None,
        access_log=False,
        ws="none",
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=GRACE,
        timeout_notify=LOOK,
    )
    config.load()
    config.get_loop_factory()
    return config


def answer_until_told(config: uvicorn.Config, listener: socket.socket, parent: int | None = None) -> None:
    """Answer requests until SIGTERM or Ctrl-C, and end well then; so too when the `parent` is gone."""
    import uvicorn

    sys.setswitchinterval(SWITCH)

    async def look_after() -> None:
        if parent is not None and os.getppid() != parent:
            server.should_exit = True
        await asyncio.get_running_loop().run_in_executor(None, give_back_memory)

    config.callback_notify = look_after
    server = uvicorn.Server(config)

    def stop(number: int, frame: Any) -> None:
        server.should_exit = True

    # uvicorn stops by its own handlers, then hands the signal on to these: to be told to stop is no failure.
    for number in STOPS:
        signal.signal(number, stop)
    server.run(sockets=[listener])


class Supervisor:
    """Keeps `count` forked processes at `work`, until it is told to stop; then they end what they do."""

    def __init__(self, count: int, work: Callable[[], None]) -> None:
        self.count, self.work = count, work
        self.started: dict[int, float] = {}  # of each living worker
        self.stopping, self.short_lives = False, 0

    def run(self) -> None:
        """In the parent: until all workers have ended. In a worker: its work."""
        for number in STOPS:
            signal.signal(number, self._stop)
        while len(self.started) < self.count:
            if self._fork():
                return
        while self.started:
            worker, status = os.wait()
            lived = time.monotonic() - self.started.pop(worker)
            self._forget_counts(worker)
            if self.stopping:
                continue
            code = os.waitstatus_to_exitcode(status)
            log.error("worker ended", extra={"facts": {"worker": worker, "code": code, "seconds": round(lived, 1)}})
            self.short_lives = self.short_lives + 1 if lived < SHORT_LIFE else 0
            if self.short_lives >= MOST_SHORT:
                self._stop(signal.SIGTERM, None)
            elif self._fork():
                return
        if self.short_lives >= MOST_SHORT:
            raise LovevecError("workers end as soon as they start: the log says why")

    def _fork(self) -> bool:
        """One more worker; True in the worker, when its work is done."""
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)  # a signal between fork and handler would reach the wrong one
        worker = os.fork()
        if worker == 0:
            for number in STOPS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
            self.work()
            return True
        self.started[worker] = time.monotonic()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
        return False

    def _stop(self, number: int, frame: Any) -> None:
        self.stopping = True
        for worker in self.started:
            os.kill(worker, signal.SIGTERM)

    def _forget_counts(self, worker: int) -> None:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker)  # type: ignore[no-untyped-call]


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket at that address; nobody can connect before `listen`."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise LovevecError(f"{host}: no address to listen at: {error}") from None
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
        except OSError as error:
            raise LovevecError(
                f"{host}:{port}: cannot listen there: {error.strerror}; choose another {Parameter('port')}"
            ) from None
        yield listener


def address_of(listener: socket.socket) -> str:
    """As one would type it into a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(listener: socket.socket) -> bool:
    """Whether only this machine can connect."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


@contextmanager
def counting_together(workers: int) -> Iterator[Callable[[], CollectorRegistry] | None]:
    """Where several processes are to count together: a folder for their counts, and what reads them all."""
    os.environ.pop(SHARED_COUNTS, None)
    if workers == 1:
        yield None
        return
    folder, owner = tempfile.mkdtemp(prefix="lovevec-metrics-"), os.getpid()
    os.environ[SHARED_COUNTS] = folder

    def metrics_of() -> CollectorRegistry:
        from prometheus_client import CollectorRegistry
        from prometheus_client.multiprocess import MultiProcessCollector

        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return registry

    try:
        yield metrics_of
    finally:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)


def settle_memory() -> None:
    """Give back what loading took for a while, keep the collector from touching what workers are to share, and have
    very large arrays given back at once from now on (glibc learns to keep them)."""
    gc.collect()
    gc.freeze()
    if (library := _glibc()) is not None:
        for option, value in MALLOC_OPTIONS.items():
            library.mallopt(option, value)
    give_back_memory()


def give_back_memory() -> None:
    """What is free inside the heap goes back to the system; milliseconds."""
    if (library := _glibc()) is not None:
        library.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, event, and what else is known."""

    def format(self, record: logging.LogRecord) -> str:
        """A line of log."""
        line = {"time": round(record.created, 3), "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, "facts", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_as_json(level: int) -> None:
    """All logs of this process to stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=level, force=True)
    logging.captureWarnings(True)
