"""The measurements behind docs/results/{intrinsic,extrinsic,robustness,ablation,…}.md: many small jobs side by side.

    python lab/runs/evaluation.py measure -o results --target glove840b-300d-34k --jobs 15 [--only downstream]
    python lab/runs/evaluation.py collect -o results --target glove840b-300d-34k
    python lab/runs/pages.py                                             # the pages, from docs/results/data

`measure` trains what the target's tables need and runs `lovevec reproduce` once for each method and dataset, most
telling first, so many processes at once (on a GPU under CUDA's MPS, which is started here where it is there). Finished
runs are kept in the folder, so a call that was cut off by --minutes or otherwise goes on with what is missing.
`collect` puts the parts into docs/results/data: one JSON for each table, without what no page shows.

On an H200 with 16 cores the parts of glove840b-300d-34k take 35 minutes, those of the other two targets 15, on two CPU
cores days. More processes than cores gain nothing: what they do is to launch small kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lovevec.files import write_json
from lovevec_lab.evaluate.grid import RATES, best_by_seed
from lovevec_lab.reproduce.augmentation import VARIANTS as AUGMENTATION
from lovevec_lab.reproduce.bench import CHAR_CNN, NEAR, RECIPE, TARGET, WITH_LOVE, WITH_RECIPE
from lovevec_lab.reproduce.extrinsic import SPELLERS
from lovevec_lab.reproduce.variants import ABLATION, SHRINK, TEMPERATURE

ROOT = Path(__file__).parents[2]
DATA = ROOT / "docs/results/data"
SEEDS = "3"
LEARNED = ("LOVE", "MIMICK", "BoS", "KVQ-FH", "PBoS")
NEEDS = {WITH_LOVE: "LOVE", WITH_RECIPE: RECIPE, NEAR: RECIPE, RECIPE: RECIPE, **{name: name for name in LEARNED}}
ATTACHED = (NEAR, WITH_RECIPE, WITH_LOVE, TARGET, CHAR_CNN, *SPELLERS)
VARIANTS = {
    "ablation": ABLATION.variants,
    "temperature": TEMPERATURE.variants,
    "shrink": SHRINK.variants,
    "augmentation": AUGMENTATION,
}
FEWER = {"bc2gm": (3e-3, 1e-3, 5e-4)}  # the largest of the sets: every other of the five rates
# What is measured on each target: the datasets, and the learned models that have a row of their own.
TARGETS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "glove840b-300d-34k": (("sst2", "conll03", "mr", "bc2gm"), LEARNED),
    "googlenews-300d-52k": (("conll03", "bc2gm"), ("LOVE",)),
    "glove6b-100d-100k": (("sst2",), ("LOVE",)),
}


@dataclass
class MeasurementJob:
    """One call of `lovevec reproduce`, in a folder of its own that shares models and kept runs with the others."""

    name: str
    arguments: list[str]
    needs: set[str] = field(default_factory=set)
    part: bool = False  # of another job, which puts the parts together


def slug(text: str) -> str:
    """A name for a folder: `Target + LOVE` -> `target-love`."""
    return "-".join("".join(char if char.isalnum() else " " for char in text.lower()).split())


def downstream_jobs(target: str) -> Iterator[MeasurementJob]:
    """A job for each dataset and method. A CharCNN trains with the tagger, run by run: its rates are shared out."""
    tasks, learned = TARGETS[target]
    for task in tasks:
        unknown = ("Random", "UNK") if task in ("sst2", "conll03") and target.startswith("glove840b") else ()
        for method in (*ATTACHED, RECIPE, *learned, *unknown):
            experiment = "extrinsic" if method in (RECIPE, *LEARNED) else "robustness"
            name = f"downstream-{task}-{slug(method)}"
            arguments = [experiment, "--tasks", task, "--methods", method, "--seeds", SEEDS]
            if task in FEWER:
                arguments += ["--learning-rates", ",".join(f"{rate:g}" for rate in FEWER[task])]
            needs = {f"intrinsic-{slug(NEEDS[method])}"} if method in NEEDS else set()
            if method == CHAR_CNN and task in ("conll03", "bc2gm"):
                for rate in FEWER.get(task, RATES):
                    yield MeasurementJob(f"{name}-{rate:g}", [*arguments, "--learning-rates", f"{rate:g}"], part=True)
                    needs.add(f"{name}-{rate:g}")
            yield MeasurementJob(name, arguments, needs)


def jobs_of(target: str) -> list[MeasurementJob]:
    """Everything for a target: models and similarity, downstream models, variants."""
    _, learned = TARGETS[target]
    jobs = [
        MeasurementJob(f"intrinsic-{slug(name)}", ["intrinsic", "--methods", name])
        for name in (RECIPE, *learned, TARGET)
    ]
    jobs += downstream_jobs(target)
    if target == "glove840b-300d-34k":
        for table, variants in VARIANTS.items():
            for variant in variants:
                arguments = [table, "--tasks", "sst2", "--methods", variant, "--seeds", SEEDS]
                jobs.append(MeasurementJob(f"{table}-{slug(variant) or 'x'}", arguments))
        jobs.append(
            MeasurementJob("clusters-figure", ["clusters-figure"], {f"intrinsic-{slug(name)}" for name in LEARNED})
        )
        jobs.append(MeasurementJob("attention-figure", ["attention-figure"], {"intrinsic-love"}))
    slow = f"downstream-bc2gm-{slug(CHAR_CNN)}"  # no row of ours, and longer than any: last
    return sorted(jobs, key=lambda job: job.name.startswith(slow))


def file_of(target: str) -> Path:
    """The target's vectors."""
    return Path(os.environ.get("LOVEVEC_DATA", ROOT / "../shared/data")) / "targets" / f"{target}.npz"


