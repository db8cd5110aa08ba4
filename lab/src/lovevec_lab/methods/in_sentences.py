"""A model as a method that reads each word in its sentence, where the method itself reads it alone."""

from __future__ import annotations

from collections.abc import Sequence

from lovevec.word_vectors import WordVectors
from lovevec_lab.methods.attached import AttachedMethod
from lovevec_lab.methods.love import LoveMethod
from lovevec_lab.methods.method import Bools, Floats, Method


class InSentences(Method):
    """A model that has a model of context, or a table with such a model behind it, by
    `lovevec.WordVectors.embed_sentences`. Without `context` words are read alone, but as words of running text, where
    an unknown string is a misspelling more often than in a list."""

    reads_sentences, timed = True, False

    def __init__(self, method: LoveMethod | AttachedMethod, context: bool = True) -> None:
        how = "in its sentence" if context else "in running text"
        self.method, self.name, self.dim, self.context = method, f"{method.name}, {how}", method.dim, context
        self.words, self.parameters, self.table = method.words, method.parameters, method.table

    def embed(self, words: Sequence[str]) -> Floats:
        """Each word alone."""
        return self.method.embed(words)

    def embed_sentences(self, sentences: Sequence[Sequence[str]]) -> list[Floats]:
        """The words of each sentence, in it."""
        return vectors_of(self.method).embed_sentences(sentences, context=self.context)

    def covers(self, words: Sequence[str]) -> Bools:
        """As alone."""
        return self.method.covers(words)


def vectors_of(method: LoveMethod | AttachedMethod) -> WordVectors:
    """What a method gets its vectors from."""
    return method.attached if isinstance(method, AttachedMethod) else method.love


def in_sentences_too(method: Method) -> list[Method]:
    """The method, and the same with words read in their sentences if it can read them so."""
    if not isinstance(method, (LoveMethod, AttachedMethod)):
        return [method]
    has_context = vectors_of(method).text_encoder().source.sentences is not None
    return [method, InSentences(method)] if has_context else [method]
