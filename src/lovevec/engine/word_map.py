"""From words to their rows: by the compiled core where it is there, else by a dict, or what takes less memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.compiled import core, is_compiled
from lovevec.units.ragged import offsets_of

if TYPE_CHECKING:
    from lovevec._core import WordMap

MIN_WORDS_WITHOUT_DICT = 200_000  # a dict takes 80 bytes a word


def word_map(words: Sequence[str]) -> Mapping[str, int]:
    """The row of each word. Where a word stands twice, its last row."""
    if is_compiled("auto"):
        return CompiledWordMap(words)
    return (
        SmallWordMap(words) if len(words) >= MIN_WORDS_WITHOUT_DICT else {word: row for row, word in enumerate(words)}
    )


class WordRows(Mapping[str, int]):
    """A mapping from words to rows that looks words up by `get`."""

    _words: Sequence[str]

    def get(self, word: object, default: Any = None) -> Any:
        """The row of a word, or `default` where the word is not there."""
        raise NotImplementedError

    def __getitem__(self, word: str) -> int:
        row: int = self.get(word, -1)
        if row < 0:
            raise KeyError(word)
        return row

    def __contains__(self, word: object) -> bool:
        return bool(self.get(word, -1) >= 0)

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)


class CompiledWordMap(WordRows):
    """The words in UTF-8 and a hash table of row numbers, `core`, in which whole texts find their words, too."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        text = "".join(words)
        sizes = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
        if not text.isascii():
            is_plain = np.fromiter(map(str.isascii, words), dtype=np.bool_, count=len(words))
            for row in np.flatnonzero(~is_plain).tolist():
                sizes[row] = len(words[row].encode("utf-8", "surrogatepass"))
        content = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        # Python's hashes differ from process to process, unless somebody wants them not to: so do those of the table.
        self.core: WordMap = core().WordMap(text=content, offsets=offsets_of(sizes), seed=hash("lovevec"))
        self.get = self.core.get  # type: ignore[method-assign]  # without a step between

    def look_up(self, words: Sequence[str], lowercase: bool) -> tuple[NDArray[np.int64], list[int]]:
        """The row of each word, -1 where it is not there; of plain letters and digits also in lower case. And the
        places of those that are not there and have other characters."""
        rows = np.empty(len(words), dtype=np.int64)
        return rows, self.core.look_up(words, rows, lowercase)

    def __reduce__(self) -> tuple[Any, ...]:
        return CompiledWordMap, (self._words,)


class SmallWordMap(WordRows):
    """A hash table of row numbers alone: 8 to 16 bytes a word. Looking a word up takes a few times as long as in a
    dict, still a fraction of a microsecond."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        bits = max(2 * len(words) - 1, 1).bit_length()
        self._mask = (1 << bits) - 1
        rows = np.full(1 << bits, -1, dtype=np.int32)
        place: NDArray[np.int64] = np.fromiter(map(hash, words), dtype=np.int64, count=len(words)) & self._mask
        left = np.arange(len(words), dtype=np.int32)
        while len(left):  # all words that have no place yet try the next one
            free = rows[place] < 0
            rows[place[free]] = left[free]
            missed = rows[place] != left
            left, place = left[missed], (place[missed] + 1) & self._mask
        self._rows = rows.data  # which gives plain ints, several times as fast as an array

    def get(self, word: object, default: Any = None) -> Any:
        """The row of a word, or `default` where the word is not there."""
        words, rows, mask = self._words, self._rows, self._mask
        place = hash(word) & mask
        while (row := rows[place]) >= 0:
            if words[row] == word:
                return row
            place = (place + 1) & mask
        return default
