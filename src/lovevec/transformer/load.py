"""Transformers from a folder or the Hugging Face hub, and their input embeddings as a target: `hf:NAME`.

The paper calls this mimicking input embeddings: the rows that a BERT-like model looks up before its first layer, of
those pieces that are whole words.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from lovevec.errors import LovevecError, MissingExtra
from lovevec.progress import Progress
from lovevec.transformer.pieces import whole_words
from lovevec.vectors import VectorTable
from lovevec.vectors.memory import table_from_memory

PREFIX = "hf:"
WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")
LOADING_ERRORS = (OSError, ValueError, KeyError, TypeError, RuntimeError, ImportError, SafetensorError)
REPORT_FORMAT = "input embeddings of a transformer, whole words"


def is_transformer(source: Any) -> bool:
    """Whether a target is a transformer, named as `hf:NAME`; anything else is a file or a table."""
    return isinstance(source, str) and source.startswith(PREFIX)


def absolute_source(source: str) -> str:
    """`hf:FOLDER` that means the same from every working folder; a hub id as it is."""
    name = source.removeprefix(PREFIX)
    return PREFIX + (str(Path(name).absolute()) if Path(name).is_dir() else name)


def load_tokenizer(name: str) -> Any:
    """The tokenizer of a model folder or hub id, the fast one where there is one."""
    with loading(name) as transformers:
        transformers.AutoConfig.from_pretrained(name)  # first: its errors say best what a folder lacks
        return transformers.AutoTokenizer.from_pretrained(name)


def load_model(name: str) -> Any:
    """The transformer itself, without a head, ready to compute; of a model with a decoder the encoder alone."""
    with loading(name) as transformers:
        model = transformers.AutoModel.from_pretrained(name).eval()
        return model.get_encoder() if model.config.is_encoder_decoder else model


def input_embeddings(name: str, limit: int | None, progress: Progress) -> VectorTable:
    """The input embeddings of all whole words, float32 as they are, in the vocabulary's order."""
    with progress.phase("loading model"):
        words, vectors = rows_of_words(name, load_tokenizer(name), load_model(name))
    table, _ = table_from_memory((words, vectors), limit)
    table.report.format = REPORT_FORMAT
    return table


def rows_of_words(name: str, tokenizer: Any, model: Any) -> tuple[list[str], NDArray[np.float32]]:
    """The whole words of a tokenizer, and the rows that the model has for them, float32."""
    words, rows = whole_words(tokenizer)
    weight = _embedding(name, model).weight.detach()
    if len(rows) and rows[-1] >= len(weight):
        raise LovevecError(
            f"{name}: its vocabulary has {rows[-1] + 1:,} entries, its table of input embeddings {len(weight):,} rows; "
            "tokenizer and model are not of one kind"
        )
    return words, weight[rows].float().cpu().numpy()


def positions_of(model: Any) -> int | None:
    """How many positions a model has rows for, None without such a table; RoBERTa's kin begin behind padding's."""
    table = next((part for path, part in model.named_modules() if path.endswith("position_embeddings")), None)
    rows: int | None = getattr(table, "num_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return rows if rows is None or padding is None else rows - padding - 1


def _embedding(name: str, model: Any) -> Any:
    import torch

    try:
        module = model.get_input_embeddings()
    except NotImplementedError:
        module = None
    if not isinstance(module, torch.nn.Embedding):
        raise LovevecError(f"{name}: a {type(model).__name__} has no table of input embeddings: no model of text")
    return module


def public_name(name: str) -> str:
    """A model's name fit to publish: of a folder its last part, without the folders of this machine; a hub id."""
    return Path(name).absolute().name if Path(name).is_dir() else name


def weights_file(name: str) -> Path | None:
    """The file of a model's weights, in its folder or in the hub's cache; None where they are several files, or not
    here."""
    if Path(name).is_dir():
        return next((file for file_name in WEIGHT_FILES if (file := Path(name) / file_name).is_file()), None)
    from transformers.utils.hub import cached_file

    for file_name in WEIGHT_FILES:
        try:
            if path := cached_file(name, file_name, local_files_only=True):
                return Path(path)
        except (OSError, ValueError):
            continue
    return None


def require_transformers() -> None:
    """One line that says what to install, where the extra `bert` is not there."""
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "transformers", "bert") from None


@contextmanager
def loading(name: str) -> Iterator[Any]:
    """The package transformers, to load from: its errors become one line of ours, its progress and warnings are held
    back meanwhile."""
    require_transformers()
    import transformers
    from transformers.utils import logging as chatter

    hub = logging.getLogger("huggingface_hub")
    before, bars, level = chatter.get_verbosity(), chatter.is_progress_bar_enabled(), hub.level
    chatter.set_verbosity_error()
    chatter.disable_progress_bar()
    hub.setLevel(logging.CRITICAL)
    try:
        yield transformers
    except LOADING_ERRORS as error:
        raise LovevecError(loading_problem(name, error)) from None
    finally:
        chatter.set_verbosity(before)
        if bars:
            chatter.enable_progress_bar()
        hub.setLevel(level)


def loading_problem(name: str, error: Exception) -> str:
    """One line that says why a model could not be loaded, after the error of transformers."""
    reason = " ".join(str(error).split())[:240] or type(error).__name__
    if os.path.exists(name):
        return f"{name}: cannot be read as a transformers model with its tokenizer: {reason}"
    return f"{name}: no such folder, and not to be had as a hub id: {reason}"
