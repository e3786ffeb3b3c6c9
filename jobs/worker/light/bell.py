"""The bell of a light pool: a dispatch that finds work for it rings, and its feeders come.

A dispatch leaves the jobs of a light pool to the feeders, since only they know which of their seats are free. It rings
by NOTIFY. A ring may be lost with a session; a feeder looks each second anyway.
"""

from contextlib import suppress
from time import monotonic

import psycopg
from django.db import DatabaseError, InterfaceError

from jobs.store.messages import Hearing
from plumbing.names import named

AGAIN = 1.0  # seconds between two tries to listen


class Bell:
    """The session that hears the rings for a pool. One thread uses it."""

    def __init__(self, pool: str) -> None:
        self._work, self._stop = named(pool), f"{named(pool)} stop"
        self._hearing, self._file = Hearing("hear_rings"), -1
        self._tried = -AGAIN

    def file(self) -> int | None:
        """Return the file descriptor that becomes readable when it rings; None while there is no session."""
        if self._file < 0 and monotonic() - self._tried >= AGAIN:
            self._tried = monotonic()
            with suppress(DatabaseError, InterfaceError):
                self._file = self._hearing.hear()
        return None if self._file < 0 else self._file

    def rung(self) -> tuple[bool, bool]:
        """Return whether it has rung since the last call: for work; to stop an attempt. Lost session: both."""
        if self._file < 0:
            return False, False
        try:
            heard = self._hearing.heard()
        except (DatabaseError, InterfaceError, psycopg.Error):
            self.close()
            return True, True
        return self._work in heard, self._stop in heard

    def close(self) -> None:
        """End the session; `file` begins another one, a second later: by then the file is not watched any more."""
        self._file, self._tried = -1, monotonic()
        self._hearing.close()
