"""A job holds its lane or its queue until a moment: nothing else of it starts, and then that job is the first."""

import os
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from jobs import store
from jobs.authoring.exceptions import Later
from jobs.models import Hold, Job, Lane, QueueTurn, Worker
from jobs.reading import looking, waits
from jobs.store import Holder
from tenants.models import TenantQueue
from tests.clock import call_at
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory
from tests.verbs import succeed_many

pytestmark = pytest.mark.django_db

NOON = datetime(2031, 3, 5, 12, 0, tzinfo=UTC)
WORKER = UUID(int=7)


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


@pytest.fixture(autouse=True)
def workers():
    Worker.objects.create(id=WORKER, name="w", pid=1, pool="default", concurrency=50, beat_interval=1e9)


@pytest.fixture
def mails():
    return QueueFactory(name="mails")


@pytest.fixture
def acme():
    return TenantFactory(queue__num_slots=2)


@pytest.fixture
def stranger():
    return TenantFactory(queue__num_slots=1)


def submit(owner, seconds: float, jobs: int, queue="mails", **fields) -> list[int]:
    first = Job.objects.count()
    wanted = [request_for(owner, first + n, queue=queue, **fields) for n in range(jobs)]
    return [one.id for one in call_at(at(seconds), store.insert, wanted)]


def claim(seconds: float, **how) -> list[int]:
    """The jobs that a dispatch claims, pass after pass, and that start."""
    started: list[int] = []
    while claimed := call_at(at(seconds), store.claim_within, **how):
        for job in claimed:
            assert call_at(at(seconds), store.start, job.id, job.attempt, store.Seat.here(WORKER))
        started += [job.id for job in claimed]
    return started


def of(owner, ids: list[int]) -> list[int]:
    return list(Job.objects.filter(tenant=owner, pk__in=ids).values_list("pk", flat=True).order_by("queued_at", "pk"))


def holder() -> Holder:
    return Holder(WORKER, os.getpid())


def hold(job_id: int, seconds: float, until: float, what: str = "tenant", why: str = "429") -> None:
    delay = until - seconds
    later = Later(delay, what, why)
    attempt = Job.objects.get(pk=job_id).attempt
    assert call_at(at(seconds), store.snooze, job_id, attempt, {}, delay=delay, later=later, by=holder())


def end(job_id: int, seconds: float) -> None:
    attempt = Job.objects.get(pk=job_id).attempt
    assert call_at(at(seconds), store.succeed, job_id, attempt, {}, None, by=holder())


def end_and_follow(job_id: int, seconds: float) -> int | None:
    attempt = Job.objects.get(pk=job_id).attempt
    applied, next_one = call_at(at(seconds), store.succeed_and_follow, job_id, attempt, {}, None, by=holder())
    assert applied
    return next_one and next_one.id


def end_in_a_trip(job_id: int, seconds: float) -> int | None:
    """As the feeder of a light pool does."""
    job = Job.objects.get(pk=job_id)
    _, followed = call_at(at(seconds), succeed_many, job, job.attempt, holder(), goes_on=True)
    return next((one.id for one in followed.values()), None)


def promote(seconds: float) -> list[int]:
    return [job.id for job in call_at(at(seconds), store.promote)]


def lane(owner, queue) -> Lane:
    return Lane.objects.get(tenant_id=owner.pk, queue_id=queue.pk)


