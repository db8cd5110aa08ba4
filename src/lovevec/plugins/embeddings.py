"""Vectors of whole texts for LangChain, LlamaIndex and Haystack: a class of its own kind for each that is installed,
with the names that their users expect.

    from lovevec.plugins.embeddings import LoveEmbeddings                            # LangChain
    from lovevec.plugins.embeddings import LoveEmbedding                             # LlamaIndex
    from lovevec.plugins.embeddings import LoveTextEmbedder, LoveDocumentEmbedder    # Haystack

All give what `encode` gives, as lists of floats. A saved pipeline of Haystack is loaded with
`allowed_modules=["lovevec.plugins.embeddings"]`, as Haystack 3 asks for classes that are not its own.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from lovevec.attach import Attached
from lovevec.errors import MissingExtra
from lovevec.love import LOVE
from lovevec.model.find import DEFAULT
from lovevec.plugins import LoveOption

# Each class with its package and the extra that brings it.
NEEDS = {
    "LoveEmbeddings": ("langchain-core >= 0.3", "langchain"),
    "LoveEmbedding": ("llama-index-core >= 0.12", "llama-index"),
    "LoveTextEmbedder": ("haystack-ai >= 2.12", "haystack"),
    "LoveDocumentEmbedder": ("haystack-ai >= 2.12", "haystack"),
}
__all__ = list(NEEDS)


def _model(love: LoveOption | Attached) -> LOVE | Attached:
    return love if isinstance(love, (LOVE, Attached)) else LOVE.load(love)


with suppress(ImportError):
    from langchain_core.embeddings import Embeddings

    class LoveEmbeddings(Embeddings):
        """LangChain's embeddings by a LOVE, an attached table, or a model's name (the shipped one if not said)."""

        def __init__(self, love: LoveOption | Attached = None) -> None:
            self.love = _model(love)

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            """A vector for each text."""
            vectors: list[list[float]] = self.love.encode(list(texts)).tolist()
            return vectors

        def embed_query(self, text: str) -> list[float]:
            """The vector of a query, in the same space."""
            return self.embed_documents([text])[0]


with suppress(ImportError):
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import PrivateAttr

    class LoveEmbedding(BaseEmbedding):
        """LlamaIndex's embedding by a model's name; `love` is a LOVE or an attached table to take instead."""

        _love: Any = PrivateAttr()

        def __init__(self, model_name: str = DEFAULT, love: LOVE | Attached | None = None, **options: Any) -> None:
            super().__init__(model_name=model_name, **options)
            self._love = _model(model_name if love is None else love)

        @classmethod
        def class_name(cls) -> str:
            """The name that saved settings have it by."""
            return "LoveEmbedding"

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            vectors: list[list[float]] = self._love.encode(list(texts)).tolist()
            return vectors

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)


with suppress(ImportError):
    from haystack import Document, component

    class _Embedder:
        """What both components share: a model by its name, so that pipelines can be saved; loaded when it is needed."""

        def __init__(self, model: str = DEFAULT) -> None:
            self.model = model
            self._love: LOVE | None = None

        def warm_up(self) -> None:
            """Load the model."""
            self._love = self._love or LOVE.load(self.model)

        def _encode(self, texts: list[str]) -> list[list[float]]:
            self.warm_up()
            assert self._love is not None
            vectors: list[list[float]] = self._love.encode(texts).tolist()
            return vectors

    @component
    class LoveTextEmbedder(_Embedder):
        """Haystack's component for queries."""

        @component.output_types(embedding=list[float])
        def run(self, text: str) -> dict[str, Any]:
            """The vector of a text."""
            return {"embedding": self._encode([text])[0]}

    @component
    class LoveDocumentEmbedder(_Embedder):
        """Haystack's component for documents: each gets its vector."""

        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            """The documents with the vectors of their content; those given stay as they are."""
            vectors = self._encode([document.content or "" for document in documents])
            return {
                "documents": [
                    replace(document, embedding=vector) for document, vector in zip(documents, vectors, strict=True)
                ]
            }


def __getattr__(name: str) -> Any:
    if name in NEEDS:
        raise MissingExtra(*NEEDS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
