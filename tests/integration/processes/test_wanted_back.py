"""Who is asked for a slot at the next checkpoint, and why: by rows, and by the parents of both kinds of workers."""

import os
import threading
from datetime import timedelta
from types import SimpleNamespace as Object

import pytest
from django.utils import timezone

from jobs import job, store
from jobs.engine.upkeep.wanted_back import wanted_back
from jobs.lifecycle import HandBack, Status
from jobs.models import Job, PausedJobType, Queue
from jobs.recording.may_run import MayRun
from jobs.worker.children.reconcile import Reconciler
from tenants.models import TenantQueue
from tests.clock import call_at
from tests.factories import NO_PID, QueueFactory, TenantFactory, make_job
from tests.sample.models import Thing

pytestmark = pytest.mark.django_db(transaction=True)
LATER = timezone.now() + timedelta(minutes=1)  # what the tests make is ready before


class Here:
    """A worker whose three processes run jobs; a recorder looks, as every five seconds."""

    def __init__(self, worker) -> None:
        self.worker, self.pids = worker, NO_PID
        self._recorder = MayRun()

    def runs(self, tenant, *, ago: float = 1.0, **fields) -> Job:
        self.pids += 1
        began = LATER - timedelta(seconds=ago)
        held = {"worker": self.worker, "worker_pid": self.pids, "cursor": 7, "queued_at": began, "start_time": began}
        return make_job(tenant, Status.RUNNING, **held | fields)

    def look(self, *seconds: float) -> None:
        for second in seconds:
            call_at(LATER + timedelta(seconds=second), self._recorder.look)

    def wanted(self, second: float = 6.0) -> dict[int, HandBack]:
        running = [row for row, *_ in store.running_here(self.worker, 0)]
        found = call_at(LATER + timedelta(seconds=second), wanted_back, self.worker, running)
        assert all(Job.objects.get(pk=pk).worker_pid == pid for pid, pk, _ in found)
        return {job_id: why for (_, job_id, _), why in found.items()}


@pytest.fixture
def here(register, settings) -> Here:
    settings.JOBS_BEAT_INTERVAL = 86_400.0
    return Here(register(concurrency=3))


class TestPauses:
    @pytest.mark.parametrize("why", [HandBack.QUEUE, HandBack.TENANT, HandBack.TYPE])
    def test_a_pause_asks_for_the_slots_of_its_own_jobs_and_of_no_stranger(self, why, here):
        owner, stranger = TenantFactory(queue__num_slots=5), TenantFactory(queue__num_slots=5)
        mine = here.runs(owner)
        here.runs(stranger, queue=QueueFactory(name="other"), source_method="other")
        assert here.wanted() == {}
        if why == HandBack.TYPE:
            PausedJobType.objects.create(source_type=mine.source_type, source_method=mine.source_method)
        elif why == HandBack.TENANT:
            TenantQueue.objects.filter(tenant=owner).update(paused=True)
        else:
            Queue.objects.filter(pk=mine.queue_id).update(paused=True)
        assert here.wanted() == {mine.pk: why}

    def test_only_what_runs_in_this_worker_and_makes_checkpoints_is_looked_at(self, here, register):
        owner = TenantFactory(queue__num_slots=9, queue__paused=True)
        mine, ended = here.runs(owner), here.runs(owner)
        here.runs(owner, cursor=None)
        moved = here.runs(owner)
        running = [row for row, *_ in store.running_here(here.worker, 0)]
        Job.objects.filter(pk=ended.pk).update(status=Status.QUEUED)
        Job.objects.filter(pk=moved.pk).update(worker=register())
        assert {job_id for _, job_id, _ in wanted_back(here.worker, running)} == {mine.pk}


class TestFewerSlots:
    def test_the_latest_that_can_give_theirs_back_for_as_many_as_are_too_many(self, here):
        owner, stranger = TenantFactory(queue__num_slots=5), TenantFactory(queue__num_slots=5)
        jobs = [here.runs(owner, ago=9 - nth) for nth in range(4)]
        here.runs(owner, ago=0.5, cursor=None)  # a body without checkpoints goes on
        here.runs(stranger)
        for slots, wanted in ((5, []), (4, jobs[3:]), (2, jobs[1:]), (0, jobs)):
            TenantQueue.objects.filter(tenant=owner).update(num_slots=slots)
            assert here.wanted() == {job.pk: HandBack.SLOTS for job in wanted}

    def test_a_tenant_without_slots_borrows_none(self, here):
        mine = here.runs(TenantFactory(queue__num_slots=0, queue__burst_slots=5))
        assert here.wanted() == {mine.pk: HandBack.SLOTS}


