"""Ctrl-C between steps, never inside one: a step half done cannot be resumed bit for bit."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interruption:
    """While open, the first Ctrl-C only sets `asked`; the second one interrupts at once, as usual."""

    def __init__(self) -> None:
        self.asked = False
        self.usual: Any = None

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python lets nobody set handlers
            self.usual = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *failure: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._back_to_usual()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        self._back_to_usual()

    def _back_to_usual(self) -> None:
        if self.usual is not None:
            signal.signal(signal.SIGINT, self.usual)
            self.usual = None
