"""Vectors of whole texts, clean and damaged: are alike sentences near, does a mistyped query find its own clean form?

pairs     Spearman's ρ of cosine and human score (STS-B, or an own .csv or .tsv: sentence, sentence, score)
queries   how often the nearest of all clean texts is a damaged one's own, in per cent (MS MARCO, or an own file with a
          text a line)

A noise is `clean`, or KIND:PERCENT of the words (`typo:30`, `ocr:10`: damage/noise.py). `typo` hits words of five
letters or more; without a number it is the set's own typos where it has such, as MS MARCO has. Every encoder meets the
same damage. The file is long because a task is one place: its data, noises, scores, speeds, table and picture.

>>> texts(["default", "symspell+potion-base-8M", "potion-base-8M+robust"], sets=["stsb", "marco"]).markdown()
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.damage.noise import NOISE_KINDS, Noise, damaged_texts
from lovevec.errors import FormatError, LovevecError, Parameter
from lovevec.files.lines import filled_lines, lines_of
from lovevec.progress import Progress
from lovevec.vectors.rows import normalized
from lovevec_lab.evaluate.comparison import Folder, as_list, refuse_less_than_one, refuse_namesakes, without_folders
from lovevec_lab.evaluate.datasets import data_folder, digest_of, find_or_own, known_set, read_several
from lovevec_lab.evaluate.results import Cell, Result, markdown, refuse_bad_folder
from lovevec_lab.evaluate.similarity import DIGITS, QUICK_RESAMPLES, GoldPairs, gold_pairs
from lovevec_lab.evaluate.speed import QUICK_REPEATS, REPEATS, SAMPLE_WORDS, seconds_for
from lovevec_lab.evaluate.statistics import RESAMPLES, bootstrap, interval, spearman, spearman_draws
from lovevec_lab.evaluate.text_encoders import BenchmarkEncoder, encoders_of
from lovevec_lab.figures.curves import curve_panels, curves

SETS = ("stsb", "marco")
CLEAN, OWN = "clean", "typo"
PERCENT = 30  # of the words, where a noise has no number
SHARES = (0, 10, 20, 30, 50)  # of the picture
QUICK_ITEMS = 200
QUERIES_PER_BATCH = 1024  # x 6,980 cosines are 57 MB
PAIRS_ENDS = (".csv", ".tsv")
TITLE, X_LABEL = "Vectors of mistyped texts", "words of five letters or more with a typo, in per cent"
LEGEND = """
Pairs: Spearman's ρ x 100 of cosine and human score. Queries: how often, in per cent, the nearest of all clean texts is
the own. MB: of the encoder's files. Texts a second: of {name}, clean and with typos in {percent} % of the longer words,
speller included: the median of {repeats} parts that the encoder has not met before.
"""

Floats = NDArray[np.float64]


def sentence_pairs(name_or_path: str, data: Path | None = None) -> GoldPairs:
    """stsb (its dev part), stsb-train, or an own file: .csv, or with any other ending tabs between."""
    listed, (path,) = find_or_own(name_or_path, "sts", data)
    name = listed.name if listed else path.stem
    if path.suffix.lower() == ".csv":
        return gold_pairs(name, path, _csv_rows(path), item="sentence", between="commas")
    rows = ((number, line.split("\t")) for number, line in filled_lines(path))
    return gold_pairs(name, path, rows, item="sentence")


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(number of its last line, cells) of each row that holds something."""
    rows = csv.reader((f"{line}\n" for line in lines_of(path)), strict=True)
    try:
        for cells in rows:
            if any(cell.strip() for cell in cells):
                yield rows.line_num, cells
    except csv.Error as error:
        raise FormatError(path, f"is no CSV ({error})", rows.line_num) from None


@dataclass(frozen=True)
class Queries:
    """Texts to be found again among all, and `mistyped` the same with real typos, where the set has such."""

    name: str
    clean: list[str]
    mistyped: list[str] | None = None
    digest: str = ""


def queries(name_or_path: str, data: Path | None = None) -> Queries:
    """marco (number, query), or an own file with a text a line."""
    listed, files = find_or_own(name_or_path, "queries", data)
    if listed is None:
        clean = [line.strip() for _, line in filled_lines(files[0])]
        if len(set(clean)) < 2:
            raise FormatError(files[0], "all texts are the same; nothing to tell apart")
        return Queries(files[0].stem, clean, None, digest_of(files))
    numbered, mistyped = (_read_queries(file) for file in files)
    for number in numbered:
        if number not in mistyped:
            raise FormatError(files[1], f"has no query {number}, which {files[0].name} has")
    return Queries(listed.name, list(numbered.values()), [mistyped[number] for number in numbered], digest_of(files))


