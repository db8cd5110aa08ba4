"""How compiled code is compiled: by numba, without the GIL, cached on disk."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])
SECONDS_BEFORE_NOTICE = 1.0


def compiled(function: Function) -> Function:
    """Decorator: compile the function, and keep the machine code on disk where that can be written.

    Sums may be regrouped and multiplications fused, in one way for all calls.
    """
    return _compile(function, fastmath={"contract", "reassoc", "nsz"})


def compiled_exactly(function: Function) -> Function:
    """Decorator: as `compiled`, but each number is rounded by itself, in the order of the code, as numpy does it."""
    return _compile(function, fastmath=False)


def _compile(function: Function, **options: Any) -> Function:
    options |= {"nogil": True, "error_model": "numpy"}
    try:
        result: Function = numba.njit(function, cache=True, **options)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        result = numba.njit(function, **options)
    return result


@contextmanager
def compile_notice() -> Iterator[None]:
    """Put around a first call, which compiles on a new machine: says so on a terminal if it takes long."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    text = "lovevec: compiling for this machine, once: some seconds\n"
    notice = Timer(SECONDS_BEFORE_NOTICE, sys.stderr.write, [text])
    notice.start()
    try:
        yield
    finally:
        notice.cancel()
