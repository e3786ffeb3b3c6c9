"""Recover: workers that stopped beating, jobs whose holder died, messages that were lost."""

import uuid
from datetime import timedelta

import psycopg
import pytest
from django.db import connection, transaction
from django.utils import timezone

from jobs import store
from jobs.engine.door.dispatch import dispatch
from jobs.engine.upkeep import recover
from jobs.engine.upkeep.recover import Death, Kill
from jobs.engine.verbs.drain import drain
from jobs.lifecycle import Status
from jobs.models import FailedAttempt, Job, Lane, Worker
from jobs.store import Claimed, Failure, Seat
from jobs.store.workers import Beat
from tests.clock import call_at
from tests.factories import QueueFactory, TenantFactory, make_job
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=10)


@pytest.fixture
def sessions(transactional_db):
    """Sessions of this name, in a transaction from their first statement on."""
    opened = []

    def sessions(name: str) -> psycopg.Connection:
        opened.append(psycopg.connect(**connection.get_connection_params() | {"application_name": name}))
        return opened[-1]

    yield sessions
    for session in opened:
        session.close()


def beat(worker, concurrency: int = 1) -> Beat | None:
    return store.beat(worker, name="again", pid=1, pool="default", capacity=concurrency)


def silent(worker, seconds: float) -> None:
    Worker.objects.filter(pk=worker).update(beat_at=timezone.now() - timedelta(seconds=seconds))


def running(tenant, worker, **fields) -> Job:
    return make_job(tenant, Status.RUNNING, worker=worker, **fields)


def unanswered(tenant, seconds: float, **fields) -> Job:
    """A queued job whose message was sent so long ago."""
    return make_job(tenant, Status.QUEUED, handed_at=timezone.now() - timedelta(seconds=seconds), **fields)


def now_is(job: Job) -> tuple[str, int, int]:
    job.refresh_from_db()
    return job.status, job.attempt, job.crashes


class TestWorkers:
    def test_a_worker_is_new_once_and_then_goes_on(self, register):
        worker = register()
        assert beat(worker, concurrency=7) == Beat(registered=False, drains=False)
        assert Worker.objects.get().concurrency == 7

    def test_a_worker_silent_for_three_beats_is_gone_and_no_other(self, register, settings):
        quiet, loud = register(), register()
        silent(quiet, 3 * settings.JOBS_BEAT_INTERVAL + 1)
        silent(loud, 3 * settings.JOBS_BEAT_INTERVAL - 1)
        assert store.declare_gone() == [Worker.objects.get(pk=quiet).name]
        assert Worker.objects.get(pk=loud).gone_at is None
        assert store.declare_gone() == []

    def test_the_beats_are_its_own_and_not_the_clocks(self, register, settings):
        settings.JOBS_BEAT_INTERVAL = 30.0
        slow = register()
        settings.JOBS_BEAT_INTERVAL = 5.0
        silent(slow, 60)
        assert store.declare_gone() == []
        silent(slow, 91)
        assert len(store.declare_gone()) == 1

    def test_the_clock_declares_no_worker_gone_before_it_has_watched_three_beats(self, register, settings):
        settings.JOBS_BEAT_INTERVAL = 5.0
        silent(register(), 3600)
        assert store.declare_gone(watched=15) == []
        assert len(store.declare_gone(watched=15.1)) == 1

    def test_a_worker_whose_row_is_locked_is_not_waited_for(self, register, elsewhere):
        locked, other = register(), register()
        Worker.objects.update(beat_at="2020-01-01T00:00Z")
        with transaction.atomic():
            Worker.objects.select_for_update().get(pk=locked)
            assert elsewhere(store.declare_gone).result(30) == [Worker.objects.get(pk=other).name]

    def test_the_moment_of_the_third_missed_beat_decides(self, register, settings):
        register()
        last = Worker.objects.get().beat_at + timedelta(seconds=3 * settings.JOBS_BEAT_INTERVAL)
        assert store.declare_gone(now=last) == []
        assert len(store.declare_gone(now=last + timedelta(microseconds=1))) == 1

    def test_a_worker_that_was_declared_gone_never_comes_back_under_its_id(self, register):
        worker = register()
        store.declare_gone(now=timezone.now() + timedelta(days=1))
        before = Worker.objects.values().get()
        assert beat(worker) is None
        assert Worker.objects.values().get() == before

    def test_a_worker_asked_to_drain_learns_it_and_has_no_capacity(self, register):
        worker, other = register(concurrency=3), register(concurrency=2)
        assert drain(worker)
        assert dict(Worker.objects.values_list("pk", "concurrency")) == {worker: 0, other: 2}
        assert beat(worker, concurrency=3) == Beat(registered=False, drains=True)
        assert not drain(worker)  # only once
        assert beat(other, concurrency=2) == Beat(registered=False, drains=False)
        assert dict(Worker.objects.values_list("pk", "concurrency")) == {worker: 0, other: 2}

    def test_a_gone_one_is_not_asked_to_drain(self, register):
        worker = register()
        store.leave(worker)
        assert not drain(worker)
        assert Worker.objects.get().drain_requested_at is None

    def test_a_worker_that_left_in_good_order_is_gone_and_not_missed(self, register):
        worker = register()
        store.leave(worker)
        left = Worker.objects.get().gone_at
        assert left is not None
        assert store.declare_gone(now=timezone.now() + timedelta(days=1)) == []
        store.leave(worker)
        assert Worker.objects.get().gone_at == left

    def test_leaving_takes_no_other_worker_along(self, register):
        stays, leaves = register(), register()
        store.leave(leaves)
        assert Worker.objects.get(pk=stays).gone_at is None


