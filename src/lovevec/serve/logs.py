"""What a server says on stderr: lines for people, or one JSON object a line for programs (`--log json`)."""

from __future__ import annotations

import json
import logging
from typing import Any

SERVING, REQUEST = "serving", "request"  # events with lines of their own


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, event, and what else is known."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": round(record.created, 3), "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, "facts", {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


class PlainLines(logging.Formatter):
    """A line a request, and one that greets: where the server is, and what is there."""

    def format(self, record: logging.LogRecord) -> str:
        event, facts = record.getMessage(), dict[str, Any](getattr(record, "facts", {}))
        if event == SERVING:
            models, address = ", ".join(facts["models"]), facts["address"]
            return f"lovevec: {models} at {address} (for programs: {address}/docs); Ctrl-C ends it"
        if event == REQUEST:
            words = f" {facts['words']:,} words" if facts["words"] else ""
            line = f"{facts['method']} {facts['endpoint']} {facts['status']}{words} {facts['ms']:.1f} ms"
            return f"{self.formatTime(record, '%H:%M:%S')} {line}"
        more = ", ".join(f"{name} {value}" for name, value in facts.items())
        line = f"lovevec: {event.strip()}" + (f": {more}" if more else "")
        return line + (f"\n{self.formatException(record.exc_info)}" if record.exc_info else "")


def start_log(style: str, quiet: bool) -> None:
    """Send all logs of this process to stderr, as "json" or "text"."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if style == "json" else PlainLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING if quiet else logging.INFO, force=True)
    if style != "json":
        logging.getLogger("uvicorn").setLevel(logging.WARNING)  # what it does next is nothing to people
    logging.captureWarnings(True)
