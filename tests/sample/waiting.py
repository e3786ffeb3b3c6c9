"""Jobs that are coroutines, as functions of a module that no process has imported before it meets them."""

import asyncio
import os
import time
from contextlib import suppress
from typing import Any

from jobs import async_, current_job, in_thread, job
from tests.sample.models import Run, note_run
from tests.sample.tasks import greet
from tests.sample.ways import leave as leave_there
from tests.sample.ways import look

LONG = 3600.0  # seconds
_kept: list[asyncio.Task[None]] = []


@job(dedup=False)
async def wait(*, seconds: float = LONG, stubborn: bool = False) -> int:
    """Waits, and writes a row when it is cancelled; stubbornly: and goes on."""
    await in_thread(note_run)
    while True:
        try:
            await asyncio.sleep(seconds)
            return os.getpid()
        except asyncio.CancelledError:
            await in_thread(note_run)
            if not stubborn:
                raise


@job(dedup=False)
async def block() -> None:
    """Awaits nothing."""
    await in_thread(note_run)
    time.sleep(LONG)


@job(dedup=False)
async def report() -> list[Any]:
    """Uses what a coroutine may use, and submits a job."""
    run = current_job()
    await run.aprogress(0.5, "half")
    runs = await run.memory.aincrement("runs")
    greeted = await async_(greet).asubmit("Ines")
    tenant = await run.atenant()
    return [tenant and tenant.pk, runs, greeted]


@job(dedup=False)
async def leave(*, left: str) -> int:
    """Leaves something in its sessions, and a task that waits."""
    await in_thread(leave_there, left)
    _kept.append(asyncio.create_task(asyncio.sleep(LONG)))
    return os.getpid()


@job(dedup=False)
async def find() -> list[Any]:
    """What others have left in the sessions and in the loop, and whether their tasks still run."""
    await in_thread(note_run)
    return [*await in_thread(look), len(asyncio.all_tasks()), [task.done() for task in _kept]]


@job(dedup=False)
async def stay() -> int:
    """Leaves a task that nothing ends."""

    async def go_on() -> None:
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(LONG)

    _kept.append(asyncio.create_task(go_on()))
    await Run.objects.acreate(job_id=current_job().id or 0, attempt=1, pid=os.getpid())
    return os.getpid()
