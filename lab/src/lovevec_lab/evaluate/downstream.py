"""Tasks in which a model is trained on a method's frozen vectors: what classify and tag share.

Rows of the table: the vectors alone (unknown words have zeros), then with each imputing model behind them, then rivals;
models alone where no vectors are named. A model is trained on clean text at each learning rate; the best on clean dev
text (see grid.py) is tested, on clean and on damaged text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from lovevec.damage.noise import Noise
from lovevec.errors import LovevecError, Parameter
from lovevec.progress import Progress
from lovevec_lab.evaluate.comparison import (
    Comparison,
    Folder,
    as_list,
    number_list,
    refuse_less_than_one,
    without_folders,
)
from lovevec_lab.evaluate.datasets import data_folder
from lovevec_lab.evaluate.grid import RATES, check_rates
from lovevec_lab.evaluate.nets.lookup import WordLookup
from lovevec_lab.evaluate.result_cache import ResultCache, Score, content_hash, vectors_fingerprint
from lovevec_lab.evaluate.results import HEADER, Cell, Pictures, Result, markdown, method_cells
from lovevec_lab.evaluate.speed import REPEATS, SECONDS, known_words, typo_copies, words_per_second
from lovevec_lab.figures.curves import curves
from lovevec_lab.methods.attached import AttachedMethod
from lovevec_lab.methods.in_sentences import in_sentences_too
from lovevec_lab.methods.method import Method, Parameters
from lovevec_lab.methods.table import table_of

NOISE = (0.0, 70.0)  # per cent of words
SPEED_WORDS = 20_000
QUICK_TESTED = 200  # sentences
CACHE = "cache"  # the folder of finished runs, in that of the results
# A run's own rate and seed are added to its key. The device changes numbers only as another seed would.
NOT_IN_KEY = ("rates", "seeds", "device")


@dataclass(frozen=True)
class DownstreamSettings(ABC):
    """What is trained, how often, where. `sentences` cuts the training text, `noise_seed` decides the damage."""

    rates: tuple[float, ...] = RATES
    seeds: tuple[int, ...] = (0,)
    noise_seed: int = 0
    sentences: int | None = None
    device: str = "auto"

    @abstractmethod
    def quick(self) -> DownstreamSettings:
        """Less of everything, to see whether it works."""

    @abstractmethod
    def with_epochs(self, epochs: int) -> DownstreamSettings:
        """The same with so many passes over the training text."""


class Downstream:
    """A task: `read(name, data folder)` gives its dataset, `score(method, dataset, noises, settings, cache, progress)`
    trains and tests a model on one method's vectors; `measure` is what a score is called."""

    def __init__(
        self,
        name: str,
        measure: str,
        read: Callable[[str, Path], Any],
        settings: Callable[..., DownstreamSettings],
        score: Callable[..., Score],
    ) -> None:
        self.name, self.measure, self.read, self.settings, self.score = name, measure, read, settings, score

    def __call__(
        self,
        dataset: str,
        *,
        vectors: Any = None,
        impute: Any = (),
        generated: bool = False,
        char_cnn: bool = False,
        in_sentences: bool = False,
        noise: Sequence[float] = (),
        typos_per_sentence: Sequence[int] = (),
        kind: str | None = None,
        learning_rates: Sequence[float] = (),
        seeds: int = 1,
        epochs: int | None = None,
        rivals: str | Sequence[str] = "",
        target: Any = None,
        device: str = "auto",
        seed: int = 0,
        quick: bool = False,
        data: Folder | None = None,
        keep: Folder | None = None,
        progress: Progress | None = None,
    ) -> Result:
        """Train and test a model on each method's vectors. `dataset` is a name or an own folder.

        `vectors` are those of the known words, `impute` models for the words that they lack; with `generated` models
        make the vectors of known words too, `char_cnn` adds a CharCNN that is trained in the task, `in_sentences` a row
        for each model that can read words in their sentences. `noise` are shares
        of damaged words in per cent (0 and 70 by default), `typos_per_sentence` numbers of damaged words. Finished runs
        are kept in the folder `keep`, so that stopped work goes on.
        """
        from lovevec.device import choose_device

        refuse_less_than_one(seeds=seeds, epochs=epochs)
        settings = self.settings(seeds=tuple(range(seed, seed + seeds)), noise_seed=seed, device=device)
        settings = settings.quick() if quick else settings
        settings = replace(settings, rates=check_rates(number_list("learning_rates", learning_rates)) or settings.rates)
        settings = settings.with_epochs(epochs) if epochs else settings
        noises = noises_of(noise, typos_per_sentence, kind)
        choose_device(device)  # one that is not there is told before anything is read
        progress = progress or Progress(quiet=True)
        comparison = Comparison(rivals, target, device, seed, quick, keep, progress)
        cache = ResultCache(None if keep is None else Path(keep) / CACHE)
        split = self.read(str(dataset), data_folder(data))
        split = few(split) if quick else split
        methods = rows_of(comparison, vectors, impute, generated, char_cnn)
        methods = with_sentences(methods) if in_sentences else methods
        speeds = speeds_of(methods, cache, seed, quick)
        scores = [
            {
                "method": method.name,
                "parameters": method.parameters._asdict(),
                **speed,
                **self.score(method, split, noises, settings, cache, progress),
            }
            for method, speed in zip(methods, speeds, strict=True)
        ]
        name = f"{self.name}-{split.name}"
        recorded = {
            "set": without_folders(dataset),
            "vectors": without_folders(vectors),
            "impute": [without_folders(source) for source in as_list(impute)],
            **comparison.settings(),
            "generated": generated,
            "in_sentences": in_sentences,
            "quick": quick,
            "noises": [asdict(one) for one in noises],
            **asdict(settings),
        }
        table = downstream_table(scores, noises, self.measure)
        return Result(name, recorded, scores, table, downstream_pictures(name, scores, noises, self.measure))


