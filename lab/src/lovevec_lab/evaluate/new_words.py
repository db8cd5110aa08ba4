"""New words: what do models make of a word from a few sentences that it stands in? By `LOVE.learn`, which needs a model
of context.

Chimeras     words that nobody has seen, in 2, 4 and 6 sentences, and how alike people find them to known words
             (Lazaridou et al., 2017): Spearman's ρ of these ratings and of cosines, the mean over the words. Sentences
             alone.
Definitions  a known word from the first sentence of its article (Herbelot and Baroni, 2017), where the model does not
             see which word it is: the rank of its own row among all known words. Sentences alone, since the model
             learned from the word's spelling.
held back    words of a target that the model was trained without: how often the target's own vector is the nearest of
             all to the row that the model makes, from the spelling and 0, 1, 5 and 20 sentences of a text.

>>> new_words(["my-model"], target="glove.txt", corpus="text.txt").markdown()
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lovevec import LOVE
from lovevec.errors import FormatError, LovevecError, Parameter
from lovevec.files.lines import filled_lines
from lovevec.learn import Learner, LearnOptions, context_of, learned_vectors, usual_around
from lovevec.model.learned import Learned
from lovevec.progress import Progress
from lovevec.texts.read import open_texts
from lovevec_lab.evaluate.a_la_carte import ALaCarte
from lovevec_lab.evaluate.comparison import Folder, as_list, refuse_namesakes, without_folders
from lovevec_lab.evaluate.datasets import data_folder, digest_of, find
from lovevec_lab.evaluate.results import Cell, Result, markdown
from lovevec_lab.evaluate.statistics import spearman
from lovevec_lab.evaluate.typos import lowercase_table, recovery
from lovevec_lab.methods.method import Floats
from lovevec_lab.methods.open_method import as_table, split_name
from lovevec_lab.methods.table import Table

Directions = Callable[[Sequence[Sequence[str]]], Floats]  # of words by their sentences: [words, dim]
SLOT, BETWEEN = "___", "@@"
SENTENCES = (0, 1, 5, 20)  # of a word that was held back
MOST = max(SENTENCES)
MAX_WORDS, QUICK_WORDS = 1500, 50
TEXTS_PER_BATCH = 512
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LONG_WORD = re.compile(r"[a-z]{3,}")


class Chimera(NamedTuple):
    """A word that nobody has seen: its sentences, with SLOT where it stands; known words; how alike people find them to
    it."""

    sentences: list[str]
    probes: list[str]
    ratings: list[float]


class Definition(NamedTuple):
    """A word, and a sentence with SLOT where it stands."""

    word: str
    sentence: str


@dataclass(frozen=True)
class HeldBack:
    """How often, in %, a target's own vector is the nearest to the row made from so many `sentences`, or among the ten
    nearest; and the mean cosine of the two."""

    sentences: int
    top1: float
    top10: float
    cosine: float


@dataclass(frozen=True)
class NewWordScores:
    """What a model makes of new words: `chimeras` by their file, ρ; of `definitions` the mean of 1 / rank, the median
    of the rank and how many there are; `held_back`, for how many words."""

    model: str
    chimeras: dict[str, float]
    reciprocal_rank: float
    median_rank: float
    definitions: int
    known_words: int
    held_back: list[HeldBack]
    held_back_words: int


def chimeras(path: Path) -> list[Chimera]:
    """A file of lines id, sentences with @@ between, probes, ratings."""
    items = []
    for number, line in filled_lines(path):
        cells = line.split("\t")
        try:
            _, sentences, probes, ratings = cells
            slotted = [one for one in sentences.split(BETWEEN) if SLOT in one]  # one of the published has none
            item = Chimera(slotted, probes.split(","), list(map(float, ratings.split(","))))
        except ValueError:
            item = Chimera([], [], [])
        if not item.sentences or not item.probes or len(item.probes) != len(item.ratings):
            problem = (
                f"a number, sentences with {SLOT}, words and ratings with tabs between expected, not {line[:60]!r}"
            )
            raise FormatError(path, problem, number)
        items.append(item)
    return items


def definitions(path: Path) -> list[Definition]:
    """A file of lines word, sentence; lines that begin with # are skipped, and sentences without SLOT."""
    items = []
    for number, line in filled_lines(path):
        if line.startswith("#"):
            continue
        word, tab, sentence = line.partition("\t")
        if not tab:
            raise FormatError(path, f"a word and a sentence with a tab between expected, not {line[:60]!r}", number)
        if SLOT in sentence:
            items.append(Definition(word.strip(), sentence))
    return items


