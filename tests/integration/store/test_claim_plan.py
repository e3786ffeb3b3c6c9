"""I9: what a claim reads depends on the room to fill; on nothing else that grows, nor on what the planner believes.

`make test-15` runs these on PostgreSQL 15 too, which plans otherwise than the embedded one.
"""

import psycopg
import pytest
from django.db import connection
from django.db.models import F

from jobs import store
from jobs.models import Lane, Queue, Worker
from jobs.store.claiming import RULES
from tenants.models import Tenant, TenantQueue
from tests.factories import QueueFactory, finish
from tests.plans import Dispatcher, Read, fill
from tests.sql import sql
from tests.thorough import sized

pytestmark = [
    pytest.mark.long("a plan of the claim that grows with the jobs; `make test-15` runs it, too"),
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("exact_capacity"),
    pytest.mark.timeout(600),
]

FEW, MANY = 6_000, sized(200_000, thorough=1_000_000)
MANY_TENANTS, JOBS_MEANWHILE = sized(2_790, thorough=9_790), sized(600, thorough=1_500)
MOST_NODES = 140
INDEXES = {"jobs_claim", "jobs_claim_by_user", "jobs_pkey"}


def tenants(count: int, **limits: int) -> list[int]:
    """So many tenants with limits, which the next dispatch is told of by the database itself."""
    first = Tenant.objects.count()
    made = Tenant.objects.bulk_create([Tenant(name=f"t{n}", slug=f"t{n}") for n in range(first, first + count)])
    TenantQueue.objects.bulk_create([TenantQueue(tenant=tenant, **{"num_slots": 8} | limits) for tenant in made])
    return [tenant.pk for tenant in made]


GONE = """
INSERT INTO workers (id, name, pid, pool, concurrency, gone_at)
SELECT gen_random_uuid(), 'gone', 1, 'default', 1, now() FROM generate_series(1, %(count)s)
"""
OCCUPY = """
INSERT INTO jobs (tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, status, slot,
                  ticket, attempt, crashes, retries, queued_at, start_time, worker, progress_note, stats, last_error)
SELECT tenant_id, %(queue)s, 5, '', 'tests.thing', nth::text, 'run', '{}', 'running', nth, in_ms(now()),
       1, 0, 0, now(), now(), (SELECT id FROM workers ORDER BY concurrency DESC LIMIT 1), '', '{}', ''
FROM unnest(%(tenants)s::bigint[]) AS tenant (tenant_id) CROSS JOIN generate_series(1, %(each)s) AS nth
"""
TABLES = ("jobs", "lanes", "arrivals", "queue_turns", "tenant_books", "door")


def occupy(queue: int, tenants: list[int], each: int) -> None:
    """So many further jobs of each tenant run, of the worker with the most processes; as rows without a past."""
    sql(OCCUPY, {"queue": queue, "tenants": tenants, "each": each})
    store.recount_books()


