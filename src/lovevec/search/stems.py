"""The stem of a word: what its forms have in common."""

from __future__ import annotations


def stem(word: str) -> str:
    """The word itself, for now."""
    return word