class TestOrphans:
    def test_a_job_of_a_gone_worker_is_given_to_another(self, tenant, register, sent):
        dead = register()
        job = running(tenant, dead)
        silent(dead, 3600)
        recover.declare_gone(60, timezone.now())
        register()
        recover.take_back_orphans()
        assert now_is(job) == ("scheduled", 1, 1)
        call_at(Job.objects.get().due_at, store.promote)
        dispatch()
        assert [(message.id, message.attempt) for message in sent] == [(job.pk, 2)]
        assert FailedAttempt.objects.get().error == f"worker {Worker.objects.get(pk=dead).name} is gone"

    def test_a_job_of_a_worker_that_nobody_knows_is_one_too(self, tenant):
        job = running(tenant, "00000000-0000-0000-0000-000000000001")
        Job.objects.update(start_time=timezone.now() - timedelta(hours=1))
        recover.take_back_orphans()
        assert now_is(job) == ("scheduled", 1, 1)

    def test_an_orphan_of_a_stopped_or_killed_worker_has_not_crashed(self, tenant, register):
        left, killed, lost = register(), register(), register()
        jobs = [running(tenant, worker) for worker in (left, killed, lost)]
        store.leave(left)
        beat(killed, concurrency=0)  # it drains
        silent(killed, 3600)
        silent(lost, 3600)
        recover.declare_gone(60, timezone.now())
        recover.take_back_orphans()
        assert [now_is(job) for job in jobs] == [("scheduled", 1, 0), ("scheduled", 1, 0), ("scheduled", 1, 1)]
        kept = dict(FailedAttempt.objects.values_list("job_id", "error_class"))
        assert list(map(kept.get, (job.pk for job in jobs))) == ["WorkerStopped", "WorkerStopped", "WorkerGone"]

    def test_a_job_of_a_live_worker_is_none(self, tenant, register):
        job = running(tenant, register())
        assert store.orphans() == []
        recover.take_back_orphans()
        assert now_is(job) == ("running", 1, 0)

    def test_a_job_that_a_gone_worker_had_not_started_is_a_lost_message(self, tenant, register):
        dead = register()
        job = make_job(tenant, Status.QUEUED, worker=dead)
        store.leave(dead)
        recover.take_back_orphans()
        assert now_is(job) == ("queued", 1, 0)

    def test_an_orphan_that_settled_in_the_last_moment_has_settled(self, tenant, register, monkeypatch):
        dead = register()
        job = running(tenant, dead)
        store.leave(dead)
        seen = store.orphans()
        assert store.succeed(job.pk, 1, {}, None)
        monkeypatch.setattr(store, "orphans", lambda: seen)
        recover.take_back_orphans()
        assert now_is(job) == ("success", 1, 0)
        assert not FailedAttempt.objects.exists()


