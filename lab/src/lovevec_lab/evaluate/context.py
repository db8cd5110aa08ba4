"""Misspellings in running text: is the right word found, and what does a corrector put right and break?

The sets are pairs of files, `*.corrupt.txt` and `*.correct.txt`: a text a line, with as many words between blanks
in both. Of each pair of lines the words at the same places belong together, in whatever case of letters:

    Ths reslt, tobe fair, is find.   ->   Ths/This reslt,/result, tobe/to fair,/fair, is/is find./fine.

unknown     strings that the model does not know and whose right word it knows (reslt, tobe): whether that is the first
            of its candidates, and whether it is one of ten; each string by itself, and in its sentence
correction  how many of all words that are wrong are right after a corrector has been there (known ones too: find), how
            many right ones it breaks, and what share of its changes is right (precision); also what it breaks in the
            clean texts. A word that it joins with another, or takes apart, is wrong afterwards.

A model's own thresholds were chosen on the first, third, … line: the part `dev`; `test` are the others. Intervals are
of lines drawn anew. The file is long because a task is one place: its data, scores, speeds, tables and picture.

>>> context(["default"], sets=["wikidump"], rivals="symspell,aspell").markdown()
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import FormatError, LovevecError, Parameter
from lovevec.files.lines import lines_of
from lovevec.love import LOVE
from lovevec.progress import Progress
from lovevec.texts.tokens import CHUNK, words_of
from lovevec_lab.evaluate.comparison import Folder, as_list, refuse_less_than_one, refuse_namesakes, without_folders
from lovevec_lab.evaluate.correctors import FEW_LINES, Corrector, Replacement, replacements, rivals_of
from lovevec_lab.evaluate.datasets import CORRECT, CORRUPT, data_folder, digest_of, find_or_own, read_several
from lovevec_lab.evaluate.results import Cell, Result, markdown, refuse_bad_folder
from lovevec_lab.evaluate.speed import QUICK_REPEATS, REPEATS, seconds_for
from lovevec_lab.evaluate.statistics import RESAMPLES, bootstrap, interval
from lovevec_lab.figures.tradeoff import tradeoff
from lovevec_lab.methods.open_method import split_name

SETS = ("wikidump", "bookcorpus")
PARTS = {"dev": slice(0, None, 2), "test": slice(1, None, 2), "all": slice(None)}
THRESHOLDS = (0.3, 0.5, 0.7, 0.9)
LONG = 4  # letters of the strings that are counted once more by themselves
CANDIDATES = 10
QUICK_LINES, QUICK_RESAMPLES = 100, 100
TIMED_LINES = 100  # of a run
ALONE = ", words alone"
MEASURED = {
    "alone_first": "alone, first",
    "first": "in its sentence, first",
    "alone_among": "alone, among 10",
    "among": "in its sentence, among 10",
}
TITLE = "Share of wrong words put right, and of changes that are right"

Floats = NDArray[np.float64]
Plain = dict[str, Any]


@dataclass(frozen=True)
class CorruptTexts:
    """`corrupt[i]` is `correct[i]` with misspellings. `digest` names the files' content."""

    name: str
    corrupt: list[str]
    correct: list[str]
    digest: str = ""

    def some(self, lines: slice) -> CorruptTexts:
        """Some of the lines."""
        return replace(self, corrupt=self.corrupt[lines], correct=self.correct[lines])


def corrupt_texts(name_or_path: str, data: Path | None = None) -> CorruptTexts:
    """wikidump, bookcorpus, or an own file NAME.corrupt.txt, with NAME.correct.txt beside it."""
    listed, files = find_or_own(name_or_path, "corrupted", data)
    if listed is None:
        if not files[0].name.endswith(CORRUPT):
            raise LovevecError(f"{files[0]}: a file that ends in {CORRUPT} expected, with one in {CORRECT} beside it")
        files = [files[0], files[0].with_name(files[0].name.removesuffix(CORRUPT) + CORRECT)]
    corrupt, correct = map(lines_of, files)
    if len(corrupt) != len(correct):
        raise FormatError(files[0], f"has {len(corrupt):,} lines, and {files[1].name} {len(correct):,}")
    for number, (one, other) in enumerate(zip(corrupt, correct, strict=True), 1):
        words = [len(CHUNK.findall(text)) for text in (one, other)]
        if words[0] != words[1]:
            raise FormatError(files[0], f"has {words[0]} words where {files[1].name} has {words[1]}", number)
    if not any(map(str.strip, corrupt)):
        raise FormatError(files[0], "holds no words")
    return CorruptTexts(
        listed.name if listed else files[0].name.removesuffix(CORRUPT), corrupt, correct, digest_of(files)
    )


