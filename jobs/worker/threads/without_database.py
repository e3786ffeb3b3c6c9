"""Let a thread of a worker survive while PostgreSQL is away, and log that without filling the log."""

import time
from types import TracebackType

from django.db import DatabaseError, InterfaceError, connection

from jobs import telemetry
from jobs.store.away import told

AGAIN = 60.0  # seconds between two lines while it is away


class Database:
    """A context manager: an error of the database ends its block, not the thread, and closes the connection.

    The log has a line at once, then one a minute with the number of failures, and one when the database is back.

    away: whether an error of the database ended the last block
    """

    def __init__(self, thread: str) -> None:
        """Name the thread, for the log."""
        self.away = False
        self._thread = thread
        self._failures, self._since, self._told = 0, 0.0, 0.0

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> bool:
        self.away = isinstance(error, (DatabaseError, InterfaceError))
        if self.away and error is not None:
            self._note(error)
            connection.close()
        elif error is None and self._failures:
            seconds, self._failures = round(time.monotonic() - self._since), 0
            telemetry.begun("thread has the database again", thread=self._thread, seconds=seconds)
        return self.away

    def _note(self, error: BaseException) -> None:
        now = time.monotonic()
        self._failures += 1
        if self._failures == 1:
            self._since = now
        elif now < self._told + AGAIN:
            return
        self._told, times = now, self._failures if self._failures > 1 else None
        because = told(error) or type(error).__name__
        telemetry.noticed("thread without database", thread=self._thread, times=times, error=because)
