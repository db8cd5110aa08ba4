"""How time and memory grow with the rows of a table: docs/results/data/scale.json, and docs/results/scale.md from it.

    python lab/runs/scale.py all --folder /tmp/scale       everything anew, and the page
    python lab/runs/scale.py measure --tasks attach --rows 2000000 --folder /tmp/scale       some of it
    python lab/runs/scale.py page

Tables are made by a seeded script: the default model's words, then made-up ones; rows [300] are what the model makes of
them, turned into another space, with noise. Each task runs in a process of its own; its memory is the peak of that
process. Results are written task by task, each with the load that the machine had before it: a run can be cut and gone
on with, and it shows whether the hour was quiet.

How many known words strings are read as (`known`) is measured on real words: $LOVEVEC_DATA/words/wordfreq_en_top.tsv,
the most frequent 300,000 of English, then any `--words FILE` (a word a line, the most frequent first), then made-up
ones; with the misspellings of $LOVEVEC_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lovevec import LOVE
from lovevec.files import write_json, write_text
from lovevec.files.tensors import lengths_of
from lovevec.near.reader import MAX_KNOWN_WORDS
from lovevec.train.hard_negatives import EXACT_BELOW
from lovevec.vectors import convert_vectors, read_vectors

DIM, BLOCK = 300, 50_000
ROOT = Path(__file__).parents[2]
DATA, PAGE = ROOT / "docs/results/data/scale.json", ROOT / "docs/results/scale.md"
ANN, BULK = ROOT / "docs/results/data/ann.json", ROOT / "docs/results/data/bulk.json"
LARGE_TARGETS = ROOT / "docs/results/data/large-targets.json"
DATA_FOLDER = Path(os.environ.get("LOVEVEC_DATA", ROOT.parent / "shared" / "data"))
ASKED = 20_000  # unknown words
SMALL = 10_000  # words of which hard negatives are found in both ways
BATCH = 256  # words a step of training, the default
REAL = 80_000  # words of the default model, which every table begins with
KNOWN = (50_000, 100_000, 250_000, 500_000, 1_000_000)
FREQUENT = Path("words/wordfreq_en_top.tsv")
SYLLABLES = [c + v for c in "bcdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "ai", "er", "an", "or", "in", "es")]


def toy_words(known: list[str], count: int, rng: np.random.Generator) -> list[str]:
    """The known words first, then made-up ones, all distinct."""
    words = dict.fromkeys(known[:count])
    while len(words) < count:
        for row, length in zip(
            rng.integers(0, len(SYLLABLES), (BLOCK, 6)).tolist(), rng.integers(2, 7, BLOCK), strict=True
        ):
            words["".join(SYLLABLES[place] for place in row[:length])] = None
    return list(words)[:count]


def make_table(folder: Path, count: int) -> Path:
    """A .npy of float32 with its words beside it, unless it is there."""
    path = folder / f"table-{count}.npy"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        love, rng = LOVE.load(), np.random.default_rng(18)
        words = toy_words(list(love.words), count, rng)
        turn = np.linalg.qr(rng.normal(size=(DIM, DIM)))[0].astype(np.float32)
        part = path.with_suffix(".part")
        rows = np.lib.format.open_memmap(part, "w+", np.float32, (count, DIM))
        for low in range(0, count, BLOCK):
            made = love.impute(words[low : low + BLOCK]) @ turn
            rows[low : low + BLOCK] = 4 * made + 0.1 * rng.normal(size=made.shape).astype(np.float32)
        rows.flush()
        path.with_suffix(".words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
        part.rename(path)
    return path


def unknown_words(words: Any, count: int) -> list[str]:
    """Real words with a letter put in and a digit behind, the same for all large tables: made-up ones, all of the same
    syllables, look like many more known words than a misspelling does."""
    real = words[:REAL]
    some = real[:: max(1, len(real) // count)][:count]
    return [f"{word[:2]}q{word[2:]}{number % 7}" for number, word in enumerate(some)]


def per_second(run: Callable[[], object], count: int) -> float:
    """How many of `count` things a second."""
    start = time.perf_counter()
    run()
    return round(count / (time.perf_counter() - start), 1)


def seconds(run: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    run()
    return round(time.perf_counter() - start, 2)


def read(path: Path) -> dict[str, float]:
    """Read a .npy of float32 into memory."""
    return {"s": seconds(lambda: read_vectors(path))}


def convert(path: Path) -> dict[str, float]:
    """Write it as safetensors of float16."""
    half = path.with_suffix(".safetensors")
    return {"s": seconds(lambda: convert_vectors(path, half, dtype="float16", overwrite=True))}


def map_half(path: Path) -> dict[str, float]:
    """Map the safetensors of float16."""
    return {"s": seconds(lambda: read_vectors(path.with_suffix(".safetensors"), mmap=True))}


def attach(path: Path) -> dict[str, float]:
    """Read, attach, and embed unknown words: without their readings, then with them."""
    love = LOVE.load()
    start = time.perf_counter()
    robust = love.attach(path)
    result = {"s": round(time.perf_counter() - start, 2)}
    words = unknown_words(robust.words, ASKED)
    robust.embed(words[:5000])
    result["words_per_s"] = per_second(lambda: robust.embed(words), len(words))
    result["read_words_per_s"] = per_second(lambda: robust.readings(words), len(words))
    result["spelled_words_per_s"] = per_second(lambda: love.impute(words), len(words))
    made = love.impute(words)
    result["map_words_per_s"] = per_second(lambda: robust._space(made, os.cpu_count() or 1, compiled=True), len(words))
    return result


def attach_half(path: Path) -> dict[str, float]:
    """The same with the mapped safetensors of float16."""
    love = LOVE.load()
    start = time.perf_counter()
    robust = love.attach(read_vectors(path.with_suffix(".safetensors"), mmap=True))
    result = {"s": round(time.perf_counter() - start, 2)}
    words = unknown_words(robust.words, ASKED)
    robust.embed(words[:5000])
    return {**result, "words_per_s": per_second(lambda: robust.embed(words), len(words))}


def near(path: Path) -> dict[str, float]:
    """The index of known words that strings may stand for: the first string, then many."""
    from lovevec.near.reader import Reader

    words = path.with_suffix(".words.txt").read_text("utf-8").split("\n")[:-1]
    orthography = LOVE.load().orthography
    assert orthography is not None
    reader, asked = Reader(words, orthography), unknown_words(words, ASKED)
    first = seconds(lambda: reader.by(asked[:3000], "compiled", os.cpu_count()))
    return {"s": first, "words_per_s": per_second(lambda: reader.by(asked, "compiled", os.cpu_count()), len(asked))}


def neighbors(path: Path, approximate: bool = False) -> dict[str, float]:
    """The 10 nearest known words, compared with all."""
    from lovevec.engine.nearest import NeighborIndex

    table = read_vectors(path)
    index = NeighborIndex(table.words, table.vectors, lengths_of(table.vectors))
    queries = table.vectors[:: max(1, len(table) // 1000)][:1000]
    if not approximate:
        queries = queries[: max(10, 10**8 // len(table) // 100)]
    build = seconds(lambda: index.neighbors(queries[:1], 10, len, approximate=approximate))
    found: list[Any] = []
    rate = per_second(lambda: found.extend(index.neighbors(queries, 10, len, approximate=approximate)), len(queries))
    if not approximate:
        return {"words_per_s": rate}
    right = index.neighbors(queries[:20], 10, len, approximate=False)
    shared = [len(dict(one).keys() & dict(other).keys()) for one, other in zip(found, right, strict=False)]
    return {"s": build, "words_per_s": rate, "recall_at_10": round(float(np.mean(shared)) / 10, 3)}


def neighbors_approximate(path: Path) -> dict[str, float]:
    """The same by the approximate index, whose building is the time."""
    return neighbors(path, approximate=True)


def fill(path: Path) -> dict[str, float]:
    """`lovevec fill`: all rows again, and 20,000 more."""
    from lovevec.cli import main as lovevec

    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        asked, out = Path(folder) / "words.txt", Path(folder) / "filled.npy"
        words = path.with_suffix(".words.txt").read_text("utf-8").split("\n")[:REAL]
        asked.write_text("\n".join(unknown_words(words, ASKED)) + "\n", "utf-8")
        command = ["fill", str(path), "--words", str(asked), "--list", "-o", str(out), "-q"]
        return {"s": seconds(lambda: lovevec(command))}


def train(path: Path) -> dict[str, Any]:
    """`lovevec train` of the float16 safetensors by the defaults, but for one epoch: all of its preparation, and what
    comes after: learning damage, scores, confidence, writing the model."""
    from lovevec.train import train as train_model

    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        settings = {"epochs": 1, "device": "cpu"}
        taken = seconds(lambda: train_model(path.with_suffix(".safetensors"), settings, output=f"{folder}/model"))
        report = json.loads(Path(folder, "model", "report.json").read_text("utf-8"))["report"]
    phases = {name: value for name, value in report["seconds"].items() if name != "total"}
    return {"s": taken, "words_per_s": round(report["steps"] * BATCH / phases["training"], 1), "phases": phases}


def look_alikes(path: Path) -> dict[str, float]:
    """Of a small table's hard negatives the share that the quick way finds."""
    from lovevec.train.hard_negatives import hard_negatives as find

    words = path.with_suffix(".words.txt").read_text("utf-8").split("\n")[:SMALL]
    pairs, result = list(zip(find(words, exact=False).tolist(), find(words).tolist(), strict=True)), {}
    for name, first in (("share", 100), ("share_of_first_ten", 10)):
        result[name] = round(float(np.mean([len(set(near) & set(own[:first])) / first for near, own in pairs])), 3)
    return result


