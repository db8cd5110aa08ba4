"""The pages of docs/results that show the paper's tables, from the JSON in docs/results/data.

A page is what `lovevec reproduce` would show for these scores, and behind it the words of docs/results/notes, if any.
claims.md sets the paper's claims against ours, README.md has the numbers that matter. A test checks that
each page in the repository is what its data gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from lovevec_lab.evaluate.context import context_tables, draw_context
from lovevec_lab.evaluate.languages import languages_table
from lovevec_lab.evaluate.match import match_table
from lovevec_lab.evaluate.results import Cell, Pictures, markdown
from lovevec_lab.evaluate.search import LEGEND as SEARCH_LEGEND
from lovevec_lab.evaluate.search import SearchScore, search_table
from lovevec_lab.reproduce import augmentation, bert, extrinsic, intrinsic, robustness
from lovevec_lab.reproduce.bench import CHAR_CNN, NEAR, TARGET, TASKS, WITH_LOVE, WITH_RECIPE
from lovevec_lab.reproduce.pages import OCR, TYPOS, mean, mean_over, standing
from lovevec_lab.reproduce.published import ABLATION, EXTRINSIC, INTRINSIC, ROBUSTNESS, SHRINK, SIMILARITY, TEMPERATURE
from lovevec_lab.reproduce.variants import ABLATION as ABLATED
from lovevec_lab.reproduce.variants import SHRINK as SHRUNK
from lovevec_lab.reproduce.variants import TEMPERATURE as TEMPERED
from lovevec_lab.reproduce.variants import numbers_of

SEARCH = """# Search

Is the right text found first, and when the query is mistyped? `{command}`.

autofj's sets M to Z, 28 pairs of tables of names (films, places, companies …), means over tables: a name of the right
table is the query, and the same thing's name in the left one is to be found among all there. The index was chosen on
the sets A to L, and on documents that are not shown here (`lab/runs/fusion.py`)."""
RESULTS = Path(__file__).parents[2] / "docs/results"
GLOVE = "glove840b-300d-34k"
OTHERS = {"googlenews-300d-52k": ("conll03", "bc2gm"), "glove6b-100d-100k": ("sst2",)}  # further targets
OVERVIEWED = (TARGET, "SymSpell", CHAR_CNN, WITH_LOVE, WITH_RECIPE, NEAR)
MADE = "<!-- made by lab/runs/pages.py from {files}: edit notes/, not this page -->"
COMMAND = (
    "python lab/runs/evaluation.py measure --target {target} --device cuda --jobs 15"
    " && python lab/runs/evaluation.py collect"
)
FINETUNED = (
    "RATES=3e-4,1e-4 TASKS=conll03,bc2gm lab/runs/transformers.sh gpu && python lab/runs/transformers_data.py results"
)
NOTED = """Words a second are of this run, beside fifteen other processes, by numpy: rough.
[runtime.md](runtime.md) has better ones."""

CLAIMS = """# The paper's claims, measured

