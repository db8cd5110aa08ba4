"""The tables of docs/results/near.md: misspellings, new words, confidence, similarity. One run, the same lists for all.

    python lab/runs/near.py [-o docs/results/data/near.json] [--hunspell N]

Prints Markdown and writes the numbers as JSON. Of Birkbeck only misspellings of one half of its right words count:
those whose md5 begins with an odd byte. The shipped model is fitted to the other half.
95 % intervals are of right words drawn anew, each with all its misspellings. Needs what the extras train and rivals
bring, aspell, aspell-en and hunspell, and the evaluation data in LOVEVEC_DATA; takes a quarter of an hour on two cores,
most of it for Hunspell, which `--hunspell` gives a sample of each list.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from lovevec import LOVE
from lovevec.train.calibration import auc, calibration_error, restrict_known
from lovevec.vectors import ReadReport, VectorTable
from lovevec_lab.evaluate.datasets import names_of
from lovevec_lab.evaluate.results import Cell, markdown, plain, versions
from lovevec_lab.evaluate.similarity import score_similarity, similarity_set
from lovevec_lab.evaluate.statistics import RESAMPLES, bootstrap, interval
from lovevec_lab.evaluate.typos import SETS, lowercase_table, misspellings, recovery
from lovevec_lab.methods.edit_distance import EditDistance
from lovevec_lab.methods.love import LoveMethod
from lovevec_lab.methods.open_method import open_table
from lovevec_lab.methods.spellers import Aspell, Hunspell
from lovevec_lab.methods.symspell import SymSpell
from lovevec_lab.methods.table import Table

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("LOVEVEC_DATA", ROOT.parent / "shared" / "data"))
GLOVE = "targets/glove840b-300d-34k.npz"
TEN = 10
SEED = 0
RARE = 20_000
AT_ONCE = 64  # x 80,000 distances
NONSENSE, NONSENSE_LENGTHS = 500, (3, 11)
STRIKING = {
    "oxgen": "oxygen",
    "archiitect": "architect",
    "recieve": "receive",
    "tommorow": "tomorrow",
    "wierd": "weird",
    "bl00d": "blood",
    "restaraunt": "restaurant",
    "goverment": "government",
    "tlie": "the",
    "rnodern": "modern",
}

Suggest = Callable[[Sequence[str]], list[list[str]]]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MisspellingList:
    """Misspellings of a list that count, and the words that were meant."""

    name: str
    right: list[str]
    wrong: list[str]

    def __len__(self) -> int:
        return len(self.wrong)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The number of each right word."""
        return np.unique(self.right, return_inverse=True)[1]

    def part(self, places: Sequence[int]) -> MisspellingList:
        """Some of them."""
        return MisspellingList(
            self.name, [self.right[place] for place in places], [self.wrong[place] for place in places]
        )


@dataclass(frozen=True)
class Share:
    """A mean and its interval, in percent where it is one of shares."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.1f} ({self.low:.1f} – {self.high:.1f})"


def lists(known: Sequence[str]) -> list[MisspellingList]:
    """Misspellings that are not known themselves, of words that are; of Birkbeck those of the test half."""
    there = frozenset(known)
    found = []
    for name in SETS:
        read = misspellings(name, DATA)
        pairs = [
            (right, wrong)
            for right, wrong in zip(read.right, read.wrong, strict=True)
            if right in there and wrong not in there and (name != "birkbeck" or half_of(right) == 1)
        ]
        found.append(MisspellingList(read.name, [right for right, _ in pairs], [wrong for _, wrong in pairs]))
    return found


def half_of(right: str) -> int:
    """0: what may be looked at and fitted to. 1: the test half."""
    return md5(right.encode()).digest()[0] % 2


def shares(values: Numbers, owners: NDArray[np.int64]) -> list[Share]:
    """Of each column of `values` [things, columns]: the mean, and its interval over owners drawn anew."""
    count = int(owners.max()) + 1
    sums, counts = np.zeros((count, values.shape[1])), np.bincount(owners, minlength=count)
    np.add.at(sums, owners, values)
    drawn = bootstrap(lambda times: (times @ sums) / (times @ counts)[:, None], count, RESAMPLES, SEED)
    return [Share(float(mean), *interval(column)) for mean, column in zip(values.mean(axis=0), drawn.T, strict=True)]


def each_alone(count: int) -> NDArray[np.int64]:
    """Owners of things that are drawn one by one."""
    return np.arange(count)


class Report:
    """Tables as they are made, and their numbers."""

    def __init__(self) -> None:
        self.numbers: dict[str, Any] = {}

    def table(self, title: str, header: Sequence[str], rows: Sequence[Sequence[Cell]], digits: int = 1) -> None:
        """Print it; numbers go with it."""
        print(f"\n### {title}\n\n{markdown(header, rows, digits)}", flush=True)


def log(text: str) -> None:
    """What is going on, to stderr."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


