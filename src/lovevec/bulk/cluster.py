"""Ray: found in this process, at an address, or started here and stopped again."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from lovevec.engine.threads import usable_cores
from lovevec.errors import LovevecError, MissingExtra

STORE_BYTES = 300 << 20  # of shared memory of a cluster of our own: for the model, and short lists of numbers
CONNECT_SECONDS = 5.0  # for a cluster to answer at its address
START_ATTEMPTS = 2  # for a cluster of our own: Ray gives itself 30 seconds, which a busy machine may not have


def import_ray() -> Any:
    """The module ray, with ray.data imported; MissingExtra where it is not installed."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns of a default to come
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # else a cluster of our own reports to Ray's makers
    try:
        import ray
        import ray.data
    except ImportError:
        raise MissingExtra("ray", "bulk") from None
    return ray


def refuse_wrong_address(address: str) -> None:
    """Raise an error if no cluster listens at an address: Ray itself would try for a minute and say little."""
    if address in ("auto", "local"):
        return
    try:
        parts = urlsplit(address if "://" in address else f"ray://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise LovevecError(f"{address}: is no address of a Ray cluster; write host:port, ray://host:port or auto")
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except OSError as error:
        raise LovevecError(f"{address}: no Ray cluster answers there ({error.strerror or error})") from None


@contextmanager
def cluster(address: str | None = None, workers: int | None = None, progress: bool = False) -> Iterator[Any]:
    """Ray: as it runs in this process already, at an address, or a cluster of our own that ends with the block."""
    ray = import_ray()
    context = ray.data.DataContext.get_current()
    before = context.enable_progress_bars, context.use_ray_tqdm
    context.enable_progress_bars, context.use_ray_tqdm = progress, False  # plain bars, on stderr
    logging.getLogger("ray").setLevel(logging.ERROR)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ours = not ray.is_initialized()
    try:
        if ours:
            usual = signal.getsignal(signal.SIGTERM)
            _start(ray, address, workers)
            if callable(usual) and threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, usual)  # Ray has put its own there, which prints a stack
        yield ray
    finally:
        context.enable_progress_bars, context.use_ray_tqdm = before
        if ours:
            ray.shutdown()  # also what a start that failed left behind


def _start(ray: Any, address: str | None, workers: int | None) -> None:
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address in (None, "local"):
        own: dict[str, Any] = {"num_cpus": workers or usable_cores(), "object_store_memory": STORE_BYTES}
        for left in reversed(range(START_ATTEMPTS)):
            try:
                ray.init(address="local", include_dashboard=False, _node_ip_address="127.0.0.1", **own, **quiet)
                return
            except Exception as error:  # noqa: BLE001  a machine that is too busy is a bare Exception of Ray's
                ray.shutdown()
                if not left:
                    raise LovevecError(f"Ray could not be started here: {_first_line(error)}") from None
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise LovevecError(f"{address}: no Ray cluster answers there ({_first_line(error)})") from None


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).split("\n")[0]


def most_tasks(ray: Any, workers: int | None) -> int | None:
    """How many tasks may run at once; None where the number of cores is the limit anyway, since Ray would warn."""
    return workers if workers is not None and workers < cores_of(ray) else None


def cores_of(ray: Any) -> int:
    """The number of cores of the whole cluster, at least 1."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))
