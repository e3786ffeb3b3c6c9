"""The session in which the engine speaks to PostgreSQL.

Usually it is the caller's: a submit belongs to the caller's transaction. But a process that runs jobs lends Django's
connection to bodies, strangers' code that may leave it in any state. There the engine has a session of its own to
start, settle, dispatch and report progress. So a body cannot prevent the write of its outcome, and its progress is
visible at once, even from within its own transaction. A web process behind a pooler in transaction mode dispatches in
a session that leads to the server itself (`DATABASE_DIRECT_URL`), since the waiting place at the door is a lock of the
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

# What the engine's sessions need, whatever the project, the role or the database says: a later option of a connection
# beats all of them. The claim, which may run in the caller's session, says it for its transaction (knock.sql).
STATED = {
    # The guards look again at a row that somebody has changed meanwhile; at another level the statement would fail.
    "default_transaction_isolation": "read\\ committed",
    # A plan without some of the ways that are switched off looks so dear that each execution would be compiled.
    "jit": "off",
    # The project's limits are for requests; a thread of the engine that needs one sets its own.
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_session_timeout": "0",  # a dispatch that finds its session cut would be left to the clock
    # With fewer digits the clock would see the time jump; without NULL in arrays a text of that name would be stored.
    "extra_float_digits": "1",
    "array_nulls": "on",
    # The way that is left must not be switched off as well, nor may the order of the joins be the written one.
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
    """The connection of the engine."""
    return _spoken_in.get() or connections[DEFAULT_DB_ALIAS]


def is_of_the_engine(connection: BaseDatabaseWrapper) -> bool:
    """Whether the engine speaks in this session now, and it is its own."""
    return _spoken_in.get() is connection


@contextmanager
def transaction() -> Iterator[None]:
    """A transaction of the engine's session, which need not be Django's."""
    own = _spoken_in.get()
    if own is None:
        with django_transaction.atomic():
            yield
    else:
        own.ensure_connection()
        with own.wrap_database_errors, own.connection.transaction():
            yield


def as_options(settings: Mapping[str, str]) -> str:
    """Settings of a session, to append to the `options` of a connection."""
    return "".join(f" -c {name}={value}" for name, value in settings.items())


def of_the_engine(options: Mapping[str, Any], *, writes: bool = True) -> dict[str, Any]:
    """The options of a session that no other code uses, from those of the project. writes: to the jobs."""
    changed = {**options, "options": options.get("options", "") + as_options(STATED | KEPT_ALIVE)}
    changed.pop("isolation_level", None)  # Django's name for it: the project's wish for its own transactions
    if writes:  # a thread of the engine that only reads would stay on a standby for ever
        changed.setdefault("target_session_attrs", "read-write")
    return changed


class OwnSession:
    """A session beside Django's. Threads of a body may use it, too: psycopg serialises them.

    A process that a body forks gets one of its own: two that speak into one socket would read each other's answers.
    """

    def __init__(self, alias: str = DEFAULT_DB_ALIAS) -> None:
        """alias: of the database, in Django's settings."""
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

        One to a database that only the engine uses is Django's there: what looks for types at its first connection, as
        `django.contrib.postgres` does, would else open another one, and keep it. A body's event loop is hidden, in
        which Django refuses queries: no coroutine can use this session.
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
