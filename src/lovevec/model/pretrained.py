"""`from_pretrained`, `save_pretrained`, `push_to_hub`: the methods by which people know models of the Hugging Face hub
(model/hub.py talks to it)."""

from __future__ import annotations

import os
from abc import abstractmethod
from pathlib import Path
from typing import Any, TypeVar

from lovevec.arguments import check_flags, new_folder
from lovevec.errors import LovevecError, Parameter, shown
from lovevec.model.find import find_model
from lovevec.model.folder import ModelParts, write_model
from lovevec.model.hub import hub_card, to_hub

Model = TypeVar("Model", bound="HubModel")


class HubModel:
    """The hub's methods for a model that has `parts` and a `card`."""

    parts: ModelParts
    card: str

    @classmethod
    @abstractmethod
    def _read_folder(cls: type[Model], folder: Path, engine: Any, spelling_only: bool, low_memory: bool) -> Model: ...

    @classmethod
    def from_pretrained(
        cls: type[Model],
        name: str | os.PathLike[str] | None = None,
        engine: Any = "auto",
        *,
        spelling_only: bool = False,
        low_memory: bool = False,
        revision: str | None = None,
        token: str | bool | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        force_download: bool = False,
        local_files_only: bool = False,
    ) -> Model:
        """Read a model as `load` does, with huggingface_hub's options for one on the hub.

        :param name: as in `load`; so are `engine`, `spelling_only` and `low_memory`.
        :param revision: a branch, tag or commit of the repository.
        :param token: by which a private one is read.
        :param cache_dir: where downloads are kept.
        :param force_download: downloads anew what the cache has.
        :param local_files_only: takes what the cache has and never downloads.
        """
        hub = {"revision": revision, "token": token, "cache_dir": cache_dir}
        folder = find_model(name, force_download=force_download, local_files_only=local_files_only, **hub)
        return cls._read_folder(folder, engine, spelling_only, low_memory)

    def save_pretrained(
        self,
        folder: str | os.PathLike[str],
        precision: Any = None,
        rows: Any = None,
        *,
        repo_id: str | None = None,
        push_to_hub: bool = False,
        **options: Any,
    ) -> str | None:
        """Write the model folder as `save` does, with a model card as the hub wants it.

        :param repo_id: the name on the hub; by default the folder's.
        :param push_to_hub: also sends the model there, by the `options` of that method.
        :return: the address of the commit if it was sent, else None.
        """
        folder = new_folder(folder)
        check_flags(push_to_hub=push_to_hub)
        if repo_id is not None and not isinstance(repo_id, str):
            raise LovevecError(f"{Parameter('repo_id')} is {shown(repo_id)}: must be a name, owner/name")
        name = repo_id or folder.name
        card = hub_card(self.card, name, len(self.parts.words), self.parts.spec.dim)
        write_model(folder, self.parts, card, precision, rows)
        return self.push_to_hub(name, precision=precision, rows=rows, **options) if push_to_hub else None

    def push_to_hub(
        self,
        repo_id: str,
        *,
        precision: Any = None,
        rows: Any = None,
        commit_message: str = "A LOVE model, by lovevec",
        **options: Any,
    ) -> str:
        """Send the model to the Hugging Face hub.

        :param repo_id: `owner/name`.
        :param precision: as in `save`; so is `rows`.
        :param options: huggingface_hub's: private, token, branch, create_pr, allow_patterns, ignore_patterns,
            delete_patterns.
        :return: the address of the commit.
        """

        def save(folder: Path) -> None:
            self.save_pretrained(folder, precision, rows, repo_id=repo_id)

        return to_hub(repo_id, save, commit_message=commit_message, **options)
