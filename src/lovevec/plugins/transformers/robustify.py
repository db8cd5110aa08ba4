"""robustify: a Hugging Face encoder whose broken words get one good embedding before the attention layers."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

from lovevec.attach.space import SAME_SPACE, SPACES, SpaceOption
from lovevec.errors import LovevecError
from lovevec.love import LOVE
from lovevec.model.shipped import shipped
from lovevec.plugins import KeepOption, LoveOption, default_keep, words_to_keep
from lovevec.plugins.transformers.classes import RobustModel, register, robust_config, robust_model, robust_tokenizer
from lovevec.plugins.transformers.embedding import STRATEGIES, Strategy, make_robust
from lovevec.plugins.transformers.imputer import Imputer, add_known_words, fit_imputer
from lovevec.plugins.transformers.wire_format import LOVE_WORDS
from lovevec.transformer.load import LOADING_ERRORS, loading_problem, rows_of_words
from lovevec.transformer.pieces import whole_words

Floats = NDArray[np.float32]


def robustify(
    model: Any,
    love: LoveOption = None,
    strategy: Strategy = "replace",
    *,
    trainable: bool = False,
    keep: KeepOption = None,
    sentences: bool | str = False,
    space: SpaceOption = "auto",
    auto: Any = None,
    **options: Any,
) -> Any:
    """Give a model LOVE for the words that its tokenizer breaks into pieces. The model given stays as it is; the robust
    one shares its weights.

    model      a name or folder, a pair (model, tokenizer), or a SentenceTransformer
    love       a LOVE, its folder or name, that mimics the model's own input embeddings (`lovevec train hf:NAME`); by
               default the shipped one that does. One that mimics other vectors is brought over by a linear map.
    strategy   replace, linear or add: how LOVE's vector and those of the pieces go together (see embedding.py)
    trainable  whether LOVE's table trains with the model; then every vector is made from the spelling
    keep       words that stay in pieces though they are broken, since the model knows them well enough: a list, or the
               name of a LOVE whose known words they are. By default an English model keeps the 80,000 words of the
               shipped default, so that it sees what is spelled right as the plain model does; a model most of whose
               words the default does not know keeps none. With () every broken word goes to LOVE, as in the paper.
    sentences  whether the sentence has its say in what a broken word stands for (by `replace` alone): True, by the
               shipped default, or the name of a LOVE that reads so. Off by default: measured on MiniLM, it brings
               less than its noise (docs/results/context.md)
    space      direct (LOVE's vectors as they are), mapped (by a linear map), or auto: mapped where they do not agree
               with the model's
    auto       for a name: the Auto class to load it by, AutoModel by default; `options` go to its from_pretrained

    Returns the pair (model, tokenizer), or a SentenceTransformer for one.

        model, tokenizer = robustify("sentence-transformers/all-MiniLM-L6-v2")
        model(**tokenizer(["a mispelled sentense"], return_tensors="pt"))
        model, tokenizer = robustify("bert-base-uncased", "my-love", auto=AutoModelForSequenceClassification)
    """
    if strategy not in STRATEGIES:
        raise LovevecError(f"strategy is {strategy!r}: choose one of {', '.join(STRATEGIES)}")
    if space not in SPACES:
        raise LovevecError(f"space is {space!r}: choose one of {', '.join(SPACES)}")
    words = words_to_keep(keep)
    robust_pair = partial(_robust_pair, love=love, strategy=strategy, trainable=trainable, space=space, keep=words)
    robust_pair = partial(robust_pair, sentences=sentences)
    if isinstance(model, (str, os.PathLike)):
        model = _load_pair(model, auto, options)
    elif auto is not None or options:
        names = ", ".join(["auto"] * (auto is not None) + list(options))
        raise LovevecError(f"{names}: only for a model given by its name")
    if isinstance(model, tuple) and len(model) == 2:
        return robust_pair(*model)
    if _is_sentence_transformer(model):
        return _robust_sentence_transformer(model, robust_pair)
    raise LovevecError(
        f"robustify takes a model's name or folder, a pair (model, tokenizer) or a SentenceTransformer, "
        f"not {type(model).__name__}"
    )


def _robust_pair(
    model: Any,
    tokenizer: Any,
    love: LoveOption,
    strategy: Strategy,
    trainable: bool,
    space: SpaceOption,
    keep: list[str] | None,
    sentences: bool | str,
) -> tuple[Any, Any]:
    _refuse_other_than_encoders(model, tokenizer)
    imputer = _fit(model, tokenizer, love, space)
    keep = default_keep(whole_words(tokenizer)[0]) if keep is None else keep
    reader = "default" if sentences is True else sentences or None
    if trainable:  # what trains is the encoder; known words' own rows do not
        imputer = replace(imputer, love=imputer.love.copy(spelling_only=True))
    elif imputer.map is None:
        known = _mean_rows(model, tokenizer, keep, imputer.love)
        imputer = replace(imputer, love=add_known_words(imputer.love, *known))
    tokenizer = deepcopy(tokenizer)
    name = type(tokenizer).__name__
    tokenizer.__class__ = robust_tokenizer(tokenizer.__class__)
    tokenizer.become_robust(strategy, keep, reader if strategy == "replace" and not trainable else None)
    model = _copy_with_shared_weights(model)
    register(type(model.config), name)
    model.config.__class__ = robust_config(model.config.__class__)
    model.__class__ = robust_model(model.__class__)
    ids = {"mask": tokenizer.mask_token_id, "unknown": tokenizer.unk_token_id}
    model.config.lovevec = {"strategy": strategy, "tokenizer": name, **ids}
    layer = make_robust(model.get_input_embeddings(), model.config.lovevec)
    layer.use(imputer)
    if trainable:
        model.config.lovevec["love"] = layer.train_love(imputer).sizes
    return model, tokenizer


def _copy_with_shared_weights(model: Any) -> Any:
    return deepcopy(model, {id(tensor): tensor for tensor in chain(model.parameters(), model.buffers())})


def _fit(model: Any, tokenizer: Any, love: LoveOption, space: SpaceOption) -> Imputer:
    """LOVE in the space of the model's input embeddings. By default the shipped LOVE that mimics them."""
    words, vectors = rows_of_words(model.name_or_path or type(model).__name__, tokenizer, model)
    if love is not None:
        return fit_imputer(love if isinstance(love, LOVE) else LOVE.load(love), words, vectors, space)
    for name in shipped():
        candidate = LOVE.load(name)
        if candidate.dim == vectors.shape[1]:
            imputer = fit_imputer(candidate, words, vectors, "direct")
            if imputer.near >= SAME_SPACE:
                return imputer
    name = model.config._name_or_path or "NAME"
    raise LovevecError(
        f"no LOVE that ships mimics the input embeddings of {name}; train one: lovevec train hf:{name} -o my-love, "
        "then love='my-love'"
    )


def _refuse_other_than_encoders(model: Any, tokenizer: Any) -> None:
    name = getattr(model, "name_or_path", "") or type(model).__name__
    if isinstance(model, RobustModel):
        raise LovevecError(f"{name}: is robust already; robustify the plain model to change how")
    if not isinstance(model, PreTrainedModel):
        raise LovevecError(f"{type(model).__name__}: is no model of transformers")
    if _generates(model):
        raise LovevecError(f"{name}: generates text piece by piece; robustify is for encoders, as BERT is one")
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise LovevecError(f"{type(tokenizer).__name__}: is no tokenizer of transformers; give (model, tokenizer)")
    if tokenizer.unk_token_id is None:
        raise LovevecError(f"{name}: its tokenizer has no token for unknown words, whose place a broken word takes")


def _generates(model: Any) -> bool:
    """Whether a model is a decoder or has one: by itself, or because all models of its type are meant for that."""
    config, kind = model.config, type(model.config)
    if config.is_encoder_decoder or getattr(config, "is_decoder", False) or model.can_generate():
        return True
    return kind in MODEL_FOR_CAUSAL_LM_MAPPING and kind not in MODEL_FOR_MASKED_LM_MAPPING


def _mean_rows(model: Any, tokenizer: Any, words: list[str], love: LOVE) -> tuple[list[str], Floats]:
    """Those of the words that LOVE does not know and that are one word to the tokenizer, with the mean of their pieces'
    rows of the model's table."""
    known = set(love.words)
    words = [word for word in dict.fromkeys(words) if word.isalpha() and word not in known]
    table = model.get_input_embeddings().weight.detach().float().cpu().numpy()
    pieces = tokenizer([f" {word}" for word in words], add_special_tokens=False)["input_ids"] if words else []
    means = [table[ids].mean(axis=0) if ids else np.zeros_like(table[0]) for ids in pieces]
    return words, np.array(means, dtype=np.float32).reshape(len(words), table.shape[1])


def _load_pair(name: str | os.PathLike[str], auto: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    try:
        model = (auto or AutoModel).from_pretrained(name, **options)  # first: its errors say best what a folder lacks
        return model, AutoTokenizer.from_pretrained(name)
    except LOADING_ERRORS as error:
        raise LovevecError(loading_problem(os.fspath(name), error)) from None


def _is_sentence_transformer(model: Any) -> bool:
    """Whether a model is a SentenceTransformer, by the names of its classes: the library need not be installed."""
    return any(kind.__module__.startswith("sentence_transformers.") for kind in type(model).__mro__)


def _robust_sentence_transformer(model: Any, robust_pair: Callable[[Any, Any], tuple[Any, Any]]) -> Any:
    model = _copy_with_shared_weights(model)
    module = model[0]
    tokenizer = getattr(module, "tokenizer", None)
    holder = "processor" if hasattr(module, "processor") else "tokenizer"
    inner = "model" if "model" in module._modules else "auto_model"
    if inner not in module._modules or tokenizer is None:
        raise LovevecError(f"the SentenceTransformer's first module is {type(module).__name__}, no transformers model")
    robust, tokenizer = robust_pair(getattr(module, inner), tokenizer)
    setattr(module, inner, robust)
    setattr(module, holder, tokenizer)
    if getattr(module, "model_forward_params", None) is not None:
        module.model_forward_params = {*module.model_forward_params, LOVE_WORDS}
    return model