# Right word first, and among ten


def by_near(love: LOVE) -> Suggest:
    """love.near."""
    return lambda words: [[word for word, _ in near] for near in love.near(words, TEN)]


def by_distance(known: Sequence[str]) -> Suggest:
    """The ten with the least edit distance (neighbors that change places are one edit), of equal ones the first."""
    listed, rank = list(known), np.arange(len(known), dtype=np.int64)

    def suggest(words: Sequence[str]) -> list[list[str]]:
        found = []
        for low in range(0, len(words), AT_ONCE):
            part = words[low : low + AT_ONCE]
            distance = cdist(part, listed, scorer=OSA.distance, dtype=np.uint8, workers=-1)
            first = np.sort(np.partition(distance * np.int64(1 << 32) + rank, TEN, axis=1)[:, :TEN], axis=1)
            found += [[listed[row] for row in rows] for rows in (first & 0xFFFFFFFF).tolist()]
        return found

    return suggest


def right_words(page: Report, ways: dict[str, Suggest], tested: Sequence[MisspellingList], few: dict[str, int]) -> None:
    """Table a. `few` names ways that get a sample."""
    rows: list[list[Cell]] = []
    for name, suggest in ways.items():
        cells: list[Cell] = [name]
        for one in tested:
            most = few.get(name, len(one))
            given = one if len(one) <= most else one.part(sample(len(one), most))
            start = time.perf_counter()
            suggested = suggest(given.wrong)
            seconds = time.perf_counter() - start
            log(f"{name}, {one.name}: {len(given):,} in {seconds:.0f} s")
            place = [
                words.index(right) if right in words else TEN
                for right, words in zip(given.right, suggested, strict=True)
            ]
            hits = 100.0 * (np.array(place)[:, None] < [1, TEN])
            first, ten = shares(hits, given.owners)
            cells += [str(first), str(ten)]
            page.numbers.setdefault("right word", {}).setdefault(name, {})[one.name] = {
                "misspellings": len(given), "first": first.__dict__, "among 10": ten.__dict__,
            }  # fmt: skip
        rows.append(cells)
    titles = [f"{one.name}, {what}" for one in tested for what in ("first", "among 10")]
    page.table("Right word, %: " + describe(tested), ["", *titles], rows)


def sample(count: int, most: int) -> list[int]:
    """So many places of a list."""
    return np.sort(np.random.default_rng([SEED, most]).permutation(count)[:most]).tolist()


def describe(tested: Sequence[MisspellingList]) -> str:
    """How much there is of each list."""
    return "; ".join(f"{one.name} {len(one):,} misspellings of {len(set(one.right)):,} words" for one in tested)


# Vectors recovered, in the space of somebody's table


