"""What may be asked and what is answered, as pydantic types; OpenAPI and the page /docs are made of them.

Names and shapes are OpenAI's where OpenAI has them. Fields that we do not know are let pass, as OpenAI's server does.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from lovevec.texts.correct import THRESHOLD

MAX_K = 100
TOKEN_IDS = (
    "these are token ids: send strings. langchain-openai does so with "
    "OpenAIEmbeddings(…, check_embedding_ctx_length=False)"
)


def _as_list(value: Any) -> Any:
    """A string as a list of one. OpenAI's clients may send ids of its own tokenizer, which say nothing here."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise ValueError("must be a string, or a list of strings")
    first = value[0] if value else None
    first = first[0] if isinstance(first, list) and first else first
    if isinstance(first, int) and not isinstance(first, bool):
        raise ValueError(TOKEN_IDS)
    return value


StringList = Annotated[list[str], Field(min_length=1, fail_fast=True)]  # the first error is enough: no million of them
Strings = Annotated[
    StringList,
    BeforeValidator(_as_list, json_schema_input_type=str | StringList),
    Field(
        description="a string, or a list of strings", examples=["mispelling", ["recieve", "neural-netwrok", "500mg"]]
    ),
]
Pair = Annotated[list[str], Field(min_length=2, max_length=2, fail_fast=True)]
ModelName = Annotated[str | None, Field(description="one of /v1/models; the first by default", examples=["default"])]


Context = Annotated[
    bool,
    Field(description="whether sentences have their say where a misspelling may stand for several words (of texts)"),
]


class ModelRequest(BaseModel):
    """What every request may say: which model is to answer."""

    model_config = ConfigDict(strict=True)
    model: ModelName = None


class InputRequest(ModelRequest):
    """A request about one string or several."""

    input: Strings


class EmbeddingsRequest(InputRequest):
    """Asks for vectors of words or texts."""

    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1, le=65_536)] | None = Field(
        None, description="how many numbers of each vector, from its start; the rest is cut, and unit length restored"
    )
    input_type: Literal["auto", "word", "text"] = Field(
        "auto", description="auto: a string with white space inside is a text, any other a word"
    )
    context: Context = True
    user: str | None = None


class NearRequest(InputRequest):
    """Asks how words are read, with at most k known words that each may stand for."""

    k: Annotated[int, Field(ge=1, le=MAX_K)] = 5


class NeighborsRequest(InputRequest):
    """Asks for the k known words that are nearest to each word."""

    k: Annotated[int, Field(ge=1, le=MAX_K)] = 5


class ExplainRequest(InputRequest):
    """Asks what vectors are made of, with k neighbors of each word; without any (0) it is several times as fast."""

    k: Annotated[int, Field(ge=0, le=MAX_K)] = 5


class SimilarRequest(ModelRequest):
    """Asks how near the two words of each pair are."""

    pairs: Annotated[list[Pair], Field(min_length=1, fail_fast=True)]


class TokensRequest(InputRequest):
    """Asks for the words of each text, as they are read when it is encoded."""

    context: Context = True


class CorrectRequest(InputRequest):
    """Asks for texts with their misspellings put right."""

    threshold: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] = Field(
        THRESHOLD, description="the least probability of a correction that is made"
    )
    keep: Annotated[list[str], Field(fail_fast=True)] = Field(
        [], description="words that stay as they are, in any case", examples=[["Vestergaard"]]
    )


class ListAnswer(BaseModel):
    """What the answers of models share. `data` is in the order of the input; `index` counts from 0."""

    object: Literal["list"]
    model: str


class SearchRequest(BaseModel):
    """Asks for the k texts of an index that answer each query best."""

    model_config = ConfigDict(strict=True)
    input: Annotated[
        StringList,
        BeforeValidator(_as_list, json_schema_input_type=str | StringList),
        Field(description="a query, or a list of queries", examples=["wireles hedphones", ["ketle", "runing shoes"]]),
    ]
    index: Annotated[str | None, Field(description="one of /v1/indexes; the first by default")] = None
    k: Annotated[int, Field(ge=1, le=MAX_K)] = Field(10, description="how many hits at most")
    ids: list[int | str] | None = Field(None, description="the ids of the texts that may be found; all by default")
    why: bool = Field(False, description="whether each hit says why it was found")


def _answer(name: str, about: str, data: Any) -> type[ListAnswer]:
    return create_model(name, __base__=ListAnswer, __doc__=about, data=(data, ...))


class Embedding(BaseModel):
    """One vector: numbers, or base64 of little-endian float32."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class Usage(BaseModel):
    """How many words the request had; both numbers are the same."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingsAnswer(ListAnswer):
    """A vector for each string."""

    data: list[Embedding]
    usage: Usage


class Candidate(BaseModel):
    """A known word that a string may stand for."""

    word: str
    probability: float


class WordPart(BaseModel):
    """What stands in a string of several words, from `start` to `end` (code points). Where nobody knows what stands
    where (a listed form: alot), each part has the whole string."""

    text: str
    start: int
    end: int
    reading: Literal["known", "near", "parts", "new"]
    word: str | None = Field(description="the known word that it is or probably stands for, or several")
    probability: float = Field(description="that `word` is meant; of a new word that it is new")


Reading = Literal["known", "near", "parts", "new", "empty"]
Kind = Annotated[
    str | None, Field(description="what it is that is no word: number, quantity, date, address …; null for words")
]
New = Annotated[float, Field(description="the probability that it is a new word")]
Parts = Annotated[list[WordPart], Field(description="the words and numbers that a string holds; else empty")]


