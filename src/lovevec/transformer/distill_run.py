"""One distillation from words to vectors: which words, their occurrences in the texts, batches, states, pools.

Passages of text wait until there are enough of them to be sorted by length, so that little is padding. What is kept for
a run that stops is written only when none wait, so a run that goes on makes the same batches as one that never stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec import __version__
from lovevec.errors import LovevecError
from lovevec.files.unfinished import Unfinished
from lovevec.progress import Phase, Progress
from lovevec.transformer.contextual import Contextual, Passage
from lovevec.transformer.corpus import Place, Texts
from lovevec.transformer.distill_settings import DistillSettings
from lovevec.transformer.load import weights_file
from lovevec.transformer.occurrences import Counts, Pool, Wanted, spelled
from lovevec.vectors.memory import table_from_memory
from lovevec.vectors.read.source import file_hash
from lovevec.vectors.table import VectorTable

AHEAD = 8  # batches that wait to be sorted by length
PATIENCE = 64  # blocks of text for which they wait at most
STEP = 1024
SHOWN = 5
ALL = 1 << 62
KB = 1024


class Distilling:
    """A loaded model, and what to do with it."""

    def __init__(self, model: Any, settings: DistillSettings, unfinished: Unfinished, progress: Progress) -> None:
        self.source, self.settings, self.unfinished, self.progress = model, settings, unfinished, progress
        with progress.phase("loading model"):
            self.contextual = Contextual(
                model,
                layer=settings.layer,
                length=settings.length,
                device=settings.device,
                precision=settings.precision,
            )

    def target(self, texts: Texts, words: list[str] | None) -> VectorTable:
        """All of it: the words, their vectors, and what to say about them."""
        words, counts = self._words(texts, words)
        vectors = np.zeros((len(words), self.contextual.dim), np.float32)
        taken = np.zeros(len(words), np.int64)
        if texts.paths:
            vectors, taken = self._in_texts(texts, words, counts)
        occurrences = int(taken.sum())
        lacking = np.flatnonzero(taken == 0)
        if len(lacking) and (self.settings.single or self.settings.fill_missing):
            vectors[lacking], taken[lacking] = self._alone([words[row] for row in lacking])
        self._tell(texts, [words[row] for row in lacking], [words[row] for row in np.flatnonzero(taken == 0)])
        rows = np.flatnonzero(taken)
        if not len(rows):
            self.unfinished.remove()
            raise LovevecError("none of the words occurs in the corpus, as this model's tokenizer sees it")
        table, _ = table_from_memory(([words[row] for row in rows], vectors[rows]), None)
        for line in table.report.lines()[1:]:
            self.progress.say(line)
        how = "each alone" if self.settings.single else f"{self.settings.pooling} over {occurrences:,} occurrences"
        self.progress.say(f"{len(table):,} words × {table.dim}, {how}")
        name = f"{self.contextual.name.split('/')[-1]}-distilled"
        return replace(table, name=name, source=self._origin(texts, occurrences))

    def _words(self, texts: Texts, words: list[str] | None) -> tuple[list[str], dict[str, int]]:
        """The words to have; where they come from the corpus, also how often each occurs."""
        limit = self.settings.limit or None
        if words is not None:
            cased = [word.lower() for word in words] if self.contextual.lowercase else words
            return list(dict.fromkeys(cased))[:limit], {}
        often = self._counted(texts)
        if not often:
            self.unfinished.remove()
            if not texts.size:
                raise LovevecError("the corpus is empty: there is nothing to read in its files")
            raise LovevecError(f"no word of the corpus occurs {self.settings.min_count} times: lower --min-count")
        return list(often)[:limit], often

    def _counted(self, texts: Texts) -> dict[str, int]:
        """The first pass over the corpus: its words."""
        counts, place = Counts(self.contextual), (0, 0)
        if state := self.unfinished.load("counts"):
            place = state.values["place"]
            counts.load(state.arrays)
        with self.progress.phase("counting words", _kb(texts.size), "KB", _kb(texts.done(place)) or 0) as phase:
            for block in texts.blocks(place):
                counts.add(block.lines)
                place = block.place
                _show(phase, texts, f"{len(counts.counts):,} different words")
                if self.unfinished.is_due:
                    self.unfinished.save("counts", counts.state(), place=place)
        self.unfinished.save("counts", counts.state(), place=place)
        texts.unreadable = 0  # they are met once more
        return counts.often(self.settings.min_count)

    def _in_texts(
        self, texts: Texts, words: list[str], counts: dict[str, int]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Vectors [words, dim] by their occurrences in the texts, and how many each has."""
        keys = words if counts else [key or "" for key in spelled(self.contextual, words)]
        rows = {key: row for row, key in enumerate(dict.fromkeys(filter(None, keys)))}
        most = self.settings.most or ALL
        wanted = Wanted(self.contextual, list(rows), [min(most, counts.get(key, ALL)) for key in rows])
        pool = Pool(len(rows), self.contextual.dim, self.settings.pooling, self.contextual.device)
        self._pool_texts(texts, wanted, pool)
        row_of = np.array([rows.get(key, -1) for key in keys])
        taken = np.where(row_of >= 0, wanted.counts[row_of], 0) if rows else np.zeros(len(words), np.int64)
        pooled = pool.vectors(wanted.counts)
        vectors = np.zeros((len(words), self.contextual.dim), np.float32)
        vectors[row_of >= 0] = pooled[row_of[row_of >= 0]]
        if wanted.too_long:
            self.progress.say(f"{wanted.too_long:,} words of more pieces than a passage has: left out")
        return vectors, taken

    def _pool_texts(self, texts: Texts, wanted: Wanted, pool: Pool) -> None:
        """The second pass over the corpus: fill the pool, until the end or until no row takes more."""
        place: Place = (0, 0)
        if state := self.unfinished.load("texts"):
            place, texts.unreadable = state.values["place"], state.values["unreadable"]
            wanted.too_long = state.values["too_long"]
            wanted.load(state.arrays["left"])
            pool.load(state.arrays["total"])
            self.progress.say(f"going on: {wanted.complete:,} of {len(wanted.left):,} words are complete")
        waiting: list[Passage] = []
        blocks, stopped = 0, False
        with self.progress.phase("reading texts", _kb(texts.size), "KB", _kb(texts.done(place)) or 0) as phase:
            for block in texts.blocks(place):
                if stopped := wanted.complete == len(wanted.left):
                    break
                waiting += wanted.passages(block.lines)
                blocks, place = blocks + 1, block.place
                if blocks >= PATIENCE or sum(len(each.ids) for each in waiting) >= AHEAD * self.settings.batch:
                    self._flush(waiting, pool, phase)
                    waiting, blocks = [], 0
                    if self.unfinished.is_due:
                        self._keep(place, texts, wanted, pool)
                _show(phase, texts, f"{wanted.complete:,} of {len(wanted.left):,} words complete")
            self._flush(waiting, pool, phase)
        self._keep(place, texts, wanted, pool)
        if stopped and wanted.left:
            share = f" after {texts.done(place) / texts.size:.0%} of it" if texts.size else ""
            self.progress.say(f"no word takes more occurrences: the text was read no further{share}")

    def _keep(self, place: Place, texts: Texts, wanted: Wanted, pool: Pool) -> None:
        arrays = {"left": np.array(wanted.left, np.int64), "total": pool.total.cpu().numpy()}
        self.unfinished.save("texts", arrays, place=place, unreadable=texts.unreadable, too_long=wanted.too_long)

    def _alone(self, words: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Vectors [words, dim] of words that stand alone, and 1 for each that has one."""
        pool = Pool(len(words), self.contextual.dim, "mean", self.contextual.device)
        taken = np.zeros(len(words), np.int64)
        start = 0
        if state := self.unfinished.load("alone"):
            start, taken = state.values["words"], state.arrays["taken"]
            pool.load(state.arrays["total"])
        step = max(STEP, AHEAD * self.settings.batch // 8)
        with self.progress.phase("single words", len(words), "words", start) as phase:
            for low in range(start, len(words), step):
                chunk = words[low : low + step]
                passages = [
                    passage
                    for row, (ids, _) in enumerate(self.contextual.tokenized(chunk), low)
                    if (passage := self._alone_passage(ids, row))
                ]
                taken[[passage.spans[0][2] for passage in passages]] = 1
                self._flush(passages, pool, phase)
                phase.advance(len(chunk))
                if self.unfinished.is_due:
                    arrays = {"taken": taken, "total": pool.total.cpu().numpy()}
                    self.unfinished.save("alone", arrays, words=low + step)
        return pool.vectors(taken), taken

    def _alone_passage(self, ids: list[int], row: int) -> Passage | None:
        """One word with nothing around it but special tokens; None if the model's vocabulary has no piece of it."""
        contextual = self.contextual
        if not any(contextual.pieces.text[number] for number in ids) or len(ids) > contextual.room:
            return None
        start = len(contextual.before)
        if self.settings.specials:
            return contextual.passage(ids, [(0, start + len(ids) + len(contextual.behind), row)])
        return contextual.passage(ids, [(start, start + len(ids), row)])

    def _flush(self, passages: list[Passage], pool: Pool, phase: Phase) -> None:
        """Send passages through the model, those of like length together."""
        for batch in batches(passages, self.settings.batch):
            pool.add(self.contextual.states([passage.ids for passage in batch]), batch)
            phase.show()

    def _tell(self, texts: Texts, lacking: list[str], missing: list[str]) -> None:
        """What was left out on the way."""
        if texts.unreadable:
            self.progress.say(f"{texts.unreadable:,} words with bytes that are not UTF-8: left out")
        if lacking and texts.paths and self.settings.fill_missing:
            self.progress.say(f"{len(lacking):,} words never occur, so they were taken alone{_first(lacking)}")
        if missing:
            why = "have no pieces in the model's vocabulary" if self.settings.single else "never occur as one word"
            more = "" if self.settings.single or self.settings.fill_missing else "; --fill-missing takes them alone"
            self.progress.say(f"{len(missing):,} words {why}: left out{_first(missing)}{more}")

    def _origin(self, texts: Texts, occurrences: int) -> dict[str, Any]:
        """Where the vectors come from, in terms fit to publish."""
        weights = weights_file(self.source) if isinstance(self.source, str) else None
        settings = self.settings
        how: dict[str, Any] = {"single": True, "specials": settings.specials}
        if not settings.single:
            corpus = [path.name if path else "standard input" for path in texts.paths]
            how = {"corpus": corpus, "pooling": settings.pooling, "most": settings.most, "occurrences": occurrences}
            how |= {"fill_missing": settings.fill_missing, "length": self.contextual.length}
        return {
            "model": self.contextual.name,
            "sha256": file_hash(weights, self.progress) if weights else None,
            "cased": not self.contextual.lowercase,
            "layer": settings.layer,
            **how,
            "precision": settings.precision,
            "lovevec": __version__,
        }


def batches(passages: list[Passage], pieces: int) -> Iterator[list[Passage]]:
    """Passages of like length, so many that with padding they have at most `pieces` pieces (or one passage)."""
    batch: list[Passage] = []
    for passage in sorted(passages, key=lambda passage: len(passage.ids)):
        if batch and (len(batch) + 1) * len(passage.ids) > pieces:
            yield batch
            batch = []
        batch.append(passage)
    if batch:
        yield batch


def _kb(size: int | None) -> int | None:
    return None if size is None else size // KB


def _show(phase: Phase, texts: Texts, note: str) -> None:
    phase.advance(texts.read // KB - phase.done, note)


def _first(words: list[str]) -> str:
    """`: these, those, …` to show which words are meant."""
    return f" ({', '.join(words[:SHOWN])}{', …' if len(words) > SHOWN else ''})"
