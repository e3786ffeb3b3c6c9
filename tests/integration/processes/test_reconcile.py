"""Each second the parent of a worker compares the rows that run here with what its processes hold."""

import threading
import uuid
from collections.abc import Callable
from types import SimpleNamespace as Object

import pytest
from django.db import OperationalError
from django.utils import timezone

from jobs import store
from jobs.engine.door import repairs
from jobs.engine.upkeep.recover import Death, Kill
from jobs.engine.verbs.stack import ask_for_stack
from jobs.lifecycle import Status
from jobs.models import FailedAttempt, Job, Stack
from jobs.store import Failure
from jobs.worker.children import kills, reconcile, stacks
from jobs.worker.children.reconcile import CONFIRMING_LOOKS, Reconciler
from jobs.worker.threads.watchdog import Progress
from tests.chaos.freezing import ROW, Held
from tests.factories import NO_PID, TenantFactory, make_job
from tests.integration.processes.pool import is_gone
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

MINE, OTHER = NO_PID, NO_PID + 1


@pytest.fixture
def worker(register) -> uuid.UUID:
    return register()


@pytest.fixture
def looks(worker, table) -> Callable[..., Reconciler]:
    """The reconciler of a pool of these processes."""
    return lambda *pids: Reconciler(worker, table, threading.Event(), Object(pids=lambda: pids))


@pytest.fixture
def look(looks) -> Callable[..., None]:
    """Look once at a pool of these processes."""
    return lambda *pids: looks(*pids).look()


@pytest.fixture
def runs(worker) -> Callable[..., Job]:
    """A job that runs in this process, by its row."""

    def runs(pid: int, **fields) -> Job:
        return make_job(TenantFactory(), Status.RUNNING, **{"worker": worker, "worker_pid": pid} | fields)

    return runs


def status(job: Job) -> str:
    return Job.objects.get(pk=job.pk).status


class TestAStack:
    """An operator waits for the stack of a body."""

    @pytest.fixture
    def ask(self, monkeypatch) -> Callable[..., Stack]:
        """Ask, and let the parent look, whose process says this; the answer."""

        def ask(look, job: Job, says: Callable[[], str]) -> Stack:
            monkeypatch.setattr(stacks, "ask", lambda pid: says() if pid == MINE else "of another process")
            ask_for_stack(job.pk)
            look(MINE, OTHER)
            return Stack.objects.latest("pk")

        return ask

    def test_the_stack_is_that_of_the_process_that_runs_the_body(self, ask, lay, look, runs):
        job, other = runs(MINE), runs(OTHER)
        lay(0, MINE, job.pk)
        lay(1, OTHER, other.pk)
        assert ask(look, job, lambda: "in work").text == "in work"
        silent = ask(look, job, lambda: "")
        assert (silent.text, silent.note) == ("", "Its process gave no answer within 1 s.")
        assert status(job) == Status.RUNNING

    def test_a_body_that_has_not_begun_or_ends_meanwhile_has_none(self, ask, lay, look, runs):
        job = runs(MINE)
        lay(0, MINE, job.pk, seconds=None)
        early = ask(look, job, lambda: "in the engine")
        lay(0, MINE, job.pk)
        late = ask(look, job, lambda: lay(0, MINE, job.pk + 1) or "of the next body")
        for none in (early, late):
            assert (none.text, none.note) == ("", "Its body does not run: it begins, or has just ended.")