def recoveries(
    page: Report, table: Table, ways: dict[str, Callable[[Sequence[str]], Any]], tested: Sequence[MisspellingList]
) -> None:
    """Table b."""
    rows: list[list[Cell]] = []
    for name, embed in ways.items():
        cells: list[Cell] = [name]
        for one in tested:
            made = np.asarray(embed(one.wrong), dtype=np.float32)
            cosine, rank = recovery(made, table.vectors, np.array([table.row[right] for right in one.right]))
            first, ten, near = shares(np.stack([100.0 * (rank < 1), 100.0 * (rank < TEN), cosine], axis=1), one.owners)
            log(f"{name}, {one.name}: {first}, {ten}")
            cells += [str(first), str(ten)]
            page.numbers.setdefault("vector recovered", {}).setdefault(name, {})[one.name] = {
                "misspellings": len(one), "nearest": first.__dict__, "among 10": ten.__dict__, "cosine": near.mean,
            }  # fmt: skip
        rows.append(cells)
    titles = [f"{one.name}, {what}" for one in tested for what in ("nearest", "among 10")]
    page.table(
        f"Vector recovered among {len(table.words):,} of {table.name}, %: {describe(tested)}", ["", *titles], rows
    )


# New words


def new_words(page: Report, love: LOVE, table: Table) -> tuple[LOVE, list[str], NDArray[np.int64]]:
    """Table c; returns the model without them, the words, and their rows in the model. Its lexicon has the words that
    are left and no others; the weights of n-grams were learned with all of them."""
    held = np.array(love.metadata["held_back"], dtype=np.int64)
    there = restrict_known(love, np.setdiff1d(np.arange(len(love.words)), held))
    unaware = there.with_lexicon(replace=True)
    words = [love.words[row] for row in held.tolist()]
    assert love.parts.rows is not None
    rows: list[list[Cell]] = []
    for space, model in (("own", unaware), ("own, the lexicon has them", there)):
        rows += comparison_rows(
            page, space, words, held, love.parts.rows.all(), held,
            model.embed(words), model.impute(words), model.near(words, TEN),
        )  # fmt: skip
    shared = [place for place, word in enumerate(words) if word in table.row]
    out = {words[place] for place in shared}
    stay = [row for row, word in enumerate(table.words) if word not in out]
    left = ([table.words[row] for row in stay], table.vectors[stay])
    near, alone = unaware.attach(left), unaware.attach(left, near=False)
    asked = [words[place] for place in shared]
    rows += comparison_rows(
        page, table.name, asked, held[shared], table.vectors, np.array([table.row[word] for word in asked]),
        near.embed(asked), alone.embed(asked), near.near(asked, TEN),
    )  # fmt: skip
    header = [
        *("space", "words of rank", "words", "top 10, near", "spelling only", "difference"),
        *("cosine, near", "spelling only ", "difference ", "mean p(new)"),
    ]
    page.table("New words: held back from model and table", header, rows, 3)
    return unaware, words, held


def comparison_rows(
    page: Report,
    space: str,
    words: Sequence[str],
    ranks: NDArray[np.int64],
    vectors: NDArray[np.float32],
    rows: NDArray[np.int64],
    near: NDArray[np.float32],
    alone: NDArray[np.float32],
    read: Sequence[Sequence[tuple[str, float]]],
) -> list[list[Cell]]:
    """Vectors by near against those by spelling only, for all words, the more frequent and the rarer."""
    found = [recovery(np.ascontiguousarray(made), vectors, rows) for made in (near, alone)]
    top = np.stack([100.0 * (rank < TEN) for _, rank in found], axis=1)
    cosine = np.stack([cosine for cosine, _ in found], axis=1)
    new = np.array([1 - sum(chance for _, chance in one) for one in read])
    result: list[list[Cell]] = []
    for name, which in (
        ("all", np.ones(len(words), dtype=np.bool_)),
        (f"below {RARE:,}", ranks < RARE),
        (f"from {RARE:,}", ranks >= RARE),
    ):
        values = np.stack([top[:, 0] - top[:, 1], cosine[:, 0] - cosine[:, 1]], axis=1)[which]
        more, nearer = shares(values, each_alone(len(values)))
        tops, cosines = top[which].mean(axis=0).tolist(), cosine[which].mean(axis=0).tolist()
        result.append(
            [
                *(space, name, int(which.sum()), f"{tops[0]:.1f}", f"{tops[1]:.1f}", with_sign(more, 1)),
                *(*cosines, with_sign(nearer, 3), float(new[which].mean())),
            ]
        )
        page.numbers.setdefault("new words", {}).setdefault(space, {})[name] = {
            "words": int(which.sum()), "top 10": tops, "top 10, difference": more.__dict__,
            "cosine": cosines, "cosine, difference": nearer.__dict__, "p(new)": float(new[which].mean()),
        }  # fmt: skip
    return result