Each claim is a difference of two numbers of the paper's tables; ours are on {target} where no other
target is named; the paper has fasttext-crawl-300d-2M. *A tie*: the difference is smaller than its standard deviation
over three seeds (0.5 where there is one model). *Reproduced*: it has the paper's sign. Of {count} claims: {summary}."""
LANGUAGES = """# Other languages

    lab/runs/languages.sh scores     # the first part: lovevec evaluate typos --language {codes} --rivals {rivals}
    lab/runs/languages.sh fr         # the second: a model, with its scores; ru and fi in the same way

## Misspellings, by words alone

All methods have wordfreq's most frequent words of a language for a dictionary, 80,000 where there are as many; a string
counts when it is not among them and its right word is. *LOVE, readings* learns from these words how words get
damaged, as training does; it sees no vectors. *Debian's dictionary*: the program with its own words and affixes of the
language, where Debian has them, which may know the string for a word of its own, and may not know the right one. Slips
and dropped marks are made here; MultiLexNorm2 (train) and RUSpellRU are what people wrote: there a right word may be a
slang word's standard form (`u` for you), which no spelling tells. A dash: there is no dictionary, or it was not run.
Hunspell is slow: with Debian's dictionaries it was run for de, pl and ru alone, and not at all for fi.
Some Russian rules of sound (-ццо for -ться, чорный) were added after the errors on RUSpellRU had been looked at, 1.7
points: take that figure as a little too kind."""
LANGUAGE_MODELS = """## The models of languages

`LOVE.load("fr")`, as shipped. New words are those that training did not see, by their spelling, among the words of
the target. *N-grams*: 131,072 rows of hashed n-grams of 3 to 6 characters, as in fastText, fitted to the same words by
least squares: 39 MB at 8 bits a number, where each of these models has 15 MB at most with everything in it. Seconds
are those of the clock, with one thread on a machine that was busy with much else: the processor took a minute."""
CONTEXT = """# Misspellings in running text

    {command}

What does the sentence add? `data/context` has paragraphs of Wikipedia and of books with realistic misspellings, and the
same without. Thresholds were chosen on lines 1, 3, 5, … (`--part dev`); what stands here is of the others. But λ and
the weight of frequent words, two numbers, were chosen on every second unknown word of all lines, and two recipes were
compared on all of them: take these figures as a little too kind. In
brackets 95 % intervals, lines drawn anew. *Words alone* is the same model without its model of context."""
IN_SENTENCES = """## A classifier and a tagger

    python lab/runs/in_sentences.py measure -o results --tasks sst2 --rates 0.001
    python lab/runs/in_sentences.py measure -o results --tasks conll03 --rates 0.001 --rows 2 --sentences 4000 --epochs 8
    python lab/runs/in_sentences.py collect -o results

GloVe (34k words) with the shipped default behind it. A CNN and a BiLSTM-CRF learn from clean text and meet the OCR
noise of [robustness.md](robustness.md), in so many per cent of the words. Damaged words are read *alone*, as on that
page; *in their sentences*; or alone as words of *running text*, where an unknown string is more often a misspelling.
Means of three seeds, ± their standard deviation; *gain* is that over *alone*, seed by seed."""  # noqa: E501
# Of autofj's sets M to Z: all sets by hand before there was `match`, what was asked for, and the aim.
MATCH_BARS = {"clean": (73.4, 74.5, 77.0), "mistyped": (72.2, 73.5, 75.5)}
SPEED = """## Speed

`python bench/search.py -o docs/results`: texts of eight words, queries of eight words of which 30 % are mistyped, each
way in a process of its own on {cores} cores ({machine}; {versions}).
Seconds to index; milliseconds of a query alone (median), and of one in a list; seconds and milliseconds of all cores
together beside them. The ratio is that of a query alone by its CPU time to the first way.
BM25 over words finds no word that is mistyped.

{table}

The index looks for what is near in meaning by sketches first. Of {compared:,} queries, mistyped ones and such of three
words, {same_first:,} had the same first text and {same_ten:,} the same ten as where every vector is compared."""
SPEED_HEADER = (
    "texts", "", "s to index", "CPU s", "ms, a query", "CPU ms", "ms, in a list", "CPU ms in a list", "ratio"
)  # fmt: skip
CONTEXT_BARS = {"wikidump": (59.5, 65, 68), "bookcorpus": (56.5, 64, 67)}  # first alone as the task had it, asked, aim
OVERVIEW = """# Results

What is left when words are damaged: original text / mean over OCR confusions in 10 to 90 % of the words / mean over 1
to 3 typos a sentence. Known words of {target}, or of the target named, keep their vectors; the columns differ in what
an unknown word gets.
Accuracy (SST2, MR) and entity F1 (CoNLL-03, BC2GM), x 100, three seeds each."""


def data_of(table: str, target: str = GLOVE) -> dict[str, Any]:
    """What was measured."""
    kept: dict[str, Any] = json.loads((RESULTS / "data" / f"{table}-{target}.json").read_text("utf-8"))
    return kept


def scores_of(table: str, target: str = GLOVE) -> dict[str, Any]:
    """The scores of a table."""
    scores: dict[str, Any] = data_of(table, target)["scores"]
    return scores


