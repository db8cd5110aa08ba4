"""What is added to a model of any class: words beside ids, and LOVE beside the weights when it is saved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from lovevec.errors import LovevecError
from lovevec.love import LOVE
from lovevec.model.folder import CARD
from lovevec.model.hub import REQUIRED_FILES
from lovevec.plugins.transformers.embedding import RobustEmbedding, make_robust
from lovevec.plugins.transformers.imputer import FILE, Imputer

FOLDER = "love"  # inside a saved model's folder


class RobustModel:
    """Mixed into a model's class (see classes.py): `robust.love` is the LOVE inside."""

    config: Any

    def __init__(self, config: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(config, *args, **kwargs)  # type: ignore[call-arg]
        make_robust(self.get_input_embeddings(), config.lovevec)  # type: ignore[attr-defined]

    @property
    def robust_embeddings(self) -> RobustEmbedding:
        """The embedding layer that knows broken words."""
        layer: RobustEmbedding = self.get_input_embeddings()  # type: ignore[attr-defined]
        return layer

    @property
    def love(self) -> LOVE | None:
        """The LOVE inside, None before it is there."""
        return self.robust_embeddings.imputer.love if self.robust_embeddings.imputer else None

    def with_words(self, args: Any, kwargs: Any, words: torch.Tensor) -> tuple[Any, Any]:
        """The arguments of a call, with the broken words in its ids."""
        ids = args[0] if args else kwargs.get("input_ids")
        if ids is None:
            raise LovevecError("love_words goes with input_ids, which this call lacks")
        ids = self.robust_embeddings.with_words(ids, words)
        return ((ids, *args[1:]), kwargs) if args else (args, {**kwargs, "input_ids": ids})

    def without_words(self, args: Any, kwargs: Any) -> None:
        """A call that came without the broken words."""
        self.robust_embeddings.without_words(args[0] if args else kwargs.get("input_ids"))

    def save_pretrained(self, save_directory: str | os.PathLike[str], *args: Any, **kwargs: Any) -> None:
        """As ever, with LOVE in a folder of its own inside."""
        if kwargs.get("push_to_hub"):
            raise LovevecError("push_to_hub: save first, then upload the folder, so that LOVE goes along")
        if self.robust_embeddings.imputer is None:
            raise LovevecError("this robust model was made without LOVE: there is nothing to save with it")
        super().save_pretrained(save_directory, *args, **kwargs)  # type: ignore[misc]
        if kwargs.get("is_main_process", True):
            self.robust_embeddings.imputer.save(Path(save_directory) / FOLDER)

    @classmethod
    def from_pretrained(cls, name: Any, *args: Any, **kwargs: Any) -> Any:
        """As ever, with the LOVE that was saved beside the weights."""
        imputer = Imputer.load(love_folder(name, kwargs))
        loaded = super().from_pretrained(name, *args, **kwargs)  # type: ignore[misc]
        model = loaded[0] if isinstance(loaded, tuple) else loaded
        model.robust_embeddings.use(imputer)
        return loaded


def love_folder(name: Any, options: dict[str, Any]) -> Path:
    """Where a saved model's LOVE is: in its folder, or in the hub's cache."""
    if os.path.isdir(name):
        folder = Path(name) / (options.get("subfolder") or "") / FOLDER
        if not folder.is_dir():
            raise LovevecError(f"{name}: its LOVE is missing (the folder {FOLDER}): was the model saved as a whole?")
        return folder
    from transformers.utils.hub import cached_file

    kept = {key: options[key] for key in ("cache_dir", "revision", "token", "local_files_only") if key in options}
    files = [cached_file(name, f"{FOLDER}/{file}", **kept) for file in (*REQUIRED_FILES, FILE, CARD)]
    return Path(str(files[0])).parent
