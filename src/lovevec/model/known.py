"""The known words of a model folder, parsed when somebody first asks: most loads only want a vector."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import overload

from lovevec.errors import FormatError, reason


class KnownWords(Sequence[str]):
    """A JSON list of strings, as bytes until it is used; `path` is named in errors. There must be as many as
    there are `rows` of their own, if any."""

    def __init__(self, content: bytes, path: Path, rows: int | None = None) -> None:
        self._content, self._path, self._rows = content, path, rows

    @cached_property
    def _words(self) -> list[str]:
        try:
            words = json.loads(self._content)
        except (ValueError, RecursionError) as error:
            raise FormatError(self._path, f"not readable as JSON ({reason(error)})") from None
        if not isinstance(words, list) or not all(type(word) is str for word in words):
            raise FormatError(self._path, "must be a list of words")
        if self._rows not in (None, len(words)):
            raise FormatError(self._path, f"{len(words):,} known words, but {self._rows:,} rows of their own")
        return words

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._words[index]

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __contains__(self, word: object) -> bool:
        return word in self._words

    def __eq__(self, other: object) -> bool:
        return self._words == (other._words if isinstance(other, KnownWords) else other)

    __hash__ = None  # type: ignore[assignment]
