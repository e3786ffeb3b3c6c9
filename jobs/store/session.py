"""In which session the engine speaks to PostgreSQL.

As a rule in the caller's: a submit belongs to the caller's transaction. But a process that runs jobs lends Django's
connection to strangers, the bodies, who may leave it in any state; there the engine has a session of its own, which
starts, settles, dispatches and reports progress. So an outcome is written whatever a body did, and what a body says by
the way is seen at once, also from within its transaction.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

# Its statements are planned once, and no plan rests on an estimate (see knock.sql).
OPTIONS = (
    "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off"
    " -c enable_hashjoin=off -c enable_mergejoin=off"
)

_spoken_in: ContextVar[BaseDatabaseWrapper | None] = ContextVar("session", default=None)


def session() -> BaseDatabaseWrapper:
    """The connection to speak in."""
    return _spoken_in.get() or connections[DEFAULT_DB_ALIAS]


class OwnSession:
    """A session beside Django's. Threads that a body starts may speak in it, too: psycopg takes them in turn."""

    def __init__(self) -> None:
        self._connection = connections.create_connection(DEFAULT_DB_ALIAS)
        settings = connections[DEFAULT_DB_ALIAS].settings_dict  # of this process: its sessions have its name
        options: dict[str, Any] = settings["OPTIONS"]
        ours = {**options, "options": f"{options.get('options', '')} {OPTIONS}"}
        self._connection.settings_dict = {**settings, "OPTIONS": ours}
        self._connection.inc_thread_sharing()

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """The engine speaks in it, for as long as this lasts."""
        token = _spoken_in.set(self._connection)
        try:
            yield
        finally:
            _spoken_in.reset(token)


def speak_as_the_caller() -> None:
    """Django's connection again, for the rest of this context: a body runs in one of its own."""
    _spoken_in.set(None)