def folder_for(job: MeasurementJob, place: Path) -> Path:
    """The job's folder, with the common models and kept runs in it."""
    folder = place / "jobs" / job.name
    folder.mkdir(parents=True, exist_ok=True)
    for common in ("cache", "models"):
        (place / common).mkdir(exist_ok=True)
        if not (folder / common).exists():
            (folder / common).symlink_to(Path("../..") / common)
    return folder


def is_measured(job: MeasurementJob, place: Path) -> bool:
    """Whether its JSON is there: written when all is measured."""
    return (place / "jobs" / job.name / f"{job.arguments[0]}.json").is_file()


def start(job: MeasurementJob, place: Path, target: str, device: str) -> subprocess.Popen[bytes]:
    """Run it in a process of its own; what it says goes to a file."""
    folder = folder_for(job, place)
    command = [sys.executable, "-m", "lovevec.cli", "reproduce", *job.arguments, "--target", str(file_of(target))]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen([*command, "--device", device, "-q", "-o", str(folder)], stdout=log, stderr=log)


def with_mps() -> None:
    """Many small processes share a GPU well only under CUDA's MPS; one that was started before is taken as it is."""
    if shutil.which("nvidia-cuda-mps-control") and "CUDA_MPS_PIPE_DIRECTORY" not in os.environ:
        for variable in ("CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"):
            os.environ[variable] = tempfile.mkdtemp()
        subprocess.run(["nvidia-cuda-mps-control", "-d"], check=False)


def measure(given: argparse.Namespace) -> None:
    """Run what is missing, the first of the list that can be, as long as there is time."""
    begun, place = time.monotonic(), given.output / given.target
    jobs = [job for job in jobs_of(given.target) if not given.only or job.name.startswith(tuple(given.only))]
    waiting = [job for job in jobs if not is_measured(job, place)]
    running: dict[str, tuple[MeasurementJob, subprocess.Popen[bytes], float]] = {}
    failed: list[str] = []
    if given.device == "cuda":
        with_mps()
    while waiting or running:
        late = given.minutes and time.monotonic() - begun > 60 * given.minutes
        unfinished = {job.name for job in waiting} | set(running)
        for job in list(waiting):
            if late or len(running) >= given.jobs:
                break
            if not job.needs & unfinished:
                running[job.name] = (job, start(job, place, given.target, given.device), time.monotonic())
                waiting.remove(job)
        if late:
            break
        for name, (job, process, since) in list(running.items()):
            if process.poll() is not None:
                del running[name]
                failed += [] if is_measured(job, place) else [name]
                print(f"{time.monotonic() - begun:6.0f} s  {name}: {time.monotonic() - since:.0f} s", flush=True)
        time.sleep(0.2)
    for _, process, _ in running.values():
        process.kill()
    print(f"not finished: {len(waiting) + len(running)}; failed: {', '.join(failed) or 'none'}")


