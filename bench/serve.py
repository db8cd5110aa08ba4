"""How fast is the server, beside the bare engine; how much memory has it; and does it last?

    python bench/serve.py                 # speed, start, memory: about five minutes
    python bench/serve.py --soak 10       # so many minutes of good and bad requests: no leak, no 500
    python bench/page.py                  # how soon the page is of use: a minute

Each writes its JSON to docs/results/data, and docs/results/serve.md anew from all of it; `--results FOLDER` for tries.
`--page` writes the page alone. tests/serve/test_serve_results.py checks that the page is what the data gives.

All traffic stays on this machine. Server and clients are processes of their own and share the machine's cores. Words
are known ones, every second of them with a typo. The bare engine is `love.embed` of the same lists, called one after
the other in one process: lists as long as a request's, and, since the server joins what comes together, of 4,096. All
is measured in several rounds, the engine's share in each, so that others on the machine are unfair to none: medians.
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
from typing import Any, NamedTuple

import numpy as np
from serve_results import RESULTS, SETTLED, SOAK, SPEED, TOGETHER, about, is_clean, page, write_results

from lovevec import LOVE
from lovevec.damage.edits import damage

KEY, SECRET = "LOVEVEC_API_KEY", "a-key-that-no-log-may-hold"
WORDS = 20_000
LISTS = 200
STARTS = 5
GROWTH = 1.05  # of memory, from the second fifth of a soak to the last
LOADS = [(1, 1), (8, 1), (64, 1), (1, 64), (8, 64), (64, 64)]  # clients, words of each
QUESTIONS = {
    "near": {"k": 6},
    "neighbors": {"k": 10},
    "explain": {"k": 0},
    "explain, 5 neighbors": {"k": 5},
    "tokens": {},
}


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


def memory_of(process: int) -> float:
    """MB (proportional set size) of a process and its children together."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    rolls = [Path(f"/proc/{number}/smaps_rollup").read_text() for number in (process, *map(int, children))]
    lines = [line for roll in rolls for line in roll.splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


class Running(NamedTuple):
    """A server: its process, its port, seconds from its start to its first answer, its log."""

    process: subprocess.Popen[bytes]
    port: int
    first: float
    log: Path


@contextmanager
def running(workers: int = 1, key: str | None = None) -> Iterator[Running]:
    """Start a server, wait for its first answer; it ends with the block."""
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if name != KEY} | ({KEY: key} if key else {})
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [sys.executable, "-m", "lovevec.cli", "serve", "--port", str(port), "--workers", str(workers)]
        start = time.perf_counter()
        with log.open("wb") as errors:
            process = subprocess.Popen(command, stderr=errors, env=environment)
        try:
            while True:
                try:
                    ask(port, "/v1/embeddings", {"input": "mispelling"}, key)
                    break
                except urllib.error.URLError:
                    if process.poll() is not None:
                        sys.exit(log.read_text())
                    time.sleep(0.005)
            yield Running(process, port, time.perf_counter() - start, log)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def ask(port: int, path: str, content: object, key: str | None = None) -> bytes:
    """One question, one answer."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    body = json.dumps(content).encode()
    with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, headers)) as answer:
        found: bytes = answer.read()
        return found


def request_of(content: object, path: str = "/v1/embeddings", key: str | None = None) -> bytes:
    """A whole request, so that the client has next to nothing to do."""
    body = json.dumps(content).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    shown = f"\r\nAuthorization: Bearer {key}" if key else ""
    return (head + shown).encode() + b"\r\n\r\n" + body


async def answer_of(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Head and body."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    return head, await reader.readexactly(length)


async def client(port: int, requests: list[bytes], until: float, seconds: list[float]) -> None:
    """One connection that asks again and again."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    number = random.randrange(len(requests))
    while time.perf_counter() < until:
        start = time.perf_counter()
        writer.write(requests[number % len(requests)])
        head, _ = await answer_of(reader)
        assert head.startswith(b"HTTP/1.1 200"), head
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


def request_seconds(port: int, requests: list[bytes], clients: int, duration: float) -> list[float]:
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


def quantile(values: list[float], share: float) -> float:
    """A value that so large a share lies below."""
    return statistics.quantiles(values, n=1000, method="inclusive")[round(share * 1000) - 1] if len(values) > 1 else 0.0


def summary(rounds: list[list[float]], duration: float) -> dict[str, float]:
    """Medians over rounds of each request's seconds; the worst round's p99 too."""
    p50, p99 = ([1e3 * quantile(seconds, share) for seconds in rounds] for share in (0.5, 0.99))
    return {
        "requests_per_s": round(statistics.median(len(seconds) / duration for seconds in rounds), 1),
        "p50_ms": round(statistics.median(p50), 2),
        "p99_ms": round(statistics.median(p99), 2),
        "worst_p99_ms": round(max(p99), 2),
    }