def downstream_of(methods: Sequence[str], target: str = GLOVE) -> dict[str, Any]:
    """The scores of downstream models, of these methods, in their order."""
    scores = in_order("downstream", methods, target)
    return {**scores, "tasks": list(OTHERS.get(target, TASKS)), "shares": [0, 10, 30, 50, 70, 90]}


class ResultPage(NamedTuple):
    """A page: its text, and pictures by file name."""

    text: str
    pictures: Pictures = MappingProxyType({})


def page_of(
    name: str,
    tables: Sequence[str],
    parts: Sequence[str],
    pictures: Pictures | None = None,
    command: str = COMMAND.format(target=GLOVE),
    about: str = NOTED,
) -> ResultPage:
    """The parts, the first with the page's title; where they come from; notes."""
    files = ", ".join(f"data/{table}.json" for table in tables)
    machine = json.loads((RESULTS / "data" / f"{tables[0]}.json").read_text("utf-8"))["machine"]
    first, *others = parts
    title, _, rest = first.partition("\n")
    notes = RESULTS / "notes" / f"{name}.md"
    measured = f"Measured on {machine}:\n\n    {command}"
    end = [notes.read_text("utf-8")] if notes.is_file() else []
    text = [MADE.format(files=files), title, measured, about, rest, *map(lower_headings, others), *end]
    return ResultPage("\n\n".join(part.strip() for part in text if part.strip()) + "\n", png(pictures or {}))


def lower_headings(part: str) -> str:
    """Its headings below the title of a page."""
    return re.sub("^#", "##", part, flags=re.MULTILINE)


def with_title(part: str, title: str) -> str:
    """Another title for a part."""
    return f"# {title}\n{part.partition(chr(10))[2]}"


def pages() -> dict[str, ResultPage]:
    """All pages by name."""
    swept = downstream_of(robustness.METHODS)
    variants = {"ablation": ABLATED, "shrink": SHRUNK, "temperature": TEMPERED, "augmentation": augmentation}
    pages_of_variants = [table.page(scores_of(name)) for name, table in variants.items()]
    tuned = json.loads((RESULTS / "data/transformers.json").read_text("utf-8"))["scores"]
    return {
        "intrinsic": page_of(
            "intrinsic",
            sources("intrinsic"),
            [
                intrinsic.page(in_order("intrinsic", intrinsic.METHODS)),
                *(with_title(intrinsic.page(in_order("intrinsic", intrinsic.METHODS, to)), to) for to in OTHERS),
            ],
        ),
        "extrinsic": page_of(
            "extrinsic",
            sources("downstream"),
            [
                extrinsic.page(downstream_of(extrinsic.METHODS)),
                *(with_title(extrinsic.page(downstream_of(extrinsic.METHODS, to)), to) for to in OTHERS),
            ],
        ),
        "robustness": page_of(
            "robustness",
            sources("downstream"),
            [
                robustness.page(swept),
                *(with_title(robustness.page(downstream_of(robustness.METHODS, to)), to) for to in OTHERS),
            ],
            robustness.pictures(swept),
        ),
        "ablation": page_of(
            "ablation",
            [f"{name}-{GLOVE}" for name in variants],
            pages_of_variants,
            augmentation.pictures(scores_of("augmentation")),
        ),
        "transformers": page_of(
            "transformers", ["transformers"], [bert.page(tuned)], bert.pictures(tuned), FINETUNED, ""
        ),
        "context": context_page(),
        "languages": languages_page(),
        "search": search_page(),
        "match": match_page(),
        "claims": ResultPage(claims_page()),
        "README": ResultPage(overview()),
    }


