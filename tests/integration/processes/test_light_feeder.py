"""The feeder of a light worker with real PostgreSQL; its processes are wires of the test."""

import threading
from unittest.mock import Mock

import pytest
from django.db import OperationalError, connection

from jobs import store
from jobs.engine.verbs.stack import ask_for_stack
from jobs.lifecycle import HandBack, Status
from jobs.models import FailedAttempt, Job, PausedJobType
from jobs.reading import stacks
from jobs.store import Trip
from jobs.worker.light import LightPool, ends, feeder
from jobs.worker.light.feeder import Feeder
from jobs.worker.light.rounds import Rounds
from jobs.worker.threads.watchdog import Progress
from tenants.models import TenantQueue
from tests.conftest import request_for
from tests.factories import NO_PID, QueueFactory, TenantFactory, make_job
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
SEATS = 10


class Fed:
    """A feeder in a thread.

    ended, died: the processes that it ended, and the pids that it reported.
    aboard: what the seats of these held, by pid.
    grown: how often it asked for a further process.
    drains: whether its worker drains.
    """

    def __init__(self, worker) -> None:
        self.pool, self.stop, self.drains = LightPool(SEATS, 1, Rounds(4)), threading.Event(), False
        self.ended, self.died, self.aboard, self.wires, self.grown = [], [], {}, [], 0
        self.feeder = Feeder(
            worker,
            "default",
            self.pool,
            stop=self.stop,
            drains=lambda: self.drains,
            grow=self._grow,
            end=self.ended.append,
            died=self._note_death,
        )
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _grow(self) -> None:
        self.grown += 1

    def _note_death(self, pid, aboard) -> None:
        self.aboard[pid] = aboard
        self.died.append(pid)

    def _run(self) -> None:
        self.feeder.run(Progress())
        connection.close()

    def close(self) -> None:
        self.stop.set()
        self.feeder.wake()
        self.thread.join()
        for thread in [thread for thread in threading.enumerate() if thread.name == "alone"]:
            thread.join()
        processes = self.feeder.processes.by_pid.values()
        accepted = [wire for process in processes for wire in (process.wire, process.watch) if wire]
        for wire in self.wires + accepted:
            wire.close()
        self.pool.listener.close()


class LightProcess:
    """A process that has called; `runs` are the attempts that it got, `cancels` those that it shall cancel.

    asked: what else it was told, in its order.
    """

    def __init__(self, fed: Fed, pid: int) -> None:
        self.fed, self.pid, self.runs, self.cancels, self.asked = fed, pid, [], [], []
        self.wire = fed.pool.listener.call()
        fed.wires.append(self.wire)
        self.wire.send("seats", pid, 0)
        wait_until(lambda: pid in fed.feeder.processes.by_pid, "it is known")

    def got(self, number: int) -> list:
        """Wait until it got so many attempts."""
        wait_until(lambda: self._hear() or len(self.runs) >= number, f"{number} attempts")
        return self.runs

    def end(self, *jobs, stats=()) -> None:
        self.wire.send("ended", [(job.id, job.attempt, (dict(stats), None, None)) for job in jobs])

    def _hear(self) -> None:
        for name, said in self.wire.receive():
            if name in ("run", "cancel"):
                (self.runs if name == "run" else self.cancels).extend(said)
            else:
                self.asked.append((name, said))


@pytest.fixture
def fed(register, settings):
    QueueFactory(name="default")
    fed = Fed(register(concurrency=2 * SEATS, kind="light"))
    yield fed
    fed.close()


def submit(tenant, jobs: int) -> list[int]:
    ids = [answer.id for answer in store.insert([request_for(tenant, n) for n in range(jobs)])]
    store.ring(["default"])
    return ids


def status(job_id: int) -> str:
    return Job.objects.get(pk=job_id).status


def test_the_end_of_a_dead_process_is_settled_and_no_job_follows_in_it(fed, monkeypatch):
    """Each lane has a job more, which would follow in its seat."""
    make = Trip.make

    def be_away_until_it_is_dead(trip: Trip) -> None:
        if trip._ended and not fed.feeder._departures:
            raise OperationalError("the database is away")
        make(trip)

    first, second = submit(TenantFactory(queue__num_slots=1), 2)
    stranger, further = submit(TenantFactory(queue__num_slots=1), 2)
    process = LightProcess(fed, NO_PID)
    jobs = process.got(2)
    monkeypatch.setattr(Trip, "make", be_away_until_it_is_dead)
    monkeypatch.setattr(ends, "MAX_SLICE", 3600.0)
    process.end(*jobs)
    process.wire.close()
    wait_until(lambda: fed.died, "its end is reported")
    assert (status(first), status(stranger)) == ("success", "success")
    other = LightProcess(fed, NO_PID + 1)
    assert {(job.id, job.attempt) for job in other.got(2)} == {(second, 1), (further, 1)}