def known_words(lists: list[Path], count: int) -> tuple[list[str], int]:
    """Real words, the most frequent first, then made-up ones; and how many are real."""
    real = [line.split("\t")[0] for line in (DATA_FOLDER / FREQUENT).read_text("utf-8").splitlines()]
    for path in lists:
        real += path.read_text("utf-8").splitlines()
    real = [word for word in dict.fromkeys(real) if word.strip()]
    return toy_words(real, count, np.random.default_rng(18)), min(len(real), count)


def known(count: int, lists: list[Path]) -> dict[str, float]:
    """Misspellings whose right word is the most probable reading, of those of words that a million known ones have, if
    only the first `count` are read as what was meant."""
    from lovevec.near import reader as near_reader
    from lovevec_lab.evaluate.typos import misspellings

    words, real = known_words(lists, max(KNOWN))
    there, pairs = frozenset(words), []
    for name in ("birkbeck", "aspell", "holbrook"):
        read = misspellings(name, DATA_FOLDER)
        pairs += [
            pair for pair in zip(read.right, read.wrong, strict=True) if pair[0] in there and pair[1] not in there
        ]
    near_reader.MAX_KNOWN_WORDS = count
    orthography = LOVE.load().orthography
    assert orthography is not None
    reader, wrong = near_reader.Reader(words, orthography), [wrong for _, wrong in pairs]
    start = time.perf_counter()
    reader.by(wrong[:3000], "compiled", os.cpu_count())
    built = time.perf_counter() - start
    rates = [per_second(lambda: reader.by(wrong, "compiled", os.cpu_count()), len(wrong)) for _ in range(3)]
    reading = reader.by(wrong, "compiled", os.cpu_count())
    first = [words[row] if row >= 0 else "" for row in reading.rows[:, 0].tolist()]
    right = np.array([right == one for (right, _), one in zip(pairs, first, strict=True)])
    return {
        "s": round(built, 2),
        "words_per_s": max(rates),
        "misspellings": len(pairs),
        "real": real,
        "first": round(100 * float(right.mean()), 2),
        "near": round(100 * float((right & (reading.probabilities[:, 0] > reading.new)).mean()), 2),
    }


