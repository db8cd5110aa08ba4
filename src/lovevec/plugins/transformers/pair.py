"""A model and its tokenizer, made robust together."""

from __future__ import annotations

import os
from copy import deepcopy
from itertools import chain
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

from lovevec.attach.space import SAME_SPACE, SpaceOption
from lovevec.errors import LovevecError
from lovevec.love import LOVE
from lovevec.model.shipped import shipped
from lovevec.plugins.transformers.classes import register, robust_config, robust_model, robust_tokenizer
from lovevec.plugins.transformers.embedding import Strategy, make_robust
from lovevec.plugins.transformers.imputed import Imputer, fit
from lovevec.plugins.transformers.model import RobustModel
from lovevec.transformer.load import rows_of_words

Love = LOVE | str | os.PathLike[str] | None


def robust_pair(
    model: Any, tokenizer: Any, love: Love, strategy: Strategy, trainable: bool, space: SpaceOption, keep: list[str]
) -> tuple[Any, Any]:
    """Robust copies of a model and its tokenizer; weights are shared."""
    refuse_other_than_encoders(model, tokenizer)
    imputer = fitted(model, tokenizer, love, space)
    tokenizer = deepcopy(tokenizer)
    name = type(tokenizer).__name__
    tokenizer.__class__ = robust_tokenizer(tokenizer.__class__)
    tokenizer.become_robust(strategy, keep)
    model = copy_with_shared_weights(model)
    register(type(model.config), name)
    model.config.__class__ = robust_config(model.config.__class__)
    model.__class__ = robust_model(model.__class__)
    model.config.lovevec = {"strategy": strategy, "tokenizer": name, "mask": tokenizer.mask_token_id}
    layer = make_robust(model.get_input_embeddings(), model.config.lovevec)
    layer.use(imputer)
    if trainable:
        model.config.lovevec["love"] = layer.train_love(imputer).sizes
    return model, tokenizer


def copy_with_shared_weights(model: Any) -> Any:
    """A copy of a torch module, so that the one given stays as it is, with the very tensors of that one."""
    return deepcopy(model, {id(tensor): tensor for tensor in chain(model.parameters(), model.buffers())})


def fitted(model: Any, tokenizer: Any, love: Love, space: SpaceOption) -> Imputer:
    """LOVE in the space of the model's input embeddings. By default the shipped LOVE that mimics them."""
    words, vectors = rows_of_words(model.name_or_path or type(model).__name__, tokenizer, model)
    if love is not None:
        return fit(love if isinstance(love, LOVE) else LOVE.load(love), words, vectors, space)
    for name in shipped():
        candidate = LOVE.load(name)
        if candidate.dim == vectors.shape[1]:
            imputer = fit(candidate, words, vectors, "direct")
            if imputer.near >= SAME_SPACE:
                return imputer
    name = model.config._name_or_path or "NAME"
    raise LovevecError(
        f"no LOVE that ships mimics the input embeddings of {name}; train one: lovevec train hf:{name} -o my-love, "
        "then love='my-love'"
    )


def refuse_other_than_encoders(model: Any, tokenizer: Any) -> None:
    """Say why a model cannot be made robust: only an encoder of transformers with its tokenizer can."""
    name = getattr(model, "name_or_path", "") or type(model).__name__
    if isinstance(model, RobustModel):
        raise LovevecError(f"{name}: is robust already; robustify the plain model to change how")
    if not isinstance(model, PreTrainedModel):
        raise LovevecError(f"{type(model).__name__}: is no model of transformers")
    if generates(model):
        raise LovevecError(f"{name}: generates text piece by piece; robustify is for encoders, as BERT is one")
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise LovevecError(f"{type(tokenizer).__name__}: is no tokenizer of transformers; give (model, tokenizer)")
    if tokenizer.unk_token_id is None:
        raise LovevecError(f"{name}: its tokenizer has no token for unknown words, whose place a broken word takes")


def generates(model: Any) -> bool:
    """Whether a model is a decoder or has one: by itself, or because all models of its type are meant for that."""
    config, kind = model.config, type(model.config)
    if config.is_encoder_decoder or getattr(config, "is_decoder", False) or model.can_generate():
        return True
    return kind in MODEL_FOR_CAUSAL_LM_MAPPING and kind not in MODEL_FOR_MASKED_LM_MAPPING
