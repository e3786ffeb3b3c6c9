"""The session in which the engine speaks to PostgreSQL.

Usually it is the caller's: a submit belongs to the caller's transaction. But a process that runs jobs lends Django's
connection to bodies, whose code may leave it in any state. There the engine has a session of its own to
start, settle, dispatch and report progress. So a body cannot prevent the write of its outcome, and its progress is
visible at once, even from within its own transaction. A web process behind a pooler in transaction mode dispatches in
a session that leads to the server itself (`DATABASE_DIRECT_URL`): the waiting place at the door is a lock of the
session.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db import transaction as django_transaction
from django.db.backends.base.base import BaseDatabaseWrapper

# The settings of the engine's sessions, whatever the project, the role or the database sets: a later option of a
# connection overrides them. The claim may run in the caller's session; it sets them for its transaction (knock.sql).
STATED = {
    # The guards look again at a row that was changed meanwhile; at another level the statement would fail.
    "default_transaction_isolation": "read\\ committed",
    # As some methods are switched off, a plan looks so expensive that each execution would be compiled.
    "jit": "off",
    # The project's limits are for requests; a thread of the engine that needs one sets its own.
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_session_timeout": "0",  # a dispatch that finds its session cut would be left to the clock
    # With fewer digits the clock would see the time jump; without NULL in arrays the text "NULL" would be stored.
    "extra_float_digits": "1",
    "array_nulls": "on",
    # The methods that are left must be on, and the planner must be free to choose the order of the joins.
    "enable_nestloop": "on",
    "enable_indexscan": "on",
    "enable_indexonlyscan": "on",
    "join_collapse_limit": "8",
    "from_collapse_limit": "8",
}
# The server's side of a connection, by TCP: 25 s after a host is cut off, its sessions end, with their locks.
KEPT_ALIVE = {
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "25000",
}
# Beside a body each statement is planned once, and no plan depends on an estimate.
PLANNED = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}

_spoken_in: ContextVar[BaseDatabaseWrapper | None] = ContextVar("session", default=None)


def session() -> BaseDatabaseWrapper:
    """Return the connection of the engine."""
    return _spoken_in.get() or connections[DEFAULT_DB_ALIAS]


def is_of_the_engine(connection: BaseDatabaseWrapper) -> bool:
    """Return whether the engine uses this session now, and it is the engine's own."""
    return _spoken_in.get() is connection


@contextmanager
def transaction() -> Iterator[None]:
    """Open a transaction in the engine's session, which need not be Django's."""
    own = _spoken_in.get()
    if own is None:
        with django_transaction.atomic():
            yield
    else:
        own.ensure_connection()
        with own.wrap_database_errors, own.connection.transaction():
            yield


def as_options(settings: Mapping[str, str]) -> str:
    """Return settings of a session as text to append to the `options` of a connection."""
    return "".join(f" -c {name}={value}" for name, value in settings.items())


def of_the_engine(options: Mapping[str, Any], *, writes: bool = True) -> dict[str, Any]:
    """Return the options of a session that no other code uses, made from those of the project.

    writes: whether the session writes to the tables of jobs.
    """
    changed = {**options, "options": options.get("options", "") + as_options(STATED | KEPT_ALIVE)}
    changed.pop("isolation_level", None)  # Django's name for it: the project's wish for its own transactions
    if writes:  # a thread of the engine that only reads would stay on a standby for ever
        changed.setdefault("target_session_attrs", "read-write")
    return changed


class OwnSession:
    """A session beside Django's. Threads of a body may use it, too: psycopg serialises them.

    A process that a body forks gets one of its own: two processes that use one socket would read each other's answers.
    """

    def __init__(self, alias: str = DEFAULT_DB_ALIAS) -> None:
        """Make the session; it connects at its first use.

        alias: the name of the database in Django's settings.
        """
        self._connection = connections.create_connection(alias)
        settings = connections[alias].settings_dict  # of this process: its sessions carry its name
        options = of_the_engine(settings["OPTIONS"])
        options["options"] += as_options(PLANNED)
        if options.get("prepare_threshold") is not None:
            options["prepare_threshold"] = 0  # each statement comes again with the next job: plan it once, not thrice
        self._connection.settings_dict = {**settings, "OPTIONS": options}
        self._connection.inc_thread_sharing()
        self._process = os.getpid()

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """Let the engine use this session inside the block.

        If only the engine uses its alias, the session becomes Django's connection of that alias. Otherwise code that
        looks for types at the first connection, such as `django.contrib.postgres`, would open another one, and keep it.
        The event loop of a body is hidden, since Django refuses queries in one: no coroutine can use this session.
        """
        if self._process != os.getpid():
            self._process, self._connection.connection = os.getpid(), None  # not closed: that would end the parent's
        if self._connection.alias != DEFAULT_DB_ALIAS:
            connections[self._connection.alias] = self._connection
        token, loop = _spoken_in.set(self._connection), asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        try:
            yield
        finally:
            asyncio._set_running_loop(loop)
            _spoken_in.reset(token)


def speak_as_the_caller() -> None:
    """Use Django's connection for the rest of this context: a body runs in a context of its own."""
    _spoken_in.set(None)
