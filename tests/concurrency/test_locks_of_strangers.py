"""Nobody waits for a stranger's lock: while somebody's transaction stays open on what is one tenant's, everybody else's
new job, due job and retry go through."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection, transaction

from jobs import store, submit_many
from jobs.calls.refusals import InvalidRequest
from jobs.engine.attempt.memory import Remembering, StoredMemory
from jobs.engine.door.dispatch import dispatch
from jobs.engine.door.promote import promote
from jobs.engine.schedules import change
from jobs.engine.schedules.run import run_due
from jobs.engine.submitting.batches import open_batch
from jobs.engine.submitting.submit import submit, submit_all
from jobs.engine.upkeep.prune import forget_orphans, prune
from jobs.models import BatchTally, FailedAttempt, Job, JobMemory, Queue, Schedule, WebhookEndpoint
from jobs.store import Failure, answers
from jobs.worker.clock import clock, duties
from jobs.worker.clock.clock import Clock
from tenants.models import Tenant
from tests.attempts import run
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, ThingFactory, finish, make_job
from tests.sample.models import Thing
from tests.sql import sql
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]

SOON = 20.0  # seconds in which what is a bystander's must have gone through; the locks are held for ever
LOCKED_JOBS = 150


@contextmanager
def open_transaction(*statements: str, **parameters: object) -> Iterator[psycopg.Connection]:
    """Another session that has done this, and does not end."""
    with psycopg.connect(**connection.get_connection_params()) as other:
        for statement in statements:
            other.execute(statement, parameters)
        yield other
        other.rollback()


LOCKS: dict[str, tuple[str, ...]] = {
    "its row is locked": ("SELECT FROM tenants_tenant WHERE id = %(tenant)s FOR UPDATE",),
    "it is being deleted": (
        "DELETE FROM jobs WHERE tenant_id = %(tenant)s",
        "DELETE FROM tenant_queues WHERE tenant_id = %(tenant)s",
        "DELETE FROM tenants_tenant WHERE id = %(tenant)s",
    ),
    "its limits are being changed": (
        "UPDATE tenant_queues SET num_slots = num_slots + 1 WHERE tenant_id = %(tenant)s",
    ),
    "its waiting jobs are locked": ("SELECT FROM jobs WHERE tenant_id = %(tenant)s AND slot IS NULL FOR UPDATE",),
    "its running jobs are locked": (
        "UPDATE jobs SET progress = 0.5 WHERE tenant_id = %(tenant)s AND slot IS NOT NULL",
    ),
    "jobs are being submitted": (
        "INSERT INTO jobs SELECT (j).* FROM (SELECT jsonb_populate_record(j, jsonb_build_object('id', "
        "nextval(pg_get_serial_sequence('jobs', 'id')))) AS j FROM jobs j "
        "WHERE tenant_id = %(tenant)s AND slot IS NULL) j",
    ),
    "a queue is being changed": ("UPDATE queues SET weight = 2",),
}


@pytest.fixture
def within(elsewhere) -> Callable[[Callable[[], object]], object]:
    """Do it in a thread of its own, in time."""
    return lambda function: elsewhere(function).result(timeout=SOON)


@pytest.mark.parametrize("served_before", [False, True], ids=["new", "served before"])
@pytest.mark.parametrize("lock", LOCKS.values(), ids=LOCKS.keys())
def test_a_bystanders_jobs_go_through(lock, served_before, register, sent, within):
    worker = register(concurrency=100)
    other, bystander = TenantFactory(queue__num_slots=50), TenantFactory(queue__num_slots=2)
    if served_before:
        store.insert([request_for(other, n) for n in range(4)])
        dispatch()
        for message in sent[:2]:
            finish(message, worker)
    store.insert([request_for(other, n) for n in range(LOCKED_JOBS)])
    with open_transaction(*lock, tenant=other.pk):
        new = within(lambda: submit(request_for(bystander, "new")).id)
        assert Job.objects.get(pk=new).status == "queued"

        finish(next(message for message in sent if message.id == new), worker)
        due = within(lambda: store.insert([request_for(bystander, "due", delay=0.01)])[0].id)
        wait_until(
            lambda: Job.objects.filter(pk=due, status="queued").exists() or within(promote) is None, "it is due", 20
        )

        assert store.start(due, 1, store.Seat.here(worker))
        assert store.retry(due, 1, Failure("ValueError", "no"), delay=0.01)
        wait_until(
            lambda: Job.objects.filter(pk=due, attempt=2).exists() or within(promote) is None, "it is tried again", 20
        )


def test_what_was_locked_goes_when_it_is_not_any_more(register):
    register(concurrency=4)
    tenant = TenantFactory(queue__num_slots=50)
    store.insert([request_for(tenant, n) for n in range(20)])
    with open_transaction(*LOCKS["its waiting jobs are locked"], tenant=tenant.pk):
        assert dispatch(in_line=False) == 0
    assert dispatch(in_line=False) == 4


def test_the_lanes_of_many_tenants_whose_jobs_are_all_locked_do_not_hide_the_one_behind_them(register):
    """More of them than a dispatch makes passes; the next one goes on where it ended."""
    register(concurrency=1)
    tenants = [TenantFactory() for _ in range(30)]
    last_of_all = TenantFactory()
    for tenant in tenants:
        store.insert([request_for(tenant, n) for n in range(20)])
    last = store.insert([request_for(last_of_all)])[0].id
    locked = "SELECT FROM jobs WHERE id <> %(last)s FOR UPDATE"
    with open_transaction(locked, last=last):
        assert dispatch(in_line=False) == 1
    assert Job.objects.get(pk=last).status == "queued"


def test_a_due_job_that_somebody_has_locked_does_not_make_the_clock_spin(monkeypatch, elsewhere):
    """It looks again ten times a second, not hundreds of times."""
    monkeypatch.setattr(duties.notify, "notify_in_background", lambda: None)
    tenant = TenantFactory()
    late = store.insert([request_for(tenant, delay=0.01)])[0].id
    pauses: list[float] = []
    stop, enough = threading.Event(), threading.Event()

    def note(self: Clock, seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) >= 5:
            enough.set()
            stop.set()
        stop.wait(0.02)

    monkeypatch.setattr(Clock, "_sleep", note)
    wait_until(lambda: store.next_moment() < 0, "it is due")
    with open_transaction("SELECT FROM jobs WHERE id = %(id)s FOR UPDATE", id=late):
        running = elsewhere(Clock(stop).run)
        assert enough.wait(20)
        running.result(timeout=20)
    assert min(pauses) >= clock.SHORTEST_SLEEP


def test_a_tenant_that_was_deleted_leaves_nobody_behind_it_waiting(register):
    register(concurrency=1)
    gone, other = TenantFactory(), TenantFactory()
    for n, tenant in enumerate((gone, other)):
        store.insert([request_for(tenant, n)])
    Tenant.objects.get(pk=gone.pk).delete()
    assert dispatch() == 1
    assert Job.objects.get(tenant=other).status == "queued"


def test_a_queue_row_that_is_locked_holds_up_nobody_who_waits_in_another(register):
    register(concurrency=2)
    QueueFactory(name="emails")
    tenant = TenantFactory()
    store.insert([request_for(tenant)])
    with open_transaction("SELECT FROM queues WHERE name = 'emails' FOR UPDATE"):
        assert dispatch() == 1


LOCKED_ROWS = {
    "tenants": "SELECT FROM tenants_tenant FOR UPDATE",
    "their limits": "SELECT FROM tenant_queues FOR UPDATE",
    "queues": "SELECT FROM queues FOR UPDATE",
}


@pytest.mark.parametrize("lock", LOCKED_ROWS.values(), ids=LOCKED_ROWS.keys())
def test_a_body_that_locks_rows_of_tenants_and_queues_holds_up_no_statement_not_even_its_own_tenants(
    lock, register, sent, within
):
    """Such as `Tenant.objects.select_for_update()`: whatever the engine's statements do, they wait for none of them."""
    worker = register(concurrency=100)
    QueueFactory(name="emails")
    thing = ThingFactory(tenant__queue__num_slots=50)
    tenant = thing.tenant
    running = store.insert([request_for(tenant, n) for n in range(3)])
    dispatch()
    for one in running:
        assert store.start(one.id, 1, store.Seat.here(worker))
    call = {"source_type": "sample.thing", "source_method": "echo", "source_id": str(thing.pk)}
    change.add(tenant, name="often", every=3600.0, **call)
    Schedule.objects.update(next_at="2026-01-01T00:00Z")
    with open_transaction(lock):
        new = within(lambda: submit(request_for(tenant, "new")).id)
        assert [job.id for job in sent if job.id == new], "it is claimed"
        assert within(lambda: store.start(new, 1, store.Seat.here(worker)))
        many = [request_for(tenant, ("many", n), queue="emails") for n in range(9)]
        assert len(within(lambda: submit_all(many))) == 9
        assert within(run_due) == 1
        within(lambda: change.add(tenant, name="another", every=3600.0, **call))
        assert within(lambda: store.retry(running[0].id, 1, Failure("ValueError", "no"), delay=1.0, queue="emails"))
        within(lambda: StoredMemory(Remembering(running[1].id, 1, store.Seat.here(worker))).merge(cursor=7))
        assert within(lambda: answers.reserve(tenant.pk, "key", "digest"))
        assert within(lambda: store.succeed(running[1].id, 1, {}, None))
        assert within(lambda: store.snooze(running[2].id, 1, {}, delay=1.0))


