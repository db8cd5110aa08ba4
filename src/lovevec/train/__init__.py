"""Training: word vectors in, a LOVE model out.

    from lovevec.train import Settings, train
    love = train("glove.txt", Settings(epochs=20), output="my-model")

Needs the extra `train`; torch is imported only when training begins.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lovevec.train.settings import PrepareSettings, Settings

if TYPE_CHECKING:
    from lovevec.train.prepared import Prepared, prepare
    from lovevec.train.run import resume, train

__all__ = ["PrepareSettings", "Prepared", "Settings", "prepare", "resume", "train"]


def __getattr__(name: str) -> object:
    if name in ("Prepared", "prepare"):
        from lovevec.train import prepared as module

        return getattr(module, name)
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
