"""The ways in which ORM code leaves the thread of its body, and what it may leave behind there.

Bodies of one tenant leave it; those of the next one look whether it is there.
"""

import asyncio
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from asgiref.sync import ThreadSensitiveContext, async_to_sync, sync_to_async
from django.db import DatabaseError, connection, transaction

from jobs import Retry, current_job, job
from jobs.authoring.current import CurrentJob
from tests.sample.models import Run, note_run

Call = Callable[[], Any]
FORK = multiprocessing.get_context("fork")
_pools: dict[str, Executor] = {}  # that a body keeps for the next one
_kept: list[Any] = []


def _in_its_own_context(call: Call) -> Any:
    async def wait() -> Any:
        async with ThreadSensitiveContext():
            return await sync_to_async(call)()

    return asyncio.run(wait())


def _in_a_pool(call: Call) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def _in_processes(call: Call) -> Any:
    with ProcessPoolExecutor(1, FORK) as pool:
        return pool.submit(call).result()


def _in_a_thread(call: Call, *, stays: bool = False) -> Any:
    answers: list[Any] = []
    answered = threading.Event()

    def answer() -> None:
        try:
            answers.append(call())
        finally:
            answered.set()
        while stays:
            time.sleep(3600)

    threading.Thread(target=answer, daemon=True).start()
    answered.wait()
    return answers[0]


def _in_a_kept_pool(call: Call) -> Any:
    return _pools.setdefault("threads", ThreadPoolExecutor(1)).submit(call).result()


def _in_a_kept_pool_of_processes(call: Call) -> Any:
    return _pools.setdefault("processes", ProcessPoolExecutor(1, FORK)).submit(call).result()


WAYS: dict[str, Callable[[Call], Any]] = {
    "the thread of the body": lambda call: call(),
    "asyncio.run": lambda call: asyncio.run(sync_to_async(call)()),
    "async_to_sync": lambda call: async_to_sync(sync_to_async(call))(),
    "asyncio.to_thread": lambda call: asyncio.run(asyncio.to_thread(call)),
    "a context of its own": _in_its_own_context,
    "a loop in a thread": lambda call: _in_a_thread(lambda: asyncio.run(sync_to_async(call)())),
    "a pool of threads": _in_a_pool,
    "a pool that is kept": _in_a_kept_pool,
    "a thread": _in_a_thread,
    "a thread that stays": partial(_in_a_thread, stays=True),
    "a pool of processes": _in_processes,
    "a pool of processes that is kept": _in_a_kept_pool_of_processes,
}


def _execute(statement: str) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone() if cursor.description else ()


def _in_a_block() -> Iterator[int]:
    with transaction.atomic():
        yield from range(10)


def _leave_a_block() -> None:
    _kept.append(_in_a_block())
    next(_kept[-1])


def _fail_in_a_transaction() -> None:
    with suppress(DatabaseError):
        _execute("BEGIN; SELECT 1/0")


LEFT: dict[str, Call] = {
    "no transaction": lambda: None,
    "an open transaction": lambda: _execute("BEGIN"),
    "a failed transaction": _fail_in_a_transaction,
    "a block": _leave_a_block,
}


def _leave(left: str) -> None:
    _execute("SELECT set_config('app.tenant', 'a stranger', false), pg_advisory_lock(46)")
    _execute("CREATE TEMP TABLE notes AS SELECT 'a secret' AS said")
    LEFT[left]()


def look() -> list[Any]:
    """What is there of others: a setting, a lock, a table, a transaction."""
    [setting, locks, table] = _execute(
        "SELECT coalesce(current_setting('app.tenant', true), ''),"
        " (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 46 AND pid = pg_backend_pid()),"
        " to_regclass('pg_temp.notes')::text"
    )
    return [setting, locks, table, connection.in_atomic_block]


def _look_and_write(job_id: int) -> list[Any]:
    found = look()
    Run.objects.create(job_id=job_id, attempt=1, pid=os.getpid())
    return found


@job(dedup=False)
def leave(*, way: str, left: str) -> int:
    """Of one tenant."""
    WAYS[way](partial(_leave, left))
    return os.getpid()


@job(dedup=False)
def find(*, way: str) -> list[Any]:
    """Of the next one: a row of its own is there afterwards."""
    found: list[Any] = WAYS[way](partial(_look_and_write, current_job().id))
    return found


@job(dedup=False, memory=300, retry=Retry.every(3600, max_retries=1))
def query(*, way: str, seconds: float = 3600, mib: int = 0) -> int:
    """Has the server busy from another thread; and may use memory meanwhile."""
    note_run()
    if mib:
        _kept.append(b"x" * (mib * 1024 * 1024))
    WAYS[way](partial(_execute, f"SELECT pg_sleep({seconds})"))
    return os.getpid()


@job(dedup=False)
def who(*, way: str) -> tuple[str, str]:
    """Which tenant JOBS_AROUND has said, in the body and there."""
    said = partial(_execute, "SELECT current_setting('app.around', true)")
    return said()[0], WAYS[way](said)[0]


@contextmanager
def around(running: CurrentJob) -> Iterator[None]:
    """As a project does that has row level security."""
    assert running.tenant is not None
    with transaction.atomic():
        _execute(f"SELECT set_config('app.around', '{running.tenant.pk}', true)")
        yield
