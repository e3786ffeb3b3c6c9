"""Collect the values that the members' pages show, in the form that their templates read."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from jobs.allocation.gates import Gate
from jobs.lifecycle import Status
from jobs.models import AnyJob, Job, JobRow
from jobs.pages import job as job_page
from jobs.pages.answers import existing
from jobs.pages.cached import PAST_SECONDS, cached
from jobs.portal import words
from jobs.portal.members import names
from jobs.reading import queries, wait_targets
from jobs.reading.budgets import standings
from jobs.reading.explain.explanation import explain
from jobs.reading.explain.reads import MAX_LISTED_PLACE, places
from jobs.reading.predictor import last_of, starts
from jobs.reading.public_error import public_text
from jobs.reading.schedule_view import in_words, state_of
from jobs.reading.slots_in_queues import slots_in_queues
from jobs.reading.starts import Starts
from jobs.reading.wait_targets import WaitTarget
from jobs.store import results
from tenants.models import Tenant, TenantQueue

MOST_SCHEDULES = 20
GROUPS = 5  # groups that are explained on one page: jobs of one queue and one user wait for the same reason
MOMENTS = (
    ("Submitted", "created_at"),
    ("Due", "due_at"),
    ("Started", "start_time"),
    ("Asked to stop", "cancel_requested_at"),
    ("Ended", "end_time"),
)


def common(jobs: Sequence[JobRow], tenant: Tenant, request: HttpRequest) -> dict[str, Any]:
    """Return the values that all pages of jobs need."""
    return {
        "tenant": tenant,
        "now": timezone.now(),
        "me": str(request.user.pk),
        "few": MAX_LISTED_PLACE,
        "names": names.sources(jobs, tenant.pk),
        "users": names.users(jobs, tenant.pk),
    }


@dataclass(frozen=True)
class Wait:
    """The wait of a ready job.

    place: the place in its lane, from 1; None if it is beyond `MAX_LISTED_PLACE`.
    why: the reason in a sentence; "" if it is not known.
    """

    place: int | None
    why: str


def waits(jobs: Iterable[JobRow], tenant_id: int, told: Collection[int] = ()) -> dict[int, Wait]:
    """Return why the ready ones of these jobs wait, by id. Takes few statements.

    told: the ids of queues whose jobs need no reason.
    """
    ready = {job.pk: job for job in jobs if job.status == Status.CREATED}
    at = places(list(ready), tenant_id=tenant_id)
    reasons: dict[tuple[int, str], str] = {}  # of the first job of each group
    by_id = {}
    for job_id, place in sorted(at.items(), key=lambda job: job[1]):
        group = ready[job_id].queue_id, ready[job_id].user_key
        if group not in reasons and len(reasons) < GROUPS and group[0] not in told:
            reasons[group] = _reason(job_id, tenant_id)
        why = reasons.get(group, "")
        why = words.BEHIND if why == words.FIRST and place > 1 else why
        by_id[job_id] = Wait(place if place <= MAX_LISTED_PLACE else None, why)
    return by_id


def _reason(job_id: int, tenant_id: int) -> str:
    why = explain(job_id, tenant_id=tenant_id)
    if why is None or why.status != Status.CREATED:  # it has just started
        return ""
    return words.FIRST if why.gate == Gate.NEXT else words.reason(why)


def standing(
    jobs: Sequence[JobRow], tenant: Tenant, told: Collection[int] = ()
) -> list[tuple[JobRow, Wait | None, Starts | None]]:
    """Return each job of a list with its wait and the forecast of its start; both None if it does not wait.

    told: the ids of queues whose jobs need no reason.
    """
    why, until = waits(jobs, tenant.pk, told), starts(jobs)
    return [(job, why.get(job.pk), until.get(job.pk)) for job in jobs]


def listed(ids: Sequence[int], tenant: Tenant) -> list[JobRow]:
    """Return the jobs of the tenant with these ids, in this order."""
    rows = queries.all_jobs().filter(tenant=tenant.pk, pk__in=ids).defer("args", "stats") if ids else ()
    found = {job.pk: job for job in rows}
    return [found[pk] for pk in ids if pk in found and queries.is_whole(found[pk])]


def slots(tenant: Tenant) -> dict[str, Any]:
    """Return the slots in use, the limits, and for each lane when its last job starts; and wait targets.

    Index: jobs_one_job_per_slot.
    """
    limits = TenantQueue.of(tenant)
    in_use = Job.objects.filter(tenant=tenant, slot__isnull=False).count()
    in_queues = slots_in_queues(limits)
    ends, targets = last_of(tenant.pk), targets_kept(tenant.pk)
    budgets = standings([tenant.pk]) if limits.budgets else []
    found = {"in_use": in_use, "limits": limits, "in_queues": in_queues, "budgets": budgets}
    return found | {"ends": ends, "targets": targets}


@cached(PAST_SECONDS, before=())
def targets_kept(tenant_id: int) -> Sequence[WaitTarget]:
    """Return how often the wait targets of queues were kept for this tenant."""
    return wait_targets.of_tenant(tenant_id, timezone.now())


def schedules(tenant: Tenant) -> list[tuple[Any, str, str]]:
    """Return (schedule, rule in words, state) of the next schedules: MOST_SCHEDULES, and one more if there are more."""
    rows = queries.schedules(tenant.pk).order_by(F("next_at").asc(nulls_last=True), "pk").defer("args")
    return [
        (schedule, in_words(schedule), words.SCHEDULES[state_of(schedule)]) for schedule in rows[: MOST_SCHEDULES + 1]
    ]


def detail(request: HttpRequest, job: AnyJob, tenant: Tenant) -> dict[str, Any]:
    """Return everything about one job that its tenant may read."""
    why = existing(explain(job.pk, tenant_id=tenant.pk))  # the job may just have been deleted
    page = job_page.job_context(
        request,
        job,
        why,
        MOMENTS,
        error=lambda failure: public_text(f"{failure.error_class}: {failure.error}"),
        who=lambda change: change.who if change.actor_tenant_id == tenant.pk else "an operator",
    )
    is_kept = job.result_expires_at is not None and job.result_expires_at > why.now
    return page | {
        "reason": words.reason(why),
        "error": public_text(job.last_error) if job.status not in (Status.SUCCESS, Status.CANCELLED) else "",
        "may_revive": page["may_revive"] and not job.barred,
        "has_result": is_kept,
        "is_table": is_kept and results.is_table(results.load(job)),
    }
