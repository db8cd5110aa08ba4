"""`lovevec bulk` against `love.embed` in memory: words a second and core, and the memory of driver and workers.

    python bench/bulk.py --words 1000000                                       # a million, as many workers as cores
    python bench/bulk.py --words 100000 1000000 10000000 100000000 --workers 1 2 --folder /tmp/bulk \\
        --json docs/results/data/bulk.json                                     # what docs/results/scale.md shows
    python lab/runs/scale.py page

The words are made by a seed: 100M, of them 20M distinct, as of a crawl. The known words lead, then misspellings (one or
two slips of a finger) and new words (halves of known ones) in turn; every fifth word comes for the first time, the
others are drawn by Zipf's law. Fewer words are the first ones of these, so that all sizes have the same mix. They lie
in parquet files under the folder (0.6 GB for 100M).

In memory: as many processes as the job has workers, at once, with one thread each, as they share the cores of the job;
250,000 words from all over the same files, in float32 as it comes. Of two ways, one call for all and a call for 16,384
words whose vectors are thrown away, the faster one counts (`one_call` is the first alone, which holds all vectors, as
the words "in memory" say), and of all that the mean of before and after the job. Shares are by the clock, and, which
other work on the machine disturbs less, by the time that cores were busy with all processes of the job, Ray's own
included.

A job's parts are looked at as they come: rows are counted, one part in 32 is hashed, and then the file is cut to
nothing, since 100M vectors are 120 GB (float16: 60 GB). A job takes a part that is there for done whatever its size, so
a benchmark that was stopped goes on with the same command and folder; what is done is not run again (remove the
folder). Figures are then of the last run alone: `rows_now`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count as count_from
from itertools import pairwise
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow
from pandas.util import hash_array
from pyarrow import parquet

from lovevec import LOVE
from lovevec.damage.edits import damage
from lovevec.engine.threads import usable_cores
from lovevec.files import write_json

DISTINCT = 20_000_000
EACH = 5  # every so many words comes for the first time
FILE, FIRST = 1_000_000, 100_000  # rows of a file; of the first one, so that 100,000 words are whole files, too
SAMPLE = 250_000  # words embedded in memory
TURN, LATER = 1.0, 5.0  # seconds between two looks, which take cores from the job, in its first minute and later
CALLS = (16_384, SAMPLE)  # words a call in memory
TWICE = 3  # one misspelling in so many has two slips
ASKED = 0.75  # of the in-memory rate, where the words are many enough for Ray's start not to count
HASHED = 32  # one part in so many: hashing all would keep a core busy for a tenth of the time


def unknown_words(known: list[str], rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Blocks of misspellings and new words in turn; some come more than once, or are known."""
    plain = np.array([word for word in known if word.isalpha() and len(word) > 3], dtype=object)
    while True:
        typos = damage(plain[rng.integers(0, len(plain), FILE // 2)].tolist(), rng)
        typos[::TWICE] = damage(typos[::TWICE], rng)
        heads, tails = (plain[rng.integers(0, len(plain), FILE // 2)].tolist() for _ in range(2))
        new = [head[: len(head) // 2 + 1] + tail[len(tail) // 2 :] for head, tail in zip(heads, tails, strict=True)]
        yield np.array([typos, new], dtype=object).T.reshape(-1)


def vocabulary(known: list[str], count: int, seed: int) -> pyarrow.Array:
    """So many distinct words, the known ones first. Of those before only hashes of 64 bits are held, so one in some
    hundred thousand million words may be left out by chance."""
    blocks = [np.array(known[:count], dtype=object)]
    kept, seen, made = [pyarrow.array(blocks[0])], np.sort(hash_array(blocks[0])), len(blocks[0])
    for block in unknown_words(known, np.random.default_rng(seed)):
        if made >= count:
            break
        hashes, first = np.unique(hash_array(block), return_index=True)
        new = seen[np.minimum(np.searchsorted(seen, hashes), len(seen) - 1)] != hashes
        kept.append(pyarrow.array(block[np.sort(first[new])]))
        made += len(kept[-1])
        seen = np.sort(np.concatenate([seen, hashes[new]]), kind="stable")  # two sorted runs: they are only merged
    return pyarrow.concat_arrays(kept)[:count]


def word_files(folder: Path, count: int, distinct: int, seed: int) -> list[Path]:
    """The files of the first `count` words; those that are missing are made."""
    bounds = list(pairwise([0, *(cut for cut in (FIRST, *range(FILE, count, FILE)) if cut < count), count]))
    paths = [folder / f"words-{low:09}-{high:09}.parquet" for low, high in bounds]
    if all(path.exists() for path in paths):
        return paths
    folder.mkdir(parents=True, exist_ok=True)
    words = vocabulary(list(LOVE.load().words), distinct, seed)
    step = next(step for step in count_from(distinct * 5 // 8) if gcd(step, distinct) == 1)  # all over the ranks
    for path, (low, high) in zip(paths, bounds, strict=True):
        draws = np.random.default_rng([seed, low]).random(high - low)
        rank = np.minimum(np.exp(draws * np.log(distinct + 1)).astype(np.int64) - 1, distinct - 1)
        place = np.arange(low, high)
        first = place % EACH == 0
        rank[first] = place[first] // EACH * step % distinct
        part = path.with_suffix(".part")
        parquet.write_table(pyarrow.table({"word": words.take(pyarrow.array(rank))}), part, compression="zstd")
        part.rename(path)
    return paths


def some_words(files: list[Path], count: int) -> list[str]:
    """The first ones of every file: not all files have the same share of unknown words."""
    words: list[str] = []
    for path in files:
        words += next(parquet.ParquetFile(path).iter_batches(-(-count // len(files)))).column("word").to_pylist()
    return words[:count]


def embed_in_memory(files: list[Path]) -> dict[str, Any]:
    """Words a second of `love.embed` on one thread, by the faster way, and how the words are read."""
    love, words = LOVE.load(engine="compiled"), some_words(files, SAMPLE)
    assert love.engine.threads == 1
    love.embed(words[:2_000])  # builds what the first call builds
    rates = []
    for call in CALLS:
        clock, busy = time.perf_counter(), time.process_time()
        for low in range(0, len(words), call):
            love.embed(words[low : low + call])
        rates.append((len(words) / (time.perf_counter() - clock), len(words) / (time.process_time() - busy)))
    readings = love.readings(np.random.default_rng(0).choice(words, 20_000).tolist())  # not every fifth: see EACH
    shares = {reading: round(readings.count(reading) / len(readings), 3) for reading in ("known", "near", "new")}
    rate, busy_rate = map(max, zip(*rates, strict=True))
    return {"rate": rate, "busy_rate": busy_rate, "one_call": rates[-1][0], "readings": shares}


def in_memory(files: list[Path], workers: int) -> list[dict[str, Any]]:
    """Of as many processes at once."""
    command = [sys.executable, __file__, "--in-memory", *map(str, files)]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, env=alone) for _ in range(workers)]
    return [json.loads(process.communicate()[0]) for process in processes]


class Journal:
    """What became of a job's parts, a line each, and in the end its figures; it outlives a benchmark that was cut."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        self.parts = {line["part"]: line for line in map(json.loads, lines) if "part" in line}
        self.result = next((line for line in map(json.loads, lines) if "seconds" in line), None)

    def add(self, line: dict[str, Any]) -> None:
        """Write it down."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def take(self, folder: Path) -> None:
        """Note the parts that came, and cut their files to nothing."""
        for path in sorted(folder.glob("part-*.parquet")):
            if path.stat().st_size:
                digest = ""
                if int(path.stem.removeprefix("part-")) % HASHED == 0:
                    with path.open("rb") as file:
                        digest = hashlib.file_digest(file, "sha256").hexdigest()
                rows = parquet.read_metadata(path).num_rows
                self.parts[path.name] = {"part": path.name, "rows": rows, "sha256": digest}
                self.add(self.parts[path.name])
                os.truncate(path, 0)

    def digest(self) -> str:
        """Of all parts that are hashed, in their order."""
        hashes = "".join(self.parts[name]["sha256"] for name in sorted(self.parts))
        return hashlib.sha256(hashes.encode()).hexdigest()


def others_busy() -> float:
    """Seconds that the machine's cores were busy, but not with this process."""
    times = psutil.cpu_times()
    return sum(times) - times.idle - getattr(times, "iowait", 0.0) - time.process_time()


@dataclass
class Watch:
    """The processes of a job: MB of the driver and of the largest worker, at most, as they are mapped, Ray's shared
    memory included, and what is their own; for how many seconds all of them kept cores busy; and which share of the
    cores' time other work took, this benchmark's left out."""

    peak: dict[str, float] = field(default_factory=dict)
    busy: dict[int, float] = field(default_factory=dict)
    begun: tuple[float, float] = field(default_factory=lambda: (time.perf_counter(), others_busy()))

    def other_work(self) -> float:
        """Until now."""
        clock, busy = self.begun
        others = others_busy() - busy - sum(self.busy.values())
        return max(0.0, others / (time.perf_counter() - clock) / (os.cpu_count() or 1))

    def look(self, pid: int) -> None:
        """Now."""
        driver = psutil.Process(pid)
        for one in [driver, *driver.children(recursive=True)]:
            try:
                name, memory, times = one.name(), one.memory_info(), one.cpu_times()
            except psutil.NoSuchProcess:
                continue
            self.busy[one.pid] = times.user + times.system
            if one == driver or name.startswith("ray::MapBatch"):
                role = "driver" if one == driver else "worker"
                for key, size in ((f"{role}_mb", memory.rss), (f"{role}_own_mb", memory.rss - memory.shared)):
                    self.peak[key] = max(self.peak.get(key, 0), round(size / 1e6))


def run_job(command: list[str], out: Path, journal: Journal) -> tuple[dict[str, Any], Watch]:
    """The summary of a job, and what its processes took; parts are noted as they come."""
    watch = Watch()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        while process.poll() is None:
            with suppress(psutil.NoSuchProcess):
                watch.look(process.pid)
            journal.take(out)
            time.sleep(TURN if time.perf_counter() - watch.begun[0] < 60 else LATER)
    finally:
        process.terminate()
        process.wait()
    journal.take(out)
    if process.returncode:
        sys.exit("the job failed; the same command goes on with it")
    assert process.stdout is not None
    return json.loads(process.stdout.read()), watch


def measure(files: list[Path], count: int, workers: int, options: argparse.Namespace) -> dict[str, Any]:
    """In memory, the job, in memory again."""
    name = f"{count}-{workers}-{options.precision}{'-once' if options.once else ''}"
    out, notes = options.folder / name, options.folder / f"{name}.jsonl"
    if not out.exists():  # to be measured, or measured again
        notes.unlink(missing_ok=True)
    journal = Journal(notes)
    if journal.result:
        return journal.result
    command = [sys.executable, "-m", "lovevec.cli", "bulk", *map(str, files), "-o", str(out), "--json"]
    command += ["--precision", options.precision, "--workers", str(workers), *(["--distinct"] if options.once else [])]
    memory = in_memory(files, workers)
    summary, watch = run_job(command, out, journal)
    other_work = watch.other_work()
    memory += in_memory(files, workers)
    rate, busy_rate, one_call = (
        float(np.mean([one[key] for one in memory])) for key in ("rate", "busy_rate", "one_call")
    )
    rows = sum(part["rows"] for part in journal.parts.values())
    assert options.once or rows == count
    done = count * summary["rows"] / rows  # words, of which there may be more than rows
    running = (summary["seconds"] - summary["start"]) * workers
    result = {
        "words": count,
        "workers": workers,
        "precision": options.precision,
        "once": options.once,
        "rows": rows,
        "rows_now": summary["rows"],
        "readings": memory[0]["readings"],
        "in_memory": round(rate),
        "rate": round(done / running),
        "share": round(done / running / rate, 3),
        "one_call": round(one_call),
        "one_call_share": round(done / running / one_call, 3),
        "busy_share": round(done / sum(watch.busy.values()) / busy_rate, 3),
        "parts_share": round(summary["rows"] / summary["busy"] / rate, 3),
        "seconds": round(summary["seconds"], 1),
        "start": round(summary["start"], 1),
        "other_work": round(other_work, 2),
        "bytes": summary["bytes"],
        "sha256": journal.digest()[:16],
        **watch.peak,
    }
    journal.add(result)
    return result


def main() -> None:
    """Print a Markdown table, and merge the numbers into a JSON file where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--distinct", type=int, default=DISTINCT, metavar="N", help="words in the whole (default: 20M)")
    parser.add_argument("--workers", type=int, nargs="+", default=[usable_cores()])
    parser.add_argument("--precision", choices=("float32", "float16"), default="float32")
    parser.add_argument("--once", action="store_true", help="each word once, as by --distinct of the command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--folder", type=Path, help="where words and parts are, to go on with (default: a temporary one)"
    )
    parser.add_argument("--json", metavar="FILE", type=Path)
    parser.add_argument("--in-memory", nargs="+", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_memory:
        print(json.dumps(embed_in_memory(options.in_memory)))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the job is ended, too
    with tempfile.TemporaryDirectory() as temporary:
        options.folder = options.folder or Path(temporary)
        shown = False
        for count in options.words:
            folder = options.folder / f"words-{options.distinct}-{options.seed}"
            files = word_files(folder, count, options.distinct, options.seed)
            for workers in options.workers:
                result = measure(files, count, workers, options)
                if options.json:
                    merge(options.json, result, options.distinct)
                if not shown:
                    print("| " + " | ".join((*result, "share asked", "met")) + " |\n|" + "--:|" * (len(result) + 2))
                shown = True
                met = "yes" if result["share"] >= ASKED else "**no**"
                print("| " + " | ".join(map(str, (*result.values(), f"{ASKED:.0%}", met))) + " |", flush=True)


def merge(path: Path, result: dict[str, Any], distinct: int) -> None:
    """Put a result in the place of the one before of the same words, workers and precision."""
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {"results": []}
    kept |= {"cores": os.cpu_count(), "python": platform.python_version(), "distinct": distinct}

    def key(one: dict[str, Any]) -> tuple[Any, ...]:
        return one["once"], one["precision"], one["words"], one["workers"]

    others = [one for one in kept["results"] if key(one) != key(result)]
    kept["results"] = sorted([*others, result], key=key)
    write_json(path, kept)


if __name__ == "__main__":
    main()
