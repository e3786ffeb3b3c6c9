"""Remove the contents of a tenant's ended jobs, wherever they are."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from jobs.models import ERASED
from jobs.store.rows import rows
from jobs.store.session import transaction

BATCH = 1000


class WithResult(NamedTuple):
    id: int
    attempt: int
    tenant_id: int
    start_time: datetime


@dataclass(frozen=True)
class Erased:
    jobs: int
    under_way: int
    failed_attempts: int
    results: int


def erase_jobs(tenant_id: int, forget: Callable[[WithResult], bool]) -> Iterator[Erased]:
    """Erase the ended jobs of the tenant, a batch at a time; those under way are only counted.

    forget: removes a result, and returns whether there was one. If it raises, its batch stays as it was; otherwise no
    row would name the result any more.
    """
    # In this order: ended jobs move only from the first table to the second.
    yield from _batches("erase_jobs", tenant_id, forget)
    yield from _batches("erase_history", tenant_id, forget)


def _batches(name: str, tenant_id: int, forget: Callable[[WithResult], bool]) -> Iterator[Erased]:
    after: int | None = 0
    while after is not None:
        with transaction():
            [(after, jobs, under_way, failed, kept)] = rows(
                name, after=after, tenant_id=tenant_id, batch=BATCH, erased=ERASED
            )
            forgotten = [
                forget(WithResult(job_id, attempt, tenant_id, datetime.fromisoformat(started)))
                for job_id, attempt, started in json.loads(kept)
            ]
        if after is not None:
            yield Erased(jobs, under_way, int(failed), sum(forgotten))
