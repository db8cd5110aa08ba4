"""How long is one call? Each of LOVE's verbs, beside symspellpy, fastText, model2vec and spaCy's own vectors.

    python bench/latency.py                                # three minutes or so; docs/results/latency.md
    python bench/latency.py --rounds 2 --calls 20 --results /tmp/latency     # a try
    python bench/latency.py --page                         # the page from the data that is there, nothing else

    pip install --target /tmp/rivals --no-deps fasttext-numpy2 && PYTHONPATH=/tmp/rivals python bench/latency.py

The last is how fastText comes in (bench/engines.py trains its model of 2M buckets: 5 GB of memory); a rival that is not
installed is left out, and the page says so. Lists: bench/near.py, bench/engines.py (words), bench/texts.py (texts).

All ways have their turn in every round, a call after the other, each with a string of its own: a known word, a
misspelling as damage/misspell.py makes them, a new word (halves of two known ones, and runs of random letters, in
turns), a text of known words by Zipf's law, some of them misspelled. No string comes again in a later round, so what
is remembered helps none. A way that is slow has fewer calls: a round gives each half a second.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from engines import word_vector_of_fasttext
from latency_results import write_page, write_results
from near import misspellings
from serve_results import RESULTS, about
from startup import COMMANDS, INSIDE, inside, whole
from texts import known_texts, rival_model

from lovevec import LOVE
from lovevec_lab.methods.symspell import SymSpellDictionary

KNOWN, MISSPELLED, NEW = "known word", "misspelling", "new word"
CLEAN, MISTYPED = "10 words", "10 words, 2 misspelled"
DOCUMENT, LOOP_WORDS = "20 words, 3 misspelled", 2000
LOOP = f"{LOOP_WORDS:,} misspellings"
TABLE_ROWS = 20_000  # known words of a table that somebody else might have
SECONDS = 0.5  # of a way in a round, at most; one call at least
LETTERS = list("abcdefghijklmnopqrstuvwxyz")
SPACY = "spaCy's own"


class Way(NamedTuple):
    """A call: what it is named on the page, on which strings, what runs; µs that are asked, over those of a rival where
    one is named."""

    call: str
    of: str
    run: Callable[[Any], object]
    asked_us: int | None = None
    over: str | None = None
    rival: bool = False


def new_words(words: Sequence[str], count: int, rng: np.random.Generator) -> list[str]:
    """Halves of two words, and runs of random letters, in turns."""
    heads, tails = ([words[row] for row in rng.integers(0, len(words), count).tolist()] for _ in range(2))
    letters = [rng.choice(LETTERS, size).tolist() for size in rng.integers(5, 11, count).tolist()]
    joined = (head[: len(head) // 2 + 1] + tail[len(tail) // 2 :] for head, tail in zip(heads, tails, strict=True))
    return [word for pair in zip(joined, map("".join, letters), strict=True) for word in pair]


def misspell_some(texts: list[list[str]], slips: list[str], each: int, rng: np.random.Generator) -> list[str]:
    """The texts with `each` of their words in the place of which a misspelling stands."""
    for number, text in enumerate(texts):
        for place, slip in zip(rng.permutation(len(text)), slips[number * each :][:each], strict=False):
            text[place] = slip
    return list(map(" ".join, texts))


def strings_of(love: LOVE, calls: int, seed: int) -> dict[str, list[Any]]:
    """Strings of each kind, other ones for another seed."""
    rng = np.random.default_rng(seed)
    slips = misspellings(love, 6 * calls + LOOP_WORDS, seed)
    plain = [word for word in love.words if word.isalpha() and len(word) > 3]
    clean, mistyped = (known_texts(love.words, calls, 10, number) for number in (2 * seed, 2 * seed + 1))
    documents = known_texts(plain[: TABLE_ROWS // 2], calls, 20, seed)
    return {
        KNOWN: [love.words[row] for row in rng.permutation(len(love))[:calls].tolist()],
        MISSPELLED: slips[:calls],
        NEW: [word for word in new_words(plain, calls, rng) if word not in love][:calls],
        CLEAN: list(map(" ".join, clean)),
        MISTYPED: misspell_some(mistyped, slips[calls : 3 * calls], 2, rng),
        DOCUMENT: misspell_some(documents, slips[3 * calls : 6 * calls], 3, rng),
        LOOP: [slips[6 * calls :]],
    }


def each(run: Callable[[str], object]) -> Callable[[Sequence[str]], None]:
    """The loop that people write."""

    def loop(words: Sequence[str]) -> None:
        for word in words:
            run(word)

    return loop


def other_table(love: LOVE) -> tuple[list[str], np.ndarray]:
    """The most frequent words with their rows, turned into another space."""
    words = list(love.words[:TABLE_ROWS])
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(love.dim, love.dim)))[0].astype(np.float32)
    return words, love.embed(words) @ turn


def spacy_ways(love: LOVE) -> list[Way]:
    """`nlp(text).vector`: of a blank pipeline with a table, of the same with LOVE behind it, and of LOVE alone."""
    import spacy
    from spacy.vectors import Vectors

    from lovevec.plugins.spacy import attach

    words, rows = other_table(love)

    def with_table() -> Any:
        nlp = spacy.blank("en")
        for word in words:
            nlp.vocab.strings.add(word)
        nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=rows, keys=words)
        return nlp

    own, attached, alone = with_table(), attach(with_table(), love), attach(spacy.blank("en"), love)
    return [
        Way("`attach(spacy.blank(…))`", DOCUMENT, lambda text: alone(text).vector, 1000, SPACY),
        Way(
            f"`attach(nlp)`, nlp with {TABLE_ROWS:,} vectors", DOCUMENT, lambda text: attached(text).vector, 1000, SPACY
        ),
        Way(SPACY, DOCUMENT, lambda text: own(text).vector, rival=True),
    ]


def fasttext_ways(love: LOVE) -> list[Way]:
    """`get_word_vector`, word by word."""
    with tempfile.TemporaryDirectory() as folder:
        return ways_by_word("fastText", word_vector_of_fasttext(love.words, Path(folder)))


def ways_by_word(name: str, run: Callable[[str], object]) -> list[Way]:
    """A rival, one word at a time and in a loop."""
    one = [Way(name, of, run, rival=True) for of in (KNOWN, MISSPELLED, NEW)]
    return [*one, Way(name, LOOP, each(run), rival=True)]


def installed(make: Callable[[LOVE], list[Way]], love: LOVE, name: str, missing: list[str]) -> list[Way]:
    """The ways of a rival; none where it is not installed."""
    try:
        return make(love)
    except ImportError:
        missing.append(name)
        return []


def ways_of(love: LOVE, model2vec: str | None, missing: list[str]) -> dict[str, list[Way]]:
    """All ways, by the table that they stand in."""
    compiled, by_numpy = LOVE.load(engine="compiled"), LOVE.load(engine="numpy")
    by_spelling, robust = LOVE.load(spelling_only=True), love.attach(other_table(love))
    by_word = ways_by_word("symspellpy", SymSpellDictionary(love.words).correct)
    by_word += installed(fasttext_ways, love, "fastText", missing)
    rival = rival_model(model2vec)
    tables = {
        "Words": [
            Way("`love[word]`", KNOWN, compiled.__getitem__, 5),
            Way("`love[word]`", MISSPELLED, compiled.__getitem__, 100),
            Way("`love[word]`", NEW, compiled.__getitem__, 100),
            Way('… engine="numpy"', KNOWN, by_numpy.__getitem__),
            Way('… engine="numpy"', MISSPELLED, by_numpy.__getitem__, 1500),
            Way('… engine="numpy"', NEW, by_numpy.__getitem__, 1500),
            *(way for way in by_word if way.of != LOOP),
            Way("`love.impute(word)`", MISSPELLED, compiled.impute),
            Way("`LOVE.load(spelling_only=True)[word]`", MISSPELLED, by_spelling.__getitem__),
            Way("`love.attach(vectors)[word]`", MISSPELLED, robust.__getitem__),
            Way("`love.attach(vectors)[word]`", NEW, robust.__getitem__),
            Way("`love.embed(word)`", MISSPELLED, compiled.embed),
            Way("`love.lookup(word).vectors`", MISSPELLED, lambda word: compiled.lookup(word).vectors),
            Way("`word in love`", MISSPELLED, compiled.__contains__),
            Way("`love.near(word)`", MISSPELLED, compiled.near),
            Way("`love.readings(word)`", MISSPELLED, compiled.readings),
            Way("`love.confidence(word)`", MISSPELLED, compiled.confidence),
            Way('`love.similar(word, "water")`', MISSPELLED, lambda word: compiled.similar(word, "water")),
            Way("`love.neighbors(word)`", MISSPELLED, compiled.neighbors),
            Way('`love.analogy("man", "king", word)`', MISSPELLED, lambda word: compiled.analogy("man", "king", word)),
            Way("`love.explain(word)`", MISSPELLED, compiled.explain),
        ],
        "Texts": [
            Way("`love.encode(text)`", CLEAN, compiled.encode, 40),
            Way("`love.encode(text)`", MISTYPED, compiled.encode, 250),
            *(Way("model2vec", of, rival.encode, rival=True) for of in (CLEAN, MISTYPED)),
            Way("`love.tokens(text)`", MISTYPED, compiled.tokens),
        ],
        "A document of spaCy, `nlp(text).vector`": installed(spacy_ways, love, "spaCy", missing),
        "A loop, `for word in words: love[word]`": [
            Way("`love[word]`", LOOP, each(compiled.__getitem__)),
            *(way for way in by_word if way.of == LOOP),
        ],
    }
    return {name: ways for name, ways in tables.items() if ways}


def seconds_of(run: Callable[[Any], object], strings: Sequence[Any]) -> list[float]:
    """Of each call, until the time of a round is over."""
    taken, end = [], time.perf_counter() + SECONDS
    for string in strings:
        start = time.perf_counter()
        run(string)
        done = time.perf_counter()
        taken.append(done - start)
        if done > end:
            break
    return taken


def measure_calls(tables: dict[str, list[Way]], love: LOVE, rounds: int, calls: int) -> dict[str, Any]:
    """All ways in turn, in each round; µs."""
    ways = [way for table in tables.values() for way in table]
    taken: list[list[list[float]]] = [[] for _ in ways]
    strings = strings_of(love, 3, rounds)
    for way in ways:
        seconds_of(way.run, strings[way.of])  # what the first call builds
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        strings = strings_of(love, calls, number)
        for place in np.random.default_rng(number).permutation(len(ways)).tolist():
            taken[place].append(seconds_of(ways[place].run, strings[ways[place].of]))
    rows = iter(map(summary, ways, taken))
    return {name: [next(rows) for _ in table] for name, table in tables.items()}


def summary(way: Way, taken: list[list[float]]) -> dict[str, Any]:
    """Of all calls, and the median of each round."""
    together = [1e6 * seconds for some in taken for seconds in some]
    return {
        "call": way.call,
        "of": way.of,
        "rival": way.rival,
        "asked_us": way.asked_us,
        "over": way.over,
        "calls": len(together),
        "median_us": round(statistics.median(together), 3),
        "p99_us": round(float(np.quantile(together, 0.99)), 3),
        "rounds_us": [round(1e6 * statistics.median(some), 3) for some in taken],
    }


def measure_processes(runs: int) -> list[dict[str, Any]]:
    """Fresh processes in turn: ms, MB at most."""
    first, command = "first unknown word after LOVE.load()", "lovevec near of one word"
    inner, outer = [], []
    for _ in range(runs):
        inner.append(1e3 * inside(*INSIDE[first]))
        outer.append(whole(COMMANDS[command]))
    seconds, memory = zip(*outer, strict=True)
    return [
        {"what": first.replace("LOVE.load()", "`LOVE.load()`"), "unit": "ms", "asked": 60, "values": inner},
        {"what": "`lovevec near WORD`", "unit": "ms", "asked": 250, "values": [1e3 * one for one in seconds]},
        {"what": "… memory at most", "unit": "MB", "asked": 90, "values": list(memory)},
    ]


def main() -> None:
    """Measure, write, print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--calls", type=int, default=200, help="of a way in a round, at most (default 200)")
    parser.add_argument("--model2vec", metavar="FOLDER", help="its model (default: one of LOVE's own words and rows)")
    parser.add_argument("--page", action="store_true", help="write the page from the data that is there, nothing else")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where data/ and the page are")
    options = parser.parse_args()
    if options.page:
        write_page(options.results)
        return
    found = {**about(), "rounds": options.rounds, "missing": []}
    found["processes"] = measure_processes(options.rounds)
    love = LOVE.load()
    tables = ways_of(love, options.model2vec, found["missing"])
    found["calls"] = measure_calls(tables, love, options.rounds, options.calls)
    write_results(options.results, found)
    print((options.results / "latency.md").read_text("utf-8"))


if __name__ == "__main__":
    main()
