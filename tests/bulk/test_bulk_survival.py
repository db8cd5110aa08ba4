"""Jobs that are killed, full disks, two nodes: nothing is lost, nothing is half there, the bytes are the same."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.factories import toy_words

pytest.importorskip("ray")
psutil = pytest.importorskip("psutil")
parquet = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.slow
PROGRAM = [sys.executable, "-m", "lovevec.cli", "bulk"]
# Cuts are made by the driver: small ones make many parts of few words. Otherwise the program as people run it.
SMALL = """
import sys
from lovevec.bulk import parts
parts.BYTES_PER_PART = 8_000
from lovevec.cli import main
sys.exit(main(sys.argv[1:]))
"""
LONG = 300  # seconds: on a busy machine Ray takes one or two minutes to start


@pytest.fixture(scope="module")
def words(tmp_path_factory) -> Path:
    """30,000 words that have to be read as known ones, slowly enough to be interrupted."""
    path = tmp_path_factory.mktemp("words") / "w.txt"
    base = toy_words(2000)
    path.write_text("".join(f"{word[:3]}x{word[3:]}{number % 7}\n" for number, word in enumerate(base * 15)))
    return path


@pytest.fixture(scope="module")
def whole(words, tmp_path_factory) -> Path:
    """What a job that nothing befalls writes."""
    out = tmp_path_factory.mktemp("whole") / "out"
    done = subprocess.run(command(words, out), capture_output=True, timeout=LONG)
    assert done.returncode == 0, done.stderr
    return out


def command(words, out, *more):
    options = [str(words), "-o", str(out), "--engine", "numpy", "--json", "--workers", "2", *map(str, more)]
    return [sys.executable, "-c", SMALL, "bulk", *options]


def parts_of(out):
    return {path.name: path.read_bytes() for path in out.glob("part-*.parquet")}


def wait_for(condition, process):
    end = time.monotonic() + LONG
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)


def busy_workers(process):
    """The processes that write parts."""
    found = []
    for child in psutil.Process(process.pid).children(recursive=True):
        try:
            if "write_parts" in " ".join(child.cmdline()):
                found.append(child)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return found


def left_of(started):
    """What still runs; Ray's agents, which only watch, take some minutes to see that all others are gone."""
    psutil.wait_procs([one for one in started if not is_agent(one)], timeout=60)
    return [one for one in started if one.is_running() and not is_agent(one)]


def is_agent(process):
    try:
        return process.status() == psutil.STATUS_ZOMBIE or "agent" in " ".join(process.cmdline()).lower()
    except psutil.NoSuchProcess:
        return False


def test_killing_a_worker_and_then_the_driver_loses_nothing(words, whole, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(command(words, out), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: len(list(out.glob("part-*"))) >= 5 and busy_workers(process), process)
    victim = busy_workers(process)[0]
    victim.kill()
    before = len(list(out.glob("part-*")))
    wait_for(lambda: len(list(out.glob("part-*"))) >= before + 4, process)  # it goes on
    started = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    assert not left_of(started)  # Ray's processes end with the driver
    done = {path: path.stat().st_mtime_ns for path in out.glob("part-*")}
    assert 0 < len(done) < len(parts_of(whole))
    for path in done:
        parquet.read_table(path)  # none is half-written
    again = subprocess.run(command(words, out), capture_output=True, timeout=LONG)
    assert again.returncode == 0, again.stderr
    assert parts_of(out) == parts_of(whole)
    assert all(path.stat().st_mtime_ns == date for path, date in done.items())
    summary = json.loads(again.stdout)
    assert summary["found"] == len(done)
    assert sorted(path.name for path in out.iterdir() if not path.name.startswith("part-")) == ["_plan.json"]


@pytest.mark.parametrize(("number", "code", "message"), [(signal.SIGINT, 130, b"stopped"), (signal.SIGTERM, 143, b"")])
def test_ctrl_c_and_kill_stop_all_processes(words, tmp_path, number, code, message):
    process = subprocess.Popen(command(words, tmp_path / "out"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: len(list((tmp_path / "out").glob("part-*"))) >= 2, process)
    started = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=120)
    assert (process.returncode, stdout) == (code, b""), stderr
    assert message in stderr.splitlines()[-1] if message else not stderr
    assert not left_of(started)


def test_a_full_disk_is_named_and_what_is_done_stays(words, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = os.name == "posix" and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(disk)], capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("only root can make a small disk")
    try:
        done = subprocess.run(command(words, disk / "out"), capture_output=True, timeout=LONG)
        assert (done.returncode, done.stdout) == (2, b"")
        message = done.stderr.decode().splitlines()[-1]
        assert "part-0" in message
        assert "cannot be written: No space left on device" in message
        stay = list((disk / "out").glob("part-*"))
        assert stay
        for path in stay:
            parquet.read_table(path)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_two_nodes_share_a_job(words, whole, tmp_path):
    """Two nodes on one machine, of one core each: both work, and the bytes are those of one node."""
    ray = [
        sys.executable,
        "-m",
        "ray.scripts.scripts",
        "start",
        "--num-cpus",
        "1",
        "--object-store-memory",
        "100000000",
        "--node-ip-address=127.0.0.1",
    ]
    address = f"127.0.0.1:{free_port()}"
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}  # who has it may join
    environment = {**os.environ, **token}
    head = [*ray, "--head", f"--port={address.split(':')[1]}", "--include-dashboard=false", "--block"]
    nodes = [subprocess.Popen(head, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)]
    try:
        end = time.monotonic() + LONG
        while socket.socket().connect_ex(("127.0.0.1", int(address.split(":")[1]))):
            assert time.monotonic() < end
            time.sleep(0.5)
        second = [*ray, "--address", address, "--block"]
        nodes.append(subprocess.Popen(second, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment))
        script = f"import ray; ray.init({address!r}, log_to_driver=False); print(int(ray.cluster_resources()['CPU']))"
        cores = 0
        while cores < 2:
            assert time.monotonic() < end
            asked = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=LONG, env=environment)
            cores = int(asked.stdout or 0) if not asked.returncode else 0
        out = tmp_path / "out"
        process = subprocess.Popen(
            command(words, out, "--address", address),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        at_work: set[int] = set()

        def both_nodes() -> bool:
            at_work.update(place for place, node in enumerate(nodes) if busy_workers(node))
            return len(at_work) == 2

        wait_for(both_nodes, process)
        stdout, stderr = process.communicate(timeout=LONG)
        assert process.returncode == 0, stderr
        assert json.loads(stdout)["cores"] == 2
        assert parts_of(out) == parts_of(whole)
        assert all(node.poll() is None for node in nodes)  # a cluster that is not ours stays
    finally:
        for node in nodes:
            tree = psutil.Process(node.pid).children(recursive=True) if node.poll() is None else []
            node.terminate()
            node.wait(60)
            for one in tree:
                if one.is_running():
                    one.kill()


def test_the_model_is_in_shared_memory_once_a_node():
    """What workers get is no copy: their arrays are read-only views into Ray's store."""
    import ray

    from lovevec import LOVE
    from lovevec.bulk.cluster import cluster

    with cluster(workers=1):
        love = LOVE.load()
        stored = ray.get(ray.put(love))
        tables = stored.parts.folded
        assert not tables.out.flags.writeable
        assert not tables.out.flags.owndata
        assert not stored.parts.units.character.flags.writeable
        assert np.array_equal(stored.embed(["hosue"]), love.embed(["hosue"]))
