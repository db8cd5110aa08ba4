"""`encode` and `tokens`, as LOVE and Attached have them: options, progress, batches; encoder.py computes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from lovevec.arguments import check_flags
from lovevec.errors import LovevecError, MissingExtra, Parameter, shown
from lovevec.progress import Progress, wanted
from lovevec.texts.correct import THRESHOLD, Correction, Corrector
from lovevec.texts.encoder import TextEncoder
from lovevec.texts.text_reader import Token
from lovevec.units.words import check_words, in_batches, refuse_other_than_words, word_list

Floats = NDArray[np.float32]
TEXTS_PER_BATCH = 4096
LONG_LIST = 50_000  # texts: on a terminal their progress is shown


class EncodeOptions(NamedTuple):
    """How texts are encoded, by the names that sentence-transformers and model2vec have for it."""

    batch_size: int = TEXTS_PER_BATCH
    show_progress_bar: bool | None = None
    normalize_embeddings: bool = True
    convert_to_numpy: bool = True
    convert_to_tensor: bool = False
    center: Any = None
    context: bool = True

    def check(self, dim: int) -> EncodeOptions:
        """The options with `center` as an array; an error that names the option that makes no sense."""
        if not isinstance(self.batch_size, (int, np.integer)) or self.batch_size < 1:
            raise LovevecError(f"batch_size is {shown(self.batch_size)}: must be at least 1, a whole number")
        names = "normalize_embeddings", "convert_to_numpy", "convert_to_tensor", "context"
        check_flags(**{name: getattr(self, name) for name in names})
        if self.show_progress_bar is not None:
            check_flags(show_progress_bar=self.show_progress_bar)
        if self.convert_to_tensor:
            _import_torch()
        if self.center is None:
            return self
        try:
            center = np.asarray(self.center, dtype=np.float32)
        except (TypeError, ValueError):
            raise LovevecError(f"center is {shown(self.center)}: must be one vector of {dim} numbers") from None
        if center.shape != (dim,) or not np.isfinite(center).all():
            raise LovevecError(f"center has the shape {center.shape}: must be one vector of {dim} finite numbers")
        return self._replace(center=center)


class EncodesTexts(ABC):
    """`encode` and `tokens` by a `_texts` of the subclass. Objects never change, so that each is its own copy."""

    def __deepcopy__(self, memo: dict[int, Any]) -> EncodesTexts:
        return self

    @cached_property
    @abstractmethod
    def _texts(self) -> TextEncoder: ...

    @overload
    def encode(
        self,
        texts: Iterator[str],
        *,
        batch_size: int = ...,
        show_progress_bar: bool | None = ...,
        normalize_embeddings: bool = ...,
        convert_to_numpy: bool = ...,
        convert_to_tensor: bool = ...,
        center: Any = ...,
        context: bool = ...,
    ) -> Iterator[Floats]: ...
    @overload
    def encode(
        self,
        texts: str | Sequence[str] | NDArray[Any],
        *,
        batch_size: int = ...,
        show_progress_bar: bool | None = ...,
        normalize_embeddings: bool = ...,
        convert_to_numpy: bool = ...,
        convert_to_tensor: bool = ...,
        center: Any = ...,
        context: bool = ...,
    ) -> Floats: ...
    def encode(
        self,
        texts: str | Iterable[str] | NDArray[Any],
        *,
        batch_size: int = TEXTS_PER_BATCH,
        show_progress_bar: bool | None = None,
        normalize_embeddings: bool = True,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        center: Any = None,
        context: bool = True,
    ) -> Floats | Iterator[Floats]:
        """Vectors of whole texts, typos and all: the mean of their words' vectors by how much each word counts.

        :param texts: one text, a list of texts, or an iterator of texts.
        :param batch_size: the number of texts that are computed at a time.
        :param show_progress_bar: by default for long lists on a terminal.
        :param normalize_embeddings: False leaves the mean as long as it is.
        :param convert_to_numpy: False gives a list of vectors instead of one array.
        :param convert_to_tensor: True gives torch's tensors (extra `torch`).
        :param center: a vector that is taken off every text's vector; the mean vector of your own texts removes what
            all of them have in common.
        :param context: whether the sentence has its say where a misspelling may stand for several words; False reads
            each word alone.
        :return: [dim] for one text, [len(texts), dim] of unit length for a list; for an iterator an iterator of arrays
            of up to `batch_size` rows, in constant memory. A text without words has zeros.

        >>> one, other = LOVE.load().encode(["wonderfull fi1m, definately recomended", "a wonderful film"])
        >>> bool(one @ other > 0.6)
        True
        """
        convert = convert_to_numpy, convert_to_tensor
        options = EncodeOptions(batch_size, show_progress_bar, normalize_embeddings, *convert, center, context)
        vectors: Floats | Iterator[Floats] = encode_texts(self._texts, texts, options)
        return vectors

    def text_encoder(self) -> TextEncoder:
        """What `encode` computes with: words, their weights, and other ways to put words together."""
        return self._texts

    @overload
    def tokens(self, text: str, *, context: bool = ...) -> list[Token]: ...  # type: ignore[overload-overlap]
    @overload
    def tokens(self, text: Iterable[str], *, context: bool = ...) -> list[list[Token]]: ...
    def tokens(self, text: str | Iterable[str], *, context: bool = True) -> list[Token] | list[list[Token]]:
        """The words of a text as `encode` sees them, a `Token` each: its text, start and end, how it is read, the known
        word that it stands for and how probably, its weight. For a list of texts a list for each. With `context=False`
        each word is read alone.

        >>> [(token.text, token.replacement) for token in LOVE.load().tokens("Definately a grat film")][0]
        ('Definately', 'Definitely')
        """
        check_flags(context=context)
        if isinstance(text, str):
            return self._texts.tokens(text, context)
        texts = check_words(text, "text")
        return [self._texts.tokens(one, context) for one in texts]

    @overload
    def correct(self, texts: str, *, threshold: float = ..., keep: Collection[str] = ...) -> Correction: ...  # type: ignore[overload-overlap]
    @overload
    def correct(  # type: ignore[overload-overlap]
        self, texts: Iterator[str], *, threshold: float = ..., keep: Collection[str] = ...
    ) -> Iterator[Correction]: ...
    @overload
    def correct(
        self, texts: Iterable[str], *, threshold: float = ..., keep: Collection[str] = ...
    ) -> list[Correction]: ...
    def correct(
        self, texts: str | Iterable[str], *, threshold: float = THRESHOLD, keep: Collection[str] = ()
    ) -> Correction | list[Correction] | Iterator[Correction]:
        """Texts with their misspellings put right, and what was changed: a `Correction` each, with `text` and `edits`.

        Spelling and sentence decide together. Capitals, blanks and marks stay; numbers, codes, addresses and words that
        are probably names or new are left alone. Known words are corrected too where the sentence speaks strongly for
        another one (`form`, `from`).

        :param texts: one text; a list of texts; or an iterator, which gives an iterator.
        :param threshold: the least probability of a correction that is made.
        :param keep: words that stay as they are, in any case.

        >>> LOVE.load().correct("We walked form teh station to the libary: 500mg, Jon's").text
        "We walked from the station to the library: 500mg, Jon's"
        """
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not 0 < threshold <= 1:
            raise LovevecError(f"{Parameter('threshold')} is {shown(threshold)}: must be a number above 0, at most 1")
        try:
            kept = check_words(sorted(keep) if isinstance(keep, (set, frozenset)) else keep)
        except (LovevecError, TypeError):
            raise LovevecError(f"{Parameter('keep')} is {shown(keep)}: must be a list of words") from None
        corrector = Corrector(self._texts, threshold, list(kept))
        if isinstance(texts, str):
            return next(corrector([texts]))
        if isinstance(texts, Iterator):
            return _correct_stream(corrector, texts)
        return list(corrector(check_words(texts, "text")))


def _correct_stream(corrector: Corrector, texts: Iterator[str]) -> Iterator[Correction]:
    done = 0
    for batch in in_batches(texts, TEXTS_PER_BATCH):
        refuse_other_than_words(batch, done, "text")
        yield from corrector(batch)
        done += len(batch)


def encode_texts(encoder: TextEncoder, texts: str | Iterable[str] | NDArray[Any], options: EncodeOptions) -> Any:
    """What `encode` gives for a text, a list of texts, or an iterator of texts."""
    options = options.check(encoder.source.dim)
    if isinstance(texts, str):
        return _convert(_encode_batch(encoder, [texts], options, 0)[0], options)
    if isinstance(texts, Iterator):
        return (_convert(rows, options) for rows in _encode_stream(encoder, texts, options))
    strings = word_list(texts)
    result = np.empty((len(strings), encoder.source.dim), dtype=np.float32)
    quiet = not wanted(options.show_progress_bar, len(strings), LONG_LIST)
    with Progress(quiet) as progress, progress.phase("encoding", len(strings), "texts") as phase:
        for low in range(0, len(strings), options.batch_size):
            part = strings[low : low + options.batch_size]
            result[low : low + len(part)] = _encode_batch(encoder, part, options, low)
            phase.advance(len(part))
    return _convert(result, options)


def _encode_stream(encoder: TextEncoder, texts: Iterator[str], options: EncodeOptions) -> Iterator[Floats]:
    done = 0
    for part in in_batches(texts, options.batch_size):
        yield _encode_batch(encoder, part, options, done)
        done += len(part)


def _encode_batch(encoder: TextEncoder, texts: Sequence[str], options: EncodeOptions, first: int) -> Floats:
    try:
        return encoder.encode(texts, options.normalize_embeddings, options.center, options.context)
    except (TypeError, AttributeError):  # so that good texts need not be checked one by one
        refuse_other_than_words(texts, first, "text")
        raise


def _convert(rows: Floats, options: EncodeOptions) -> Any:
    if not options.convert_to_tensor:
        return rows if options.convert_to_numpy else list(rows)
    return _import_torch().from_numpy(rows)


def _import_torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", "torch") from None
    return torch
