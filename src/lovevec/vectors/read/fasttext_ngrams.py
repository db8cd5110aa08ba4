"""The character n-grams of fastText: which rows of its bucket table a word adds up, for many words at once.

`where` with n-grams of 3 to 6 characters is `<wh whe her ere re> <whe … where>`; each is hashed to a bucket.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FNV_START, FNV_PRIME = np.uint32(2166136261), np.uint32(16777619)


def ngram_buckets(
    words: Sequence[bytes], minn: int, maxn: int, buckets: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give, for all n-grams of all words (UTF-8), the index of the word and the bucket, sorted by word.

    All places where an n-gram can begin take one more character at each step, so the hash of length n comes
    from that of length n-1. As in fastText, `<` and `>` alone are no n-grams.
    """
    nothing = np.zeros(0, np.int64)
    if maxn < 1 or buckets < 1 or not words:
        return nothing, nothing
    data = np.frombuffer(b"".join(b"<" + word + b">" for word in words), np.uint8)
    begins = np.flatnonzero((data & 0xC0) != 0x80)  # the first byte of each character
    widths = np.diff(begins, append=len(data))
    lengths = np.array([len(word) + 2 for word in words])
    owner = np.repeat(np.arange(len(words)), lengths)[begins]
    first = np.r_[True, owner[1:] != owner[:-1]]
    last = np.r_[owner[1:] != owner[:-1], True]
    # fastText takes its bytes as signed: those above 127 are sign-extended to 32 bits before the XOR.
    signed = data.view(np.int8).astype(np.int32).view(np.uint32)

    starts = np.arange(len(begins))
    hashes = np.full(len(begins), FNV_START)
    found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    for n in range(1, maxn + 1):
        ends = starts + (n - 1)
        inside = ends < len(begins)
        inside[inside] &= owner[ends[inside]] == owner[starts[inside]]
        starts, hashes = starts[inside], hashes[inside]
        if not len(starts):
            break
        ends = starts + (n - 1)
        for step in range(int(widths.max())):
            longer = widths[ends] > step
            byte = signed[begins[ends[longer]] + step]
            hashes[longer] = (hashes[longer] ^ byte) * FNV_PRIME
        if n >= minn:
            keep = ~(first[starts] | last[ends]) if n == 1 else slice(None)
            found.append((owner[starts[keep]], hashes[keep].astype(np.int64) % buckets))
    if not found:
        return nothing, nothing
    owners, picked = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(owners, kind="stable")
    return owners[order], picked[order]
