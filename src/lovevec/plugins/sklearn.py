"""Texts to a matrix for scikit-learn, in any pipeline: misspelled words count as the words that were meant.

    make_pipeline(LoveVectorizer(), LogisticRegression()).fit(texts, labels)

| `pooling` | a text is | `weights` if not said |
|---|---|---|
| mean | the weighted mean of its words: what `love.encode` gives | model: those of the LOVE |
| sif | the same, less its part along the direction that the texts of `fit` have most in common | sif |
| max | in each dimension the greatest number among its words' vectors | uniform |

| `weights` | a word counts | learned in `fit` |
|---|---|---|
| model | as in `love.encode` | |
| idf | as in `love.encode`, times how rare it is among the texts: `love.fitted(texts)` | document frequencies |
| tfidf | ln((1 + texts) / (1 + texts with it)) + 1, each time it stands there | document frequencies |
| sif | a / (a + its share of all words), a = 0.001 (Arora et al., 2017) | frequencies |
| uniform | 1 | |

A misspelling is counted in `fit` for the words that it may stand for, by their probability. A word that no text of
`fit` had counts as a rare one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from lovevec.attach import Attached
from lovevec.errors import LovevecError, MissingExtra
from lovevec.plugins import LoveOption, load_love
from lovevec.texts.encode import TEXTS_PER_BATCH, EncodeOptions, encode_texts
from lovevec.texts.encoder import TextEncoder
from lovevec.texts.text_reader import SIF
from lovevec.units.words import word_list
from lovevec.vectors.rows import normalized

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils import Tags
    from sklearn.utils.validation import check_is_fitted
except ImportError:
    raise MissingExtra("scikit-learn 1.6 or newer", "sklearn") from None

Floats = NDArray[np.float32]
Pooling = Literal["mean", "sif", "max"]
Weights = Literal["model", "idf", "tfidf", "sif", "uniform"]
WEIGHTS_OF_POOLING: dict[str, str] = {"mean": "model", "sif": "sif", "max": "uniform"}  # if not said
WEIGHT_SCHEMES = get_args(Weights)


class LoveVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Texts -> [texts, dim], float32. A text without words has a row of zeros.

    love       a LOVE, an attached table (`love.attach(vectors)`), a model's folder or name; None: the shipped default
    pooling    mean, sif or max
    weights    model, idf, tfidf, sif or uniform; None for those that go with the pooling
    normalize  whether rows have unit length

    After `fit`: `love_`, the model; `weights_` [known words], None for the model's own; `component_` [dim], the
    direction that sif takes off.

        LoveVectorizer().fit_transform(["a wonderfull fi1m", "a boring one"])
    """

    def __init__(
        self,
        love: LoveOption | Attached = None,
        *,
        pooling: Pooling = "mean",
        weights: Weights | None = None,
        normalize: bool = True,
    ) -> None:
        self.love, self.pooling, self.weights, self.normalize = love, pooling, weights, normalize

    def fit(self, X: Iterable[str], y: Any = None) -> LoveVectorizer:
        """Learn what the weights and the pooling need of texts; nothing for the mean by the model's own weights."""
        if self.pooling not in WEIGHTS_OF_POOLING:
            raise ValueError(f"pooling is {self.pooling!r}: choose one of {', '.join(WEIGHTS_OF_POOLING)}")
        if self.weights is not None and self.weights not in WEIGHT_SCHEMES:
            raise ValueError(f"weights is {self.weights!r}: choose one of {', '.join(WEIGHT_SCHEMES)}, or None")
        texts = self._texts(X)
        try:
            self.love_ = load_love(self.love)
        except LovevecError as error:
            raise ValueError(str(error)) from None
        self.weights_ = self._learn_weights(texts)
        self._encoder = self._weighted_encoder()
        self.component_ = self._common_component(texts) if self.pooling == "sif" else None
        return self

    def transform(self, X: Iterable[str]) -> Floats:
        check_is_fitted(self, "love_")
        texts = self._texts(X, fitting=False)
        if self.pooling == "max":
            return self._max_pool(texts)
        rows = self._encode(texts, self.normalize)
        if self.component_ is None:
            return rows
        # Row by row, so that a text's vector does not depend on its company.
        rows -= (rows * self.component_).sum(axis=1, keepdims=True) * self.component_
        return normalized(rows) if self.normalize else rows

    def _texts(self, X: Iterable[str], fitting: bool = True) -> Sequence[str]:
        """The texts as a list; a ValueError for anything else, as scikit-learn's own vectorizers have it."""
        if isinstance(X, str):
            raise ValueError("Iterable over raw text documents expected, string object received.")
        try:
            texts = word_list(X)
        except LovevecError as error:
            raise ValueError(f"X: {error}") from None
        for place, text in enumerate(texts):
            if not isinstance(text, str):
                raise ValueError(f"X: text {place} is not a string but {type(text).__name__}: {text!r:.60}")
        if fitting and not texts:
            raise ValueError("X: 0 texts to fit on, a minimum of 1 is required")
        return texts

    def _learn_weights(self, texts: Sequence[str]) -> Floats | None:
        weights = self.weights or WEIGHTS_OF_POOLING[self.pooling]
        if weights == "model":
            return None
        encoder = self.love_.text_encoder()
        if weights == "uniform":
            return np.ones(len(encoder.weights), dtype=np.float32)
        if weights == "idf":
            return encoder.weights_in(texts)
        often, within = encoder.counts(texts)
        if weights == "tfidf":
            learned = np.log((1 + len(texts)) / (1 + np.minimum(within, len(texts)))) + 1
        else:
            learned = SIF / (SIF + often / max(float(often.sum()), 1.0))
        return learned.astype(np.float32)

    def _weighted_encoder(self) -> TextEncoder:
        encoder: TextEncoder = self.love_.text_encoder()
        if self.pooling == "max":  # a signature is worth something in a sum alone
            return encoder.with_weights(encoder.weights if self.weights_ is None else self.weights_, signature_length=0)
        return encoder if self.weights_ is None else encoder.with_weights(self.weights_)

    def _common_component(self, texts: Sequence[str]) -> Floats:
        """The first principal component of the texts' directions, about 0: [dim]."""
        products = np.zeros((self.love_.dim, self.love_.dim))
        for low in range(0, len(texts), TEXTS_PER_BATCH):
            rows = self._encode(texts[low : low + TEXTS_PER_BATCH], True).astype(np.float64)
            products += rows.T @ rows
        component: Floats = np.linalg.eigh(products)[1][:, -1].astype(np.float32)
        return component

    def _encode(self, texts: Sequence[str], normalize: bool) -> Floats:
        options = EncodeOptions(show_progress_bar=False, normalize_embeddings=normalize)
        return cast("Floats", encode_texts(self._encoder, texts, options))

    def _max_pool(self, texts: Sequence[str]) -> Floats:
        result = np.empty((len(texts), self.love_.dim), dtype=np.float32)
        for low in range(0, len(texts), TEXTS_PER_BATCH):
            batch = texts[low : low + TEXTS_PER_BATCH]
            result[low : low + TEXTS_PER_BATCH] = self._encoder.greatest(batch, self.normalize)
        return result

    @property
    def _n_features_out(self) -> int:
        """For the names of the columns: lovevectorizer0, lovevectorizer1, …"""
        return self.love_.dim

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__().copy()
        state.pop("_encoder", None)  # a cache of words, made again after loading
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "love_" in state:
            self._encoder = self._weighted_encoder()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags
