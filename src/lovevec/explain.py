"""What a word's vector is made of: its units, how much each counts, what attends to what, what is near.

weight   w_j of the fold: how much of unit j is added up. Positive; the weights of a word sum to its n units.
share    how much of the final vector v unit j brings: w_j out_j · v over the length before normalisation. A unit
         may pull away from v (a negative share). Shares, with that of the word-level head where there is one,
         sum to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.with_numpy import NumpyEngine
from lovevec.files.lines import printable
from lovevec.model.folder import ModelParts
from lovevec.near.readings import WORDS_PER_READING
from lovevec.units.characters import normalise

if TYPE_CHECKING:
    from lovevec.texts.correct import Edit
    from lovevec.texts.text_reader import Token
    from lovevec.word_vectors import Lookup

Map = NDArray[np.float64]
SHOWN = 40
TINY = 1e-38
BAR = 20
SHOWN_CHANCE = 0.005


class Unit(NamedTuple):
    """One symbol of the word's input; weight and share are None for an encoder that does not fold. `start` and `end`
    tell which characters of the normalised word it covers; None for marks such as [CLS]."""

    name: str
    weight: float | None = None
    share: float | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What `love.explain(word)` found; print it, draw it with `plot`, or take `as_dict` for JSON.

    `reading` is known, near, parts, new or empty, `kind` what it is that is no word (a quantity, a date; None for
    words), `near` the known words that it may stand for, with their probabilities, `new` the probability that it is a
    word of its own, and `parts` the words and numbers that it holds, if it is several;
    units, attention and shares are those of the imputed vector. `positional` is A_n, which depends on the number of
    units alone, `attention` is S, the self-attention, both [n, n] (n-grams are not in them): row i says how much unit i
    takes from each unit. `head` is the share of the word-level head, 0 without one. `confidence` is None where the
    model has no calibration (`love.metadata["confidence"]` says what it is the probability of). `neighbors` are the
    nearest known words with their cosine.
    """

    word: str
    normalised: str
    reading: str
    kind: str | None
    near: tuple[tuple[str, float], ...]
    new: float
    parts: tuple[Token, ...]
    confidence: float | None
    units: tuple[Unit, ...]
    head: float
    positional: Map | None
    attention: Map | None
    neighbors: tuple[tuple[str, float], ...]
    notes: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether the word has a vector of its own."""
        return self.reading == "known"

    @property
    def empty(self) -> bool:
        """Whether there is nothing to read."""
        return self.reading == "empty"

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "word": self.word,
            "normalised": self.normalised,
            "reading": self.reading,
            "kind": self.kind,
            "known": self.known,
            "empty": self.empty,
            "near": [{"word": word, "probability": chance} for word, chance in self.near],
            "new": self.new,
            "parts": [part_facts(part) for part in self.parts],
            "confidence": self.confidence,
            "units": [unit._asdict() for unit in self.units],
            "head": self.head,
            "positional": None if self.positional is None else self.positional.tolist(),
            "attention": None if self.attention is None else self.attention.tolist(),
            "neighbors": [{"word": word, "cosine": cosine} for word, cosine in self.neighbors],
            "notes": list(self.notes),
        }

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the two attention maps and the shares into a picture file (.png, .svg, .pdf)."""
        from lovevec.figures.attention import draw_explanation

        draw_explanation(self, path)

    def __str__(self) -> str:
        return "\n".join([self._headline(), *self._reading_lines(), *self._unit_lines(), *self._end_lines()])

    __repr__ = __str__

    def _headline(self) -> str:
        shown = self.word if len(self.word) <= 60 else self.word[:40] + "…" + self.word[-15:]
        seen = f", read as {self.normalised!r}" if self.normalised != self.word and len(self.normalised) <= 60 else ""
        sure = "" if self.confidence is None else f", confidence {self.confidence:.2f}"
        kind = f", {self.kind}" if self.kind else ""
        return f"{shown!r}: {self.reading}{kind}{sure}{seen}"

    def _reading_lines(self) -> list[str]:
        if self.parts:
            return ["  " + " + ".join(map(part_shown, self.parts))]
        if self.kind or self.reading not in ("near", "new"):
            return []
        near = [f"{printable(word)} {chance:.2f}" for word, chance in self.near if chance >= SHOWN_CHANCE]
        return [f"  may stand for: {', '.join([*near, f'a new word {self.new:.2f}'])}"]

    def _unit_lines(self) -> list[str]:
        if self.positional is None:
            return ["  units  " + " ".join(printable(unit.name) for unit in self.units)]
        shares = np.array([unit.share for unit in self.units], dtype=np.float64)
        shown = np.sort(np.argsort(-np.abs(shares), kind="stable")[:SHOWN])
        rows = [self.units[place]._replace(name=printable(self.units[place].name)) for place in shown.tolist()]
        if self.head:
            rows.append(Unit("(head)", None, self.head))
        width = max(len("unit"), *(len(unit.name) for unit in rows))
        most = max(abs(unit.share or 0.0) for unit in rows) or 1.0
        lines = [f"  {'unit':<{width}}  weight   share"]
        for unit in rows:
            weight = f"{unit.weight:6.2f}" if unit.weight is not None else " " * 6
            bar = "█" * round(BAR * max(unit.share or 0.0, 0.0) / most)
            lines.append(f"  {unit.name:<{width}}  {weight}  {unit.share:6.1%}  {bar}".rstrip())
        if len(shown) < len(self.units):
            lines.append(f"  … and {len(self.units) - len(shown)} units of smaller share")
        return lines

    def _end_lines(self) -> list[str]:
        near = ", ".join(f"{printable(word)} {cosine:.2f}" for word, cosine in self.neighbors)
        return [f"  nearest known words: {near or 'none'}", *(f"  {printable(note)}" for note in self.notes)]


