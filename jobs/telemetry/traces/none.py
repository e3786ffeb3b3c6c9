"""The functions of spans.py where OpenTelemetry is not installed: they do nothing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime


class NoSpan:
    def set_attribute(self, name: str, value: str | int) -> None:
        pass


def parent() -> None:
    return None


def trace_id() -> dict[str, str]:
    return {}


@contextmanager
def serving(method: str, headers: Mapping[str, str]) -> Iterator[NoSpan]:
    yield NoSpan()


@contextmanager
def attempting(
    trace_parent: str | None, name: str, waited_since: datetime | None, facts: Mapping[str, str | int]
) -> Iterator[NoSpan]:
    yield NoSpan()


def failed(span: NoSpan, error: BaseException) -> None:
    pass
