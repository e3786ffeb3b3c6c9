"""A world for the operators' pages: the longest and strangest names, jobs in every status, statistics."""

import uuid
from datetime import datetime, timedelta

from django.utils import timezone

from jobs import store
from jobs.engine.submitting.batches import open_batch
from jobs.lifecycle import Status
from jobs.models import (
    Batch,
    BatchTally,
    FailedAttempt,
    Forecast,
    Job,
    JobEdge,
    JobMinute,
    PausedJobType,
    Queue,
    Sample,
    Schedule,
    ScheduleRun,
    TenantHour,
    TenantShare,
    WebhookEndpoint,
    WebhookHour,
    WebhookMessage,
    WhatIf,
)
from jobs.reading.statistics import BUCKETS
from tenants.models import Change, Tenant, TenantQueue
from tests.acceptance import ops_light
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.sql import sql

RIGHT_TO_LEFT = "שלום עולם " * 10
MARKUP = '<img src=x onerror=alert(1)>"&quot;'
CALL = {"source_type": "reports.datareport", "source_method": "execute"}


def build() -> list[str]:
    """Make it; return the paths of the pages, below /ops/."""
    now = timezone.now()
    plain = TenantFactory(name="Alder & Finch Capital", slug="alder")
    long = TenantFactory(name="T" * 200, slug="t" * 50)
    strange = TenantFactory(name=RIGHT_TO_LEFT + MARKUP, slug="strange")
    TenantQueue.objects.filter(tenant=plain).update(num_slots=3)
    TenantQueue.objects.filter(tenant=strange).update(paused=True)
    queue = QueueFactory(name="reports", pool="heavy")
    _under_way(plain, long, queue, now)
    waiting = make_job(strange, Status.CREATED, args={"password": "hunter2", "name": MARKUP, "year": 2004})
    dead = _dead(strange, now)
    PausedJobType.objects.create(source_type="p" * 200, source_method="m" * 100)
    _schedules(plain, long, dead, now)
    _statistics(plain, queue, now)
    _forecasts(plain, queue, now)
    sql("INSERT INTO repairs (kind, count, last_at) VALUES ('message_sent_again', 2, now())")
    tenants = ("tenants/", "tenants/?state=all", "tenants/alder/", f"tenants/{'t' * 50}/")
    jobs = ("jobs/", "jobs/?q=nonsense", "jobs/?q=tenant:alder", f"jobs/{waiting.pk}/", f"jobs/{dead.pk}/")
    runs = ("runs/", f"runs/{_run(strange, dead)}/", "jobs/new/", f"jobs/new/?like={waiting.pk}")
    batches = ("batches/", *(f"batches/{_batch(tenant)}/" for tenant in (plain, long)))
    _webhooks(plain, long, now)
    bills = ("usage/", "usage/?by=tenant,queue,type,outcome", "webhooks/")
    further = ("queues/", "dead/", "dead/?error=none", "workers/", "schedules/", "health/")
    types = ("types/reports.datareport.execute/", f"types/{'p' * 200}.{'m' * 100}/?range=1h")
    forms = ("new-queue/", "new-tenant/", "schedules/new/", "tenants/alder/new-key/", "find/?q=a", "runbooks/deaths/")
    light = ops_light.build()
    return ["", *tenants, *jobs, *forms, *light, *further, *runs, *batches, *bills, *types, _what_if(long)]


