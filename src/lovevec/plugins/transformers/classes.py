"""Robust classes of transformers' own, made on demand: RobustBertModel, RobustBertConfig, RobustBertTokenizer, …

A saved robust model has the type `lovevec-bert` in its config.json, so that transformers alone says that it does not
know it, instead of loading it without LOVE. Once this package is imported, AutoModel…, AutoTokenizer and pipelines know
it. Its LOVE lies beside the weights, in a folder of its own.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoConfig, AutoTokenizer
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

from lovevec.errors import LovevecError
from lovevec.love import LOVE
from lovevec.model.folder import CARD
from lovevec.model.hub import REQUIRED_FILES
from lovevec.plugins.transformers.embedding import RobustEmbedding, make_robust
from lovevec.plugins.transformers.imputer import FIT_FILE, Imputer
from lovevec.plugins.transformers.tokenizer import RobustTokenizer
from lovevec.plugins.transformers.wire_format import LOVE_WORDS

PACKAGE = "lovevec.plugins.transformers"
CLASS_PREFIX, TYPE_PREFIX = "Robust", "lovevec-"
LOVE_FOLDER = "love"  # inside a saved model's folder
# Types whose saved models the Auto classes load once this package is imported; robustify takes others too.
ENCODER_TYPES = (
    *("albert", "bert", "camembert", "deberta", "deberta-v2", "distilbert", "electra", "ernie", "modernbert"),
    *("mpnet", "nomic_bert", "roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "xmod"),
)
AUTO_CLASSES = tuple(name for name in dir(modeling_auto) if name.startswith("AutoModel"))


class RobustModel:
    """Mixed into a model's class: words beside ids, and LOVE beside the weights when it is saved."""

    config: Any

    def __init__(self, config: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)  # type: ignore[call-arg]
        make_robust(self.get_input_embeddings(), config.lovevec)  # type: ignore[attr-defined]

    @property
    def robust_embeddings(self) -> RobustEmbedding:
        layer: RobustEmbedding = self.get_input_embeddings()  # type: ignore[attr-defined]
        return layer

    @property
    def love(self) -> LOVE | None:
        """The LOVE that broken words have their vectors from; None before it is loaded."""
        return self.robust_embeddings.imputer.love if self.robust_embeddings.imputer else None

    def save_pretrained(self, save_directory: str | os.PathLike[str], *args: Any, **kwargs: Any) -> None:
        if kwargs.get("push_to_hub"):
            raise LovevecError("push_to_hub: save first, then upload the folder, so that LOVE goes along")
        if self.robust_embeddings.imputer is None:
            raise LovevecError("this robust model was made without LOVE: there is nothing to save with it")
        super().save_pretrained(save_directory, *args, **kwargs)  # type: ignore[misc]
        if kwargs.get("is_main_process", True):
            self.robust_embeddings.imputer.save(Path(save_directory) / LOVE_FOLDER)

    @classmethod
    def from_pretrained(cls, name: Any, *args: Any, **kwargs: Any) -> Any:
        imputer = Imputer.load(_love_folder(name, kwargs))
        result = super().from_pretrained(name, *args, **kwargs)  # type: ignore[misc]
        model = result[0] if isinstance(result, tuple) else result
        model.robust_embeddings.use(imputer)
        return result


def _love_folder(name: Any, options: dict[str, Any]) -> Path:
    if os.path.isdir(name):
        folder = Path(name) / (options.get("subfolder") or "") / LOVE_FOLDER
        if not folder.is_dir():
            raise LovevecError(
                f"{name}: its LOVE is missing (the folder {LOVE_FOLDER}): was the model saved as a whole?"
            )
        return folder
    from transformers.utils.hub import cached_file

    hub = {key: options[key] for key in ("cache_dir", "revision", "token", "local_files_only") if key in options}
    files = [cached_file(name, f"{LOVE_FOLDER}/{file}", **hub) for file in (*REQUIRED_FILES, FIT_FILE, CARD)]
    return Path(str(files[0])).parent


