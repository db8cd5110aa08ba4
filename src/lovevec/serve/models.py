"""What is served: models and attached tables by name, and what each answers to lists of words.

Every answer takes a list and gives one result an item, so that the lists of several requests can be joined.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.attach import Attached
from lovevec.errors import LovevecError
from lovevec.explain import edit_facts, part_facts
from lovevec.love import LOVE
from lovevec.near.readings import WORDS_PER_READING
from lovevec.texts.correct import THRESHOLD
from lovevec.texts.text_reader import Token
from lovevec.vectors.rows import normalized

Floats = NDArray[np.float32]
Pair = tuple[str, str]
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
SAMPLE = "wonderfull"  # a misspelling: to read it, all of a model is needed


class EmbeddingResult:
    """Vectors [n, dim] with the readings of their words. Slices are such results too, and can be joined again."""

    def __init__(self, vectors: Floats, readings: list[str]) -> None:
        self.vectors, self.readings = vectors, readings

    def __len__(self) -> int:
        return len(self.readings)

    def __getitem__(self, part: slice) -> EmbeddingResult:
        return EmbeddingResult(self.vectors[part], self.readings[part])

    @classmethod
    def joined(cls, results: Sequence[EmbeddingResult]) -> EmbeddingResult:
        """Several results as one, in their order."""
        readings = [reading for result in results for reading in result.readings]
        return cls(np.concatenate([result.vectors for result in results]), readings)


class ServedModel:
    """A model or an attached table (`kind` says which) under the name by which requests ask for it."""

    def __init__(self, name: str, vectors: LOVE | Attached, kind: str) -> None:
        self.name, self.vectors, self.kind = name, vectors, kind
        self.created = int(time.time())

    @property
    def dim(self) -> int:
        return self.vectors.dim

    def try_out(self) -> None:
        """Read a word and a text, so that the first requests do not wait for what is made once."""
        self.near([SAMPLE])
        self.embed([SAMPLE])
        self.encode([f"{SAMPLE} {SAMPLE}"])

    def warm_up(self) -> None:
        """Prepare everything that any request would: workers then share it, and nobody waits for it."""
        self.vectors.warm_up()
        self.neighbors([SAMPLE], 1)
        self.correct([f"{SAMPLE} {SAMPLE} and more"])
        self.explain([SAMPLE], 1)

    def embed(self, words: Sequence[str]) -> EmbeddingResult:
        """The vectors of words, and how each word was read."""
        place: dict[str, int] = {}  # what several requests ask for is computed once
        rows = [place.setdefault(word, len(place)) for word in words]
        lookup = self.vectors.lookup(list(place))
        return EmbeddingResult(lookup.vectors[rows], [lookup.readings[row] for row in rows])

    def encode(self, texts: Sequence[str], context: bool = True) -> Floats:
        """The vectors of texts, [len(texts), dim]."""
        return self.vectors.encode(texts, context=context)

    def near(self, words: Sequence[str]) -> list[dict[str, Any]]:
        """How each word is read, how sure its vector is, what it may stand for, its kind if it is no word, and what
        stands where in one of several words."""
        lookup = self.vectors.lookup(words)
        answers = zip(lookup.readings, lookup.kinds, lookup.confidence.tolist(), lookup.new.tolist(), strict=True)
        lists = zip(lookup.near(WORDS_PER_READING), lookup.parts, strict=True)
        return [
            {
                "word": word,
                "reading": reading,
                "kind": kind,
                "confidence": None if math.isnan(confidence) else confidence,
                "near": [{"word": name, "probability": probability} for name, probability in near],
                "new": new,
                "parts": [part_facts(part) for part in parts],
            }
            for word, (reading, kind, confidence, new), (near, parts) in zip(words, answers, lists, strict=True)
        ]

    def neighbors(self, words: Sequence[str], k: int) -> list[list[dict[str, Any]]]:
        """The k known words that are nearest to each word, with their cosines."""
        lists = self.vectors.neighbors(words, k)
        return [[{"word": word, "cosine": cosine} for word, cosine in near] for near in lists]

    def similar(self, pairs: Sequence[Pair]) -> list[float | None]:
        """The cosine of each pair; None where one of the two is empty."""
        place = {word: row for row, word in enumerate(dict.fromkeys(word for pair in pairs for word in pair))}
        rows = normalized(self.vectors.embed(list(place))).astype(np.float64)
        return [
            float(np.clip(rows[place[one]] @ rows[place[other]], -1, 1)) if one.strip() and other.strip() else None
            for one, other in pairs
        ]

    def explain(self, words: Sequence[str], k: int) -> list[dict[str, Any]]:
        """What each word's vector is made of, with k neighbors; these are found for all words at once."""
        explanations = [self.vectors.explain(word, 0).as_dict() for word in words]
        neighbors = self.neighbors(words, k) if k else [[] for _ in words]
        return [one | {"neighbors": near} for one, near in zip(explanations, neighbors, strict=True)]

    def tokens(self, texts: Sequence[str], context: bool = True) -> list[list[dict[str, Any]]]:
        """The words of each text as it is encoded, where they stand, and what would stand there if it were spelled
        right."""

        def facts(token: Token) -> dict[str, Any]:
            repair = token.replacement if token.reading in ("near", "parts") else None
            return {**part_facts(token), "weight": token.weight, "repair": repair}

        return [[facts(token) for token in self.vectors.tokens(text, context=context)] for text in texts]

    def correct(
        self, texts: Sequence[str], threshold: float = THRESHOLD, keep: Collection[str] = ()
    ) -> list[dict[str, Any]]:
        """Each text with its misspellings put right, and what was changed."""
        corrections = self.vectors.correct(list(texts), threshold=threshold, keep=keep)
        return [{"text": one.text, "edits": [edit_facts(edit) for edit in one.edits]} for one in corrections]


def load_models(models: Sequence[str], tables: Sequence[str]) -> dict[str, ServedModel]:
    """Models are NAME=MODEL, or MODEL for one by its own name; tables are NAME=FILE or FILE, and have the first model
    behind them. The first is the default."""
    served: dict[str, ServedModel] = {}
    first: LOVE | None = None
    for kind, argument in [("model", name) for name in models or ["default"]] + [("table", name) for name in tables]:
        name, source = split_name(argument, kind)
        if kind == "table" and first is not None:
            vectors: LOVE | Attached = first.attach(source)
        else:
            vectors = LOVE.load(source, low_memory=True)
            first = first or vectors
        if name in served:
            raise LovevecError(f"two are named {name}: give each a name of its own, NAME=…")
        served[name] = ServedModel(name, vectors, kind)
    return served


def split_name(argument: str, what: str) -> Pair:
    """The name and the source of NAME=SOURCE; a source alone is named by the last part of its path."""
    name, sign, source = argument.partition("=")
    if not sign or not NAME.fullmatch(name):
        source, name = argument, Path(argument).name if what == "model" else Path(argument).name.split(".")[0]
    if not source or not NAME.fullmatch(name):
        form = "an index is given as NAME=FOLDER" if what == "index" else f"a {what} is given as NAME={what.upper()}"
        raise LovevecError(f"{argument}: {form}, its name of letters, digits, . _ -")
    return name, source
