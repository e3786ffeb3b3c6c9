"""One locked row, one slow duty, one clock that was set: all tenants depend on the clock, so it goes on."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from itertools import pairwise

import psycopg
import pytest
from django.db import DatabaseError, connection
from django.db.models.functions import Now
from django.utils import timezone

from jobs import store
from jobs.engine.submitting.submit import submit
from jobs.lifecycle import Status
from jobs.models import FailedAttempt, Job, Worker
from jobs.sql import statement
from jobs.store.claiming import OUT_OF_LINE
from jobs.worker.clock import background, clock, duties
from jobs.worker.clock.background import upkeep
from jobs.worker.clock.clock import Clock
from jobs.worker.clock.duties import Duty
from jobs.worker.clock.steady_time import SteadyTime
from jobs.worker.threads.watchdog import Progress
from tests.conftest import request_for
from tests.factories import TenantFactory, make_job
from tests.sql import sql, value
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

SOON = 2.0  # seconds within which a bystander's job has to be handed over


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=100)


@pytest.fixture
def start(elsewhere, monkeypatch):
    """Start a clock and its upkeep, and wait until it leads; they are stopped in the end."""
    monkeypatch.setattr(duties.notify, "notify_in_background", lambda: None)
    stop, runs = threading.Event(), []

    def start() -> Clock:
        one = Clock(stop)
        runs.extend([elsewhere(one.run), elsewhere(upkeep(stop, one).run)])
        wait_until(one.leads.is_set, "it leads")
        return one

    yield start
    stop.set()
    wait_until(lambda: store.wake_clock() or all(run.done() for run in runs), "they stop")
    for run in runs:
        run.result()


@pytest.fixture
def lock(onlooker):
    """Lock this job's row until the end of the `with`."""

    def lock(job: Job):
        onlooker.execute("BEGIN")
        onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [job.pk])

    yield lock
    onlooker.execute("ROLLBACK")


def bystanders_go_through() -> None:
    """A due job and a plain one of somebody else."""
    other = TenantFactory(queue__num_slots=100)
    due, plain = submit(request_for(other, 1, delay=0.1)).id, submit(request_for(other, 2)).id
    queued = Job.objects.filter(pk__in=[due, plain], status="queued")
    wait_until(lambda: queued.count() == 2, "both are handed over", SOON)


class TestALockedRow:
    def test_a_locked_orphan_holds_up_no_job_and_is_taken_back_later(self, *, tenant, register, lock, start, onlooker):
        register()
        gone = register()
        orphan, other = (make_job(tenant, Status.RUNNING, worker=gone) for _ in range(2))
        store.leave(gone)
        lock(orphan)
        start()
        wait_until(lambda: FailedAttempt.objects.filter(job=other).exists(), "the other one is taken back")
        bystanders_go_through()
        assert Job.objects.get(pk=orphan.pk).status == "running"
        onlooker.execute("ROLLBACK")
        wait_until(lambda: FailedAttempt.objects.filter(job=orphan).exists(), "it is taken back")

    def test_a_locked_lost_message_holds_up_no_job(self, *, tenant, register, lock, start, settings, sent):
        settings.JOBS_HAND_OVER_TIMEOUT = 0
        register()
        lost, other = (make_job(tenant, Status.QUEUED, handed_at=timezone.now()) for _ in range(2))
        lock(lost)
        start()
        wait_until(lambda: other.pk in {message.id for message in sent}, "the other one is sent again")
        bystanders_go_through()
        assert lost.pk not in {message.id for message in sent}

    def test_a_locked_due_job_does_not_make_the_clock_spin(self, tenant, register, lock, start, monkeypatch):
        register()
        due = make_job(tenant, Status.SCHEDULED)
        lock(due)
        ticks: list[float] = []
        look = SteadyTime.look
        monkeypatch.setattr(SteadyTime, "look", lambda self: (ticks.append(time.monotonic()), look(self)))
        start()
        wait_until(lambda: len(ticks) > 5, "it ticks")
        assert all(later - earlier >= clock.SHORTEST_SLEEP for earlier, later in pairwise(ticks))


