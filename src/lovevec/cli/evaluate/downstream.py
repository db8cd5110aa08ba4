"""What `lovevec evaluate classify` and `tag` share: vectors and what imputes behind them, noise, one table for both."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from lovevec.cli.evaluate.intrinsic import refuse_less_than_one
from lovevec.cli.evaluate.shared import add_common, add_rivals, cells_of, methods_of, publish, without_folders
from lovevec.errors import LovevecError
from lovevec.progress import Progress

if TYPE_CHECKING:
    from lovevec.damage.noise import Noise
    from lovevec.evaluate.classify import ClassifySettings
    from lovevec.evaluate.result_cache import ResultCache, Score
    from lovevec.evaluate.tag import TagSettings
    from lovevec.methods.method import Method
    from lovevec.methods.table import Table

NOISE = "0,70"
SPEED_WORDS = 20_000
DETAILS = """Rows: the vectors alone (unknown words have zeros), then with each --impute model behind them, then rivals.
Without --vectors, or with --generated, models make the vectors of all words, known ones too.

A model is trained on clean text at each learning rate; the best on the clean dev set is tested, on clean and on damaged
text. With -o, work that was stopped goes on where it was."""


def add_downstream(parser: argparse.ArgumentParser, sets: str) -> None:
    """What both tasks take."""
    parser.add_argument("set", help=sets)
    parser.add_argument("--vectors", metavar="FILE", help="the vectors of known words")
    parser.add_argument(
        "--impute",
        metavar="MODEL",
        action="append",
        default=[],
        help="a model for the words that the vectors lack; may be given several times",
    )
    parser.add_argument("--generated", action="store_true", help="models make the vectors of known words too")
    parser.add_argument("--char-cnn", action="store_true", help="also the vectors with a CharCNN, trained in the task")
    parser.add_argument(
        "--noise", metavar="PERCENTS", help=f"shares of words to damage, by commas (default {NOISE}; 0 is clean text)"
    )
    kinds = "ocr (default), scan, keyboard, swap, drop, insert, sound, typo (default for --typos-per-sentence)"
    parser.add_argument("--kind", metavar="KIND", help=kinds)
    parser.add_argument(
        "--typos-per-sentence", metavar="COUNTS", help="numbers of words to damage in each sentence, by commas"
    )
    parser.add_argument("--learning-rates", metavar="RATES", help="by commas (default: the paper's five)")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="runs at each rate (default 1)")
    parser.add_argument("--epochs", type=int, metavar="N", help="passes over the training text")
    add_rivals(parser)
    add_common(parser)


def run_downstream(
    given: argparse.Namespace,
    name: str,
    measure: str,
    settings: ClassifySettings | TagSettings,
    score: Callable[[Method, Sequence[Noise], ResultCache, Progress], Score],
) -> None:
    """Score all methods under all noises and publish it under `name`; `measure` is what a score is called."""
    from lovevec.device import choose_device
    from lovevec.evaluate.reports.downstream import downstream_pictures, downstream_report

    noises, cells = noises_of(given), cells_of(given)
    choose_device(settings.device)  # one that is not there is told before anything is read
    with Progress(given.quiet) as progress:
        methods = downstream_methods(given, progress)
        speeds = speeds_of(given, methods, cells)
        scores = [
            {
                "method": method.name,
                "parameters": method.parameters._asdict(),
                **speed,
                **score(method, noises, cells, progress),
            }
            for method, speed in zip(methods, speeds, strict=True)
        ]
    publish(
        given,
        name,
        settings_of(given, noises, settings),
        scores,
        downstream_report(scores, noises, measure),
        downstream_pictures(name, scores, noises, measure),
    )


def downstream_methods(given: argparse.Namespace, progress: Progress) -> list[Method]:
    """The rows of the table."""
    from lovevec.evaluate.nets.char_cnn import WithCharCNN
    from lovevec.methods.model import Model
    from lovevec.methods.plugged import Plugged

    named = [given.vectors] if given.vectors else []
    found = methods_of(given, [*named, *given.impute], progress)
    alone, others = found[: len(named)], found[len(named) :]
    for name, method in zip(given.impute, others, strict=False):
        if not isinstance(method, Model):
            raise LovevecError(f"--impute {name}: is no model; vectors of known words go to --vectors")
    if not alone:
        if given.char_cnn:
            raise LovevecError("--char-cnn: name the vectors of the known words with --vectors FILE")
        return found
    known = known_of(given.vectors, alone[0], progress)
    rows = [
        Plugged(known, method) if isinstance(method, Model) and not given.generated else method for method in others
    ]
    return [*alone, *rows, *([WithCharCNN(known)] if given.char_cnn else [])]


def known_of(name: str, method: Method, progress: Progress) -> Table:
    """The vectors of the known words: a table, or what a fastText model has of its own."""
    from lovevec.methods.fasttext import FastText
    from lovevec.methods.open_method import open_table
    from lovevec.methods.table import Table

    if isinstance(method, Table):
        return method
    if isinstance(method, FastText):
        return open_table(method.model.path, progress)
    raise LovevecError(f"--vectors {name}: is a model, not a file of word vectors; name it with --impute")


def speeds_of(given: argparse.Namespace, methods: Sequence[Method], cells: ResultCache) -> list[Score]:
    """The speed of each method on damaged words, measured once."""
    from lovevec.evaluate.speed import REPEATS, SECONDS, damaged_copies, known_words

    words = damaged_copies(known_words(methods), SPEED_WORDS, given.seed)
    passes = (1, SECONDS / 10) if given.quick else (REPEATS, SECONDS)
    return [
        cells(
            {"task": "speed", "method": method.name, "parameters": method.parameters, "passes": passes},
            partial(speed_of, method, words, *passes),
        )
        for method in methods
    ]


def speed_of(method: Method, words: Sequence[str], repeats: int, seconds: float) -> Score:
    """Words a second; none for a CharCNN, which the task's own model runs."""
    from lovevec.evaluate.nets.char_cnn import WithCharCNN
    from lovevec.evaluate.speed import words_per_second

    unknown = isinstance(method, WithCharCNN)
    return {"words_per_second": None if unknown else words_per_second(method, words, repeats, seconds)}


