"""What clients do to a server that has no key: endless requests, answers that nobody reads, words that are none.

Memory is read from the system, which forgets the highest mark where it is told to.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from tests.serve.conftest import PATIENCE, Live, address_in
from tests.serve.test_limits import connection_of, problem
from tests.serve.test_processes import linux, wait_for, workers_of

from lovevec.errors import LovevecError
from lovevec.serve.app import make_app
from lovevec.serve.batches import SLICE_COST, Batcher, Limits
from lovevec.serve.body import json_values
from lovevec.serve.gate import ApiError, Room, Share
from lovevec.serve.metrics import Metrics
from lovevec.serve.models import ServedModel
from lovevec.serve.processes import ServerSettings, listening, uvicorn_config
from lovevec.serve.service import cost_of
from lovevec.texts.tokens import words_of

HEAD = b"POST /v1/near HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
# What begins a request, and what then comes again and again.
ENDLESS = {
    "headers": (HEAD, b"a:b\r\n" * 1000),
    "a header": (HEAD + b"a: ", b"b" * 5000),
    "an address": (b"GET /", b"a" * 5000),
    "blank lines": (b"", b"\r\n" * 2000),
    "trailers": (CHUNKED + b'e\r\n{"input": "a"}\r\n0\r\n', b"a:b\r\n" * 1000),
    "a trailer": (CHUNKED + b'e\r\n{"input": "a"}\r\n0\r\na: ', b"b" * 5000),
    "the size of a chunk": (CHUNKED + b"1;a=", b"b" * 5000),
    "requests": (b"", b"GET /page/style.css HTTP/1.1\r\nHost: a\r\n\r\n" * 200),
    "requests for a computation": (b"", (HEAD + b'Content-Length: 14\r\n\r\n{"input": "a"}') * 50),
}
SENT_AT_MOST = 30_000_000
MEGABYTES_AT_MOST = 1  # of a process's memory, for a connection that sends tens of them
BODY_BYTES = 4 << 20


class Peak:
    """The highest mark of a process's memory since the block began, in MB."""

    def __init__(self, process: int) -> None:
        self.folder, self.grown = Path(f"/proc/{process}"), 0.0

    def _status(self, name: str) -> float:
        return int((self.folder / "status").read_text().split(name + ":")[1].split()[0]) / 1024

    def __enter__(self) -> Peak:
        (self.folder / "clear_refs").write_text("5")
        self._before = self._status("VmRSS")
        return self

    def __exit__(self, *error: object) -> None:
        self.grown = self._status("VmHWM") - self._before


@linux
@pytest.mark.parametrize("what", ENDLESS)
def test_what_has_no_end_is_cut_off(live: Live, what):
    """Whatever part of a request it is, it ends the connection, and costs little until then."""
    first, more = ENDLESS[what]
    peaks = []
    for _ in range(3):  # the least of three: what else the process does meanwhile takes memory too
        sent = 0
        with connection_of(live) as connection, Peak(live.process.pid) as peak, suppress(ConnectionError):
            connection.sendall(first)
            while sent < SENT_AT_MOST:
                sent += connection.send(more)
        assert sent < SENT_AT_MOST
        peaks.append(peak.grown)
    assert min(peaks) < MEGABYTES_AT_MOST
    assert live.client.get("/healthz").status_code == 200


def test_trailers_and_chunks_are_no_crime(live: Live):
    """Small chunks, extensions and a trailer make a request like any other."""
    body = b'{"input": "recieve"}'
    chunks = b"".join(b"1;a=b\r\n%c\r\n" % byte for byte in body)
    with connection_of(live) as connection, connection.makefile("rb") as answers:
        for request in (CHUNKED + chunks + b"0\r\nX-Checksum: 1\r\n\r\n", HEAD + b"Content-Length: 20\r\n\r\n" + body):
            connection.sendall(request)
            assert answers.readline() == b"HTTP/1.1 200 OK\r\n"
            head = b"".join(iter(answers.readline, b"\r\n"))
            answers.read(int(head.lower().split(b"content-length: ")[1].split()[0]))


