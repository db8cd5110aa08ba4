"""lovevec: a good vector for any word, learned from word vectors that already exist (LOVE, ACL 2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["LOVE", "LovevecError", "__version__"]

from lovevec.errors import LovevecError

if TYPE_CHECKING:
    from lovevec.love import LOVE


def __getattr__(name: str) -> object:
    """Import `LOVE` on first use, so that `import lovevec` costs next to nothing."""
    if name == "LOVE":
        from lovevec.love import LOVE

        return LOVE
    raise AttributeError(f"module 'lovevec' has no attribute {name!r}")
