"""A running server: its socket, its worker processes, its signals, its log.

Models are loaded and made ready once; workers are forked from there and share that memory, and the counts. SIGTERM or
Ctrl-C ends a server once what runs is answered.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import ipaddress
import logging
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from threading import Timer
from typing import TYPE_CHECKING, Any

from lovevec.errors import LovevecError, MissingExtra, Parameter
from lovevec.serve.logs import SERVING, start_log

if TYPE_CHECKING:
    import uvicorn

    from lovevec.serve.batches import Limits
    from lovevec.serve.indexes import ServedIndex
    from lovevec.serve.models import ServedModel

HOST, PORT = "127.0.0.1", 8765
KEY = "LOVEVEC_API_KEY"
LOGS = ("text", "json")
MINIMUM_VERSIONS = {
    "fastapi": (0, 132),
    "pydantic": (2, 10),
    "uvicorn": (0, 30),
    "prometheus-client": (0, 20),
    "orjson": (3, 9),
}
BACKLOG = 2048  # connections that may wait to be accepted
GRACE_SECONDS = 30  # for requests to end after SIGTERM
HOUSEKEEPING_SECONDS = 5  # between two checks whether the parent is still there, and of memory to give back
SHORT_LIFE_SECONDS, MAX_SHORT_LIVES = 2.0, 5  # workers that die so soon, so often in a row: give up
KILLED_SECONDS = 0.05  # before another takes the place of one that was killed: where memory is short, it may be next
MAX_WORKERS = 256
WARM_UP_SECONDS = 2.0  # after the start
SWITCH_SECONDS = 0.0005  # that a computing thread keeps the interpreter while the loop waits; Python's own: 0.005
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
# glibc's M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX. Arrays that are given back at once have to be made anew page
# by page: from 128 KB on, as glibc begins, that is 40 % of the time of large batches.
MALLOC_OPTIONS = {-1: 8 << 20, -3: 8 << 20, -8: 1}
log = logging.getLogger("lovevec.serve")


@dataclass(frozen=True)
class ServerSettings:
    """Models and tables as `serve/models.py` reads them, indexes as `serve/indexes.py` does, where to listen, how many
    processes, and which origins' pages may ask (CORS). `key` is what clients have to show, if anything. `log` is "text"
    or "json". `on_start` gets the address as soon as the server takes connections."""

    models: Sequence[str] = ()
    tables: Sequence[str] = ()
    indexes: Sequence[str] = field(default=(), kw_only=True)
    host: str = HOST
    port: int = PORT
    workers: int = 1
    origins: Sequence[str] = ()
    limits: Limits | None = None
    key: str | None = None
    quiet: bool = False
    log: str = "text"
    on_start: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.port < 1 << 16:
            raise LovevecError(f"port is {self.port}: must be 0 (any free one) to 65535")
        if not 1 <= self.workers <= MAX_WORKERS:
            raise LovevecError(f"workers is {self.workers}: must be 1 to {MAX_WORKERS}")
        if self.workers > 1 and not hasattr(os, "fork"):
            raise LovevecError("workers: this system cannot fork; start several servers on several ports instead")
        if self.log not in LOGS:
            raise LovevecError(f"log is {self.log!r}: must be {' or '.join(LOGS)}")
        key = self.key
        if key is not None and not (key and key.isascii() and key.isprintable() and key.strip() == key):
            empty = "" if key else "is empty: unset it for a server without a key; a key "
            raise LovevecError(f"{KEY}: {empty}must be printable ASCII without blanks around it")


def serve(settings: ServerSettings) -> None:
    """Run a server until SIGTERM or Ctrl-C. Blocks.

    serve(ServerSettings(models=["default"], port=8765))
    """
    refuse_missing_packages()
    start_log(settings.log, settings.quiet)
    stop = StopSignals()
    with listening(settings.host, settings.port) as listener:
        start = time.perf_counter()
        with ThreadPoolExecutor(1) as side:  # half of the time to start goes into imports, half into models
            loading = side.submit(_load, settings)
            from lovevec.serve.app import make_app

            models, indexes = loading.result()
        app = make_app(models, settings.limits, settings.key, settings.origins, settings.workers, indexes)
        config = uvicorn_config(app)
        settle_memory()
        stop.catch()
        listener.listen(BACKLOG)
        address = address_of(listener)
        served = {"models": list(models)} | ({"indexes": list(indexes)} if indexes else {})
        facts = {"address": address, **served, "workers": settings.workers, "key": bool(settings.key)}
        log.info(SERVING, extra={"facts": {**facts, "seconds": round(time.perf_counter() - start, 3)}})
        if not settings.key and not ipaddress.ip_address(listener.getsockname()[0]).is_loopback:
            log.warning(f"anybody who reaches {address} may ask: set {KEY}, or listen on {HOST}")
        if settings.on_start is not None:
            settings.on_start(address)
        if settings.workers == 1:
            # Beside requests, which are slower for half a second: so not at once, when somebody may wait for the page.
            later = Timer(WARM_UP_SECONDS, _warm_up, [models])
            later.daemon = True
            later.start()
            answer_requests(config, listener, stop)
        else:

            def work(number: int) -> None:
                app.state.metrics.row = number
                answer_requests(config, listener, stop, os.getppid())

            supervise(settings.workers, work, stop)


class StopSignals:
    """SIGTERM and Ctrl-C, remembered from the moment when they are caught: whoever comes to care for them later, a
    server that starts or a worker that is forked, finds that it has been asked to stop."""

    def __init__(self) -> None:
        self.asked = False
        self._action: Callable[[], None] | None = None

    def catch(self) -> None:
        """From here on, signals are no end to the process."""
        for number in STOP_SIGNALS:
            signal.signal(number, self._handle)

    def then(self, action: Callable[[], None] | None) -> None:
        """Do this when a signal comes, instead of what was set before; at once if one has come already."""
        self._action = action
        if self.asked and action is not None:
            action()

    def _handle(self, number: int, frame: Any) -> None:
        self.asked = True
        if self._action is not None:
            self._action()


def refuse_missing_packages() -> None:
    """Raise MissingExtra if a package of the extra `serve` is not installed, or too old."""
    for package, minimum in MINIMUM_VERSIONS.items():
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            raise MissingExtra(package, "serve") from None
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < minimum:
            raise MissingExtra(f"{package} {'.'.join(map(str, minimum))} or newer (there is {version})", "serve")


def _load(settings: ServerSettings) -> tuple[dict[str, ServedModel], dict[str, ServedIndex]]:
    from lovevec.serve.indexes import load_indexes
    from lovevec.serve.models import load_models

    keep_no_large_arrays()
    models = load_models(settings.models, settings.tables)
    indexes = load_indexes(settings.indexes, models.values())
    for index in indexes.values():
        index.warm_up()
    for served in models.values():
        served.try_out()
    if settings.workers > 1:  # what workers are to share has to be there before they are
        _warm_up(models)
    return models, indexes


def _warm_up(models: dict[str, ServedModel]) -> None:
    for served in models.values():
        served.warm_up()


def uvicorn_config(app: Any) -> uvicorn.Config:
    """uvicorn's settings, with all modules that they need: workers share these too."""
    import uvicorn

    from lovevec.serve.connection import Connection

    config = uvicorn.Config(
        app,
        http=Connection,
        log_config=None,
        access_log=False,
        ws="none",
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_notify=HOUSEKEEPING_SECONDS,
    )
    config.load()
    config.get_loop_factory()
    return config