class Chunk(NamedTuple):
    """What stands between blanks in a text, from `start` to `end`, and what should stand there."""

    start: int
    end: int
    corrupt: str
    correct: str

    @property
    def is_wrong(self) -> bool:
        return self.corrupt.casefold() != self.correct.casefold()


def chunks(corrupt: str, correct: str) -> list[Chunk]:
    """The words of a text with their marks, beside those of the correct text."""
    right = CHUNK.findall(correct)
    return [Chunk(*one.span(), one[0], other) for one, other in zip(CHUNK.finditer(corrupt), right, strict=True)]


def in_places(text: str, some: Sequence[Chunk], made: Sequence[Replacement]) -> list[str]:
    """What stands in the place of each chunk when the replacements, in their order, are made. What replaces several
    chunks stands in the place of the first; then nothing stands in those of the others."""
    result = []
    for start, end, *_ in some:
        pieces, at = [], start
        for one in made:
            if one.end <= start or one.start >= end:
                continue
            if one.start >= start:
                pieces += [text[at : one.start], one.after]
            at = one.end
        result.append("".join(pieces) + text[at:end])
    return result


class UnknownWord(NamedTuple):
    """A string that a model does not know, at a place of a line, and the known word that should stand there."""

    line: int
    start: int
    end: int
    text: str
    right: str


def unknown_words(love: LOVE, texts: CorruptTexts) -> list[UnknownWord]:
    """Of each pair of words with one string of letters in both."""
    pairs = []
    for line, (corrupt, correct) in enumerate(zip(texts.corrupt, texts.correct, strict=True)):
        for chunk in chunks(corrupt, correct):
            if chunk.is_wrong:
                wrong, right = words_of(chunk.corrupt), words_of(chunk.correct)
                if len(wrong) == len(right) == 1:
                    (word,) = wrong
                    place = chunk.start + word.start, chunk.start + word.end
                    pairs.append(UnknownWord(line, *place, word.text, right[0].text.lower()))
    if not pairs:
        return []
    known, words = love.known([pair.text for pair in pairs]), frozenset(love.words)
    return [pair for pair, is_known in zip(pairs, known, strict=True) if not is_known and pair.right in words]


def candidates_in(love: LOVE, texts: Sequence[str], words: Sequence[UnknownWord], context: bool) -> list[list[str]]:
    """The candidates of words in their texts, the most probable first; none where a word is read as a part of another
    one, or as several."""
    lines = sorted({word.line for word in words})
    tokens = love.tokens([texts[line] for line in lines], context=context)
    at = {(line, token.start, token.end): token for line, some in zip(lines, tokens, strict=True) for token in some}
    found = (at.get((word.line, word.start, word.end)) for word in words)
    return [[word for word, _ in token.candidates[:CANDIDATES]] if token else [] for token in found]


@dataclass(frozen=True)
class Share:
    """Per cent, and from where to where 95 % of such shares would lie."""

    percent: float
    low: float
    high: float


@dataclass(frozen=True)
class UnknownScore:
    """How many of the unknown `words` of some lines of a set a method finds: `first` and `among` ten, each word by
    itself, and in its sentence; None for what a method does not do."""

    method: str
    set: str
    lines: int
    letters: int
    words: int
    alone_first: Share | None
    alone_among: Share | None
    first: Share | None
    among: Share | None


