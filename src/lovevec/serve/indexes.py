"""Indexes of texts that are served by name, and what each answers to a list of queries."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from lovevec.errors import LovevecError, Parameter
from lovevec.love import LOVE
from lovevec.search import Index, about_index
from lovevec.search.folder import model_hash
from lovevec.search.hits import hit_facts
from lovevec.serve.models import SAMPLE, ServedModel, split_name


class ServedIndex:
    """An index under the name by which requests ask for it."""

    def __init__(self, name: str, index: Index) -> None:
        self.name, self.index = name, index
        self.created = int(time.time())

    def warm_up(self) -> None:
        """Search once: what is made by a first query is there then, and workers share it."""
        self.search([SAMPLE], 1, why=True)

    def search(
        self, queries: Sequence[str], k: int, only: Collection[int | str] | None = None, why: bool = False
    ) -> list[list[dict[str, Any]]]:
        """The k best texts for each query, among those with the ids `only`; with reasons if `why`."""
        found = self.index.search(list(queries), k, only=None if only is None else list(only))
        return [[hit_facts(hit, why) for hit in hits] for hits in found]

    def card(self) -> dict[str, Any]:
        """What it is, for clients that look for an index."""
        return {
            "id": self.name,
            "object": "index",
            "created": self.created,
            "texts": len(self.index),
            "fields": list(self.index.fields),
        }


def load_indexes(arguments: Sequence[str], models: Iterable[ServedModel] = ()) -> dict[str, ServedIndex]:
    """Indexes given as NAME=FOLDER, or FOLDER for one by its own name; the first is the default. The model that an
    index was made with is one of those that are served, or the shipped one."""
    served: dict[str, ServedIndex] = {}
    loves = [one.vectors for one in models if isinstance(one.vectors, LOVE)] if arguments else []
    by_hash = {model_hash(love.parts): love for love in reversed(loves)}
    for argument in arguments:
        name, folder = split_name(argument, "index")
        if name in served:
            raise LovevecError(f"two indexes are named {name}: give each a name of its own, NAME=FOLDER")
        about = about_index(folder)
        if about["encoder"]:
            raise LovevecError(f"{folder}: was made with an encoder of your own, which the server does not have")
        love = by_hash.get(about["model"])
        if love is None:
            love = LOVE.load(low_memory=True)
            if model_hash(love.parts) != about["model"]:
                raise LovevecError(f"{folder}: was made with another model; serve that too, with {Parameter('model')}")
        served[name] = ServedIndex(name, Index.load(folder, love))
    return served
