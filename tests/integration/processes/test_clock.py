"""The clock: one of several leads, and wakes at the moment that something is due."""

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from jobs import store
from jobs.engine.door import promote
from jobs.engine.submitting.submit import submit
from jobs.lifecycle import Status
from jobs.models import Job, Recorded, Worker
from jobs.store import EVERY_TENANT
from jobs.worker.clock import clock, duties
from jobs.worker.clock.clock import Clock
from tests.clock import call_at
from tests.conftest import request_for
from tests.factories import TenantFactory, make_job
from tests.verbs import pause
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

HOLDERS = """SELECT pid FROM pg_locks
             WHERE locktype = 'advisory' AND granted AND classid = hashtext('jobs.clock')::oid
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=100)


@pytest.fixture
def holders(onlooker):
    """The sessions that hold the leader's lock."""
    return lambda: [pid for (pid,) in onlooker.execute(HOLDERS).fetchall()]


@pytest.fixture
def start_clock(elsewhere, monkeypatch):
    """Start a clock in a thread; each is stopped in the end. It notifies nobody: that goes on in the background."""
    monkeypatch.setattr(duties.notify, "notify_in_background", lambda: None)
    stops: list[threading.Event] = []
    runs = []

    def start_clock(away: Callable[[], bool] = lambda: False) -> threading.Event:
        stop = threading.Event()
        stops.append(stop)
        runs.append(elsewhere(Clock(stop, away).run))
        return stop

    yield start_clock
    for stop in stops:
        stop.set()
    # Woken again and again: one that was just going to sleep hears the stop only then.
    wait_until(lambda: store.wake_clock() or all(run.done() for run in runs), "every clock stops")
    for run in runs:
        run.result()


@pytest.fixture
def heavy_sleeper(monkeypatch) -> None:
    """A clock that sleeps for minutes unless something wakes it."""
    monkeypatch.setattr(clock, "LONGEST_SLEEP", 300.0)


@pytest.fixture
def asleep(onlooker, holders):
    """Whether the leader has had nothing to do for a while."""
    question = """SELECT state = 'idle' AND clock_timestamp() - state_change > interval '0.2 s'
                  FROM pg_stat_activity WHERE pid = ANY(%s)"""
    return lambda: onlooker.execute(question, [holders()]).fetchone() == (True,)


@pytest.fixture
def end_session(onlooker):
    """Cut a session, as a restart of the database does."""
    return lambda pid: onlooker.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])


def queued(job_id: int) -> bool:
    return Job.objects.filter(pk=job_id, status="queued").exists()


class TestTheLeader:
    def test_one_of_two_clocks_leads_and_only_that_one_ticks(self, start_clock, holders, onlooker, monkeypatch):
        ticks: list[int] = []
        monkeypatch.setattr(clock, "promote", lambda: ticks.append(threading.get_ident()))
        monkeypatch.setattr(clock, "LONGEST_SLEEP", 0.02)
        refused = """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                     AND state = 'idle' AND query LIKE '%%pg_try_advisory_lock%%'"""
        start_clock(), start_clock()
        wait_until(lambda: onlooker.execute(refused).fetchone()[0] == 1, "one clock asked for the lock in vain")
        wait_until(lambda: len(ticks) > 10, "the other one ticks")
        assert len(holders()) == 1
        assert len(set(ticks)) == 1

    def test_when_the_leaders_session_ends_there_is_soon_a_leader_again(self, start_clock, holders, end_session):
        start_clock(), start_clock()
        wait_until(holders, "one leads")
        (first,) = holders()
        end_session(first)
        wait_until(lambda: holders() not in ([], [first]), "there is a leader again")
        assert len(holders()) == 1

    def test_a_leader_that_loses_the_broker_leads_on_until_another_worker_reaches_it(
        self, start_clock, holders, register
    ):
        away = threading.Event()
        away.set()
        start_clock(away.is_set)
        wait_until(holders, "it leads, since no worker reaches the broker")
        register()
        wait_until(lambda: not holders(), "it gives up the lead")
        away.clear()
        wait_until(holders, "it leads again")

    def test_a_clock_alone_leads_again_when_the_database_is_back(
        self, start_clock, holders, end_session, tenant, register
    ):
        register()
        start_clock()
        wait_until(holders, "it leads")
        end_session(holders()[0])
        job_id = submit(request_for(tenant, delay=0.05)).id
        wait_until(lambda: queued(job_id), "it goes on promoting")

    def test_when_the_leader_stops_the_other_takes_over(self, start_clock, holders):
        stop = start_clock()
        wait_until(holders, "the first leads")
        (first,) = holders()
        start_clock()
        stop.set()
        wait_until(lambda: holders() not in ([], [first]), "the second leads")

    def test_a_leader_notes_that_it_looks_whatever_holds_up_the_schedules(self, start_clock, monkeypatch):
        look = next(duty for duty in duties.duties() if duty.run == store.note_look)
        monkeypatch.setattr(clock, "duties", lambda: [duties.Duty(look.every / 50, look.run)])
        start_clock()
        looks = Recorded.objects.filter(task="missed")
        wait_until(looks.exists, "it looks")
        first = looks.get()
        wait_until(lambda: looks.get().at > first.at, "it looks again")
        assert looks.get().upto == first.upto, "since then"


