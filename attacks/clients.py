"""Five hostile clients do their worst to a server; how long does a polite one wait for a word?

    python -m attacks.clients --seconds 20

A server is started, and asked for one misspelled word again and again: alone at first, then while each of the hostile
clients does what it does, and while all of them do. Everything is a process of its own on this machine, so the numbers
hold what the clients themselves take of its cores; waits of the polite client alone say how busy it is otherwise. A
minute is enough to see; the exit code is 1 where the polite one was refused.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LETTERS = "abcdefghijklmnoprstuvw"
PAUSE = 0.005  # of the polite client between two words
UNREAD = 40  # connections whose answers nobody reads
BODY_BYTES = 4 << 20
SECONDS_TO_START = 60


@contextmanager
def server(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """`lovevec serve` on a free port: its process, host and port. It has to end well."""
    command = [sys.executable, "-m", "lovevec.cli", "serve", "--port", "0", "--log", "json", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    assert process.stderr is not None
    try:
        first = json.loads(process.stderr.readline())
        reading = threading.Thread(target=process.stderr.read, daemon=True)  # so that its log never waits for us
        reading.start()
        host, port = first["address"].removeprefix("http://").split(":")
        yield process, host, int(port)
        process.send_signal(signal.SIGTERM)
        code = process.wait(60)
        assert code == 0, f"the server ended with {code}"
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def request(path: str, body: bytes, more: bytes = b"") -> bytes:
    """A whole request."""
    head = b"POST %b HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n%b" % (path.encode(), more)
    return head + (b"" if b"chunked" in more else b"Content-Length: %d\r\n" % len(body)) + b"\r\n" + body


def unknown_words(count: int) -> list[str]:
    """Random letters, others in each process."""
    rng = random.Random(os.getpid())
    return ["".join(rng.choices(LETTERS, k=rng.randrange(5, 12))) for _ in range(count)]


def _ask(host: str, port: int, whole: bytes) -> bytes:
    """Send it, wait for the answer, read all of it."""
    with socket.create_connection((host, port), timeout=120) as connection:
        with suppress(ConnectionError):
            connection.sendall(whole)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer.read()


def zeros(host: str, port: int) -> None:
    """4 MB of JSON with a million errors."""
    first = '{"input": ["a"'
    _ask(host, port, request("/v1/embeddings", (first + ",0" * ((BODY_BYTES - 20) // 2) + "]}").encode()))


def book(host: str, port: int) -> None:
    """60,000 words that nobody knows, in one text."""
    _ask(host, port, request("/v1/tokens", json.dumps({"input": " ".join(unknown_words(60_000))}).encode()))


def joined(host: str, port: int) -> None:
    """As many strings as may be, each of many words joined by points."""
    words = unknown_words(31 * 2048)
    strings = [".".join(words[start : start + 31]) for start in range(0, len(words), 31)]
    _ask(host, port, request("/v1/embeddings", json.dumps({"input": strings}).encode()))


def unread(host: str, port: int) -> None:
    """Many large answers, none of which is read; some seconds later the same again."""
    body, connections = json.dumps({"input": unknown_words(50) * 40}).encode(), []
    for _ in range(UNREAD):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((host, port))
        connection.sendall(request("/v1/embeddings", body))
        connections.append(connection)
    time.sleep(5)
    for connection in connections:
        connection.close()


def trailers(host: str, port: int) -> None:
    """A chunked body and trailers without an end."""
    first = request("/v1/near", b'e\r\n{"input": "a"}\r\n0\r\n', b"Transfer-Encoding: chunked\r\n")
    with socket.create_connection((host, port), timeout=120) as connection:
        connection.sendall(first)
        until = time.monotonic() + 5
        while time.monotonic() < until:
            connection.sendall(b"a:b\r\n" * 2000)


HOSTILE: dict[str, Callable[[str, int], None]] = {
    attack.__name__: attack for attack in (zeros, book, joined, unread, trailers)
}


def attack_until(name: str, host: str, port: int, until: float) -> None:
    """One hostile client: again and again. What it takes of this machine it would take of its own."""
    os.nice(10)
    while time.monotonic() < until:
        with suppress(OSError, http.client.HTTPException):
            HOSTILE[name](host, port)


def polite(host: str, port: int, seconds: float) -> tuple[list[float], int]:
    """Milliseconds that one word took, each time, and how often it was refused."""
    connection, waits, refused = http.client.HTTPConnection(host, port, timeout=120), [], 0
    words, until = unknown_words(1000), time.monotonic() + seconds
    while time.monotonic() < until:
        start, body = time.perf_counter(), json.dumps({"input": words[len(waits) % len(words)]})
        connection.request("POST", "/v1/embeddings", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        refused += answer.status != 200
        waits.append(1e3 * (time.perf_counter() - start))
        time.sleep(PAUSE)
    return waits, refused


def peak(process: int) -> float:
    """The most memory a process has had since it was last told to forget, in MB; it is told now."""
    status = Path(f"/proc/{process}/status").read_text()
    Path(f"/proc/{process}/clear_refs").write_text("5")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> int:
    """A table: who was there, and what the polite client saw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20, help="of each row")
    parser.add_argument("--clients", default=",".join(HOSTILE), help="which hostile clients (default: all)")
    options = parser.parse_args()
    chosen = options.clients.split(",")
    spawn, total_refused = multiprocessing.get_context("spawn"), 0
    print("| hostile clients | words asked | p50, ms | p99, ms | longest, ms | refused | server's peak, MB |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    with server() as (process, host, port):
        time.sleep(5)  # what is made once is made
        for names in ([], *([name] for name in chosen), chosen if len(chosen) > 1 else []):
            peak(process.pid)
            until = time.monotonic() + options.seconds + 2
            attackers = [spawn.Process(target=attack_until, args=(name, host, port, until)) for name in names]
            for attacker in attackers:
                attacker.start()
            time.sleep(2)
            waits, refused = polite(host, port, options.seconds)
            total_refused += refused
            for attacker in attackers:
                attacker.kill()
                attacker.join()
            spread = statistics.quantiles(waits * 2, n=100, method="inclusive")  # twice: one wait has none
            print(
                f"| {' and '.join(names) if len(names) < 3 else 'all of them'} | {len(waits):,} | {spread[49]:.1f} |"
                f" {spread[98]:.1f} | {max(waits):.0f} | {refused} | {peak(process.pid):.0f} |",
                flush=True,
            )
            time.sleep(3)
    return 1 if total_refused else 0


if __name__ == "__main__":
    sys.exit(main())
