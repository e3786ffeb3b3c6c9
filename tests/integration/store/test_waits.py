"""A wait has two parts, which add up to it: for the tenant's own limits, then for a process."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from jobs import store
from jobs.models import Attempt, Job, Queue, Worker
from jobs.store import Holder
from tenants.models import TenantQueue
from tests.clock import call_at
from tests.conftest import request_for
from tests.factories import TenantFactory
from tests.verbs import succeed_many

pytestmark = pytest.mark.django_db

NOON = datetime(2031, 3, 5, 12, 0, tzinfo=UTC)
HELD_BACK = {
    "no free slot": {"queue__num_slots": 1},
    "no free slot in its queue": {"queue__queue_slots": {"default": 1}},
    "no free slot of its user": {"queue__user_slots": 1},
    "no token of its rate limit": {"queue__rate_limit": 1, "queue__rate_window": 3600.0},
    "a pause": {},
}


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def workers(processes: int) -> None:
    Worker.objects.all().delete()
    if processes:
        Worker.objects.create(id=uuid4(), name="w", pid=1, pool="default", concurrency=processes, beat_interval=1e9)


def submit(tenant, seconds: float, **fields) -> None:
    call_at(at(seconds), store.insert, [request_for(tenant, seconds, **fields)])


def claim(seconds: float) -> list[store.Claimed]:
    return call_at(at(seconds), store.claim_within)


def start(job: store.Claimed, seconds: float) -> None:
    assert call_at(at(seconds), store.start, job.id, job.attempt, store.Seat.here(uuid4()))


def end(job: store.Claimed, seconds: float) -> None:
    assert call_at(at(seconds), store.succeed, job.id, job.attempt, {}, None)


def parts(job: store.Claimed | Job) -> tuple[float, float]:
    """The seconds that the job waited for its tenant's own limits, and for a process."""
    row = Job.objects.get(pk=job.id)
    return (
        (row.own_until - row.waited_since).total_seconds(),
        (row.start_time - row.own_until).total_seconds(),
    )


def test_a_job_of_a_tenant_with_free_slots_waits_for_a_process():
    """However many jobs of its own are before it."""
    tenant = TenantFactory(queue__num_slots=5)
    workers(1)
    for _ in range(3):
        submit(tenant, 0)
    (first,) = claim(0)
    start(first, 0)
    end(first, 60)
    (second,) = claim(60)
    start(second, 61)
    assert parts(second) == (0, 61)


@pytest.mark.parametrize("limits", HELD_BACK.values(), ids=HELD_BACK)
def test_a_job_that_its_tenants_limits_held_back_waits_for_these_then_for_a_process(limits):
    tenant = TenantFactory(**{"queue__num_slots": 5, **limits})
    workers(5)
    submit(tenant, 0, user_key="ines")
    (first,) = claim(0)
    start(first, 0)
    if not limits:
        call_at(at(0), TenantQueue.objects.filter(tenant=tenant).update, paused=True)
    submit(tenant, 1, user_key="ines")
    assert claim(1) == claim(2) == []
    workers(0)
    end(first, 100)
    call_at(at(100), TenantQueue.objects.filter(tenant=tenant).update, paused=False, rate_limit=None, rate_window=None)
    assert claim(100) == []  # its lane opens
    workers(5)
    (second,) = claim(130)
    start(second, 131)
    assert parts(second) == (99, 31)


def test_a_queue_that_operators_hold_is_no_limit_of_the_tenants():
    tenant = TenantFactory(queue__num_slots=5)
    workers(5)
    submit(tenant, 0)
    Queue.objects.update(paused=True)
    assert claim(1) == []
    Queue.objects.update(paused=False)
    (job,) = claim(60)
    start(job, 60)
    assert parts(job) == (0, 60)


@pytest.mark.parametrize("many", [False, True], ids=["follow", "succeed_many"])
@pytest.mark.parametrize(
    ("slots", "here", "expected"), [(1, {}, (59, 0)), (5, {"default": 1}, (59, 0)), (5, {}, (0, 59))]
)
def test_a_job_that_follows_waited_for_its_slot_if_its_tenant_has_no_other(slots, here, expected, many):
    tenant = TenantFactory(queue__num_slots=slots, queue__queue_slots=here)
    workers(1)
    for seconds in (0, 1):
        submit(tenant, seconds)
    (first,) = claim(1)
    seat = store.Seat.here(Worker.objects.get().pk)
    assert call_at(at(1), store.start, first.id, first.attempt, seat)
    holder = Holder(seat.worker, seat.pid)
    if many:
        ended = Job.objects.get(pk=first.id)
        _, followed = call_at(at(60), succeed_many, ended, first.attempt, holder, goes_on=True)
        (follower,) = followed.values()
    else:
        _, follower = call_at(at(60), store.succeed_and_follow, first.id, first.attempt, {}, None, by=holder)
    assert parts(follower) == expected


def test_the_log_of_attempts_keeps_both_parts():
    tenant = TenantFactory(queue__num_slots=1)
    workers(1)
    submit(tenant, 0)
    (job,) = claim(10)
    start(job, 12)
    end(job, 20)
    row = Attempt.objects.get()
    assert (row.waited_since, row.own_until, row.start_time) == (at(0), at(0), at(12))


def test_no_part_is_negative_after_the_clock_was_set_back():
    tenant = TenantFactory(queue__num_slots=1)
    workers(1)
    submit(tenant, 0)
    (first,) = claim(0)
    submit(tenant, 100)
    start(first, 100)
    end(first, 1000)
    (second,) = claim(500)
    start(second, 500)
    own, process = parts(second)
    assert own >= 0
    assert process >= 0
    assert own + process == 400
