"""The tables of docs/results/strings.md: what strings are read as that no list of misspellings has.

    python lab/runs/strings.py [-o docs/results/data/strings.json]

Digits, parts, torn words and questions are lists of our own (lab/runs/english): the halves `dev` were looked at
while the rules were made, the halves `test` were not. Names are those of PyPI's `autofj`, 50 pairs of tables: sets A
to L were chosen on. Needs `pip install autofj names wordfreq scikit-learn` and the evaluation data in LOVEVEC_DATA;
takes ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from near import revision
from score import DATA

from lovevec import LOVE
from lovevec.damage.misspell import misspell
from lovevec.files.lines import read_word_list

Encode = Callable[[Sequence[str]], np.ndarray]
ENGLISH = Path(__file__).resolve().parent / "english"
ROOT = Path(__file__).resolve().parents[2]
LOWEST, HIGHEST = 40_000, 160_000  # ranks of rare words
COMPANIES = 1000
BUSINESSES = (
    "Logistics Capital Partners Foods Systems Health Energy Motors Textiles Software Media Labs Pharma Insurance "
    "Holdings Construction Design Consulting Airlines Shipping Chemicals Steel Electronics Robotics Printing Marine"
)
FORMS = "Inc Ltd GmbH LLC AG Corp Group SA BV Co"
SYLLABLES = "ka ve lo ri zen tor mi da xo bri qua nex fi sol tra vi ac um"


def rows_of(name: str, half: str) -> list[dict[str, str]]:
    """The rows of one of our lists, of one half."""
    with open(ENGLISH / f"{name}.tsv", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["half"] == half]


def read_as(love: LOVE, string: str) -> str:
    """The words that a string is read as, with blanks between."""
    lookup = love.lookup(string)
    if lookup.parts[0]:
        return " ".join((part.word or part.text).lower() for part in lookup.parts[0])
    near = lookup.near(1)[0]
    return near[0][0] if near and lookup.readings[0] in ("known", "near") else string.lower()


def digits_that_changed(love: LOVE, half: str) -> list[str]:
    """Strings with digits that are read as the string beside them in the list, or as a word where they are none."""
    changed = []
    for row in rows_of("digits", half):
        string, reading = row["string"], love.readings(row["string"])
        if "leet" in row["kind"] or "chat" in row["kind"]:
            right = read_as(love, string) == row["word"].lower()
        else:
            right = reading != "near" and read_as(love, string) != read_as(love, row["confusable"])
        changed += [] if right else [string]
    return changed


def parts_right(love: LOVE, half: str) -> dict[str, tuple[int, int]]:
    """How many strings of several words have the right parts, of how many: all, and by what holds them together."""
    counts: dict[str, list[int]] = {}
    for row in rows_of("parts", half):
        right = read_as(love, row["string"]) == row["parts"]
        for group in ("all", "damaged" if row["damaged"] == "1" else "clean", row["how"]):
            count = counts.setdefault(group, [0, 0])
            count[0], count[1] = count[0] + right, count[1] + 1
    return {group: (right, of) for group, (right, of) in counts.items()}


def torn_right(love: LOVE, half: str) -> tuple[int, int]:
    """How many pairs of tokens in texts are joined, or left apart, as they should be."""
    rows = rows_of("torn", half)
    right = 0
    for row in rows:
        pair = row["pair"].lower().split()
        joined = any(token.text.lower().split() == pair for token in love.tokens(row["text"]))
        right += joined == (row["joined"] == "1")
    return right, len(rows)


def kept_new(love: LOVE, words: Sequence[str]) -> float:
    """The share of words that are read as new."""
    return sum(reading == "new" for reading in love.readings(list(words))) / len(words)


def rare_words(love: LOVE) -> list[str]:
    """Rare words of letters that are not known, from wordfreq's list; not all of them are words."""
    from wordfreq import top_n_list

    ranked = top_n_list("en", HIGHEST)[LOWEST:]
    return [word for word in ranked if re.fullmatch("[a-z]{4,}", word) and word not in love]


