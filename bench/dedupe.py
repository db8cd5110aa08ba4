"""How long does `dedupe` take for a million names, and what does it find? `match` for as many too.

    python bench/dedupe.py [--names 1000000] [--twins 0.1] [--match]

Names are of companies and people, made of surnames and businesses (`pip install names`), each once; a share of them has
a mistyped twin. Prints seconds by phase, the peak of memory, and precision and recall of the pairs.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
from collections.abc import Sequence
from importlib.resources import files

import numpy as np

from lovevec import LOVE
from lovevec.damage.misspell import misspell
from lovevec.progress import Progress

BUSINESSES = (
    "Logistics Capital Partners Foods Systems Health Energy Motors Textiles Software Media Labs Pharma Insurance "
    "Holdings Construction Design Consulting Airlines Shipping Chemicals Steel Electronics Robotics Printing Marine"
)
FORMS = "Inc Ltd GmbH LLC AG Corp Group SA BV Co"


def names_of(count: int, seed: int = 0) -> list[str]:
    """Names, no two of which have the same words but for the legal form."""
    draw, businesses, forms = random.Random(seed), BUSINESSES.split(), FORMS.split()
    folder = files("names")
    surnames, firsts = (
        [line.split()[0].title() for line in (folder / f"dist.{kind}").read_text("utf-8").splitlines()]
        for kind in ("all.last", "female.first")
    )
    names: dict[tuple[str, ...], str] = {}
    while len(names) < count:
        form = ""
        if draw.random() < 0.5:
            words = [draw.choice(firsts), draw.choice(surnames), draw.choice(surnames) if draw.random() < 0.3 else ""]
        else:
            second = draw.choice(surnames) if draw.random() < 0.5 else ""
            words, form = [draw.choice(surnames), second, draw.choice(businesses)], draw.choice(forms)
        words = [word for word in words if word]
        names.setdefault(tuple(sorted(words)), " ".join([*words, form]).strip())
    return list(names.values())


def twins_of(names: Sequence[str]) -> list[str]:
    """Each name with its longest word misspelled."""
    rng = np.random.default_rng(0)
    split = [name.split() for name in names]
    places = [max(range(len(words)), key=lambda at, words=words: len(words[at])) for words in split]
    wrong = misspell([words[at] for words, at in zip(split, places, strict=True)], rng)
    return [
        " ".join([*words[:at], other, *words[at + 1 :]]) for words, at, other in zip(split, places, wrong, strict=True)
    ]


def main() -> None:
    """Make names, time, and print one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=1_000_000)
    parser.add_argument("--twins", type=float, default=0.1)
    parser.add_argument("--match", action="store_true", help="match the twins with the names instead")
    options = parser.parse_args()
    twins = round(options.names * options.twins) if not options.match else options.names // 2
    names = names_of(options.names - twins)
    wrong = twins_of(names[:twins])
    right = [row for row, (name, other) in enumerate(zip(names, wrong, strict=False)) if name.lower() != other.lower()]
    love = LOVE.load()
    love.warm_up()
    progress = Progress()
    start = time.perf_counter()
    if options.match:
        matches = love.match(names, wrong, progress=progress)
        found = {"first": sum(match.left == match.right for match in matches) / len(wrong)}
    else:
        groups = love.dedupe(names + wrong, progress=progress)
        labels = groups.labels
        pairs = sum(len(group) * (len(group) - 1) // 2 for group in groups)
        hits = sum(labels[row] == labels[len(names) + row] for row in right)
        found = {"precision": hits / max(pairs, 1), "recall": hits / max(len(right), 1), "groups": len(groups)}
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    phases = {name: round(one, 1) for name, one in progress.seconds.items()}
    print(json.dumps({"names": options.names, "seconds": round(seconds, 1), "GB": round(memory, 2), **phases, **found}))


if __name__ == "__main__":
    main()