class TestBorrowedSlots:
    @pytest.fixture
    def borrowed(self, here) -> list[Job]:
        owner = TenantFactory(queue__num_slots=1, queue__burst_slots=3)
        return [here.runs(owner, ago=9 - nth) for nth in range(3)]

    def test_as_many_as_others_wait_for_but_not_its_own(self, here, borrowed):
        entitled = TenantFactory(queue__num_slots=2)
        here.look(0)
        make_job(borrowed[0].tenant)  # it has all its slots
        assert here.wanted() == {}
        make_job(entitled)
        here.look(6)
        assert here.wanted(7) == {}  # it has not waited for five seconds
        here.look(11)
        assert here.wanted(12) == {borrowed[2].pk: HandBack.BORROWED}
        for _ in range(5):
            make_job(entitled)
        here.look(16, 21)
        assert here.wanted(22) == {job.pk: HandBack.BORROWED for job in borrowed[1:]}

    def test_tenants_that_borrow_give_back_no_more_together_than_others_wait_for(self, here, borrowed):
        other = TenantFactory(queue__num_slots=1, queue__burst_slots=2)
        theirs = [here.runs(other, ago=ago) for ago in (5, 1)]
        entitled = TenantFactory(queue__num_slots=2)
        for wanted in (theirs[1:], [theirs[1], borrowed[2]]):
            make_job(entitled)
            here.look(0, 6)
            assert here.wanted(7) == {job.pk: HandBack.BORROWED for job in wanted}

    def test_a_job_that_got_a_process_since_the_look_waits_no_more_and_an_old_look_says_nothing(self, here, borrowed):
        entitled = TenantFactory(queue__num_slots=2)
        make_job(entitled)
        here.look(0, 6)
        assert here.wanted(7) == {borrowed[2].pk: HandBack.BORROWED}
        assert here.wanted(22) == {}
        other = QueueFactory(name="other", pool="other")
        here.runs(entitled, ago=-6.5, cursor=None, queue=other)  # a process of another pool
        assert here.wanted(7) == {borrowed[2].pk: HandBack.BORROWED}
        here.runs(entitled, ago=-6.5, cursor=None)
        assert here.wanted(7) == {}


class TestTurns:
    @pytest.fixture
    def turns(self, here, monkeypatch) -> list[Job]:
        """Three that take turns of a minute; the turn of two is over."""
        monkeypatch.setattr(Thing, "echo", job(turn=60)(lambda self: None))
        owner, called = TenantFactory(queue__num_slots=9), {"source_type": "sample.thing", "source_method": "echo"}
        return [here.runs(owner, ago=ago, **called) for ago in (100, 70, 50)]

    def test_the_longest_goes_if_a_job_of_another_lane_lacks_its_process(self, here, turns):
        assert here.wanted() == {}
        make_job(turns[0].tenant)
        store.claim()
        here.look(0, 6)
        assert here.wanted(7) == {}  # its own lane: it would go on itself
        make_job(TenantFactory(queue__num_slots=1), queue=QueueFactory(name="paused", paused=True))
        store.claim()
        assert here.wanted(7) == {}
        make_job(TenantFactory(queue__num_slots=1))
        store.claim()
        TenantQueue.objects.filter(tenant=turns[0].tenant).update(num_slots=3)
        here.look(8, 13)
        assert here.wanted(14) == {turns[0].pk: HandBack.TURN}
        for _ in range(3):
            make_job(TenantFactory(queue__num_slots=1))
        store.claim()
        here.look(15, 20)
        assert here.wanted(20.5) == {turns[0].pk: HandBack.TURN, turns[1].pk: HandBack.TURN, turns[2].pk: HandBack.TURN}

    def test_no_turn_ends_for_a_job_that_gets_a_borrowed_slot(self, here, turns):
        borrowed = here.runs(TenantFactory(queue__num_slots=1, queue__burst_slots=2))
        here.runs(borrowed.tenant, ago=9)
        make_job(TenantFactory(queue__num_slots=1))
        store.claim()
        here.look(0, 6)
        assert here.wanted(7) == {borrowed.pk: HandBack.BORROWED}

    def test_a_type_that_this_worker_does_not_know_takes_no_turn(self, here):
        here.runs(TenantFactory(queue__num_slots=9), ago=900, source_method="unknown")
        make_job(TenantFactory(queue__num_slots=1))
        store.claim()
        here.look(0, 6)
        assert here.wanted(7) == {}


class TestAnOrdinaryWorker:
    def test_its_parent_asks_the_body_that_runs_and_asks_no_more_when_the_reason_is_gone(self, here, table):
        owner = TenantFactory(queue__num_slots=5)
        mine = here.runs(owner, worker_pid=os.getpid())
        entry = table.take_entry(0, os.getpid())
        entry.hold(mine.pk, 1)
        entry.limit(3600.0, 0)
        parent = Reconciler(here.worker, table, threading.Event(), Object(pids=lambda: [os.getpid()]))
        parent.look()
        assert entry.asked_back() is None
        TenantQueue.objects.filter(tenant=owner).update(paused=True)
        parent.look()
        assert entry.asked_back() == HandBack.TENANT
        TenantQueue.objects.filter(tenant=owner).update(paused=False)
        parent.look()
        assert entry.asked_back() is None

    def test_a_question_to_one_body_says_nothing_to_the_next(self, here, table):
        mine = here.runs(TenantFactory(queue__num_slots=0))
        entry = table.take_entry(0, mine.worker_pid)
        entry.hold(mine.pk, 1)
        entry.limit(3600.0, 0)
        table.ask_back({(mine.worker_pid, mine.pk, 1): HandBack.SLOTS})
        assert entry.asked_back() == HandBack.SLOTS
        entry.lift_limit()
        assert entry.asked_back() is None
        entry.hold(mine.pk, 2)
        entry.limit(3600.0, 0)
        assert entry.asked_back() is None