class TestStops:
    def test_the_first_ten_stops_of_its_worker_are_no_crash_of_a_job_and_each_further_one_is(self, tenant, settings):
        settings.JOBS_MAX_CRASHES = 2
        job, other = (running(tenant, uuid.UUID(int=1)) for _ in range(2))
        history = []
        for attempt in range(1, 13):
            recover.take_back(job.pk, attempt, recover.STOPPED)
            history.append(now_is(job))
            Job.objects.filter(status="scheduled").update(status="running", due_at=None, slot=9, attempt=attempt + 1)
        assert history[:10] == [("scheduled", attempt, 0) for attempt in range(1, 11)]
        assert history[10:] == [("scheduled", 11, 1), ("dead", 12, 2)]
        assert job.last_error == "WorkerStopped: its worker was stopped"
        recover.take_back(other.pk, 1, recover.STOPPED)
        assert now_is(other) == ("scheduled", 1, 0), "the stops of another job are no concern of it"

    def test_a_crash_before_is_no_stop_and_stays(self, tenant):
        job = running(tenant, uuid.UUID(int=1), attempt=12, crashes=1)
        FailedAttempt.objects.bulk_create(
            FailedAttempt(job=job, attempt=attempt, error_class="ProcessDied", error="", end_time=timezone.now())
            for attempt in range(1, 12)
        )
        recover.take_back(job.pk, 12, recover.STOPPED)
        assert now_is(job) == ("scheduled", 12, 1)


class TestCrashes:
    def test_a_job_that_crashes_too_often_is_dead(self, tenant, settings):
        settings.JOBS_MAX_CRASHES = 3
        job = running(tenant, "00000000-0000-0000-0000-000000000001")
        history = []
        for attempt in (1, 2, 3):
            recover.take_back(job.pk, attempt, Failure("Crashed", f"crash {attempt}"))
            history.append(now_is(job))
            Job.objects.filter(status="scheduled").update(status="running", due_at=None, slot=1, attempt=attempt + 1)
        assert history == [("scheduled", 1, 1), ("scheduled", 2, 2), ("dead", 3, 3)]
        assert list(FailedAttempt.objects.order_by("attempt").values_list("error", flat=True)) == [
            "crash 1",
            "crash 2",
            "crash 3",
        ]
        assert job.last_error == "Crashed: crash 3"
        assert job.end_time is not None

    def test_a_crash_that_is_told_twice_counts_once(self, tenant):
        job = running(tenant, "00000000-0000-0000-0000-000000000001")
        recover.take_back(job.pk, 1, Failure("Crashed", "killed"))
        recover.take_back(job.pk, 1, Failure("Crashed", "killed"))
        assert now_is(job) == ("scheduled", 1, 1)

    def test_a_job_whose_row_is_locked_is_not_called_stale(self, tenant, onlooker, caplog):
        job = running(tenant, "00000000-0000-0000-0000-000000000001")
        with onlooker.transaction(), caplog.at_level("INFO", logger="jobs"):
            onlooker.execute("SELECT FROM jobs WHERE id = %s FOR UPDATE", [job.pk])
            assert not recover.take_back(job.pk, 1, Failure("Crashed", "killed"))
        assert f"take_back ignored job={job.pk} attempt=1" in caplog.text
        assert "or its row is locked" in caplog.text

    def test_the_clock_is_told_when_it_is_due_again(self, tenant, monkeypatch):
        woken = []
        monkeypatch.setattr(store, "wake_clock", lambda: woken.append(True))
        job = running(tenant, "00000000-0000-0000-0000-000000000001")
        recover.take_back(job.pk, 1, Failure("Crashed", "killed"))
        assert woken == [True]

    def test_the_freed_slot_goes_to_the_next_job_at_once_also_of_what_the_process_had_settled(self, register, sent):
        tenant = TenantFactory(queue__num_slots=1)
        process = Seat(register(), 4711)
        job = running(tenant, process.worker, worker_pid=4711)
        waiting = make_job(tenant, priority=0)
        assert recover.process_ended(process.worker, Death(process.pid, job.pk, 1, "killed"))
        assert [message.id for message in sent] == [waiting.pk]
        store.start(waiting.pk, 1, store.Seat.here(process.worker))
        assert store.fail(waiting.pk, 1, Failure("Error", "failed"))
        following = make_job(tenant, priority=0)
        assert recover.process_ended(process.worker, Death(process.pid, waiting.pk, 1, "killed"))
        assert [message.id for message in sent] == [waiting.pk, following.pk]


