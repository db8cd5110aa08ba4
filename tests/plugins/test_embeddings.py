"""LangChain, LlamaIndex and Haystack as they are: their stores and pipelines find mistyped texts by our vectors."""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # before it is imported: nothing on the network
from lovevec import LOVE, LovevecError

pytest.importorskip("langchain_core")
pytest.importorskip("llama_index.core")
pytest.importorskip("haystack")
from lovevec.plugins import embeddings

PRODUCTS = ["cordless drill with two batteries", "stainless steel kettle", "wireless headphones", "leather wallet"]
TEXTS = ["a wonderfull fi1m", "oxgen", "", "Reykjavik 🦊", *PRODUCTS]
QUERY, WANTED = "stainles steal ketle", "stainless steel kettle"


def by_langchain(love: LOVE, texts: list[str]) -> list[list[float]]:
    return embeddings.LoveEmbeddings(love).embed_documents(texts)


def by_llama_index(love: LOVE, texts: list[str]) -> list[list[float]]:
    return embeddings.LoveEmbedding(love=love).get_text_embedding_batch(texts)


def by_haystack(love: LOVE, texts: list[str]) -> list[list[float]]:
    from haystack import Document

    embedder = embeddings.LoveDocumentEmbedder()  # it has models by name only: the shipped one, as `love` is
    return [
        document.embedding for document in embedder.run(documents=[Document(content=t) for t in texts])["documents"]
    ]


@pytest.mark.parametrize("way", [by_langchain, by_llama_index, by_haystack])
def test_the_same_vectors(way, shipped_love):
    """The bar of all plug-ins: a cosine of at least 0.99999 where there is a vector."""
    found, own = np.array(way(shipped_love, TEXTS)), shipped_love.encode(TEXTS).astype(np.float64)
    some = own.any(axis=1)
    cosines = (found * own).sum(axis=1)[some] / np.linalg.norm(found, axis=1)[some] / np.linalg.norm(own, axis=1)[some]
    assert cosines.min() >= 0.99999
    assert not found[~some].any()
    assert all(type(number) is float for number in way(shipped_love, ["dog"])[0])


def test_langchain_finds_a_mistyped_product(shipped_love):
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    own = embeddings.LoveEmbeddings(shipped_love)
    assert isinstance(own, Embeddings)
    store = InMemoryVectorStore.from_texts(PRODUCTS, own)
    assert store.similarity_search(QUERY, k=1)[0].page_content == WANTED
    found = asyncio.run(store.asimilarity_search(QUERY, k=1))
    assert found[0].page_content == WANTED
    assert own.embed_query("dog") == own.embed_documents(["dog"])[0]
    assert own.embed_documents([]) == []


def test_langchain_takes_an_attached_table_and_pickles(shipped_love):
    words = ["kalax", "hemnes", "oak"]
    own = embeddings.LoveEmbeddings(shipped_love.attach((words, shipped_love.embed(words))))
    assert np.dot(own.embed_query("hemmnes"), own.embed_query("hemnes")) > 0.9
    again = pickle.loads(pickle.dumps(embeddings.LoveEmbeddings(shipped_love)))
    assert again.embed_query(QUERY) == embeddings.LoveEmbeddings(shipped_love).embed_query(QUERY)


def test_llama_index_finds_a_mistyped_product(shipped_love):
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import TextNode

    own = embeddings.LoveEmbedding(love=shipped_love)
    index = VectorStoreIndex([TextNode(text=product) for product in PRODUCTS], embed_model=own)
    assert index.as_retriever(similarity_top_k=1).retrieve(QUERY)[0].get_content() == WANTED
    assert asyncio.run(own.aget_query_embedding("dog")) == own.get_query_embedding("dog")
    assert asyncio.run(own.aget_text_embedding("dog")) == own.get_text_embedding("dog")


def test_llama_index_saves_it_by_name(shipped_love):
    own = embeddings.LoveEmbedding(model_name="minilm-input", embed_batch_size=7)
    again = embeddings.LoveEmbedding.from_dict(own.to_dict())
    assert (again.model_name, again.embed_batch_size) == ("minilm-input", 7)
    assert again.get_text_embedding("dog") == own.get_text_embedding("dog")
    assert len(again.get_text_embedding("dog")) == 384


def test_haystack_finds_a_mistyped_product():
    from haystack import Document, Pipeline
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    given = [Document(content=product, meta={"place": place}) for place, product in enumerate(PRODUCTS)]
    documents = embeddings.LoveDocumentEmbedder().run(documents=given)["documents"]
    assert [document.id for document in documents] == [document.id for document in given]
    assert [document.meta["place"] for document in documents] == [0, 1, 2, 3]
    assert all(document.embedding is None for document in given)
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    store.write_documents(documents)
    pipeline = Pipeline()
    pipeline.add_component("embedder", embeddings.LoveTextEmbedder())
    pipeline.add_component("retriever", InMemoryEmbeddingRetriever(store, top_k=1))
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    assert pipeline.run({"embedder": {"text": QUERY}})["retriever"]["documents"][0].content == WANTED


@pytest.mark.slow
def test_haystack_loads_a_saved_pipeline_in_a_new_process(tmp_path):
    from haystack import Pipeline

    pipeline = Pipeline()
    pipeline.add_component("embedder", embeddings.LoveTextEmbedder(model="minilm-input"))
    (tmp_path / "pipeline.yaml").write_text(pipeline.dumps())
    code = """
from haystack import Pipeline
pipeline = Pipeline.loads(open("pipeline.yaml").read())
print(len(pipeline.run({"embedder": {"text": "dog"}})["embedder"]["embedding"]))
"""
    allowed = {"HAYSTACK_DESERIALIZATION_ALLOWLIST": "lovevec.plugins.embeddings"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=os.environ | allowed, capture_output=True, text=True
    )
    assert done.stdout.strip() == "384", done.stderr


@pytest.mark.parametrize(
    ("package", "name", "extra"),
    [
        ("langchain_core", "LoveEmbeddings", "langchain"),
        ("llama_index", "LoveEmbedding", "llama-index"),
        ("haystack", "LoveTextEmbedder", "haystack"),
    ],
)
def test_what_is_missing_is_one_line(package, name, extra):
    others = {"langchain_core", "llama_index", "haystack"} - {package}  # which take seconds to import
    missing = "; ".join(f"sys.modules[{each!r}] = None" for each in (package, *sorted(others)))
    code = f"import sys; {missing}; from lovevec.plugins.embeddings import {name}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"pip install 'lovevec[{extra}]'" in done.stderr.splitlines()[-1]
    assert done.stderr.splitlines()[-1].startswith("lovevec.errors.MissingExtra: this needs ")


def test_a_model_that_is_not_there_is_one_error():
    with pytest.raises(LovevecError, match="nowhere: no such model folder"):
        embeddings.LoveEmbeddings("nowhere")
    with pytest.raises(LovevecError, match="nowhere: no such model folder"):
        embeddings.LoveTextEmbedder(model="nowhere").warm_up()
