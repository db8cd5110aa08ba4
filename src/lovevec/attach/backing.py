"""What an attached table asks of the model behind it: a LOVE, or a `PlainModel` around anything that gives words a
direction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError
from lovevec.near.context import SentenceReader
from lovevec.near.forms import look_up
from lovevec.near.orthography import Orthography
from lovevec.near.readings import Readings

if TYPE_CHECKING:
    from lovevec.explain import Explanation
    from lovevec.word_vectors import Lookup, WordsWithScores

Floats = NDArray[np.float32]
Numbers = NDArray[np.float64]


class BackingModel(Protocol):
    """A model that can stand behind a table. LOVE is one; its methods of these names say what they give."""

    dim: int

    @property
    def words(self) -> Sequence[str]: ...
    @property
    def orthography(self) -> Orthography | None: ...
    @property
    def _threads(self) -> int: ...
    @property
    def _compiled(self) -> bool: ...
    @property
    def _tells_lengths(self) -> bool: ...
    @property
    def _sentence_reader(self) -> SentenceReader | None: ...
    def __contains__(self, word: object) -> bool: ...
    def _look_up(self, words: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]: ...
    def _impute(self, words: Sequence[str]) -> tuple[Floats, Floats | None]: ...
    def _number_codes(self, numbers: Sequence[str]) -> Floats: ...
    def _imputed_confidence(self, words: Sequence[str], lengths: Floats | None = None) -> Numbers: ...
    @property
    def _judge(self) -> Callable[..., Numbers]: ...
    def _explain(self, word: str, lookup: Lookup, neighbors: WordsWithScores) -> Explanation: ...
    def save(self, folder: Any) -> None: ...
    def _own_vectors(self, rows: NDArray[np.integer]) -> Floats: ...
    @property
    def _learned_rows(self) -> NDArray[np.int64]: ...


class PlainModel:
    """A model that gives words a direction and nothing else: it reads no misspellings and is never sure.

    :param words: those that it learned from.
    :param dim: numbers of a vector.
    :param embed: words -> unit rows [len(words), dim].
    """

    orthography = None
    _threads, _compiled, _tells_lengths = 1, False, False
    _sentence_reader = None
    _learned_rows = np.zeros(0, dtype=np.int64)

    def __init__(self, words: Sequence[str], dim: int, embed: Callable[[Sequence[str]], Floats]) -> None:
        self.words, self.dim, self._embed = words, dim, embed

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def _look_up(self, words: Sequence[str]) -> tuple[NDArray[np.int64], list[str]]:
        return look_up(words, {word: row for row, word in enumerate(self.words)})

    def _impute(self, words: Sequence[str]) -> tuple[Floats, Floats | None]:
        return self._embed(words), None

    def _number_codes(self, numbers: Sequence[str]) -> Floats:
        return self._embed(numbers)

    def _imputed_confidence(self, words: Sequence[str], lengths: Floats | None = None) -> Numbers:
        return np.full(len(words), np.nan)

    def _judge(
        self, strings: Sequence[str], readings: Readings, lengths: Floats | None = None, quality: float = 1.0
    ) -> Numbers:
        return np.full(len(strings), np.nan)

    def _explain(self, word: str, lookup: Lookup, neighbors: WordsWithScores) -> Explanation:
        raise LovevecError("explain: only a LOVE tells what its vectors are made of, and behind this table is none")

    def _own_vectors(self, rows: NDArray[np.integer]) -> Floats:
        return self._embed([self.words[row] for row in rows.tolist()])

    def save(self, folder: Any) -> None:
        """A plain model has no files."""
        raise LovevecError("save: only a table with a LOVE behind it can be saved, and behind this one is none")
