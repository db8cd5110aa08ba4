"""lovevec: a good vector for any word, learned from word vectors that already exist (LOVE, ACL 2022).

from lovevec import LOVE

love = LOVE.load()
love["mispelling"]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["LOVE", "Attached", "LovevecError", "__version__", "prepare", "robustify", "train"]

from lovevec.errors import LovevecError

if TYPE_CHECKING:
    from lovevec import train
    from lovevec.attach import Attached
    from lovevec.love import LOVE
    from lovevec.plugins import robustify
    from lovevec.train import prepare

# Imported on first use, so that `import lovevec` costs next to nothing. `train` is a package.
PLACES = {
    "LOVE": "lovevec.love",
    "Attached": "lovevec.attach",
    "prepare": "lovevec.train",
    "robustify": "lovevec.plugins",
}


def __getattr__(name: str) -> object:
    if name in PLACES:
        return getattr(import_module(PLACES[name]), name)
    if name == "train":
        return import_module("lovevec.train")
    raise AttributeError(f"module 'lovevec' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