def right_words(love: LOVE, texts: Iterable[str]) -> dict[str, float]:
    """Of the tokens of running text, per cent that are read as near, and as several words run together."""
    readings = [token.reading for text in texts for token in love.tokens(text)]
    return {name: round(100 * readings.count(name) / len(readings), 3) for name in ("near", "parts")} | {
        "tokens": len(readings)
    }


def sentences() -> list[str]:
    """STS-B's sentences, dev."""
    with open(DATA / "sentences" / "stsb-en-dev.csv", encoding="utf-8") as file:
        return list(dict.fromkeys(sentence for row in csv.reader(file) for sentence in row[:2]))


def queries() -> list[str]:
    """MARCO's queries."""
    lines = (DATA / "sentences" / "marco-queries.tsv").read_text("utf-8").splitlines()
    return [line.split("\t")[1].strip() for line in lines if "\t" in line]


def mistyped(texts: Sequence[str], share: float = 0.3) -> list[str]:
    """The texts with misspelled words: so many of those of four letters and more."""
    rng, found = np.random.default_rng(0), []
    for text in texts:
        words = text.split()
        hit = [at for at, word in enumerate(words) if len(word) >= 4 and word.isalpha() and rng.random() < share]
        for at, wrong in zip(hit, misspell([words[at] for at in hit], rng) if hit else [], strict=True):
            words[at] = wrong
        found.append(" ".join(words))
    return found


def name_tables() -> dict[str, tuple[list[str], list[str], list[int]]]:
    """For each of autofj's sets the left names, the right ones, and which of the left belongs to each of these."""
    tables = {}
    for folder in sorted(Path(str(files("autofj"))).glob("benchmark/*/")):
        read = {}
        for name in ("left", "right", "gt"):
            with open(folder / f"{name}.csv", encoding="utf-8") as file:
                read[name] = list(csv.DictReader(file))
        column = "title" if "title" in read["left"][0] else [key for key in read["left"][0] if key != "id"][-1]
        place = {row["id"]: number for number, row in enumerate(read["left"])}
        belongs = {row["id_r"]: place[row["id_l"]] for row in read["gt"]}
        right = [row for row in read["right"] if row["id"] in belongs]
        left_names, right_names = [row[column] for row in read["left"]], [row[column] for row in right]
        tables[folder.name] = left_names, right_names, [belongs[row["id"]] for row in right]
    return tables


def right_first(encode: Encode, left: Sequence[str], right: Sequence[str], belongs: Sequence[int]) -> float:
    """The share of the right names whose nearest left name is their own."""
    known, asked = encode(left), encode(right)
    nearest = [(asked[low : low + 512] @ known.T).argmax(axis=1) for low in range(0, len(asked), 512)]
    return float(np.mean(np.concatenate(nearest) == np.array(belongs)))


def names_found(model_of: Callable[[list[str]], Encode]) -> dict[str, dict[str, float]]:
    """autofj: mean over the sets, A to L and M to Z, clean and mistyped; `model_of` may look at the left names."""
    scores: dict[str, list[list[float]]] = {"A to L": [[], []], "M to Z": [[], []]}
    for name, (left, right, belongs) in name_tables().items():
        encode = model_of(left)
        for where, asked in zip(
            scores["A to L" if name[0].upper() <= "L" else "M to Z"], (right, mistyped(right)), strict=True
        ):
            where.append(right_first(encode, left, asked, belongs))
    return {
        half: {
            kind: round(100 * float(np.mean(found)), 1)
            for kind, found in zip(("clean", "mistyped"), lists, strict=True)
        }
        for half, lists in scores.items()
    }


