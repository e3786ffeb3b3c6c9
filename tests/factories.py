"""What a test needs, in one line. Jobs are made by the verbs, or in any status by `make_job`, out of thin air."""

import uuid
from typing import Any
from urllib.parse import quote

import factory
from django.contrib.auth import get_user_model
from django.db import connection, transaction
from django.utils import timezone

from jobs import store
from jobs.lifecycle import FINAL, HOLDING, WAITING, Status
from jobs.models import WITNESSES, AnyJob, Job, Queue
from jobs.sql import statement
from plumbing.error_shapes import key_of, shape
from plumbing.names import with_our_names
from tenants import auth
from tenants.models import Member, OperatorKey, Tenant, TenantQueue
from tests.sql import sql

NO_PID = 2**22 + 1  # no pid of Linux is so large


class TenantFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Tenant
        skip_postgeneration_save = True

    name = factory.Sequence(lambda n: f"Tenant {n}")
    slug = factory.Sequence(lambda n: f"tenant-{n}")
    queue = factory.RelatedFactory("tests.factories.TenantQueueFactory", factory_related_name="tenant")


class TenantQueueFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = TenantQueue

    num_slots = 2


class QueueFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Queue
        django_get_or_create = ["name"]

    name = "default"


class UserFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = get_user_model()

    username = factory.Sequence(lambda n: f"user{n}")


class MemberFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Member

    user = factory.SubFactory(UserFactory)
    tenant = factory.SubFactory(TenantFactory)


def operator_key(user: Any, name: str) -> tuple[OperatorKey, str]:
    """A key that acts as this user, with its token."""
    key = OperatorKey(user=user, name=name)
    token = auth.mint(key)
    key.save()
    return key, token


class ThingFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = "sample.Thing"

    tenant = factory.SubFactory(TenantFactory)


def make_job(tenant: Tenant, status: Status = Status.CREATED, **fields: Any) -> Job:
    """A job in that status, out of thin air: with the witness, times and holder that such a job has."""
    now = timezone.now()
    values: dict[str, Any] = {
        "tenant": tenant,
        "queue": QueueFactory(),
        "status": status,
        "source_type": "reports.datareport",
        "source_id": "1",
        "source_method": "execute",
    }
    witness = next(column for column, statuses in WITNESSES.items() if status in statuses)
    free_slot = Job.objects.filter(tenant=tenant).count() + 1
    values[witness] = free_slot if witness == "slot" else now
    if status in HOLDING | FINAL:
        values |= {"attempt": 1, "queued_at": now}
    if status in {Status.RUNNING, Status.SUCCESS, Status.ERROR}:
        values |= {"worker": uuid.uuid4(), "worker_pid": NO_PID, "start_time": now}
    if status in HOLDING:
        begun = fields.get("start_time", fields.get("queued_at", now))
        values["ticket"] = round((now if isinstance(begun, str) else begun).timestamp() * 1000)
    if status == Status.DEAD:
        values |= {"died_at": now, "error_key": key_of(shape(fields.get("last_error", "")))}
    job = Job.objects.create(**values | fields)
    if status in WAITING:
        tell_the_door(job)
    if job.slot is not None:
        store.recount_books()
    return job


def status(job_id: int) -> str:
    return AnyJob.objects.get(pk=job_id).status


def statuses() -> list[str]:
    return list(Job.objects.order_by("id").values_list("status", flat=True))


def held(**filters: Any) -> int:
    """How many of these jobs hold a slot."""
    return Job.objects.filter(slot__isnull=False, **filters).count()


def finish(claimed: store.Claimed | Job, worker: uuid.UUID) -> None:
    assert store.start(claimed.id, claimed.attempt, store.Seat.here(worker))
    assert store.succeed(claimed.id, claimed.attempt, {}, None)


def copies(job: Job, count: int) -> None:
    """So many jobs like it."""
    columns = ", ".join(field.column for field in Job._meta.concrete_fields if not field.primary_key)
    sql(
        f"INSERT INTO {Job._meta.db_table} ({columns})"
        f" SELECT {columns} FROM {Job._meta.db_table}, generate_series(1, %s) WHERE id = %s",
        [count, job.pk],
    )


def tell_the_door(job: Job) -> None:
    """What the verbs do when a job begins to wait: the next dispatch looks at its lane."""
    sql(with_our_names(ARRIVAL), [job.pk])


ARRIVAL = """
INSERT INTO arrivals (xid, queue_id, tenant_id, head, jobs)
SELECT
    pg_current_xact_id()::text::bigint, queue_id, tenant_id,
    CASE WHEN ready_at IS NOT NULL THEN job_place(priority, id) END, 1
FROM jobs WHERE id = %s
ON CONFLICT (xid, queue_id, tenant_id) DO UPDATE
SET head = least(arrivals.head, excluded.head), jobs = arrivals.jobs + 1
"""


def fold() -> None:
    """What a dispatch does first: take note of what has arrived."""
    with transaction.atomic():
        sql("SELECT set_config('jobs.door', 'waiting', true)")
        sql(statement("fold"), {"now": None, "default_timeout": 1.0, "overtime": 1.0, "borrow": False})


def database_url() -> str:
    """The URL of the test database, for a data source whose reports read no table of a customer."""
    connection.ensure_connection()
    info = connection.connection.info
    login = f"{quote(info.user)}:{quote(info.password)}" if info.password else quote(info.user)
    return f"postgresql://{login}@/{info.dbname}?host={quote(info.host, safe='')}&port={info.port}"
