"""A window of the past as the record has it: one tenant with one slot, whose jobs came together and ran in turn."""

from datetime import datetime, timedelta

from django.utils import timezone

from jobs.models import Attempt, LimitChange, PoolChange
from tenants.models import Tenant
from tests.factories import QueueFactory

RUNS = 10.0  # seconds
LENGTH = timedelta(minutes=5)


def begin_record(moment: datetime, processes: int = 4) -> None:
    """What there is now held at that moment, too."""
    LimitChange.objects.update(at=moment)
    PoolChange.objects.create(pool="default", at=moment, processes=processes, leaving=0)


def ran_in_turn(tenant: Tenant, jobs: int = 4, **facts) -> datetime:
    """The begin of the window."""
    since = timezone.now().replace(microsecond=0) - 2 * LENGTH
    for n in range(jobs):
        started = since + timedelta(seconds=RUNS * n)
        Attempt.objects.create(
            **{"job_id": n + 1, "tenant_id": tenant.pk, "queue_id": QueueFactory().pk, "attempt": 1, "priority": 5},
            **{"outcome": "success", "source_type": "a", "source_method": "b", "worker_pid": 7} | facts,
            **{"waited_since": since, "queued_at": started, "start_time": started},
            ended_at=started + timedelta(seconds=RUNS),
        )
    begin_record(since - 3 * LENGTH)
    return since
