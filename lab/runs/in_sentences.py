r"""What the sentence adds for a classifier and a tagger: docs/results/data/in-sentences.json.

    python lab/runs/in_sentences.py measure -o results --tasks sst2 --rates 0.001
    python lab/runs/in_sentences.py measure -o results --tasks conll03 --rates 0.001 --rows 2 --sentences 4000 \
        --epochs 8
    python lab/runs/in_sentences.py collect -o results
    python lab/runs/pages.py

GloVe with the shipped default behind it; unknown words are read alone, in their sentences, and as words of running text
but alone. Trained and chosen on clean text, tested under the OCR noise of docs/results/robustness.md, three seeds.
Finished runs are kept in the folder, so that a call that was cut off goes on. The above is what one core does in ten
minutes; with all five rates, all sentences and 20 epochs (nothing named) it is what robustness.md has, and takes hours.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lovevec import LOVE
from lovevec.damage.noise import Noise
from lovevec.files import write_json
from lovevec.progress import Progress
from lovevec_lab.evaluate import classify, tag
from lovevec_lab.evaluate.result_cache import ResultCache
from lovevec_lab.methods.attached import AttachedMethod
from lovevec_lab.methods.in_sentences import InSentences
from lovevec_lab.methods.love import LoveMethod
from lovevec_lab.methods.open_method import open_table

ROOT = Path(__file__).parents[2]
DATA = ROOT / "docs/results/data/in-sentences.json"
NOISES = [Noise("ocr", percent / 100) for percent in (0, 10, 30, 50, 70, 90)]
SEEDS = 3
TASKS = ("sst2", "conll03")
ROWS = ("alone", "in its sentence", "in running text")


def measure(options: argparse.Namespace) -> None:
    """Train and test, one task after the other; each task's scores go to a file of the folder."""
    folder = Path(os.environ.get("LOVEVEC_DATA", ROOT / "../shared/data"))
    table = open_table(folder / "targets/glove840b-300d-34k.npz")
    table.name = "GloVe"
    alone = AttachedMethod(table, LoveMethod(LOVE.load(), "default", near=True), "alone")
    rows = [alone, InSentences(alone), InSentences(alone, context=False)]
    for row, name in zip(rows, ROWS, strict=True):
        row.name = name
    for name in options.tasks:
        task = classify if name == "sst2" else tag
        split, settings = task.read(name, folder), task.settings(seeds=tuple(range(SEEDS)), device=options.device)
        settings = replace(settings, rates=options.rates or settings.rates, sentences=options.sentences)
        settings = settings.with_epochs(options.epochs) if options.epochs else settings
        cache = ResultCache(options.output / "cache")
        with Progress() as progress:
            for row in rows[: options.rows]:
                scores = task.score(row, split, NOISES, settings, cache, progress)
                kept = {"row": row.name, "settings": asdict(settings), "scores": scores}
                write_json(file_of(options.output, name, row.name), kept)
                print(name, row.name, scores["test"], scores["spread"], flush=True)


def collect(folder: Path) -> None:
    """Put what was measured into docs/results/data: of each run that counts what it scored."""
    tasks: dict[str, Any] = {}
    for name in TASKS:
        parts = [json.loads(path.read_text("utf-8")) for row in ROWS if (path := file_of(folder, name, row)).is_file()]
        if parts:
            settings = {key: parts[0]["settings"][key] for key in ("rates", "seeds", "sentences")}
            rows = {part["row"]: chosen_runs(part["scores"]) for part in parts}
            tasks[name] = {"settings": {**settings, "epochs": epochs_of(parts[0]["settings"])}, "rows": rows}
    write_json(DATA, {"task": "in-sentences", "machine": "one of two CPU cores", "scores": tasks})


def chosen_runs(scores: dict[str, Any]) -> list[dict[str, Any]]:
    """Of each seed the run at the rate that is best on clean dev text."""
    seeds = dict.fromkeys(run["seed"] for run in scores["runs"])
    runs = zip(seeds, scores["rates"], strict=True)
    chosen = [next(one for one in scores["runs"] if (one["seed"], one["rate"]) == run) for run in runs]
    return [
        {
            "seed": run["seed"],
            "rate": run["rate"],
            "dev": round(run["dev"], 4),
            "test": {label: round(score, 4) for label, score in run["test"].items()},
        }
        for run in chosen
    ]


def epochs_of(settings: dict[str, Any]) -> int:
    """Of the network."""
    return int((settings.get("cnn") or settings["tagger"])["epochs"])


def file_of(folder: Path, task: str, row: str) -> Path:
    """Where a row's scores are kept."""
    return folder / f"{task}-{row.replace(' ', '-')}.json"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["measure", "collect"])
    parser.add_argument("-o", "--output", type=Path, default=Path("results"))
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--rates", nargs="*", type=float, default=())
    parser.add_argument("--rows", type=int, default=3)
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    measure(options) if options.what == "measure" else collect(options.output)


if __name__ == "__main__":
    main()
