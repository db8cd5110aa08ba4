"""Austin Appleby's Murmur hashes, by which spaCy numbers its strings and finds the rows of n-grams.

Both read a key as little-endian blocks of 8 bytes, the last one filled up with zeros. Keys of one length are hashed
together, a step of the algorithm at a time for all of them. Products wrap at 64 bits, as in C.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

UInt64 = NDArray[np.uint64]
M64 = np.uint64(0xC6A4A7935BD1E995)
C1, C2 = np.uint64(0x87C37B91114253D5), np.uint64(0x4CF5AD432745937F)
MIX1, MIX2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
KEYS_PER_GROUP = 65_536


def murmur64(keys: Sequence[bytes], seed: int = 1) -> UInt64:
    """MurmurHash64A of each key: [n]. With the seed 1 and a string's UTF-8 it is spaCy's number of that string."""
    hashes = np.zeros(len(keys), np.uint64)
    for places, length, blocks in _by_length(keys):
        state = np.full(len(places), seed ^ (length * int(M64)) & 0xFFFF_FFFF_FFFF_FFFF, np.uint64)
        whole = length // 8
        for block in blocks.T[:whole]:
            mixed = block * M64
            mixed = (mixed ^ (mixed >> np.uint64(47))) * M64
            state = (state ^ mixed) * M64
        if length % 8:
            state = (state ^ blocks[:, whole]) * M64
        state = (state ^ (state >> np.uint64(47))) * M64
        hashes[places] = state ^ (state >> np.uint64(47))
    return hashes


def murmur128(keys: Sequence[bytes], seed: int) -> NDArray[np.uint32]:
    """MurmurHash3 for x64, 128 bits, of each key as four numbers of 32 bits: [n, 4]."""
    hashes = np.zeros((len(keys), 2), np.uint64)
    for places, length, blocks in _by_length(keys):
        one = np.full(len(places), seed, np.uint64)
        other = one.copy()
        padded = np.pad(blocks, ((0, 0), (0, blocks.shape[1] % 2)))
        for at in range(0, padded.shape[1], 2):
            inside = at * 8 + 16 <= length  # else it is the tail, which takes no part in the steps between blocks
            one ^= _rotated(padded[:, at] * C1, 31) * C2
            if inside:
                one = (_rotated(one, 27) + other) * np.uint64(5) + np.uint64(0x52DCE729)
            other ^= _rotated(padded[:, at + 1] * C2, 33) * C1
            if inside:
                other = (_rotated(other, 31) + one) * np.uint64(5) + np.uint64(0x38495AB5)
        one, other = one ^ np.uint64(length), other ^ np.uint64(length)
        one = one + other
        one, other = _finished(one), _finished(other + one)
        one = one + other
        hashes[places, 0], hashes[places, 1] = one, other + one
    return hashes.astype("<u8").view("<u4").astype(np.uint32)


def _by_length(keys: Sequence[bytes]) -> Iterator[tuple[NDArray[np.int64], int, UInt64]]:
    """Keys of one length together: their places, the length, and their blocks of 8 bytes, [n, blocks]."""
    lengths = np.fromiter(map(len, keys), np.int64, len(keys))
    order = np.argsort(lengths, kind="stable")
    cuts = np.flatnonzero(np.diff(lengths[order])) + 1
    for same in np.split(order, cuts):
        for start in range(0, len(same), KEYS_PER_GROUP):
            places = same[start : start + KEYS_PER_GROUP]
            length = int(lengths[places[0]])
            data = np.zeros((len(places), -(-length // 8) * 8), np.uint8)
            raw = b"".join([keys[place] for place in places.tolist()])
            data[:, :length] = np.frombuffer(raw, np.uint8).reshape(len(places), length)
            yield places, length, data.view("<u8").astype(np.uint64, copy=False)


def _rotated(numbers: UInt64, bits: int) -> UInt64:
    rotated: UInt64 = (numbers << np.uint64(bits)) | (numbers >> np.uint64(64 - bits))
    return rotated


def _finished(numbers: UInt64) -> UInt64:
    shift = np.uint64(33)
    numbers = (numbers ^ (numbers >> shift)) * MIX1
    numbers = (numbers ^ (numbers >> shift)) * MIX2
    finished: UInt64 = numbers ^ (numbers >> shift)
    return finished
