"""A million random strings through the shipped model: is every vector finite, of unit length, and always the same?

    python -m attacks.strings --strings 1000000 --seed 0

A third are runs of any code points at all (halves of surrogates, NUL, combining marks, every script), a third known
words with random damage, a third bytes as they come from a broken file. Every vector is looked at; of each batch some
are computed again: alone, in another order, by the other engine, by a model that was saved and loaded, and all of every
twentieth batch in another process. The command ends with 1 at the first that differs.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np

from lovevec import LOVE

BATCH = 20_000
ELSEWHERE = 20  # every so many-th batch is computed in another process too
CODES = 0x110000
SOME = 25  # strings of a batch that are computed again each way
LONG = 1_000_000
AGAIN = """
import sys
from attacks.strings import batch, digest
from lovevec import LOVE
seed, number = map(int, sys.argv[1:])
print(digest(LOVE.load(engine="compiled").embed(batch(LOVE.load(), seed, number), progress=False)))
"""


def batch(love: LOVE, seed: int, number: int) -> list[str]:
    """20,000 strings, by seed and number; the last is of a million characters in every tenth batch."""
    rng = np.random.default_rng([seed, number])
    lengths = np.minimum(rng.geometric(0.12, BATCH), 400)
    lengths[rng.random(BATCH) < 0.001] = 5_000
    narrow = rng.integers(0, 8, BATCH)
    found = list(map(_string, range(BATCH), lengths.tolist(), narrow.tolist(), [rng] * BATCH, [love] * BATCH))
    if number % 10 == 0:
        found[-1] = (found[0] or "x") * (LONG // len(found[0] or "x"))
    return found


def _string(place: int, length: int, narrow: int, rng: np.random.Generator, love: LOVE) -> str:
    if place % 3 == 0:
        low = int(rng.integers(0, CODES - 300)) if narrow else 0
        codes = rng.integers(low, low + 300 if narrow else CODES, length)
        return "".join(map(chr, codes.tolist()))
    if place % 3 == 1:
        word = list(love.words[int(rng.integers(len(love.words)))])
        for _ in range(int(rng.integers(1, 4))):
            word.insert(int(rng.integers(len(word) + 1)), chr(int(rng.integers(32, 0x250))))
            if rng.random() < 0.5:
                del word[int(rng.integers(len(word)))]
        return "".join(word)
    return rng.bytes(length).decode("utf-8", "surrogateescape")


def digest(vectors: np.ndarray) -> str:
    """Of every bit."""
    return hashlib.sha256(np.ascontiguousarray(vectors).tobytes()).hexdigest()


def checks(love: LOVE, other: LOVE, saved: LOVE, seed: int, number: int) -> Iterator[str]:
    """What is wrong with one batch."""
    words = batch(love, seed, number)
    vectors = love.embed(words, progress=False)
    if not np.isfinite(vectors).all():
        yield f"not finite: {words[int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])]!r:.100}"
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    if (odd := np.flatnonzero(np.abs(lengths - 1) > 1e-5)).size:
        yield f"{len(odd)} not of unit length: {words[int(odd[0])]!r:.100} has {lengths[odd[0]]}"
    rng = np.random.default_rng([seed, number, 1])
    order = rng.permutation(len(words))
    if not np.array_equal(love.embed([words[at] for at in order], progress=False), vectors[order]):
        yield "another order gives other bits"
    some = rng.choice(len(words), SOME, replace=False).tolist()
    by_numpy = other.embed([words[at] for at in some])
    for model, list_vectors in ((love, vectors[some]), (other, by_numpy)):
        if not np.array_equal(np.array([model[words[at]] for at in some]), list_vectors):
            yield f"alone and in a list differ, engine {model.engine.mode}"
    if not np.array_equal(by_numpy, saved.embed([words[at] for at in some])):
        yield "after saving and loading they differ"
    if np.abs(by_numpy - vectors[some]).max() > 1e-6:
        yield "the engines differ by more than 1e-6"
    if number % ELSEWHERE == 0:
        command = [sys.executable, "-c", AGAIN, str(seed), str(number)]
        if subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() != digest(vectors):
            yield "another process gives other bits"


def main() -> int:
    """A line at the end, or at the first that is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strings", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start, love, other = time.monotonic(), LOVE.load(engine="compiled"), LOVE.load(engine="numpy")
    with tempfile.TemporaryDirectory() as folder:
        other.save(folder)
        saved = LOVE.load(folder, engine="numpy")
        for number in range(-(-options.strings // BATCH)):
            for wrong in checks(love, other, saved, options.seed, number):
                print(f"batch {number} of seed {options.seed}: {wrong}")
                return 1
    seconds = time.monotonic() - start
    print(f"{options.strings:,} strings, seed {options.seed}: all finite, of unit length, the same; {seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