def test_attempts_of_a_trip_whose_answer_was_lost_begin_once(fed, monkeypatch):
    make, lost = Trip.make, []

    def lose(trip: Trip) -> None:
        make(trip)
        if trip.started and not lost:
            lost.extend(job.id for job in trip.started)
            raise OperationalError("the answer was lost")

    monkeypatch.setattr(Trip, "make", lose)
    ids = submit(TenantFactory(queue__num_slots=3), 3) + submit(TenantFactory(queue__num_slots=1), 1)
    process = LightProcess(fed, NO_PID)
    jobs = process.got(4)
    assert lost
    assert sorted(job.id for job in jobs) == sorted(ids)
    process.end(*jobs)
    wait_until(lambda: {status(one) for one in ids} == {"success"}, "all are settled")
    assert set(Job.objects.values_list("attempt", flat=True)) == {1}


def test_no_trip_is_made_while_the_statements_of_a_lost_one_may_go_on(fed, monkeypatch):
    make, made, may_end = Trip.make, [], threading.Event()

    def lose(trip: Trip) -> None:
        make(trip)
        made.append(trip)
        if len(made) == 1:
            raise OperationalError("the answer was lost")

    looks = []

    def end_sessions(*_, **__) -> bool:
        looks.append(len(made))
        return may_end.is_set()

    monkeypatch.setattr(store, "end_sessions", end_sessions)
    monkeypatch.setattr(Trip, "make", lose)
    (first,) = submit(TenantFactory(), 1)
    process = LightProcess(fed, NO_PID)
    wait_until(lambda: len(looks) > 5, "it looks again and again")
    assert set(looks) == {1}
    may_end.set()
    assert [job.id for job in process.got(1)] == [first]


def test_one_end_that_postgresql_refuses_fails_alone(fed):
    bad, good = submit(TenantFactory(queue__num_slots=2), 2)
    (stranger,) = submit(TenantFactory(), 1)
    process = LightProcess(fed, NO_PID)
    jobs = {job.id: job for job in process.got(3)}
    ended = [(job.id, 1, ({"text": "\0"} if job.id == bad else {}, None, None)) for job in jobs.values()]
    process.wire.send("ended", ended)
    process.wire.close()  # and the process dies: all that arrived is settled first
    wait_until(lambda: fed.died, "its end is reported")
    assert [status(one) for one in (bad, good, stranger)] == ["error", "success", "success"]
    assert FailedAttempt.objects.get().job_id == bad


def test_a_blocked_process_gets_no_jobs_and_another_one_does(fed):
    blocked, free = LightProcess(fed, NO_PID), LightProcess(fed, NO_PID + 1)
    fed.feeder.processes.by_pid[NO_PID].is_blocked = True
    ids = submit(TenantFactory(queue__num_slots=4), 4)
    assert sorted(job.id for job in free.got(4)) == ids
    blocked._hear()
    assert blocked.runs == []


def test_a_process_whose_attempt_does_not_stop_is_ended_when_the_others_have_ended(fed):
    process = LightProcess(fed, NO_PID)
    submit(TenantFactory(queue__num_slots=2), 2)
    stuck, other = process.got(2)
    process.wire.send("stuck", (stuck.id, stuck.attempt), "cancel")
    wait_until(lambda: fed.feeder.processes.by_pid[NO_PID].leaves, "it gets no more jobs")
    submit(TenantFactory(), 1)
    assert not fed.ended
    process.end(other)
    wait_until(lambda: fed.ended, "it is ended")
    assert fed.ended[0].stuck == {(stuck.id, stuck.attempt): "cancel"}
    assert (status(stuck.id), status(other.id)) == (Status.RUNNING, Status.SUCCESS)
    assert len(process.got(2)) == 2


def test_a_process_whose_body_is_silent_on_the_loop_is_ended_at_once(fed):
    process = LightProcess(fed, NO_PID)
    submit(TenantFactory(queue__num_slots=2), 2)
    silent, other = process.got(2)
    process.wire.send("silent", (silent.id, silent.attempt), "silent for 60 s")
    process.wire.send("silent", (silent.id, silent.attempt), "silent for 60 s")
    wait_until(lambda: fed.ended, "it is ended, and its neighbour with it")
    assert fed.ended[0].stuck == {(silent.id, silent.attempt): "silent for 60 s"}
    submit(TenantFactory(), 1)
    assert len(fed.ended) == 1
    process.end(other)
    wait_until(lambda: status(other.id) == Status.SUCCESS, "what has ended before is settled")
    assert len(process.got(2)) == 2, "it gets no more jobs"


def test_the_thread_that_watches_a_loop_is_asked_for_a_stack_and_an_operator_gets_it(fed):
    process = LightProcess(fed, NO_PID)
    submit(TenantFactory(queue__num_slots=2), 2)
    mine, _ = process.got(2)
    watch, asked = fed.pool.listener.call(), []
    fed.wires.append(watch)
    watch.send("watch", NO_PID, 0)
    wait_until(lambda: fed.feeder.processes.by_pid[NO_PID].watch, "it is known")
    number = ask_for_stack(mine.id)
    wait_until(lambda: asked or asked.extend(watch.receive()), "it is asked")
    assert asked == [("stacks", [(mine.id, mine.attempt)])]
    watch.send("stack", (mine.id, mine.attempt), "in work", "")
    wait_until(lambda: stacks.numbered(number).answered_at, "it is answered")
    assert stacks.numbered(number).text == "in work"