def noises_of(shares: Sequence[float], counts: Sequence[int], kind: str | None) -> list[Noise]:
    """Shares of damaged words in per cent, then numbers of them a sentence, each once; clean text and 70 % if neither
    is given."""
    shares = number_list("noise", shares)
    counts = number_list("typos_per_sentence", counts)
    if not all(0 <= share <= 100 for share in shares):
        raise LovevecError(
            f"{Parameter('noise', _joined(shares))}: shares of words in per cent expected, from 0 to 100"
        )
    if not all(count >= 0 for count in counts):
        raise LovevecError(f"{Parameter('typos_per_sentence', _joined(counts))}: numbers from 0 up expected")
    shares = shares if shares or counts else NOISE
    noises = [Noise(kind or "ocr", share / 100) for share in shares]
    noises += [Noise(kind or "typo", per_sentence=count) for count in counts]
    return list({noise.label: noise for noise in noises}.values())


def _joined(numbers: Sequence[float]) -> str:
    return ",".join(f"{number:g}" for number in numbers)


def rows_of(comparison: Comparison, vectors: Any, impute: Any, generated: bool, char_cnn: bool) -> list[Method]:
    """The methods of the table's rows."""
    alone = [] if vectors is None else comparison.open_methods([vectors])
    models = comparison.open_methods(impute)
    for method in models:
        if method.table is not None:
            raise LovevecError(
                f"{Parameter('impute', method.name)}: is no model; vectors of known words go to {Parameter('vectors')}"
            )
    known = table_of(alone[0]) if alone else None
    if alone and known is None:
        shown = vectors if isinstance(vectors, str) else alone[0].name
        raise LovevecError(
            f"{Parameter('vectors', shown)}: is a model, not a file of word vectors; name it with {Parameter('impute')}"
        )
    methods = comparison.with_rivals([*alone, *models])
    if known is None:
        if char_cnn:
            raise LovevecError(
                f"{Parameter('char_cnn')}: name the vectors of the known words with {Parameter('vectors', 'FILE')}"
            )
        return methods
    others = methods[len(alone) :]
    rows = [AttachedMethod(known, method) if method.table is None and not generated else method for method in others]
    if not char_cnn:
        return [*alone, *rows]
    from lovevec_lab.evaluate.nets.char_cnn import WithCharCNN

    return [*alone, *rows, WithCharCNN(known)]


def with_sentences(methods: Sequence[Method]) -> list[Method]:
    """The methods, and behind each that can do so the same with words read in their sentences."""
    rows = list(chain.from_iterable(map(in_sentences_too, methods)))
    if len(rows) == len(methods):
        raise LovevecError(
            f"{Parameter('in_sentences')}: no model here has a model of context; `lovevec context` learns one"
        )
    return rows


