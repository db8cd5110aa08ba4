"""What a search gives: hits, and why each was found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Met(NamedTuple):
    """A word of a query that meets a word of a text.

    query    the word as it stands in the query, cut as texts are
    word     the word of the text
    reading  known, near, parts, or form (another form of the same word)
    share    how probably the one means the other
    """

    query: str
    word: str
    reading: str
    share: float


class Why(NamedTuple):
    """Why a text was found.

    met      the words that met, those that count most first
    words    of the score what the words account for
    letters  what letters in common account for
    meaning  what the meaning accounts for: together they are the score
    """

    met: tuple[Met, ...]
    words: float
    letters: float
    meaning: float


class Hit:
    """A text that was found: its `id`, the `text`, the `score` from 0 to 1, which may be compared between queries, and
    `why`, which is looked for when it is first asked for."""

    __slots__ = ("_explain", "_why", "id", "score", "text")

    def __init__(self, id: int | str, text: str, score: float, explain: Callable[[], Why]) -> None:
        self.id, self.text, self.score, self._explain = id, text, score, explain
        self._why: Why | None = None

    @property
    def why(self) -> Why:
        """Which words met, and what words, letters and meaning account for."""
        if self._why is None:
            self._why = self._explain()
        return self._why

    def __repr__(self) -> str:
        return f"Hit(id={self.id!r}, text={self.text!r}, score={self.score:.3f})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hit):
            return NotImplemented
        return (self.id, self.text, self.score) == (other.id, other.text, other.score)

    def __hash__(self) -> int:
        return hash((self.id, self.text, self.score))

    def __reduce__(self) -> tuple[Any, ...]:
        return Hit, (self.id, self.text, self.score, _Known(self.why))


def hit_facts(hit: Hit, why: bool = True) -> dict[str, Any]:
    """A hit for JSON; with `why` the reasons too."""
    facts: dict[str, Any] = {"id": hit.id, "text": hit.text, "score": hit.score}
    if why:
        facts["why"] = hit.why._asdict() | {"met": [met._asdict() for met in hit.why.met]}
    return facts


class _Known(NamedTuple):
    """A reason that is known, as something to call."""

    why: Why

    def __call__(self) -> Why:
        return self.why
