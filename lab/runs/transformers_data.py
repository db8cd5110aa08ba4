"""docs/results/data/transformers.json from the runs that lab/runs/transformers.sh kept in OUT.

    python lab/runs/transformers_data.py OUT

A grid that was cut off has holes: of every dataset those runs count that all rows have, that is the rates with the most
common seeds, so that no row was chosen among more than its neighbors. lab/runs/pages.py makes the page.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from lovevec.files import write_json
from lovevec_lab.evaluate.grid import best_by_seed
from lovevec_lab.reproduce.bert import PLAIN, SPELLED, STRATEGIES

ROOT = Path(__file__).parents[2]
TASKS = {"SST2": "sst2", "MR": "mr", "CoNLL03": "conll03", "BC2GM": "bc2gm"}
KEPT = " (known words kept)"

Runs = dict[tuple[float, int], dict[str, Any]]  # by rate and seed


def row_of(encoder: dict[str, Any]) -> str:
    """What tables call an encoder, from the key that its runs are kept under."""
    if encoder["love"] is None:
        return SPELLED if encoder["spelled"] else PLAIN
    title = next(title for title, name in STRATEGIES.items() if name == encoder["love"]["strategy"])
    return f"{PLAIN} + {title}{KEPT if encoder['love'].get('keep') else ''}"


def read_runs(folder: Path) -> dict[str, dict[str, Runs]]:
    """All runs by dataset and row."""
    found: dict[str, dict[str, Runs]] = defaultdict(lambda: defaultdict(dict))
    for file in sorted((folder / "cache").glob("*.json")):
        stored = json.loads(file.read_text("utf-8"))
        key = stored["key"]
        run = {"rate": key["rate"], "seed": key["seed"], **stored["result"]}
        found[TASKS[key["data"]]][row_of(key["encoder"])][key["rate"], key["seed"]] = run
    return found


def common_runs(rows: dict[str, Runs]) -> list[tuple[float, int]]:
    """The rates and seeds that all rows have: the rates with the most seeds in common, and these seeds."""
    common = set.intersection(*(set(runs) for runs in rows.values()))
    seeds = {rate: sorted(seed for one, seed in common if one == rate) for rate, _ in common}
    most = max(len(some) for some in seeds.values())
    return [(rate, seed) for rate in sorted(seeds, reverse=True) for seed in seeds[rate] if len(seeds[rate]) == most]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path)
    parser.add_argument("--transformer", default="all-MiniLM-L6-v2")
    parser.add_argument("--machine", default="an H200 with 16 cores")
    given = parser.parse_args()
    found = read_runs(given.output)
    if not found:
        sys.exit(
            f"{given.output}: no kept runs there (cache/*.json): name the folder that lab/runs/transformers.sh wrote to"
        )
    methods: dict[str, dict[str, Any]] = defaultdict(lambda: {"tasks": {}})
    for task, rows in found.items():
        chosen = common_runs(rows)
        for name in sorted(rows, key=lambda name: (name != PLAIN, name != SPELLED, name)):
            entry = best_by_seed([rows[name][run] for run in chosen])
            entry["runs"] = [{key: run[key] for key in ("rate", "seed", "dev")} for run in entry["runs"]]
            methods[name]["tasks"][task] = entry
        print(f"{task}: {len(rows)} rows, rates and seeds {chosen}")
    tasks = [task for task in TASKS.values() if task in found]
    scores = {"transformer": {"name": given.transformer, "quick": False}, "tasks": tasks, "methods": methods}
    file = ROOT / "docs/results/data/transformers.json"
    write_json(file, {"task": "transformers", "machine": given.machine, "scores": scores})


if __name__ == "__main__":
    main()
