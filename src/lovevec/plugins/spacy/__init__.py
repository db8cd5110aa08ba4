"""spaCy vectors with a vector for any token: of words that a pipeline knows its own rows, of all others LOVE's.

    nlp = attach(spacy.blank("en"))            # or spacy.load("en_core_web_md"), whose vectors stay as they are
    nlp("oxgen")[0].vector, nlp("oxgen")[0]._.imputed, nlp("oxgen")[0]._.near

Training configs name them, `[nlp.vectors]` with `@vectors = "lovevec.Vectors.v1"`; layers that include static vectors
(`include_static_vectors = true`) then see a vector for each token. They are saved and loaded with their pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from lovevec.attach import Attached
from lovevec.errors import LovevecError, MissingExtra
from lovevec.love import LOVE
from lovevec.plugins import LoveOption
from lovevec.plugins.spacy.vectors import LoveVectors, load_model
from lovevec.vectors.rows import normalized

try:
    import spacy
    from spacy.language import Language
    from spacy.tokens import Doc, Token
    from spacy.util import minibatch

    register_vectors = spacy.registry.vectors
except (ImportError, AttributeError):
    raise MissingExtra("spaCy 3.8 or newer", "spacy") from None

__all__ = ["LoveVectors", "WordsAhead", "WordsInSentences", "attach", "create_vectors"]

NEAR_IN_SENTENCE, NEAR_WORDS = "lovevec near in the sentence", 5
REGISTRY_NAME = "lovevec.Vectors.v1"


@register_vectors(REGISTRY_NAME)  # type: ignore[untyped-decorator]
def create_vectors(love: str | None = None) -> Callable[[Any], LoveVectors]:
    """What `[nlp.vectors]` of a training config calls: the vectors of a LOVE, by its folder or name (if not said the
    shipped default), as spaCy's function from a vocab to its vectors.

        [nlp.vectors]
        @vectors = "lovevec.Vectors.v1"
        love = "my-love"

    A pipeline brings the LOVE that it was saved with, so a folder that is no longer there counts only when a word is
    looked up before.
    """

    def create(vocab: Any) -> LoveVectors:
        try:
            return LoveVectors(load_model(love), strings=vocab.strings)
        except LovevecError:
            return LoveVectors(love, attached=True, strings=vocab.strings)

    return create


class WordsAhead:
    """A component for text with many words that no table has: it computes the vectors of all tokens of a batch of
    documents at once, so that `token.vector` finds them. One by one, unknown words take several times as long.

        nlp.add_pipe("lovevec_words", first=True)
    """

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        for docs in minibatch(stream, batch_size):
            vectors = docs[0].vocab.vectors
            if isinstance(vectors, LoveVectors):
                vectors.get_batch({key for doc in docs for key in doc.to_array(vectors.attr).tolist()})
            yield from docs


@Language.factory("lovevec_words")  # type: ignore[untyped-decorator]
def _create_words_ahead(nlp: Any, name: str) -> WordsAhead:
    return WordsAhead()


class WordsInSentences:
    """A component that lets the sentence decide what a misspelled token stands for: `token.vector`, and with it
    `doc.vector`, are those of the words that are meant here; `token._.near` is what they are.

        nlp.add_pipe("lovevec_sentences")

    What is sure, and what the table knows, keeps its vector. The vectors live with the document, not with the vocab, so
    they are not saved with it: run the component again on documents that were read from disk.
    """

    def __call__(self, doc: Doc) -> Doc:
        source = _source_of(doc[0]) if len(doc) else None
        if source is None:
            return doc
        places = {(token.idx, token.idx + len(token)): token.i for token in doc}
        near: dict[int, list[tuple[str, float]]] = {}
        vectors: dict[int, Any] = {}
        for read in source.tokens(doc.text):
            place = places.get((read.start, read.end))
            if place is None or not read.candidates or doc[place].orth in doc.vocab.vectors.key2row:
                continue
            near[place] = list(read.candidates[:NEAR_WORDS])
            vectors[place] = _mean_over(source, read.text, read.candidates)
        doc.user_data[NEAR_IN_SENTENCE] = near
        doc.user_token_hooks["vector"] = lambda token: vectors.get(token.i, token.vocab.get_vector(token.orth))
        return doc


def _mean_over(source: LOVE | Attached, string: str, near: Sequence[tuple[str, float]]) -> Any:
    """The mean over the words that a string may stand for; the rest up to 1 is its own spelling's."""
    words, chances = zip(*near, strict=True)
    own = np.array(chances, dtype=np.float32) @ source.embed(words)
    vector = own + np.float32(1 - sum(chances)) * source.impute(string)
    return normalized(vector[None])[0] if isinstance(source, LOVE) else vector


@Language.factory("lovevec_sentences")  # type: ignore[untyped-decorator]
def _create_words_in_sentences(nlp: Any, name: str) -> WordsInSentences:
    return WordsInSentences()


def attach(nlp: Any, love: LoveOption | Attached = None, **options: Any) -> Any:
    """Give a pipeline vectors for any token; it is changed, and returned.

    nlp      a spaCy pipeline. The words of its own vectors keep them, bit for bit; the others get imputed ones in the
             same space. A pipeline without vectors gets those of the LOVE, or the words of an attached table.
    love     a LOVE, its folder or name, or an attached table (`love.attach(vectors)`); the shipped default for None
    options  those of `love.attach`

        nlp = attach(spacy.blank("en"))
        nlp("oxgen")[0].vector
    """
    own, vocab = nlp.vocab.vectors, nlp.vocab
    if isinstance(own, LoveVectors):
        raise LovevecError("nlp: has vectors for any token already; load the pipeline anew to attach another LOVE")
    if isinstance(love, Attached) and not own.size:
        if options or not isinstance(love.model, LOVE):
            raise LovevecError("love: an attached table has its options already, and has to have a LOVE behind it")
        keys = list(love.words)
        vectors = LoveVectors(love.model, strings=vocab.strings, data=np.array(love.vectors), keys=keys, name=own.name)
    elif own.size:
        table = {name: getattr(own, name) for name in ("name", "data", "mode", "attr")}
        vectors = LoveVectors(load_model(love), options=options, strings=vocab.strings, **table)
        vectors.key2row = dict(own.key2row)
        vectors._sync_unset()
        _ = vectors.source  # raises here what does not go together
    else:
        if options:
            raise LovevecError(f"{', '.join(options)}: the pipeline has no vectors to attach to")
        vectors = LoveVectors(load_model(love), strings=vocab.strings, name=own.name)
    vocab.vectors = vectors
    nlp.config["nlp"]["vectors"] = {"@vectors": REGISTRY_NAME}
    return nlp


def _source_of(token: Token) -> LOVE | Attached | None:
    vectors = token.vocab.vectors
    return vectors.source if isinstance(vectors, LoveVectors) else None


def _is_imputed(token: Token) -> bool:
    source = _source_of(token)
    if source is None or token.orth in token.vocab.vectors.key2row:
        return False
    return bool(source.lookup(token.text).rows[0] < 0)


def _near(token: Token) -> list[tuple[str, float]]:
    in_sentence: list[tuple[str, float]] | None = token.doc.user_data.get(NEAR_IN_SENTENCE, {}).get(token.i)
    if in_sentence is not None:
        return in_sentence
    source = _source_of(token)
    return [] if source is None else source.near(token.text)


Token.set_extension("imputed", getter=_is_imputed, force=True)
Token.set_extension("near", getter=_near, force=True)
