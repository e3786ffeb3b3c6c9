"""This project with a light pool: coroutines, many in each of one or two processes. The rest is as in `ours`."""

from django.core.management import call_command
from fair.adapters import ours
from fair.body import arun

from jobs import job

NEEDS, DOCS, LIMITS = ours.NEEDS, "light-pools.md", ours.LIMITS
VERSION = ours.VERSION.replace("ordinary", "light")
MANY = 100  # seats from which on there are two processes, as many as cores


@job(dedup=False)
async def sleep(*, slug: str, id: int, seconds: float) -> None:
    await arun(slug, id, seconds)


def setup(engines: dict[str, str], tenants: dict[str, int]) -> None:
    ours.setup(engines, tenants, sleep)


def worker_command(at_once: int) -> list[str]:
    """The pool says how many seats a process has; its row is there before the worker reads it."""
    processes = 1 if at_once < MANY else 2
    call_command("queues", "pool", ours.POOL, "--kind", "light", "--seats", str(at_once // processes))
    return ours.command(processes)


submit, limit, count = ours.submit, ours.limit, ours.count
