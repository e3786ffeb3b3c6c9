"""A world for the pages with so many tenants, which have plain names: quiet, or with work of each kind."""

import uuid
from datetime import timedelta

from django.utils import timezone

from docs.pictures import yesterday
from jobs import store
from jobs.engine.submitting.batches import open_batch
from jobs.lifecycle import Status
from jobs.models import Batch, Job, JobEdge, PausedJobType, Queue, Schedule, WebhookEndpoint, Worker
from tenants.models import Change, Tenant, TenantQueue
from tests.factories import MemberFactory, QueueFactory, fold, make_job
from tests.plans import fill

NAMES = (
    *("Puget Provisions", "Meridian Airways", "Alder & Finch Capital", "Harbor Lights", "Northwind Traders"),
    *("Elbe Söhne", "Cormorant Shipping", "Tundra Logistics", "Wren Robotics", "Juniper Health"),
    *("Basalt Mining", "Kestrel Insurance", "Lumen Optics", "Saffron Foods", "Orchard Press"),
)
RICH = 15  # tenants with jobs in each status and a day of statistics; the others of a busy world only wait
ERROR = "TimeoutError: timed out after 300 s"
TYPES = ("reports.datareport.execute", "mail.letter.send", "billing.invoice.push")


def build(count: int, *, busy: bool) -> list[str]:
    """Make it; return the paths of the operators' pages, below /ops/."""
    queues = [QueueFactory(name=name) for name in ("default", "reports", "mail")]
    tenants = _tenants(count)
    if busy and tenants:
        fill([queue.pk for queue in queues[:2]], [tenant.pk for tenant in tenants], 2)
        fold()
        _work(tenants[:RICH], queues)
    paths = ["", "tenants/", "queues/", "jobs/", "jobs/new/", "dead/", "workers/", "schedules/", "health/"]
    paths += ["batches/", "runs/", "usage/", "webhooks/", "what-if/"]
    paths += [f"tenants/{tenant.slug}/" for tenant in tenants[:1]]
    one_of_each = Job.objects.order_by("status", "pk").distinct("status").values_list("pk", flat=True)
    return paths + [f"jobs/{pk}/" for pk in one_of_each]


def _tenants(count: int) -> list[Tenant]:
    named = (f"{NAMES[n % len(NAMES)]}{f' {n // len(NAMES)}' if n >= len(NAMES) else ''}" for n in range(count))
    made = Tenant.objects.bulk_create(Tenant(name=name, slug=f"tenant-{n}") for n, name in enumerate(named))
    TenantQueue.objects.bulk_create(TenantQueue(tenant=tenant, num_slots=1 + tenant.pk % 5) for tenant in made)
    for tenant in made[:1]:
        MemberFactory(tenant=tenant, user__username="mara")
    return made


def _work(tenants: list[Tenant], queues: list[Queue]) -> None:
    now, worker = timezone.now(), uuid.uuid4()
    store.beat(worker, name="default@host-1", pid=71, pool="default", capacity=2 * len(tenants))
    Worker.objects.filter(pk=worker).update(beat_interval=3600.0)  # it does not fall silent meanwhile
    yesterday.write(queues[1], {tenant: 1 + tenant.pk % 5 for tenant in tenants})
    for n, tenant in enumerate(tenants):
        kinds = {"queue": queues[n % 3], "source_type": TYPES[n % 3].rpartition(".")[0]}
        kinds["source_method"] = TYPES[n % 3].rpartition(".")[2]
        seat = {"worker": worker, "start_time": now, "progress": 0.4, "progress_note": "page 4"}
        running = make_job(tenant, Status.RUNNING, **seat, **kinds)
        make_job(tenant, Status.DEAD, attempt=3, last_error=ERROR, created_at=now - timedelta(minutes=9), **kinds)
        for status in (Status.SUCCESS, Status.ERROR, Status.CANCELLED, Status.SCHEDULED):
            error, end = ERROR if status is Status.ERROR else "", None if status is Status.SCHEDULED else now
            make_job(tenant, status, last_error=error, end_time=end, **kinds)
        Schedule.objects.create(
            tenant=tenant,
            name="Every morning",
            cron="0 6 * * *",
            next_due=now,
            next_at=now,
            source_type="mail.letter",
            source_method="send",
        )
        WebhookEndpoint.objects.create(tenant=tenant, url=f"https://hooks.example/{tenant.slug}")
        number = open_batch("Invoices of May", "mara", tenant.pk).id
        follower = make_job(tenant, Status.BLOCKED, batch_id=number, **kinds)
        JobEdge.objects.create(predecessor_id=running.pk, follower_id=follower.pk)
        Batch.objects.filter(pk=number).update(added=1)
    PausedJobType.objects.create(source_type="billing.invoice", source_method="push")
    Change.objects.create(
        who="olga",
        verb="changed",
        kind="tenants.tenantqueue",
        subject_id="1",
        subject="slots",
        tenant_id=tenants[0].pk,
        values={"num_slots": [2, 5]},
    )
