"""Wait for a job's status to change, or for its end, holding no thread, connection or lock meanwhile.

All waits in this process, long polls and event streams too, share their reads: one statement reads the states of all
their jobs.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable

from jobs.lifecycle import FINAL
from jobs.models import AnyJob
from jobs.reading import queries
from jobs.reading.together import Together

MAX_SECONDS = 30
FIRST_PAUSE, LAST_PAUSE, GROWTH = 0.05, 0.5, 1.5  # seconds, seconds, factor

_stop = threading.Event()

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]


def stop() -> None:
    """End all waits in this process: the server stops, and would cut off their connections."""
    _stop.set()


def stopping() -> bool:
    return _stop.is_set()


async def until_changed(
    read_status: Callable[[], Awaitable[str | None]],
    known_status: str | None,
    seconds: float,
    sleep: Sleep = asyncio.sleep,
    clock: Clock = time.monotonic,
) -> None:
    """Return when the status differs from `known_status`, when it cannot change any more, after that many seconds,
    or when the server stops.

    `known_status` None: the status at the first read. If the job does not exist (status None), return at once.
    """
    deadline, pause = clock() + seconds, FIRST_PAUSE
    status = await read_status()
    known_status = known_status or status
    while (
        status
        and status == known_status
        and status not in FINAL
        and not stopping()
        and (left := deadline - clock()) > 0
    ):
        await sleep(min(pause, left))
        pause = min(pause * GROWTH, LAST_PAUSE)
        status = await read_status()


async def afinished(tenant_id: int, job_id: int, *, seconds: float) -> AnyJob | None:
    """Return the tenant's job when it has ended, or as it is after `seconds`; None if there is no such job."""
    read, deadline = status_reader(tenant_id, job_id), time.monotonic() + seconds
    status = await read()
    while status is not None and status not in FINAL and (left := deadline - time.monotonic()) > 0:
        await until_changed(read, status, left)
        status = await read()
    return await queries.ajob(tenant_id, job_id)


def status_reader(tenant_id: int, job_id: int) -> Callable[[], Awaitable[str | None]]:
    """Return a reader of the job's status; it returns None if the tenant has no such job, or none that can change."""

    async def read() -> str | None:
        state = await states.ask((tenant_id, job_id))
        return state and state.status

    return read


states = Together(queries.states, every=FIRST_PAUSE)  # of all jobs that a client waits for in this process
