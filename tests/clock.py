"""A call at another moment: the statements of its thread take the time of the test."""

from collections.abc import Callable
from datetime import datetime
from threading import local
from typing import TypeVar

from jobs.store import clock

Result = TypeVar("Result")


class _Here(local):
    moment: datetime | None = None


_here = _Here()
clock.follow(lambda: _here.moment)


def call_at(moment: datetime | None, call: Callable[..., Result], *args: object, **kwargs: object) -> Result:
    """None: now."""
    previous, _here.moment = _here.moment, moment
    try:
        return call(*args, **kwargs)
    finally:
        _here.moment = previous
