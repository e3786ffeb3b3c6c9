"""Count the jobs that hold a slot, by tenant, queue or worker, and those that wait, by tenant or queue."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce

from jobs.models import Job


def holding(by: str) -> Mapping[Any, int]:
    """Jobs that are queued or running, by the id of "tenant", "queue" or "worker". Index: jobs_one_job_per_slot."""
    return dict(Job.objects.filter(slot__isnull=False).values_list(by).annotate(n=Count("*")))


def waiting(by: str) -> Mapping[int, int]:
    """Ready jobs that wait, by the id of "tenant" or "queue". Index: all of jobs_claim."""
    return dict(Job.objects.filter(ready_at__isnull=False).values_list(by).annotate(n=Count("*")))


def columns(by: str, outer: str = "pk") -> dict[str, Coalesce]:
    """The same counts as columns `holding_now` and `waiting_now` of a list of tenants or queues."""
    own = Job.objects.filter(**{by: OuterRef(outer)}).order_by().values(by)
    of = {"holding_now": own.filter(slot__isnull=False), "waiting_now": own.filter(ready_at__isnull=False)}
    return {name: Coalesce(Subquery(which.annotate(n=Count("*")).values("n")), 0) for name, which in of.items()}