class TestLane:
    def test_nothing_of_it_starts_until_then_and_the_job_that_held_it_is_the_first(self, mails, acme, stranger):
        first, second, third, fourth = submit(acme, 0, 4)
        strangers = submit(stranger, 0, 2)
        assert set(claim(0)) == {first, second, strangers[0]}
        others = submit(acme, 1, 1, queue="default")
        hold(first, 1, 61)
        assert claim(1) == others, "another queue of the tenant goes on"
        end(second, 2)
        end(strangers[0], 2)
        assert claim(2) == [strangers[1]], "another tenant goes on, and a free slot does not open the lane"
        end(others[0], 3)
        assert claim(3) == claim(60.9) == claim(60.9, borrow=True) == []
        assert call_at(at(3), store.next_moment) == pytest.approx(58)
        assert claim(61) == [], "its job is not in line yet"
        assert promote(61) == [first]
        assert claim(61) == [first, third]
        assert not Hold.objects.exists()
        end(first, 62)
        assert claim(62) == [fourth]

    def test_a_lane_that_has_another_reason_too_opens_when_both_are_over(self, mails, acme):
        first, *others = submit(acme, 0, 3)
        assert claim(0) == [first, others[0]]
        hold(first, 1, 61)
        TenantQueue.objects.filter(tenant=acme).update(num_slots=0)
        promote(61)
        assert claim(61) == []
        assert lane(acme, mails).state == "closed"
        TenantQueue.objects.filter(tenant=acme).update(num_slots=2)
        assert claim(62) == [first], "the slot of the other one is in use"

    @pytest.mark.parametrize("event", ["a freed slot", "a changed limit", "a resume", "an arrival", "more slots there"])
    def test_no_event_but_its_moment_opens_it(self, mails, acme, event):
        limits = TenantQueue.objects.filter(tenant=acme)
        first, second, *_ = submit(acme, 0, 4)
        claim(0)
        hold(first, 1, 61)
        assert claim(1) == []
        match event:
            case "a freed slot":
                end(second, 2)
            case "a changed limit":
                limits.update(num_slots=9)
            case "a resume":
                limits.update(paused=True)
                assert claim(2) == []
                limits.update(paused=False)
            case "an arrival":
                submit(acme, 2, 1, priority=0)
            case "more slots there":
                mails.tenant_slots = 5
                mails.save()
        assert claim(3) == claim(3, borrow=True) == []
        assert lane(acme, mails).state == "held"

    @pytest.mark.parametrize("state", ["full", "closed", "resting", "waiting for a token", "empty"])
    def test_a_lane_that_was_out_of_the_circle_is_held_too_and_back_in_it_afterwards(self, mails, acme, state):
        changes = {
            "full": {"queue_slots": {"mails": 1}},
            "closed": {"num_slots": 1},
            "resting": {"num_slots": 1, "burst_slots": 2},
            "waiting for a token": {"rate_limit": 1, "rate_window": 30.0},
            "empty": {},
        }[state]
        TenantQueue.objects.filter(tenant=acme).update(**changes)
        first, *_ = submit(acme, 0, 1 if state == "empty" else 3)
        assert claim(0) == [first]
        hold(first, 1, 61)
        submit(acme, 2, 1)
        assert claim(2) == claim(40) == claim(40, borrow=True) == []
        promote(61)
        assert claim(61)[0] == first

    def test_the_latest_of_several_holds_counts(self, mails, acme):
        first, second, third = submit(acme, 0, 3)
        claim(0)
        hold(first, 1, 61)
        claim(2)
        hold(second, 3, 33)
        promote(33)
        assert claim(34) == []
        promote(61)
        assert claim(61) == [first, second]
        hold(first, 62, 92)
        hold(second, 62, 122)
        promote(92)
        assert claim(92) == []
        promote(122)
        assert claim(122) == [first, second]
        end(first, 123)
        assert claim(123) == [third]

    @pytest.mark.parametrize("follows", [end_and_follow, end_in_a_trip])
    @pytest.mark.parametrize("what", ["tenant", "queue"])
    def test_none_follows_in_a_slot_from_the_commit_on_until_the_door_opens_it(
        self, mails, acme, stranger, what, follows
    ):
        TenantQueue.objects.filter(tenant=acme).update(num_slots=3)
        first, second, third, *others = submit(acme, 0, 7)
        one, other = submit(stranger, 0, 2)
        assert set(claim(0)) == {first, second, third, one}
        hold(first, 1, 61, what)
        assert follows(one, 2) == (other if what == "tenant" else None)
        assert follows(third, 2) is None
        assert claim(60) == []
        if what == "tenant":  # a queue may be open for the other lanes a moment before its job is in line
            promote(61)
        assert follows(second, 61) is None, "though it is over, its job is to be the first"
        promote(61)
        assert of(acme, claim(61)) == [first, *others[:2]]
        assert follows(first, 62) == others[2], "the line is open"

    def test_the_end_of_the_job_changes_nothing(self, mails, acme):
        first, second, third = submit(acme, 0, 3)
        claim(0)
        hold(first, 1, 61)
        assert store.cancel([first], tenant_id=acme.pk)
        Job.objects.filter(pk=first).delete()
        end(second, 2)
        promote(60)
        assert claim(60) == []
        assert promote(61) == []
        assert claim(61) == [third]

    def test_500_jobs_ask_once_in_that_minute_or_as_often_as_ran(self, mails, acme):
        submit(acme, 0, 500)
        asked = claim(0)
        assert len(asked) == 2
        for minute in range(3):
            for job_id in asked:
                hold(job_id, 60 * minute + 1, 60 * minute + 61)
            assert not any(claim(60 * minute + second) for second in range(1, 61))
            promote(60 * minute + 61)
            again = claim(60 * minute + 61)
            assert again == asked
        assert Job.objects.filter(attempt__gt=0).count() == 2


