"""Ctrl-C, kill and a closed terminal take effect between steps: a step half done cannot be resumed bit for bit."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Interruption:
    """While open, the first such signal is only noted in `asked`; a second one acts at once, as usual."""

    def __init__(self) -> None:
        self.asked = 0
        self.usual: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python lets nobody set handlers
            self.usual = {number: signal.signal(number, self._ask) for number in SIGNALS}
        return self

    def __exit__(self, *failure: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._back_to_usual()

    def stop(self) -> None:
        """End the program as the signal would have: KeyboardInterrupt, or the exit code of one that was killed."""
        if self.asked == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + self.asked)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = number
        self._back_to_usual()

    def _back_to_usual(self) -> None:
        for number, handler in self.usual.items():
            signal.signal(number, handler)
        self.usual = {}
