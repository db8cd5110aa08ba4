"""Of all rows and datasets those that the user asked for, upper or lower case alike."""

from __future__ import annotations

from collections.abc import Sequence

from lovevec.errors import LovevecError


def select(names: Sequence[str], chosen: Sequence[str], kind: str) -> list[str]:
    """Those of `names` that `chosen` did not leave out; none chosen is all. `kind` is tasks or methods."""
    folded = [name.lower() for name in chosen]
    found = [name for name in names if not folded or name.lower() in folded]
    if not found or (kind == "methods" and len(found) < len(set(folded))):
        raise LovevecError(f"--{kind} {','.join(chosen)}: not all of them are here; there are {', '.join(names)}")
    return found