class TestQueue:
    def test_no_job_of_any_tenant_starts_and_other_queues_go_on(self, mails, acme, stranger):
        first, second, third = submit(acme, 0, 3)
        submit(stranger, 0, 2)
        claim(0)
        hold(first, 1, 61, "queue")
        submit(stranger, 2, 1, queue="default")
        end(second, 2)
        assert len(claim(3)) == 0, "the stranger's only slot is in use"
        TenantQueue.objects.filter(tenant=stranger).update(num_slots=3)
        assert Job.objects.get(pk=claim(4)[0]).queue.name == "default"
        assert claim(60) == claim(60, borrow=True) == []
        assert call_at(at(59), store.next_moment) == pytest.approx(2)
        assert claim(61) == []
        promote(61)
        started = claim(61)
        assert of(acme, started) == [first, third]
        assert len(of(stranger, started)) == 1
        assert QueueTurn.objects.get(queue_id=mails.pk).opened_at == at(61)

    def test_a_queue_and_a_lane_of_it_may_both_be_held(self, mails, acme, stranger):
        first, second, *_ = submit(acme, 0, 4)
        claim(0)
        hold(first, 1, 31, "queue")
        hold(second, 2, 92)
        submit(stranger, 3, 1)
        promote(31)
        assert [Job.objects.get(pk=one).tenant_id for one in claim(31)] == [stranger.pk]
        promote(92)
        assert claim(92) == [first, second]

    def test_a_queue_opens_though_the_tenant_that_held_it_is_gone(self, mails, acme, stranger):
        [first] = submit(acme, 0, 1)
        assert claim(0) == [first]
        hold(first, 1, 61, "queue")
        [other] = submit(stranger, 2, 1)
        assert claim(2) == []
        Job.objects.filter(tenant=acme).delete()
        store.forget_lanes([acme.pk])
        promote(60)
        assert claim(60) == []
        promote(61)
        assert claim(61) == [other]

    def test_no_look_counts_a_job_of_a_held_line_as_one_that_could_run(self, mails, acme, stranger):
        first, *_ = submit(acme, 0, 4)
        strangers = submit(stranger, 0, 3)
        claim(0)
        hold(first, 1, 61)
        assert claim(2) == []  # the door knows of all that waits
        TenantQueue.objects.update(num_slots=9)
        queues = call_at(at(3), looking.look_queues)
        lanes = {one.tenant_id: one for one in call_at(at(3), looking.look_lanes)}
        assert (lanes[acme.pk].gate, lanes[acme.pk].passing) == ("lane_held", 0)
        assert (lanes[stranger.pk].gate, lanes[stranger.pk].passing) == (None, 2)
        assert sum(waits.may_run(lanes.values(), queues).values()) == 2
        hold(strangers[0], 4, 61, "queue")
        assert claim(5) == []
        queues = call_at(at(5), looking.look_queues)
        assert queues[mails.pk].held
        assert not any(lost for _, lost in call_at(at(5), store.heads, 0, 9))
        assert not waits.may_run(call_at(at(5), looking.look_lanes), queues)

    @pytest.mark.parametrize("what", ["tenant", "queue"])
    def test_a_hold_counts_as_no_wait_for_a_process(self, mails, acme, what):
        """Nor for a job that follows another one."""
        TenantQueue.objects.filter(tenant=acme).update(num_slots=5)
        Worker.objects.update(concurrency=2)
        first, second, third = submit(acme, 0, 3, priority=6)
        assert claim(0) == [first, second]
        hold(first, 0, 61, what)
        hold(second, 0, 9, what)
        assert claim(1) == []
        promote(61)
        assert claim(62) == [first, second]
        assert end_and_follow(first, 63) == third
        waits = Job.objects.in_bulk([first, second, third])
        assert [waits[one].own_until for one in (first, second, third)] == [at(62)] * 3


