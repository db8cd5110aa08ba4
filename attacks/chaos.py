"""A server to which everything happens at once: does it ever give a wrong vector, and does it always end well?

    python -m attacks.chaos --seconds 600 --seed 0

`lovevec serve` with several workers on a model folder. Clients ask it for words and texts, and some hang up in the
middle. Meanwhile, at moments drawn from the seed: a worker is killed (SIGKILL); the model in the folder is replaced by
another one; the disk is full, for as long as a server lives (no file may grow); the server is told to stop (SIGTERM,
which may come at its start or while a worker is replaced) and started again.

Asked of it: every answer is a good one, or a 429, or the connection ends. A vector is, to the bit, that of one of the
two models, and the same one for as long as a server lives. After SIGTERM the exit code is 0 within STOP_SECONDS, and no
worker is left. A server that starts in the moment in which the model is replaced may say so, in one line that names it,
and end.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from attacks.good import models
from lovevec import LOVE

WORDS = 400
MODELS = ("model float16", "model int8")
CLIENTS = 4
STOP_SECONDS = 45  # 30 of them for what runs, on a busy machine
LIVES = (0.0, 12.0)  # seconds that a server has until it is told to stop
TROUBLE = (0.05, 1.5)  # seconds between two events
Answers = dict[str, bytes]


def texts_of(love: LOVE, rng: random.Random) -> list[str]:
    """Known words, damaged words, texts, and what is no word."""
    known = rng.choices(list(love.words), k=WORDS)
    texts = [f"{one} {other[1:]} {one[:-1]}x" for one, other in zip(known, reversed(known), strict=True)]
    return [*known, *(word[:1] + word[2:] for word in known), *texts[:100], "", " ", "500mg", "é" * 300, "a.b.c"]


def answers_of(love: LOVE, strings: list[str]) -> Answers:
    """What a server of the model has to answer."""
    is_text = [len(string.split(maxsplit=1)) > 1 for string in strings]
    vectors = [
        love.encode([string])[0] if text else love.embed([string])[0]
        for string, text in zip(strings, is_text, strict=True)
    ]
    return {string: vector.astype("<f4").tobytes() for string, vector in zip(strings, vectors, strict=True)}


class Life:
    """One server, from its start to its end."""

    def __init__(self, folder: Path, workers: int, full: bool) -> None:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        command = [sys.executable, "-m", "lovevec.cli", "serve", "-m", f"m={folder}", "--port", "0", "--log", "json"]
        self.process = subprocess.Popen(
            [*command, "--workers", str(workers)],
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=limit if full else None,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )
        self.folder = folder
        self.seen: set[int] = set()  # models, by their number
        self.address: tuple[str, int] | None = None
        self.log: list[str] = []
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if self.address is None and '"serving"' in line:
                host, port = json.loads(line)["address"].removeprefix("http://").split(":")
                self.address = host, int(port)
            if '"request"' not in line:
                self.log.append(line)

    def workers(self) -> list[int]:
        """The processes that answer."""
        with suppress(OSError):
            return [*map(int, Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split())]
        return []

    def end(self) -> str | None:
        """SIGTERM; what is wrong with how it ended."""
        workers = self.workers()
        served = self.address is not None
        if self.process.poll() is not None and served:
            return f"the server ended by itself, with {self.process.returncode}: {''.join(self.log)[-500:]}"
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return f"the server did not end in {STOP_SECONDS} s after SIGTERM"
        self._reading.join(STOP_SECONDS)
        said = "".join(self.log)
        if "Traceback" in said:
            return f"a traceback: {said[-1500:]}"
        if code != 0 and (served or self.address is not None):
            return f"the server ended with {code}: {said[-500:]}"
        refused = code == 2 and said.count("\n") == 1 and str(self.folder) in said  # it was being replaced
        if code not in (0, -signal.SIGTERM, 143) and not refused:
            return f"the server did not start, {code}: {said[-500:]}"
        left = [worker for worker in workers if _lives(worker)]
        return f"workers are left: {left}" if left else None


def _lives(process: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    return False


class Chaos:
    """The clients, what they saw, and what is done to the server."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng, self.folder = random.Random(seed), folder
        self.models = [LOVE.load(self._written(name, number)) for number, name in enumerate(MODELS)]
        self.strings = texts_of(self.models[0], self.rng)
        self.answers = [answers_of(love, self.strings) for love in self.models]
        self.counts, self.findings, self.over = Counter[str](), list[str](), threading.Event()
        self.life: Life | None = None
        self.models[0].save(folder / "served")

    def _written(self, name: str, number: int) -> Path:
        sample = models()[name]
        place = self.folder / str(number)
        place.mkdir()
        return sample.write(place)

    def ask(self, seed: int) -> None:
        """One client: until all is over."""
        rng = random.Random(seed)
        while not self.over.is_set():
            life = self.life
            if life is None or life.address is None:
                time.sleep(0.02)
                continue
            try:
                self._ask(life, life.address, rng)
            except (OSError, http.client.HTTPException):
                self.counts["connections that ended"] += 1
                time.sleep(0.01)
            except Exception as error:  # noqa: BLE001  a client that dies in silence would find nothing
                self.findings.append(f"{type(error).__name__}: {error}")

    def _ask(self, life: Life, address: tuple[str, int], rng: random.Random) -> None:
        some = rng.choices(self.strings, k=rng.choice([1, 1, 3, 40, 1500]))
        body = json.dumps({"input": some, "encoding_format": "base64"}).encode()
        if rng.random() < 0.1:
            with socket.create_connection(address, timeout=STOP_SECONDS) as connection:
                head = f"POST /v1/embeddings HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                connection.sendall((head + body)[: rng.randrange(len(head) + len(body))])
                self.counts["connections cut"] += 1
                return
        connection = http.client.HTTPConnection(*address, timeout=STOP_SECONDS)
        try:
            for _ in range(rng.randrange(1, 20)):
                connection.request("POST", "/v1/embeddings", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                content = json.loads(answer.read())
                self.counts[f"answers {answer.status}"] += 1
                if answer.status == 200:
                    self._compare(life, some, content["data"])
                elif answer.status != 429:
                    self.findings.append(f"status {answer.status}: {content}")
        finally:
            connection.close()

    def _compare(self, life: Life, some: list[str], data: list[dict[str, str]]) -> None:
        vectors = [base64.b64decode(row["embedding"]) for row in data]
        self.counts["vectors"] += len(vectors)
        fits = {
            number for number, answers in enumerate(self.answers) if [answers[string] for string in some] == vectors
        }
        if not fits:
            self.counts["wrong"] += 1
            self.findings.append(f"vectors of no model, of {len(some)} strings, {some[:3]!r}")
        life.seen |= fits if len(fits) == 1 else set()
        if len(life.seen) > 1:
            self.findings.append("one server answered by two models")

    def run(self, seconds: float) -> None:
        """Servers one after the other, and trouble for each."""
        until = time.monotonic() + seconds
        clients = [threading.Thread(target=self.ask, args=(seed,), daemon=True) for seed in range(CLIENTS)]
        for client in clients:
            client.start()
        while time.monotonic() < until and not self.findings:
            self.counts["servers"] += 1
            life = self.life = Life(self.folder / "served", self.rng.choice([1, 2, 3]), self.rng.random() < 0.3)
            end = min(time.monotonic() + self.rng.uniform(*LIVES), until + 5)
            while time.monotonic() < end:
                time.sleep(min(self.rng.uniform(*TROUBLE), max(0.0, end - time.monotonic())))
                self.trouble(life)
            self.life = None
            if wrong := life.end():
                self.findings.append(wrong)
        self.over.set()
        for client in clients:
            client.join(STOP_SECONDS)

    def trouble(self, life: Life) -> None:
        """A worker is killed, or the model replaced."""
        workers = life.workers()
        if workers and self.rng.random() < 0.6:
            with suppress(ProcessLookupError):
                os.kill(self.rng.choice(workers), signal.SIGKILL)
                self.counts["workers killed"] += 1
        else:
            self.models[self.rng.randrange(2)].save(self.folder / "served")
            self.counts["models replaced"] += 1


def main() -> int:
    """What happened, and what was found; the exit code is 1 where anything was."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        chaos = Chaos(Path(folder), options.seed)
        chaos.run(options.seconds)
    for finding in chaos.findings:
        print(finding)
    happened = ", ".join(f"{count:,} {what}" for what, count in sorted(chaos.counts.items()))
    print(f"seed {options.seed}, {time.monotonic() - start:.0f} s: {happened}; {len(chaos.findings)} findings")
    return 1 if chaos.findings else 0


if __name__ == "__main__":
    sys.exit(main())
