"""The counts and times that /metrics shows to Prometheus, for one process or for several together.

They stand in a table of numbers, [workers, series], in memory that forked processes share. Each worker adds to a row of
its own, so that no lock is needed, and whoever is asked for /metrics adds up the rows. The worker that takes the place
of a dead one takes its row too: no count ever goes down. There are no files: a full disk harms nothing.
"""

from __future__ import annotations

import mmap
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any

import numpy as np
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.utils import floatToGoString

Labels = tuple[str, ...]
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
READINGS = ("known", "near", "parts", "new", "empty")
COUNTERS = {
    "lovevec_requests": ("Requests answered", ["endpoint", "status"]),
    "lovevec_words": ("Words read", ["model", "endpoint"]),
    "lovevec_readings": ("Words of word lists by reading", ["model", "reading"]),
}
SECONDS = "lovevec_request_seconds"


class Metrics:
    """Counts of what `endpoints` of a server of `models` answer, by so many `workers`.

    Every series has its column from the start: processes that were forked could not agree on new ones.
    """

    def __init__(self, models: Iterable[str], endpoints: Iterable[str], workers: int = 1) -> None:
        models, endpoints, series = list(models), list(endpoints), list[tuple[str, Labels]]()
        series += [("lovevec_requests", (path, str(int(code)))) for path in endpoints for code in HTTPStatus]
        series += [("lovevec_words", (model, path)) for model in models for path in endpoints]
        series += [("lovevec_readings", (model, reading)) for model in models for reading in READINGS]
        self._columns = {name: column for column, name in enumerate(series)}
        first, width = len(series), len(BUCKETS) + 2  # a column a bucket, one for what is longer, one for the sum
        self._seconds = {path: first + width * place for place, path in enumerate(endpoints)}
        columns = first + width * len(self._seconds)
        shared = mmap.mmap(-1, 8 * workers * columns)  # without a file
        self._table = np.frombuffer(shared, dtype=np.float64).reshape(workers, columns)
        self.row = 0  # this process's own
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def add_request(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a request, and how long it took."""
        row, first = self._table[self.row], self._seconds[endpoint]
        self._add("lovevec_requests", (endpoint, str(status)), 1)
        row[first + bisect_left(BUCKETS, seconds)] += 1
        row[first + len(BUCKETS) + 1] += seconds

    def add_words(self, model: str, endpoint: str, count: int) -> None:
        """Count words that were asked for."""
        self._add("lovevec_words", (model, endpoint), count)

    def add_readings(self, model: str, reading: str, count: int) -> None:
        """Count words that were read in this way."""
        self._add("lovevec_readings", (model, reading), count)

    def _add(self, name: str, labels: Labels, count: float) -> None:
        if (column := self._columns.get((name, labels))) is not None:
            self._table[self.row, column] += count

    def text(self) -> bytes:
        """All counts, of all workers, as Prometheus reads them."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """What prometheus_client asks of a collector: the counts that are not zero."""
        total = self._table.sum(axis=0)
        families = {name: CounterMetricFamily(name, about, labels=labels) for name, (about, labels) in COUNTERS.items()}
        for (name, labels), column in self._columns.items():
            if total[column]:
                families[name].add_metric(labels, float(total[column]))
        yield from families.values()
        yield self._histogram(total)

    def _histogram(self, total: Any) -> Metric:
        family = HistogramMetricFamily(SECONDS, "Seconds a request", labels=["endpoint"])
        edges = [*map(floatToGoString, BUCKETS), "+Inf"]
        for path, first in self._seconds.items():
            counts = np.cumsum(total[first : first + len(edges)]).tolist()
            if counts[-1]:
                family.add_metric([path], list(zip(edges, counts, strict=True)), float(total[first + len(edges)]))
        return family