def with_sign(share: Share, digits: int) -> str:
    """A difference and its interval."""
    return f"{share.mean:+.{digits}f} ({share.low:+.{digits}f} – {share.high:+.{digits}f})"


# Confidence


def confidences(
    page: Report,
    love: LOVE,
    tested: Sequence[MisspellingList],
    unaware: LOVE,
    held: Sequence[str],
    held_rows: NDArray[np.int64],
) -> None:
    """Table d: how sure the model is, and how often it is right, in its own space."""
    assert love.parts.rows is not None
    own, row = love.parts.rows.all(), {word: number for number, word in enumerate(love.words)}
    rows: list[list[Cell]] = []
    groups: list[tuple[str, LOVE, Sequence[str], NDArray[np.int64] | None]] = [
        (one.name, love, one.wrong, np.array([row[right] for right in one.right])) for one in tested
    ]
    groups += [("held-back words", unaware, held, held_rows), ("nonsense", love, nonsense(love), None)]
    for name, model, words, right in groups:
        sure = model.confidence(words)
        hit = (
            np.zeros(len(words), dtype=np.bool_) if right is None else recovery(model.embed(words), own, right)[1] < TEN
        )
        error = calibration_error(sure, hit, np.ones(len(sure)))
        ranked = auc(sure, hit) if 0 < hit.mean() < 1 else None
        bins = [(sure >= low) & (sure < low + 0.2 + (low == 0.8)) for low in (0.0, 0.2, 0.4, 0.6, 0.8)]
        cells = [f"{hit[which].mean():.2f} of {which.sum():,}" if which.any() else None for which in bins]
        rows.append([name, len(words), float(sure.mean()), float(hit.mean()), error, ranked, *cells])
        page.numbers.setdefault("confidence", {})[name] = {
            "words": len(words), "mean": float(sure.mean()), "right": float(hit.mean()), "calibration error": error,
            "auc": ranked, "right by confidence": [float(hit[which].mean()) if which.any() else None for which in bins],
        }  # fmt: skip
    header = ["", "words", "mean confidence", "right", "calibration error", "AUC"]
    header += [f"right where it is {low:.1f} to {low + 0.2:.1f}" for low in (0.0, 0.2, 0.4, 0.6, 0.8)]
    page.table("Confidence, and the share that is right (own space, among 10)", header, rows, 3)
    shown = ["qqqqq", "zzzzzzz", "xkcdqv", "blorfing", "asdfgh", *STRIKING]
    known = love.near(shown, 1)
    sure = love.confidence(shown)
    print(", ".join(f"`{word}` {one:.2f}" for word, one in zip(shown, sure, strict=True)))
    page.numbers["striking"] = {
        word: {"near": near[0] if near else None, "confidence": float(one)}
        for word, near, one in zip(shown, known, sure, strict=True)
    }


def nonsense(love: LOVE) -> list[str]:
    """Letters in no order, none of them known."""
    rng = np.random.default_rng([SEED, 1])
    drawn = [rng.integers(0, 26, rng.integers(*NONSENSE_LENGTHS)) for _ in range(2 * NONSENSE)]
    strings = dict.fromkeys("".join(chr(ord("a") + letter) for letter in letters) for letters in drawn)
    return [string for string in strings if string not in love][:NONSENSE]


# Known words