def answer_requests(
    config: uvicorn.Config, listener: socket.socket, stop: StopSignals, parent: int | None = None
) -> None:
    """Answer requests until SIGTERM or Ctrl-C, or until the process `parent` is gone; what is under way is
    finished."""
    import uvicorn

    sys.setswitchinterval(SWITCH_SECONDS)

    async def keep_house() -> None:
        if parent is not None and os.getppid() != parent:
            server.should_exit = True
        await asyncio.get_running_loop().run_in_executor(None, give_back_memory)

    config.callback_notify = keep_house
    server = uvicorn.Server(config)

    def end() -> None:
        server.should_exit = True

    # uvicorn stops by its own handlers, then hands the signal on to ours: a signal to stop is no failure.
    stop.then(end)
    server.run(sockets=[listener])


def supervise(count: int, work: Callable[[int], None], stop: StopSignals) -> None:
    """Keep `count` forked processes at `work` until SIGTERM or Ctrl-C, which is handed on to them. Each gets a number
    below `count`; who takes the place of a dead one gets that one's. Returns in the parent when all workers have ended,
    and in a worker when its work is done."""
    living: dict[int, tuple[int, float]] = {}  # workers: their numbers, and when they began
    short_lives = 0

    def end_all() -> None:
        for worker in list(living):
            with suppress(ProcessLookupError):  # it has ended by itself, and we are about to hear of it
                os.kill(worker, signal.SIGTERM)

    stop.then(end_all)
    while True:
        while len(living) < count and not stop.asked:
            number = min(set(range(count)) - {taken for taken, _ in living.values()})
            # Python forgets the signals that reach a child while it is made: they wait until it can hear them.
            signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
            worker = os.fork()
            if worker == 0:
                stop.then(None)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
                return work(number)
            living[worker] = (number, time.monotonic())
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
            if stop.asked:  # perhaps before this one was among the living
                end_all()
        if not living:
            break
        worker, status = os.wait()
        if worker not in living:
            continue
        lived = time.monotonic() - living.pop(worker)[1]
        if not stop.asked:
            code = os.waitstatus_to_exitcode(status)
            log.error("worker ended", extra={"facts": {"worker": worker, "code": code, "seconds": round(lived, 1)}})
            if code == -signal.SIGKILL:  # from outside: the next one may live
                time.sleep(KILLED_SECONDS)
            else:
                short_lives = short_lives + 1 if lived < SHORT_LIFE_SECONDS else 0
            if short_lives >= MAX_SHORT_LIVES:
                stop.asked = True
                end_all()
    if short_lives >= MAX_SHORT_LIVES:
        raise LovevecError("workers end as soon as they start: the log says why")


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that has its address; nobody can connect before its `listen` is called."""
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
            message = f"cannot listen there: {error.strerror}; choose another {Parameter('port')}"
            raise LovevecError(f"{host}:{port}: {message}") from None
        yield listener


def address_of(listener: socket.socket) -> str:
    """The address of a socket as one would type it into a browser: http://127.0.0.1:8765."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def settle_memory() -> None:
    """Give back what only loading needed, and keep the garbage collector from touching what workers are to share."""
    gc.collect()
    gc.freeze()
    give_back_memory()


def keep_no_large_arrays() -> None:
    """Have very large arrays given back at once from now on: glibc would learn to keep them when the first is freed, as
    happens while the index is built."""
    if (library := _glibc()) is not None:
        for option, value in MALLOC_OPTIONS.items():
            library.mallopt(option, value)


def give_back_memory() -> None:
    """Give the free memory inside the heap back to the system; takes milliseconds."""
    if (library := _glibc()) is not None:
        library.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None