@pytest.fixture
def queue() -> int:
    for table in TABLES:  # nobody is to analyse them but us
        sql(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    yield QueueFactory(name="default").pk
    for table in TABLES:
        sql(f"ALTER TABLE {table} RESET (autovacuum_enabled)")


@pytest.fixture
def one_place(register) -> None:
    register(concurrency=1)


def same(read: Read, reference: Read, times: float = 1.5) -> None:
    """The same work, and no more pages and rows than a deeper index explains."""
    assert read.claimed == reference.claimed
    assert read.indexes <= INDEXES
    assert read.buffers <= times * reference.buffers, (read, reference)
    assert read.rows <= times * reference.rows, (read, reference)


@pytest.mark.parametrize(("room", "many"), [(1, MANY), (20, MANY // 10)])
def test_a_claim_reads_the_same_for_any_waiting_or_ended_jobs_and_any_plan(register, queue, room, many):
    register(concurrency=room)
    owners = tenants(10)
    fill(queue, owners, FEW // 10)
    with Dispatcher() as planned_early:
        planned_early.fold()
        planned_early.claim()  # reads the catalogues into this connection's caches
        few = planned_early.claim()
        assert few.claimed == room
        sql("ANALYZE")
        fill(queue, owners, (many - FEW) // 10)
        planned_early.fold()
        planned_early.claim()  # again: what tests beside this one create and drop may have emptied the caches meanwhile
        same(planned_early.claim(), few)  # the plan of before
        with Dispatcher() as stale:
            stale.claim()
            same(stale.claim(), few)
        sql("ANALYZE")
        with Dispatcher() as fresh:
            fresh.claim()
            same(fresh.claim(), few)
        if room == 1:
            fill(queue, owners, MANY // 10, finished=True)
            planned_early.claim()
            same(planned_early.claim(), few)
            with Dispatcher() as later:
                later.claim()
                same(later.claim(), few)


def test_the_plan_has_no_more_nodes_than_a_dispatch_may_cost(one_place, queue):
    """Each node costs some microseconds to begin, in each claim, whatever there is to read."""
    with Dispatcher() as dispatcher:
        assert dispatcher.nodes_of_claim() <= MOST_NODES


def test_a_plan_that_was_never_told_of_statistics_is_no_worse(one_place, queue):
    owners = tenants(10)
    fill(queue, owners, 10_000)
    with Dispatcher() as never_analysed:
        never_analysed.fold()
        never_analysed.claim()
        before = never_analysed.claim()
    sql("ANALYZE")
    with Dispatcher() as fresh:
        fresh.claim()
        same(before, fresh.claim(), times=1.2)


def test_however_many_tenants_have_room(one_place, queue):
    fill(queue, tenants(10), 5)
    with Dispatcher() as door:
        door.fold()
        door.claim()
        ten = door.claim()
        full = tenants(200, num_slots=1)
        fill(queue, full, 5)
        occupy(queue, full, 1)
        Worker.objects.update(concurrency=201)
        fill(queue, tenants(MANY_TENANTS), 5)
        door.fold()
        door.claim()
        same(door.claim(), ten, times=2)


@pytest.mark.parametrize("wait", [0, 20])
@pytest.mark.parametrize("runs", [(1, 10, 100), (1, 1, 5_000), (1, 2_501, 2), (20, 501, 10)])
def test_a_claim_reads_the_same_for_any_running_jobs(register, queue, runs, wait):
    """Of one tenant or of many, while others wait or their own jobs; by old statistics and by fresh ones.

    No number of owners fills whole batches of the fold: after a full one it remembers nothing until it reads a row,
    and reads its dead rows again, which stay while another database of the server has an open transaction.
    """
    room, owners, each = runs
    register(concurrency=10 + room)
    few = tenants(10, num_slots=100)
    fill(queue, few, 100)
    occupy(queue, few, 1)
    with Dispatcher() as door:
        door.fold()
        door.claim()
        ten_run = door.claim()
        assert ten_run.claimed == room
        busy = tenants(owners, num_slots=each + wait + 1)
        fill(queue, busy, wait)
        occupy(queue, busy, each)
        door.fold()
        if wait:
            Lane.objects.filter(tenant_id__in=few).update(state="empty")
        Worker.objects.update(concurrency=10 + room + owners * each)
        catch_up(room)
        door.claim()
        same(door.claim(), ten_run, times=3)
        sql("ANALYZE")
        with Dispatcher() as fresh:
            fresh.claim()
            same(fresh.claim(), ten_run, times=3)


def catch_up(room: int) -> None:
    """Let a round of the circle end: the lanes' common time follows them, when so many jobs begin to run at once."""
    claimed = store.claim()
    while not claimed:
        claimed = store.claim()
    Worker.objects.update(concurrency=F("concurrency") + room)


QUEUES = (50, 500, 5_000)
USED_ONCE = """
WITH begun AS (
    INSERT INTO queue_turns (queue_id, version, state)
    SELECT id, nextval('door_seq'), 'empty' FROM unnest(%(queues)s::bigint[]) AS q (id)
    RETURNING queue_id
)
INSERT INTO lanes (tenant_id, queue_id, version, position, state, virtual_time, head, waiting, last_user)
SELECT tenant_id, queue_id, nextval('door_seq'), 0, 'empty', 0, 0, 0, ''
FROM begun CROSS JOIN unnest(%(tenants)s::bigint[]) AS t (tenant_id)
"""
A_LETTER = "INSERT INTO freed_slots (xid, tenant_id, job_id) VALUES (pg_current_xact_id()::text::bigint, %s, -1)"


@pytest.mark.parametrize("idle", [False, True], ids=["open", "idle"])
def test_however_many_queues_there_are(one_place, queue, idle):
    """Where work waits, it reads two rows of each; an idle one costs nothing. Also in the fold of a free slot."""
    owners = tenants(4)
    fill(queue, owners, 5)
    with Dispatcher() as door:
        door.fold()
        sql(A_LETTER, [owners[0]])
        door.claim()
        one, there = door.claim(), 1
        for many in QUEUES:
            made = Queue.objects.bulk_create([Queue(name=f"queue {n}") for n in range(there, many)])
            queues, there = [one.pk for one in made], many
            if idle:
                sql(USED_ONCE, {"queues": queues, "tenants": owners})
            else:
                fill(queues, owners, 1)
            door.fold()
            store.tidy_turns(idle=-1)
            sql("VACUUM queue_turns, lanes, tenant_books")
            sql(A_LETTER, [owners[0]])
            door.claim()
            read = door.claim()
            if idle:
                same(read, one)
            else:
                assert read.claimed == one.claimed
                assert read.rows <= 1.5 * one.rows + 2 * many
                # The turn is a page or two; the queue, by its key, up to three pages of the index and one of the table.
                assert read.buffers <= 2 * one.buffers + 7 * many


@pytest.mark.parametrize("tenant_count", [1, 200])
def test_however_many_processes_become_free_at_once(register, queue, tenant_count):
    register(concurrency=RULES["batch"])
    owners = tenants(tenant_count, num_slots=5_000)
    fill(queue, owners, 10_000 // tenant_count)
    with Dispatcher() as door:
        door.fold()
        door.claim()
        few = door.claim()
        for free in (100, 5_000):
            Worker.objects.update(concurrency=free)
            same(door.claim(), few)


def test_while_a_worker_drains_what_runs_is_read_once(register, queue):
    register(concurrency=1_011)
    owners = tenants(10, num_slots=200)
    fill(queue, owners, 200)
    occupy(queue, owners, 100)
    with Dispatcher() as door:
        door.fold()
        door.claim()
        before = door.claim()
        register(concurrency=0)
        drains = door.claim()
    assert drains.claimed == before.claimed
    assert drains.rows <= before.rows + 1_000 + 2


@pytest.mark.parametrize("user_slots", [None, 2])
def test_however_many_users_wait_in_a_lane(one_place, queue, user_slots):
    fill(queue, tenants(1, user_slots=user_slots), 100, users=True)
    with Dispatcher() as door:
        door.fold()
        door.claim()
        few = door.claim()
        Tenant.objects.all().delete()
        fill(queue, tenants(1, user_slots=user_slots), 100_000, users=True)
        door.fold()
        same(door.claim(), few, times=2)  # the index is a level deeper, at each of the users that are looked at


def test_however_many_slots_a_tenant_has_and_workers_are_gone(register, queue):
    register(concurrency=20)
    owners = tenants(5)
    fill(queue, owners, 50)
    with Dispatcher() as door:
        door.fold()
        door.claim()
        few = door.claim()
        TenantQueue.objects.update(num_slots=10_000)
        sql(GONE, {"count": 20_000})
        door.fold()
        same(door.claim(), few)


@pytest.mark.parametrize("running", [0, 1_000])
def test_while_somebody_holds_an_old_snapshot(register, queue, running):
    """Every job that came and went left dead rows that nobody may remove."""
    worker = register(concurrency=running + 1)
    owners = tenants(10, num_slots=200)
    fill(queue, owners, 1_000)
    occupy(queue, owners, running // 10)
    with Dispatcher() as door, psycopg.connect(**connection.get_connection_params()) as report:
        door.fold()
        door.claim()
        before = door.claim()
        report.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        report.execute("SELECT count(*) FROM jobs")
        for _ in range(JOBS_MEANWHILE):
            (job,) = store.claim()
            finish(job, worker)
        door.fold()
        same(door.claim(), before, times=3)