@dataclass(frozen=True)
class CorrectionScore:
    """What a corrector does with some lines of a set: shares of the wrong words that are `corrected`, of the right ones
    that are broken in the same texts (`false_alarms`) and in clean ones (`clean`), of changes that are right."""

    method: str
    set: str
    lines: int
    threshold: float | None
    errors: int
    right_words: int
    corrected: Share
    false_alarms: Share
    precision: Share | None
    clean: Share


@dataclass(frozen=True)
class SpeedScore:
    """Of corrupt texts, one core."""

    method: str
    texts_per_second: float
    words_per_second: float


class ModelRow(NamedTuple):
    """A model, with the name of its row."""

    name: str
    love: LOVE


def context(
    models: Any = (),
    sets: Sequence[str] | None = None,
    *,
    part: str = "test",
    thresholds: Sequence[float] | None = None,
    rivals: str | Sequence[str] = "",
    plot: bool = False,
    resamples: int | None = None,
    seed: int = 0,
    quick: bool = False,
    data: Folder | None = None,
    keep: Folder | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score models (names, folders, LOVEs; by default the shipped one) on texts with misspellings, each also
    without its model of context. `rivals` are names of correctors.py, or `all` for those that are installed.

    The words that count as unknown, and the dictionary of rivals that are given one, are those of the first model.
    `part` is dev, test or all; `thresholds` are those of `love.correct`.
    """
    if keep is not None:
        refuse_bad_folder(keep)
    progress = progress or Progress(quiet=True)
    refuse_less_than_one(resamples=resamples)
    if not isinstance(seed, int) or seed < 0:
        raise LovevecError(f"{Parameter('seed', repr(seed))}: a whole number from 0 up expected")
    if part not in PARTS:
        raise LovevecError(f"{Parameter('part', part)}: there are {', '.join(PARTS)}")
    limits = sorted(as_list(thresholds)) if thresholds else list(THRESHOLDS)
    if not all(isinstance(limit, (int, float)) and 0 < limit <= 1 for limit in limits):
        raise LovevecError(f"{Parameter('thresholds')}: numbers above 0, at most 1, expected")
    resamples = resamples or (QUICK_RESAMPLES if quick else RESAMPLES)
    chosen = [read.some(PARTS[part]) for read in read_several(corrupt_texts, sets or SETS, data_folder(data))]
    if quick:
        chosen = [texts.some(slice(QUICK_LINES)) for texts in chosen]
    rows = models_of(models)
    correctors, missing = rivals_of(rivals, rows[0].love.words)
    refuse_namesakes([row.name for row in rows] + [one.name for one in correctors])

    def score(texts: CorruptTexts) -> _Scorer:
        return _Scorer(texts, unknown_words(rows[0].love, texts), resamples, seed)

    unknown, corrections = list[UnknownScore](), list[CorrectionScore]()
    for texts in chosen:
        scorers = {lines: score(texts.some(slice(lines))) for lines in {None, *(one.lines for one in correctors)}}
        for row in rows:
            with progress.phase(f"{texts.name}: {row.name}"):
                unknown += scorers[None].unknown_of_model(row)
                corrections += scorers[None].corrections_of_model(row, limits)
        for one in correctors:
            with progress.phase(f"{texts.name}: {one.name}"):
                found, correction = scorers[one.lines].scores_of_rival(one)
            unknown += found
            corrections.append(correction)
    with progress.phase("timing"):
        speeds = speeds_of(rows, [one for one in correctors if one.lines != FEW_LINES], chosen[0].corrupt, quick)
    scores = {
        "unknown": [asdict(one) for one in unknown],
        "correction": [asdict(one) for one in corrections],
        "speed": [asdict(one) for one in speeds],
        "missing": missing,
    }
    settings = {
        "models": [without_folders(source) for source in as_list(models)],
        "rivals": [one.name for one in correctors],
        "sets": {texts.name: texts.digest for texts in chosen},
        "part": part,
        "thresholds": limits,
        "resamples": resamples,
        "seed": seed,
        "quick": quick,
    }
    pictures = {"context.png": partial(draw_context, scores)} if plot else {}
    return Result("context", settings, scores, context_tables(scores), pictures)


def models_of(sources: Any) -> list[ModelRow]:
    """The models that are listed, by default the shipped one; behind each with a model of context the same without."""
    named = sources.items() if isinstance(sources, Mapping) else (("", source) for source in as_list(sources))
    rows = []
    for given, source in list(named) or [("", "default")]:
        name, love = given or "LOVE", source
        if not isinstance(source, LOVE):
            own, path = split_name(os.fspath(source))
            name, love = given or own or Path(path).name, LOVE.load(path)
        rows.append(ModelRow(name, love))
        if love.parts.context is not None:
            rows.append(ModelRow(name + ALONE, love.copy(parts=replace(love.parts, context=None))))
    return rows


@dataclass(frozen=True)
class _Scorer:
    """Scores methods on one set."""

    texts: CorruptTexts
    words: list[UnknownWord]
    resamples: int
    seed: int

    def unknown_of_model(self, row: ModelRow) -> list[UnknownScore]:
        """By the candidates of its tokens; a model without context reads every word alone."""
        alone, inside = (candidates_in(row.love, self.texts.corrupt, self.words, inside) for inside in (False, True))
        return self._unknown(row.name, alone, inside if row.love.parts.context is not None else None)

    def scores_of_rival(self, rival: Corrector) -> tuple[list[UnknownScore], CorrectionScore]:
        """By what it makes of the texts; on unknown words by what it suggests, else by what stands there afterwards."""
        corrupt, clean = (
            [list(replacements(*pair)) for pair in zip(texts, rival.correct(texts), strict=True)]
            for texts in (self.texts.corrupt, self.texts.correct)
        )
        correction = self._correction(rival.name, None, corrupt, clean)
        if rival.suggest is None:
            inside = [self._in_place(word, corrupt[word.line]) for word in self.words]
            return [replace(one, among=None) for one in self._unknown(rival.name, None, inside)], correction
        distinct = list(dict.fromkeys(word.text.lower() for word in self.words))
        suggested = dict(zip(distinct, rival.suggest(distinct), strict=True))
        lists = [suggested[word.text.lower()][:CANDIDATES] for word in self.words]
        return self._unknown(rival.name, lists, None), correction

    def _in_place(self, word: UnknownWord, made: Sequence[Replacement]) -> list[str]:
        """What stands in the place of a word afterwards, where that is one word."""
        place = Chunk(word.start, word.end, word.text, word.right)
        (after,) = in_places(self.texts.corrupt[word.line], [place], made)
        words = [one.text.lower() for one in words_of(after)]
        return words if len(words) == 1 else []

    def _unknown(
        self, method: str, alone: Sequence[Sequence[str]] | None, inside: Sequence[Sequence[str]] | None
    ) -> list[UnknownScore]:
        scores = []
        for letters in (1, LONG):
            some = [place for place, word in enumerate(self.words) if len(word.text) >= letters]
            if some:
                shares = [
                    self._first_and_among(lists, some) if lists is not None else None for lists in (alone, inside)
                ]
                cells = [share for pair in shares for share in (pair or (None, None))]
                counts = len(self.texts.corrupt), letters, len(some)
                scores.append(UnknownScore(method, self.texts.name, *counts, *cells))
        return scores

    def _first_and_among(self, lists: Sequence[Sequence[str]], some: Sequence[int]) -> tuple[Share, ...]:
        sums = np.zeros((len(self.texts.corrupt), 3))  # words, first, among
        for place in some:
            word = self.words[place]
            sums[word.line] += 1, lists[place][:1] == [word.right], word.right in lists[place]
        return self._shares(sums, [(1, 0), (2, 0)])

    def corrections_of_model(self, row: ModelRow, limits: Sequence[float]) -> list[CorrectionScore]:
        """At each threshold: a higher one makes those of a lower one's corrections that are probable enough."""
        corrupt, clean = (
            [correction.edits for correction in row.love.correct(texts, threshold=limits[0])]
            for texts in (self.texts.corrupt, self.texts.correct)
        )
        scores = []
        for limit in limits:
            made = [
                [[Replacement(edit.start, edit.end, edit.after) for edit in edits if edit.probability >= limit]
                 for edits in side]
                for side in (corrupt, clean)
            ]  # fmt: skip
            scores.append(self._correction(row.name, limit, *made))
        return scores

    def _correction(
        self,
        method: str,
        threshold: float | None,
        corrupt: Sequence[Sequence[Replacement]],
        clean: Sequence[Sequence[Replacement]],
    ) -> CorrectionScore:
        lines = zip(self.texts.corrupt, self.texts.correct, corrupt, clean, strict=True)
        counts = [line_counts(*line) for line in lines]
        sums = np.array(counts, dtype=np.float64)
        errors, right, changed = int(sums[:, 0].sum()), int(sums[:, 2].sum()), sums[:, 4].sum()
        corrected, false_alarms, precision, broken = self._shares(sums, [(1, 0), (3, 2), (1, 4), (6, 5)])
        measured = corrected, false_alarms, precision if changed else None, broken
        return CorrectionScore(method, self.texts.name, len(counts), threshold, errors, right, *measured)

    def _shares(self, sums: Floats, pairs: Sequence[tuple[int, int]]) -> tuple[Share, ...]:
        """Per cent of one column in another, over all lines [lines, columns], with intervals of lines drawn anew."""
        parts, wholes = (list(side) for side in zip(*pairs, strict=True))

        def of_totals(totals: Floats) -> Floats:
            shares: Floats = 100 * totals[..., parts] / np.maximum(totals[..., wholes], 1)
            return shares

        drawn = bootstrap(lambda times: of_totals(times @ sums), len(sums), self.resamples, self.seed)
        percents = of_totals(sums.sum(axis=0)).tolist()
        return tuple(Share(percent, *interval(one)) for percent, one in zip(percents, drawn.T, strict=True))


def line_counts(
    corrupt: str, correct: str, made: Sequence[Replacement], made_of_clean: Sequence[Replacement]
) -> tuple[int, ...]:
    """Of a line: words that are wrong, of these corrected; words that are right, of these broken; words that are
    changed; words of the clean line, of these broken."""
    some, of_clean = chunks(corrupt, correct), chunks(correct, correct)
    wrong = corrected = broken = changed = 0
    for chunk, after in zip(some, in_places(corrupt, some, made), strict=True):
        is_right, is_changed = _alike(after, chunk.correct), not _alike(after, chunk.corrupt)
        wrong += chunk.is_wrong
        corrected += chunk.is_wrong and is_right
        broken += not chunk.is_wrong and not is_right
        changed += is_changed
    left = in_places(correct, of_clean, made_of_clean)
    broken_in_clean = sum(not _alike(after, chunk.correct) for chunk, after in zip(of_clean, left, strict=True))
    return wrong, corrected, len(some) - wrong, broken, changed, len(of_clean), broken_in_clean


def _alike(one: str, other: str) -> bool:
    return one == other or one.casefold() == other.casefold()


def speeds_of(
    rows: Sequence[ModelRow], correctors: Sequence[Corrector], texts: Sequence[str], quick: bool = False
) -> list[SpeedScore]:
    """Medians over parts of the texts that each method meets for the first time, the methods in turn, on one core."""
    methods: dict[str, Callable[[Sequence[str]], Any]] = {row.name: row.love.correct for row in rows}
    methods |= {one.name: one.correct for one in correctors}
    repeats = QUICK_REPEATS if quick else REPEATS
    size = min(TIMED_LINES, max(1, len(texts) // (repeats + 1)))
    parts = [texts[low : low + size] for low in range(0, (repeats + 1) * size, size)]
    parts = [part for part in parts if part] or [texts]
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in methods}
    with one_core():
        for number, part in enumerate(parts):
            words = sum(len(text.split()) for text in part)
            for name, correct in methods.items():
                seconds = seconds_for(correct, list(part))
                if number or len(parts) == 1:  # the first warms up
                    rates[name].append((len(part) / seconds, words / seconds))
    return [SpeedScore(name, *(median(side) for side in zip(*pairs, strict=True))) for name, pairs in rates.items()]


@contextmanager
def one_core() -> Iterator[None]:
    """What runs inside, and the programs that it starts, share one core, where the system can say so."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def context_tables(scores: Mapping[str, Any]) -> str:
    """What `context` has measured, as tables: unknown words, corrections of each set, speeds; then what is missing."""
    parts = [unknown_table(scores["unknown"], name) for name in _sets(scores["unknown"])]
    parts += [correction_table(scores["correction"], name) for name in _sets(scores["correction"])]
    parts.append(speed_table(scores["speed"]))
    if scores["missing"]:
        parts.append("\n".join(f"Not measured: {line}" for line in scores["missing"]) + "\n")
    return "\n".join(parts)


def unknown_table(scores: Sequence[Plain], name: str) -> str:
    """Methods (rows) on the unknown words of a set: all, then those of four letters and more."""
    some = [one for one in scores if one["set"] == name]
    lengths, most = sorted({one["letters"] for one in some}), max(one["lines"] for one in some)
    shown = [(length, key) for length in lengths for key in MEASURED if length == lengths[0] or "first" in key]
    rows: list[list[Cell]] = []
    for method in dict.fromkeys(one["method"] for one in some):
        by_length = {one["letters"]: one for one in some if one["method"] == method}
        label = _with_lines(by_length[lengths[0]], most)
        rows.append([label, *(_with_interval(by_length.get(length, {}).get(key)) for length, key in shown)])
    words = [max(one["words"] for one in some if one["letters"] == length) for length in lengths]
    told = f"{words[0]:,} in {most:,} lines" + "".join(
        f"; {count:,} of them of {length} letters and more"
        for length, count in zip(lengths[1:], words[1:], strict=True)
    )
    columns = [MEASURED[key] + (f", {length} letters +" if length > 1 else "") for length, key in shown]
    return f"Unknown strings of {name}, the right word in per cent: {told}\n\n{markdown(['', *columns], rows)}"


def correction_table(scores: Sequence[Plain], name: str) -> str:
    """Correctors (rows) on a set."""
    some = [one for one in scores if one["set"] == name]
    most = max(some, key=lambda one: int(one["lines"]))
    rows: list[list[Cell]] = [
        [
            _with_lines(one, most["lines"]),
            f"{one['threshold']:g}" if one["threshold"] else "",
            *(_with_interval(one[key]) for key in ("corrected", "precision")),
            *(_with_interval(one[key], 2) for key in ("false_alarms", "clean")),
        ]
        for one in some
    ]
    told = f"{most['errors']:,} wrong and {most['right_words']:,} right words in {most['lines']:,} lines"
    columns = ["", "threshold", "errors corrected", "precision", "right words broken", "… in clean text"]
    return f"Correction of {name}, per cent: {told}\n\n{markdown(columns, rows)}"


def speed_table(scores: Sequence[Plain]) -> str:
    """Correctors (rows), one core."""
    rows: list[list[Cell]] = [
        [one["method"], round(one["texts_per_second"]), round(one["words_per_second"])] for one in scores
    ]
    return f"Speed on one core, corrupt texts\n\n{markdown(['', 'texts/s', 'words/s'], rows)}"


def _sets(scores: Sequence[Plain]) -> list[str]:
    return list(dict.fromkeys(one["set"] for one in scores))


def _with_lines(score: Plain, most: int) -> str:
    return str(score["method"]) + ("" if score["lines"] == most else f" ({score['lines']:,} lines)")


def _with_interval(share: Plain | None, digits: int = 1) -> str:
    if share is None:
        return "-"
    return f"{share['percent']:.{digits}f} ({share['low']:.{digits}f} – {share['high']:.{digits}f})"


def draw_context(scores: Mapping[str, Any], path: Path) -> None:
    """Precision over the share of errors that are corrected: a line a model, by its thresholds, a point a rival;
    a panel a set."""
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for one in scores["correction"]:
        if one["precision"] is not None:
            point = one["corrected"]["percent"], one["precision"]["percent"]
            panels.setdefault(one["set"], {}).setdefault(one["method"], []).append(point)
    x_label, y_label = "wrong words put right, in per cent", "changes that are right, in per cent"
    tradeoff(path, panels, title=TITLE, x_label=x_label, y_label=y_label)