KNOWN_TASK = "known"
TASKS: dict[str, tuple[Callable[[Path], dict[str, Any]], str]] = {
    "read": (read, "read float32 .npy"),
    "convert": (convert, "`lovevec convert` to float16 safetensors"),
    "map": (map_half, "map it (`mmap=True`)"),
    "attach": (attach, "attach (read included), then unknown words"),
    "attach_half": (attach_half, "attach the mapped float16"),
    "near": (near, "near index, then strings"),
    "neighbors": (neighbors, "neighbors, exact"),
    "neighbors_approximate": (neighbors_approximate, "neighbors, approximate"),
    "fill": (fill, "`lovevec fill` of 20,000 words"),
    "train": (train, "`lovevec train` of the float16 safetensors, one epoch"),
}
LOOK_ALIKES = "look_alikes"
EVERY = (*TASKS, LOOK_ALIKES, KNOWN_TASK)


def results() -> dict[str, Any]:
    """What was measured so far."""
    return json.loads(DATA.read_text("utf-8")) if DATA.exists() else {"dim": DIM, "results": {}}


def measure(given: argparse.Namespace) -> None:
    """Each task of each size in a process of its own; one that fails is named, and the others go on."""
    for count in given.rows:
        tasks = [task for task in given.tasks if task in TASKS]
        if tasks:
            path = make_table(given.folder, count)
        for task in tasks:
            keep(task, count, [str(path)])
    if LOOK_ALIKES in given.tasks:
        keep(LOOK_ALIKES, SMALL, [str(make_table(given.folder, SMALL))])
    if KNOWN_TASK in given.tasks:
        for count in KNOWN:
            keep(KNOWN_TASK, count, [str(count), *map(str, given.words)])


