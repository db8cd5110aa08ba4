"""The clients that others wrote work unchanged."""

from __future__ import annotations

import asyncio

import numpy as np
import openai
import pytest
from langchain_openai import OpenAIEmbeddings

TEXTS = ["recieve", "a wonderfull fi1m", "house"]


def expected(love) -> np.ndarray:
    return np.concatenate([love.embed(TEXTS[:1]), love.encode(TEXTS[1:2]), love.embed(TEXTS[2:])])


@pytest.fixture
def client(live) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{live.address}/v1", api_key="any", max_retries=0)


@pytest.mark.parametrize("options", [{}, {"encoding_format": "float"}, {"encoding_format": "base64"}])
def test_openai(client, shipped_love, options):
    answer = client.embeddings.create(model="default", input=TEXTS, **options)
    if options.get("encoding_format") != "base64":  # asked for by name, the client leaves it as it is
        assert np.array_equal(
            np.array([one.embedding for one in answer.data], dtype=np.float32), expected(shipped_love)
        )
    assert answer.model == "default"
    assert answer.usage.total_tokens == 5
    assert len(client.embeddings.create(model="default", input="house", dimensions=10).data[0].embedding) == 10


def test_openai_asks_for_a_text_by_name(client, shipped_love):
    answer = client.embeddings.create(model="default", input="house", extra_body={"input_type": "text"})
    assert np.array_equal(np.float32(answer.data[0].embedding), shipped_love.encode("house"))


def test_openai_knows_our_errors(client):
    with pytest.raises(openai.NotFoundError, match="no model named 'gpt'"):
        client.embeddings.create(model="gpt", input="house")
    with pytest.raises(openai.BadRequestError, match="token ids"):
        client.embeddings.create(model="default", input=[1, 2, 3])
    assert [model.id for model in client.models.list()] == ["default"]
    assert client.models.retrieve("default").id == "default"


def test_many_at_once_by_the_asynchronous_client(live, shipped_love):
    words = [f"wonderfull{number}" for number in range(40)]

    async def ask() -> list[list[float]]:
        async with openai.AsyncOpenAI(base_url=f"{live.address}/v1", api_key="any") as client:
            answers = [client.embeddings.create(model="default", input=word) for word in words]
            return [answer.data[0].embedding for answer in await asyncio.gather(*answers)]

    assert np.array_equal(np.array(asyncio.run(ask()), dtype=np.float32), shipped_love.embed(words))


def test_langchain(live, shipped_love):
    embeddings = OpenAIEmbeddings(
        model="default", base_url=f"{live.address}/v1", api_key="any", check_embedding_ctx_length=False
    )
    assert np.array_equal(np.float32(embeddings.embed_documents(TEXTS)), expected(shipped_love))
    assert np.array_equal(np.float32(embeddings.embed_query("recieve")), shipped_love["recieve"])