class WordReading(BaseModel):
    """How a word is read: the known words that it may stand for, the probability that it is a new word, and, up to 1
    with the known words after the k-th, that it is several words. An empty word stands for nothing."""

    index: int
    word: str
    reading: Reading
    kind: Kind
    confidence: float | None = Field(description="the probability that the vector is right; null if not calibrated")
    near: list[Candidate]
    new: New
    parts: Parts


class Neighbor(BaseModel):
    """A known word, and the cosine of its vector."""

    word: str
    cosine: float


class WordNeighbors(BaseModel):
    """The known words that are nearest to a word, the nearest first."""

    index: int
    word: str
    neighbors: list[Neighbor]


class WordUnit(BaseModel):
    """One symbol of a word's input: weight and share as in `love.explain`, and the letters of `normalised` that it
    covers (null for marks such as [CLS])."""

    name: str
    weight: float | None
    share: float | None
    start: int | None
    end: int | None


class WordExplanation(BaseModel):
    """What a word's vector is made of, as `love.explain` gives it; kind, new and parts as in /v1/near."""

    index: int
    word: str
    normalised: str
    reading: Reading
    kind: Kind
    known: bool
    empty: bool
    near: list[Candidate]
    new: New
    parts: Parts
    confidence: float | None
    units: list[WordUnit]
    head: float
    positional: list[list[float]] | None
    attention: list[list[float]] | None
    neighbors: list[Neighbor]
    notes: list[str]


class PairSimilarity(BaseModel):
    """The cosine of a pair; null where one of its words is empty."""

    index: int
    cosine: float | None


class TextToken(WordPart):
    """A word of a text. `start` and `end` count code points of the text as it was sent. A word torn in two (to morrow)
    is one; of parts, several words that are run together (alot), `word` has all."""

    repair: str | None = Field(description="what would stand there if a near word, or several, were spelled right")
    weight: float = Field(description="how much it counts in the text's vector")


class TextTokens(BaseModel):
    """The words of one text, in their order."""

    index: int
    tokens: list[TextToken]


class Suggestion(BaseModel):
    """What may have been meant, in the text's case."""

    word: str
    probability: float


class TextEdit(BaseModel):
    """A correction. `start` and `end` count code points of the text as it was sent (as Python does; JavaScript counts
    UTF-16, in which an emoji is two)."""

    start: int
    end: int
    before: str = Field(description="what stood there")
    after: str = Field(description="what stands there now")
    probability: float
    reading: Literal["near", "parts", "known"] = Field(
        description="near: misspelled; parts: words that are run together; known: a word, where another was meant"
    )
    suggestions: list[Suggestion] = Field(description="the most probable words, `after` included if it is one")


class CorrectedText(BaseModel):
    """A text with its misspellings put right, and the edits that made it, in their order."""

    index: int
    text: str
    edits: list[TextEdit]


NearAnswer = _answer("NearAnswer", "A reading of each word.", list[WordReading])
NeighborsAnswer = _answer("NeighborsAnswer", "The neighbors of each word.", list[WordNeighbors])
ExplainAnswer = _answer("ExplainAnswer", "An explanation of each word.", list[WordExplanation])
SimilarAnswer = _answer("SimilarAnswer", "The cosine of each pair.", list[PairSimilarity])
TokensAnswer = _answer("TokensAnswer", "The words of each text.", list[TextTokens])
CorrectAnswer = _answer("CorrectAnswer", "Each text, corrected.", list[CorrectedText])


class MetWords(BaseModel):
    """A word of a query that meets a word of a text, and how probably it means that."""

    query: str
    word: str
    reading: str = Field(description="known, near, parts, or form (another form of the same word)")
    share: float


class SearchReasons(BaseModel):
    """Why a text was found: the words that met, and what words, letters in common and meaning account for of the
    score."""

    met: list[MetWords]
    words: float
    letters: float
    meaning: float


class SearchHit(BaseModel):
    """A text that was found."""

    id: int | str
    text: str
    score: float = Field(description="from 0 to 1; may be compared between queries")
    why: SearchReasons | None = Field(None, description="only where it was asked for")


class QueryHits(BaseModel):
    """The hits of a query, the best first."""

    index: int
    query: str
    hits: list[SearchHit]


class SearchAnswer(BaseModel):
    """What was found, in the order of the queries, and the name of the index in which it was searched."""

    object: Literal["list"]
    searched: str
    data: list[QueryHits]


class IndexCard(BaseModel):
    """An index that is served."""

    id: str
    object: Literal["index"]
    created: int
    texts: int
    fields: list[str] = Field(description="the fields that are searched; empty where texts have none")


class IndexesAnswer(BaseModel):
    """All indexes that are served, the default first."""

    object: Literal["list"]
    data: list[IndexCard]


class ModelCard(BaseModel):
    """A model or an attached table that is served."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    kind: Literal["model", "table"]
    dim: int
    known_words: int


class ModelsAnswer(BaseModel):
    """All models and tables that are served, the default first."""

    object: Literal["list"]
    data: list[ModelCard]


class Problem(BaseModel):
    """What is wrong with a request, in OpenAI's fields."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorAnswer(BaseModel):
    """The body of every answer with a status of 400 or more."""

    error: Problem


class Health(BaseModel):
    """The server answers (/healthz), or its models are loaded (/readyz)."""

    status: Literal["ok"]