class TestARowThatNobodyHolds:
    """PostgreSQL has lost its end: the process has gone on."""

    def test_an_unheld_row_is_taken_back_within_seconds_and_counted(self, lay, looks, runs):
        job = runs(MINE)
        lay(0, MINE, job.pk + 1)  # for an hour, at something else
        reconciler = looks(MINE)
        for _ in range(CONFIRMING_LOOKS):
            reconciler.look()
            assert status(job) == Status.RUNNING
        reconciler.look()
        assert status(job) == Status.SCHEDULED
        assert FailedAttempt.objects.get(job=job).error_class == "OutcomeLost"
        assert repairs.counts() == {repairs.UNHELD: 1}

    @pytest.mark.parametrize("attempt", [1, 3])
    def test_an_unheld_row_is_taken_back_if_its_process_holds_another_attempt(self, lay, looks, runs, attempt):
        job = runs(MINE, attempt=2)
        lay(0, MINE, job.pk)
        assert attempt != 2
        reconciler = looks(MINE)
        for _ in range(CONFIRMING_LOOKS + 1):
            reconciler.look()
        assert status(job) == Status.SCHEDULED

    def test_an_unheld_row_is_taken_back_if_its_process_waits_for_a_message(self, lay, looks, runs):
        job = runs(MINE)
        lay(0, MINE, 0, seconds=None)
        reconciler = looks(MINE)
        for _ in range(CONFIRMING_LOOKS + 1):
            reconciler.look()
        assert status(job) == Status.SCHEDULED

    def test_an_unheld_row_is_taken_back_if_its_process_is_between_statements(self, lay, looks, runs):
        job = runs(MINE)
        reconciler = looks(MINE)
        for other in range(CONFIRMING_LOOKS + 1):
            lay(0, MINE, job.pk + 1 + other, seconds=None)
            reconciler.look()
        assert status(job) == Status.SCHEDULED

    def test_one_statement_that_is_under_way_may_have_started_it(self, lay, looks, runs):
        """The statement that settles an attempt starts the next one of the lane: its answer is not there yet."""
        job = runs(MINE)
        lay(0, MINE, job.pk + 1, seconds=None)
        reconciler = looks(MINE)
        for _ in range(CONFIRMING_LOOKS + 3):
            reconciler.look()
        assert status(job) == Status.RUNNING
        lay(0, MINE, job.pk)
        reconciler.look()
        lay(0, MINE, job.pk + 1)  # it held the job meanwhile: all begins anew
        for _ in range(CONFIRMING_LOOKS):
            reconciler.look()
        assert status(job) == Status.RUNNING

    def test_an_entry_that_is_being_written_says_nothing(self, lay, looks, runs, table):
        job = runs(MINE)
        lay(0, MINE, job.pk + 1)
        table._words[2] += 1  # its version: the process stands still in the middle of an entry
        reconciler = looks(MINE)
        for _ in range(CONFIRMING_LOOKS + 3):
            reconciler.look()
        assert status(job) == Status.RUNNING

    def test_a_row_that_its_process_settles_meanwhile_stays_settled(self, lay, looks, runs, monkeypatch):
        job = runs(MINE)
        reconciler = looks(MINE)
        lay(0, MINE, job.pk + 1)
        for _ in range(CONFIRMING_LOOKS):
            reconciler.look()
        found = store.running_here(job.worker, 0)
        store.succeed(job.pk, 1, {}, None)
        monkeypatch.setattr(store, "running_here", lambda *_: found)
        reconciler.look()
        assert status(job) == Status.SUCCESS

    def test_a_row_that_another_process_runs_by_now_stays(self, lay, looks, runs, monkeypatch):
        job = runs(MINE)
        reconciler = looks(MINE, OTHER)
        lay(0, MINE, job.pk + 1)
        for _ in range(CONFIRMING_LOOKS):
            reconciler.look()
        found = store.running_here(job.worker, 0)
        Job.objects.filter(pk=job.pk).update(worker_pid=OTHER)
        monkeypatch.setattr(store, "running_here", lambda *_: found)
        reconciler.look()
        assert status(job) == Status.RUNNING

    def test_a_locked_row_is_taken_back_when_it_is_free(self, lay, looks, runs):
        job = runs(MINE)
        lay(0, MINE, job.pk + 1)
        reconciler = looks(MINE)
        with Held(ROW, job.pk):
            for _ in range(CONFIRMING_LOOKS + 2):
                reconciler.look()
            assert status(job) == Status.RUNNING
        wait_until(lambda: reconciler.look() or status(job) == Status.SCHEDULED, "the server frees the row")

    def test_the_death_of_a_process_is_reported_once(self, lay, looks, runs):
        """They end its sessions first. Its death was reported, and PostgreSQL has lost what they did."""
        job = runs(MINE)
        lay(0, MINE, job.pk)  # a dead process cannot clear its entry
        reconciler = looks(OTHER)
        for _ in range(CONFIRMING_LOOKS + 3):
            reconciler.look()
        assert kills.deaths.get_nowait() == Death(MINE, job.pk, 1, "its process is gone")
        assert kills.deaths.empty()
        assert status(job) == Status.RUNNING

    def test_a_row_of_another_worker_is_its_own_business(self, lay, looks, runs):
        job = runs(MINE, worker=uuid.uuid4())
        lay(0, MINE, job.pk + 1)
        reconciler = looks(MINE)
        for _ in range(CONFIRMING_LOOKS + 1):
            reconciler.look()
        assert status(job) == Status.RUNNING

    def test_a_process_whose_statement_is_under_way_may_have_started_it(self, lay, looks, runs):
        held, third = runs(MINE), runs(MINE)
        lay(0, MINE, held.pk, seconds=None)
        reconciler = looks(MINE)
        for _ in range(CONFIRMING_LOOKS + 3):
            reconciler.look()
        assert status(third) == Status.RUNNING
        lay(0, MINE, held.pk)  # the answer is there, and it is another job
        for _ in range(CONFIRMING_LOOKS):
            reconciler.look()
        assert status(third) == Status.SCHEDULED


