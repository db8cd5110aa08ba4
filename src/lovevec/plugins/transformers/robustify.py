"""robustify: a Hugging Face encoder whose broken words get one good embedding before the attention layers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from transformers import AutoModel, AutoTokenizer

from lovevec.attach.space import SPACES, SpaceOption
from lovevec.errors import LovevecError
from lovevec.love import LOVE
from lovevec.plugins.transformers.embedding import STRATEGIES, Strategy
from lovevec.plugins.transformers.pair import Love, copy_with_shared_weights, robust_pair
from lovevec.plugins.transformers.wire_format import KEY
from lovevec.transformer.load import LOADING_ERRORS, why_not_loaded
from lovevec.units.words import refuse_other_than_words, word_list

Keep = Iterable[str] | os.PathLike[str] | None


def robustify(
    model: Any,
    love: Love = None,
    strategy: Strategy = "replace",
    *,
    trainable: bool = False,
    keep: Keep = None,
    space: SpaceOption = "auto",
    auto: Any = None,
    **options: Any,
) -> Any:
    """Give a model LOVE for the words that its tokenizer breaks into pieces. The model given stays as it is; the robust
    one shares its weights.

    `model` is a name or folder, a pair (model, tokenizer), or a SentenceTransformer; the result is a pair, or a
    SentenceTransformer. `love` mimics the model's own input embeddings (`lovevec train hf:NAME`); by default the
    shipped one that does. One that mimics other vectors is brought over by a linear map (`space`: direct, mapped, or
    as nearness decides). `strategy` is replace, linear or add. With `trainable` LOVE's table trains with the model.
    `keep` are words that stay in pieces though they are broken, since the model knows them well enough: a list, or the
    name of a LOVE whose known words they are ("default" knows 50,000). What is spelled right is better off so.
    For a name, `auto` is the Auto class to load it by (AutoModel if not said) and `options` go to its from_pretrained.

        model, tokenizer = robustify("bert-base-uncased", love="my-love")
        model, tokenizer = robustify("bert-base-uncased", auto=AutoModelForSequenceClassification, num_labels=2)
    """
    if strategy not in STRATEGIES:
        raise LovevecError(f"strategy is {strategy!r}: choose one of {', '.join(STRATEGIES)}")
    if space not in SPACES:
        raise LovevecError(f"space is {space!r}: choose one of {', '.join(SPACES)}")
    how: dict[str, Any] = {"strategy": strategy, "trainable": trainable, "space": space, "keep": kept_words(keep)}
    if isinstance(model, (str, os.PathLike)):
        model = load_pair(model, auto, options)
    elif auto is not None or options:
        names = ", ".join(["auto"] * (auto is not None) + list(options))
        raise LovevecError(f"{names}: only for a model given by its name")
    if isinstance(model, tuple) and len(model) == 2:
        return robust_pair(*model, love, **how)
    if is_sentence_transformer(model):
        return robust_sentence_transformer(model, love, how)
    raise LovevecError(
        f"robustify takes a model's name or folder, a pair (model, tokenizer) or a SentenceTransformer, "
        f"not {type(model).__name__}"
    )


def kept_words(keep: Keep) -> list[str]:
    """The words to leave in pieces; a name stands for a LOVE's known words."""
    if isinstance(keep, (str, os.PathLike)):
        return list(LOVE.load(keep).words)
    if isinstance(keep, (set, frozenset)):
        keep = sorted(keep, key=str)  # so that the same words are saved as the same bytes
    words = [] if keep is None else list(word_list(keep))
    refuse_other_than_words(words)
    return words


def load_pair(name: str | os.PathLike[str], auto: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """Model and tokenizer by the Auto classes."""
    try:
        model = (auto or AutoModel).from_pretrained(name, **options)  # first: its errors say best what a folder lacks
        return model, AutoTokenizer.from_pretrained(name)
    except LOADING_ERRORS as error:
        raise LovevecError(why_not_loaded(os.fspath(name), error)) from None


def is_sentence_transformer(model: Any) -> bool:
    """Found out without importing the library, which whoever has such a model has done."""
    return any(kind.__module__.startswith("sentence_transformers.") for kind in type(model).__mro__)


def robust_sentence_transformer(model: Any, love: Love, how: dict[str, Any]) -> Any:
    """A copy of the sentence encoder around a robust model; weights are shared."""
    model = copy_with_shared_weights(model)
    module = model[0]
    tokenizer = getattr(module, "tokenizer", None)
    holder = "processor" if hasattr(module, "processor") else "tokenizer"
    inner = "model" if "model" in module._modules else "auto_model"
    if inner not in module._modules or tokenizer is None:
        raise LovevecError(f"the SentenceTransformer's first module is {type(module).__name__}, no transformers model")
    robust, tokenizer = robust_pair(getattr(module, inner), tokenizer, love, **how)
    setattr(module, inner, robust)
    setattr(module, holder, tokenizer)
    if getattr(module, "model_forward_params", None) is not None:
        module.model_forward_params = {*module.model_forward_params, KEY}
    return model
