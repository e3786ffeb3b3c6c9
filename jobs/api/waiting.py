"""Long polls: wait for a job's status to change, holding no thread, connection or lock meanwhile."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from asgiref.sync import sync_to_async
from django.db import close_old_connections, connection

from jobs import queries
from jobs.lifecycle import FINAL

MAX_SECONDS = 30
FIRST_PAUSE, LAST_PAUSE, GROWTH = 0.05, 0.5, 1.5  # seconds, seconds, factor

Sleep = Callable[[float], Awaitable[None]]
Clock = Callable[[], float]


async def until_changed(
    read_status: Callable[[], Awaitable[str | None]],
    seen: str | None,
    seconds: float,
    sleep: Sleep = asyncio.sleep,
    clock: Clock = time.monotonic,
) -> None:
    """Return when the status differs from `seen`, when it cannot change any more, or after that many seconds.

    `seen` None: the status at the first read. If the job does not exist (status None), return at once.
    """
    deadline, pause = clock() + seconds, FIRST_PAUSE
    status = await read_status()
    seen = seen or status
    while status and status == seen and status not in FINAL and (left := deadline - clock()) > 0:
        await sleep(min(pause, left))
        pause = min(pause * GROWTH, LAST_PAUSE)
        status = await read_status()


def status_reader(tenant_id: int, job_id: int) -> Callable[[], Awaitable[str | None]]:
    """Return a reader of the job's status; it returns None if the tenant has no such job.

    All waiting requests of this process share one thread, and so one connection.
    """

    def read() -> str | None:
        if not connection.in_atomic_block:  # in a block, the connection is the caller's
            close_old_connections()  # those that failed at the previous read
        return queries.status(tenant_id, job_id)

    return sync_to_async(read)
