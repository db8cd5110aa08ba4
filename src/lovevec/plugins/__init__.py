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

LoveOption = LOVE | str | os.PathLike[str] | None
KeepOption = Iterable[str] | os.PathLike[str] | None


def load_love(love: LoveOption | Attached) -> LOVE | Attached:
    """The model that a plug-in's argument `love` stands for: a LOVE or an attached table is taken as it is, a name or
    folder is loaded, None is the shipped default, which is loaded once a process."""
    if isinstance(love, (LOVE, Attached)):
        return love
    if love is not None and not isinstance(love, (str, os.PathLike)):
        raise LovevecError(f"love: expected a LOVE, an attached table, or a model's name, not {type(love).__name__}")
    return _default_love() if love is None else LOVE.load(love)


@cache
def _default_love() -> LOVE:
    return LOVE.load(DEFAULT)


def robustify(model: Any, *arguments: Any, **options: Any) -> Any:
    """Give a model LOVE for the words that it breaks into pieces. The model given stays as it is.

    `model` is a transformer by its name or folder, a pair (model, tokenizer) or a SentenceTransformer, and the further
    arguments are those of `lovevec.plugins.transformers.robustify`; or it is model2vec's StaticModel, and they are
    those of `lovevec.plugins.model2vec.robustify`. Returns the robust one, of the same kind; for a name a pair.

        model, tokenizer = robustify("sentence-transformers/all-MiniLM-L6-v2")
    """
    static = any(kind.__module__.partition(".")[0] == "model2vec" for kind in type(model).__mro__)
    plugin = import_module(f"lovevec.plugins.{'model2vec' if static else 'transformers'}")
    return plugin.robustify(model, *arguments, **options)


def words_to_keep(keep: KeepOption) -> list[str] | None:
    """The words that `keep` names: those of a list, or the known words of the LOVE of that name; None for None."""
    if keep is None:
        return None
    if isinstance(keep, (str, os.PathLike)):
        return list(LOVE.load(keep).words)
    if isinstance(keep, (set, frozenset)):
        keep = sorted(keep, key=str)  # so that the same words are saved as the same bytes
    words = list(word_list(keep))
    refuse_other_than_words(words)
    return words


def default_keep(whole: Iterable[str]) -> list[str]:
    """The words to keep where none are named: those that the shipped default knows; none for a model of another
    language, fewer than half of whose `whole` words are among them (of BERT's 96 % are)."""
    words, own = list(_default_love().words), {word.lower() for word in whole if word.isalpha()}
    return words if 2 * len(own.intersection(words)) >= len(own) > 0 else []


def normalized_forms(words: Iterable[str], normalizer: object) -> frozenset[str]:
    """Words in lower case, and as a tokenizer's normalizer (None where there is none) leaves them: perhaps without
    accents."""
    lower = frozenset(word.lower() for word in words) - {""}
    normalize = getattr(normalizer, "normalize_str", None)
    return lower.union(normalize(word) for word in lower if not word.isascii()) if normalize else lower
