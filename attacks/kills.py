"""kill -9 at random moments of train, export, fill, embed, encode and correct.

    python -m attacks.kills --moments 100 --seed 0 [--commands train,embed]

Each command is run once to the end, to know how long it takes and what it writes. Then it is started again and again
and killed at a moment drawn from that time. Afterwards what was there before is there still, byte for byte, or the new
output is there whole; a folder holds a whole model, or says that it holds none; and the next run ends well, a training
run by going on, with the same model.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from attacks.faults import contents, furnish, old_outputs
from lovevec.model.folder import holds_model

LATER = 1.05  # a few moments lie behind the end
START = 0.25  # most of the first part is Python's own start
COMMANDS = {
    "embed vec": "embed -i t.txt -m model -o out/v.vec -q",
    "embed npz": "embed -i t.txt -m model -o out/v.npz -q",
    "encode": "encode -i t.txt -m model -o out/v.npy -q",
    "correct": "correct -i t.txt -m model -o out/t.txt -q",
    "fill": "fill t.npz --words t.txt -m model -o out/v.vec -q",
    "export": "export model -o out/m --rows int8",
    "export over": "export model -o out --overwrite --rows int8",
    "train": "train t.npz -o out/m --epochs 3 --device cpu --negatives 2 --vocabulary-size 200 --key-width 4 -q"
    " --checkpoint-minutes 0",
}
RESUME = "train --resume out/m -q"


def start(folder: Path, command: str) -> subprocess.Popen[bytes]:
    """The command, in the folder, with its stderr in a file."""
    settings = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    with open(folder / "stderr", "wb") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "lovevec.cli", *command.split()], cwd=folder, stderr=said, stdout=said, env=settings
        )


def run(folder: Path, command: str) -> tuple[int, str]:
    """To the end: exit code and stderr."""
    process = start(folder, command)
    process.wait(300)
    return process.returncode, (folder / "stderr").read_text("utf-8", "replace")


def results_of(out: Path) -> dict[str, bytes]:
    """What counts of the output: no temporary files, and no report with its times and dates."""
    skip = ("report.json", "config.json", "README.md", ".lock")
    return {
        name: content
        for name, content in contents(out).items()
        if (not name.endswith((".tmp", *skip)) or name == "v.vec") and ".tmp/" not in name
    }


def wrong_after(name: str, out: Path, before: dict[str, bytes], new: dict[str, bytes]) -> str | None:
    """What is wrong with what a killed command left."""
    from lovevec import LOVE, LovevecError

    after = results_of(out)
    model = out if name == "export over" else out / "m"
    if name.startswith(("export", "train")):
        if model.is_dir():
            try:
                LOVE.load(model)
            except LovevecError as error:
                if name == "export over" or "holds no model" not in str(error):
                    return f"no whole model: {error}"
        return None
    for file, content in after.items():
        if content not in (before.get(file), new[file]):
            return f"{file} is neither the old nor the new one"
    return f"lost {sorted(before.keys() - after.keys())}" if before.keys() - after.keys() else None


def again(name: str, folder: Path, new: dict[str, bytes]) -> str | None:
    """What is wrong with the next run, which finds what a killed one left."""
    out = folder / "out"
    command = COMMANDS[name]
    if name == "train" and (out / "m" / ".unfinished" / "run.json").is_file():
        command = RESUME
    elif name == "train" and (out / "m" / "config.json").is_file():
        command = ""  # it was done
    code, said = run(folder, command) if command else (0, "")
    if code != 0 and name in ("export", "train") and "holds a model" in said:
        code = 0
    if code != 0:
        return f"the next run ends with {code}: {said[-200:]}"
    if results_of(out) != new:
        return "the next run writes something else"
    left = [file.name for file in out.rglob(".*.tmp")] if name == "train" else []
    return f"the next run leaves {left}" if left else None


def main() -> int:
    """A line a finding, and a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=100, help="of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--commands", default="", help="by commas (default: all)")
    options = parser.parse_args()
    names = [name for name in COMMANDS if not options.commands or name.split()[0] in options.commands.split(",")]
    found = 0
    print("| command | seconds | killed | ended before | no model left | findings |\n|---|--:|--:|--:|--:|--:|")
    for name in names:
        rng = random.Random(f"{options.seed} {name}")
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            furnish(folder)
            old_outputs(name, folder / "out")
            begun = time.monotonic()
            code, said = run(folder, COMMANDS[name])
            seconds = time.monotonic() - begun
            if code != 0:
                print(f"{name} ends with {code}: {said}")
                return 1
            new = results_of(folder / "out")
            killed = bare = bad = 0
            for moment in range(options.moments):
                old_outputs(name, folder / "out")
                before = results_of(folder / "out")
                process = start(folder, COMMANDS[name])
                time.sleep(rng.uniform(START, LATER) * seconds)
                process.kill()
                killed += process.wait() != 0
                model = folder / "out" if name == "export over" else folder / "out" / "m"
                bare += name == "export over" and not holds_model(model)
                wrong = wrong_after(name, folder / "out", before, new) or again(name, folder, new)
                if wrong:
                    bad += 1
                    print(f"{name}, moment {moment}: {wrong}", file=sys.stderr, flush=True)
            shutil.rmtree(folder / "out")
        found += bad
        print(f"| {name} | {seconds:.1f} | {killed} | {options.moments - killed} | {bare} | {bad} |", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