class TestOpening:
    def test_an_operator_opens_a_lane_at_once_and_its_job_is_the_first(self, mails, acme, stranger):
        first, *_ = submit(acme, 0, 3)
        other, *_ = submit(stranger, 0, 1)
        claim(0)
        hold(first, 1, 61)
        hold(other, 1, 61)
        claim(2)
        assert call_at(at(3), store.open_line, mails.pk, acme.pk) == 1
        assert claim(3) == []
        assert promote(3) == [first]
        assert claim(3) == [first]
        assert lane(stranger, mails).state == "held"
        assert call_at(at(3), store.open_line, mails.pk, acme.pk) == 0

    def test_a_queue_is_opened_and_its_held_lanes_are_not(self, mails, acme, stranger):
        first, _ = submit(acme, 0, 2)
        other, *_ = submit(stranger, 0, 1)
        claim(0)
        hold(first, 1, 61)
        hold(other, 1, 61, "queue")
        assert call_at(at(3), store.open_line, mails.pk) == 1
        promote(3)
        assert claim(3) == [other]

    def test_a_lane_opens_once_its_job_is_in_line_however_many_are_due(self, mails, acme):
        first, *others = submit(acme, 0, 3)
        assert claim(0) == [first, others[0]]
        hold(first, 1, 61)
        [delayed] = submit(acme, 2, 1, delay=10.0)
        end(others[0], 3)
        assert [job.id for job in call_at(at(70), store.promote, 1)] == [delayed]
        assert claim(70) == []
        assert [job.id for job in call_at(at(70), store.promote, 1)] == [first]
        assert claim(70) == [first, others[1]]

    def test_a_job_of_a_paused_type_or_another_attempt_or_one_that_ended_is_not_moved(self, mails, acme):
        first, second, third = submit(acme, 0, 3)
        TenantQueue.objects.filter(tenant=acme).update(num_slots=3)
        claim(0)
        for job_id in (first, second, third):
            hold(job_id, 1, 61)
        Job.objects.filter(pk=first).update(due_at="9999-12-31T00:00Z")
        Job.objects.filter(pk=second).update(attempt=5)
        assert store.cancel([third], tenant_id=acme.pk)
        assert [call_at(at(3), store.open_line, mails.pk, acme.pk) for _ in range(2)] == [3, 0]
        assert Job.objects.get(pk=third).due_at is None
        assert promote(3) == []
        submit(acme, 4, 1)
        assert len(claim(4)) == 1, "the lane is open, whatever became of the jobs that held it"
