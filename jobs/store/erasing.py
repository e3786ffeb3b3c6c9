"""Remove the contents of a tenant's ended jobs, wherever they are."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jobs.models import ERASED, KeptAnswer
from jobs.store.rows import rows

BATCH = 1000


@dataclass(frozen=True)
class Erased:
    """The outcome of one batch. with_result: jobs that had a result, as (id, attempt)."""

    jobs: int
    under_way: int
    failed_attempts: int
    with_result: list[tuple[int, int]]


def erase_jobs(tenant_id: int) -> Iterator[Erased]:
    """Erase the ended jobs of the tenant, a batch at a time; those under way are only counted."""
    # In this order: ended jobs move only from the first table to the second.
    parameters = {"tenant_id": tenant_id, "batch": BATCH, "erased": ERASED}
    yield from _batches(lambda after: rows("erase_jobs", after=after, **parameters))
    yield from _batches(lambda after: rows("erase_history", after=after, **parameters))


def _batches(erase: Callable[[int], list[tuple[Any, ...]]]) -> Iterator[Erased]:
    after: int | None = 0
    while after is not None:
        [(after, jobs, under_way, failed, with_result)] = erase(after)
        if after is not None:
            yield Erased(jobs, under_way, int(failed), [(job, attempt) for job, attempt in json.loads(with_result)])


def erase_users(tenant_id: int) -> None:
    """Remove the users from the log of the tenant's attempts."""
    rows("erase_users", tenant_id=tenant_id)


def forget_answers(tenant_id: int) -> int:
    """Delete the answers kept for the tenant's requests; return their number."""
    return KeptAnswer.objects.filter(tenant=tenant_id).delete()[0]
