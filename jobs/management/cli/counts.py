"""How many jobs hold a slot, and how many wait, by tenant or by queue."""

from collections.abc import Mapping

from django.db.models import Count

from jobs.models import Job


def holding(by: str) -> Mapping[int, int]:
    """Jobs that are queued or running, by the id of "tenant" or "queue". Index: jobs_one_job_per_slot."""
    return dict(Job.objects.filter(slot__isnull=False).values_list(by).annotate(n=Count("*")))


def waiting(by: str) -> Mapping[int, int]:
    """Jobs that are ready and wait, by the id of "tenant" or "queue". Index: jobs_claim, all of it."""
    return dict(Job.objects.filter(ready_at__isnull=False).values_list(by).annotate(n=Count("*")))
