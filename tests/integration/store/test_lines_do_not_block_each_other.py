"""Ten thousand jobs that may not go stand at the head of the line; whoever may go still gets every slot there is."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from psycopg.types.multirange import Multirange

from jobs import store
from jobs.calls.request import JobRequest
from jobs.engine.door.dispatch import dispatch
from jobs.engine.submitting.submit import submit_all
from jobs.lifecycle import Status
from jobs.models import Job, PausedJobType, Queue, QueueTurn, TenantBook
from tenants.models import Tenant
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, finish, make_job
from tests.plans import Dispatcher, Read
from tests.sql import sql

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]

SLOTS, FEW, MANY = 4, 100, 10_000
HOUR = 3600.0

FILL = """
WITH filled AS (
INSERT INTO jobs (tenant_id, queue_id, user_key, source_type, source_id, source_method, priority, args, status,
                  ready_at, attempt, crashes, retries, progress_note, stats, last_error)
SELECT %s, %s, %s, 'sample.thing', n::text, 'again', 0, '{}', 'created', now(), 0, 0, 0, '', '{}', ''
FROM generate_series(1, %s) n
RETURNING queue_id, tenant_id, job_place(priority, id) AS place)
INSERT INTO arrivals (xid, queue_id, tenant_id, head, jobs)
SELECT pg_current_xact_id()::text::bigint, queue_id, tenant_id, min(place), count(*) FROM filled GROUP BY 2, 3
"""


@dataclass
class Blocked:
    """Where jobs stand that may not go, and who may."""

    tenant: Tenant
    queue: Queue
    user_key: str = ""
    other: Tenant | None = None  # None: the same tenant's jobs in "default"
    free: int = SLOTS  # slots that are left for those
    close: Callable[[], object] = lambda: None  # what blocks them once they stand there

    def fill(self, count: int) -> None:
        sql(FILL, [self.tenant.pk, self.queue.pk, self.user_key, count])
        self.close()


def occupy(queue: Queue, count: int = 1, tenant: Tenant | None = None, **fields) -> None:
    """Jobs hold slots there; each is of a tenant of its own unless one is given."""
    for _ in range(count):
        make_job(tenant or TenantFactory(), Status.QUEUED, queue=queue, **fields)


def in_an_hour():
    return timezone.now() + timedelta(hours=1)


def spent() -> dict[str, Any]:
    """Of a queue's turn: no token is left, and nothing else has happened."""
    times = dict.fromkeys(["version", "virtual_time", "pool_time", "lane_time", "head", "circle_end"], 0)
    return {**times, "full_at": in_an_hour()}


def a_rate_limited_queue(tenant: Tenant) -> Blocked:
    queue = QueueFactory(name="blocked", rate_limit=1, rate_window=HOUR)
    QueueTurn.objects.create(queue_id=queue.pk, **spent())
    return Blocked(tenant, queue)


def a_full_queue(tenant: Tenant) -> Blocked:
    queue = QueueFactory(name="blocked", concurrency=1)
    occupy(queue)
    return Blocked(tenant, queue)


def a_paused_queue(tenant: Tenant) -> Blocked:
    return Blocked(tenant, QueueFactory(name="blocked", paused=True))


def a_full_pool(tenant: Tenant) -> Blocked:
    queue = QueueFactory(name="blocked", pool="small")
    occupy(queue, 1)  # its one process
    return Blocked(tenant, queue)


def a_pool_without_workers(tenant: Tenant) -> Blocked:
    return Blocked(tenant, QueueFactory(name="blocked", pool="nobody"))


def a_paused_job_type(tenant: Tenant) -> Blocked:
    """In the very queue of the others."""

    def close() -> None:
        """As engine.pause does it, without the dispatch that would follow."""
        PausedJobType.objects.get_or_create(source_type="sample.thing", source_method="again")
        store.hold("sample.thing", "again")

    return Blocked(tenant, QueueFactory(), close=close)


def a_full_user(tenant: Tenant) -> Blocked:
    """Of the same tenant, in the very queue of the others."""
    occupy(QueueFactory(), tenant=tenant, user_key="ada")
    return Blocked(tenant, QueueFactory(), user_key="ada", free=SLOTS - 1)


def a_full_tenant(tenant: Tenant) -> Blocked:
    occupy(QueueFactory(), SLOTS, tenant)
    return Blocked(tenant, QueueFactory(), other=TenantFactory(queue__num_slots=SLOTS))


def a_rate_limited_tenant(tenant: Tenant) -> Blocked:
    tenant.jobs_queue.rate_limit, tenant.jobs_queue.rate_window = 1, HOUR
    tenant.jobs_queue.save()
    TenantBook.objects.create(tenant_id=tenant.pk, version=0, in_use=0, slots=Multirange(), full_at=in_an_hour())
    return Blocked(tenant, QueueFactory(), other=TenantFactory(queue__num_slots=SLOTS))


def a_paused_tenant(tenant: Tenant) -> Blocked:
    tenant.jobs_queue.paused = True
    tenant.jobs_queue.save()
    return Blocked(tenant, QueueFactory(), other=TenantFactory(queue__num_slots=SLOTS))


LEVELS: list[Callable[[Tenant], Blocked]] = [
    a_rate_limited_queue,
    a_full_queue,
    a_paused_queue,
    a_full_pool,
    a_pool_without_workers,
    a_paused_job_type,
    a_full_user,
    a_full_tenant,
    a_rate_limited_tenant,
    a_paused_tenant,
]


@pytest.fixture(params=LEVELS, ids=lambda level: level.__name__)
def blocked(request, register) -> Blocked:
    register(concurrency=100)
    register(concurrency=1, pool="small")
    return request.param(TenantFactory(queue__num_slots=SLOTS, queue__user_slots=1))


def behind(blocked: Blocked) -> list[JobRequest]:
    """Jobs that may go, later in the line than all that may not, and less urgent."""
    return [request_for(blocked.other or blocked.tenant, n) for n in range(3 * SLOTS)]


def claim(door: Dispatcher) -> Read:
    """When this connection knows the catalogues, and after a vacuum: each held job left a dead entry in the index.

    The fold has forgotten the users of the tenant, whose limits are new; a dispatch would have them counted.
    """
    sql("VACUUM (INDEX_CLEANUP ON) jobs")
    door.fold()
    store.recount_books()
    door.fold()
    door.claim()
    return door.claim()


def test_a_tenant_that_may_go_gets_every_free_slot_again_and_again(blocked, register):
    worker = register()
    blocked.fill(MANY)
    standing = set(Job.objects.filter(tenant=blocked.tenant, source_method="again").values_list("id", flat=True))
    going = [submitted.id for submitted in submit_all(behind(blocked))]
    for round_ in range(3):
        running = Job.objects.filter(id__in=going, status="queued")
        assert [job.id for job in running.order_by("id")] == going[round_ * blocked.free : (round_ + 1) * blocked.free]
        for job in running:
            finish(job, worker)
        dispatch()
    assert not Job.objects.filter(id__in=standing, attempt__gt=0).exists()


def test_the_claim_reads_as_little_behind_ten_thousand_as_behind_a_hundred(blocked):
    blocked.fill(FEW)
    store.insert(behind(blocked))  # without the dispatch that would follow
    with Dispatcher() as door:
        few = claim(door)
        blocked.fill(MANY - FEW)
        many = claim(door)
    for read in (few, many):
        assert read.claimed == blocked.free
        assert read.indexes <= {"jobs_claim", "jobs_claim_by_user", "jobs_pkey"}
    assert many.buffers <= 2 * few.buffers
