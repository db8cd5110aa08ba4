from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

CONSTANTS: dict[str, int]
PROCESSOR: str

class Index:
    def __init__(self, **parts: Any) -> None: ...
    def read(
        self,
        words: Sequence[str],
        rows: NDArray[np.int32],
        probabilities: NDArray[np.float64],
        new: NDArray[np.float64],
        parts: NDArray[np.float64],
        part_rows: NDArray[np.int32],
        part_ends: NDArray[np.int32],
        evidence: NDArray[np.float64],
        new_divisor: float,
        /,
    ) -> None: ...
    def likeness(self, words: Sequence[str], likeness: NDArray[np.float64], /) -> None: ...

class Fold:
    def __init__(self, **parts: Any) -> None: ...
    def embed(self, words: Sequence[str], vectors: NDArray[np.float32], norms: NDArray[np.float32], /) -> None: ...
    def count(self, words: Sequence[str], counts: NDArray[np.int64], /) -> None: ...

class Rows:
    def __init__(self, **parts: Any) -> None: ...
    def take(self, rows: NDArray[np.int64] | int, vectors: NDArray[np.float32], /) -> None: ...
    def mix(
        self,
        vectors: NDArray[np.float32],
        rows: NDArray[np.int32],
        probabilities: NDArray[np.float64],
        new: NDArray[np.float64],
        parts: NDArray[np.float64],
        part_rows: NDArray[np.int32],
        part_ends: NDArray[np.int32],
        evidence: NDArray[np.float64],
        weights: NDArray[np.float32],
        new_weight: float | None,
        least: float,
        /,
    ) -> None: ...

class Collection:
    def __init__(self, **parts: Any) -> None: ...
    def best(
        self,
        terms: NDArray[np.int64],
        weights: NDArray[np.float64],
        by_norms: bool,
        allowed: NDArray[np.uint8],
        rows: NDArray[np.int64],
        /,
    ) -> int: ...
    def nearest(
        self,
        query: NDArray[np.int16],
        scale: float,
        allowed: NDArray[np.uint8],
        low: int,
        high: int,
        rows: NDArray[np.int64],
        cosines: NDArray[np.float32],
        /,
    ) -> int: ...
    def judge(self, *arguments: Any) -> None: ...

class Signatures:
    def __init__(self, **parts: Any) -> None: ...
    def add(self, words: Sequence[str], scales: NDArray[np.float32], vectors: NDArray[np.float32], /) -> None: ...

class WordMap:
    def __init__(self, **parts: Any) -> None: ...
    def get(self, word: object, default: Any = None, /) -> Any: ...
    def look_up(self, words: Sequence[str], rows: NDArray[np.int64], lowercase: bool, /) -> list[int]: ...

class Context:
    def __init__(self, **parts: Any) -> None: ...
    def scores(
        self, windows: NDArray[np.int32], candidates: NDArray[np.int32], result: NDArray[np.float64], /
    ) -> None: ...
    def expected(self, windows: NDArray[np.int32], result: NDArray[np.float32], /) -> None: ...

def mean(
    index: Index,
    fold: Fold,
    table: Rows,
    words: Sequence[str],
    vectors: NDArray[np.float32],
    norms: NDArray[np.float32],
    rows: NDArray[np.int32],
    probabilities: NDArray[np.float64],
    new: NDArray[np.float64],
    parts: NDArray[np.float64],
    part_rows: NDArray[np.int32],
    part_ends: NDArray[np.int32],
    evidence: NDArray[np.float64],
    least: float,
    new_divisor: float,
    weights: NDArray[np.float32],
    new_weight: float | None,
    /,
) -> None: ...
def sum_texts(
    map: WordMap,
    table: Rows,
    signatures: Signatures | None,
    weights: NDArray[np.float32],
    signature_length: float,
    lowercase: bool,
    torn: tuple[NDArray[np.int32], int, int] | None,
    texts: Sequence[str],
    sums: NDArray[np.float32],
    totals: NDArray[np.float64],
    lengths: NDArray[np.int64] = ...,
    /,
) -> Any: ...
def windows(
    ids: NDArray[np.int32],
    lengths: NDArray[np.int64],
    words: NDArray[np.int64],
    chunks: NDArray[np.int64],
    starts: NDArray[np.int64],
    parts: NDArray[np.int32],
    signs: NDArray[np.int32],
    rows: NDArray[np.int32],
    probabilities: NDArray[np.float64],
    new: NDArray[np.float64],
    joined: NDArray[np.float64],
    certain: float,
    likely: float,
    odd: NDArray[np.uint8],
    /,
) -> tuple[bytes, bytes, bytes, bytes, bytes]: ...
def in_context(*arguments: Any) -> None: ...
def weigh(*arguments: Any) -> None: ...
def normalize(vectors: NDArray[np.float32], /) -> None: ...
def sum_rows(
    vectors: NDArray[np.float32],
    chosen: NDArray[np.int64],
    ends: NDArray[np.int64],
    result: NDArray[np.float32],
    /,
) -> None: ...
def search(
    queries: NDArray[np.int16],
    centres: NDArray[np.int8],
    codes: NDArray[np.int8],
    starts: NDArray[np.int64],
    keys: NDArray[np.int32],
    centre_shift: int,
    code_shift: int,
    probes: int,
    /,
) -> None: ...
