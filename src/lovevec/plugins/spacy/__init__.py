"""spaCy vectors with a vector for any token: see vectors.py."""

from lovevec.plugins.spacy.vectors import NAME, LoveVectors, attach, create_vectors, create_words_ahead

__all__ = ["NAME", "LoveVectors", "attach", "create_vectors", "create_words_ahead"]