@cache
def robust_config(base: Any) -> type:
    """BertConfig -> RobustBertConfig, known to AutoConfig from then on."""

    def from_dict(cls: Any, /, values: dict[str, Any], **kwargs: Any) -> Any:
        register(base, values.get("lovevec", {}).get("tokenizer"))
        return base.from_dict.__func__(cls, values, **kwargs)

    members = {"model_type": TYPE_PREFIX + base.model_type, "from_dict": classmethod(from_dict)}
    robust: Any = type(CLASS_PREFIX + base.__name__, (base,), {"__module__": PACKAGE, **members})
    AutoConfig.register(robust.model_type, robust, exist_ok=True)
    return robust  # type: ignore[no-any-return]


@cache
def robust_model(base: Any) -> type:
    """BertForTokenClassification -> RobustBertForTokenClassification."""
    config = robust_config(base.config_class)
    members = {"__module__": PACKAGE, "config_class": config, "forward": _robust_forward(base)}
    return type(CLASS_PREFIX + base.__name__, (RobustModel, base), members)


@cache
def robust_tokenizer(base: Any) -> type:
    """BertTokenizer -> RobustBertTokenizer, with the methods of RobustTokenizer."""
    return type(CLASS_PREFIX + base.__name__, (RobustTokenizer, base), {"__module__": PACKAGE})


def _robust_forward(base: Any) -> Callable[..., Any]:
    """The model's own forward with one argument more, the words' numbers. Its signature says so: Trainer and others
    go by it."""

    def forward(self: Any, *args: Any, love_words: torch.Tensor | None = None, **kwargs: Any) -> Any:
        ids = args[0] if args else kwargs.get("input_ids")
        if love_words is None:
            self.robust_embeddings.warn_without_words(ids)
        elif ids is None:
            raise LovevecError(f"{LOVE_WORDS} goes with input_ids, which this call lacks")
        else:
            ids = self.robust_embeddings.insert_words(ids, love_words)
            args, kwargs = ((ids, *args[1:]), kwargs) if args else (args, {**kwargs, "input_ids": ids})
        return base.forward(self, *args, **kwargs)

    own = inspect.signature(base.forward)
    parameters = list(own.parameters.values())
    place = next((i for i, one in enumerate(parameters) if one.kind is one.VAR_KEYWORD), len(parameters))
    parameters.insert(place, inspect.Parameter(LOVE_WORDS, inspect.Parameter.KEYWORD_ONLY, default=None))
    forward.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    forward.__doc__ = base.forward.__doc__
    return forward


def register(config: type, tokenizer: str | None) -> None:
    """Tell the Auto classes about the robust models of a config's type, and about the tokenizer of that class name."""
    robust = robust_config(config)
    for name in AUTO_CLASSES:
        auto = getattr(modeling_auto, name)
        if config in auto._model_mapping:
            models = auto._model_mapping[config]
            for base in models if isinstance(models, (list, tuple)) else [models]:
                auto._model_mapping.register(robust, robust_model(base), exist_ok=True)
    if tokenizer:
        AutoTokenizer.register(robust, robust_tokenizer(_plain_class(tokenizer)), exist_ok=True)


def register_encoders() -> None:
    """Make saved models of the usual types loadable, and tokenizers that were saved apart from them. It is quick:
    configs and tokenizers are imported, no model."""
    for name in ENCODER_TYPES:
        if name in CONFIG_MAPPING:
            config: Any = CONFIG_MAPPING[name]
            robust, tokenizer = robust_config(config), TOKENIZER_MAPPING_NAMES.get(name)
            if isinstance(tokenizer, str):
                AutoTokenizer.register(robust, robust_tokenizer(_plain_class(tokenizer)), exist_ok=True)


def _plain_class(name: str) -> Any:
    kind = getattr(transformers, name, None)
    if not isinstance(kind, type):
        raise LovevecError(f"transformers {transformers.__version__} has no class {name}, which a saved model needs")
    return kind


def robust_class(name: str) -> Any:
    """The class of a name like RobustBertModel, RobustBertConfig or RobustBertTokenizer: pickles ask for it so."""
    base = getattr(transformers, name.removeprefix(CLASS_PREFIX), None) if name.startswith(CLASS_PREFIX) else None
    for kind, make in (
        (transformers.PreTrainedModel, robust_model),
        (transformers.PreTrainedConfig, robust_config),
        (transformers.PreTrainedTokenizerBase, robust_tokenizer),
    ):
        if kind in getattr(base, "__mro__", ()):
            return make(base)
    raise AttributeError(f"module {PACKAGE!r} has no attribute {name!r}")