class TestAnOpenTransactionWithManyCalls:
    """Of one tenant, and the newest call wins: nobody else waits for it, neither a caller nor a body."""

    MANY, SOME = 1_000, 60  # calls; nearly all of the tenant's locks are taken

    @pytest.fixture
    def busy(self, register, elsewhere) -> Iterator[Thing]:
        register(concurrency=100)
        thing = ThingFactory(tenant__queue__num_slots=50)
        called, over = threading.Event(), threading.Event()

        @transaction.atomic
        def calls() -> None:
            submit_many(thing.async_(identical="replace").echo.request(n) for n in range(self.MANY))
            called.set()
            over.wait()

        calling = elsewhere(calls)
        assert called.wait(SOON)
        yield thing
        over.set()
        calling.result(SOON)
        assert Job.objects.filter(tenant=thing.tenant).count() == self.MANY

    def test_a_caller_goes_through(self, busy, within):
        other = ThingFactory()
        within(lambda: [other.async_(identical="replace").echo(n) for n in range(self.SOME)])
        assert Job.objects.filter(tenant=other.tenant).count() == self.SOME

    def test_a_body_goes_through(self, busy, within, sent):
        other = ThingFactory(tenant__queue__num_slots=1)
        running = other.async_.remind(self.SOME)
        assert within(lambda: run(sent, running)).status == "success"
        assert Job.objects.filter(tenant=other.tenant).count() == 1 + self.SOME


