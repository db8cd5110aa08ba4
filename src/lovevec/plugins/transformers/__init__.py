"""LOVE inside BERT-like models: words that the tokenizer breaks into pieces get one good embedding.

    from lovevec.plugins.transformers import robustify
    model, tokenizer = robustify("bert-base-uncased", love="my-love")
    model(**tokenizer(["a mispelled sentense"], return_tensors="pt"))

Model and tokenizer are used like plain ones: Trainer, pipelines, Auto heads, save_pretrained. To load what was saved,
import this package first, then use AutoModel….from_pretrained and AutoTokenizer.from_pretrained.
"""

from __future__ import annotations

from typing import Any

from lovevec.errors import MissingExtra

try:
    import torch  # noqa: F401
    import transformers  # noqa: F401
except ImportError as error:
    raise MissingExtra(error.name or "transformers", "bert") from None

from lovevec.plugins.transformers.classes import register_encoders, robust_class
from lovevec.plugins.transformers.robustify import robustify

__all__ = ["robustify"]

register_encoders()


def __getattr__(name: str) -> Any:
    return robust_class(name)
