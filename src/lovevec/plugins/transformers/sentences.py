"""A sentence-transformers model around a robust encoder."""

from __future__ import annotations

from copy import deepcopy
from itertools import chain
from typing import Any

from lovevec.errors import LovevecError
from lovevec.plugins.transformers.pair import Love, robust_pair
from lovevec.plugins.transformers.wire_format import KEY


def is_sentence_transformer(model: Any) -> bool:
    """Without importing the library, which whoever has such a model has done."""
    return any(kind.__module__.startswith("sentence_transformers.") for kind in type(model).__mro__)


def robust_sentence_transformer(model: Any, love: Love, how: dict[str, Any]) -> Any:
    """A copy of the sentence encoder around a robust model; weights are shared."""
    shared = {id(tensor): tensor for tensor in chain(model.parameters(), model.buffers())}
    model = deepcopy(model, shared)
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