class TestAProcessThatIsNoMore:
    @pytest.fixture
    def process(self, register) -> Seat:
        return Seat(register(), 4711)

    def left(self, tenant, process, **fields) -> Job:
        return running(tenant, process.worker, worker_pid=process.pid, **fields)

    def test_everything_that_ran_in_it_is_taken_back_whatever_its_message_named(self, tenant, process):
        jobs = [self.left(tenant, process) for _ in range(2)]
        assert recover.process_ended(process.worker, Death(process.pid, 2**31, 1, "signal 9"))
        assert [now_is(job) for job in jobs] == [("scheduled", 1, 1)] * 2
        assert {kept.error_class for kept in FailedAttempt.objects.all()} == {"ProcessDied"}

    def test_as_long_as_it_has_a_session_it_is_too_early_to_look(self, tenant, process, monkeypatch):
        job = self.left(tenant, process)
        monkeypatch.setattr(store, "end_sessions", lambda *_, **__: False)
        assert not recover.process_ended(process.worker, Death(process.pid, job.pk, 1, "signal 9"))
        assert now_is(job)[0] == "running"

    def test_nothing_else_is(self, tenant, process, register):
        others = [
            running(tenant, process.worker, worker_pid=4712),
            running(tenant, register(), worker_pid=4711),
            make_job(tenant, Status.QUEUED),
        ]
        ended = make_job(tenant, Status.SUCCESS, worker=process.worker, worker_pid=4711)
        assert recover.process_ended(process.worker, Death(process.pid, ended.pk, 1, "signal 9"))
        assert [now_is(job)[0] for job in [*others, ended]] == ["running", "running", "queued", "success"]

    def test_the_attempt_of_its_message_that_had_not_started_waits_again_without_a_crash(self, tenant, process):
        job, stale = make_job(tenant, Status.QUEUED, attempt=3), make_job(tenant, Status.QUEUED, attempt=3)
        assert recover.process_ended(process.worker, Death(process.pid, job.pk, 3, "signal 9"))
        assert recover.process_ended(process.worker, Death(process.pid, stale.pk, 2, "signal 9"))
        assert (now_is(job), now_is(stale)) == (("scheduled", 3, 0), ("queued", 3, 0))

    def test_a_job_on_its_way_is_put_back_when_no_process_had_taken_it_up(self, tenant, process):
        job = make_job(tenant, Status.QUEUED)
        assert recover.process_ended(process.worker, Death(0, job.pk, 1, "no process"))
        assert now_is(job) == ("scheduled", 1, 0)

    def test_the_death_of_one_with_several_attempts_is_no_crash_of_any(self, tenant, process, settings):
        settings.JOBS_MAX_CRASHES = 1
        jobs = [self.left(owner, process) for owner in (tenant, TenantFactory())]
        aboard = [(job.pk, 1) for job in jobs]
        assert recover.process_ended(process.worker, Death(process.pid, 0, 0, "signal 9", aboard=aboard))
        assert [now_is(job) for job in jobs] == [("scheduled", 1, 0)] * 2
        assert {job.last_error for job in jobs} == {"SharedDeath: signal 9, with other jobs in it"}

    def test_the_death_of_one_with_a_single_attempt_is_its_crash_and_not_of_one_that_had_not_begun(
        self, tenant, process, settings
    ):
        settings.JOBS_MAX_CRASHES = 1
        only, unbegun = self.left(tenant, process), self.left(TenantFactory(), process)
        assert recover.process_ended(process.worker, Death(process.pid, 0, 0, "signal 9", aboard=[(only.pk, 1)]))
        assert [now_is(job) for job in (only, unbegun)] == [("dead", 1, 1), ("scheduled", 1, 0)]
        assert unbegun.last_error == "SharedDeath: signal 9, perhaps before it began"
        assert only.last_error == "ProcessDied: signal 9, with no other job in it"

    def test_the_death_of_one_with_seats_is_no_crash_if_its_worker_stops(self, tenant, process):
        job = self.left(tenant, process)
        death = Death(process.pid, 0, 0, "signal 9", stopped=True, aboard=[(job.pk, 1)])
        assert recover.process_ended(process.worker, death)
        assert now_is(job) == ("scheduled", 1, 0)
        assert job.last_error == "WorkerStopped: its worker was stopped"

    def test_a_kill_for_one_attempt_does_not_blame_the_others(self, tenant, process):
        guilty, other = self.left(tenant, process), self.left(tenant, process)
        kill = Kill(process.pid, guilty.pk, 1, Failure("MemoryExceeded", "used 9 MiB"))
        assert recover.process_ended(process.worker, Death(process.pid, other.pk, 1, "signal 9", (kill,)))
        kept = dict(FailedAttempt.objects.values_list("job_id", "error_class"))
        assert kept == {guilty.pk: "MemoryExceeded", other.pk: "NeighbourEnded"}
        assert now_is(other) == ("scheduled", 1, 0)

    def test_each_attempt_ends_by_the_kill_that_names_it(self, tenant, process):
        late, large, other = (self.left(tenant, process) for _ in range(3))
        reasons = {late.pk: None, large.pk: Failure("MemoryExceeded", "used 9 MiB")}
        kills = tuple(Kill(process.pid, pk, 1, reason) for pk, reason in reasons.items())
        assert recover.process_ended(process.worker, Death(process.pid, other.pk, 1, "signal 9", kills))
        kept = dict(FailedAttempt.objects.values_list("job_id", "error_class"))
        assert kept == {late.pk: "TimeoutError", large.pk: "MemoryExceeded", other.pk: "NeighbourEnded"}

    def test_a_job_of_a_stopped_worker_has_not_crashed(self, tenant, process):
        job = self.left(tenant, process)
        assert recover.process_ended(process.worker, Death(process.pid, job.pk, 1, "signal 9", stopped=True))
        assert now_is(job) == ("scheduled", 1, 0)
        assert FailedAttempt.objects.get().error == "its worker was stopped"

    def test_a_row_that_somebody_has_locked_is_not_waited_for_and_told_again(self, tenant, process, elsewhere):
        locked, other = self.left(tenant, process), self.left(tenant, process)
        with transaction.atomic():
            Job.objects.select_for_update().get(pk=locked.pk)
            assert not elsewhere(
                recover.process_ended, process.worker, Death(process.pid, 2**31, 1, "signal 9")
            ).result(30)
            assert now_is(other) == ("scheduled", 1, 1)
        assert recover.process_ended(process.worker, Death(process.pid, 2**31, 1, "signal 9"))
        assert now_is(locked) == ("scheduled", 1, 1)

    def test_a_locked_job_that_ran_out_of_its_time_is_an_error_later(self, tenant, process, elsewhere):
        job = self.left(tenant, process)
        death = Death(process.pid, job.pk, 1, "signal 9", (Kill(process.pid, job.pk, 1, None),))
        with transaction.atomic():
            Job.objects.select_for_update().get(pk=job.pk)
            assert not elsewhere(recover.process_ended, process.worker, death).result(30)
        assert recover.process_ended(process.worker, death)
        assert now_is(job) == ("error", 1, 0)

    def test_its_sessions_are_ended_first_and_those_of_no_other(self, tenant, process, sessions):
        """The server goes on with a dead client's statement, and would hold its lock for as long as that takes."""
        job = self.left(tenant, process)
        its = sessions(store.session_name(process.worker, process.pid))
        others = [
            sessions(store.session_name(process.worker, 47110)),
            sessions(store.session_name(uuid.uuid4(), process.pid)),
            sessions(store.session_name(process.worker, "beat")),
        ]
        its.execute("UPDATE jobs SET progress = 0.5 WHERE id = %s", [job.pk])
        assert recover.process_ended(process.worker, Death(process.pid, job.pk, 1, "signal 9"))
        assert now_is(job) == ("scheduled", 1, 1)
        with pytest.raises(psycopg.OperationalError):
            its.execute("SELECT 1")
        for other in others:
            other.execute("SELECT 1")

    def test_all_sessions_of_a_gone_worker_are_ended(self, tenant, process, sessions):
        job = self.left(tenant, process)
        store.leave(process.worker)
        its = [sessions(store.session_name(process.worker, whose)) for whose in (4711, 4712, "beat")]
        other = sessions(store.session_name(uuid.uuid4(), "beat"))
        its[0].execute("UPDATE jobs SET progress = 0.5 WHERE id = %s", [job.pk])

        def taken_back() -> bool:
            recover.take_back_orphans()
            return now_is(job) == ("scheduled", 1, 0)

        wait_until(taken_back, "it is taken back", limit=10)
        for session in its:
            with pytest.raises(psycopg.OperationalError):
                session.execute("SELECT 1")
        other.execute("SELECT 1")


