"""A server that is told to stop ends what it does; workers share memory, count together, and are replaced."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from tests.serve.conftest import started
from tests.serve.test_limits import counted

LONG = {"input": [f"wonderfull{number}x" for number in range(2000)]}
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_runs_is_answered_before_the_server_ends(serve, number):
    with serve("--workers", 1) as server:
        statuses = []
        thread = threading.Thread(
            target=lambda: statuses.append(httpx.post(f"{server.address}/v1/near", json=LONG, timeout=60).status_code)
        )
        thread.start()
        time.sleep(0.3)
        assert server.stop(number) == 0
        thread.join()
        assert statuses == [200]
        with pytest.raises(httpx.ConnectError):
            httpx.get(server.address)


def workers_of(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{process}/stat").read_text().split(") ")[1][0] == "Z"


def wait_for(holds, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


@linux
def test_two_workers_count_together_and_are_replaced(serve, tmp_path):
    with serve("--workers", 2) as server:
        wait_for(lambda: len(workers_of(server.process.pid)) == 2)
        first = workers_of(server.process.pid)
        for _ in range(40):  # a connection each, so that both have their share
            assert httpx.post(f"{server.address}/v1/near", json={"input": "house"}).status_code == 200
        found = counted(httpx.get(f"{server.address}/metrics").text)
        assert found["lovevec_requests_total", "/v1/near", "200"] == 40
        os.kill(first[0], signal.SIGKILL)
        wait_for(lambda: len(workers_of(server.process.pid)) == 2 and first[0] not in workers_of(server.process.pid))
        for _ in range(10):
            assert httpx.post(f"{server.address}/v1/near", json={"input": "house"}).status_code == 200
        ended = [line for line in server.log() if line["event"] == "worker ended"]
        assert [(line["worker"], line["code"]) for line in ended] == [(first[0], -signal.SIGKILL)]
        workers = workers_of(server.process.pid)
        assert server.stop() == 0
        assert all(gone(worker) for worker in workers)
    assert not list(tmp_path.glob("temporary/*"))


@linux
def test_workers_end_when_their_parent_is_gone(serve):
    with serve("--workers", 2) as server:
        wait_for(lambda: len(workers_of(server.process.pid)) == 2)
        workers = workers_of(server.process.pid)
        server.process.kill()
        server.process.wait()
        wait_for(lambda: all(gone(worker) for worker in workers))


def own_megabytes(process: int) -> float:
    """Memory of a server and its workers that no file backs; what they share counts once."""
    rolls = [Path(f"/proc/{number}/smaps_rollup").read_text() for number in (process, *workers_of(process))]
    lines = [line for roll in rolls for line in roll.splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:")) / 1024


def settled_megabytes(folder: Path, workers: int) -> float:
    """The least of some seconds after all kinds of requests: freed memory is given back every few seconds."""
    with started(folder, "--workers", workers) as server:
        process, watched = server.process.pid, workers if workers > 1 else 0
        wait_for(lambda: len(workers_of(process)) == watched)
        words = {"input": ["recieve", "house", *(f"blorfingly{number}" for number in range(30))]}
        for _ in range(8 * workers):  # a connection each, so that all have their share
            for path in ("embeddings", "near", "neighbors", "tokens"):
                assert httpx.post(f"{server.address}/v1/{path}", json=words, timeout=60).status_code == 200
            assert httpx.post(f"{server.address}/v1/explain", json={"input": "recieve"}).status_code == 200
        return min(own_megabytes(process) for _ in range(24) if time.sleep(0.5) is None)


@linux
@pytest.mark.slow
def test_a_further_worker_takes_little(tmp_path):
    """The second one, with the process that watches over all, and the third take 70 MB together at most."""
    one, three = (settled_megabytes(tmp_path, workers) for workers in (1, 3))
    assert three - one <= 70


@linux
def test_a_server_of_the_shipped_model_stays_small(live):
    """All kinds of requests, then less than 200 MB."""
    words = [f"wonderfull{number}" for number in range(64)]
    for path in ("embeddings", "near", "neighbors", "tokens", "correct"):
        for _ in range(3):
            assert live.post(f"/v1/{path}", {"input": words}).status_code == 200
    lines = Path(f"/proc/{live.process.pid}/smaps_rollup").read_text().splitlines()
    assert next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024 < 200


def test_people_are_greeted_by_an_address_and_read_lines(small_model):
    command = [sys.executable, "-m", "lovevec.cli", "serve", "--port", "0", "--model", f"small={small_model}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        greeting = process.stderr.readline()
        (address,) = set(re.findall(r"http://127\.0\.0\.1:\d+", greeting))
        assert "small at http" in greeting
        assert httpx.post(f"{address}/v1/near", json={"input": ["house", "secretword"]}).status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert re.fullmatch(r"\d\d:\d\d:\d\d POST /v1/near 200 2 words [\d.]+ ms\n", process.stderr.read())