def languages_page() -> ResultPage:
    """Misspellings of many languages by words alone, and what is on the cards of their models."""
    measured = RESULTS / "data/languages.json"
    lead, table = LANGUAGES.format(codes="CODES", rivals="NAMES"), "Not measured yet."
    if measured.is_file():
        kept = json.loads(measured.read_text("utf-8"))
        settings = kept["settings"]
        lead = LANGUAGES.format(codes=",".join(settings["languages"]), rivals=",".join(settings["rivals"]))
        table = languages_table(kept["scores"])
    models = json.loads((RESULTS / "data/language-models.json").read_text("utf-8"))
    rows, similar, wrong = [], [], []
    for code, one in models.items():
        new = one["scores"]["new words"]
        about = [code, f"{one['words']:,}", f"{one['bytes'] / 1e6:.1f}", f"{one['seconds']:.0f}", f"{new['words']:,}"]
        numbers = [
            f"{new[name][key]:.{digits}f}" if name in new else "-"
            for key, digits in NEW_WORDS
            for name in ("LOVE", "n-grams")
        ]
        rows.append([*about, *numbers])
        if pairs := one["scores"]["similarity"]:
            shown = [
                f"{pairs[name]['spearman']:.1f} ({pairs[name]['low']:.1f}–{pairs[name]['high']:.1f})"
                if name in pairs
                else "-"
                for name in ("LOVE", "n-grams")
            ]
            similar.append([code, f"{pairs['pairs']:,}", *shown])
        for name, found in one["scores"]["misspellings"].items():
            wrong.append([code, name, f"{found['strings']:,}", f"{found['LOVE']:.1f}", _shown(found.get("SymSpell"))])
    heads = [f"{head}: {name}" for head in ("cosine", "top-1 %", "top-10 %") for name in ("model", "n-grams")]
    parts = [
        MADE.format(files="data/languages.json and data/language-models.json"),
        lead,
        table,
        LANGUAGE_MODELS,
        markdown(("", "words", "MB", "trained, s", "new words", *heads), rows),
        "Multi-SimLex, even pairs, Spearman x 100; *n-grams* here: the target's own vectors with n-grams behind them:",
        markdown(("", "pairs", "model", "n-grams"), similar),
        "Misspellings of the models' own words, the right one first, %:",
        markdown(("", "set", "strings", "model", "SymSpell"), wrong),
    ]
    return ResultPage("\n\n".join(part.strip() for part in parts) + "\n", {})


def _shown(number: float | None) -> str:
    return "-" if number is None else f"{number:.1f}"


NEW_WORDS = (("cosine", 3), ("top1", 1), ("top10", 1))


def context_page() -> ResultPage:
    """Misspellings in running text: bars, tables, the picture, notes."""
    kept = json.loads((RESULTS / "data/context.json").read_text("utf-8"))
    scores, settings = kept["scores"], kept["settings"]
    rivals = ",".join("jamspell:MODEL" if name == "jamspell" else name for name in settings["rivals"])
    command = f"lovevec evaluate context {' '.join(settings['models'])} --rivals {rivals} -o results --plot"
    rows = []
    for one in scores["unknown"]:
        if one["set"] in CONTEXT_BARS and one["letters"] == 1 and one["method"] == scores["unknown"][0]["method"]:
            before, asked, aim = CONTEXT_BARS[one["set"]]
            found = [f"{one[key]['percent']:.1f}" for key in ("alone_first", "first")]
            rows.append([one["set"], str(before), str(asked), str(aim), *found])
    bars = markdown(("right word first, %", "before", "asked", "aim", "here alone", "in its sentence"), rows)
    notes = (RESULTS / "notes/context.md").read_text("utf-8")
    picture = "![Precision over the share of errors that are corrected](context.png)"
    files = "data/context.json, data/in-sentences.json"
    parts = [MADE.format(files=files), CONTEXT.format(command=command), bars, context_tables(scores)]
    text = "\n\n".join(part.strip() for part in [*parts, picture, in_sentences_part(), notes]) + "\n"
    return ResultPage(text, {"context.png": partial(draw_context, scores)})


