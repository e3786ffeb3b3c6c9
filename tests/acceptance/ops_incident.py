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
from tests.factories import QueueFactory, TenantFactory, make_job

FAILING = {"source_type": "sample.thing", "source_method": "echo"}


@dataclass(frozen=True)
class Night:
    """The tenants, the failing job type, and a job that was taken back from the lost worker."""

    without_slots: Tenant
    of_paused_queue: Tenant
    flooder: Tenant
    failing: str
    taken_back: int


def build() -> Night:
    now = timezone.now()
    flooder, paused, without, other = (
        TenantFactory(name=name, slug=name.split()[0].lower())
        for name in ("Cormorant Shipping", "Elbe Foods", "Wren Robotics", "Tundra Air")
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
    _backlog(other, now)
    return Night(without, paused, flooder, ".".join(FAILING.values()), taken_back)


def _worker(name: str, processes: int, now: datetime) -> uuid.UUID:
    """One that beats rarely, and so is live for as long as the test takes."""
    worker = uuid.uuid4()
    store.beat(worker, name=name, pid=71, pool="default", capacity=processes)
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
    """Every attempt of a job type fails since a deploy seven minutes ago."""
    minute = now.replace(second=0, microsecond=0)
    buckets = {"run_buckets": [0] * BUCKETS, "wait_buckets": [0] * BUCKETS, "run_seconds": 1, "wait_seconds": 1}
    for back in range(1, 8):
        at = minute - timedelta(minutes=back)
        JobMinute.objects.create(
            minute=at, queue_id=QueueFactory().pk, outcome="dead", attempts=100, **FAILING, **buckets
        )
    for tenant in tenants:
        make_job(tenant, Status.DEAD, last_error="AttributeError: no attribute 'net_total'", **FAILING)


def _backlog(tenant: Tenant, now: datetime) -> None:
    """A queue that has filled up, and gets shorter by ten jobs a minute."""
    mail: Queue = QueueFactory(name="mail", pool="mail")
    for _ in range(90):
        make_job(tenant, queue=mail)
    minute = now.replace(second=0, microsecond=0)
    for back in range(30):
        queues = {mail.pk: {"in_use": 0, "waiting": 90 + 10 * back}}
        Sample.objects.create(at=minute - timedelta(minutes=back), tenants={}, queues=queues, pools={})