class TestTimeOut:
    def test_an_attempt_killed_at_its_limit_is_an_error_and_no_crash(self, tenant, register, sent):
        process = Seat(register(), 4711)
        job, waiting = running(tenant, process.worker, worker_pid=4711, timeout=2.5), make_job(tenant)
        assert recover.process_ended(process.worker, Death(4711, job.pk, 1, "killed", (Kill(4711, job.pk, 1, None),)))
        assert now_is(job) == ("error", 1, 0)
        assert job.last_error == "TimeoutError: timed out after 2.5 s and was killed"
        assert [message.id for message in sent] == [waiting.pk]
        assert Lane.objects.get(tenant_id=tenant.pk).virtual_time > 1, "its tenant pays for another process"

    def test_an_attempt_that_was_silent_for_too_long_is_an_error_that_says_so(self, tenant, register):
        process = Seat(register(), 4711)
        job = running(tenant, process.worker, worker_pid=4711)
        kill = Kill(4711, job.pk, 1, "silent for 120 s")
        assert recover.process_ended(process.worker, Death(4711, job.pk, 1, "killed", (kill,)))
        assert now_is(job) == ("error", 1, 0)
        assert job.last_error == "TimeoutError: silent for 120 s and was killed"

    def test_a_job_that_settled_in_the_last_moment_has_settled(self, tenant, register):
        job = running(tenant, register())
        store.succeed(job.pk, 1, {}, None)
        recover.time_out(job.pk, 1)
        assert now_is(job) == ("success", 1, 0)


