"""Coroutines that are jobs, for light pools; and a function that waits, for one with threads."""

import asyncio
import os
import signal
import time
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connection

from jobs import current_job, job
from tests.sample.light_load import LIGHT_WAYS
from tests.sample.models import Thing, note_run
from tests.sample.ways import leave as leave_there
from tests.sample.ways import look

QUEUE, IN_THREADS = "light", "threads"


@job(queue=QUEUE, dedup=False)
async def nothing() -> None:
    pass


@job(queue=QUEUE, dedup=False)
async def wait(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return f"waited {seconds:g} s"


@job(queue=IN_THREADS, dedup=False)
def nap(seconds: float, times: int = 1) -> dict[str, Any]:
    """Wait so often, without an `await`; an end reaches it between two waits."""
    for _ in range(times):
        time.sleep(seconds)
    return {"pid": os.getpid(), "tenant": str(current_job().tenant), "session": _session()}


@job(queue=QUEUE, dedup=False)
async def block(seconds: float) -> None:
    time.sleep(seconds)


@job(queue=QUEUE, dedup=False)
async def fail(text: str) -> None:
    await asyncio.sleep(0)
    raise ValueError(text)


@job(queue=QUEUE, dedup=False)
async def count_things(times: int = 1) -> list[int]:
    """Count the things by Django's ORM, and tell in which sessions."""
    pids = set()
    for _ in range(times):
        await Thing.objects.acount()
        pids.add(await sync_to_async(_session)())
    return sorted(pids)


def _session() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid(), pg_sleep(0.02)")
        return int(cursor.fetchone()[0])


@job(queue=QUEUE, dedup=False)
async def who() -> dict[str, Any]:
    await sync_to_async(note_run)()
    return {"pid": os.getpid(), "tenant": str(current_job().tenant), "id": current_job().id}


@job(queue=QUEUE, dedup=False)
async def leave(way: str, left: str) -> None:
    """Leave something in the session of a thread, of one tenant."""
    await LIGHT_WAYS[way](partial(leave_there, left))


@job(queue=QUEUE, dedup=False)
async def find(way: str) -> list[Any]:
    """Tell what is left there, to another tenant."""
    found: list[Any] = await LIGHT_WAYS[way](look)
    return found


@job(queue=QUEUE, dedup=False)
async def crash() -> None:
    """End the process as a fault in a C library does."""
    signal.raise_signal(signal.SIGSEGV)


@job(queue=QUEUE, dedup=False)
async def end_the_loop() -> None:
    """Asyncio lets a SystemExit of a task end its loop."""
    await asyncio.create_task(_exit())


async def _exit() -> None:
    raise SystemExit


@job(queue=QUEUE, dedup=False)
async def fork(awaits: bool) -> int:
    """The copy ends, with this status; the loop is not its own."""
    copy = os.fork()
    if copy == 0:
        if awaits:
            await asyncio.sleep(0)
        return 0
    _, status = await asyncio.to_thread(os.waitpid, copy, 0)
    return os.waitstatus_to_exitcode(status)


@job(queue=QUEUE, dedup=False)
async def strain() -> list[Any]:
    """Read rows in parts, and ask the loop for what only one body would ask."""
    found = [thing.pk async for thing in Thing.objects.order_by("pk").aiterator(chunk_size=1)]
    try:
        asyncio.get_running_loop().set_task_factory(None)
    except RuntimeError as refused:
        return [found, str(refused)]
    return [found, ""]