def new_words(
    models: Any = (),
    *,
    target: Any = None,
    corpus: Folder | None = None,
    a_la_carte: Folder | None = None,
    seed: int = 0,
    quick: bool = False,
    data: Folder | None = None,
    keep: Folder | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score models that have a model of context on Chimeras and Definitions; with a `target` and a `corpus` of running
    text also on the target's words that they do not know (up to 1500; with `quick` 50). From the text `a_la_carte` the
    rival of that name learns its map: a row for each model's rows. `keep` is for nothing here."""
    progress = progress or Progress(quiet=True)
    if not as_list(models) or models == ():
        raise LovevecError(f"nothing to evaluate: name models with {Parameter('models')}")
    if (target is None) != (corpus is None):
        raise LovevecError(f"{Parameter('target')} and {Parameter('corpus')} go together: words, and their sentences")
    folder = data_folder(data)
    files = find("Chimeras", folder), find("Definitions", folder)
    unseen = {path.stem: chimeras(path) for path in files[0]}
    defined = definitions(files[1][0])
    named = [_open(source) for source in as_list(models)]
    refuse_namesakes([name for name, _ in named])
    table = None if target is None else lowercase_table(as_table(target, progress))
    scores = []
    for name, love in named:
        with progress.phase(f"scoring {name}"):
            scores.append(_score(name, love, unseen, defined, by_context(love)))
        if table is not None and corpus is not None:
            count = QUICK_WORDS if quick else MAX_WORDS
            held, words = score_held_back(love, table, Path(corpus), count, seed, progress)
            scores[-1] = replace(scores[-1], held_back=held, held_back_words=words)
        if a_la_carte is not None:
            with open_texts(Path(a_la_carte), None) as stream, progress.phase("reading for à la carte", unit="batches"):
                rival = ALaCarte(love, stream.batches)
            scores.append(_score(f"{name}, à la carte", love, unseen, defined, partial(rival, slot=SLOT)))
    settings = {
        "models": [without_folders(source) for source in as_list(models)],
        "sets": {name: digest_of(paths) for name, paths in zip(("Chimeras", "Definitions"), files, strict=True)},
        "target": without_folders(target),
        "corpus": without_folders(corpus),
        "a_la_carte": without_folders(a_la_carte),
        "seed": seed,
        "quick": quick,
    }
    return Result("new-words", settings, [_plain(score) for score in scores], new_words_table(scores))


def by_context(love: LOVE) -> Directions:
    """Words by their sentences as `learn` has it, without their spelling."""
    usual = usual_around(love, love.parts)
    return lambda items: context_of(sentences_of(love, items), usual).astype(np.float32)


def _score(
    name: str,
    love: LOVE,
    unseen: Mapping[str, Sequence[Chimera]],
    defined: Sequence[Definition],
    directions: Directions,
) -> NewWordScores:
    alike = {file: score_chimeras(love, items, directions) for file, items in unseen.items()}
    ranks = definition_ranks(love, defined, directions)
    mean, median = float(np.mean(1 / ranks)), float(np.median(ranks))
    return NewWordScores(name, alike, mean, median, len(ranks), len(love), [], 0)


def _plain(score: NewWordScores) -> dict[str, Any]:
    return {**vars(score), "held_back": [vars(one) for one in score.held_back]}


def _open(source: Any) -> tuple[str, LOVE]:
    if isinstance(source, LOVE):
        name, love = repr(source), source
    else:
        own, place = split_name(str(source))
        name, love = own or Path(place).name, LOVE.load(place)
    if love._sentence_reader is None:
        raise LovevecError(
            f"{name}: has no model of context, by which sentences are read; `lovevec context` learns one"
        )
    return name, love.forget()


def sentences_of(love: LOVE, items: Sequence[Sequence[str]], progress: Progress | None = None) -> Learned:
    """What the sentences of some words say; SLOT stands for the word, which the model does not see."""
    reader = love._sentence_reader
    assert reader is not None
    names = [_made_up(number) for number in range(len(items))]
    options = LearnOptions(frozenset(names), 1, len(names) + 1)
    learner = Learner(love, love.parts, reader, Learned.nothing(reader.context), options, love._threads)
    texts = [text.replace(SLOT, f" {name} ") for name, some in zip(names, items, strict=True) for text in some]
    with (progress or Progress(quiet=True)).phase("reading sentences", len(texts), "texts") as phase:
        for low in range(0, len(texts), TEXTS_PER_BATCH):
            learner.read(texts[low : low + TEXTS_PER_BATCH])
            phase.advance(len(texts[low : low + TEXTS_PER_BATCH]))
    learned = learner.learned()
    place = {word: place for place, word in enumerate(learned.words)}
    return learned.take([place[name] for name in names])


def _made_up(number: int) -> str:
    """A string of letters that is no word."""
    digits = ""
    for _ in range(4):
        number, digit = divmod(number, 26)
        digits += LETTERS[digit]
    return f"zqxv{digits}qzxj"


def score_chimeras(love: LOVE, items: Sequence[Chimera], directions: Directions) -> float:
    """The mean over the words of Spearman's ρ of ratings and cosines; 0 for a word where all cosines are the same."""
    pairs = zip(directions([item.sentences for item in items]), items, strict=True)
    return float(np.mean([spearman(love.embed(item.probes) @ row, np.array(item.ratings)) for row, item in pairs]))


def definition_ranks(love: LOVE, items: Sequence[Definition], directions: Directions) -> Floats:
    """The rank of each known word's own row among all known words, by the cosine to what the sentence says, from 1."""
    known = [item for item in items if love.known(item.word)]
    if not known:
        raise LovevecError("Definitions: the model knows none of the words")
    context = directions([[item.sentence] for item in known])
    rows = love._look_up([item.word for item in known])[0]
    _, rank = recovery(context, love._own_vectors(np.arange(len(love))), rows)
    result: Floats = (rank + 1).astype(np.float32)
    return result


def score_held_back(
    love: LOVE, table: Table, corpus: Path, count: int, seed: int, progress: Progress | None = None
) -> tuple[list[HeldBack], int]:
    """Of the words of a target that the model does not know and that come often enough in a text, up to `count`."""
    progress = progress or Progress(quiet=True)
    asked = [word for word in table.words if LONG_WORD.fullmatch(word) and word not in love]
    rng = np.random.default_rng([seed, 13])
    if len(asked) > count:
        chosen = np.sort(rng.permutation(len(asked))[:count])
        asked = [asked[place] for place in chosen.tolist()]
    with open_texts(corpus, None) as stream, progress.phase("finding sentences", unit="texts") as phase:
        found = sample_sentences(chain.from_iterable(stream.batches), asked, rng, phase.advance)
    words = [word for word in asked if len(found[word]) == MOST]
    if not words:
        raise LovevecError(f"{corpus}: no word of the target that the model lacks stands in {MOST} of its texts")
    rows = np.array([table.row[word] for word in words], dtype=np.int64)
    imputed, usual, scores = love.impute(words), usual_around(love, love.parts), []
    for size in SENTENCES:
        vectors = imputed
        if size:
            vectors = learned_vectors(sentences_of(love, [found[word][:size] for word in words]), imputed, usual)
        cosine, rank = recovery(vectors, table.vectors, rows)
        top1, top10 = (100 * float((rank < most).mean()) for most in (1, 10))
        scores.append(HeldBack(size, top1, top10, float(cosine.mean())))
    return scores, len(words)


def sample_sentences(
    texts: Iterable[str], words: Sequence[str], rng: np.random.Generator, advance: Any = lambda count: None
) -> dict[str, list[str]]:
    """Up to MOST texts that each word stands in, drawn from all of them, with SLOT in its first place."""
    held: dict[str, list[str]] = {word: [] for word in words}
    seen = dict.fromkeys(words, 0)
    for text in texts:
        advance(1)
        for word in sorted(set(LONG_WORD.findall(text.lower())) & held.keys()):
            seen[word] += 1
            place = len(held[word]) if len(held[word]) < MOST else int(rng.integers(seen[word]))
            if place < MOST:
                slotted = re.sub(rf"(?<![a-z]){word}(?![a-z])", SLOT, text, count=1, flags=re.IGNORECASE)
                held[word][place : place + 1] = [slotted]
    return held


def new_words_table(scores: Sequence[NewWordScores]) -> str:
    """Models (rows) on the sets (columns), then on words that were held back."""
    first = scores[0]
    rows: list[list[Cell]] = [
        [
            one.model,
            *(100 * rho for rho in one.chimeras.values()),
            100 * one.reciprocal_rank,
            one.median_rank,
            one.definitions,
            one.known_words,
        ]
        for one in scores
    ]
    columns = [*first.chimeras, "definitions: MRR", "median rank", "of them known", "known words"]
    parts = [
        markdown(["model", *columns], rows),
        "\nChimeras: Spearman's ρ x 100, the mean over the words. Definitions: the rank of the word's own row "
        "among all known words; the mean of 1 / rank x 100. By sentences alone.\n",
    ]
    if held := [one for one in scores if one.held_back]:
        cells: list[list[Cell]] = [
            [one.model, *chain.from_iterable((size.top1, size.top10, 100 * size.cosine) for size in one.held_back)]
            for one in held
        ]
        header = [f"{name}, {size}" for size in SENTENCES for name in ("top-1 %", "top-10 %", "cosine")]
        counts = "; ".join(f"{one.model}: {one.held_back_words:,}" for one in held)
        parts += [
            f"\nWords of the target that the model does not know ({counts}), by their spelling and 0, 1, 5 and 20 "
            "sentences:\n\n",
            markdown(["model", *header], cells),
        ]
    return "".join(parts)
