"""Jobs of one tenant that leave something in other threads, and of another that look for it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.db import transaction

from jobs import Retry, current_job, job
from jobs.authoring.current import CurrentJob
from tests.sample.models import Run, note_run
from tests.sample.ways import WAYS, execute, look
from tests.sample.ways import leave as leave_there

held: list[bytes] = []


def _look_and_write(job_id: int) -> list[Any]:
    settings = look()
    Run.objects.create(job_id=job_id, attempt=1, pid=os.getpid())
    return settings


@job(dedup=False)
def leave(*, way: str, left: str) -> int:
    """Of one tenant."""
    WAYS[way](partial(leave_there, left))
    return os.getpid()


@job(dedup=False)
def find(*, way: str) -> list[Any]:
    """Of the next one: a row of its own is there afterwards."""
    settings: list[Any] = WAYS[way](partial(_look_and_write, current_job().id))
    return settings


@job(dedup=False, memory=300, retry=Retry.every(3600, max_retries=1))
def query(*, way: str, seconds: float = 3600, mib: int = 0) -> int:
    """Has the server busy from another thread; and may use memory meanwhile."""
    note_run()
    if mib:
        held.append(b"x" * (mib * 1024 * 1024))
    WAYS[way](partial(execute, f"SELECT pg_sleep({seconds})"))
    return os.getpid()


@job(dedup=False)
def who(*, way: str) -> tuple[str, str]:
    """Which tenant JOBS_AROUND has said, in the body and there."""
    around = partial(execute, "SELECT current_setting('app.around', true)")
    return around()[0], WAYS[way](around)[0]


@contextmanager
def around(running: CurrentJob) -> Iterator[None]:
    """As a project does that has row level security."""
    assert running.tenant is not None
    with transaction.atomic():
        execute(f"SELECT set_config('app.around', '{running.tenant.pk}', true)")
        yield
