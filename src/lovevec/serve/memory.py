"""Memory of a server that runs for weeks: what glibc keeps for later goes back to the system."""

from __future__ import annotations

import ctypes
import gc
import sys
from functools import cache

# glibc's M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX. Arrays that are given back at once have to be made anew page
# by page: from 128 KB on, as glibc begins, that is 40 % of the time of large batches.
MALLOC_OPTIONS = {-1: 8 << 20, -3: 8 << 20, -8: 1}


def settle_memory() -> None:
    """Give back what only loading needed, keep the garbage collector from touching what workers are to share, and have
    very large arrays given back at once from now on (glibc would learn to keep them)."""
    gc.collect()
    gc.freeze()
    if (library := _glibc()) is not None:
        for option, value in MALLOC_OPTIONS.items():
            library.mallopt(option, value)
    give_back_memory()


def give_back_memory() -> None:
    """Give the free memory inside the heap back to the system; takes milliseconds."""
    if (library := _glibc()) is not None:
        library.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None
