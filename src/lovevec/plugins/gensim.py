"""gensim's KeyedVectors with a vector for any word; code that takes KeyedVectors takes these.

    kv = RobustKeyedVectors(KeyedVectors.load("my.kv"))
    kv["mispelling"]                  # imputed, in the space of my.kv
    kv.most_similar("mispelling")     # among the keys of my.kv
    kv.wmdistance(["oxgen"], ["a", "gas"])
    RobustKeyedVectors()              # a LOVE alone: its known words are the keys

`word in kv` follows gensim's own custom for vectors that can be made up (its FastText): it says whether there is a
vector, so it is true for any string, and gensim's methods stop leaving unknown words out. Whether a word is *known* say
`kv.has_index_for(word)`, `word in kv.key_to_index` and `kv.known(words)`, exactly.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.attach import Attached
from lovevec.attach.backing import BackingModel
from lovevec.errors import LovevecError, MissingExtra
from lovevec.love import LOVE
from lovevec.plugins import LoveOption, load_love

try:
    from gensim.models import KeyedVectors
    from gensim.utils import open as open_text
except ImportError:
    raise MissingExtra("gensim", "gensim") from None


class RobustKeyedVectors(KeyedVectors):  # type: ignore[misc]
    """KeyedVectors that impute what they lack.

    vectors  gensim's KeyedVectors, or a model of gensim's with `.wv`. Their matrix is shared, not copied; the keys are
             a copy. Without vectors the keys are the known words of the LOVE, with their own vectors.
    love     a LOVE, its folder or name; the shipped default for None
    options  those of `love.attach`

        RobustKeyedVectors().most_similar("mispelling")
    """

    def __init__(self, vectors: Any = None, love: BackingModel | LoveOption = None, **options: Any) -> None:
        self._love: Any = load_love(love) if love is None or isinstance(love, (str, os.PathLike)) else love
        self._alone, self._options = vectors is None, options
        if vectors is None:
            vectors = self._known_words()
        source = getattr(vectors, "wv", vectors)
        if not isinstance(source, KeyedVectors):
            raise LovevecError(f"RobustKeyedVectors takes gensim's KeyedVectors, not {type(source).__name__}")
        super().__init__(source.vector_size, dtype=source.vectors.dtype)
        self.index_to_key, self.key_to_index = list(source.index_to_key), dict(source.key_to_index)
        self.vectors, self.norms, self.expandos = source.vectors, source.norms, dict(source.expandos)
        self.next_index = source.next_index
        self._attached: Attached | None = None
        self._attached_matrix, self._attached_count = self.vectors, 0  # what `_attached` was made of
        if self.key_to_index:
            _ = self.robust  # raises here what does not go together

    def _known_words(self) -> KeyedVectors:
        if not isinstance(self._love, LOVE) or self._options:
            raise LovevecError("RobustKeyedVectors without vectors takes a LOVE, and no options of `attach`")
        known = KeyedVectors(self._love.dim)
        known.add_vectors(list(self._love.words), self._love.embed(self._love.words))
        return known

    @property
    def robust(self) -> Attached | LOVE:
        """What imputes: the LOVE attached to the keys as they are now, those that were added included; without vectors
        the LOVE itself."""
        if self._alone:
            love: LOVE = self._love
            return love
        count = len(self.key_to_index)
        if self._attached is None or self._attached_matrix is not self.vectors or self._attached_count != count:
            self._attached = Attached(self._love, (self.index_to_key[:count], self.vectors[:count]), **self._options)
            self._attached_matrix, self._attached_count = self.vectors, count
        return self._attached

    def add_vectors(self, keys: Any, weights: Any, extras: Any = None, replace: bool = False) -> None:
        super().add_vectors(keys, weights, extras, replace)
        self._attached = None

    def add_vector(self, key: Any, vector: Any) -> int:
        self._attached = None
        index: int = super().add_vector(key, vector)
        return index

    def known(self, words: Iterable[str]) -> NDArray[np.bool_]:
        return np.array([word in self.key_to_index for word in words], dtype=np.bool_)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) or bool(self.has_index_for(key))

    def get_vector(self, key: str | int, norm: bool = False) -> NDArray[Any]:
        if not isinstance(key, str) or key in self.key_to_index:
            own: NDArray[Any] = super().get_vector(key, norm=norm)
            return own
        vector = self.robust[key].astype(self.vectors.dtype, copy=False)
        return vector / np.linalg.norm(vector) if norm else vector

    def __getitem__(self, key_or_keys: Any) -> NDArray[Any]:
        """The vector of a key, or one row for each of several; unknown words are imputed all at once."""
        if isinstance(key_or_keys, (str, int, np.integer)):
            return self.get_vector(key_or_keys)  # type: ignore[arg-type]
        keys = list(key_or_keys)
        if not keys or not all(isinstance(key, str) for key in keys):
            rows: NDArray[Any] = super().__getitem__(keys)
            return rows
        row = np.array([self.key_to_index.get(key, -1) for key in keys])
        result = np.empty((len(keys), self.vector_size), dtype=self.vectors.dtype)
        result[row >= 0] = self.vectors[row[row >= 0]]
        result[row < 0] = self.robust.embed([key for key, own in zip(keys, row, strict=True) if own < 0])
        return result

    def get_mean_vector(
        self,
        keys: Sequence[Any],
        weights: Any = None,
        pre_normalize: bool = True,
        post_normalize: bool = False,
        ignore_missing: bool = True,
    ) -> NDArray[Any]:
        single = isinstance(keys, str)
        lacking = [] if single else [key for key in keys if isinstance(key, str) and key not in self.key_to_index]
        if lacking:
            rows = self[lacking]
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            imputed = dict(
                zip(lacking, rows / np.where(lengths > 0, lengths, 1) if pre_normalize else rows, strict=True)
            )
            keys = [imputed.get(key, key) if isinstance(key, str) else key for key in keys]
        mean: NDArray[Any] = super().get_mean_vector(keys, weights, pre_normalize, post_normalize, ignore_missing)
        return mean

    def wmdistance(self, document1: Sequence[str], document2: Sequence[str], norm: bool = True) -> float:
        try:
            import ot  # noqa: F401 (gensim's own error does not say what to install)
        except ImportError:
            raise MissingExtra("POT", "gensim") from None
        distance: float = self.vectors_for_all([*document1, *document2]).wmdistance(document1, document2, norm)
        return distance

    def distances(self, word_or_vector: Any, other_words: Sequence[str] = ()) -> NDArray[Any]:
        """Cosine distances to `other_words`, known or not, or to all known words."""
        if not len(other_words):
            everything: NDArray[Any] = super().distances(word_or_vector)
            return everything
        single = isinstance(word_or_vector, (str, int, np.integer))
        vector = self.get_vector(word_or_vector) if single else word_or_vector
        distances: NDArray[Any] = 1 - self.cosine_similarities(vector, self[list(other_words)])
        return distances

    def closer_than(self, key1: str, key2: str) -> list[str]:
        """The known words that are nearer to `key1` than `key2` is; the two themselves may be unknown."""
        if self.has_index_for(key1) and self.has_index_for(key2):
            closer: list[str] = super().closer_than(key1, key2)
            return closer
        nearer = np.flatnonzero(self.distances(key1) < self.distances(key1, [key2])[0])
        return [self.index_to_key[index] for index in nearer.tolist() if self.index_to_key[index] != key1]

    def vectors_for_all(
        self, keys: Iterable[Any], allow_inference: bool = True, copy_vecattrs: bool = False
    ) -> KeyedVectors:
        """Plain KeyedVectors of the given keys, unknown words imputed: what to save for use without lovevec."""
        distinct = list(dict.fromkeys(keys))
        if not distinct or not allow_inference:
            return super().vectors_for_all(distinct, allow_inference, copy_vecattrs)
        plain = KeyedVectors(self.vector_size, dtype=self.vectors.dtype)
        plain.add_vectors(distinct, self[distinct])
        plain.allocate_vecattrs(["count"], [np.int64])
        plain.expandos["count"][:] = np.arange(len(distinct), 0, -1)  # as gensim makes them up: by the order of keys
        for name in self.expandos if copy_vecattrs else ():
            for key in filter(self.has_index_for, distinct):
                plain.set_vecattr(key, name, self.get_vecattr(key, name))
        return plain

    def evaluate_word_pairs(
        self,
        pairs: Any,
        delimiter: str = "\t",
        encoding: str = "utf8",
        restrict_vocab: int = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
    ) -> tuple[Any, Any, float]:
        """Correlation with people's judgements, as gensim has it, on a row for each word of the file: its key's
        among the first `restrict_vocab`, else what `self[word]` gives. So only a pair with an empty word is unknown.

        With `case_insensitive` the first key that is the word in upper case counts, as in gensim."""

        def form(word: str) -> str:
            return word.upper() if case_insensitive else word

        keys = {form(key): key for key in reversed(self.index_to_key[:restrict_vocab])}
        words: dict[str, str] = {}
        with open_text(pairs, encoding=encoding) as lines:
            rows = [line.split(delimiter) for line in lines if not line.startswith("#")]
        for row in rows:
            for word in row[:2] if len(row) == 3 else ():
                if word.strip():
                    words.setdefault(form(word), keys.get(form(word), word))
        plain = KeyedVectors(self.vector_size, dtype=self.vectors.dtype)
        if words:
            plain.add_vectors(list(words), self[list(words.values())])
        scores: tuple[Any, Any, float] = plain.evaluate_word_pairs(
            pairs, delimiter, encoding, len(words), case_insensitive, dummy4unknown
        )
        return scores

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the known words as plain KeyedVectors; the model has its own folder. Attach again after loading."""
        plain = KeyedVectors(self.vector_size, dtype=self.vectors.dtype)
        for name in ("index_to_key", "key_to_index", "vectors", "norms", "expandos", "next_index"):
            setattr(plain, name, getattr(self, name))
        plain.save(*args, **kwargs)