def test_a_draining_worker_is_idle_when_its_last_end_is_settled(fed, monkeypatch):
    process = LightProcess(fed, NO_PID)
    first, *_ = submit(TenantFactory(queue__num_slots=1), 2)
    jobs = process.got(1)
    make = Trip.make
    away = [OperationalError("the database is away")] * 3

    def be_away(trip: Trip) -> None:
        if away:
            raise away.pop()
        make(trip)

    monkeypatch.setattr(Trip, "make", be_away)
    fed.drains = True
    fed.feeder.wake()
    assert not fed.feeder.idle.is_set()
    process.end(*jobs)
    assert fed.feeder.idle.wait(20)
    assert status(first) == "success"
    assert not away
    process._hear()
    assert len(process.runs) == 1


def test_a_worker_that_stops_need_not_wait_for_a_database_that_is_away_for_longer_than_its_patience(fed, monkeypatch):
    monkeypatch.setattr(feeder, "DATABASE_PATIENCE", 0.2)
    (job_id,) = submit(TenantFactory(), 1)
    process = LightProcess(fed, NO_PID)
    jobs = process.got(1)
    with monkeypatch.context() as away:
        away.setattr(Trip, "make", Mock(side_effect=OperationalError("the database is away")))
        away.setattr(store, "running_here", Mock(side_effect=OperationalError("the database is away")))
        process.end(*jobs)
        wait_until(fed.feeder.is_given_up, "it is given up")
    wait_until(lambda: status(job_id) == Status.SUCCESS, "the end is settled when it is back")
    wait_until(lambda: not fed.feeder.is_given_up(), "it is not given up any more")


def test_a_row_that_others_have_locked_holds_up_no_other_end(fed, onlooker):
    first, second = submit(TenantFactory(queue__num_slots=2), 2)
    process = LightProcess(fed, NO_PID)
    jobs = process.got(2)
    with onlooker.transaction():
        onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [first])
        process.end(*jobs)
        wait_until(lambda: status(second) == Status.SUCCESS, "the other one is settled")
        assert status(first) == Status.RUNNING
    wait_until(lambda: status(first) == Status.SUCCESS, "it is settled alone")


def test_a_locked_row_of_an_attempt_that_may_not_start_holds_up_no_other_attempt(fed, onlooker, blocked):
    """Somebody has locked it, so nobody can put it off; a stranger's job starts and ends meanwhile."""
    PausedJobType.objects.create(source_type="tests.other", source_method="run")
    paused = make_job(TenantFactory(), Status.QUEUED, source_type="tests.other", source_method="run")
    process = LightProcess(fed, NO_PID)
    with onlooker.transaction():
        onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [paused.pk])
        fed.pool.call(paused.pk, 1)
        wait_until(lambda: blocked() == 1, "somebody wants to put it off")
        (stranger,) = submit(TenantFactory(), 1)
        process.end(*process.got(1))
        wait_until(lambda: status(stranger) == Status.SUCCESS, "it has ended")
        assert blocked() == 1, "and the row is still waited for"
    wait_until(lambda: status(paused.pk) == Status.SCHEDULED, "it is put off")


def test_a_worker_that_drains_tells_each_process_once_and_others_may_have_the_slots(fed, monkeypatch):
    asked = []
    monkeypatch.setattr(feeder.dispatch, "request", lambda: asked.append(1))
    [job_id] = submit(TenantFactory(queue__num_slots=1), 1)
    process = LightProcess(fed, NO_PID)
    [job] = process.got(1)
    fed.drains = True
    fed.feeder.wake()
    wait_until(lambda: process._hear() or process.asked, "it is told")
    assert store.hand_back(job_id, job.attempt, HandBack.DRAIN, by=job.holder)
    process.wire.send("ended", [(job.id, job.attempt, None)])
    wait_until(lambda: asked, "others are told")
    process._hear()
    assert process.asked == [("drain", ())]


def test_a_process_is_told_whose_slots_are_wanted_back_when_that_changes(fed):
    owner, stranger = TenantFactory(queue__num_slots=1), TenantFactory(queue__num_slots=1)
    [mine], [other] = submit(owner, 1), submit(stranger, 1)
    process = LightProcess(fed, NO_PID)
    process.got(2)
    Job.objects.filter(pk__in=[mine, other]).update(cursor=1)
    for paused, told in ((True, HandBack.TENANT), (False, None)):
        TenantQueue.objects.filter(tenant=owner).update(paused=paused)
        fed.feeder._lookout.hurry()
        fed.feeder.wake()
        wait_until(lambda: process._hear() or process.asked, "it is told")
        assert process.asked == [("ask back", {(mine, 1): told})]
        process.asked.clear()
