"""How fast is the server, beside the bare engine; and does it last?

    python bench/serve.py                      # a Markdown table: 1, 8 and 64 clients of 1 and 64 words
    python bench/serve.py --workers 2
    python bench/serve.py --soak 10            # so many minutes of good and bad requests: no leak, no 500

All traffic stays on this machine. Server and clients are processes of their own and share the machine's cores. Words
are known ones, every second of them with a typo. The bare engine is `love.embed` of the same lists, called one after
the other in one process: lists as long as a request's, and, since the server joins what comes together, of 4,096.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from lovevec import LOVE
from lovevec.damage.edits import damage

WORDS = 20_000
LISTS = 200
TOGETHER = 4096
SETTLED = 30  # seconds of a soak after which memory should not grow any more
GROWTH = 1.15  # … by more than this


def words_of(love: LOVE, seed: int = 0) -> list[str]:
    """Known words, every second with a typo."""
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(np.array(love.words[:WORDS], dtype=object)).tolist()
    return [word for pair in zip(chosen[::2], damage(chosen[1::2], rng), strict=True) for word in pair]


def lists_of(words: list[str], size: int) -> list[list[str]]:
    """Lists of so many words."""
    rng = random.Random(size)
    return [rng.choices(words, k=size) for _ in range(LISTS)]


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def memory_of(process: int) -> list[float]:
    """MB (proportional set size) of a process and of each of its children."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    sizes = []
    for number in (process, *map(int, children)):
        lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
        sizes.append(next(int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")))
    return sizes


@contextmanager
def running(workers: int, *more: str) -> Iterator[tuple[subprocess.Popen[bytes], int, float, Path]]:
    """A server: its process, its port, seconds from its start to its first answer, its log."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [sys.executable, "-m", "lovevec.cli", "serve", "--port", str(port), "--workers", str(workers), *more]
        start = time.perf_counter()
        with log.open("wb") as errors:
            process = subprocess.Popen(command, stderr=errors)
        try:
            while True:
                try:
                    ask(port, "/v1/embeddings", {"input": "mispelling"})
                    break
                except urllib.error.URLError:
                    if process.poll() is not None:
                        sys.exit(log.read_text())
                    time.sleep(0.005)
            yield process, port, time.perf_counter() - start, log
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def ask(port: int, path: str, content: object) -> bytes:
    """One question, one answer."""
    body, headers = json.dumps(content).encode(), {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, headers)) as answer:
        found: bytes = answer.read()
        return found


def request_of(content: object, path: str = "/v1/embeddings") -> bytes:
    """A whole request, so that the client has next to nothing to do."""
    body = json.dumps(content).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


async def client(port: int, requests: list[bytes], until: float, seconds: list[float]) -> None:
    """One connection that asks again and again."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    number = random.randrange(len(requests))
    while time.perf_counter() < until:
        start = time.perf_counter()
        writer.write(requests[number % len(requests)])
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        await reader.readexactly(length)
        seconds.append(time.perf_counter() - start)
        number += 1
    writer.close()


def load(port: int, requests: list[bytes], clients: int, duration: float, results: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    """So many clients at once, in one process."""

    async def run() -> list[float]:
        seconds: list[float] = []
        until = time.perf_counter() + duration
        await asyncio.gather(*(client(port, requests, until, seconds) for _ in range(clients)))
        return seconds

    results.put(asyncio.run(run()))


def measured(port: int, requests: list[bytes], clients: int, duration: float) -> list[float]:
    """Seconds of each request."""
    results: multiprocessing.Queue[list[float]] = multiprocessing.get_context("spawn").Queue()
    arguments = (port, requests, clients, duration, results)
    process = multiprocessing.get_context("spawn").Process(target=load, args=arguments)
    process.start()
    seconds = results.get(timeout=duration + 60)
    process.join()
    return seconds


def engine_speed(love: LOVE, lists: list[list[str]], duration: float) -> float:
    """Words a second of the bare engine."""
    love.embed(lists[0])
    done, number, start = 0, 0, time.perf_counter()
    while time.perf_counter() - start < duration:
        love.embed(lists[number % len(lists)])
        done += len(lists[number % len(lists)])
        number += 1
    return done / (time.perf_counter() - start)


def table(workers: int, duration: float, encoding: str) -> None:
    """Print all measurements."""
    love = LOVE.load(engine="numpy")
    words = words_of(love)
    together = engine_speed(love, lists_of(words, TOGETHER)[:4], duration)
    with running(workers) as (process, port, first, _):
        print(f"First answer {first:.2f} s after the start; {os.cpu_count()} cores, {workers} worker(s), {encoding}.\n")
        print(f"Bare engine, lists of {TOGETHER:,}: {together:,.0f} words/s.\n")
        print("| clients | words each | requests/s | words/s | p50, ms | p99, ms | engine, words/s | server / engine |")
        print("|--:|--:|--:|--:|--:|--:|--:|--:|")
        for size in (1, 64):
            lists = lists_of(words, size)
            alone = engine_speed(love, lists, duration)
            requests = [request_of({"input": each, "encoding_format": encoding}) for each in lists]
            measured(port, requests, 8, 1.0)
            for clients in (1, 8, 64):
                seconds = measured(port, requests, clients, duration)
                rate = len(seconds) / duration
                p50, p99 = (1e3 * quantile(seconds, share) for share in (0.5, 0.99))
                print(
                    f"| {clients} | {size} | {rate:,.0f} | {rate * size:,.0f} | {p50:.2f} | {p99:.2f} | {alone:,.0f}"
                    f" | {rate * size / alone:.0%} |",
                    flush=True,
                )
        sizes = memory_of(process.pid)
        print(f"\nMemory (PSS), MB: {sum(sizes):.0f} in all; {', '.join(f'{size:.0f}' for size in sizes)} a process.")


def quantile(values: list[float], share: float) -> float:
    """A value that so large a share lies below."""
    return statistics.quantiles(values, n=1000, method="inclusive")[round(share * 1000) - 1] if len(values) > 1 else 0.0


def questions(words: list[str], rng: random.Random) -> bytes:
    """A good or a bad request, of every kind."""
    some = rng.choices(words, k=rng.choice([1, 1, 2, 16, 64]))
    path, content = rng.choice(
        [
            ("/v1/embeddings", {"input": some}),
            ("/v1/embeddings", {"input": [" ".join(some)], "encoding_format": "base64", "dimensions": 64}),
            ("/v1/near", {"input": some, "k": 3}),
            ("/v1/neighbors", {"input": some[:2], "k": 5}),
            ("/v1/explain", {"input": some[0]}),
            ("/v1/similar", {"pairs": [[some[0], some[-1]]]}),
            ("/v1/tokens", {"input": " ".join(some)}),
            ("/v1/embeddings", {"input": [1, 2, 3]}),
            ("/v1/embeddings", {"input": "x" * 5000}),
            ("/v1/embeddings", {"input": some, "model": "nothing"}),
            ("/v1/near", {"input": some, "k": 0}),
            ("/v1/nothing", {}),
            ("/v1/embeddings", {"input": ["x"] * 5000}),
        ]
    )
    whole = request_of(content, path)
    if rng.random() < 0.05:  # a body that is no JSON, of the length that was told
        head, body = whole.split(b"\r\n\r\n", 1)
        return head + b"\r\n\r\n" + rng.randbytes(len(body))
    return whole


async def soak_client(port: int, words: list[str], until: float, statuses: Counter[str], seed: int) -> None:
    """Good and bad requests; some connections are dropped in the middle."""
    rng = random.Random(seed)
    while time.monotonic() < until:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
        for _ in range(rng.randrange(1, 50)):
            whole = questions(words, rng)
            if rng.random() < 0.01:
                writer.write(whole[: rng.randrange(len(whole))] if rng.random() < 0.5 else rng.randbytes(200))
                break
            writer.write(whole)
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                statuses["closed"] += 1
                break
            status = head.split(b" ", 2)[1].decode()
            statuses[status] += 1
            length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            body = await reader.readexactly(length)
            assert b"Traceback" not in body, body
        writer.close()


def soak(minutes: float, workers: int) -> int:
    """Print what was answered and how memory went; 1 if something is wrong."""
    words = words_of(LOVE.load(engine="numpy"))
    statuses: Counter[str] = Counter()
    with running(workers, "--quiet") as (process, port, _, log):

        async def run() -> list[float]:
            until = time.monotonic() + 60 * minutes
            tasks = [asyncio.create_task(soak_client(port, words, until, statuses, seed)) for seed in range(8)]
            sizes, start = [], time.monotonic()
            while time.monotonic() < until:
                await asyncio.sleep(min(10.0, 60 * minutes / 6))
                sizes.append(sum(memory_of(process.pid)))
                print(f"{time.monotonic() - start:6.0f} s  {sizes[-1]:6.1f} MB  {dict(statuses)}", flush=True)
            await asyncio.gather(*tasks)
            return sizes

        sizes = asyncio.run(run())
        settled = sizes[min(len(sizes) // 3, 1 + SETTLED // 10) :]
        trouble = [status for status in statuses if status.startswith("5")]
        leak = settled[-1] > GROWTH * settled[0]
        logged = "Traceback" in log.read_text()
    print(
        f"{sum(statuses.values()):,} requests; 5xx: {trouble or 'none'}; tracebacks in the log: {logged}; leak: {leak}"
    )
    return int(bool(trouble) or leak or logged)


def main() -> int:
    """Measure, or soak."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument(
        "--encoding", choices=("float", "base64"), default="base64", help="base64 is what openai asks for"
    )
    parser.add_argument("--soak", type=float, metavar="MINUTES", default=0)
    given = parser.parse_args()
    if given.soak:
        return soak(given.soak, given.workers)
    table(given.workers, given.seconds, given.encoding)
    return 0


if __name__ == "__main__":
    sys.exit(main())
