"""The ways in which ORM code leaves the thread of its body, and what it may leave behind there.

Bodies of one tenant leave it; those of the next one look whether it is there (tests/sample/apart.py).
"""

import asyncio
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

from asgiref.sync import ThreadSensitiveContext, async_to_sync, sync_to_async
from django.db import DatabaseError, connection, transaction

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


def _await(call: Call) -> Any:
    return asyncio.run(sync_to_async(call)())


def _in_a_loop_in_a_process(call: Call) -> Any:
    """Beside one here, whose thread is not forked."""
    _await(os.getpid)
    return _in_processes(partial(_await, call))


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
    "asyncio.run": _await,
    "async_to_sync": lambda call: async_to_sync(sync_to_async(call))(),
    "asyncio.to_thread": lambda call: asyncio.run(asyncio.to_thread(call)),
    "a context of its own": _in_its_own_context,
    "a loop in a thread": lambda call: _in_a_thread(partial(_await, call)),
    "a pool of threads": _in_a_pool,
    "a pool that is kept": _in_a_kept_pool,
    "a thread": _in_a_thread,
    "a thread that stays": partial(_in_a_thread, stays=True),
    "a pool of processes": _in_processes,
    "a loop in a process": _in_a_loop_in_a_process,
    "a pool of processes that is kept": _in_a_kept_pool_of_processes,
}


def execute(statement: str) -> tuple[Any, ...]:
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
        execute("BEGIN; SELECT 1/0")


LEFT: dict[str, Call] = {
    "no transaction": lambda: None,
    "an open transaction": lambda: execute("BEGIN"),
    "a failed transaction": _fail_in_a_transaction,
    "a block": _leave_a_block,
}


def leave(left: str) -> None:
    execute("SELECT set_config('app.tenant', 'a stranger', false), pg_try_advisory_lock(46)")
    execute("CREATE TEMP TABLE notes AS SELECT 'a secret' AS said")
    LEFT[left]()


NOTHING = ["", 0, None, False]


def look() -> list[Any]:
    """What is there of others: a setting, a lock, a table, a transaction."""
    [setting, locks, table] = execute(
        "SELECT coalesce(current_setting('app.tenant', true), ''),"
        " (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 46 AND pid = pg_backend_pid()),"
        " to_regclass('pg_temp.notes')::text"
    )
    return [setting, locks, table, connection.in_atomic_block]