class TestAskedToStop:
    @pytest.fixture
    def overdue(self, runs, settings):
        """A job that runs in this process and was asked to stop."""
        settings.JOBS_CANCEL_GRACE = 0
        return lambda pid, **fields: runs(pid, **{"cancel_requested_at": timezone.now()} | fields).pk

    def test_a_body_that_does_not_stop_within_the_grace_is_ended(self, start, lay, look, overdue, settings):
        settings.JOBS_CANCEL_GRACE = 10
        pid = start()
        job = overdue(pid)
        lay(0, pid, job)
        look(pid)
        assert not is_gone(pid)
        settings.JOBS_CANCEL_GRACE = 0
        look(pid)
        wait_until(lambda: is_gone(pid), "it is killed")
        error = "did not stop within 0 s and was killed"
        assert kills.kills_of(pid) == (Kill(pid, job, 1, Failure("Cancelled", error)),)

    def test_a_process_that_was_not_asked_is_left_alone(self, start, lay, look, overdue):
        pid = start()
        lay(0, pid, overdue(pid, cancel_requested_at=None))
        look(pid)
        assert not is_gone(pid)

    def test_a_process_that_is_at_another_job_by_now_is_left_alone(self, start, lay, look, overdue):
        pid = start()
        lay(0, pid, overdue(pid) + 1)
        look(pid)
        assert not is_gone(pid)

    def test_a_process_that_settles_its_job_is_left_alone(self, start, lay, look, overdue):
        pid = start()
        lay(0, pid, overdue(pid), seconds=None)
        look(pid)
        assert not is_gone(pid)

    def test_another_workers_is_its_own_business(self, start, lay, look, overdue):
        pid = start()
        lay(0, pid, overdue(pid, worker=uuid.uuid4()))
        look(pid)
        assert not is_gone(pid)


def test_the_look_outlives_a_database_that_is_away(worker, table, monkeypatch):
    asked, stop = [], threading.Event()

    def away(*_: object) -> list:
        asked.append(True)
        raise OperationalError

    monkeypatch.setattr(reconcile, "LOOK_INTERVAL", 0.01)
    monkeypatch.setattr(store, "running_here", away)
    thread = threading.Thread(target=Reconciler(worker, table, stop, Object(pids=list)).run, args=(Progress(),))
    thread.start()
    wait_until(lambda: len(asked) > 2, "it asks again")
    stop.set()
    thread.join()