def _read_queries(path: Path) -> dict[str, str]:
    found = {}
    for number, line in filled_lines(path):
        key, _, text = line.partition("\t")
        if not text.strip():
            raise FormatError(path, f"number and query with a tab between expected, not {line[:60]!r}", number)
        found[key.strip()] = text.strip()
    return found


TextSet = GoldPairs | Queries


@dataclass(frozen=True, eq=False)
class TextTrial:
    """A set under a noise. With `gold` texts i of both sides are a pair; without, `one[i]` is to find `other[i]`."""

    name: str
    noise: str
    one: list[str]
    other: list[str]
    gold: Floats | None = None


@dataclass(frozen=True)
class TextScore:
    """ρ x 100 of pairs, or the per cent of queries that found their own, with its 95 % interval."""

    name: str
    noise: str
    pairs: bool
    items: int
    score: float
    low: float
    high: float


@dataclass(frozen=True)
class EncoderScores:
    """What was measured of one encoder; `curve` is for the picture, a score for each set and share of typos."""

    encoder: str
    front: str
    megabytes: float | None
    texts_per_second: float
    mistyped_per_second: float
    scores: list[TextScore]
    curve: list[TextScore]


def texts(
    encoders: Any = (),
    sets: Sequence[str] | None = None,
    *,
    noises: Sequence[str] | str | None = None,
    speller: str = "",
    robust: bool = False,
    plot: bool = False,
    resamples: int | None = None,
    device: str = "auto",
    seed: int = 0,
    quick: bool = False,
    data: Folder | None = None,
    keep: Folder | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score encoders of texts (names, folders, objects with `encode`: text_encoders.py) on sets of pairs and queries,
    by default STS-B's dev part and MS MARCO, or own files.

    `noises` are as above (by default pairs are measured clean and at `typo:30`, queries by their own typos or
    `typo:30`); `speller` (symspell, aspell) and `robust` add a row for each encoder behind that speller, and with LOVE
    inside where it can have it. `plot` also measures what the picture shows: scores at 0 to 50 % of typos.
    """
    if keep is not None:
        refuse_bad_folder(keep)
    progress = progress or Progress(quiet=True)
    refuse_less_than_one(resamples=resamples)
    if not isinstance(seed, int) or seed < 0:
        raise LovevecError(f"{Parameter('seed', repr(seed))}: a whole number from 0 up expected")
    resamples = resamples or (QUICK_RESAMPLES if quick else RESAMPLES)
    wanted = None if noises is None else [parse_noise(noise) for noise in as_list(noises)]
    chosen: list[TextSet] = [
        first_items(one) if quick else one for one in read_several(read_set, sets or SETS, data_folder(data))
    ]
    lined_up = encoders_of(encoders, speller, robust, device)
    refuse_namesakes([encoder.name for encoder in lined_up])
    tried = [trial(one, noise, seed) for one in chosen for noise in (wanted or default_noises(one))]
    trials = list({(each.name, each.noise): each for each in tried}.values())  # typo may be typo:30
    shown = [trial(one, Noise("typo", share / 100), seed) for one in chosen for share in SHARES] if plot else []
    timed = next((one for one in chosen if isinstance(one, GoldPairs)), chosen[0])
    sentences = [*chain(*zip(timed.left, timed.right, strict=True))] if isinstance(timed, GoldPairs) else timed.clean
    mistyped = damaged_texts(sentences, Noise(OWN, PERCENT / 100), seed)
    repeats = QUICK_REPEATS if quick else REPEATS
    scores = []
    for encoder in lined_up:
        with progress.phase(f"timing {encoder.name}"):  # first, while its texts are new to the encoder
            speeds = texts_per_second(encoder, sentences, mistyped, repeats)
        with progress.phase(f"scoring {encoder.name}"):
            made = score_texts(encoder, [*trials, *shown], resamples, seed)
        parts = made[: len(trials)], made[len(trials) :]
        scores.append(EncoderScores(encoder.name, encoder.front, encoder.megabytes, *speeds, *parts))
    settings = {
        "encoders": [without_folders(source) for source in as_list(encoders)],
        "speller": speller,
        "robust": robust,
        "sets": {one.name: one.digest for one in chosen},
        "noises": None if noises is None else [str(noise) for noise in as_list(noises)],
        "resamples": resamples,
        "seed": seed,
        "quick": quick,
    }
    legend = LEGEND.format(name=timed.name, percent=PERCENT, repeats=repeats)
    pictures = {"texts.png": partial(draw_texts, scores)} if plot else {}
    return Result(
        "texts", settings, [asdict(score) for score in scores], texts_table(scores, legend, resamples), pictures
    )


def read_set(name: str, data: Path) -> TextSet:
    """A set by its name; an own file of pairs if it ends in .csv or .tsv, of texts if not."""
    if known_set(name, "queries"):
        return queries(name, data)
    if known_set(name, "sts") or Path(name).suffix.lower() in PAIRS_ENDS:
        return sentence_pairs(name, data)
    if not Path(name).is_file():
        raise LovevecError(f"{name:.200}: no such file, nor one of the sets stsb, stsb-train, marco")
    return queries(name, data)


def first_items(one: TextSet, items: int = QUICK_ITEMS) -> TextSet:
    """The first of its pairs or queries."""
    if isinstance(one, GoldPairs):
        return GoldPairs(one.name, one.left[:items], one.right[:items], one.gold[:items], one.digest)
    return Queries(one.name, one.clean[:items], one.mistyped and one.mistyped[:items], one.digest)


def parse_noise(text: str | Noise) -> Noise | None:
    """`clean`, `ocr:30`; a kind alone has 30 %, and None is `typo` alone, of which a set may have its own."""
    if isinstance(text, Noise):
        return text
    kind, colon, number = str(text).strip().partition(":")
    if kind == CLEAN and not colon:
        return Noise()
    if kind not in NOISE_KINDS:
        raise LovevecError(
            f"{Parameter('noise', text)}: known are {CLEAN} and KIND:PERCENT, of the kinds {', '.join(NOISE_KINDS)}"
        )
    if kind == OWN and not colon:
        return None
    try:
        percent = float(number) if colon else float(PERCENT)
    except ValueError:
        percent = -1
    if not 0 <= percent <= 100:
        raise LovevecError(
            f"{Parameter('noise', text)}: per cent of the words expected behind the colon, as in {kind}:{PERCENT}"
        )
    return Noise(kind, percent / 100)


def default_noises(one: TextSet) -> list[Noise | None]:
    """Pairs as they are and mistyped; queries mistyped, since a clean one finds itself."""
    return [Noise(), None] if isinstance(one, GoldPairs) else [None]


def trial(one: TextSet, noise: Noise | None, seed: int) -> TextTrial:
    """The set with that damage, None for its own typos (30 % where it has none); of a pair each side has its own."""
    if noise is None and isinstance(one, Queries) and one.mistyped is not None:
        return TextTrial(one.name, "its own typos", one.mistyped, one.clean)
    noise = noise or Noise(OWN, PERCENT / 100)
    label = noise.label if noise.share or noise.per_sentence else CLEAN
    if isinstance(one, GoldPairs):
        left, right = damaged_texts(one.left, noise, seed), damaged_texts(one.right, noise, seed + 1)
        return TextTrial(one.name, label, left, right, one.gold)
    return TextTrial(one.name, label, damaged_texts(one.clean, noise, seed), one.clean)


def score_texts(
    encoder: BenchmarkEncoder, trials: Sequence[TextTrial], resamples: int = RESAMPLES, seed: int = 0
) -> list[TextScore]:
    """A score for each trial; one call of the encoder embeds the texts of all."""
    if not trials:
        raise LovevecError("texts: no sets to score on")
    rows = {text: row for row, text in enumerate(dict.fromkeys(t for each in trials for t in (*each.one, *each.other)))}
    vectors = unit_vectors(encoder, list(rows))
    scores = []
    for tried in trials:
        one, other = (vectors[[rows[text] for text in side]] for side in (tried.one, tried.other))
        if tried.gold is not None:
            cosine = np.einsum("ij,ij->i", one, other).round(DIGITS)
            mean, drawn = spearman(cosine, tried.gold), spearman_draws(cosine, tried.gold, resamples, seed)
        else:
            found = retrieval_hits(one, other, tried.other).astype(np.float64)
            mean, drawn = float(found.mean()), _mean_draws(found, resamples, seed)
        low, high = interval(100 * drawn)
        scores.append(TextScore(tried.name, tried.noise, tried.gold is not None, len(one), 100 * mean, low, high))
    return scores


def texts_per_second(
    encoder: BenchmarkEncoder, clean: Sequence[str], mistyped: Sequence[str], repeats: int = REPEATS
) -> tuple[float, float]:
    """Of clean and of mistyped texts: after a warm-up the medians of so many parts, in turn, each met for the first
    time. Encoders may remember words: the same texts once more would cost next to nothing."""
    size = min(SAMPLE_WORDS, max(1, len(clean) // (2 * repeats + 1)))
    seconds_for(encoder.encode, clean[:size])
    rates: tuple[list[float], list[float]] = [], []
    for number in range(1, 2 * repeats + 1):
        some = (mistyped, clean)[number % 2]
        low = number * size % (len(clean) - size + 1)  # a set of next to no texts begins anew
        rates[1 - number % 2].append(size / seconds_for(encoder.encode, some[low : low + size]))
    return median(rates[0]), median(rates[1])


def unit_vectors(encoder: BenchmarkEncoder, some: Sequence[str]) -> Floats:
    """The encoder's vectors at length 1, zeros as they are: [len(some), dim]."""
    vectors = np.asarray(encoder.encode(some))
    if vectors.ndim != 2 or len(vectors) != len(some) or not np.isfinite(vectors).all():
        raise LovevecError(
            f"{encoder.name}: a finite vector for each of {len(some):,} texts expected, not {vectors.shape}"
        )
    return normalized(vectors.astype(np.float64))


def retrieval_hits(noisy: Floats, clean: Floats, clean_texts: Sequence[str]) -> NDArray[np.bool_]:
    """Whether the nearest of all clean texts is the own: unit rows [n, dim] both; equal texts count as one."""
    found = np.zeros(len(noisy), dtype=np.bool_)
    for low in range(0, len(noisy), QUERIES_PER_BATCH):
        nearest = (noisy[low : low + QUERIES_PER_BATCH] @ clean.T).argmax(axis=1).tolist()
        found[low : low + QUERIES_PER_BATCH] = [
            clean_texts[place] == own for place, own in zip(nearest, clean_texts[low:], strict=False)
        ]
    return found


def _mean_draws(values: Floats, resamples: int, seed: int) -> Floats:
    return bootstrap(lambda counts: counts @ values / len(values), len(values), resamples, seed)


def texts_table(results: Sequence[EncoderScores], legend: str, resamples: int) -> str:
    """Encoders (rows) on sets under noises (columns): scores, then their intervals."""
    columns = [f"{score.name}, {score.noise}" for score in results[0].scores]
    main: list[list[Cell]] = [
        [
            *(one.encoder, one.megabytes, round(one.texts_per_second), round(one.mistyped_per_second)),
            *(score.score for score in one.scores),
        ]
        for one in results
    ]
    rows: list[list[Cell]] = [
        [one.encoder, *(f"{score.low:.1f} to {score.high:.1f}" for score in one.scores)] for one in results
    ]
    told = f"\n95 % intervals, from {resamples:,} bootstrap resamples of the pairs or queries:\n\n"
    return (
        markdown(["encoder", "MB", "texts/s", "mistyped/s", *columns], main)
        + legend
        + told
        + markdown(["encoder", *columns], rows)
    )


def draw_texts(results: Sequence[EncoderScores], path: Path) -> None:
    """The scores over the share of typos: a line an encoder, a panel a set."""
    sets = list(dict.fromkeys(score.name for score in results[0].curve))
    panels = {
        name: {one.encoder: [score.score for score in one.curve if score.name == name] for one in results}
        for name in sets
    }
    y_labels = {
        score.name: "Spearman's ρ x 100" if score.pairs else "found again, in per cent" for score in results[0].curve
    }
    if len(sets) == 1:
        curves(path, panels[sets[0]], SHARES, y_label=f"{sets[0]}: {y_labels[sets[0]]}", title=TITLE, x_label=X_LABEL)
    else:
        curve_panels(path, panels, SHARES, y_label=y_labels, title=TITLE, x_label=X_LABEL)