def _what_if(tenant: Tenant) -> str:
    """An answer; its page has the form, too."""
    waits = {"mean": 61.0, "p50": 60.0, "p95": 7200.0}
    shorter, same = ({"mean": mean, "p50": 1.0, "p95": None} for mean in (1.0, 60.9))
    lines = [
        {"tenant": slug, "queue": "q" * 50, "attempts": 1_234_567, "slot_seconds": 9_876_543.2}
        | {
            "recorded": waits,
            "replayed": waits,
            "changed": changed,
            "never": never,
            "noticeable": changed is not same,
        }
        | {"name": slug and "T" * 200, "difference": "4,000 jobs would not start" if never else "98 % less"}
        for slug, changed, never in (
            (tenant.slug, shorter, 0),
            ("alder", same, 0),
            (None, shorter | {"mean": None}, 4000),
        )
    ]
    answer = {
        "told": f"{'T' * 200} in queue {'q' * 50} would wait 1.0 s instead of 1.0 min on average (98 % less).",
        "accuracy": "Accuracy: replaying the real limits misses the mean wait by 12 %, the p95 by 9 %.",
        "lines": lines,
        "unknown": [{"code": "left", "told": "Jobs of it that left the line: 9."}],
    }
    changes = {"tenants": {tenant.slug: {"num_slots": 4, "rate_limit": None}}}
    question = {"since": "2030-01-31T14:00:00+00:00", "until": "2030-01-31T15:00:00+00:00", "changes": changes}
    stored = WhatIf.objects.create(asked_by="ines", question=question, answer=answer, ended_at=timezone.now())
    return f"what-if/{stored.pk}/"


def _run(tenant: Tenant, job: Job) -> uuid.UUID:
    bulk = uuid.uuid4()
    subject = {"kind": "jobs.job", "subject_id": str(job.pk), "subject": f"job {job.pk}", "tenant_id": tenant.pk}
    change = Change.objects.create(who="w" * 200, verb="revived", bulk=bulk, values={"filter": MARKUP * 20}, **subject)
    change.subjects.create(subject_id=job.pk)
    return bulk


def _batch(tenant: Tenant) -> int:
    """One that is open, with failures, and with a job that waits for it."""
    number = open_batch("b" * 200, "u" * 100, tenant.pk).id
    for status in (Status.DEAD, Status.ERROR, Status.RUNNING, Status.CREATED, Status.SUCCESS):
        make_job(tenant, status, batch_id=number, last_error=f"ValueError: {MARKUP} {'e' * 300}")
    Batch.objects.filter(pk=number).update(added=5)
    BatchTally.objects.filter(pk=number).update(success=1, error=1, dead=1)
    JobEdge.objects.create(predecessor_id=number, follower_id=make_job(tenant, Status.BLOCKED).pk)
    return number


def _webhooks(plain: Tenant, long: Tenant, now: datetime) -> None:
    url, types = f"https://{'h' * 60}.example/{'p' * 400}", [f"{'t' * 200}.{'m' * 100}"] * 3
    for tenant in (plain, long):
        fails = WebhookEndpoint.objects.create(tenant=tenant, url=url, types=types, failing_since=now, next_at=now)
        WebhookEndpoint.objects.filter(pk=fails.pk).update(last_error="x" * 300)
        WebhookMessage.objects.create(endpoint_id=fails.pk, event=1, ended_at=now, data={"id": 1, "status": "dead"})
        WebhookHour.objects.create(endpoint_id=fails.pk, hour=now, delivered=10**6, failed=10**6, dropped=10**6)
        WebhookEndpoint.objects.create(tenant=tenant, url="https://example.com/", off_at=now)


def _under_way(plain: Tenant, long: Tenant, queue: Queue, now: datetime) -> None:
    worker = uuid.uuid4()
    store.beat(worker, name="w" * 150, pid=71, pool="default", capacity=2)
    names = {"user_key": "u" * 100, "source_id": "1" * 100, "source_method": "m" * 100, "queue": _wide()}
    make_job(long, Status.RUNNING, worker=worker, progress=0.4, progress_note="n" * 200, **names)
    make_job(plain, Status.QUEUED)
    for _ in range(2):
        make_job(plain, Status.RUNNING, worker=worker, start_time=now)
    for number in range(30):
        make_job(plain, Status.CREATED, queue=queue if number % 3 else QueueFactory(), user_key="ines")
    for status in (Status.SUCCESS, Status.ERROR, Status.CANCELLED, Status.SCHEDULED):
        make_job(plain, status, last_error="ValueError: no" if status == Status.ERROR else "")
    for _ in range(3):
        make_job(long, Status.DEAD, last_error="ConnectionError: refused", **names)


def _wide() -> Queue:
    queue: Queue = QueueFactory(name="q" * 50)
    return queue


