"""Words of one's own, and weights of one's own texts: `love.with_words(names)`, `love.with_lexicon(terms)`,
`love.fitted(texts)`.

A new word is put behind the known ones, with the vector that it has as a new word and the weight of rare words. Its
rank is OWN_RANK: whoever names words wants them found, so that they are meant more often than most words of the
language. Words that were known keep their rows and weights.

Weights of a collection are the model's times log((1 + texts) / (1 + texts with the word)) + 1, at the same mean over
the words of the collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lovevec.errors import LovevecError, Parameter, shown
from lovevec.model.folder import ModelParts
from lovevec.model.known_rows import MAX_WEIGHT
from lovevec.near.forms import Listed, check_listed
from lovevec.near.lexicon import Lexicon
from lovevec.texts.tokens import runs_of
from lovevec.units.words import check_words
from lovevec.word_vectors import WordVectors

OWN_RANK = 1000
MIN_LETTERS, MAX_LETTERS = 2, 100  # of a word that is put in


def with_words(
    model: WordVectors,
    parts: ModelParts,
    words: Iterable[str],
    weights: Mapping[str, float] | None = None,
    vectors: NDArray[np.float32] | None = None,
    ranks: NDArray[np.int32] | None = None,
) -> ModelParts:
    """The `parts` of a model that knows more words. With `vectors` of their own [words, dim], and `ranks` [words], they
    are new ones and are put in as they stand."""
    encoder, lowercase, rows = model.text_encoder(), parts.units.lowercase, parts.rows
    assert rows is not None
    new = _new_words(model, _in_order(words), lowercase) if vectors is None else list(words)
    place = {word: row for row, word in enumerate([*model.words, *new])}
    counts = np.append(encoder.weights, np.full(len(new), encoder.new_weight, dtype=np.float32))
    if weights is not None and not isinstance(weights, Mapping):
        raise LovevecError(f"{Parameter('weights')} is {shown(weights)}: must be a dict of word to number")
    for word, value in (weights or {}).items():
        if not isinstance(value, (int, float)) or not 0 <= value <= MAX_WEIGHT:
            raise LovevecError(
                f"{Parameter('weights')}: that of {shown(word)} is {value!r}: must be a number, at least 0"
            )
        row = place.get(word.lower() if lowercase else word)
        if row is None:
            raise LovevecError(f"{Parameter('weights')}: {shown(word)} is neither known nor among the words")
        counts[row] = value
    rows = replace(rows, weights=counts[: len(rows)])
    if new:
        ranks = np.full(len(new), OWN_RANK, dtype=np.int32) if ranks is None else ranks
        rows = rows.with_more(model.impute(new) if vectors is None else vectors, counts[len(rows) :], ranks)
    metadata = dict(parts.metadata)
    if vectors is None:
        metadata["own_words"] = len(new) + int(metadata.get("own_words", 0))
    return replace(parts, words=[*model.words, *new], rows=rows, metadata=metadata)


def _new_words(model: WordVectors, texts: Sequence[str], lowercase: bool) -> list[str]:
    """The words of texts that are not known, each once; the parts of those that hold several."""
    runs = list(dict.fromkeys(run for text in texts for run in runs_of(text)))
    composites = model.lookup(runs).composites
    held = []
    for place, run in enumerate(runs):
        parts = composites.get(place)
        held += [run.lstrip("#@")] if parts is None else [part.text for part in parts.parts]
    able = (word for word in held if MIN_LETTERS <= len(word) <= MAX_LETTERS and any(map(str.isalpha, word)))
    return [word for word in dict.fromkeys(word.lower() if lowercase else word for word in able) if word not in model]


def with_lexicon(
    parts: ModelParts, words: Iterable[str], forms: Listed | None = None, replaced: bool = False
) -> ModelParts:
    """The `parts` of a model whose lexicon has more words, or no others than these and the known ones; and other listed
    forms, where these are given."""
    known, lowercase, own, more = parts.words, parts.units.lowercase, parts.orthography, _in_order(words)
    if replaced:
        grams, scale, endings = own.lexicon.grams, own.lexicon.scale, own.lexicon.endings
        lexicon = Lexicon.of([*known, *more], lowercase, grams, scale, endings)
    else:
        lexicon = own.lexicon.with_words(more if not own.lexicon.is_empty else [*known, *more], lowercase)
    listed = own.listed if forms is None else _checked(forms)
    return replace(parts, orthography=replace(own, lexicon=lexicon, listed=listed))


def _in_order(words: Iterable[str]) -> Sequence[str]:
    """Words as a list; those of a set, which has no order, sorted."""
    return check_words(sorted(words) if isinstance(words, (set, frozenset)) else words)


def _checked(forms: Listed) -> Listed:
    try:
        return check_listed({form: [list(one) for one in meanings] for form, meanings in forms.items()})
    except (ValueError, TypeError, AttributeError) as error:
        raise LovevecError(f"{Parameter('forms')}: {error}") from None


def with_weights_of(model: WordVectors, parts: ModelParts, texts: Iterable[str]) -> ModelParts:
    """The `parts` of a model whose words count as in a collection."""
    rows, collection = parts.rows, check_words(texts)
    assert rows is not None
    if not collection:
        raise LovevecError(f"{Parameter('texts')}: there are none to learn weights from")
    weights = model.text_encoder().weights_in(collection)
    metadata = {**parts.metadata, "fitted": {"texts": len(collection)}}
    return replace(parts, rows=replace(rows, weights=weights), metadata=metadata)


def with_weights_by(model: WordVectors, parts: ModelParts, documents: Mapping[str, float], texts: int) -> ModelParts:
    """The same for a collection of so many `texts` whose words are counted: `documents` with each."""
    rows, place = parts.rows, {word: row for row, word in enumerate(model.words)}
    assert rows is not None
    within = np.zeros(len(rows))
    for word, count in documents.items():
        if (row := place.get(word)) is not None:
            within[row] = count
    metadata = {**parts.metadata, "fitted": {"texts": texts}}
    weights = model.text_encoder().weights_by(within, texts)
    return replace(parts, rows=replace(rows, weights=weights), metadata=metadata)