def part_facts(part: Token) -> dict[str, Any]:
    """What is known of a part of a string, for JSON; of its weight nothing, which counts in texts alone, and of other
    words that it may stand for nothing."""
    return {name: value for name, value in part._asdict().items() if name not in ("weight", "candidates")}


def edit_facts(edit: Edit) -> dict[str, Any]:
    """What is known of a correction, for JSON."""
    suggestions = [{"word": word, "probability": probability} for word, probability in edit.suggestions]
    return {**edit._asdict(), "suggestions": suggestions}


def part_shown(part: Token) -> str:
    """A part of a string for people: `neural`, and `netwrok (network 0.97)`."""
    word = printable(part.word or part.text)
    return word if part.reading != "near" else f"{printable(part.text)} ({word} {part.probability:.2f})"


def explain(
    word: str,
    parts: ModelParts,
    fold: NumpyEngine | None,
    lookup: Lookup,
    neighbors: list[tuple[str, float]],
) -> Explanation:
    """The explanation of a word: its imputed vector taken apart, in float64, and what was found out about the string:
    `lookup` is that of the word alone."""
    confidence = float(lookup.confidence[0])
    names = parts.units.names(word)
    spans = [span or (None, None) for span in parts.units.spans(word)]
    nothing: list[None] = [None] * len(names)
    weights, shares, head, positional, attention = nothing, nothing, 0.0, None, None
    notes = []
    if np.isnan(confidence):
        notes.append(
            str((parts.metadata.get("confidence") or {}).get("missing", "confidence: this model is not calibrated"))
        )
    if fold is None:
        notes.append(f"weights and attention maps: not for the {parts.spec.kind} encoder, which does not fold")
    else:
        ids = parts.units.encode([word]).values
        ordered = ids < parts.units.vocabulary.unit_rows
        heavy, brings, head, positional, attention = take_apart(fold, ids[ordered], ids[~ordered])
        weights, shares = heavy.tolist(), brings.tolist()
    rows = zip(names, weights, shares, spans, strict=True)
    units = tuple(Unit(name, weight, share, *span) for name, weight, share, span in rows)
    return Explanation(
        word,
        normalise(word, parts.units.lowercase),
        lookup.readings[0],
        lookup.kinds[0],
        tuple(lookup.near(WORDS_PER_READING)[0]),
        float(lookup.new[0]),
        lookup.parts[0],
        None if np.isnan(confidence) else confidence,
        units,
        head,
        positional,
        attention,
        tuple(neighbors),
        tuple(notes),
    )


def take_apart(
    fold: NumpyEngine, ids: NDArray[np.integer], ngrams: NDArray[np.integer]
) -> tuple[Map, Map, float, Map, Map]:
    """Units of one word, and its n-grams -> the weights of both, their shares, the head's share, A_n and S [n, n]."""
    positional = fold.window(len(ids)).astype(np.float64)
    attention = fold.attention(ids[None])[0].astype(np.float64)
    weights = attention.sum(axis=0) @ positional
    out = fold.out_rows(ids).astype(np.float64)
    pooled = weights @ out
    added = np.zeros_like(pooled)
    if fold.tables.head:
        first, first_bias, second, second_bias = (tensor.astype(np.float64) for tensor in fold.tables.head)
        direction = pooled / max(np.linalg.norm(pooled), TINY)
        added = np.maximum(direction @ first.T + first_bias, 0) @ second.T + second_bias
    bag = fold.out_rows(ngrams).astype(np.float64)
    vector = pooled + added + bag.sum(axis=0)
    squared = max(vector @ vector, TINY)
    weights = np.concatenate([weights, np.ones(len(bag))])
    shares = weights * (np.concatenate([out, bag]) @ vector) / squared
    return weights, shares, float(added @ vector / squared), positional, attention