def keep(task: str, count: int, arguments: list[str]) -> None:
    """Run a task, and write what it finds."""
    load = round(os.getloadavg()[0], 1)
    done = subprocess.run([sys.executable, __file__, "one", task, *arguments], capture_output=True, text=True)
    if done.returncode:
        print(f"{task} {count:,}: failed: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return
    kept = results()
    kept |= {"cores": os.cpu_count(), "python": platform.python_version()}
    found = {**json.loads(done.stdout.splitlines()[-1]), "load_before": load}
    kept["results"] = {name: by_size for name, by_size in kept["results"].items() if name in EVERY}
    kept["results"].setdefault(task, {})[str(count)] = found
    write_json(DATA, kept)
    print(task, f"{count:,}", json.dumps(found), flush=True)


def everything(given: argparse.Namespace) -> None:
    """All tasks of all sizes anew, then the page."""
    DATA.unlink(missing_ok=True)
    measure(given)
    page()


def page() -> None:
    """What the data gives."""
    write_text(PAGE, "\n".join(lines(results())) + "\n")


def one(given: argparse.Namespace) -> None:
    """A task in this process."""
    warnings.simplefilter("ignore")
    if given.task == KNOWN_TASK:
        found = known(int(given.arguments[0]), [Path(name) for name in given.arguments[1:]])
    else:
        work = look_alikes if given.task == LOOK_ALIKES else TASKS[given.task][0]
        found = work(Path(given.arguments[0]))
    status = Path("/proc/self/status").read_text()  # getrusage would count what the process that started us holds
    peak = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) * 1024
    print(json.dumps({**found, "peak_mb": round(peak / 1e6)}))


def cell(found: dict[str, float] | None) -> str:
    """Seconds, a rate and memory, as far as they are there."""
    if found is None:
        return "not run"
    parts = [f"{found['s']:,.1f} s"] if "s" in found else []
    parts += [f"{found['words_per_s']:,.0f}/s"] if "words_per_s" in found else []
    parts += [f"recall {found['recall_at_10']:.2f}"] if "recall_at_10" in found else []
    parts += [f"{found['peak_mb']:,} MB"] if "peak_mb" in found else []
    return "; ".join(parts)


