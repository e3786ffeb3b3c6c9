"""`check` finds what must not be, and keeps quiet about what may."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from psycopg.types.multirange import Multirange
from psycopg.types.range import Range

from jobs import store
from jobs.engine.door import repairs
from jobs.engine.upkeep import recover
from jobs.lifecycle import Status
from jobs.management.commands import check_invariants
from jobs.models import HELD_UNTIL, Job, Lane, Queue, QueueTurn, TenantBook, Worker
from jobs.recording import inspection
from jobs.recording.inspection import findings, look
from jobs.store.rows import rows
from jobs.store.session import session
from jobs.worker.clock.duties import recording_duties
from tests.factories import TenantFactory, fold, make_job
from tests.sql import sql, value

pytestmark = pytest.mark.django_db

LONG_AGO = timezone.now() - timedelta(hours=1)


@pytest.fixture
def worker(register):
    return register(concurrency=4)


def found() -> set[tuple[str, str]]:
    """What two looks in a row find."""
    return {(finding.what, finding.subject) for finding in findings(look(), look())}


def test_a_healthy_system_has_no_findings(tenant, worker):
    make_job(tenant, Status.SCHEDULED, due_at=timezone.now() + timedelta(days=1))
    make_job(tenant, Status.QUEUED, handed_at=timezone.now())
    make_job(tenant, Status.RUNNING, worker=worker)
    make_job(tenant)
    for status in (Status.SUCCESS, Status.ERROR, Status.DEAD, Status.CANCELLED):
        make_job(tenant, status)
    assert found() == set()


def test_a_running_job_whose_worker_is_long_gone_is_found(tenant, worker):
    job = make_job(tenant, Status.RUNNING, worker=worker)
    Worker.objects.update(gone_at=LONG_AGO)
    assert found() == {("worker_gone", f"job {job.pk}")}


def test_a_job_that_runs_beyond_its_time_limit_is_found(tenant, worker, settings):
    settings.JOBS_DEFAULT_TIMEOUT = 60
    job = make_job(tenant, Status.RUNNING, worker=worker, start_time=LONG_AGO)
    make_job(tenant, Status.RUNNING, worker=worker, start_time=LONG_AGO, timeout=7200.0)
    assert found() == {("runs_too_long", f"job {job.pk}")}


def test_a_due_job_that_no_clock_promotes_is_found(tenant):
    job = make_job(tenant, Status.SCHEDULED, due_at=LONG_AGO)
    assert found() == {("overdue", f"job {job.pk}")}


def test_a_message_that_nobody_takes_up_beside_an_idle_process_is_found(tenant, worker):
    job = make_job(tenant, Status.QUEUED, handed_at=LONG_AGO)
    assert found() == {("message_lost", f"job {job.pk}")}
    Worker.objects.update(concurrency=0)
    assert found() == set()


def test_a_job_that_nothing_holds_and_nobody_claims_is_found(tenant, worker):
    job = make_job(tenant, ready_at=LONG_AGO)
    assert found() == {("waits_for_nothing", f"job {job.pk}")}


@pytest.mark.parametrize(
    "harm",
    [
        lambda: Lane.objects.update(state="empty"),
        lambda: Lane.objects.update(head=2**62),
        lambda: QueueTurn.objects.update(state="asleep"),
        lambda: QueueTurn.objects.update(version=-1),  # below the floor
        lambda: Lane.objects.update(state="held"),  # by no job
        lambda: QueueTurn.objects.update(opened_at=HELD_UNTIL),
    ],
)
def test_a_lane_that_no_dispatch_looks_at_is_found_and_brought_back(tenant, harm):
    job = make_job(tenant, ready_at=LONG_AGO)
    fold()
    harm()
    assert ("lane_lost", f"job {job.pk}") in found()
    # Of 200 lanes it takes seconds: not in the thread of the upkeep.
    [inspect] = [duty for duty in recording_duties() if duty.run.__qualname__ == "Inspection.run"]
    inspect.run(), inspect.run()
    fold()
    assert not store.heads(0, 9)[0][1]
    assert repairs.counts()[repairs.LANE] == 1


@pytest.mark.parametrize(
    "harm",
    [
        lambda: Lane.objects.update(in_use=0),
        lambda: Lane.objects.update(tickets=1),
        lambda: QueueTurn.objects.update(in_use=2),
        lambda: TenantBook.objects.update(in_use=0),
        lambda: TenantBook.objects.update(slots=Multirange([Range(7, 8)])),
        lambda: TenantBook.objects.update(users={"ann": 2}),
        lambda: TenantBook.objects.all().delete(),
        lambda: Lane.objects.all().delete(),
        lambda: QueueTurn.objects.all().delete(),
        lambda: Job.objects.update(slot=2),
    ],
)
def test_a_book_that_is_wrong_is_found_and_mended(tenant, worker, harm):
    tenant.jobs_queue.user_slots = 5
    tenant.jobs_queue.save()
    make_job(tenant, Status.RUNNING, worker=worker, user_key="ann")
    fold()  # otherwise it would forget the users, since the limits have changed
    store.recount_books()
    assert store.wrong_books() == []
    harm()
    assert {what for what, _ in found()} == {"book_wrong"}
    inspect = inspection.Inspection()
    inspect.run(), inspect.run()
    assert found() == set()
    assert repairs.counts()[repairs.BOOK] >= 1


@pytest.mark.django_db(transaction=True)
def test_a_process_that_runs_jobs_mends_them_in_its_own_session(tenant, worker):
    """There the engine does not speak in Django's session, whose transaction would not be that of the recount."""
    make_job(tenant, Status.RUNNING, worker=worker)
    Lane.objects.update(in_use=0)
    with store.OwnSession().speaking():
        assert store.recount_books()
        session().close()
    assert Lane.objects.get().in_use == 1


