"""The two forms of a log line: for people (`LOG_FORMAT=line`) and for a log server (`LOG_FORMAT=json`).

Every line has the facts of its block (`telemetry.about`): the request, or the job, attempt and tenant.
"""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from jobs import telemetry

MOST_BEGINNINGS = 100  # how many beginnings of lines are remembered


class Lines(logging.Formatter):
    """Lines for people: `2026-11-21T23:49:44.123Z INFO jobs start job=1 tenant=3`; a traceback on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        facts: dict[str, object] = getattr(record, "facts", {})
        added = {name: value for name, value in telemetry.known().items() if name not in facts}
        message = f"{record.getMessage()}{telemetry.render(added)}"
        # A line break in a text from outside would forge a line. So the lines of a traceback are indented.
        line = f"{_time(record)} {record.levelname} {record.name} {_in_one_line(message)}"
        trace = _traceback(self, record)
        return "\n  ".join([line, *map(_in_one_line, trace.split("\n"))]) if trace else line


class JsonLines(logging.Formatter):
    """One object a line: time, level, logger, event, the facts, and the traceback of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {"time": _time(record), "level": record.levelname.lower(), "logger": record.name}
        fields["event"] = getattr(record, "event", None) or record.getMessage()
        given: dict[str, Any] = {**telemetry.known(), **getattr(record, "facts", {})}
        facts = {name: value for name, value in given.items() if value is not None}
        if trace := _traceback(self, record):
            fields["traceback"] = trace
        return json.dumps({**fields, **facts, **fields}, default=str)


class OnceASecond(logging.Filter):
    """Let one line of each beginning pass in a second: asyncio logs thousands of times that no file is left."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        begins = record.getMessage().partition("\n")[0]
        if record.created < self._last.get(begins, 0.0) + 1:
            return False
        if len(self._last) > MOST_BEGINNINGS:
            self._last.clear()
        self._last[begins] = record.created
        return True


def formatter(name: str) -> logging.Formatter:
    """Return the formatter of a name. System checks refuse an unknown name; their own lines get the one for people."""
    return JsonLines() if name == "json" else Lines()


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _in_one_line(text: str) -> str:
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _traceback(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    parts = [formatter.formatException(record.exc_info)] if record.exc_info else []
    if record.stack_info:
        parts.append(formatter.formatStack(record.stack_info))
    return "\n".join(parts)