def measure_speed(duration: float, rounds: int) -> dict[str, Any]:
    """Every load, in base64 (what OpenAI's client asks for) and floats; each kind of question; the engine."""
    love = LOVE.load()
    words = words_of(love)
    lists = {size: lists_of(words, size) for size in (1, 64)}
    lists[TOGETHER] = lists_of(words, TOGETHER)[:4]
    kinds = [(*load, encoding) for encoding in ("base64", "float") for load in LOADS]
    requests = {
        (size, encoding): [request_of({"input": each, "encoding_format": encoding}) for each in lists[size]]
        for _, size, encoding in kinds
    }
    questions = {
        name: [request_of({"input": [word], **more}, f"/v1/{name.split(',')[0]}") for word in words[1:400:2]]
        for name, more in QUESTIONS.items()
    }
    engine: dict[int, list[float]] = {size: [] for size in lists}
    seconds: dict[Any, list[list[float]]] = {kind: [] for kind in (*kinds, *questions)}
    with running() as server:
        request_seconds(server.port, requests[64, "base64"], 8, 1.0)
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", flush=True)
            for size, some in lists.items():
                engine[size].append(engine_speed(love, some, duration))
            for clients, size, encoding in kinds:
                found = request_seconds(server.port, requests[size, encoding], clients, duration)
                seconds[clients, size, encoding].append(found)
            for name, asked in questions.items():
                seconds[name].append(request_seconds(server.port, asked, 1, duration / 2))
    return {
        "engine": {str(size): round(statistics.median(speeds)) for size, speeds in engine.items()},
        "loads": [
            {"clients": c, "words": w, "encoding": e, **summary(seconds[c, w, e], duration)} for c, w, e in kinds
        ],
        "questions": {name: summary(seconds[name], duration / 2) for name in questions},
    }


def measure_memory(workers: int, words: list[str]) -> dict[str, float]:
    """MB of a server that has answered all kinds of requests, at once and some seconds later."""
    with running(workers) as server:
        time.sleep(1)  # all workers are there
        for path in ("embeddings", "near", "neighbors", "tokens") * 4:
            request_seconds(server.port, [request_of({"input": words[:32]}, f"/v1/{path}")], 8 * workers, 0.5)
        busy = memory_of(server.process.pid)
        time.sleep(SETTLED)
        return {"workers": workers, "busy_mb": round(busy, 1), "settled_mb": round(memory_of(server.process.pid), 1)}


def first_answer() -> float:
    """Seconds from the start of a server to its first answer."""
    with running() as server:
        return round(server.first, 3)


def bench(results: Path, duration: float, rounds: int) -> int:
    """Measure all, write."""
    found = {**about(), "seconds": duration, "rounds": rounds}
    found["first_answer_s"] = [first_answer() for _ in range(STARTS)]
    words = words_of(LOVE.load())
    found["memory"] = [measure_memory(workers, words) for workers in (1, 2, 3)]
    found |= measure_speed(duration, rounds)
    write_results(results, SPEED, found)
    return 0


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
    whole = request_of(content, path, SECRET if rng.random() < 0.97 else None)
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
                statuses["dropped"] += 1
                break
            writer.write(whole)
            try:
                head, body = await answer_of(reader)
            except (asyncio.IncompleteReadError, ConnectionError):
                statuses["closed"] += 1
                break
            statuses[head.split(b" ", 2)[1].decode()] += 1
            assert b"Traceback" not in body, body
        writer.close()


def soak(results: Path, minutes: float) -> int:
    """Ask good and bad things, look at memory and log, write; 1 if something is wrong."""
    words = words_of(LOVE.load())
    statuses: Counter[str] = Counter()
    found = {**about(), "minutes": minutes}
    with running(key=SECRET) as server:

        async def run() -> list[tuple[float, float, int]]:
            until = time.monotonic() + 60 * minutes
            tasks = [asyncio.create_task(soak_client(server.port, words, until, statuses, seed)) for seed in range(8)]
            sizes, start = [], time.monotonic()
            while time.monotonic() < until:
                await asyncio.sleep(min(10.0, 6 * minutes))
                files = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
                sizes.append((round(time.monotonic() - start, 1), round(memory_of(server.process.pid), 1), files))
                print(f"{sizes[-1]} {dict(statuses)}", flush=True)
            await asyncio.gather(*tasks)
            return sizes

        sizes = asyncio.run(run())
        ended = server.process.poll()
        log = server.log.read_text()
    fifth = max(1, len(sizes) // 5)
    early, late = (
        statistics.median(size for _, size, _ in part) for part in (sizes[fifth : 2 * fifth], sizes[-fifth:])
    )
    found |= {
        "requests": sum(statuses.values()),
        "statuses": dict(sorted(statuses.items())),
        "memory": sizes,
        "early_mb": early,
        "late_mb": late,
        "leak": late > GROWTH * early,
        "ended": ended is not None,
        "tracebacks_logged": log.count("Traceback"),
        "key_logged": SECRET in log,
        "words_logged": any(f'"{word}"' in log for word in words if len(word) > 8),
    }
    write_results(results, SOAK, found)
    return int(not is_clean(found))


def main() -> int:
    """Measure, soak, or show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement of a round (default 4)")
    parser.add_argument("--rounds", type=int, default=3, help="default 3")
    parser.add_argument("--soak", type=float, metavar="MINUTES", default=0)
    parser.add_argument("--page", action="store_true", help="write the page from the data that is there, nothing else")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where data/ and the page are")
    options = parser.parse_args()
    if options.page:
        (options.results / "serve.md").write_text(page(options.results), "utf-8")
        return 0
    if options.soak:
        return soak(options.results, options.soak)
    return bench(options.results, options.seconds, options.rounds)


if __name__ == "__main__":
    sys.exit(main())