def test_outside_the_door_no_book_is_written(tenant, worker):
    make_job(tenant, Status.RUNNING, worker=worker)
    Lane.objects.update(in_use=0)
    assert rows("recount_books") == []
    assert Lane.objects.get().in_use == 0


def test_an_ended_job_is_in_the_books_until_a_dispatch_removes_it(tenant, worker):
    job = make_job(tenant, Status.RUNNING, worker=worker)
    assert store.succeed(job.pk, job.attempt, {}, None)
    assert TenantBook.objects.get().in_use == 1
    assert found() == set()
    assert store.recount_books() == []
    fold()
    assert TenantBook.objects.get().in_use == 0
    assert found() == set()


def test_a_job_behind_a_gate_is_not(tenant, worker):
    make_job(tenant, ready_at=LONG_AGO)
    tenant.jobs_queue.paused = True
    tenant.jobs_queue.save()
    assert found() == set()


def test_a_lowered_limit_drains_and_is_no_finding(tenant, worker):
    for _ in range(2):
        make_job(tenant, Status.RUNNING, worker=worker)
    tenant.jobs_queue.num_slots = 1
    tenant.jobs_queue.save()
    assert found() == set()


def test_jobs_claimed_over_a_limit_are_found(tenant, worker):
    Queue.objects.filter(name="default").update(concurrency=1)
    for _ in range(2):
        make_job(tenant, Status.RUNNING, worker=worker)
    tenant.jobs_queue.num_slots = 1
    tenant.jobs_queue.save()
    before = look()
    make_job(tenant, Status.RUNNING, worker=worker, user_key="ada")
    assert {(finding.what, finding.subject) for finding in findings(before, look())} == {
        ("over_limit", f"tenant {tenant.slug}"),
        ("over_limit", "queue default"),
    }


def test_more_slots_of_a_tenant_in_a_queue_than_it_may_hold_there_are_found(tenant, worker):
    Queue.objects.filter(name="default").update(tenant_slots=1)
    stranger = TenantFactory(queue__num_slots=5, queue__queue_slots={"default": 3})
    for owner in (tenant, stranger) * 2:
        make_job(owner, Status.RUNNING, worker=worker)
    before = look()
    for owner in (tenant, stranger):
        make_job(owner, Status.RUNNING, worker=worker)
    assert {(finding.what, finding.subject) for finding in findings(before, look())} == {
        ("over_limit", f"lane {tenant.slug} / default")
    }


@pytest.mark.parametrize("witness", ["slot = 1, ticket = 1", "ready_at = now()", "due_at = now()"])
def test_a_half_state_is_found_should_the_constraint_ever_be_dropped(tenant, witness):
    job = make_job(tenant, Status.SUCCESS)
    sql("SET CONSTRAINTS ALL IMMEDIATE")
    sql("ALTER TABLE jobs DROP CONSTRAINT jobs_whole")
    sql(f"UPDATE jobs SET {witness}")
    assert ("half_state", f"job {job.pk}") in found()


class TestTheCommand:
    @pytest.fixture(autouse=True)
    def no_pause(self, monkeypatch):
        monkeypatch.setattr(check_invariants, "BETWEEN_LOOKS", 0.0)

    def test_says_that_all_is_well(self):
        out = StringIO()
        call_command("check_invariants", stdout=out)
        assert "No violations found." in out.getvalue()

    @pytest.mark.django_db(transaction=True)
    def test_holds_no_session_while_it_pauses(self, monkeypatch):
        """The server may end one that is idle for as long (idle_session_timeout)."""
        sessions, look = [], inspection.look

        def noted():
            sessions.append(value("SELECT pg_backend_pid()"))
            return look()

        monkeypatch.setattr(inspection, "look", noted)
        self.test_says_that_all_is_well()
        first, second = sessions
        assert first != second

    def test_names_what_it_found_and_fails(self, tenant):
        job = make_job(tenant, Status.SCHEDULED, due_at=LONG_AGO)
        out = StringIO()
        with pytest.raises(CommandError, match="1 violation found"):
            call_command("check_invariants", stdout=out)
        assert f"overdue: job {job.pk}: was due at" in out.getvalue()

    def test_speaks_json(self, tenant):
        job = make_job(tenant, Status.SCHEDULED, due_at=LONG_AGO)
        repairs.count(repairs.MESSAGE, 3)
        out = StringIO()
        with pytest.raises(CommandError):
            call_command("check_invariants", "--json", stdout=out)
        document = json.loads(out.getvalue())
        assert document["findings"][0]["subject"] == f"job {job.pk}"
        assert document["repairs"] == {"message_sent_again": 3}


class TestTheClocksDuty:
    def test_a_finding_is_counted_from_the_second_look_on(self, tenant):
        make_job(tenant, Status.SCHEDULED, due_at=LONG_AGO)
        inspect = inspection.Inspection()
        inspect.run()
        assert repairs.counts() == {}
        inspect.run()
        inspect.run()
        assert repairs.counts() == {"finding": 2}


@pytest.mark.django_db(transaction=True)
def test_repairs_are_counted_by_kind_and_stand_still_in_a_healthy_system(tenant, worker):
    recover.take_back_orphans()
    recover.hand_over_again()
    assert repairs.counts() == {}
    make_job(tenant, Status.RUNNING, start_time=LONG_AGO)
    make_job(tenant, Status.QUEUED, handed_at=LONG_AGO)
    recover.hand_over_again()
    recover.take_back_orphans()
    assert repairs.counts() == {"message_sent_again": 1, "orphan_taken_back": 1}
    assert not store.orphans()
    assert Job.objects.filter(crashes=1).count() == 1
