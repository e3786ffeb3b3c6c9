"""Count the jobs that hold a slot, and those that wait, by tenant or by queue."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from jobs.models import Job, Worker


def holding(by: str) -> Mapping[int, int]:
    """Jobs that are queued or running, by the id of "tenant" or "queue". Index: jobs_one_job_per_slot."""
    return dict(Job.objects.filter(slot__isnull=False).values_list(by).annotate(n=Count("*")))


def waiting(by: str) -> Mapping[int, int]:
    """Ready jobs that wait, by the id of "tenant" or "queue". Index: all of jobs_claim."""
    return dict(Job.objects.filter(ready_at__isnull=False).values_list(by).annotate(n=Count("*")))


def columns(by: str, outer: str = "pk") -> dict[str, Coalesce]:
    """The same counts as columns `holding_now` and `waiting_now` of a list of tenants or queues."""
    own = Job.objects.filter(**{by: OuterRef(outer)}).order_by().values(by)
    of = {"holding_now": own.filter(slot__isnull=False), "waiting_now": own.filter(ready_at__isnull=False)}
    return {name: Coalesce(Subquery(which.annotate(n=Count("*")).values("n")), 0) for name, which in of.items()}


MOST = 10_000  # jobs counted for the overview: "10,000 or more" is precise enough there


def at_a_glance(now: datetime) -> dict[str, int]:
    """Count waiting, running and scheduled jobs, and deaths of the last day; each from its own partial index."""
    of = {
        "waiting": Q(ready_at__isnull=False),
        "running": Q(slot__isnull=False),
        "scheduled": Q(due_at__isnull=False),
        "dead": Q(died_at__gt=now - timedelta(days=1)),
    }
    counted = {name: Job.objects.filter(which)[:MOST].count() for name, which in of.items()}
    return counted | {"workers": Worker.objects.filter(gone_at__isnull=True).count()}
