"""Freeze a process at an exact step from outside: by a lock that its next statement needs.

The product has no hooks for this. PostgreSQL's views tell when the process has arrived there, and a process that is
killed there leaves its statement behind, as in life: the server goes on with it, unless the session is ended too.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Self

import psutil
import psycopg
from django.db import connection

from tests.sql import sql
from tests.waiting import wait_until

DOOR = "SELECT pg_advisory_lock(hashtext('jobs.door'), 0)"
ROW = "SELECT FROM jobs WHERE id = %s FOR UPDATE"
NUMBER = "SELECT pg_advisory_lock(%s)"  # Thing.wait_for_lock(number) runs as long as this is held


class Held:
    """A lock in a session of its own, from now on until `release`, or the end of the `with`."""

    def __init__(self, statement: str, *parameters: object) -> None:
        self._session = psycopg.connect(**connection.get_connection_params())
        self._session.execute(statement, parameters)

    def release(self) -> None:
        with suppress(psycopg.OperationalError):  # the server is gone, and so is the lock
            self._session.rollback()  # it has let go when it answers; of a closed session it hears later
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def backends(condition: str, *parameters: object) -> list[int]:
    """The sessions of this database, other than ours, of which this is true in pg_stat_activity."""
    rows = sql(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        f" AND backend_type = 'client backend' AND ({condition})",
        parameters,
    )
    return [pid for (pid,) in rows]


def arrived(what: str, condition: str, *parameters: object) -> int:
    """Wait until one session waits for a lock and this is true of it; its process id in PostgreSQL."""
    pids: list[int] = []

    def has_arrived() -> bool:
        pids[:] = backends(f"wait_event_type = 'Lock' AND ({condition})", *parameters)
        return bool(pids)

    wait_until(has_arrived, what)
    assert len(pids) == 1, (what, pids)
    return pids[0]


def cut(backend: int) -> None:
    """End a session, and with it the statement that a dead process left behind."""
    sql("SELECT pg_terminate_backend(%s)", [backend])
    wait_until(lambda: not backends("pid = %s", backend), f"session {backend} ends")


def kill(pid: int) -> None:
    """kill -9, and wait until it is gone (or a zombie that its parent has yet to bury)."""
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: has_ended(pid), f"process {pid} ends")


def has_ended(pid: int) -> bool:
    """Whether a process is no more."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def children(pid: int) -> list[int]:
    """The processes of a worker's pool."""
    return [child.pid for child in psutil.Process(pid).children()]


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """SIGSTOP now, SIGCONT at the end of the `with`."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