def lines(kept: dict[str, Any]) -> Iterator[str]:
    """The page."""
    sizes = sorted({int(size) for task, by_size in kept["results"].items() for size in by_size if task in TASKS})
    yield "# Growth: tables of ten thousand to two million rows"
    yield ""
    yield (
        f"Made by `python lab/runs/scale.py all --folder FOLDER`, with {kept['cores']} cores and Python"
        f" {kept['python']}."
        f" Tables are seeded and made up, float32 of {kept['dim']} dimensions. Each cell: seconds for the whole table;"
        " words a second after that; peak memory of the process."
    )
    loads = [
        found["load_before"] for part in kept["results"].values() for found in part.values() if "load_before" in found
    ]
    if loads:
        yield (
            f"The machine's load before each task, without what it ran itself in the minute before: {min(loads)} to"
            f" {max(loads)}; what is much above {kept['cores']} was measured beside other work, and its rates are low."
        )
    yield ""
    yield "| task | " + " | ".join(f"{size:,} rows" for size in sizes) + " |"
    yield "|---|" + "---|" * len(sizes)
    yield "| the matrix | " + " | ".join(f"{size * kept['dim'] * 4 / 1e6:,.0f} MB" for size in sizes) + " |"
    for task, (_, label) in TASKS.items():
        by_size = kept["results"].get(task, {})
        yield f"| {label} | " + " | ".join(cell(by_size.get(str(size))) for size in sizes) + " |"
    yield ""
    yield from multiples(kept)
    yield from rates(kept["results"].get("attach", {}))
    yield from phases(kept["results"].get("train", {}))
    yield ""
    yield "Pages of a mapped file that were touched count as memory here, though the system may take them back."
    yield from shares(kept["results"].get(LOOK_ALIKES, {}))
    yield f"Synonyms are exact below {EXACT_BELOW:,} words too; from there on each word meets the nearest clusters."
    yield from quick_preparation()
    yield from most_known(kept)
    yield from libraries()
    yield from bulk()
    yield from paper(kept)


def multiples(kept: dict[str, Any]) -> Iterator[str]:
    """Memory of the largest table's tasks, by the size of its matrix."""
    largest = max((int(size) for task in TASKS for size in kept["results"].get(task, {})), default=0)
    found = {task: kept["results"].get(task, {}).get(str(largest)) for task in TASKS}
    parts = [
        f"{task.replace('_', ' ')} {one['peak_mb'] * 1e6 / (largest * kept['dim'] * 4):.2f}"
        for task, one in found.items()
        if one
    ]
    yield f"- peak memory with {largest:,} rows, by the size of the float32 matrix: {', '.join(parts)}"


def rates(by_size: dict[str, dict[str, Any]]) -> Iterator[str]:
    """What attached words are made of."""
    parts = {"spelled": "spelled vectors alone", "read": "readings alone", "map": "the map alone"}
    for size in sorted(by_size, key=int):
        shown = [f"{label} {by_size[size][f'{part}_words_per_s']:,.0f}/s" for part, label in parts.items()]
        yield f"- attach, {int(size):,} rows: {', '.join(shown)}"


def phases(by_size: dict[str, dict[str, Any]]) -> Iterator[str]:
    """What training's time goes into."""
    for size in sorted(by_size, key=int):
        parts = ", ".join(f"{name} {taken:,.0f} s" for name, taken in by_size[size]["phases"].items())
        yield f"- training, {int(size):,} rows: {parts}"


def shares(by_size: dict[str, dict[str, float]]) -> Iterator[str]:
    """How many exact hard negatives the quick way finds."""
    for size, found in by_size.items():
        if "share" in found:
            yield (
                f"Hard negatives are exact below {EXACT_BELOW:,} words; from there on each word meets those near it in"
                f" five orders of spelling. Of {int(size):,} words, where both were tried, that finds"
                f" {100 * found['share']:.0f} % of the exact hundred, {100 * found['share_of_first_ten']:.0f} % of the"
                " first ten."
            )


def quick_preparation() -> Iterator[str]:
    """What the quick ways cost a trained model, as lab/runs/large_targets.py found it."""
    if not LARGE_TARGETS.exists():
        return
    about = json.loads(LARGE_TARGETS.read_text("utf-8"))
    labels = {
        "mean": "six similarity sets, mean",
        "top10": "Birkbeck's misspellings, top 10, %",
        "clean_top10": "held-back words, top 10, %",
        "clean_cosine": "cosine, x 100",
        "typo_top10": "with a typo, top 10, %",
    }
    yield ""
    yield (
        "What that costs a model: `python lab/runs/large_targets.py`, the"
        f" {about['words']:,} words of {about['target']} prepared in both ways, models of the same seeds trained from"
        " each, by spelling only; mean and standard deviation over the seeds."
    )
    yield ""
    yield "| prepared | models | " + " | ".join(labels.values()) + " |"
    yield "|---" * (len(labels) + 2) + "|"
    for way in dict.fromkeys(one["way"] for one in about["results"]):
        models = [one for one in about["results"] if one["way"] == way]
        columns = [[one[name] * (1 if name in ("mean", "top10") else 100) for one in models] for name in labels]
        cells = (f"{np.mean(column):.1f} ± {np.std(column, ddof=1):.1f}" for column in columns)
        yield f"| {way} | {len(models)} | " + " | ".join(cells) + " |"


