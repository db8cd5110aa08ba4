"""What may be asked and what is answered, as pydantic types; OpenAPI and the page /docs are made of them.

Names and shapes are OpenAI's where OpenAI has them. Fields that we do not know are let pass, as OpenAI's server does.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

MOST_K = 100
TOKEN_IDS = (
    "these are token ids: send strings. langchain-openai does so with "
    "OpenAIEmbeddings(…, check_embedding_ctx_length=False)"
)


def _as_list(given: Any) -> Any:
    """A string as a list of one. OpenAI's clients may send ids of its own tokenizer, which say nothing here."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, list):
        raise ValueError("must be a string, or a list of strings")
    first = given[0] if given else None
    first = first[0] if isinstance(first, list) and first else first
    if isinstance(first, int) and not isinstance(first, bool):
        raise ValueError(TOKEN_IDS)
    return given


Listed = Annotated[list[str], Field(min_length=1)]
Strings = Annotated[
    Listed,
    BeforeValidator(_as_list, json_schema_input_type=str | Listed),
    Field(description="a string, or a list of strings", examples=["mispelling", ["recieve", "tommorow"]]),
]
ModelName = Annotated[str | None, Field(description="one of /v1/models; the first by default", examples=["default"])]


class Question(BaseModel):
    """What all have in common."""

    model_config = ConfigDict(strict=True)
    model: ModelName = None


class EmbeddingsRequest(Question):
    """Vectors of words or texts."""

    input: Strings
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1, le=65_536)] | None = Field(
        None, description="the first so many numbers of each vector, at unit length"
    )
    input_type: Literal["auto", "word", "text"] = Field(
        "auto", description="auto: a string with white space inside is a text, any other a word"
    )
    user: str | None = None


class WordsRequest(Question):
    """Words."""

    input: Strings


class NearRequest(WordsRequest):
    """Words, and how many candidates of each."""

    k: Annotated[int, Field(ge=1, le=MOST_K)] = 5


class NeighborsRequest(WordsRequest):
    """Words, and how many neighbors of each."""

    k: Annotated[int, Field(ge=1, le=MOST_K)] = 10


class ExplainRequest(WordsRequest):
    """Words, and how many neighbors of each; 0 if none are wanted, which is several times as fast."""

    k: Annotated[int, Field(ge=0, le=MOST_K)] = 5


class SimilarRequest(Question):
    """Pairs of words."""

    pairs: Annotated[list[Annotated[list[str], Field(min_length=2, max_length=2)]], Field(min_length=1)]


class TokensRequest(Question):
    """A text, or several."""

    input: Strings


class Embedding(BaseModel):
    """One vector: numbers, or base64 of little-endian float32."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Usage(BaseModel):
    """How many words were read."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingsAnswer(BaseModel):
    """Vectors in the order of the input."""

    object: Literal["list"]
    model: str
    data: list[Embedding]
    usage: Usage


class Candidate(BaseModel):
    """A known word that may be meant."""

    word: str
    probability: float


class Reading(BaseModel):
    """How a word is read. The three probabilities sum to 1, but for an empty word, which stands for nothing."""

    index: int
    word: str
    reading: Literal["known", "near", "new", "empty"]
    confidence: float | None = Field(description="the probability that the vector is right; null if not calibrated")
    p_known: float
    p_near: float
    p_new: float
    candidates: list[Candidate]


class NearAnswer(BaseModel):
    """Readings in the order of the input."""

    object: Literal["list"]
    model: str
    data: list[Reading]


class Neighbor(BaseModel):
    """A known word and its cosine."""

    word: str
    similarity: float


class Neighbors(BaseModel):
    """The nearest known words of one."""

    index: int
    word: str
    neighbors: list[Neighbor]


class NeighborsAnswer(BaseModel):
    """Neighbors in the order of the input."""

    object: Literal["list"]
    model: str
    data: list[Neighbors]


class Unit(BaseModel):
    """One symbol of a word's input: weight and share as in `love.explain`, and the letters of `normalised` that it
    covers (null for marks such as [CLS])."""

    name: str
    weight: float | None
    share: float | None
    start: int | None
    end: int | None


class Explained(BaseModel):
    """What `love.explain` gives."""

    index: int
    word: str
    normalised: str
    reading: Literal["known", "near", "new", "empty"]
    known: bool
    empty: bool
    near: list[Candidate]
    new: float
    confidence: float | None
    units: list[Unit]
    head: float
    positional: list[list[float]] | None
    attention: list[list[float]] | None
    neighbors: list[Neighbor]
    notes: list[str]


class ExplainAnswer(BaseModel):
    """Explanations in the order of the input."""

    object: Literal["list"]
    model: str
    data: list[Explained]


class Similarity(BaseModel):
    """The cosine of a pair; null where one word is empty."""

    index: int
    similarity: float | None


class SimilarAnswer(BaseModel):
    """Cosines in the order of the pairs."""

    object: Literal["list"]
    model: str
    data: list[Similarity]


class Token(BaseModel):
    """A word of a text. `start` and `end` count code points of the text as it was sent."""

    text: str
    start: int
    end: int
    reading: Literal["known", "near", "new"]
    repair: str | None = Field(description="the known word that a near one probably stands for")
    word: str | None
    weight: float


class Tokens(BaseModel):
    """The words of one text."""

    index: int
    tokens: list[Token]


class TokensAnswer(BaseModel):
    """Texts in the order of the input."""

    object: Literal["list"]
    model: str
    data: list[Tokens]


class ModelCard(BaseModel):
    """A model that is served."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    kind: Literal["model", "table"]
    dim: int
    known_words: int


class ModelsAnswer(BaseModel):
    """All that are served, the default first."""

    object: Literal["list"]
    data: list[ModelCard]


class Problem(BaseModel):
    """What is wrong, as OpenAI says it."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorAnswer(BaseModel):
    """What comes with every status of 400 and more."""

    error: Problem


class Health(BaseModel):
    """That the server lives, or is ready."""

    status: Literal["ok"]
