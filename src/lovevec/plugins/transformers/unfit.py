"""Which models cannot be made robust, and why."""

from __future__ import annotations

from typing import Any

from lovevec.errors import LovevecError
from lovevec.plugins.transformers.model import RobustModel


def refuse_unfit(model: Any, tokenizer: Any) -> None:
    """Say why a model cannot be made robust."""
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

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
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

    config, kind = model.config, type(model.config)
    if config.is_encoder_decoder or getattr(config, "is_decoder", False) or model.can_generate():
        return True
    return kind in MODEL_FOR_CAUSAL_LM_MAPPING and kind not in MODEL_FOR_MASKED_LM_MAPPING