def most_known(kept: dict[str, Any]) -> Iterator[str]:
    """How many known words strings are read as."""
    by_count = kept["results"].get(KNOWN_TASK, {})
    if not by_count:
        return
    one = next(iter(by_count.values()))
    yield ""
    yield "## How many known words"
    yield ""
    yield (
        f"A table's first words are what misspellings are read as. {one['misspellings']:,} real misspellings (Birkbeck,"
        f" aspell, Holbrook) of words that a list of a million has, {one['real']:,} of them real, the rest made up:"
        " how many have the right word as their most probable one, and how many are read as it rather than as new, if"
        f" only so many words count. lovevec takes {MAX_KNOWN_WORDS:,} (`near/reader.py`)."
    )
    yield ""
    yield "| known words | right word first, % | and not new, % | index, s | strings/s | memory, MB |"
    yield "|---|---|---|---|---|---|"
    for count in sorted(by_count, key=int):
        found = by_count[count]
        yield (
            f"| {int(count):,} | {found['first']:.1f} | {found['near']:.1f} | {found['s']:.1f} |"
            f" {found['words_per_s']:,.0f} | {found['peak_mb']:,} |"
        )


def libraries() -> Iterator[str]:
    """Approximate indexes, as bench/ann.py found them."""
    if not ANN.exists():
        return
    found = json.loads(ANN.read_text("utf-8"))
    yield ""
    yield "## Approximate neighbors"
    yield ""
    yield (
        f"`python bench/ann.py --json {ANN.relative_to(ROOT)}` on {found['cores']} cores, {found['dim']} dimensions."
        " lovevec takes `faiss_clusters`: it is built in about a thirtieth of a graph's time, or less, and its cosines"
        " are exact."
    )
    yield ""
    yield "| index | rows | build, s | memory, MB | recall@10 | queries/s |"
    yield "|---|---|---|---|---|---|"
    for one in found["results"]:
        values = (one[key] for key in ("build_s", "memory_mb", "recall_at_10", "queries_per_s"))
        yield f"| {one['library']} | {one['rows']:,} | " + " | ".join(map(str, values)) + " |"


def jobs(**wanted: Any) -> list[dict[str, Any]]:
    """What bench/bulk.py measured, of the kind that is wanted."""
    found = json.loads(BULK.read_text("utf-8"))["results"] if BULK.exists() else []
    return [one for one in found if all(one[name] == value for name, value in wanted.items())]


