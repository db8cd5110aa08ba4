"""Robust classes of transformers' own, made on demand: RobustBertModel, RobustBertConfig, RobustBertTokenizer, …

A saved robust model has the type `lovevec-bert` in its config.json, so that transformers alone says that it does not
know it, instead of loading it without LOVE. Once this package is imported, AutoModel…, AutoTokenizer and pipelines know
it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
import transformers
from transformers import AutoConfig, AutoTokenizer
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

from lovevec.errors import LovevecError
from lovevec.plugins.transformers.model import RobustModel
from lovevec.plugins.transformers.tokenizer import RobustTokenizer
from lovevec.plugins.transformers.wire_format import KEY

PACKAGE = "lovevec.plugins.transformers"
PREFIX, TYPE = "Robust", "lovevec-"
# Types whose saved models the Auto classes load once this package is imported; robustify takes others too.
KNOWN_TYPES = (
    *("albert", "bert", "camembert", "deberta", "deberta-v2", "distilbert", "electra", "ernie", "modernbert"),
    *("mpnet", "nomic_bert", "roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod"),
)
AUTO = tuple(name for name in dir(modeling_auto) if name.startswith("AutoModel"))


@cache
def robust_config(base: Any) -> type:
    """BertConfig -> RobustBertConfig, known to AutoConfig from then on."""

    def from_dict(cls: Any, /, values: dict[str, Any], **kwargs: Any) -> Any:
        register(base, values.get("lovevec", {}).get("tokenizer"))
        return base.from_dict.__func__(cls, values, **kwargs)

    named = {"model_type": TYPE + base.model_type, "from_dict": classmethod(from_dict)}
    robust: Any = type(PREFIX + base.__name__, (base,), {"__module__": PACKAGE, **named})
    AutoConfig.register(robust.model_type, robust, exist_ok=True)
    return robust  # type: ignore[no-any-return]


@cache
def robust_model(base: Any) -> type:
    """BertForTokenClassification -> RobustBertForTokenClassification."""
    config = robust_config(base.config_class)
    named = {"__module__": PACKAGE, "config_class": config, "forward": forward_of(base)}
    return type(PREFIX + base.__name__, (RobustModel, base), named)


@cache
def robust_tokenizer(base: Any) -> type:
    """BertTokenizer -> RobustBertTokenizer."""
    return type(PREFIX + base.__name__, (RobustTokenizer, base), {"__module__": PACKAGE})


def forward_of(base: Any) -> Callable[..., Any]:
    """The model's own forward with one argument more. Its signature says so: Trainer and others go by it."""

    def forward(self: Any, *args: Any, love_words: torch.Tensor | None = None, **kwargs: Any) -> Any:
        if love_words is None:
            self.without_words(args, kwargs)
        else:
            args, kwargs = self.with_words(args, kwargs, love_words)
        return base.forward(self, *args, **kwargs)

    own = inspect.signature(base.forward)
    parameters = list(own.parameters.values())
    place = next((i for i, one in enumerate(parameters) if one.kind is one.VAR_KEYWORD), len(parameters))
    parameters.insert(place, inspect.Parameter(KEY, inspect.Parameter.KEYWORD_ONLY, default=None))
    forward.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    forward.__doc__ = base.forward.__doc__
    return forward


def register(config: type, tokenizer: str | None) -> None:
    """Tell the Auto classes about the robust models of a type, and about their tokenizer."""
    robust = robust_config(config)
    for name in AUTO:
        auto = getattr(modeling_auto, name)
        if config in auto._model_mapping:
            models = auto._model_mapping[config]
            for base in models if isinstance(models, (list, tuple)) else [models]:
                auto._model_mapping.register(robust, robust_model(base), exist_ok=True)
    if tokenizer:
        AutoTokenizer.register(robust, robust_tokenizer(by_name(tokenizer)), exist_ok=True)


def register_known() -> None:
    """Make saved models of the usual types loadable, and tokenizers that were saved apart from them; light: configs and
    tokenizers are imported, no model."""
    for name in KNOWN_TYPES:
        if name in CONFIG_MAPPING:
            config: Any = CONFIG_MAPPING[name]
            robust, tokenizer = robust_config(config), TOKENIZER_MAPPING_NAMES.get(name)
            if isinstance(tokenizer, str):
                AutoTokenizer.register(robust, robust_tokenizer(by_name(tokenizer)), exist_ok=True)


def by_name(name: str) -> Any:
    """A class of transformers by its name, as saved files have it."""
    kind = getattr(transformers, name, None)
    if not isinstance(kind, type):
        raise LovevecError(f"transformers {transformers.__version__} has no class {name}, which a saved model needs")
    return kind


def by_robust_name(name: str) -> Any:
    """RobustBertModel and the like."""
    base = getattr(transformers, name.removeprefix(PREFIX), None) if name.startswith(PREFIX) else None
    for kind, make in (
        (transformers.PreTrainedModel, robust_model),
        (transformers.PreTrainedConfig, robust_config),
        (transformers.PreTrainedTokenizerBase, robust_tokenizer),
    ):
        if kind in getattr(base, "__mro__", ()):
            return make(base)
    raise AttributeError(f"module {PACKAGE!r} has no attribute {name!r}")
