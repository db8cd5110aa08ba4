"""Static vectors out of a contextual model: a word's states in many sentences, pooled to one vector.

The paper calls mimicking these *mimicking distilled embeddings*. In one sentence a word's vector is the mean of the
states of its pieces; over sentences the mean or the maximum is taken.

    distill("bert-base-uncased", "text.txt", words=["misspelling", "cat"])
    distill("all-mpnet-base-v2", words=words, settings=DistillSettings(single=True))    # each word by itself

Passages of text wait until there are enough of them to be sorted by length, so that little is padding. What is kept for
a run that stops is written only when none wait, so a run that goes on makes the same batches as one that never stopped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec import __version__
from lovevec.errors import LovevecError, Parameter
from lovevec.files.checkpoints import CheckpointFolder
from lovevec.progress import Phase, Progress
from lovevec.transformer.contextual import ContextualModel, Passage
from lovevec.transformer.corpus import Corpus, Place
from lovevec.transformer.distill_plan import DistillSettings, begin_run, refuse_contradictions, run_plan
from lovevec.transformer.load import PREFIX, require_transformers, weights_file
from lovevec.transformer.occurrences import OccurrenceFinder, Pool, WordCounts, spellings
from lovevec.units.words import check_words
from lovevec.vectors.memory import table_from_memory
from lovevec.vectors.read.source import file_hash
from lovevec.vectors.read.words import STDIN
from lovevec.vectors.table import VectorTable
from lovevec.vectors.write import save_table

__all__ = ["DistillSettings", "distill"]

BATCHES_AHEAD = 8  # batches of passages that wait to be sorted by length
BLOCKS_AHEAD = 64  # blocks of text for which they wait at most
MIN_SINGLE_WORDS = 1024  # words that are tokenised at a time, at least, where each stands alone
EXAMPLES = 5  # words that a message names
UNLIMITED = 1 << 62
KB = 1024


def distill(
    model: Any,
    corpus: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    *,
    words: Iterable[str] | None = None,
    settings: DistillSettings | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> VectorTable:
    """Pool the states of words over a corpus to one vector each.

    `model` is a folder, a hub id, or a pair (model, tokenizer) of transformers, which is moved to the settings' device
    and precision. `corpus` names text files, one text a line ("-" is standard input). `words` are those to have;
    without them, those of the corpus that occur `min_count` times. With `output` the vectors are saved there, and a
    run that stops goes on when it is called again.

        table = distill("bert-base-uncased", "text.txt", words=["cat"], output="bert.npz")
        table.vectors.shape     # (1, 768)
    """
    settings, progress = settings or DistillSettings(), progress or Progress(quiet=True)
    if isinstance(model, (str, os.PathLike)):
        model = os.fspath(model).removeprefix(PREFIX)
    files = [corpus] if isinstance(corpus, (str, os.PathLike)) else corpus
    texts = Corpus([None if os.fspath(path) == "-" else Path(path) for path in files])
    vocabulary = None if words is None else _distinct_words(words)
    refuse_contradictions(settings, texts, vocabulary)
    require_transformers()
    goal = None if output is None else Path(output)
    plan = run_plan(model, texts, vocabulary, settings)
    unfinished = begin_run(goal, overwrite, plan, settings, resumable=None not in texts.paths)
    try:
        table = _DistillRun(model, settings, unfinished, progress).table(texts, vocabulary)
    finally:
        unfinished.tidy()
    if goal is not None:
        with progress.phase("saving"):
            notes = save_table(table, goal)
        for note in notes:
            progress.say(note)
        unfinished.remove()
    return table


def _distinct_words(words: Iterable[str]) -> list[str]:
    usable = (word for word in check_words(words) if word.strip() and word == word.encode(errors="ignore").decode())
    return list(dict.fromkeys(usable))


class _DistillRun:
    def __init__(self, model: Any, settings: DistillSettings, unfinished: CheckpointFolder, progress: Progress) -> None:
        self.source, self.settings, self.unfinished, self.progress = model, settings, unfinished, progress
        with progress.phase("loading model"):
            self.contextual = ContextualModel(model, settings)

    def table(self, corpus: Corpus, words: list[str] | None) -> VectorTable:
        """The vectors of `words`, or of those that the corpus holds, and where they come from; what was left out on the
        way is told."""
        words, counts = self._words(corpus, words)
        vectors, taken = np.zeros((len(words), self.contextual.dim), np.float32), np.zeros(len(words), np.int64)
        if corpus.paths:
            vectors, taken = self._in_texts(corpus, words, counts)
        occurrences = int(taken.sum())
        absent = np.flatnonzero(taken == 0)
        if len(absent) and (self.settings.single or self.settings.fill_missing):
            vectors[absent], taken[absent] = self._single([words[row] for row in absent])
        self._report(corpus, [words[row] for row in absent], [words[row] for row in np.flatnonzero(taken == 0)])
        rows = np.flatnonzero(taken)
        if not len(rows):
            self.unfinished.remove()
            raise LovevecError("none of the words occurs in the corpus, as this model's tokenizer sees it")
        table, _ = table_from_memory(([words[row] for row in rows], vectors[rows]), None)
        for line in table.report.lines()[1:]:
            self.progress.say(line)
        pooling = "each alone" if self.settings.single else f"{self.settings.pooling} over {occurrences:,} occurrences"
        self.progress.say(f"{len(table):,} words × {table.dim}, {pooling}")
        name = f"{self.contextual.name.split('/')[-1]}-distilled"
        return replace(table, name=name, source=self._origin(corpus, occurrences))

    def _words(self, corpus: Corpus, words: list[str] | None) -> tuple[list[str], dict[str, int]]:
        limit = self.settings.limit or None
        if words is not None:
            cased = [word.lower() for word in words] if self.contextual.lowercase else words
            return list(dict.fromkeys(cased))[:limit], {}
        frequent = self._count_words(corpus)
        if not frequent:
            self.unfinished.remove()
            if not corpus.size:
                raise LovevecError("the corpus is empty: there is nothing to read in its files")
            raise LovevecError(
                f"no word of the corpus occurs {self.settings.min_count} times: lower {Parameter('min_count')}"
            )
        return list(frequent)[:limit], frequent

    def _count_words(self, corpus: Corpus) -> dict[str, int]:
        """The first pass over the corpus: word -> how often it occurs, of words that do so `min_count` times."""
        counts, place = WordCounts(self.contextual), (0, 0)
        if state := self.unfinished.load("counts"):
            place = state.values["place"]
            counts.load(state.arrays)
        with self._phase("counting words", corpus, place) as phase:
            for lines, behind in corpus.blocks(place):
                counts.add(lines)
                place = behind
                _show(phase, corpus, f"{len(counts.counts):,} different words")
                if self.unfinished.is_due:
                    self.unfinished.save("counts", counts.state(), place=place)
        self.unfinished.save("counts", counts.state(), place=place)
        corpus.unreadable = 0  # they are met once more
        return counts.frequent(self.settings.min_count)

    def _in_texts(
        self, corpus: Corpus, words: list[str], counts: dict[str, int]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        keys = words if counts else [key or "" for key in spellings(self.contextual, words)]
        rows = {key: row for row, key in enumerate(dict.fromkeys(filter(None, keys)))}
        most = self.settings.most or UNLIMITED
        finder = OccurrenceFinder(self.contextual, list(rows), [min(most, counts.get(key, UNLIMITED)) for key in rows])
        pool = Pool(len(rows), self.contextual.dim, self.settings.pooling, self.contextual.device)
        self._pool_texts(corpus, finder, pool)
        row_of = np.array([rows.get(key, -1) for key in keys])
        taken = np.where(row_of >= 0, finder.counts[row_of], 0) if rows else np.zeros(len(words), np.int64)
        vectors = np.zeros((len(words), self.contextual.dim), np.float32)
        vectors[row_of >= 0] = pool.vectors(finder.counts)[row_of[row_of >= 0]]
        if finder.too_long:
            self.progress.say(f"{finder.too_long:,} words of more pieces than a passage has: left out")
        return vectors, taken

    def _pool_texts(self, corpus: Corpus, finder: OccurrenceFinder, pool: Pool) -> None:
        """The second pass over the corpus: fill the pool, until the end or until no row takes more."""
        place: Place = (0, 0)
        if state := self.unfinished.load("texts"):
            place, corpus.unreadable = state.values["place"], state.values["unreadable"]
            finder.too_long = state.values["too_long"]
            finder.load(state.arrays["left"])
            pool.load(state.arrays["total"])
            self.progress.say(f"going on: {finder.complete:,} of {len(finder.left):,} words are complete")
        waiting: list[Passage] = []
        blocks, stopped = 0, False
        with self._phase("reading texts", corpus, place) as phase:
            for lines, behind in corpus.blocks(place):
                if stopped := finder.complete == len(finder.left):
                    break
                waiting += finder.passages(lines)
                blocks, place = blocks + 1, behind
                pieces = sum(len(passage.ids) for passage in waiting)
                if blocks >= BLOCKS_AHEAD or pieces >= BATCHES_AHEAD * self.settings.batch:
                    self._compute(waiting, pool, phase)
                    waiting, blocks = [], 0
                    if self.unfinished.is_due:
                        self._save_texts(place, corpus, finder, pool)
                _show(phase, corpus, f"{finder.complete:,} of {len(finder.left):,} words complete")
            self._compute(waiting, pool, phase)
        self._save_texts(place, corpus, finder, pool)
        if stopped and finder.left:
            share = f" after {corpus.bytes_before(place) / corpus.size:.0%} of it" if corpus.size else ""
            self.progress.say(f"no word takes more occurrences: the text was read no further{share}")

    def _save_texts(self, place: Place, corpus: Corpus, finder: OccurrenceFinder, pool: Pool) -> None:
        arrays = {"left": np.array(finder.left, np.int64), "total": pool.total.cpu().numpy()}
        self.unfinished.save("texts", arrays, place=place, unreadable=corpus.unreadable, too_long=finder.too_long)

    def _single(self, words: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        pool = Pool(len(words), self.contextual.dim, "mean", self.contextual.device)
        taken = np.zeros(len(words), np.int64)
        start = 0
        if state := self.unfinished.load("alone"):
            start, taken = state.values["words"], state.arrays["taken"]
            pool.load(state.arrays["total"])
        step = max(MIN_SINGLE_WORDS, BATCHES_AHEAD * self.settings.batch // 8)
        with self.progress.phase("single words", len(words), "words", start) as phase:
            for low in range(start, len(words), step):
                chunk = words[low : low + step]
                passages = [
                    passage
                    for row, (ids, _) in enumerate(self.contextual.tokenize(chunk), low)
                    if (passage := self._single_passage(ids, row))
                ]
                taken[[passage.spans[0][2] for passage in passages]] = 1
                self._compute(passages, pool, phase)
                phase.advance(len(chunk))
                if self.unfinished.is_due:
                    arrays = {"taken": taken, "total": pool.total.cpu().numpy()}
                    self.unfinished.save("alone", arrays, words=low + step)
        return pool.vectors(taken), taken

    def _single_passage(self, ids: list[int], row: int) -> Passage | None:
        contextual = self.contextual
        if not any(contextual.pieces.text[number] for number in ids) or len(ids) > contextual.room:
            return None
        start = len(contextual.before)
        if self.settings.specials:
            return contextual.passage(ids, [(0, start + len(ids) + len(contextual.behind), row)])
        return contextual.passage(ids, [(start, start + len(ids), row)])

    def _compute(self, passages: list[Passage], pool: Pool, phase: Phase) -> None:
        for batch in _batches(passages, self.settings.batch):
            pool.add(self.contextual.states([passage.ids for passage in batch]), batch)
            phase.show()

    def _phase(self, name: str, corpus: Corpus, place: Place) -> AbstractContextManager[Phase]:
        total = None if corpus.size is None else corpus.size // KB
        return self.progress.phase(name, total, "KB", corpus.bytes_before(place) // KB)

    def _report(self, corpus: Corpus, absent: list[str], missing: list[str]) -> None:
        if corpus.unreadable:
            self.progress.say(f"{corpus.unreadable:,} words with bytes that are not UTF-8: left out")
        if absent and corpus.paths and self.settings.fill_missing:
            self.progress.say(f"{len(absent):,} words never occur, so they were taken alone{_examples(absent)}")
        if missing:
            why = "have no pieces in the model's vocabulary" if self.settings.single else "never occur as one word"
            may_fill = not (self.settings.single or self.settings.fill_missing)
            more = f"; {Parameter('fill_missing', True)} takes them alone" if may_fill else ""
            self.progress.say(f"{len(missing):,} words {why}: left out{_examples(missing)}{more}")

    def _origin(self, corpus: Corpus, occurrences: int) -> dict[str, Any]:
        """Model, texts and settings that the vectors come from, in terms fit to publish: no folders of this machine."""
        weights = weights_file(self.source) if isinstance(self.source, str) else None
        settings = self.settings
        method: dict[str, Any] = {"single": True, "specials": settings.specials}
        if not settings.single:
            method = {
                "corpus": [path.name if path else STDIN for path in corpus.paths],
                "pooling": settings.pooling,
                "most": settings.most,
                "occurrences": occurrences,
                "fill_missing": settings.fill_missing,
                "length": self.contextual.length,
            }
        return {
            "model": self.contextual.name,
            "sha256": file_hash(weights, self.progress) if weights else None,
            "cased": not self.contextual.lowercase,
            "layer": settings.layer,
            **method,
            "precision": settings.precision,
            "lovevec": __version__,
        }


def _batches(passages: list[Passage], pieces: int) -> Iterator[list[Passage]]:
    """Passages of like length, as many as with padding have at most `pieces` pieces (or one passage)."""
    batch: list[Passage] = []
    for passage in sorted(passages, key=lambda passage: len(passage.ids)):
        if batch and (len(batch) + 1) * len(passage.ids) > pieces:
            yield batch
            batch = []
        batch.append(passage)
    if batch:
        yield batch


def _show(phase: Phase, corpus: Corpus, note: str) -> None:
    phase.advance(corpus.read // KB - phase.done, note)


def _examples(words: list[str]) -> str:
    return f" ({', '.join(words[:EXAMPLES])}{', …' if len(words) > EXAMPLES else ''})"