def noises_of(given: argparse.Namespace) -> list[Noise]:
    """What --noise, --typos-per-sentence and --kind say, in that order, each once."""
    from lovevec.damage.noise import Noise

    shares = numbers("--noise", given.noise or ("" if given.typos_per_sentence else NOISE), float)
    if not all(0 <= share <= 100 for share in shares):
        raise LovevecError(f"--noise {given.noise}: shares of words in per cent expected, from 0 to 100")
    counts = numbers("--typos-per-sentence", given.typos_per_sentence or "", int)
    if not all(count >= 0 for count in counts):
        raise LovevecError(f"--typos-per-sentence {given.typos_per_sentence}: numbers from 0 up expected")
    noises = [Noise(given.kind or "ocr", share / 100) for share in shares]
    noises += [Noise(given.kind or "typo", per_sentence=count) for count in counts]
    return list({noise.label: noise for noise in noises}.values())


def rates_of(given: argparse.Namespace) -> tuple[float, ...] | None:
    """The learning rates, if they are given."""
    rates = numbers("--learning-rates", given.learning_rates or "", float)
    if not all(0 < rate <= 1 for rate in rates):
        raise LovevecError(f"--learning-rates {given.learning_rates}: a rate lies between 0 and 1")
    return tuple(rates) or None


def seeds_of(given: argparse.Namespace) -> tuple[int, ...]:
    """As many as asked for, from --seed up."""
    refuse_less_than_one(given, "seeds", "epochs")
    return tuple(range(given.seed, given.seed + given.seeds))


def numbers(flag: str, text: str, kind: Callable[[str], Any]) -> list[Any]:
    """0,70 -> [0, 70]."""
    try:
        found = [kind(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise LovevecError(f"{flag} {text}: numbers expected, with commas between") from None
    if text and not found:
        raise LovevecError(f"{flag} {text}: no number")
    return found


def settings_of(
    given: argparse.Namespace, noises: Sequence[Noise], settings: ClassifySettings | TagSettings
) -> dict[str, Any]:
    """What the numbers depend on, for the JSON."""
    return {
        "set": without_folders(given.set),
        "vectors": without_folders(given.vectors) if given.vectors else None,
        "impute": [without_folders(name) for name in given.impute],
        "target": without_folders(given.target) if given.target else None,
        **{flag: getattr(given, flag) for flag in ("generated", "rivals", "quick")},
        "noises": [asdict(noise) for noise in noises],
        **asdict(settings),
    }
