"""A night in which everything goes wrong at once: for the script of the operator who is woken up."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from jobs import store
from jobs.lifecycle import Status
from jobs.models import FailedAttempt, JobMinute, Queue, Recorded, Sample, Worker
from jobs.reading.statistics import BUCKETS
from tenants.models import Tenant, TenantQueue
from tests.factories import QueueFactory, TenantFactory, copies, make_job

FAILING = {"source_type": "sample.thing", "source_method": "echo"}
WITHOUT_RETRIES = {"source_type": "sample.thing", "source_method": "refuse"}


@dataclass(frozen=True)
class Night:
    """The tenants, the failing job types, and a job that was taken back from the lost worker."""

    without_slots: Tenant
    of_paused_queue: Tenant
    of_full_queue: Tenant
    flooder: Tenant
    failing: str
    failing_without_retries: str
    taken_back: int


def build() -> Night:
    now = timezone.now()
    flooder, paused, without, other, full = (
        TenantFactory(name=name, slug=name.split()[0].lower())
        for name in ("Cormorant Shipping", "Elbe Foods", "Wren Robotics", "Tundra Air", "Harbor Lights")
    )
    TenantQueue.objects.filter(tenant=flooder).update(num_slots=12)
    TenantQueue.objects.filter(tenant=without).update(num_slots=0)
    worker = _worker("default@vm", 5, now)
    for number in range(5):
        make_job(flooder if number < 4 else other, Status.RUNNING, worker=worker, start_time=now)
    for _ in range(9):
        make_job(flooder)
    make_job(paused, queue=QueueFactory(name="nightly", paused=True))
    make_job(without)
    taken_back = _lost_worker((flooder, other), now)
    late = {"default": {"jobs": 8, "seconds": 130.0, "idle_looks": 0}}
    Recorded.objects.create(task="may run", upto=now, at=now, late=late)
    _wave((flooder, other), now)
    _backlog(full, now)
    failing, without_retries = (".".join(names.values()) for names in (FAILING, WITHOUT_RETRIES))
    return Night(without, paused, full, flooder, failing, without_retries, taken_back)


def _worker(name: str, processes: int, now: datetime, pool: str = "default") -> uuid.UUID:
    """One that beats rarely, and so is live for as long as the test takes."""
    worker = uuid.uuid4()
    store.beat(worker, name=name, pid=71, pool=pool, capacity=processes)
    Worker.objects.filter(pk=worker).update(started_at=now - timedelta(hours=1), beat_interval=3600.0)
    return worker


def _lost_worker(tenants: tuple[Tenant, ...], now: datetime) -> int:
    gone_at = now - timedelta(minutes=3)
    what = {"pid": 5, "pool": "default", "concurrency": 2, "started_at": now - timedelta(minutes=30), "lost": True}
    lost = Worker.objects.create(pk=uuid.uuid4(), name="second@hostb", beat_at=gone_at, gone_at=gone_at, **what)
    jobs = [make_job(tenant, Status.SCHEDULED) for tenant in tenants]
    for job in jobs:
        failed = {"attempt": 1, "error": "gone", "worker": lost.pk, "end_time": now}
        FailedAttempt.objects.create(job=job, error_class="WorkerGone", **failed)
    return jobs[0].pk


def _wave(tenants: tuple[Tenant, ...], now: datetime) -> None:
    """Every attempt of two job types fails since a deploy seven minutes ago; one of them has no retries."""
    minute = now.replace(second=0, microsecond=0)
    buckets = {"run_buckets": [0] * BUCKETS, "wait_buckets": [0] * BUCKETS, "run_seconds": 1, "wait_seconds": 1}
    for back in range(1, 8):
        at = minute - timedelta(minutes=back)
        for names, outcome, attempts in ((FAILING, "dead", 100), (WITHOUT_RETRIES, "error", 20)):
            ended = {"queue_id": QueueFactory().pk, "outcome": outcome, "attempts": attempts}
            JobMinute.objects.create(minute=at, **ended, **names, **buckets)
    copies(make_job(tenants[0], Status.ERROR, end_time=minute - timedelta(minutes=2), **WITHOUT_RETRIES), 139)
    for tenant in tenants:
        died = make_job(tenant, Status.DEAD, last_error="AttributeError: no attribute 'net_total'", **FAILING)
        copies(died, 149)


def _backlog(tenant: Tenant, now: datetime) -> None:
    """A queue that lets one job run at once has filled up, and gets shorter by ten jobs a minute."""
    mail: Queue = QueueFactory(name="mail", pool="mail", concurrency=1)
    make_job(tenant, Status.RUNNING, queue=mail, worker=_worker("mail@vm", 4, now, pool="mail"), start_time=now)
    for _ in range(90):
        make_job(tenant, queue=mail)
    minute = now.replace(second=0, microsecond=0)
    for back in range(30):
        queues = {mail.pk: {"in_use": 0, "waiting": 90 + 10 * back}}
        Sample.objects.create(at=minute - timedelta(minutes=back), tenants={}, queues=queues, pools={})
