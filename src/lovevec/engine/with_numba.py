"""The numba engine (extra `fast`): words -> units -> attention -> vector in one compiled pass, for many words.

The pass (kernel.py) runs without the GIL, and plain Python threads call it, each with its own chunk of words. So there
is no threading layer to choose, any number of callers may run at once, and a word's vector comes from the same machine
code with the same shapes whatever the batch or the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lovevec.engine.kernel import embed_words
from lovevec.engine.positions import shared_attention
from lovevec.engine.threads import in_chunks
from lovevec.engine.with_numpy import NumpyEngine
from lovevec.units.characters import LONGEST, codes_of, normalise
from lovevec.units.mixed_input import Units
from lovevec.units.ragged import offsets_of

Floats = NDArray[np.float32]
WORDS_PER_NUMBA_CHUNK = 4_096  # that a thread takes at a time


class NumbaEngine:
    """Built from a numpy engine, with the same `embed` and the same vectors (to 1e-5)."""

    def __init__(self, engine: NumpyEngine) -> None:
        spec, tables, units = engine.spec, engine.tables, engine.units
        self.dim, self.units, self.threads = spec.dim, units, engine.threads
        # A float16 table is widened once: there is no fast way to widen the rows at hand.
        out, features = engine.wide if tables.precision == "float16" else (tables.out, tables.features)
        nothing, none = np.zeros((0, 0), dtype=np.float32), np.zeros(0, dtype=np.float32)
        head = [np.array(tensor.T, order="C") for tensor in tables.head or (nothing, none, nothing, none)]
        trie, vocabulary = units.trie, units.vocabulary
        self._constants = (
            (units.mode != "pieces", units.mode == "mixed", units.mode != "chars", units.lowercase),
            read_only(units.character, units.row_of_unit, trie.keys, trie.values, trie.bits, trie.piece_at),
            read_only(vocabulary.unit_rows, vocabulary.ngrams),
            read_only(out, tables.out_scale, features, tables.features_scale),
            read_only(*shared_attention(2 * LONGEST + 3, spec.dim, spec.position_scale)),
            read_only(*head),
        )

    def embed(self, words: Sequence[str], norms: Floats | None = None) -> Floats:
        """[len(words), dim]; `norms` [len(words)] receives each vector's length before it is normalised."""
        result = np.empty((len(words), self.dim), dtype=np.float32)
        lengths = np.empty(len(words), dtype=np.float32) if norms is None else norms

        def run(part: slice) -> None:
            codes, offsets = join_words(words[part], self.units)
            embed_words(codes, offsets, *self._constants, result[part], lengths[part])

        in_chunks(run, len(words), WORDS_PER_NUMBA_CHUNK, self.threads)
        return result


def join_words(words: Sequence[str], units: Units) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The code points of all words one after the other, and the offset at which each word starts. Plain ASCII words are
    lower-cased later, in the compiled pass."""
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    short = lengths.max(initial=0) <= LONGEST
    text = "".join(words) if short else ""
    if not (short and text.isascii()):
        plain = [
            word if word.isascii() and len(word) <= LONGEST else normalise(word, units.lowercase) for word in words
        ]
        lengths = np.fromiter(map(len, plain), dtype=np.int64, count=len(plain))
        text = "".join(plain)
    return read_only(codes_of(text))[0], offsets_of(lengths)


def read_only(*values: Any) -> tuple[Any, ...]:
    """The values, arrays among them as read-only views. All arrays must be alike in this, since numba compiles once for
    each kind, and memory that processes share is read-only already."""
    views = tuple(value.view() if isinstance(value, np.ndarray) else value for value in values)
    for view in views:
        if isinstance(view, np.ndarray):
            view.flags.writeable = False
    return views
