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
from lovevec.plugins import LoveOption, load_love

# Of each class its package, and the extra that brings it.
REQUIREMENTS = {
    "LoveEmbeddings": ("langchain-core >= 0.3", "langchain"),
    "LoveEmbedding": ("llama-index-core >= 0.12", "llama-index"),
    "LoveTextEmbedder": ("haystack-ai >= 2.12", "haystack"),
    "LoveDocumentEmbedder": ("haystack-ai >= 2.12", "haystack"),
}
__all__ = list(REQUIREMENTS)


def _encode(love: Any, texts: list[str]) -> list[list[float]]:
    vectors: list[list[float]] = love.encode(texts).tolist()
    return vectors


with suppress(ImportError):
    from langchain_core.embeddings import Embeddings

    class LoveEmbeddings(Embeddings):
        """LangChain's embeddings by a LOVE, an attached table, or a model's name (the shipped default for None).

        LoveEmbeddings().embed_query("a wonderfull fi1m") gives a list of floats.
        """

        def __init__(self, love: LoveOption | Attached = None) -> None:
            self.love = load_love(love)

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return _encode(self.love, list(texts))

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]


with suppress(ImportError):
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import PrivateAttr

    class LoveEmbedding(BaseEmbedding):
        """LlamaIndex's embedding by a model's name; `love` is a LOVE or an attached table to take instead.

        LoveEmbedding().get_query_embedding("a wonderfull fi1m") gives a list of floats.
        """

        _love: Any = PrivateAttr()

        def __init__(self, model_name: str = DEFAULT, love: LOVE | Attached | None = None, **options: Any) -> None:
            super().__init__(model_name=model_name, **options)
            self._love = load_love(model_name if love is None else love)

        @classmethod
        def class_name(cls) -> str:
            return "LoveEmbedding"

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return _encode(self._love, list(texts))

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
            self._love = self._love or LOVE.load(self.model)

        def _encode(self, texts: list[str]) -> list[list[float]]:
            self.warm_up()
            return _encode(self._love, texts)

    @component
    class LoveTextEmbedder(_Embedder):
        """Haystack's component that gives a query its vector.

        LoveTextEmbedder().run("a wonderfull fi1m")["embedding"] is a list of floats.
        """

        @component.output_types(embedding=list[float])
        def run(self, text: str) -> dict[str, Any]:
            return {"embedding": self._encode([text])[0]}

    @component
    class LoveDocumentEmbedder(_Embedder):
        """Haystack's component that gives each document its vector.

        LoveDocumentEmbedder().run([Document(content="a wonderfull fi1m")])["documents"] have an `embedding`.
        """

        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            pairs = zip(documents, self._encode([document.content or "" for document in documents]), strict=True)
            return {"documents": [replace(document, embedding=vector) for document, vector in pairs]}


def __getattr__(name: str) -> Any:
    if name in REQUIREMENTS:
        raise MissingExtra(*REQUIREMENTS[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