class TestATenantThatIsDeleted:
    """Neither waits for the other: the one that comes too late leaves a job that nobody runs, for a minute."""

    @pytest.fixture
    def tenant(self):
        QueueFactory()
        return TenantFactory(queue__num_slots=50)

    def test_while_a_submit_is_open_leaves_a_job_that_nobody_runs_and_that_goes(self, tenant, elsewhere, register):
        register(concurrency=100)
        stored, gone = threading.Event(), threading.Event()

        def submits() -> int:
            with transaction.atomic():
                job_id = submit(request_for(tenant)).id
                stored.set()
                assert gone.wait(SOON)
                return job_id

        submitting = elsewhere(submits)
        assert stored.wait(SOON)
        elsewhere(Tenant.objects.get(pk=tenant.pk).delete).result(timeout=SOON)
        gone.set()
        self.is_left_and_goes(submitting.result(timeout=SOON))

    @pytest.mark.parametrize("commits", [True, False], ids=["it commits", "it rolls back"])
    def test_while_its_deletion_is_open_a_submit_goes_through(self, commits, tenant, within, register):
        register(concurrency=100)
        with open_transaction(*LOCKS["it is being deleted"], tenant=tenant.pk) as deletes:
            job_id = within(lambda: store.insert([request_for(tenant)])[0].id)
            if commits:
                deletes.commit()
        if commits:
            self.is_left_and_goes(job_id)
        else:
            assert dispatch() == 1
            forget_orphans()
            assert Job.objects.get().status == "queued"

    def test_while_its_deletion_is_open_the_followers_of_others_go_on(self, tenant, elsewhere, within, register, sent):
        worker = register(concurrency=100)
        job = store.insert([request_for(tenant, batch_id=open_batch("nightly", "", tenant.pk).id)])[0].id
        first = store.insert([request_for(other := TenantFactory())])[0].id
        last = submit(request_for(other, after=(first,))).id
        dispatch()
        for message in sent:
            finish(message, worker)  # the end of `job` is news of its batch
        deleted, over = threading.Event(), threading.Event()

        @transaction.atomic
        def deletes() -> None:
            Tenant.objects.get(pk=tenant.pk).delete()
            deleted.set()
            over.wait()

        deleting = elsewhere(deletes)
        try:
            assert deleted.wait(SOON)
            within(dispatch)
            assert [message.id for message in sent] == [job, first, last]
        finally:
            over.set()
            deleting.result(SOON)
        assert BatchTally.objects.exists()
        prune()
        assert not BatchTally.objects.exists()

    def test_takes_along_what_has_just_failed_of_its_jobs(self, tenant, elsewhere, blocked, register):
        register(concurrency=100)
        job = store.insert([request_for(tenant)])[0].id
        failing = (
            "UPDATE jobs SET retries = 1 WHERE id = %(job)s",
            "INSERT INTO failed_attempts (job_id, attempt, error_class, error, traceback, end_time)"
            " VALUES (%(job)s, 1, 'ValueError', 'no', '', now())",
        )
        with open_transaction(*failing, job=job) as fails:
            deleting = elsewhere(Tenant.objects.get(pk=tenant.pk).delete)
            wait_until(lambda: blocked() == 1, "it waits for the row of the job")
            fails.commit()
            deleting.result(SOON)
        assert not Job.objects.exists()
        assert not FailedAttempt.objects.exists()

    def is_left_and_goes(self, job_id: int) -> None:
        other = store.insert([request_for(TenantFactory())])[0].id
        assert dispatch(in_line=False) == 1
        assert list(Job.objects.order_by("pk").values_list("status", "pk")) == [("created", job_id), ("queued", other)]
        make_job(Job.objects.get(pk=other).tenant)
        forget_orphans()
        assert not Job.objects.filter(pk=job_id).exists()
        assert Job.objects.count() == 2, "others stay"

    def test_has_no_more_jobs(self, tenant):
        Tenant.objects.get(pk=tenant.pk).delete()
        with pytest.raises(InvalidRequest, match="tenant: does not exist"):
            submit(request_for(tenant))
        with pytest.raises(InvalidRequest, match="tenant: does not exist") as refused:
            submit_all([request_for(TenantFactory()), request_for(tenant)])
        assert refused.value.index == 1
        assert not Job.objects.exists()

    def test_has_no_job_started_that_was_claimed_before(self, tenant, register):
        worker = register()
        job_id = store.insert([request_for(tenant)])[0].id
        assert dispatch() == 1
        sql("DELETE FROM tenant_queues")
        sql("DELETE FROM tenants_tenant")
        assert not store.start(job_id, 1, store.Seat.here(worker))
        forget_orphans()
        assert not Job.objects.exists()

    def test_leaves_no_memory_no_schedule_and_no_webhook(self, tenant):
        JobMemory.objects.create(tenant=tenant, source_type="a", source_method="b")
        JobMemory.objects.create(tenant_id=tenant.pk + 1000, source_type="a", source_method="b")
        Schedule.objects.create(tenant_id=tenant.pk + 1000, name="x", every=1.0, source_type="a", source_method="b")
        WebhookEndpoint.objects.create(tenant_id=tenant.pk + 1000, url="https://example.com/secret", salt="x")
        prune()
        assert JobMemory.objects.get().tenant == tenant
        assert not Schedule.objects.exists()
        assert not WebhookEndpoint.objects.exists()


def test_a_job_whose_queue_was_deleted_while_it_was_submitted_or_claimed_is_cancelled(register, within):
    register(concurrency=4)
    tenant = TenantFactory()
    QueueFactory(name="emails")
    kept = store.insert([request_for(tenant, 1)])[0].id
    with open_transaction("DELETE FROM queues WHERE name = 'emails'") as deletes:
        claimed = within(lambda: store.insert([request_for(tenant, 2, queue="emails")])[0].id)
        assert dispatch() == 2
        lost = within(lambda: store.insert([request_for(tenant, 3, queue="emails")])[0].id)
        deletes.commit()
    waits = store.insert([request_for(tenant, 4)])[0].id
    assert dispatch() == 0, "both of its slots are taken"
    forget_orphans()
    ended = dict.fromkeys((claimed, lost), "cancelled")
    assert dict(Job.objects.values_list("pk", "status")) == {kept: "queued", waits: "queued", **ended}
    assert not Queue.objects.filter(name="emails").exists()