def companies() -> tuple[list[str], list[str]]:
    """Names of companies, and a misspelled twin of each."""
    draw, rng = random.Random(7), np.random.default_rng(0)
    surnames = [line.split()[0].title() for line in (files("names") / "dist.all.last").read_text("utf-8").splitlines()]
    names: set[str] = set()
    while len(names) < COMPANIES:
        made = "".join(draw.choice(SYLLABLES.split()) for _ in range(draw.randint(2, 4))).title()
        first = draw.choice(surnames[200:8000]) if draw.random() < 0.6 else made
        second = "& " + draw.choice(surnames[200:8000]) if draw.random() < 0.25 else ""
        business = draw.choice(BUSINESSES.split()) if draw.random() < 0.8 else ""
        names.add(" ".join(filter(None, (first, second, business, draw.choice(FORMS.split())))))
    listed, twins = sorted(names), []
    for name in listed:
        words = name.split()
        at = max(range(len(words)), key=lambda place: (len(words[place]) > 3, draw.random()))
        wrong = words[at]
        while wrong.lower() == words[at].lower():
            wrong = misspell([words[at]], rng)[0]
        words[at] = wrong
        twins.append(" ".join(words))
    return listed, twins


def twins_found(love: LOVE) -> dict[str, float]:
    """How many per cent of the twins find their company, by each way."""
    from rapidfuzz import fuzz
    from rapidfuzz.process import cdist

    names, twins = companies()
    own, belongs = love.with_words(names), list(range(len(names)))
    ways = {"encode": love, "fitted": love.fitted(names), "with_words": own, "with_words, fitted": own.fitted(names)}
    found = {name: right_first(model.encode, names, twins, belongs) for name, model in ways.items()}
    found["rapidfuzz"] = float(np.mean(cdist(twins, names, scorer=fuzz.ratio).argmax(axis=1) == np.array(belongs)))
    return {name: round(100 * share, 1) for name, share in found.items()}


def question_types(encode: Encode, half: str) -> float:
    """Accuracy of six types of questions, by logistic regression over vectors, five folds, three times."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    rows = rows_of("questions", half)
    vectors, types = encode([row["question"] for row in rows]), [row["type"] for row in rows]
    folds = [StratifiedKFold(5, shuffle=True, random_state=seed) for seed in range(3)]
    model = LogisticRegression(C=10, max_iter=2000)
    return round(100 * float(np.mean([cross_val_score(model, vectors, types, cv=one).mean() for one in folds])), 1)


def main() -> None:
    """All numbers, as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--model", help="(default: the shipped model)")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs/results/data/strings.json")
    parser.add_argument("--lists", type=Path, help="folder that lexicon.py wrote, for words held back from a lexicon")
    options = parser.parse_args()
    love = LOVE.load(options.model)
    found: dict[str, Any] = {"commit": revision(), "known_words": len(love)}

    def note(name: str, value: Any) -> None:
        found[name] = value
        print(f"{name}: {json.dumps(value, ensure_ascii=False)}", flush=True)

    for half in ("dev", "test"):
        note(f"digits read as others, {half}", digits_that_changed(love, half))
        note(f"parts right, {half}", parts_right(love, half))
        note(f"torn words right, {half}", torn_right(love, half))
        note(f"question types, {half}", question_types(love.encode, half))
    rare = rare_words(love)
    note("rare strings kept new", round(100 * kept_new(love, rare), 1))
    if options.lists:
        exist = dict.fromkeys(read_word_list(options.lists / "exist.txt"))
        words = np.random.default_rng(0).permutation([word for word in rare if word in exist]).tolist()
        held, rest = words[: len(words) // 2], words[len(words) // 2 :]
        without = love.with_lexicon(sorted(exist.keys() - set(held)), replace=True)
        note("rare words", len(rest))
        note("rare words in the lexicon kept new", round(100 * kept_new(without, rest), 1))
        note("rare words held back from the lexicon kept new", round(100 * kept_new(without, held), 1))
    note("STS-B dev, tokens", right_words(love, sentences()))
    note("MARCO queries, tokens", right_words(love, queries()))
    note("company twins", twins_found(love))
    note("names, encode", names_found(lambda _: love.encode))
    note("names, fitted", names_found(lambda left: love.fitted(left).encode))
    note("names, with_words, fitted", names_found(lambda left: love.with_words(left).fitted(left).encode))
    options.output.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
