"""Training: word vectors in, a LOVE model out.

    from lovevec.train import Settings, train
    love = train("glove.txt", Settings(epochs=20), output="my-model")

The package itself can be called too: `from lovevec import train` and `train("glove.txt")`.

Needs the extra `train`; torch is imported only when training begins.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from lovevec.train.settings import PrepareSettings, Settings

if TYPE_CHECKING:
    from lovevec.love import LOVE
    from lovevec.train.prepared import Prepared, prepare
    from lovevec.train.run import resume, train

__all__ = ["PrepareSettings", "Prepared", "Settings", "prepare", "resume", "train"]


def __getattr__(name: str) -> object:
    if name in ("Prepared", "prepare"):
        from lovevec.train import prepared

        return getattr(prepared, name)
    if name in ("train", "resume"):
        # Threads that wait by spinning make a step five times slower as soon as anything else runs on the same cores;
        # sleeping costs a tenth on an idle machine. Must be said before torch starts its threads.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        try:
            from lovevec.train import run
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            from lovevec.errors import MissingExtra

            raise MissingExtra("torch", "train") from None
        return getattr(run, name)
    raise AttributeError(f"module 'lovevec.train' has no attribute {name!r}")


class _CallablePackage(ModuleType):
    """`from lovevec import train` can only give this package, since it has the name of its main function: so calling
    the package calls the function."""

    def __call__(self, target: Any, settings: Settings | None = None, **options: Any) -> LOVE:
        love: LOVE = self.train(target, settings, **options)
        return love


sys.modules[__name__].__class__ = _CallablePackage
