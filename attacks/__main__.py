"""Attack for so many seconds, and say what was found; the exit code is 1 where anything was.

python -m attacks --seconds 3600 --seed 1
python -m attacks --seed 1 --case 4711 --keep folder        # make one case again, and keep its files
"""

from __future__ import annotations

import argparse
import json
import os
import select
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attacks.hostile import hostile
from attacks.worker import REPOSITORY, make

BATCH = 2_000  # cases a process
PATIENCE = 200  # seconds without a word from the process before it is taken for dead


@contextmanager
def end_with_block(worker: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """The process, which does not outlive our interest in it."""
    with worker:
        try:
            yield worker
        except GeneratorExit:
            worker.kill()
            raise


def results(seed: int, first: int, last: int, every: int = 1) -> Iterator[dict[str, Any]]:
    """What became of the cases, or of `every` so many-th of them; one that ends its process, or stops it for good, is
    a finding, and the next process goes on behind it."""
    while first < last:
        command = [sys.executable, "-m", "attacks.worker", "--seed", str(seed)]
        command += ["--first", str(first), "--last", str(min(last, first + BATCH * every)), "--every", str(every)]
        settings = os.environ | {
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "ARROW_DEFAULT_MEMORY_POOL": "system",
        }
        begun, done = None, first
        settings["PYTHONPATH"] = os.pathsep.join(["src", ".", settings.get("PYTHONPATH", "")])
        with end_with_block(subprocess.Popen(command, stdout=subprocess.PIPE, cwd=REPOSITORY, env=settings)) as worker:
            assert worker.stdout is not None
            rest, finding = b"", None
            while finding is None:
                if not select.select([worker.stdout], [], [], PATIENCE)[0]:
                    worker.kill()
                    finding = "does not end, and cannot be stopped"
                    break
                block = os.read(worker.stdout.fileno(), 1 << 16)
                if not block:
                    break
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    told = json.loads(line)
                    if "seconds" in told:
                        yield told
                        begun, done = None, told["number"] + every
                    else:
                        begun = told
        if begun is None and worker.returncode != 0:
            raise SystemExit(f"the worker ended with {worker.returncode} before a case had begun")
        if begun is not None:
            crash = finding or f"the process ended with {worker.returncode}"
            yield {**begun, "result": "", "finding": crash, "seconds": 0.0, "bytes": 0, "size": 0}
            done = begun["number"] + every
        first = done


def main() -> int:
    """A line a finding, and a summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--case", type=int, help="make this one case again")
    parser.add_argument("--keep", type=Path, help="where its files go")
    options = parser.parse_args()
    if options.case is not None:
        folder = options.keep or Path(f"case-{options.case}")
        folder.mkdir(parents=True)
        print(*make(options.seed, options.case, folder))
        return 0
    start, kinds, found, slowest, most = time.monotonic(), Counter[str](), 0, 0.0, 0
    for told in results(options.seed, 0, 10**9):
        kind = told["name"].split(":")[0]
        kinds[f"{kind}, {'read' if told['result'] == 'read' else 'refused'}"] += 1
        slowest, most = max(slowest, told["seconds"]), max(most, told["bytes"] - 3 * told["size"])
        if told["finding"]:
            found += 1
            print(f"{told['number']} {told['name']}: {told['finding']}", flush=True)
        if time.monotonic() - start > options.seconds and told["number"] >= len(hostile()):
            break
    total, read = sum(kinds.values()), sum(count for kind, count in kinds.items() if kind.endswith("read"))
    print(
        f"seed {options.seed}: {total:,} cases in {time.monotonic() - start:.0f} s, {read:,} read,"
        f" {total - read:,} refused,"
        f" {found:,} findings;"
        f" the slowest took {slowest:.2f} s of the processor, the most memory beyond 3 times the file's size was"
        f" {most / 2**20:.0f} MB"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
