"""What the model (docs/model) found, each on a real PostgreSQL: the traces are told there."""

import os

import pytest
from django.db.models.functions import Now

from jobs import store
from jobs.engine.door import dispatch
from jobs.engine.upkeep import recover
from jobs.engine.upkeep.recover import Death, Kill
from jobs.engine.verbs import cancel as engine
from jobs.engine.verbs import pause
from jobs.engine.verbs.cancel import Cancellation, cancel
from jobs.models import Job, Worker
from jobs.store import EVERY_TENANT, Failure, Seat
from jobs.store.claiming import decided
from jobs.store.workers import Orphan
from tests.factories import ThingFactory

pytestmark = pytest.mark.django_db(transaction=True)

DIED = Failure("ProcessDied", "killed")


@pytest.fixture
def worker(register):
    return register()


@pytest.fixture
def running(worker, sent):
    """A job that runs in this process."""
    job = ThingFactory().async_.echo()
    assert store.start(job, 1, store.Seat.here(worker))
    return Job.objects.get(pk=job)


class TestADoubledMessage:
    """Two processes had it; the one that did not start the job dies."""

    def test_takes_nothing_away_from_the_process_that_runs_the_job(self, running, worker):
        recover.take_back(running.pk, 1, DIED, Seat(worker, os.getpid() + 1))
        running.refresh_from_db()
        assert (running.status, running.crashes) == ("running", 0)

    def test_a_hard_limit_of_the_other_process_leaves_the_job_running(self, running, worker):
        recover.time_out(running.pk, 1, Seat(worker, os.getpid() + 1))
        running.refresh_from_db()
        assert running.status == "running"

    def test_the_same_pid_on_another_machine_leaves_the_job_running(self, running, register):
        recover.take_back(running.pk, 1, DIED, Seat(register(), os.getpid()))
        running.refresh_from_db()
        assert running.status == "running"

    @pytest.mark.parametrize("end", ["take_back", "time_out"])
    def test_the_process_that_runs_it_is_believed(self, running, worker, end):
        process = Seat(worker, os.getpid())
        if end == "take_back":
            recover.take_back(running.pk, 1, DIED, process)
        else:
            recover.time_out(running.pk, 1, process)
        running.refresh_from_db()
        assert (running.status, running.attempt) in {("scheduled", 1), ("error", 1)}


class TestAWorker:
    def test_a_worker_that_was_declared_gone_starts_nothing(self, worker, register):
        job = ThingFactory().async_.echo()
        Worker.objects.filter(pk=worker).update(gone_at="2020-01-01T00:00Z")
        assert store.start(job, 1, store.Seat.here(worker)) is None
        assert store.start(job, 1, store.Seat.here(register()))

    def test_a_worker_that_has_yet_to_register_keeps_its_started_jobs(self, running):
        Worker.objects.all().delete()
        assert store.orphans() == []
        Job.objects.update(start_time="2020-01-01T00:00Z")
        assert [orphan.id for orphan in store.orphans()] == [running.pk]

    def test_a_worker_given_up_before_it_registered_stops_at_its_first_beat(self, running, worker, register):
        Worker.objects.all().delete()
        Job.objects.update(start_time="2020-01-01T00:00Z")
        register()
        recover.take_back_orphans()
        assert Job.objects.get(pk=running.pk).status == "scheduled"
        assert store.beat(worker, name="late", pid=1, pool="default", capacity=1) is None

    def test_a_worker_that_registers_at_the_last_moment_is_not_given_up(self, running, monkeypatch):
        orphan = Orphan(running.pk, 1, running.worker, None, stopped=False)  # read before its first beat came through
        monkeypatch.setattr(store, "orphans", lambda: [orphan])
        recover.take_back_orphans()
        assert Job.objects.get(pk=running.pk).status == "running"


def test_a_further_pass_stands_in_no_line(register, monkeypatch):
    """It leaves rows out, so nobody who is there for just those may go home because of it."""
    in_line = []

    def claim(**options):
        in_line.append(options["in_line"])
        verdict = (*[None] * 7, False, ["7:8"] if len(in_line) == 1 else [], False, False, False, [], None)
        return decided([(False, False, False)], [verdict])

    monkeypatch.setattr(store, "claim", claim)
    dispatch.dispatch()
    assert in_line == [True, False]


def test_jobs_skipped_while_a_type_was_being_paused_are_dispatched_after_it(register, sent):
    """The claim skips the rows that the pause is holding; nobody else would ask again."""
    thing = ThingFactory(tenant__queue__num_slots=1, tenant__queue__paused=True)
    thing.async_.echo()
    other = thing.async_.again()
    register()
    type(thing.tenant.jobs_queue).objects.update(paused=False)
    pause.pause_job_type("sample.thing", "echo")
    assert [message.id for message in sent] == [other]


def test_a_job_that_moves_between_waiting_and_running_is_cancelled_all_the_same(running, worker, monkeypatch):
    request_cancel = store.request_cancel

    def taken_back_meanwhile(ids, tenant_id):
        monkeypatch.setattr(store, "request_cancel", request_cancel)
        assert store.take_back(running.pk, 1, DIED, 9) == "scheduled"
        assert not request_cancel(ids, tenant_id=tenant_id)
        # Claimed and started again, which a dispatch would do in a transaction of its own.
        Job.objects.update(status="running", due_at=None, slot=1, attempt=2, worker=worker, start_time=Now())
        return []

    monkeypatch.setattr(engine.store, "request_cancel", taken_back_meanwhile)
    assert cancel(running.pk, tenant_id=EVERY_TENANT) == Cancellation.REQUESTED
    running.refresh_from_db()
    assert running.cancel_requested_at is not None


def test_a_process_killed_at_its_hard_limit_before_its_start_was_through_leaves_nothing_behind(worker, sent):
    job = ThingFactory().async_.echo()
    kill = Kill(os.getpid(), job, 1, None)
    recover.process_ended(worker, Death(os.getpid(), job, 1, "was killed", (kill,)))
    assert store.start(job, 1, store.Seat.here(worker)) is None
    taken_back = Job.objects.get(pk=job)
    assert (taken_back.status, taken_back.attempt, taken_back.crashes) == ("scheduled", 1, 0)
