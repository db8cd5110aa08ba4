"""The compiled core (native/): whether it is there and wanted, and the fold by it.

`lovevec._core` is built when lovevec is installed, where there is a C compiler; wheels bring it. It computes what the
numpy code computes, word after word without temporary arrays and without the GIL: readings to the bit, vectors to 1e-6.
Which of the two computes depends on the engine that was asked for alone, never on the size of a call, so that a word
has the same bits in any call.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lovevec.arguments import check_choice
from lovevec.engine.positions import shared_attention
from lovevec.engine.threads import in_chunks
from lovevec.engine.with_numpy import NumpyEngine
from lovevec.errors import LovevecError
from lovevec.units.characters import LONGEST, normalise

if TYPE_CHECKING:
    from lovevec._core import Fold

Floats = NDArray[np.float32]
Mode = Literal["auto", "numpy", "compiled"]
MODES: tuple[str, ...] = get_args(Mode)
VARIABLE = "LOVEVEC_ENGINE"  # what `auto` means, by the environment
WORDS_PER_CHUNK = 1024  # that a thread takes at a time
IS_NAME, IS_CAPITALS = 1, 2  # how a word is written (native/core.h)
MAX_CAPITALS = 5  # letters of a string of capitals that is read as an abbreviation


@cache
def core_or_none() -> ModuleType | None:
    """The module `lovevec._core`, or None where it was not built."""
    try:
        from lovevec import _core
    except ImportError:
        return None
    return _core


def core() -> ModuleType:
    """The module `lovevec._core`, which somebody asked for."""
    module = core_or_none()
    if module is None:
        raise LovevecError(
            "engine 'compiled': the compiled core was not built when lovevec was installed;"
            " install it anew where there is a C compiler, or from a wheel, or use engine='numpy'"
        )
    return module


def is_compiled(mode: str) -> bool:
    """Whether the compiled core computes for an engine of this mode: by default where it is there, unless the
    environment says LOVEVEC_ENGINE=numpy."""
    if isinstance(mode, str) and mode == "auto" and (mode := os.environ.get(VARIABLE, "auto")) not in MODES:
        raise LovevecError(f"{VARIABLE} is {mode!r}: choose one of {', '.join(MODES)}")
    check_choice("engine", mode, MODES)
    return core() is not None if mode == "compiled" else mode == "auto" and core_or_none() is not None


def prepare(word: str, lowercase: bool) -> tuple[str, int]:
    """A word as it is computed with, and how it is written: IS_NAME with a capital and not all in capitals, IS_CAPITALS
    as a few capitals. The core does this itself for words of ASCII, and asks for others."""
    is_name = word[:1].isupper() and not word[1:].isupper()
    return normalise(word, lowercase), IS_NAME * is_name | IS_CAPITALS * (len(word) <= MAX_CAPITALS and word.isupper())


class CompiledFold:
    """Built from a numpy engine, with the same `embed` and the same vectors (to 1e-6)."""

    def __init__(self, engine: NumpyEngine) -> None:
        spec, tables, units = engine.spec, engine.tables, engine.units
        self.dim, self.threads = spec.dim, engine.threads
        # A float16 table is widened once: not every processor widens rows quickly.
        out, features = engine.wide if tables.precision == "float16" else (tables.out, tables.features)
        positions, shares = shared_attention(2 * LONGEST + 3, spec.dim, spec.position_scale)
        head = {f"head_{number}": np.array(tensor.T, order="C") for number, tensor in enumerate(tables.head)}
        self.core: Fold = core().Fold(
            dim=spec.dim,
            key_width=spec.key_width,
            hidden=spec.head,
            ngrams=units.vocabulary.ngrams,
            with_characters=units.mode != "pieces",
            with_pieces=units.mode != "chars",
            is_mixed=units.mode == "mixed",
            is_int8=tables.precision == "int8",
            character=units.character,
            row_of_unit=units.row_of_unit,
            trie_keys=units.trie.keys,
            trie_values=units.trie.values,
            piece_at=units.trie.piece_at,
            out=out,
            out_scale=tables.out_scale,
            features=features,
            features_scale=tables.features_scale,
            positions=positions,
            shares=shares,
            prepare=partial(prepare, lowercase=units.lowercase),
            lowercase=units.lowercase,
            **head,
        )

    def embed(self, words: Sequence[str], norms: Floats | None = None) -> Floats:
        """[len(words), dim]; `norms` [len(words)] receives each vector's length before it is normalised."""
        result = np.empty((len(words), self.dim), dtype=np.float32)
        lengths = np.empty(len(words), dtype=np.float32) if norms is None else norms

        def run(part: slice) -> None:
            self.core.embed(words[part], result[part], lengths[part])

        in_chunks(run, len(words), WORDS_PER_CHUNK, self.threads)
        return result