def in_sentences_part() -> str:
    """What the sentence adds for a classifier and a tagger: a table a task."""
    tasks = json.loads((RESULTS / "data/in-sentences.json").read_text("utf-8"))["scores"]
    parts = [IN_SENTENCES]
    for task, title in (("sst2", "SST2, accuracy"), ("conll03", "CoNLL-03, entity F1")):
        rows, settings = tasks[task]["rows"], tasks[task]["settings"]
        alone = [_damaged_mean(run) for run in rows["alone"]]
        cells = []
        for name, runs in rows.items():
            labels, means = list(runs[0]["test"]), [_damaged_mean(run) for run in runs]
            scores = [[run["test"][label] for run in runs] for label in labels]
            gains = [one - other for one, other in zip(means, alone, strict=True)]
            gain = "" if name == "alone" else f"{mean(gains):+.2f} ± {np.std(gains, ddof=1):.2f}"
            cells.append([name, *(f"{mean(some):.1f} ± {np.std(some, ddof=1):.1f}" for some in [*scores, means]), gain])
        sentences = f"{settings['sentences']:,} sentences" if settings["sentences"] else "all sentences"
        trained = f"{sentences}, {settings['epochs']} epochs, rate {', '.join(map(str, settings['rates']))}"
        header = ["words are read", *(label.removeprefix("ocr ") for label in labels), "mean of the damaged", "gain"]
        parts += [f"{title} ({trained}, {len(alone)} seeds)", markdown(header, cells)]
    return "\n\n".join(part.strip() for part in parts)


def _damaged_mean(run: Mapping[str, Any]) -> float:
    """The mean of a run's scores on damaged text."""
    return mean([score for label, score in run["test"].items() if label != "original"])


def search_page() -> ResultPage:
    """Search: the table, and notes."""
    kept = json.loads((RESULTS / "data/search.json").read_text("utf-8"))
    command = f"lovevec evaluate search {' '.join(kept['settings']['methods'])} -o results"
    notes = (RESULTS / "notes/search.md").read_text("utf-8")
    table = search_table([SearchScore(**one) for one in kept["scores"]]) + SEARCH_LEGEND
    made = MADE.format(files="data/search.json and data/search-speed.json")
    parts = [made, SEARCH.format(command=command), table, speed_of_search(), notes]
    return ResultPage("\n\n".join(part.strip() for part in parts) + "\n")


def match_page() -> ResultPage:
    """Records of two tables that are the same thing: bars, tables, notes."""
    kept = json.loads((RESULTS / "data/match.json").read_text("utf-8"))
    scores, settings = kept["scores"], kept["settings"]
    command = f"lovevec evaluate match --rivals {','.join(settings['rivals'])} -o results"
    own = {kind: next(iter(methods.values())) for kind, methods in scores.items()}
    rows = [[kind, *map(str, MATCH_BARS[kind]), f"{one['first']:.1f}"] for kind, one in own.items()]
    bars = markdown(("right record first, %", "by hand", "asked", "aim", "`match`"), rows)
    notes = (RESULTS / "notes/match.md").read_text("utf-8")
    title = f"# Records that are the same thing\n\nMeasured on autofj's sets M to Z:\n\n    {command}"
    parts = [MADE.format(files="data/match.json"), title, bars, match_table(scores, settings["asked"]), notes]
    return ResultPage("\n\n".join(part.strip() for part in parts) + "\n")


def speed_of_search() -> str:
    """What bench/search.py measured."""
    kept = json.loads((RESULTS / "data/search-speed.json").read_text("utf-8"))
    first = {row["texts"]: row["query_cpu_ms"] for row in reversed(kept["rows"])}  # of the first way
    cells: list[list[Cell]] = [
        [
            f"{row['texts']:,}",
            row["way"],
            *(f"{row[f'{name}_s']:.1f}" for name in ("index", "index_cpu")),
            *(f"{row[f'{name}_ms']:.2f}" for name in ("query", "query_cpu", "list", "list_cpu")),
            f"{row['query_cpu_ms'] / first[row['texts']]:.2f}",
        ]
        for row in kept["rows"]
    ]
    versions = ", ".join(f"{name} {own}" for name, own in kept["versions"].items())
    table = markdown(SPEED_HEADER, cells).strip()
    sums = {name: sum(row.get(name, 0) for row in kept["rows"]) for name in ("compared", "same_first", "same_ten")}
    return SPEED.format(**sums, machine=kept["machine"], cores=kept["cores"], versions=versions, table=table)


