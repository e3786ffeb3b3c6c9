"""What a chaos run submits to its light pool: coroutines that do as the other jobs of its load do."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.db import connection

from jobs import Retry, RetryLater, WaitFor, current_job, in_thread, job
from tests.sample.evidence import ANSWERED_WITHIN, UNITS, book, leave_evidence, meet
from tests.sample.litter import LITTER

QUEUE = "light"
Call = Callable[[], Any]
RAISED = ("a CancelledError", "a SystemExit", "an error without a text")  # of LITTER: on the loop itself
_kept: list[object] = []  # else a task that nobody awaits might be collected


async def _in_its_own_context(call: Call) -> Any:
    async with ThreadSensitiveContext():
        return await sync_to_async(call)()


LIGHT_WAYS: dict[str, Callable[[Call], Awaitable[Any]]] = {
    "in_thread": in_thread,
    "sync_to_async": lambda call: sync_to_async(call)(),
    "sync_to_async in any thread": lambda call: sync_to_async(call, thread_sensitive=False)(),
    "asyncio.to_thread": asyncio.to_thread,
    "a context of its own": _in_its_own_context,
    "a task": lambda call: asyncio.create_task(in_thread(call)),
}


async def _leave_a_task() -> None:
    _kept[:] = [asyncio.create_task(asyncio.sleep(3600))]


async def _leave_a_call() -> None:
    _kept[:] = [asyncio.create_task(in_thread(partial(time.sleep, 1)))]
    await asyncio.sleep(0)


async def _block_the_loop() -> None:
    time.sleep(0.5)


async def _raise(kind: str) -> None:
    LITTER[kind]()


async def _raise_in_a_task() -> None:
    await asyncio.create_task(_raise("a SystemExit"))


LIGHT_LITTER: dict[str, Callable[[], Awaitable[object]]] = {
    **{kind: partial(in_thread, leave) for kind, leave in LITTER.items()},
    **{kind: partial(_raise, kind) for kind in RAISED},
    "a task": _leave_a_task,
    "a call": _leave_a_call,
    "a blocked loop": _block_the_loop,
    "a SystemExit in a task": _raise_in_a_task,
}


async def labour(number: int, seconds: float) -> tuple[int, int]:
    """As that of ordinary jobs."""
    evidence = leave_evidence(number)
    if seconds:
        await asyncio.sleep(seconds)
    if number % 2:
        current_job().check_cancelled()
    return evidence


def _sleep_in_database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(3600)")


class LightLoad:
    """The coroutines of a thing. Their bodies leave evidence as those of `Thing` do."""

    @job(queue=QUEUE)
    async def light_work(self, number: int, *, seconds: float) -> tuple[int, int]:
        """Ends well."""
        return await labour(number, seconds)

    @job(queue=QUEUE, retry=Retry.every(0.3, max_retries=1000))
    async def light_stumble(self, number: int, *, seconds: float) -> tuple[int, int]:
        """Fails in two of three attempts, or asks for another, at times with its lane held."""
        _, attempt = result = await labour(number, seconds)
        if attempt % 3 == 1:
            raise ValueError(f"not in attempt {attempt}")
        if attempt % 3 == 2:
            raise RetryLater(0.2, hold=(None, "tenant")[number % 2])
        return result

    @job(queue=QUEUE)
    async def light_toil(self, number: int, *, seconds: float) -> tuple[int, int]:
        evidence, run = leave_evidence(number), current_job()
        for unit in range(run.cursor or 0, UNITS):
            await asyncio.sleep(seconds / UNITS)
            await run.acheckpoint(unit + 1)
        return evidence

    @job(queue=QUEUE)
    async def light_ask(self, number: int, *, seconds: float) -> tuple[int, int]:
        result = await labour(number, seconds)
        if current_job().event is None:
            raise WaitFor(f"answer:{number}", seconds=ANSWERED_WITHIN)
        return result

    @job(queue=QUEUE)
    async def light_fail(self, number: int, *, seconds: float) -> None:
        """Ends badly."""
        raise ValueError(f"never, as {await labour(number, seconds)}")

    @job(queue=QUEUE)
    async def light_book(self, number: int, *, seconds: float) -> tuple[int, int]:
        """Ends well, with a row that there is once, whatever dies."""
        evidence: tuple[int, int] = await in_thread(book, await labour(number, seconds))
        return evidence

    @job(queue=QUEUE)
    async def light_litter(self, number: int, *, kind: str, seconds: float = 0) -> tuple[int, int]:
        """Leaves something behind."""
        result = await labour(number, seconds)
        await LIGHT_LITTER[kind]()
        return result

    @job(queue=QUEUE, dedup=False)
    async def light_hold(self, path: str) -> None:
        """Runs until the file is there; asks nothing of PostgreSQL or the cache, which may be away."""
        leave_evidence(0)
        while not Path(path).exists():
            await asyncio.sleep(0.02)

    @job(queue=QUEUE)
    async def light_start_others(self, path: str) -> None:
        """In its first attempt starts a subprocess, writes its number down, and has the server busy."""
        leave_evidence(0)
        if current_job().attempt == 1:
            below = await asyncio.create_subprocess_exec("sleep", "3600")
            Path(path).write_text(str(below.pid))
            await in_thread(_sleep_in_database)

    @job(queue=QUEUE, retry=Retry.every(0.3, max_retries=1000))
    async def light_go_astray(self, number: int, *, way: str, left: str, seconds: float = 0) -> tuple[int, int]:
        """Tells in a thread what others have left there, writes a row, and leaves something itself."""
        evidence = await labour(number, seconds)
        await LIGHT_WAYS[way](partial(meet, current_job().id or 0, current_job().attempt, left))
        return evidence