def filled(first: str, item: str, last: str = "]}") -> bytes:
    return (first + item * ((BODY_BYTES - len(first) - len(last)) // len(item)) + last).encode()


HEAVY = {
    "zeros": filled('{"input": ["a"', ", 0"),
    "strings": filled('{"input": ["a"', ',"a"'),
    "lists": filled('{"input": ["a"', ",[]"),
    "objects": filled('{"input": ["a"', ",{}"),
    "pairs": filled('{"pairs": [["a","b"]', ',["a","b"]'),
    "pairs of too many": filled('{"pairs": [["a"', ',"a"', "]]}"),
    "words to keep": filled('{"input": "a", "keep": ["a"', ',"a"'),
    "members": filled('{"input": "a"', ',"b":0', "}"),
    "quotes that are none": filled('{"input": ["', '\\",', '"]}'),
    "words": filled('{"input": "', "a ", '"}'),
    "parts": filled('{"input": "', "a.", '"}'),
    "letters": filled('{"input": "', "a", '"}'),
    "marks": filled('{"input": "', ",", '"}'),
}


@linux
@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/similar", "/v1/correct", "/v1/tokens"])
def test_a_heavy_body_is_refused_and_stays_light(live: Live, path):
    """4 MB of JSON that nobody can want: no million errors, no million strings."""
    for what, body in HEAVY.items():
        with Peak(live.process.pid) as peak:
            answer = live.client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 413), what
        assert problem(answer)["type"] == "invalid_request_error"
        assert len(answer.content) < 1000
        assert peak.grown < 200, what


@given(st.recursive(st.text(',[{"\\a', max_size=5) | st.integers(), lambda inner: st.lists(inner)), st.booleans())
def test_values_are_counted_outside_of_strings(value, spaces):
    def count(value: object) -> int:
        return 1 + sum(map(count, value)) if isinstance(value, list) else 1

    body = json.dumps(value, separators=None if spaces else (",", ":")).encode()
    counted = json_values(body, 0)
    assert counted > 0
    counted = min(json_values(body, most) for most in range(1, 200))
    if count(value) < 100:
        assert count(value) <= counted + 1
        assert counted <= 2 * count(value) + body.count(b",") + 1


def test_strings_cost_no_values():
    for inner in ("a,[{" * 10_000, '\\",' * 10_000, "\\\\" * 10_000 + ","):
        assert json_values(f'{{"input": ["{inner}", "b"]}}'.encode(), 100) <= 5


@given(st.text(st.sampled_from("aB1é.-,' \n’漢😀"), max_size=40))
def test_a_text_costs_as_many_words_as_it_holds(text):
    """At least those that its splitting finds; never more than it has characters, and a blank one costs one."""
    found = [word for word in words_of(text) if any(letter.isalnum() for letter in word.text)]
    assert max(1, len(found)) <= cost_of(text, 1000) <= max(1, len(text))


def test_costs_of_words_and_texts():
    costs = {"": 1, "house": 1, "a b": 2, "a.b.c": 3, "500mg": 2, "x" * 1024: 64, "!" * 160: 10, "well-known, e.g.": 4}
    assert {text: cost_of(text, 100) for text in costs} == costs
    assert cost_of("a." * 500_000, 100) > 100
    assert cost_of("a " * 50, 20) > 20


def test_words_joined_by_marks_are_counted(live: Live):
    answer = live.post("/v1/embeddings", {"input": [".".join(["ab"] * 256)] * 2048})
    assert (answer.status_code, problem(answer)["code"]) == (413, "request_too_large")
    assert "65,536" in problem(answer)["message"]
    usage = live.post("/v1/embeddings", {"input": "well-known, e.g."}).json()["usage"]
    assert usage["total_tokens"] == 2  # as people count


def test_others_have_their_turn_between_slices():
    order: list[str] = []

    async def run() -> None:
        batcher = Batcher(1_000_000)

        async def ask(name: str, count: int) -> None:
            def compute(items: list[int]) -> list[int]:
                order.append(name)
                return [-item for item in items]

            assert await batcher(name, compute, range(count), count) == [-item for item in range(count)]

        first = asyncio.create_task(ask("book", 20 * SLICE_COST))
        await asyncio.sleep(0)
        await asyncio.gather(first, *(ask(name, 1) for name in "abc"))
        batcher.close()

    asyncio.run(run())
    assert order[:5] == ["book", "a", "b", "c", "book"]
    assert order.count("book") == 20


def test_what_nobody_waits_for_is_not_computed():
    slices: list[int] = []

    async def run() -> None:
        batcher = Batcher(1_000_000)

        def compute(items: list[int]) -> list[int]:
            slices.append(len(items))
            time.sleep(0.01)
            return items

        left = asyncio.create_task(batcher("book", compute, range(5000), 500 * SLICE_COST))
        while not slices:
            await asyncio.sleep(0.001)
        left.cancel()
        assert await batcher("word", list, [1]) == [1]
        assert batcher.waiting == 0
        batcher.close()

    asyncio.run(run())
    assert len(slices) < 10


def test_a_client_that_hangs_up_is_not_computed_for(live: Live):
    """Its request is over, in the log too, long before all of its words could have been read."""
    words = " ".join(f"blorf{number}ingly" for number in range(20_000))
    body = json.dumps({"input": [words[start : start + 200] for start in range(0, len(words), 200)][:1900]}).encode()
    head = HEAD.replace(b"near", b"tokens") + b"Content-Length: %d\r\n\r\n" % len(body)
    with connection_of(live) as connection:
        connection.sendall(head + body)
        time.sleep(0.3)

    def ended() -> list[int]:
        return [line["status"] for line in live.log() if line.get("endpoint") == "/v1/tokens" and line["words"] > 5000]

    wait_for(ended)
    assert ended() == [400]


def test_slices_of_every_answer_are_joined(live: Live, shipped_love):
    """Requests of more than a slice have the answers of their parts, in order."""
    words = [f"wonderfull{number}" for number in range(SLICE_COST + 20)]
    for path, name, key in (
        ("embeddings", "input", "embedding"),
        ("near", "input", "near"),
        ("correct", "input", "text"),
    ):
        whole = live.post(f"/v1/{path}", {name: words}).json()["data"]
        assert [row["index"] for row in whole] == list(range(len(words)))
        some = live.post(f"/v1/{path}", {"input": words[-10:]}).json()["data"]
        assert [row[key] for row in whole[-10:]] == [row[key] for row in some]
    whole = live.post("/v1/similar", {"pairs": [[word, "wonderful"] for word in words]}).json()["data"]
    some = live.post("/v1/similar", {"pairs": [[word, "wonderful"] for word in words[-10:]]}).json()["data"]
    assert [row["cosine"] for row in whole[-10:]] == [row["cosine"] for row in some]


def test_a_share_of_the_room_is_claimed_and_given_back():
    room = Room(100)
    one, other = Share(room), Share(room)
    one.claim(90)
    one.claim(50)  # it has more already
    with pytest.raises(ApiError) as refused:
        other.claim(20)
    assert (refused.value.status_code, refused.value.code) == (429, "server_busy")
    assert room.used == 90
    one.resize(10)
    other.claim(90)
    other.resize(0)
    one.resize(0)
    one.claim(1000)  # alone it may be as large as it is
    one.resize(0)
    assert room.used == 0


@contextmanager
def in_this_process(love, **limits: int):
    """A server in a thread: its app and its address."""
    app = make_app({"default": ServedModel("default", love, "model")}, Limits(**limits))
    server = uvicorn.Server(uvicorn_config(app))
    with listening("127.0.0.1", 0) as listener:
        listener.listen()
        serving = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        serving.start()
        try:
            yield app, listener.getsockname()
        finally:
            server.should_exit = True
            serving.join(PATIENCE)
    assert not serving.is_alive()


def idle_reader(address: tuple[str, int], request: bytes) -> socket.socket:
    """A client that asks and does not read."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(PATIENCE)
    connection.connect(address)
    connection.sendall(request)
    return connection


def large_request(count: int = 2048) -> bytes:
    body = json.dumps({"input": ["house"] * count}).encode()
    return b"%b%b" % (HEAD.replace(b"near", b"embeddings"), b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


def test_answers_that_nobody_reads_take_limited_room(shipped_love, monkeypatch):
    """Once it is full, others are told; when the time to read is over, there is room again."""
    monkeypatch.setattr("lovevec.serve.connection.ANSWER_SECONDS", 4)
    with in_this_process(shipped_love, room=20 << 20) as (app, address):
        connections = [idle_reader(address, large_request()) for _ in range(6)]
        url = f"http://{address[0]}:{address[1]}/v1/embeddings"

        def status() -> int:
            return httpx.post(url, json={"input": ["house"] * 2048}, timeout=PATIENCE).status_code

        wait_for(lambda: status() == 429)
        assert httpx.post(url, json={"input": "house"}, timeout=PATIENCE).status_code in (200, 429)
        wait_for(lambda: status() == 200)
        for connection in connections:
            with suppress(ConnectionError):
                while connection.recv(1 << 20):
                    pass
            connection.close()
    room = next(layer.kwargs["room"] for layer in app.user_middleware if "room" in layer.kwargs)
    assert room.used == 0


@pytest.mark.parametrize("close", [b"", b"Connection: close\r\n"])
def test_who_reads_nothing_of_many_small_answers_is_cut_off(shipped_love, monkeypatch, close):
    """Answers that fit into the system's buffers but for a rest, and then silence."""
    monkeypatch.setattr("lovevec.serve.connection.ANSWER_SECONDS", 1)
    with in_this_process(shipped_love) as (_, address):
        request = large_request(30)
        connection = idle_reader(address, request)
        deadline = time.monotonic() + PATIENCE
        with suppress(ConnectionError):
            while time.monotonic() < deadline:
                connection.send(request.replace(b"Host: a\r\n", b"Host: a\r\n" + close))
                time.sleep(0.02)
        assert time.monotonic() < deadline
        connection.close()


@linux
def test_who_does_not_read_does_not_hold_up_the_end(serve):
    with serve("--workers", 1) as server:
        host, port = server.address.removeprefix("http://").split(":")
        connections = [idle_reader((host, int(port)), large_request()) for _ in range(3)]
        connections += [idle_reader((host, int(port)), HEAD)]  # and who does not send
        for connection in connections[:3]:
            connection.recv(1, socket.MSG_PEEK)
        start = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - start < 20  # 30 are given to what is computed
        for connection in connections:
            connection.close()


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "lovevec.cli", "serve", "--port", "0", "--log", "json", *map(str, arguments)]


