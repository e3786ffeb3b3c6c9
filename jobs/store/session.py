"""The session in which the engine speaks to PostgreSQL.

Usually it is the caller's: a submit belongs to the caller's transaction. But a process that runs jobs lends Django's
connection to bodies, strangers' code that may leave it in any state. There the engine has a session of its own to
start, settle, dispatch and report progress. So a body cannot prevent the write of its outcome, and its progress is
visible at once, even from within its own transaction. A web process behind a pooler in transaction mode dispatches in
a session that leads to the server itself (`DATABASE_DIRECT_URL`), since the waiting place at the door is a lock of the
session.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

# Each statement is planned once, and no plan depends on an estimate (see knock.sql).
OPTIONS = (
    "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off"
    " -c enable_hashjoin=off -c enable_mergejoin=off"
)

# The guards look again at a row that somebody has changed meanwhile; at another level the statement would fail.
READ_COMMITTED = " -c default_transaction_isolation=read\\ committed"

_spoken_in: ContextVar[BaseDatabaseWrapper | None] = ContextVar("session", default=None)


def session() -> BaseDatabaseWrapper:
    """The connection of the engine."""
    return _spoken_in.get() or connections[DEFAULT_DB_ALIAS]


def of_the_engine(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a session that no other code uses, from those of the project."""
    changed = {**options, "options": options.get("options", "") + READ_COMMITTED}
    changed.pop("isolation_level", None)  # Django's name for it: the project's wish for its own transactions
    return changed


class OwnSession:
    """A session beside Django's. Threads of a body may use it, too: psycopg serialises them."""

    def __init__(self, alias: str = DEFAULT_DB_ALIAS) -> None:
        """alias: of the database, in Django's settings."""
        self._connection = connections.create_connection(alias)
        settings = connections[alias].settings_dict  # of this process: its sessions carry its name
        options = of_the_engine(settings["OPTIONS"])
        options["options"] += f" {OPTIONS}"
        self._connection.settings_dict = {**settings, "OPTIONS": options}
        self._connection.inc_thread_sharing()

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """Let the engine use this session inside the block."""
        token = _spoken_in.set(self._connection)
        try:
            yield
        finally:
            _spoken_in.reset(token)


def speak_as_the_caller() -> None:
    """Use Django's connection for the rest of this context: a body runs in a context of its own."""
    _spoken_in.set(None)