def merge(parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """The scores of one table from those of its parts: methods with their datasets, or variants."""
    whole: dict[str, Any] = {"target": parts[0]["target"]}
    for part in parts:
        for kind in ("methods", "variants"):
            for name, entry in part.get(kind, {}).items():
                known = whole.setdefault(kind, {}).setdefault(
                    name, {**entry, **({"tasks": {}} if "tasks" in entry else {})}
                )
                known.get("tasks", {}).update(entry.get("tasks", {}))
    return whole


def by_one_rule(scores: dict[str, Any]) -> dict[str, Any]:
    """Scores chosen among the rates that all methods have on a dataset, where some were measured with more."""
    for task, rates in FEWER.items():
        for entry in scores.get("methods", {}).values():
            if task in entry.get("tasks", {}):
                runs = [{"seconds": 0.0, **run} for run in entry["tasks"][task]["runs"] if run["rate"] in rates]
                chosen = best_by_seed(runs)
                chosen["runs"] = [{name: value for name, value in run.items() if name != "seconds"} for run in runs]
                entry["tasks"][task] = {name: value for name, value in chosen.items() if name != "seconds"}
    return scores


def slim(scores: dict[str, Any]) -> dict[str, Any]:
    """Without what no page shows: the test scores of rates that were not chosen, the intervals of variants."""
    for entry in scores.get("methods", {}).values():
        for task in entry.get("tasks", {}).values():
            task["runs"] = [{name: run[name] for name in ("rate", "seed", "dev")} for run in task["runs"]]
    for entry in scores.get("variants", {}).values():
        for seed in entry["seeds"]:
            seed["similarity"] = {name: seed["similarity"][name] for name in ("mean", "all")}
    return scores


def round_scores(value: Any) -> Any:
    """Scores to four digits behind the point: pages show one."""
    if isinstance(value, Mapping):
        return {name: round_scores(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [round_scores(inner) for inner in value]
    return round(value, 4) if isinstance(value, float) and abs(value) > 1e-2 else value


def collect(given: argparse.Namespace) -> None:
    """Write docs/results/data/TABLE-TARGET.json from the jobs' files."""
    place = given.output / given.target
    tables: dict[str, list[tuple[MeasurementJob, dict[str, Any]]]] = {}
    for job in jobs_of(given.target):
        if is_measured(job, place) and not job.part:
            table = job.name.split("-")[0] if job.name.startswith("downstream") else job.arguments[0]
            file = place / "jobs" / job.name / f"{job.arguments[0]}.json"
            tables.setdefault(table, []).append((job, json.loads(file.read_text("utf-8"))))
    for table, parts in tables.items():
        first = parts[0][1]
        scores = by_one_rule(merge([part["scores"] for _, part in parts]) if len(parts) > 1 else first["scores"])
        about = {"settings": {**first["settings"], "seeds": 3}, "versions": first["versions"], "machine": given.machine}
        write_json(
            given.data / f"{table}-{given.target}.json", {"task": table, **about, "scores": round_scores(slim(scores))}
        )
        print(f"{table}: {len(parts)} parts")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "collect"))
    parser.add_argument("-o", "--output", type=Path, default=Path("results"))
    parser.add_argument("--target", choices=TARGETS, default="glove840b-300d-34k")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--minutes", type=float, help="start nothing later, and stop what runs")
    parser.add_argument("--only", nargs="*", default=(), help="jobs whose names begin so: intrinsic, downstream-sst2 …")
    parser.add_argument("--data", type=Path, default=DATA, help="where collect writes to")
    parser.add_argument("--machine", default="an H200 with 16 cores", help="what collect calls the machine")
    given = parser.parse_args()
    {"measure": measure, "collect": collect}[given.what](given)


if __name__ == "__main__":
    main()