def bulk() -> Iterator[str]:
    """Jobs of `lovevec bulk`, as bench/bulk.py found them."""
    found = jobs()
    if not found:
        return
    about = json.loads(BULK.read_text("utf-8"))
    largest = max(found, key=lambda one: one["words"])
    mix = ", ".join(f"{share:.0%} {reading}" for reading, share in largest["readings"].items())
    yield ""
    yield "## In bulk"
    yield ""
    yield (
        f"`python bench/bulk.py --json {BULK.relative_to(ROOT)}` on {about['cores']} cores, Python {about['python']}:"
        f" the first of 100M seeded words, {about['distinct'] / 1e6:,.0f}M of them distinct, drawn by Zipf's law"
        f" ({mix}). A worker is a process on one core. In memory: `love.embed` of 250,000 of the same words, from all"
        " files, float32, by as many processes at once with one thread each, before and after the job: the faster of"
        " two ways, 16,384 words a call with the vectors thrown away, and one call for all of them. Share: the job's"
        " rate, from the moment that Ray stands to its end, of that in memory; and by the time that cores were busy"
        " with all processes of the job, Ray's own and its start included, which other work on the machine disturbs"
        " less. Memory is the most that a process had mapped, and in brackets what was its own: the model lies in"
        " memory that all share."
    )
    yield (
        "Other work is the share of the machine's cores that anything else took during the job: where it is not near 0,"
        " rates are too low, and shares by the clock not to be trusted."
    )
    yield ""
    yield (
        "| words | workers | vectors | in memory, words/s a core | in one call | bulk | share | of one call |"
        " by busy cores | other work | Ray's start | all | driver | worker | written |"
    )
    yield "|---" * 15 + "|"
    for one in found:
        again = "" if one["rows_now"] == one["rows"] else f" (of the last {one['rows_now']:,} rows)"
        memory = (f"{one[f'{role}_mb']} ({one[f'{role}_own_mb']}) MB" for role in ("driver", "worker"))
        vectors = f"{one['precision']}{', each word once' if one['once'] else ''}"
        yield (
            f"| {one['words']:,} | {one['workers']} | {vectors} | {one['in_memory']:,} | {one['one_call']:,} |"
            f" {one['rate']:,}{again} | {one['share']:.0%} | {one['one_call_share']:.0%} | {one['busy_share']:.0%} |"
            f" {one['other_work']:.0%} |"
            f" {one['start']:.0f} s | {one['seconds']:,.0f} s |"
            f" {' | '.join(memory)} | {one['bytes'] / 1e9:,.2f} GB |"
        )
    yield ""
    yield (
        "Starting Ray and its processes costs the same whatever the words are: below some million `lovevec embed` is"
        " done before. 10⁵ words are one part, so a second worker has nothing to do. Parts are counted and then cut to"
        " nothing by the benchmark, since 10⁸ vectors of float32 are 120 GB; all of them were written, and synced,"
        " before."
    )


def paper(kept: dict[str, Any]) -> Iterator[str]:
    """What a crawl costs, by arithmetic from the rates of the largest jobs."""
    plain, once = (max(jobs(once=way), key=lambda one: (one["words"], one["workers"]), default=None) for way in (0, 1))
    if plain is None:
        return
    tokens, machines, dim = 1e11, 1000, kept["dim"]
    hours = tokens / (plain["rate"] * machines) / 3600
    yield ""
    yield "## On paper: a Common Crawl dump"
    yield ""
    yield "10¹¹ tokens on 1,000 cores, from the figures above; nobody ran this."
    yield ""
    yield (
        f"- a vector for every token: 10¹¹ / ({plain['rate']:,} × {machines:,}) = {hours:,.1f} hours, by the rate of"
        f" {plain['words']:,} words; and 10¹¹ × {dim} × 2 bytes (float16) = {tokens * dim * 2 / 1e12:,.0f} TB"
    )
    if once is not None:
        hours, new = tokens / (once["rate"] * machines) / 3600, once["rows"] / once["words"]
        yield (
            f"- each distinct word once (`--distinct`): 10¹¹ / ({once['rate']:,} × {machines:,}) = {hours:,.1f} hours,"
            f" by the rate of {once['words']:,} words, if {new:.0%} of the tokens were distinct as they are there; by"
            " Heaps' law they are the fewer the more is read"
        )
    yield (
        "- what is written for each distinct word once, if one token in a hundred is a word not met before (an"
        f" assumption): 10⁹ × {dim} × 2 bytes = {1e9 * dim * 2 / 1e12:,.2f} TB"
    )
    yield (
        f"- memory: {plain['worker_own_mb']} MB a core, and one copy of the model a node; the driver, which sees no"
        f" rows, {plain['driver_mb']} MB, and a line for each of {tokens / (1 << 17):,.0f} parts"
    )


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    chosen = parser.add_subparsers(dest="command", required=True)
    for name, run in (("all", everything), ("measure", measure)):
        measured = chosen.add_parser(name)
        measured.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 2_000_000])
        measured.add_argument("--tasks", nargs="+", choices=EVERY, default=EVERY)
        measured.add_argument("--words", type=Path, nargs="*", default=[], help="more real words for `known`")
        measured.add_argument(
            "--folder", type=Path, required=True, help="where tables are made (7 GB for two million rows)"
        )
        measured.set_defaults(run=run)
    single = chosen.add_parser("one")
    single.add_argument("task", choices=EVERY)
    single.add_argument("arguments", nargs="+", help="a table; for `known` how many, and files of words")
    single.set_defaults(run=one)
    chosen.add_parser("page").set_defaults(run=lambda given: page())
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
