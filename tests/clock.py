"""A call at another moment: the statements of its thread take the time of the test."""

from collections.abc import Callable
from datetime import datetime
from threading import local
from typing import TypeVar

from jobs.store import clock

Result = TypeVar("Result")


class _Moment(local):
    moment: datetime | None = None


_of_thread = _Moment()
clock.follow(lambda: _of_thread.moment)


def call_at(moment: datetime | None, call: Callable[..., Result], *args: object, **kwargs: object) -> Result:
    """None: now."""
    previous, _of_thread.moment = _of_thread.moment, moment
    try:
        return call(*args, **kwargs)
    finally:
        _of_thread.moment = previous
