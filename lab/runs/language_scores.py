"""Puts the misspellings of languages that were measured one by one into docs/results/data/languages.json.

    python lab/runs/language_scores.py build/languages/scores de nl es

reads build/languages/scores/typos-de.json and so on (lab/runs/languages.sh scores). Languages whose file is not there
are left out, and named.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results" / "data" / "languages.json"


def main() -> None:
    """Merge: the settings of the first, the sets and scores of all."""
    folder, *codes = sys.argv[1:]
    files = {code: Path(folder) / f"typos-{code}.json" for code in codes}
    measured = {code: json.loads(file.read_text("utf-8")) for code, file in files.items() if file.is_file()}
    if not measured:
        raise SystemExit(f"{folder}: no typos-CODE.json of {', '.join(codes)}")
    whole = next(iter(measured.values()))
    whole["task"] = "typos-languages"
    whole["settings"]["languages"] = list(measured)
    whole["settings"]["sets"] = {code: one["settings"]["sets"][code] for code, one in measured.items()}
    whole["scores"] = [score for one in measured.values() for score in one["scores"]]
    RESULTS.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if missing := [code for code in codes if code not in measured]:
        print(f"not measured: {', '.join(missing)}")


if __name__ == "__main__":
    main()
