"""Any word vectors made robust: `love.attach(vectors)` adds a vector for every word that they lack."""

from __future__ import annotations

from lovevec.attach.attached import Attached
from lovevec.attach.backing import PlainModel

__all__ = ["Attached", "PlainModel"]