def sources(table: str) -> list[str]:
    """The files of a table for all targets."""
    return [f"{table}-{target}" for target in (GLOVE, *OTHERS)]


def in_order(table: str, methods: Sequence[str], target: str = GLOVE) -> dict[str, Any]:
    """The scores with the methods in the table's order."""
    scores = scores_of(table, target)
    return {**scores, "methods": {name: scores["methods"][name] for name in methods if name in scores["methods"]}}


def png(pictures: Pictures) -> Pictures:
    """Pages show one kind of each picture."""
    return {name: draw for name, draw in pictures.items() if name.endswith(".png")}


class Claim(NamedTuple):
    """What the paper says, by how much there and here; `noise` is what ours may be off."""

    text: str
    theirs: float
    ours: float
    noise: float
    shown: str

    @property
    def verdict(self) -> str:
        """Reproduced where the difference has the paper's sign and is larger than the noise."""
        if abs(self.ours) <= self.noise:
            return "a tie here"
        return "reproduced" if (self.ours > 0) == (self.theirs > 0) else "**not reproduced**"


def difference(text: str, theirs: float, one: Sequence[float], other: Sequence[float]) -> Claim:
    """That one is better than the other; numbers of seeds on both sides."""
    noise = float(np.hypot(*(np.std(side, ddof=1) if len(side) > 1 else 0.5 for side in (one, other))))
    return Claim(text, theirs, mean(one) - mean(other), noise, f"{mean(one):.1f} and {mean(other):.1f}")


def claims() -> list[Claim]:
    """The paper's claims that its tables hold, each a difference of two numbers."""
    return [*_similarity_claims(), *_downstream_claims(), *_variant_claims()]


def _similarity_claims() -> list[Claim]:
    ours = {name: [entry["similarity"]["mean"]] for name, entry in scores_of("intrinsic")["methods"].items()}
    theirs = {name: mean([float(x) for x in row[2 : 2 + len(SIMILARITY)]]) for name, row in INTRINSIC.items()}
    return [
        difference(
            f"Similarity, six sets: LOVE against {name}", theirs["LOVE"] - theirs[name], ours["LOVE"], ours[name]
        )
        for name in ("BoS", "KVQ-FH", "MIMICK")
    ]


def _test(method: str, task: str, label: str) -> tuple[float, float]:
    score = scores_of("downstream")["methods"][method]["tasks"][task]
    return float(score["test"][label]), float(score["spread"][label])


def _claim(text: str, theirs: float, one: tuple[float, float], other: tuple[float, float]) -> Claim:
    return Claim(text, theirs, one[0] - other[0], float(np.hypot(one[1], other[1])), f"{one[0]:.1f} and {other[0]:.1f}")


def _downstream_claims() -> list[Claim]:
    found = []
    for task, title in extrinsic.TITLES.items():
        for place, (label, text) in enumerate(zip(extrinsic.SHOWN, ("original", "70 % damaged"), strict=True)):
            for rival in ("BoS", "KVQ-FH"):
                theirs = [EXTRINSIC[name][task][place] for name in ("LOVE", rival)]
                sides = [_test(name, task, label) for name in ("LOVE", rival)]
                found.append(_claim(f"{title}, {text}: LOVE against {rival}", theirs[0] - theirs[1], *sides))  # type: ignore[operator]
    for target, task in (
        (GLOVE, "sst2"),
        ("glove6b-100d-100k", "sst2"),
        (GLOVE, "conll03"),
        ("googlenews-300d-52k", "conll03"),
    ):
        entries = scores_of("downstream", target)["methods"]
        ours = [mean_over(entries[name]["tasks"][task], OCR) for name in (WITH_LOVE, TARGET)]
        gain = mean(ROBUSTNESS[WITH_LOVE][task]) - mean(ROBUSTNESS[TARGET][task])
        title = extrinsic.TITLES[task] + ("" if target == GLOVE else f" with {target}")
        text = f"{title}, mean of the sweep: target + LOVE against the target"
        found.append(Claim(text, gain, ours[0] - ours[1], 0.5, f"{ours[0]:.1f} and {ours[1]:.1f}"))
    return found


