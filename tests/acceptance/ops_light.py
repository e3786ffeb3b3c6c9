"""A light pool for the operators' pages: hundreds of attempts in one worker, and a body that blocks the others."""

import uuid
from datetime import datetime, timedelta

from django.utils import timezone

from jobs import store
from jobs.lifecycle import Status
from jobs.models import BlockedLoop, FailedAttempt, Job, Pool, Worker
from tests.factories import QueueFactory, TenantFactory, make_job

ATTEMPTS = 300
TYPES = ("send", "sort", "t" * 90, *(f"remind{number}" for number in range(12)))


def build() -> list[str]:
    """Make it; return the paths of the pages of two of its jobs, below /ops/."""
    now = timezone.now()
    Pool.objects.create(name="mail", kind="light", seats=200)
    tenant, queue = TenantFactory(name="Merrow Mail", queue__num_slots=400), QueueFactory(name="letters", pool="mail")
    worker = uuid.uuid4()
    shape = {"name": "mail@host", "pid": 72, "pool": "mail", "capacity": 400, "seats": 200, "kind": "light"}
    store.beat(worker, **shape, database_wait=1.4)
    Worker.objects.filter(pk=worker).update(beat_interval=3600.0)
    first = _runs(tenant, queue, worker, now)
    place = f"/srv/{'p' * 200}/mail/letters.py:31 send"
    facts = {"worker": worker, "pid": 73, "pool": "mail", "seats": 143, "attempt": 1, "place": place}
    BlockedLoop.objects.create(job_id=first.pk, began_at=now, **facts)
    last, error = "NeighbourEnded: its process was ended because of another job in it", "its process was ended"
    ended = make_job(tenant, Status.SCHEDULED, queue=queue, attempt=1, due_at=now + timedelta(hours=1), last_error=last)
    FailedAttempt.objects.create(job=ended, attempt=1, error_class="NeighbourEnded", error=error, end_time=now)
    for seconds in (2.5, 3.0, 0.4):
        BlockedLoop.objects.create(job_id=ended.pk, seconds=seconds, **facts)
    return [f"jobs/{first.pk}/", f"jobs/{ended.pk}/"]


def _runs(tenant: object, queue: object, worker: uuid.UUID, now: datetime) -> Job:
    """Run them; return the first."""
    start = {"worker": worker, "worker_pid": 73, "queue": queue, "source_type": "mail.letter"}
    first = make_job(tenant, Status.RUNNING, start_time=now, source_method="send", **start)
    same = {"tenant": tenant, "status": "running", "attempt": 1, "ticket": first.ticket, "queued_at": now}
    Job.objects.bulk_create(
        Job(slot=n, source_id=str(n), start_time=now + timedelta(seconds=n), source_method=_type(n), **same, **start)
        for n in range(2, ATTEMPTS + 1)
    )
    store.recount_books()
    return first


def _type(number: int) -> str:
    return "send" if number % 3 else TYPES[number // 3 % len(TYPES)]
