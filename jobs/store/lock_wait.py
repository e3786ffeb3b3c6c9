"""The time for which a request over HTTP waits for a lock.

The host's code may hold a job of its tenant in an open transaction. Requests that wait for it keep threads busy that
others need. So they give up early, and the answer says when to ask again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import psycopg
from django.db import OperationalError

from jobs.calls.refusals import Locked

BRIEF = "200ms"

_asked: ContextVar[str | None] = ContextVar("lock_wait", default=None)


def asked() -> str | None:
    """Return the lock timeout of the statements in this context; None: that of the session."""
    return _asked.get()


@contextmanager
def briefly() -> Iterator[None]:
    """Let the statements within wait for locks only for a moment. Raises Locked if one was not free by then."""
    token = _asked.set(BRIEF)
    try:
        yield
    except OperationalError as error:
        if isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
            raise Locked from error
        raise
    finally:
        _asked.reset(token)