def _variant_claims() -> list[Claim]:
    found = []
    sides = scores_of("ablation")["variants"]
    for name in ("characters only", "pieces only", "CNN", "RNN", "self-attention", "MSE", "no hard negatives"):
        for column, place in (("RareWord", 0), ("SST2", 1)):
            theirs = ABLATION["LOVE"][place] - ABLATION[name][place]
            numbers = [numbers_of(sides[one]["seeds"], column) for one in ("LOVE", name)]
            found.append(difference(f"{column}: LOVE against LOVE with *{name}*", theirs, *numbers))
    shrunk = scores_of("shrink")["variants"]
    for name in ("factor", "top", "hash"):
        numbers = [numbers_of(shrunk[one]["seeds"], "RareWord") for one in ("stem", name)]
        found.append(difference(f"RareWord: stemming against *{name}*", SHRINK["stem"][0] - SHRINK[name][0], *numbers))
    warm = scores_of("temperature")["variants"]
    for value in (0.03, 0.5):
        numbers = [numbers_of(warm[f"τ = {one:g}"]["seeds"], "RareWord") for one in (0.07, value)]
        theirs = TEMPERATURE[0.07][0] - TEMPERATURE[value][0]
        found.append(difference(f"RareWord: τ = 0.07 against τ = {value:g}", theirs, *numbers))
    return found


def claims_page() -> str:
    """The table of claims."""
    listed = claims()
    rows = [[one.text, f"{one.theirs:+.1f}", f"{one.ours:+.1f}", one.shown, one.verdict] for one in listed]
    count = {
        verdict: sum(one.verdict == verdict for one in listed) for verdict in dict.fromkeys(c.verdict for c in listed)
    }
    summary = ", ".join(f"{number} {verdict.strip('*')}" for verdict, number in count.items())
    notes = (RESULTS / "notes/claims.md").read_text("utf-8")
    head = CLAIMS.format(target=GLOVE, count=len(listed), summary=summary)
    table = markdown(("claim", "in the paper", "here", "our two numbers", "verdict"), rows)
    return "\n\n".join([MADE.format(files="data/*.json"), head, table.strip(), notes.strip()]) + "\n"


def overview() -> str:
    """One screen: the numbers that matter, and where the rest is."""
    rows, where = [], []
    for target in (GLOVE, *OTHERS):
        scores = downstream_of(robustness.METHODS, target)
        for task in scores["tasks"]:
            known = extrinsic.rows_of(scores, task)
            title = extrinsic.TITLES[task] + ("" if target == GLOVE else f", {target.split('-')[0]}")
            rows.append([title, *(_three(known.get(name)) for name in OVERVIEWED)])
            first, within, behind = standing(known, NEAR, [*OCR[1:], *TYPOS[1:]])
            where.append(f"{title} {first}, {within}, {len(behind)}")
    table = markdown(("", "zeros", "SymSpell", "CharCNN", "LOVE, the paper's", "LOVE, our recipe", NEAR), rows)
    notes = (RESULTS / "notes/README.md").read_text("utf-8")
    lead = OVERVIEW.format(target=GLOVE)
    places = (
        f"In how many of the 8 damaged columns {NEAR} is first, level with the first, behind it: {'; '.join(where)}."
    )
    return "\n\n".join([MADE.format(files="data/*.json"), lead, table.strip(), places, notes.strip()]) + "\n"


def _three(score: dict[str, Any] | None) -> str:
    """Original text / mean over OCR confusions / mean over typos."""
    if score is None:
        return "-"
    return f"{score['test'][OCR[0]]:.1f} / {mean_over(score, OCR[1:]):.1f} / {mean_over(score, TYPOS[1:]):.1f}"


def main() -> None:
    """Write all pages."""
    for name, page in pages().items():
        (RESULTS / f"{name}.md").write_text(page.text, "utf-8")
        for file, draw in page.pictures.items():
            draw(RESULTS / file)
        print(f"{name}.md" + "".join(f", {file}" for file in page.pictures))


if __name__ == "__main__":
    main()
