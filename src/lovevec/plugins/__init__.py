"""Plug-ins: lovevec inside other libraries. One file or folder for each; each needs its extra. Here is what they share:
how they are given a model, and which words a robust model leaves as they are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

from lovevec.attach import Attached
from lovevec.errors import LovevecError
from lovevec.love import LOVE
from lovevec.model.find import DEFAULT
from lovevec.units.words import refuse_other_than_words, word_list

Love = LOVE | str | os.PathLike[str] | None
Keep = Iterable[str] | os.PathLike[str] | None


def opened(love: Love | Attached) -> LOVE | Attached:
    """A model or an attached table as it is; else the model of that name, where none is said the shipped default, which
    is read once a process."""
    if isinstance(love, (LOVE, Attached)):
        return love
    if love is not None and not isinstance(love, (str, os.PathLike)):
        raise LovevecError(f"love: expected a LOVE, an attached table, or a model's name, not {type(love).__name__}")
    return _shipped() if love is None else LOVE.load(love)


@cache
def _shipped() -> LOVE:
    return LOVE.load(DEFAULT)


def robustify(model: Any, *arguments: Any, **options: Any) -> Any:
    """Give a model LOVE for the words that it breaks into pieces: a transformer by its name or folder, a pair (model,
    tokenizer), a SentenceTransformer (lovevec.plugins.transformers.robustify says more), or model2vec's StaticModel
    (lovevec.plugins.model2vec.robustify). The model given stays as it is."""
    static = any(kind.__module__.partition(".")[0] == "model2vec" for kind in type(model).__mro__)
    plugin = import_module(f"lovevec.plugins.{'model2vec' if static else 'transformers'}")
    return plugin.robustify(model, *arguments, **options)


def kept_words(keep: Keep) -> list[str] | None:
    """The words to leave in pieces, None if not said; a name stands for a LOVE's known words."""
    if keep is None:
        return None
    if isinstance(keep, (str, os.PathLike)):
        return list(LOVE.load(keep).words)
    if isinstance(keep, (set, frozenset)):
        keep = sorted(keep, key=str)  # so that the same words are saved as the same bytes
    words = list(word_list(keep))
    refuse_other_than_words(words)
    return words


def right_spelled(whole: Iterable[str]) -> list[str]:
    """What is kept if not said: the words that the shipped default knows; none for a model of another language, fewer
    than half of whose `whole` words are among them (of BERT's 96 % are)."""
    words, own = list(LOVE.load(DEFAULT).words), {word.lower() for word in whole if word.isalpha()}
    return words if 2 * len(own.intersection(words)) >= len(own) > 0 else []


def in_any_form(words: Iterable[str], normalizer: object) -> frozenset[str]:
    """Words in lower case, and as a tokenizer's normalizer (None where there is none) leaves them: perhaps without
    accents."""
    lower = frozenset(word.lower() for word in words) - {""}
    normalize = getattr(normalizer, "normalize_str", None)
    return lower.union(normalize(word) for word in lower if not word.isascii()) if normalize else lower