class TestLostMessages:
    @pytest.fixture(autouse=True)
    def patience(self, settings):
        settings.JOBS_HAND_OVER_TIMEOUT = 10

    def test_one_unanswered_beside_an_idle_process_is_sent_again_as_the_same_attempt(self, tenant, register, sent):
        register(concurrency=1)
        job = unanswered(tenant, 11, attempt=3)
        recover.hand_over_again()
        (message,) = sent
        assert (message.id, message.attempt, message.pool) == (job.pk, 3, "default")
        assert now_is(job) == ("queued", 3, 0)

    def test_after_it_was_sent_again_it_has_time_to_be_answered(self, tenant, register, sent):
        register(concurrency=1)
        unanswered(tenant, 11)
        recover.hand_over_again()
        recover.hand_over_again()
        assert len(sent) == 1

    def test_a_message_sent_just_now_is_waited_for(self, tenant, register, sent):
        register(concurrency=1)
        unanswered(tenant, 9)
        recover.hand_over_again()
        assert sent == []

    def test_while_every_process_is_busy_it_is_in_line_and_not_lost(self, tenant, register, sent):
        worker = register(concurrency=2)
        busy = [running(tenant, worker), running(tenant, worker)]
        job = unanswered(tenant, 3600)
        recover.hand_over_again()
        assert sent == []
        store.succeed(busy[0].pk, 1, {}, None)
        recover.hand_over_again()
        assert [message.id for message in sent] == [job.pk]

    def test_a_job_on_a_draining_worker_keeps_no_process_busy(self, tenant, register, sent):
        running(tenant, register(concurrency=0))
        register(concurrency=1)
        job = unanswered(tenant, 11)
        recover.hand_over_again()
        assert [message.id for message in sent] == [job.pk]

    def test_a_message_whose_row_is_locked_is_not_waited_for(self, tenant, register, sent, elsewhere):
        register(concurrency=2)
        locked, other = unanswered(tenant, 11), unanswered(tenant, 11)
        with transaction.atomic():
            Job.objects.select_for_update().get(pk=locked.pk)
            elsewhere(recover.hand_over_again).result(30)
            assert [message.id for message in sent] == [other.pk]
        recover.hand_over_again()
        assert [message.id for message in sent] == [other.pk, locked.pk]

    def test_in_a_pool_that_is_never_idle_for_long_it_is_found_too(self, tenant, register, sent):
        """Others' jobs go on taking the one process; but the lost one holds a place that nobody else can have."""
        worker = register(concurrency=1)
        lost = unanswered(tenant, 11)
        for _ in range(20):
            make_job(TenantFactory())
        dispatch()
        assert sent == []  # the place is taken
        recover.hand_over_again()
        (message,) = sent
        assert message.id == lost.pk
        assert store.start(lost.pk, message.attempt, store.Seat.here(worker))

    def test_a_message_that_its_sender_could_not_send_is_sent_by_the_leader(self, tenant, register, sent):
        sender, _ = register(concurrency=1), register(concurrency=1)
        left, newer, begun = unanswered(tenant, 1), unanswered(tenant, 1), unanswered(tenant, 1)
        assert store.start(begun.pk, begun.attempt, store.Seat.here(sender))
        could_not = [(left, left.attempt), (newer, newer.attempt - 1), (begun, begun.attempt)]
        unsent = [Claimed(job.pk, attempt, "default") for job, attempt in could_not]
        store.leave_to_leader(unsent, sender)
        recover.hand_over_again()
        assert [message.id for message in sent] == [left.pk]

    @pytest.mark.parametrize("absence", ["none", "silent", "gone", "cut off"])
    def test_a_message_without_any_sender_waits_until_it_counts_as_lost(self, absence, tenant, register, sent):
        """Otherwise the leader, which cannot send it either, would repeat it each second."""
        sender = register(concurrency=1)
        if absence != "none":
            other = register(concurrency=1)
        if absence == "silent":
            silent(other, 8)  # one beat and a half
        if absence == "gone":
            store.leave(other)
        if absence == "cut off":
            store.beat(other, name="other", pid=1, pool="default", capacity=1, cut_off=True)
        job = unanswered(tenant, 1)
        assert not store.another_reaches_broker(sender)
        store.leave_to_leader([Claimed(job.pk, job.attempt, "default")], sender)
        recover.hand_over_again()
        assert sent == []

    @pytest.mark.parametrize("absence", ["silent", "gone", "draining", "elsewhere"])
    def test_only_a_live_process_of_its_pool_is_idle(self, absence, tenant, register, sent):
        worker = register(
            concurrency=0 if absence == "draining" else 1, pool="other" if absence == "elsewhere" else "default"
        )
        if absence == "silent":
            silent(worker, 3600)
        if absence == "gone":
            store.leave(worker)
        unanswered(tenant, 11)
        recover.hand_over_again()
        assert sent == []

    def test_busy_processes_of_another_pool_are_not_counted(self, tenant, register, sent):
        register(concurrency=1)
        running(tenant, register(pool="other"), queue=QueueFactory(name="far", pool="other"))
        job = unanswered(tenant, 11)
        recover.hand_over_again()
        assert [message.id for message in sent] == [job.pk]

    def test_only_one_of_two_messages_starts(self, tenant, register, sent):
        worker = register(concurrency=1)
        job = unanswered(tenant, 11)
        recover.hand_over_again()
        assert store.start(job.pk, sent[0].attempt, store.Seat.here(worker))
        assert store.start(job.pk, job.attempt, store.Seat.here(worker)) is None
