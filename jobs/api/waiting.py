"""Long polls: wait for a job's status to change, without holding a thread, a connection or a lock meanwhile."""

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
    """Return when the status is not `seen` any more, when it cannot change, or after that many seconds.

    `seen` None: the status at the first look. A job that does not exist (status None) is not waited for.
    """
    deadline, pause = clock() + seconds, FIRST_PAUSE
    status = await read_status()
    seen = seen or status
    while status and status == seen and status not in FINAL and (left := deadline - clock()) > 0:
        await sleep(min(pause, left))
        pause = min(pause * GROWTH, LAST_PAUSE)
        status = await read_status()


def status_reader(tenant_id: int, job_id: int) -> Callable[[], Awaitable[str | None]]:
    """Reads the status of the tenant's job; None: it has no such job.

    All who wait in this process share one thread, and so one connection.
    """

    def read() -> str | None:
        if not connection.in_atomic_block:  # else it is somebody's, and not ours to close
            close_old_connections()  # such as have failed at the look before
        return queries.status(tenant_id, job_id)

    return sync_to_async(read)