@pytest.mark.usefixtures("heavy_sleeper")
class TestTheMoment:
    def test_a_job_is_promoted_at_its_moment_and_not_at_the_next_round(self, start_clock, tenant, register):
        register()
        job_id = submit(request_for(tenant, delay=0.3)).id
        due = Job.objects.get(pk=job_id).due_at
        start_clock()
        wait_until(lambda: queued(job_id), "the job is dispatched")
        job = Job.objects.get(pk=job_id)
        assert due == job.created_at + timedelta(seconds=0.3)
        assert job.queued_at >= due

    def test_a_submit_for_an_earlier_moment_wakes_the_clock(self, start_clock, tenant, register, holders, asleep):
        register()
        later = submit(request_for(tenant, 1, delay=3600)).id
        start_clock()
        wait_until(lambda: holders() and asleep(), "the clock sleeps")
        sooner = submit(request_for(tenant, 2, delay=0.05)).id
        wait_until(lambda: queued(sooner), "the job is dispatched")
        assert Job.objects.get(pk=later).status == "scheduled"


class TestTheRound:
    """What nobody else saw to is made good: the net under submit, settle and register."""

    def test_a_ready_job_that_no_dispatch_has_seen_is_dispatched(self, start_clock, tenant, register):
        register()
        job = make_job(tenant)
        start_clock()
        wait_until(lambda: queued(job.pk), "the job is dispatched")

    def test_a_job_of_a_dead_worker_is_taken_back(self, start_clock, tenant, register, settings):
        settings.JOBS_BEAT_INTERVAL = 0.05
        job = make_job(tenant, Status.RUNNING, worker=register())
        start_clock()
        wait_until(lambda: Job.objects.filter(pk=job.pk, crashes=1).exists(), "the job is taken back")
        assert Worker.objects.get().gone_at is not None

    def test_a_lost_message_is_sent_again(self, start_clock, tenant, register, settings, sent):
        settings.JOBS_HAND_OVER_TIMEOUT = 0
        register()
        job = make_job(tenant, Status.QUEUED, handed_at=timezone.now())
        start_clock()
        wait_until(lambda: job.pk in {message.id for message in sent}, "the message is sent again")

    def test_after_an_outage_a_worker_has_time_to_beat_before_it_is_declared_gone(self, start_clock, tenant, register):
        silent = register()
        Worker.objects.filter(pk=silent).update(beat_at=timezone.now() - timedelta(hours=1))
        hour_ago = timezone.now() - timedelta(hours=1)
        orphan = make_job(tenant, Status.RUNNING, worker=uuid.uuid4(), start_time=hour_ago)
        start_clock()
        wait_until(lambda: Job.objects.filter(pk=orphan.pk, crashes=1).exists(), "a round has passed")
        assert Worker.objects.get(pk=silent).gone_at is None


class TestPromote:
    def test_due_jobs_are_promoted_and_others_stay(self, tenant):
        now = timezone.now()
        due = make_job(tenant, Status.SCHEDULED, due_at=now)
        make_job(tenant, Status.SCHEDULED, due_at=now + timedelta(microseconds=1))
        assert [promoted.id for promoted in call_at(now, store.promote)] == [due.pk]

    @pytest.mark.parametrize(("count", "passes"), [(0, 0), (9, 1), (10, 1), (25, 3)])
    def test_many_are_promoted_in_batches_with_a_dispatch_after_each(self, count, passes, tenant, monkeypatch):
        made = []
        monkeypatch.setattr(promote, "BATCH", 10)
        monkeypatch.setattr(
            "jobs.engine.door.dispatch.dispatch", lambda: made.append(Job.objects.filter(status="created").count())
        )
        for _ in range(count):
            make_job(tenant, Status.SCHEDULED)
        assert promote.promote() == count
        assert made == [min(n * 10, count) for n in range(1, passes + 1)]

    def test_a_due_job_of_a_paused_type_is_held_and_nothing_is_dispatched(self, tenant, monkeypatch, caplog):
        caplog.set_level("INFO", "jobs")
        dispatched = []
        monkeypatch.setattr("jobs.engine.door.dispatch.dispatch", lambda: dispatched.append(True))
        held = make_job(tenant, Status.SCHEDULED, attempt=2)
        pause(held)
        assert promote.promote() == 0
        assert (caplog.messages, dispatched) == ([f"hold job={held.pk} attempt=2 tenant={tenant.pk}"], [])

    def test_beside_held_ones_the_others_are_promoted_batch_after_batch(self, tenant, monkeypatch, caplog):
        caplog.set_level("INFO", "jobs")
        dispatched = []
        monkeypatch.setattr(promote, "BATCH", 2)
        monkeypatch.setattr("jobs.engine.door.dispatch.dispatch", lambda: dispatched.append(True))
        now = timezone.now()
        types = ["paused", "paused", "paused", "open"]
        jobs = [
            make_job(tenant, Status.SCHEDULED, source_method=method, due_at=now - timedelta(minutes=9 - n))
            for n, method in enumerate(types)
        ]
        pause(jobs[0])
        assert promote.promote() == 1
        assert sorted(caplog.messages) == [
            *(f"hold job={job.pk} attempt=0 tenant={tenant.pk}" for job in jobs[:3]),
            f"promote job={jobs[3].pk} attempt=0 tenant={tenant.pk}",
        ]
        assert dispatched == [True]

    def test_the_longest_due_are_promoted_first(self, tenant):
        now = timezone.now()
        jobs = [make_job(tenant, Status.SCHEDULED, due_at=now - timedelta(minutes=n)) for n in (1, 3, 2)]
        assert [store.promote(1)[0].id for _ in jobs] == [jobs[1].pk, jobs[2].pk, jobs[0].pk]

    def test_a_job_that_somebody_is_cancelling_is_left_alone_and_not_waited_for(self, tenant, elsewhere):
        cancelled, other = (make_job(tenant, Status.SCHEDULED) for _ in range(2))
        with transaction.atomic():
            assert store.cancel([cancelled.pk], tenant_id=EVERY_TENANT)
            assert elsewhere(promote.promote).result(30) == 1
        assert Job.objects.get(pk=cancelled.pk).status == "cancelled"
        assert Job.objects.get(pk=other.pk).status == "created"
