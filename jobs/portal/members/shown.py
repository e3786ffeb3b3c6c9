"""What the members' pages show, as their templates read it."""

from collections.abc import Sequence
from typing import Any

from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from jobs.lifecycle import FINAL, Status
from jobs.models import HELD_UNTIL, AnyJob, Job, JobRow
from jobs.pages.answers import existing
from jobs.pages.attempts_chart import pieces
from jobs.pages.held import how_often_held
from jobs.portal import words
from jobs.portal.members import names
from jobs.portal.members.waits import waits
from jobs.reading import queries
from jobs.reading.explain.explanation import explain
from jobs.reading.explain.reads import MAX_COUNTED_PLACE
from jobs.reading.public_error import told
from jobs.reading.schedule_view import in_words, state_of
from jobs.reading.starts import last_of, starts
from jobs.store import results
from tenants.models import Tenant, TenantQueue

MOST_SCHEDULES = 20
MOMENTS = (
    ("Submitted", "created_at"),
    ("Due", "due_at"),
    ("Started", "start_time"),
    ("Asked to stop", "cancel_requested_at"),
    ("Ended", "end_time"),
)


def common(jobs: Sequence[JobRow], tenant: Tenant, request: HttpRequest) -> dict[str, Any]:
    """The names that both pages need."""
    return {
        "tenant": tenant,
        "now": timezone.now(),
        "me": str(request.user.pk),
        "names": names.sources(jobs, tenant.pk),
        "users": names.users(jobs, tenant.pk),
    }


def standing(jobs: Sequence[JobRow], tenant: Tenant) -> dict[str, Any]:
    """What a list says of the jobs in it that wait: for what, and until when."""
    return {"waits": waits(jobs, tenant.pk), "starts": starts(jobs)}


def slots(tenant: Tenant) -> dict[str, Any]:
    """The slots in use, the limits, and of each line when its end starts. Index: jobs_one_job_per_slot."""
    limits = TenantQueue.of(tenant)
    in_use = Job.objects.filter(tenant=tenant, slot__isnull=False).count()
    return {"in_use": in_use, "limits": limits, "ends": last_of(tenant.pk)}


def schedules(tenant: Tenant) -> list[tuple[Any, str, str]]:
    """(schedule, rule in words, state) of the next ones, one more than MOST_SCHEDULES if there are more."""
    found = queries.schedules(tenant.pk).order_by(F("next_at").asc(nulls_last=True), "pk").defer("args")
    return [(one, in_words(one), words.SCHEDULES[state_of(one)]) for one in found[: MOST_SCHEDULES + 1]]


def detail(job: AnyJob, tenant: Tenant) -> dict[str, Any]:
    """Everything about one job that its tenant may read."""
    why = existing(explain(job.pk, tenant_id=tenant.pk))  # it may have been deleted this moment
    failed = queries.failed_attempts(job)
    status = Status(job.status)
    kept_until = job.result_expires_at
    return {
        "job": job,
        "now": why.now,
        "reason": words.reason(why),
        "why": why,
        "far": why.place is not None and why.place > MAX_COUNTED_PLACE,
        "starts": (said := starts([job]).get(job.pk)),
        "held": how_often_held(said),
        "error": told(job.last_error) if status not in (Status.SUCCESS, Status.CANCELLED) else "",
        "pieces": pieces(job, failed, why.now),
        "failed": [(one, told(f"{one.error_class}: {one.error}")) for one in reversed(failed)],
        "moments": [
            (name, at) for name, column in MOMENTS if (at := getattr(job, column)) is not None and at != HELD_UNTIL
        ],
        "may_cancel": status not in FINAL,
        "may_run_again": status in FINAL - {Status.SUCCESS} and not job.barred and not job.is_erased,
        "has_result": (is_kept := kept_until is not None and kept_until > why.now),
        "is_table": is_kept and results.is_table(results.load(job)),
    }