@linux
@pytest.mark.parametrize("workers", [1, 2])
def test_a_signal_right_after_the_start_is_heard(small_model, workers):
    for _ in range(2):
        arguments = command("--model", f"small={small_model}", "--workers", workers)
        with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
            assert "serving" in process.stderr.readline()
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
            assert "Traceback" not in process.stderr.read()


SUPERVISED = """
import os, signal, sys, time
from lovevec.serve import processes

signal.signal(signal.SIGALRM, signal.SIG_DFL)
signal.alarm(30)  # who is deaf is killed
real_fork, real_wait, forks = os.fork, os.wait, []

def fork():
    forks.append(worker := real_fork())
    if worker and where == "young":
        os.kill(worker, signal.SIGTERM)
    if worker and where != "wait" and len(forks) == number:
        signal.raise_signal(signal.SIGTERM)
    return worker

def wait():
    ended = real_wait()
    if where == "wait":
        signal.raise_signal(signal.SIGTERM)
    return ended

def work(row):
    ended = []
    stop.then(lambda: ended.append(row))
    if where == "killed" and len(forks) <= 8:
        os.kill(os.getpid(), signal.SIGKILL)
    until = time.monotonic() + 5
    while where == "young" and not ended:
        time.sleep(0.001)
        if time.monotonic() > until:
            print("deaf", file=sys.stderr)
            break
    if where in ("fork", "wait") and row == 0 and not stop.asked:
        time.sleep(0.5)
        os._exit(1)  # it has to be replaced
    while not ended:
        time.sleep(0.01)
    os._exit(0)

processes.MAX_SHORT_LIVES = 1000
where, number = sys.argv[1], int(sys.argv[2])
os.fork, os.wait = fork, wait
stop = processes.StopSignals()
stop.catch()
processes.supervise(2, work, stop)
"""