class TestADuty:
    def test_a_duty_that_waits_for_a_lock_gives_up_and_has_another_turn(
        self, *, tenant, register, lock, start, monkeypatch, caplog
    ):
        register()
        job, turns = make_job(tenant, Status.ERROR), []
        lock(job)

        def waits() -> None:
            turns.append(True)
            Job.objects.filter(pk=job.pk).update(priority=1)

        monkeypatch.setattr(clock, "LOCK_TIMEOUT", 0.1)
        monkeypatch.setattr(clock, "duties", lambda: [Duty(0.0, waits)])
        start()
        wait_until(lambda: len(turns) > 1, "it has its second turn")
        bystanders_go_through()
        assert "clock was held up error=LockNotAvailable" in caplog.messages
        assert "thread without database" not in caplog.text

    def test_a_duty_that_takes_long_gives_up_in_time(self, start, register, monkeypatch, caplog):
        def sleeps() -> None:
            sql("SELECT pg_sleep(60)")

        monkeypatch.setattr(clock, "STATEMENT_TIMEOUT", 0.2)
        monkeypatch.setattr(clock, "duties", lambda: [Duty(0.0, sleeps)])
        register()
        start()
        wait_until(lambda: "clock was held up error=QueryCanceled" in caplog.messages, "it is given up")
        bystanders_go_through()

    def test_a_duty_of_the_upkeep_may_take_long_beside_the_clock(self, start, register, monkeypatch):
        inside, leave = threading.Event(), threading.Event()
        monkeypatch.setattr(background, "slow_duties", lambda: [Duty(0.0, lambda: (inside.set(), leave.wait(30)))])
        register()
        start()
        assert inside.wait(30)
        bystanders_go_through()
        leave.set()

    def test_a_duty_of_the_upkeep_is_for_the_leader_alone(self, monkeypatch):
        done, stop = [], threading.Event()
        monkeypatch.setattr(background, "slow_duties", lambda: [Duty(0.0, lambda: done.append(True))])
        monkeypatch.setattr(background, "LONGEST_SLEEP", 0.01)
        one, progress = Clock(stop), Progress()
        thread = threading.Thread(target=upkeep(stop, one).run, args=(progress,))
        thread.start()
        wait_until(lambda: progress.rounds > 3, "it goes round")
        assert not done
        one.leads.set()
        wait_until(lambda: done, "it sees to its duty")
        stop.set()
        thread.join()

    def test_a_duty_of_the_upkeep_that_fails_has_another_turn(self, monkeypatch, caplog):
        turns, others, stop = [], [], threading.Event()

        def fails() -> None:
            turns.append(True)
            if len(turns) == 1:
                raise DatabaseError
            if len(turns) == 2:
                raise KeyError("a text for nobody")
            sql("SELECT 1 / 0")

        in_turn = [Duty(0.0, fails), Duty(0.0, lambda: others.append(len(turns)))]
        monkeypatch.setattr(background, "slow_duties", lambda: in_turn)
        monkeypatch.setattr(background, "LONGEST_SLEEP", 0.01)
        one = Clock(stop)
        one.leads.set()
        thread = threading.Thread(target=lambda: (upkeep(stop, one).run(), connection.close()))
        thread.start()
        wait_until(lambda: len(turns) > 3, "it has another turn")
        stop.set()
        thread.join()
        assert others[:2] == [2, 3]
        assert "error=KeyError at=test_clock" in caplog.text
        assert "for nobody" not in caplog.text


