"""A time that a test sets: for the statements in PostgreSQL, and for Django's `timezone.now()`."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from unittest import mock

from django.utils import timezone

from jobs import store


class FrozenTime:
    """The time stands still until a test moves it."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def __call__(self) -> datetime:
        """The moment at which the time stands, in UTC."""
        return self._now

    def move(self, seconds: float = 0, **more: float) -> datetime:
        """Move the time on by a duration, for example `move(60)` or `move(days=1)`; return the new moment.

        more: further arguments of timedelta. Raises ValueError for a move back: jobs would end before they began.
        """
        return self.move_to(self._now + timedelta(seconds=seconds, **more))

    def move_to(self, moment: datetime) -> datetime:
        """Move the time on to that moment, which has a time zone. Raises ValueError if it is past."""
        moment = _aware(moment)
        if moment < self._now:
            raise ValueError(f"time does not go back: {moment.isoformat()} is before {self._now.isoformat()}")
        self._now = moment
        return moment


@contextmanager
def freeze_time(moment: datetime | None = None) -> Iterator[FrozenTime]:
    """Freeze the time of jobs and of `timezone.now()` inside the block: at that moment, or now.

    Raises ValueError for a moment without a time zone, and for a date or a text.
    """
    frozen = FrozenTime(timezone.now() if moment is None else _aware(moment))
    with mock.patch.object(timezone, "now", frozen), following():
        yield frozen


@contextmanager
def following() -> Iterator[None]:
    """Let the statements take the time of this process inside the block, whichever library has frozen it."""
    previous = store.clock.follow(lambda: timezone.now())  # noqa: PLW0108 - looked up each time: it may be replaced
    try:
        yield
    finally:
        store.clock.follow(previous)


def _aware(moment: datetime) -> datetime:
    if not isinstance(moment, datetime) or timezone.is_naive(moment):
        raise ValueError(f"{moment!r} is no datetime with a time zone, for example datetime(2030, 1, 31, tzinfo=UTC)")
    return moment.astimezone(UTC)
