"""Why the ready jobs of a page wait, and at which place in line: few statements, however many jobs."""

from collections.abc import Iterable
from dataclasses import dataclass

from jobs.allocation.gates import Gate
from jobs.lifecycle import Status
from jobs.models import JobRow
from jobs.portal import words
from jobs.reading.explain.explanation import explain
from jobs.reading.explain.reads import MAX_LISTED_PLACE, places

GROUPS = 5  # that are explained on one page: jobs of one queue and one user wait for the same


@dataclass(frozen=True)
class Wait:
    """place: in its line, from 1; None if it is beyond `MAX_LISTED_PLACE`. why: "" if it is not known."""

    place: int | None
    why: str

    @property
    def few(self) -> int:
        return MAX_LISTED_PLACE


def waits(jobs: Iterable[JobRow], tenant_id: int) -> dict[int, Wait]:
    """The waits of those of the tenant's jobs that are ready, by id."""
    ready = {job.pk: job for job in jobs if job.status == Status.CREATED}
    at = places(list(ready), tenant_id=tenant_id)
    reasons: dict[tuple[int, str], str] = {}  # of the first of each group
    found = {}
    for job_id, place in sorted(at.items(), key=lambda job: job[1]):
        group = ready[job_id].queue_id, ready[job_id].user_key
        if group not in reasons and len(reasons) < GROUPS:
            reasons[group] = _reason(job_id, tenant_id)
        why = reasons.get(group, "")
        why = words.BEHIND if why == words.FIRST and place > 1 else why
        found[job_id] = Wait(place if place <= MAX_LISTED_PLACE else None, why)
    return found


def _reason(job_id: int, tenant_id: int) -> str:
    why = explain(job_id, tenant_id=tenant_id)
    if why is None or why.status != Status.CREATED:  # it has just started
        return ""
    return words.FIRST if why.gate == Gate.NEXT else words.reason(why)