def similarities(page: Report, love: LOVE) -> None:
    """Table e: the six sets."""
    sets = [similarity_set(name, DATA) for name in names_of("similarity")]
    found = [
        score_similarity(LoveMethod(love, name, near), sets)
        for name, near in (("as loaded", True), ("spelling only", False))
    ]
    rows: list[list[Cell]] = [
        [one.method, *(score.spearman for score in one.sets), str(Share(one.mean, one.low, one.high))] for one in found
    ]
    page.table("Similarity, Spearman's ρ x 100", ["", *(one.name for one in sets), "mean"], rows)
    page.numbers["similarity"] = {
        one.method: {score.name: score.spearman for score in one.sets} | {"mean": one.mean} for one in found
    }


def related_words(page: Report, love: LOVE) -> None:
    """Related words against look-alikes (tests/data/related.tsv)."""
    lines = (ROOT / "tests/data/related.tsv").read_text("utf-8").splitlines()
    triples = [line.split("\t") for line in lines]
    rows: list[list[Cell]] = []
    for name, model in (("as loaded", love), ("spelling only", love.copy(spelling_only=True))):
        wrong = [" ".join(one) for one in triples if not model.similar(one[0], one[1]) > model.similar(one[0], one[2])]
        rows.append([name, len(triples), 100 - 100 * len(wrong) / len(triples), "; ".join(wrong)])
        page.numbers.setdefault("related", {})[name] = {"triples": len(triples), "wrong": wrong}
    page.table("Related words nearer than look-alikes, %", ["", "triples", "share", "not so"], rows)


def striking(page: Report, love: LOVE) -> None:
    """What README shows."""
    rows: list[list[Cell]] = []
    for word, right in STRIKING.items():
        near = love.near(word, 3)
        listed = ", ".join(f"{one} {chance:.2f}" for one, chance in near)
        rows.append([f"`{word}`", listed, "yes" if near and near[0][0] == right else f"no: {right}"])
    page.table("Some strings", ["", "near", "right"], rows)


def revision() -> str:
    """The commit, where git knows it."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def main() -> None:
    """All tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs/results/data/near.json")
    parser.add_argument("--hunspell", type=int, help="misspellings of a list that Hunspell gets (default: all)")
    given = parser.parse_args()
    page, love = Report(), LOVE.load()
    page.numbers["about"] = {
        "commit": revision(),
        "known words": len(love.words), "versions": versions(),
    }  # fmt: skip
    assert love.parts.rows is not None
    own = Table(VectorTable(list(love.words), love.parts.rows.all(), ReadReport("memory", dim=love.dim)), "default")
    glove = lowercase_table(open_table(DATA / GLOVE))
    tested = lists(love.words)
    symspell = SymSpell(own).dictionary
    ways: dict[str, Suggest] = {
        "near, as shipped": by_near(love),
        "GNU Aspell": Aspell(own).suggest,
        "Hunspell": Hunspell(own).suggest,
        "SymSpell": lambda words: [symspell.suggest(word) for word in words],
        "edit distance, then rank": by_distance(love.words),
    }
    striking(page, love)
    right_words(page, ways, tested, {} if given.hunspell is None else {"Hunspell": given.hunspell})
    vectors = (glove.words, glove.vectors)
    recoveries(
        page,
        glove,
        {
            "near, as shipped: `love.attach(glove)`": love.attach(vectors).embed,
            "`LOVE.load(spelling_only=True)`": love.copy(spelling_only=True).attach(vectors).embed,
            "edit distance": EditDistance(glove, len(glove.words)).embed,
            "SymSpell": SymSpell(glove).embed,
            "GNU Aspell": Aspell(glove).embed,
        },
        lists(glove.words),
    )
    unaware, held, held_rows = new_words(page, love, glove)
    confidences(page, love, tested, unaware, held, held_rows)
    similarities(page, love)
    related_words(page, love)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(json.dumps(round_numbers(plain(page.numbers)), indent=1) + "\n", "utf-8")
    log(f"written: {given.output}")


def round_numbers(value: Any) -> Any:
    """Numbers to four digits."""
    if isinstance(value, dict):
        return {key: round_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [round_numbers(inner) for inner in value]
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