def _dead(tenant: Tenant, now: datetime) -> Job:
    error = f"TimeoutError: {MARKUP}\n{'x' * 400}"
    job = make_job(tenant, Status.DEAD, attempt=3, last_error=error, created_at=now - timedelta(minutes=4))
    for attempt in (1, 2, 3):
        queued = now - timedelta(minutes=4 - attempt)
        FailedAttempt.objects.create(
            job=job,
            attempt=attempt,
            error_class="TimeoutError",
            error="y" * 300,
            traceback="z " * 900,
            queued_at=queued,
            start_time=queued + timedelta(seconds=9),
            end_time=queued + timedelta(seconds=40),
        )
    return job


def _schedules(plain: Tenant, long: Tenant, job: Job, now: datetime) -> None:
    minutely = Schedule.objects.create(tenant=plain, name="Every minute", every=60, next_due=now, next_at=now, **CALL)
    cron = "*/5 9-17 1,15 1-6 MON-FRI"
    Schedule.objects.create(tenant=long, name="c" * 300, cron=cron, paused=True, paused_because="b" * 300, **CALL)
    for minute in range(5):
        came = {"job_id": job.pk} if minute % 2 else {"note": "missed"}
        ScheduleRun.objects.create(schedule=minutely, due=now - timedelta(minutes=minute), **came)


def _statistics(tenant: Tenant, queue: Queue, now: datetime) -> None:
    """More and more attempts, with failures in between."""
    minute, hour = now.replace(second=0, microsecond=0), now.replace(minute=0, second=0, microsecond=0)
    minutes, hours = [], []
    Queue.objects.filter(pk=queue.pk).update(wait_target=86_400.5)
    for step in range(1, 60):
        for outcome, attempts in (("success", 20 + step), ("error", step % 7), ("retry", step % 5)):
            buckets = [0] * BUCKETS
            buckets[step % 12 + 8] = attempts
            seconds = {
                "run_seconds": 1.5 * attempts,
                "wait_seconds": 1.0 * attempts,
                "process_wait_seconds": 0.2 * attempts,
            } | {"targeted": attempts, "in_time": attempts * 9 // 10}
            histograms = {"run_buckets": buckets, "wait_buckets": buckets}
            tally = {**CALL, **seconds, **histograms, "outcome": outcome, "attempts": attempts, "queue_id": queue.pk}
            minutes.append(JobMinute(minute=minute - timedelta(minutes=step), **tally))
            hours.append(TenantHour(tenant_id=tenant.pk, hour=hour - timedelta(hours=step), **tally))
            minutes.append(JobMinute(minute=minute - timedelta(minutes=1440 + step), **tally))
    JobMinute.objects.bulk_create(minutes)
    TenantHour.objects.bulk_create(hours[: 3 * 20])
    for back, words in ((29, "release 4.2"), (9, MARKUP * 2)):
        at = minute - timedelta(minutes=back)
        Change.objects.create(at=at, who="ines", verb="marked", kind="tenants.change", subject_id="", subject=words)
    TenantShare.objects.create(tenant_id=tenant.pk, got=90, entitled=100, got_hour=2000, entitled_hour=3000)
    Sample.objects.bulk_create(_sample(tenant, queue, minute, step) for step in range(1440))


def _forecasts(tenant: Tenant, queue: Queue, now: datetime) -> None:
    """Of one queue a moment tomorrow; of the other no more than an early one."""
    end = 11 << 58  # behind all in line
    for predicted, forecast in (
        (queue, [90_000.0, 95_000.0, 0.0, None]),
        (QueueFactory(), [None, None, 900.0, "unsure"]),
    ):
        Forecast.objects.create(
            tenant_id=tenant.pk, queue_id=predicted.pk, user_key="", made_at=now, places=[[end, *forecast]]
        )


def _sample(tenant: Tenant, queue: Queue, minute: datetime, step: int) -> Sample:
    """Two quiet hours, one in which all slots were in use, and so on."""
    held = (0, 1, 3)[step // 17 % 3]
    return Sample(
        at=minute - timedelta(minutes=step),
        tenants={tenant.pk: {"in_use": held, "slots": 3, "waiting": step % 30}},
        queues={queue.pk: {"in_use": held, "waiting": step % 30}},
        pools={"default": {"in_use": held, "processes": 4}},
        fairness=0.987,
    )