@linux
@pytest.mark.parametrize(
    ("where", "number"), [("fork", 1), ("fork", 2), ("fork", 3), ("wait", 0), ("killed", 10), ("young", 100)]
)
def test_a_signal_while_workers_are_forked_and_replaced_is_heard(where, number):
    """It comes when a worker is there and nobody knows of it yet, or is gone and nobody has heard of that; and workers
    that are killed one after the other are replaced until then. A worker hears one that comes before it can."""
    done = subprocess.run(
        [sys.executable, "-c", SUPERVISED, where, str(number)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "deaf" not in done.stderr


@linux
@pytest.mark.parametrize("trouble", ["full", "missing"])
def test_no_disk_is_needed(small_model, tmp_path, trouble):
    """Neither to start, nor to count what several workers answer."""

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    arguments = command("--model", f"small={small_model}", "--workers", 2)
    log, environment = tmp_path / "log", {"TMPDIR": str(tmp_path / "none")} if trouble == "missing" else {}
    reader, writer = socket.socketpair()  # a log that is no file
    with subprocess.Popen(
        arguments,
        stderr=writer.fileno(),
        preexec_fn=fill if trouble == "full" else None,
        env={**os.environ, **environment, "PYTHONDONTWRITEBYTECODE": "1"},
    ) as process:
        writer.close()
        threading.Thread(target=lambda: _copy(reader, log), daemon=True).start()
        wait_for(log.is_file)
        address = address_in(log, process)
        wait_for(lambda: len(workers_of(process.pid)) == 2)
        for _ in range(20):
            assert httpx.post(f"{address}/v1/near", json={"input": "house"}).status_code == 200
        assert 'lovevec_requests_total{endpoint="/v1/near",status="200"} 20.0' in httpx.get(f"{address}/metrics").text
        for worker in workers_of(process.pid):
            opened = {str(link.readlink()) for link in Path(f"/proc/{worker}/fd").iterdir() if link.is_symlink()}
            assert not [name for name in opened if "metrics" in name]
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def _copy(reader: socket.socket, log: Path) -> None:
    with log.open("wb") as out:
        while part := reader.recv(1 << 16):
            out.write(part)
            out.flush()


def test_a_worker_that_takes_the_place_of_another_goes_on_counting():
    counts = Metrics(["m"], ["/a", "other"], workers=2)
    for row, seconds in ((0, 0.001), (1, 0.004), (1, 99.0)):
        counts.row = row
        counts.add_request("/a", 200, seconds)
    counts.add_words("m", "/a", 5)
    counts.add_readings("m", "near", 2)
    text = counts.text().decode()
    assert 'lovevec_requests_total{endpoint="/a",status="200"} 3.0' in text
    assert 'lovevec_words_total{endpoint="/a",model="m"} 5.0' in text
    assert 'lovevec_readings_total{model="m",reading="near"} 2.0' in text
    for edge, count in (("0.001", 1), ("0.0025", 1), ("0.005", 2), ("10.0", 2), ("+Inf", 3)):
        assert f'lovevec_request_seconds_bucket{{endpoint="/a",le="{edge}"}} {count}.0' in text
    assert 'lovevec_request_seconds_sum{endpoint="/a"} 99.005' in text
    assert 'endpoint="other"' not in text


def test_an_empty_key_is_refused(monkeypatch):
    with pytest.raises(LovevecError, match="LOVEVEC_API_KEY: is empty"):
        ServerSettings(key="")
    environment = {**os.environ, "LOVEVEC_API_KEY": ""}
    for name in ("serve", "ui"):
        done = subprocess.run(
            [sys.executable, "-m", "lovevec.cli", name, "--port", "0"],
            capture_output=True,
            text=True,
            env=environment,
            timeout=PATIENCE,
        )
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "LOVEVEC_API_KEY" in done.stderr


def test_a_quiet_server_says_which_port_it_has(small_model):
    with subprocess.Popen(
        command("--model", f"small={small_model}", "--quiet"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        address = process.stdout.readline().strip()
        assert httpx.get(f"{address}/healthz").status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert process.stdout.read() + process.stderr.read() == ""


def test_a_folder_named_default_is_not_served(tmp_path, small_model, shipped_love):
    (tmp_path / "default").symlink_to(small_model, target_is_directory=True)
    with subprocess.Popen(command(), stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        address = json.loads(process.stderr.readline())["address"]
        (card,) = httpx.get(f"{address}/v1/models").json()["data"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    assert card["known_words"] == len(shipped_love)
