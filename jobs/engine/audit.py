"""Note actions on jobs and schedules in the audit log, each with its tenant."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Model

from jobs.models import AnyJob, Job, Schedule
from tenants import audit


def note_jobs(verb: str, ids: Collection[int]) -> None:
    """Note an action of an operator on these jobs, which may be of several tenants."""
    of: dict[int, list[int]] = defaultdict(list)
    for job_id, tenant_id in AnyJob.objects.filter(pk__in=ids).order_by("pk").values_list("pk", "tenant_id"):
        of[tenant_id].append(job_id)
    for tenant_id, jobs in of.items():
        note_of(verb, jobs, tenant_id)


def note_of(verb: str, ids: Collection[int], tenant_id: int) -> None:
    """Note an action on these jobs of one tenant."""
    audit.note(verb, Job, [(pk, f"job {pk}") for pk in ids], tenant_id=tenant_id)


def note(user: User, rows: Sequence[Model], message: Any) -> None:
    """Record the operator: in the history of these rows, which the admin shows, and in the log of all changes."""
    from django.contrib.admin.models import CHANGE, LogEntry  # late: the commands do not need the admin

    if rows and isinstance(rows[0], Job):  # other rows are logged when they are saved
        note_jobs(message.lower().rstrip("."), [row.pk for row in rows])
    if rows:
        LogEntry.objects.log_actions(user.pk, rows, CHANGE, message)


def note_run(schedule: Schedule) -> None:
    """Note that somebody ran a schedule beside its plan."""
    of = [(schedule.pk, schedule.name)]
    audit.note("run by hand", Schedule, of, tenant_id=schedule.tenant_id)
