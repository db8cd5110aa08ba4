"""A model and its tokenizer, made robust together."""

from __future__ import annotations

import os
from copy import deepcopy
from itertools import chain
from typing import Any

from lovevec.attach.space import SAME_SPACE, SpaceOption
from lovevec.errors import LovevecError
from lovevec.love import LOVE
from lovevec.model.shipped import shipped
from lovevec.plugins.transformers.classes import register, robust_config, robust_model, robust_tokenizer
from lovevec.plugins.transformers.embedding import Strategy, make_robust
from lovevec.plugins.transformers.imputed import Imputer, fit
from lovevec.plugins.transformers.unfit import refuse_unfit
from lovevec.transformer.load import rows_of_words

Love = LOVE | str | os.PathLike[str] | None


def robust_pair(
    model: Any, tokenizer: Any, love: Love, strategy: Strategy, trainable: bool, space: SpaceOption, keep: list[str]
) -> tuple[Any, Any]:
    """Robust copies of a model and its tokenizer; weights are shared."""
    refuse_unfit(model, tokenizer)
    imputer = fitted(model, tokenizer, love, space)
    tokenizer = deepcopy(tokenizer)
    name = type(tokenizer).__name__
    tokenizer.__class__ = robust_tokenizer(tokenizer.__class__)
    tokenizer.become_robust(strategy, keep)
    shared = {id(tensor): tensor for tensor in chain(model.parameters(), model.buffers())}
    model = deepcopy(model, shared)
    register(type(model.config), name)
    model.config.__class__ = robust_config(model.config.__class__)
    model.__class__ = robust_model(model.__class__)
    model.config.lovevec = {"strategy": strategy, "tokenizer": name, "mask": tokenizer.mask_token_id}
    layer = make_robust(model.get_input_embeddings(), model.config.lovevec)
    layer.use(imputer)
    if trainable:
        model.config.lovevec["love"] = layer.train_love(imputer).sizes
    return model, tokenizer


def fitted(model: Any, tokenizer: Any, love: Love, space: SpaceOption) -> Imputer:
    """LOVE in the space of the model's input embeddings. By default the shipped LOVE that mimics them."""
    words, vectors = rows_of_words(model.name_or_path or type(model).__name__, tokenizer, model)
    if love is not None:
        return fit(love if isinstance(love, LOVE) else LOVE.load(love), words, vectors, space)
    for name in shipped():
        found = LOVE.load(name)
        if found.dim == vectors.shape[1]:
            imputer = fit(found, words, vectors, "direct")
            if imputer.near >= SAME_SPACE:
                return imputer
    name = model.config._name_or_path or "NAME"
    raise LovevecError(
        f"no LOVE that ships mimics the input embeddings of {name}; train one: lovevec train hf:{name} -o my-love, "
        "then love='my-love'"
    )
