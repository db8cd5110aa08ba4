"""LOVE: a vector for any word. Load a model, index it with a string.

love = LOVE.load()                    # the shipped default; or a folder, or a hub id
love["mispelling"]                    # float32, unit length
love.embed(["oxgen", "archiitect"])   # (2, dim)
love.neighbors("leukamia")            # [("leukaemia", 0.89), ("leukemia", 0.74), …]
love.explain("bec0me")                # its units, what each counts, attention, confidence, neighbors
robust = love.attach(vectors)         # your own vectors, with a row for every word they lack
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from lovevec.confidence import Confidence, measure
from lovevec.encoders.torch_engine import TorchEngine
from lovevec.engine.engine import Engine, FoldEngine, Mode
from lovevec.engine.nearest import NeighborIndex
from lovevec.engine.tables import Precision
from lovevec.errors import LovevecError
from lovevec.model.find import find_model
from lovevec.model.folder import CARD, ModelParts, read_model, write_model
from lovevec.units.words import in_batches, refuse_other_than_words, repeats, word_list

if TYPE_CHECKING:
    from lovevec.attach import Attached
    from lovevec.explain import Explanation

Floats = NDArray[np.float32]
BATCH = 16_384
# Shorter lists are done before anybody would look at a progress line.
LONG = 250_000


class LOVE:
    """A trained model: immutable, safe to share between threads. Inference needs no torch."""

    def __init__(self, parts: ModelParts, card: str = "", engine: Mode = "auto") -> None:
        self.parts = parts
        self.card = card
        self.dim = parts.spec.dim
        self.engine: Engine = _engine(parts, engine)
        self._known = NeighborIndex(parts.words, lambda: self.engine.embed_once(parts.words))

    @classmethod
    def load(cls, name: str | os.PathLike[str] | None = None, engine: Mode = "auto") -> LOVE:
        """Read a model, checked by size and hash: the shipped default, a shipped model by its name, a model folder, or
        a hub id `owner/name` (looked for in the local cache first). `engine`: auto, numpy or numba."""
        folder = find_model(name)
        card = folder / CARD
        return cls(read_model(folder), card.read_text("utf-8", "replace") if card.is_file() else "", engine)

    from_pretrained = load

    def save(self, folder: str | os.PathLike[str], precision: Precision | None = None) -> None:
        """Write the model folder, whole or not at all: as it is, or its folded tables as float16 or int8."""
        write_model(Path(folder), self.parts, self.card, precision)

    save_pretrained = save

    def __repr__(self) -> str:
        mimics = self.parts.metadata.get("target", {}).get("name", "a target that is not stated")
        return f"LOVE({self.dim} dimensions, {len(self.words):,} known words, {self.parts.precision}; mimics {mimics})"

    def __reduce__(self) -> tuple[Any, ...]:
        return LOVE, (self.parts, self.card, self.engine.mode)

    @property
    def words(self) -> Sequence[str]:
        """The known words: those of the target, in its order."""
        return self.parts.words

    @property
    def metadata(self) -> dict[str, Any]:
        """Where the model comes from: settings, target, parameter counts, scores. The caller's own copy."""
        return deepcopy(self.parts.metadata)

    @overload
    def __getitem__(self, word: str) -> Floats: ...
    @overload
    def __getitem__(self, word: Sequence[str] | NDArray[Any]) -> Floats: ...
    def __getitem__(self, word: str | Sequence[str] | NDArray[Any]) -> Floats:
        """The vector of one word, whatever it is: [dim]; of a list of words: [len(list), dim]."""
        if isinstance(word, str):
            vector: Floats = self._rows([word])[0]
            return vector
        return self.embed(word)

    def __contains__(self, word: object) -> bool:
        """Whether the word is known: in the target, letter by letter (lower-cased first where the model does so)."""
        return isinstance(word, str) and self._spelled(word) in self._known.place

    @overload
    def embed(self, words: Iterator[str], *, batch: int = ..., progress: bool | None = ...) -> Iterator[Floats]: ...
    @overload
    def embed(
        self, words: Sequence[str] | NDArray[Any], *, batch: int = ..., progress: bool | None = ...
    ) -> Floats: ...
    def embed(
        self, words: Iterable[str] | NDArray[Any], *, batch: int = BATCH, progress: bool | None = None
    ) -> Floats | Iterator[Floats]:
        """Vectors of unit length for any strings. A list, tuple or array of words: one array [len(words), dim]. An
        iterator: an iterator of arrays of up to `batch` rows, in constant memory.

        A progress line on stderr is shown with `progress=True`, and for long lists on a terminal unless it is False.
        """
        if not isinstance(batch, int) or batch < 1:
            raise LovevecError(f"batch is {batch!r}: must be at least 1, a whole number")
        if isinstance(words, Iterator):
            return self._stream(words, batch)
        listed = word_list(words)
        if progress or (progress is None and len(listed) >= LONG and _on_a_terminal()):
            return self._with_progress(listed)
        return self._rows(listed)

    def _stream(self, words: Iterator[str], batch: int) -> Iterator[Floats]:
        done = 0
        for part in in_batches(words, batch):
            yield self._rows(part, done)
            done += len(part)

    def _with_progress(self, words: Sequence[str]) -> Floats:
        from lovevec.progress import Progress

        result = np.empty((len(words), self.dim), dtype=np.float32)
        with Progress() as progress, progress.phase("embedding", len(words)) as phase:
            for low in range(0, len(words), BATCH):
                part = words[low : low + BATCH]
                result[low : low + len(part)] = self._rows(part, low)
                phase.advance(len(part))
        return result

    def _rows(self, words: Sequence[str], first: int = 0) -> Floats:
        """[len(words), dim]; running text, in which words come again and again, is computed once a word. `first` is
        the place of the first word in what the caller gave, for the error's sake."""
        try:
            if repeats(words):
                place: dict[str, int] = {}
                where = [place.setdefault(word, len(place)) for word in words]
                return self.engine.embed(list(place))[where]
            return self.engine.embed(words)
        except (TypeError, AttributeError):  # so that good words need not be looked at one by one
            refuse_other_than_words(words, first)
            raise

    @overload
    def neighbors(self, word: str, k: int = ...) -> list[tuple[str, float]]: ...  # type: ignore[overload-overlap]
    @overload
    def neighbors(self, word: Iterable[str], k: int = ...) -> list[list[tuple[str, float]]]: ...
    def neighbors(
        self, word: str | Iterable[str], k: int = 5
    ) -> list[tuple[str, float]] | list[list[tuple[str, float]]]:
        """The k known words whose vectors are nearest, with their cosine; the word itself is left out. Exact; of words
        equally near the first in the target comes first. For a list of words a list for each; an empty word has none.
        """
        return self._known.neighbors(word, k, self._rows, self._spelled)

    def similar(self, one: str, other: str) -> float:
        """The cosine of two words' vectors; nan when one of them is empty."""
        refuse_other_than_words([one, other])
        if not (one.strip() and other.strip()):
            return float("nan")
        first, second = self._rows([one, other]).astype(np.float64)
        return float(np.clip(first @ second, -1, 1))

    def attach(self, vectors: Any, **options: Any) -> Attached:
        """Your own word vectors (gensim, a dict, a file, …), with an imputed row for every word that they lack."""
        from lovevec.attach import Attached

        return Attached(self, vectors, **options)

    def confidence(self, words: Iterable[str] | NDArray[Any]) -> NDArray[np.float64]:
        """The probability that each word's vector is right: that its own target vector is among the 10 nearest (see
        `lovevec.confidence`). Known words have the share measured for known words, empty ones 0. A model that was not
        calibrated has NaN for all; `love.metadata["confidence"]` says why."""
        listed = word_list(words)
        refuse_other_than_words(listed)
        result = np.full(len(listed), np.nan)
        if self._calibration is not None:
            for low in range(0, len(listed), BATCH):
                part = listed[low : low + BATCH]
                found = self._calibration(self.measure(part))
                found[[word in self for word in part]] = self._calibration.known
                found[[not word.strip() for word in part]] = 0.0
                result[low : low + len(part)] = found
        return result

    def measure(self, words: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """The features that confidence is judged by, [len(words)] each."""
        refuse_other_than_words(words)
        if self.engine.fold is None:
            return measure(self.parts.units, words, None)
        lengths = np.empty(len(words), dtype=np.float32)
        self.engine.embed(words, lengths)
        return measure(self.parts.units, words, lengths)

    def explain(self, word: str, k: int = 5) -> Explanation:
        """What the word's vector is made of: units, how much each counts, attention, confidence, nearest words."""
        from lovevec.explain import explain

        refuse_other_than_words([word])
        return explain(
            word,
            self.parts,
            self.engine.fold,
            known=word in self,
            confidence=float(self.confidence([word])[0]),
            neighbors=self.neighbors(word, k),
        )

    def _spelled(self, word: str) -> str:
        return word.lower() if self.parts.units.lowercase else word

    @cached_property
    def _calibration(self) -> Confidence | None:
        return Confidence.from_metadata(self.parts.metadata)


def _engine(parts: ModelParts, mode: Mode) -> Engine:
    """The fold without torch, or torch for an encoder that does not fold."""
    if parts.spec.foldable:
        return FoldEngine(parts.spec, parts.folded, parts.units, mode)
    return TorchEngine(parts)


def _on_a_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