def speeds_of(methods: Sequence[Method], cache: ResultCache, seed: int, quick: bool) -> list[Score]:
    """The speed of each method on damaged words, measured once."""
    words = typo_copies(known_words(methods), SPEED_WORDS, seed)
    passes = (1, SECONDS / 10) if quick else (REPEATS, SECONDS)
    return [
        cache(
            {"task": "speed", "method": method.name, "parameters": method.parameters, "passes": passes},
            partial(_speed, method, words, *passes),
        )
        for method in methods
    ]


def _speed(method: Method, words: Sequence[str], repeats: int, seconds: float) -> Score:
    return {"words_per_second": words_per_second(method, words, repeats, seconds)}


def downstream_key(
    task: str,
    method: Method,
    lookup: WordLookup,
    split: Any,
    noises: Sequence[Noise],
    settings: DownstreamSettings,
) -> dict[str, Any]:
    """All that the runs of a task depend on; `split` is the task's dataset, a TextSplit or TagSplit.

    A task that computes something else than it did takes another name."""
    return {
        "task": task,
        "method": method.name,
        "parameters": method.parameters,
        "char_cnn": method.input_settings,
        "vectors": vectors_fingerprint(lookup.vectors),
        "data": split.name,
        "content": split.digest or content_hash(asdict(split)),
        "noises": [asdict(noise) for noise in noises],
        "settings": {name: value for name, value in asdict(settings).items() if name not in NOT_IN_KEY},
    }


def few(split: Any) -> Any:
    """A dataset with few sentences to choose and to test on, for a quick look; what is trained on is cut elsewhere."""

    def cut(part: Any) -> Any:
        rows = subsample(len(part.sentences), QUICK_TESTED)
        return replace(part, **{name: [values[row] for row in rows] for name, values in vars(part).items()})

    return replace(split, dev=cut(split.dev), test=cut(split.test), digest=f"{split.digest} quick")


def subsample(count: int, most: int | None) -> list[int]:
    """Which of `count` sentences to take: all in their order, or `most` of them mixed, always the same ones."""
    if most is None or most >= count:
        return list(range(count))
    rows: list[int] = np.random.default_rng([most, count]).permutation(count)[:most].tolist()
    return rows


def downstream_table(scores: Sequence[Score], noises: Sequence[Noise], measure: str) -> str:
    """Methods (rows) under noises (columns) and the mean of these. A score has `method`, `parameters`,
    `words_per_second`, and what `lovevec_lab.evaluate.grid.best_by_seed` gives."""
    labels = [noise.label for noise in noises]
    rows: list[list[Cell]] = []
    for score in scores:
        values = [float(score["test"][label]) for label in labels]
        cells = method_cells(score["method"], Parameters(**score["parameters"]), score["words_per_second"])
        rows.append([*cells, *values, sum(values) / len(values)])
    legend = (
        f"\n{measure} on the test set, x 100, at the learning rate that is best on the clean dev set."
        " Words a second: of mistyped words.\n"
    )
    return markdown([*HEADER, *labels, "mean"], rows) + legend


def downstream_pictures(name: str, scores: Sequence[Score], noises: Sequence[Noise], measure: str) -> Pictures:
    """Curves over the share of damaged words, and over their number a sentence, where there are two points or more."""
    counted = {noise: float(noise.per_sentence) for noise in noises if noise.per_sentence is not None}
    shared = {noise: 100 * noise.share for noise in noises if noise not in counted}
    kinds = {noise.kind for noise in shared if noise.share}
    pictures: dict[str, Callable[[Path], None]] = {}
    if len(shared) > 1 and len(kinds) == 1:
        label = f"damaged words, % ({kinds.pop()})"
        pictures[f"{name}.png"] = partial(_draw, name, scores, shared, label, measure)
    if len(counted) > 1:
        pictures[f"{name}-typos.png"] = partial(_draw, name, scores, counted, "typos a sentence", measure)
    return pictures


def _draw(
    name: str, scores: Sequence[Score], places: Mapping[Noise, float], x_label: str, measure: str, path: Path
) -> None:
    noises = sorted(places, key=lambda noise: places[noise])

    def along(numbers: str) -> dict[str, list[float]]:
        return {score["method"]: [float(score[numbers][noise.label]) for noise in noises] for score in scores}

    spread = along("spread") if any(len(score["rates"]) > 1 for score in scores) else None
    x = [float(places[noise]) for noise in noises]
    curves(path, along("test"), x, title=name, x_label=x_label, y_label=measure, spread=spread)