class TestTime:
    @pytest.fixture
    def clocks(self, monkeypatch, settings):
        """Ours and PostgreSQL's, to be set."""
        settings.JOBS_BEAT_INTERVAL = 5.0
        clocks = {"ours": 100.0, "theirs": 1e9}
        monkeypatch.setattr(time, "monotonic", lambda: clocks["ours"])
        monkeypatch.setattr(store, "database_time", lambda: clocks["theirs"])
        return clocks

    def test_passes_as_long_as_both_clocks_go_alike(self, clocks):
        watch = SteadyTime()
        for _ in range(20):
            watch.look()
            clocks["ours"] += 1
            clocks["theirs"] += 1
        assert watch.watched == 20

    @pytest.mark.parametrize("jump", [6, -6, 3600])
    def test_begins_anew_when_postgresqls_clock_was_set(self, clocks, jump):
        watch = SteadyTime()
        watch.look()
        clocks["ours"] += 1
        clocks["theirs"] += 1 + jump
        watch.look()
        assert watch.watched == 0
        clocks["ours"] += 1
        clocks["theirs"] += 1
        watch.look()
        assert watch.watched == 1

    def test_begins_anew_when_we_or_the_database_stood_still(self, clocks):
        watch = SteadyTime()
        watch.look()
        clocks["ours"] += 7
        clocks["theirs"] += 7
        watch.look()
        assert watch.watched == 0

    def test_an_answer_that_takes_long_is_no_jump(self, clocks, monkeypatch):
        watch = SteadyTime()
        watch.look()
        clocks["ours"] += 1
        clocks["theirs"] += 1

        def slowly() -> float:
            asked = clocks["theirs"]
            clocks["ours"] += 4.5
            clocks["theirs"] += 4.5
            return asked

        monkeypatch.setattr(store, "database_time", slowly)
        watch.look()
        assert watch.watched == 5.5

    def test_no_worker_is_declared_gone_because_the_clock_was_set(self, start, register, settings, monkeypatch):
        """Every beat is old at once, for all workers that live; one that is silent from then on is gone."""
        settings.JOBS_BEAT_INTERVAL = 0.6
        silent = Worker.objects.filter(pk=register())
        look, database_time, watched, ahead = SteadyTime.look, store.database_time, [], [0.0]
        monkeypatch.setattr(store, "database_time", lambda: database_time() + ahead[0])

        def set_after_a_while(self) -> None:
            if self.watched > 2.0 and not ahead[0]:
                ahead[0] = 20.0
                silent.update(beat_at=timezone.now() - timedelta(seconds=20))
            look(self)
            watched.append(self.watched)
            if ahead[0]:
                return
            silent.update(beat_at=timezone.now())

        monkeypatch.setattr(SteadyTime, "look", set_after_a_while)
        start()
        wait_until(lambda: silent.get().gone_at, "it is gone")
        assert ahead[0]
        worker = silent.get()
        was_set = worker.beat_at + timedelta(seconds=20)
        assert worker.gone_at - was_set > timedelta(seconds=3 * 0.6 - 0.1)

    def test_no_worker_is_declared_gone_because_the_clock_stood_still_after_its_look(
        self, register, elsewhere, settings, monkeypatch
    ):
        """Everybody may have waited with the clock, and beats only now."""
        settings.JOBS_BEAT_INTERVAL = 0.1
        stop, worker, look = threading.Event(), Worker.objects.filter(pk=register()), SteadyTime.look

        def stands_still(self) -> datetime:
            worker.update(beat_at=Now())
            looked = look(self)
            if self.watched > 0.3:
                stop.set()
                sql("SELECT pg_sleep(0.4)")
            return looked

        monkeypatch.setattr(SteadyTime, "look", stands_still)
        elsewhere(Clock(stop).run).result()
        assert worker.get().gone_at is None


@contextmanager
def cut_off(*statements: str) -> Iterator[int]:
    """A session whose host is cut off after these statements of a pipeline; its pid in PostgreSQL."""
    ended = suppress(psycopg.OperationalError)
    with ended, psycopg.connect(**connection.get_connection_params()) as own, own.pipeline():
        for text in statements:
            own.execute(text, OUT_OF_LINE if "%(in_line)s" in text else None)
        own.execute("SELECT 1").fetchone()  # PostgreSQL has carried them out, and waits for the rest
        yield own.info.backend_pid


def there(pid: int) -> bool:
    return value("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %s)", [pid])


class TestAClientThatIsCutOffInsideTheDoor:
    """No time limit of PostgreSQL ends a session that waits for the rest of a pipeline."""

    def test_keeps_nobody_out_and_the_dead_are_found_meanwhile(self, *, tenant, register, start, monkeypatch):
        register()
        silent = register()
        Worker.objects.filter(pk=silent).update(beat_interval=0.01)
        monkeypatch.setattr(clock, "DOOR_SECONDS", 0.5)
        with cut_off(statement("knock"), statement("enter")):
            start()
            job = submit(request_for(tenant)).id
            wait_until(Job.objects.filter(pk=job, status="queued").exists, "the job is handed over")
            wait_until(Worker.objects.filter(pk=silent, lost=True).exists, "the silent worker is declared gone")

    def test_is_told_from_one_that_works_inside_and_from_one_that_has_just_come(self, elsewhere, onlooker):
        with cut_off(statement("knock"), statement("enter")) as pid:
            assert not store.clear_door(60)
            assert there(pid)
            wait_until(lambda: store.clear_door(0), "the server waits for its client")
            wait_until(lambda: not there(pid), "its session has ended")
        onlooker.execute("BEGIN")
        onlooker.execute(statement("knock"), OUT_OF_LINE)
        working = elsewhere(lambda: onlooker.execute(f"SELECT pg_sleep(0.5) FROM ({statement('enter')}) inside"))
        pid = onlooker.info.backend_pid
        at_work = "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = %s"
        wait_until(lambda: value(at_work, [pid]), "it works inside")
        assert not store.clear_door(0)
        working.result()

    def test_is_no_leader_for_ever(self):
        with cut_off("SELECT pg_try_advisory_lock(hashtext('jobs.clock'), 0)") as pid:
            assert not store.lead()
            wait_until(lambda: store.depose(0), "the server waits for its client")
            wait_until(lambda: not there(pid), "its session has ended")
            assert store.lead()
