"""Rate limits of queues and tenants: bursts, changes while jobs wait, and what a limited line leaves to others."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import store
from jobs.allocation.gates import Gate
from jobs.engine.door import dispatch
from jobs.engine.process import runtime
from jobs.engine.submitting.submit import submit_all
from jobs.engine.verbs import limits
from jobs.models import Job, Lane, Queue, TenantBook
from jobs.reading.explain.explanation import explain
from jobs.worker.clock import clock
from tests.clock import call_at
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, finish
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]

HOUR = 3600.0


def submit(tenant, count: int = 1, **options) -> list[int]:
    return [s.id for s in submit_all([request_for(tenant, n, **options) for n in range(count)])]


def started(**filters) -> int:
    return Job.objects.filter(attempt=1, **filters).count()


@pytest.fixture
def tenant(register):
    register()
    return TenantFactory(queue__num_slots=50)


class Limited:
    """What has a rate limit in a test: the queue "limited", or the tenant."""

    def __init__(self, row: Callable) -> None:
        self._row = row

    def to(self, limit: int | None, window: float | None) -> None:
        limits.change(self._row(), {"rate_limit": limit, "rate_window": window})


@pytest.fixture(params=["queue", "tenant"])
def limited(request, tenant) -> Limited:
    QueueFactory(name="limited")
    return Limited(lambda: Queue.objects.get(name="limited") if request.param == "queue" else tenant.jobs_queue)


class TestChanges:
    def test_a_limit_on_what_was_idle_gives_its_whole_burst_at_once_and_no_more(self, limited, tenant):
        limited.to(5, HOUR)
        submit(tenant, 9, queue="limited")
        assert started() == 5
        assert dispatch.dispatch() == 0

    def test_jobs_that_started_before_there_was_a_limit_do_not_count(self, limited, tenant):
        submit(tenant, 9, queue="limited")
        limited.to(5, HOUR)
        submit(tenant, 9, queue="limited")
        assert started() == 9 + 5

    def test_an_empty_bucket_stays_empty_and_fills_at_the_new_rate(self, limited, tenant):
        limited.to(6, HOUR)
        submit(tenant, 9, queue="limited")
        for limit, window, refill in ((6, 1801.0, 300), (6, HOUR, 600), (2, HOUR, 1800), (2, 600.0, 300)):
            limited.to(limit, window)
            assert started() == 6
            assert 0.5 * refill < store.next_moment() <= refill + 0.5

    def test_a_larger_one_gives_the_difference_at_once(self, limited, tenant):
        limited.to(6, HOUR)
        submit(tenant, 9, queue="limited")
        limited.to(8, HOUR)
        assert started() == 8
        limited.to(3, HOUR)
        assert started() == 8
        assert dispatch.dispatch() == 0

    def test_explain_says_when_the_next_one_starts_under_the_new_one(self, limited, tenant):
        limited.to(10, HOUR)
        *_, last = submit(tenant, 11, queue="limited")
        limited.to(10, 1801.0)
        found = explain(last, tenant_id=tenant.pk)
        assert found.gate in {Gate.QUEUE_RATE, Gate.TENANT_RATE}
        assert 150 < (found.opens_at - timezone.now()).total_seconds() <= 181

    def test_a_removed_limit_lets_all_start_at_once(self, limited, tenant):
        limited.to(2, HOUR)
        submit(tenant, 9, queue="limited")
        limited.to(None, None)
        assert started() == 9

    def test_a_limit_after_a_removed_one_begins_full(self, limited, tenant):
        limited.to(1, HOUR)
        submit(tenant, 3, queue="limited")
        limited.to(None, None)
        limited.to(4, 60)
        submit(tenant, 9, queue="limited")
        assert started() == 3 + 4


class TestOthers:
    def test_a_limited_queue_holds_no_slot_while_it_waits(self, register, sent):
        worker = register()
        tenant = TenantFactory(queue__num_slots=2)
        QueueFactory(name="limited", rate_limit=1, rate_window=HOUR)
        submit(tenant, 5, queue="limited")
        finish(sent[0], worker)
        assert dispatch.dispatch() == 0
        assert not Job.objects.filter(slot__isnull=False).exists()
        submit(tenant, 2)
        assert Job.objects.filter(slot__isnull=False, queue__name="default").count() == 2

    def test_a_queues_limit_holds_over_its_tenants(self, tenant):
        QueueFactory(name="limited", rate_limit=5, rate_window=HOUR)
        other = TenantFactory(queue__num_slots=50)
        submit(tenant, 4, queue="limited")
        submit(other, 4, queue="limited")
        assert (started(tenant=tenant), started(tenant=other)) == (4, 1)

    def test_more_lanes_with_a_token_again_than_one_fold_opens_are_all_looked_at(self, register):
        """The first of them stand in a queue that is paused meanwhile."""
        register(concurrency=400)
        QueueFactory(name="stopped")
        limits = {"queue__rate_limit": 1, "queue__rate_window": HOUR}
        waiting = [(TenantFactory(**limits), "stopped" if n < 110 else "default") for n in range(120)]
        for tenant, queue in waiting:
            submit(tenant, 2, queue=queue)
        Queue.objects.filter(name="stopped").update(paused=True)
        Lane.objects.filter(opens_at__isnull=False).update(opens_at="2020-01-01T00:00Z")
        TenantBook.objects.update(full_at="2020-01-01T00:00Z")
        assert dispatch.dispatch(in_line=False) == 10

    def test_a_tenants_limit_holds_over_its_queues_and_is_its_own(self, tenant):
        QueueFactory(name="emails")
        slow = TenantFactory(queue__num_slots=50, queue__rate_limit=5, queue__rate_window=HOUR)
        for owner in (slow, tenant):
            submit(owner, 4, queue="emails")
            submit(owner, 4)
        assert (started(tenant=slow), started(tenant=tenant)) == (5, 8)


class TestTheNextToken:
    def test_the_next_token_is_a_moment_of_the_clock(self, limited, tenant):
        limited.to(5, 10)
        assert store.next_moment() is None
        submit(tenant, 9, queue="limited")
        token = Job.objects.filter(attempt=1).latest("queued_at").queued_at + timedelta(seconds=2)
        latest = (token - timezone.now()).total_seconds()
        seconds = store.next_moment()
        earliest = (token - timezone.now()).total_seconds()
        assert earliest - 1e-3 <= seconds <= latest + 1e-3

    def test_a_clock_that_is_set_back_puts_it_off_for_no_longer_than_the_window(self, register):
        register()
        limits = {"queue__rate_limit": 1, "queue__rate_window": 10.0}
        tenant, stranger = TenantFactory(**limits), TenantFactory(**limits)
        ahead = timezone.now() + timedelta(hours=1)
        for one in (tenant, stranger):
            store.insert([request_for(one, n) for n in range(2)])
        call_at(ahead, store.claim)
        now = timezone.now()
        Lane.objects.filter(tenant_id=stranger.pk).update(opens_at=now + timedelta(seconds=9))  # as it should
        call_at(now, store.open_lanes)
        call_at(now, store.claim)
        assert (started(tenant=tenant), started(tenant=stranger)) == (2, 1)

    def test_an_unlimited_queue_has_none(self, limited, tenant):
        limited.to(5, 10)
        submit(tenant, 9, queue="limited")
        limited.to(None, None)
        assert store.next_moment() is None

    def test_the_clock_dispatches_at_each_token_and_nobody_else_has_to(self, limited, tenant, rarely_ticking):
        """A job that ends asks for no dispatch here, and the clock's own net is too wide to catch one in time."""
        submit(tenant, 15, queue="limited", delay=0.01)
        limited.to(5, 1)
        rarely_ticking()
        wait_until(lambda: Job.objects.filter(status="success").count() == 15, "all jobs end")
        moments = list(Job.objects.order_by("queued_at").values_list("queued_at", flat=True))
        assert moments[0] == moments[4]
        assert all(at - moments[0] >= n * timedelta(seconds=0.2) for n, at in enumerate(moments[4:]))


@pytest.fixture
def rarely_ticking(tenant, register, elsewhere, monkeypatch) -> Iterator[Callable[[], object]]:
    """Start a clock that sleeps until a moment of its own; what is handed over ends at once, unseen."""
    monkeypatch.setattr(clock, "LONGEST_SLEEP", 20.0)
    worker, stop = register(), threading.Event()

    def run(claimed) -> None:
        for job in claimed:
            finish(job, worker)

    runtime.change(carrier=run)
    runs = []
    yield lambda: runs.append(elsewhere(clock.Clock(stop).run))
    stop.set()
    store.wake_clock()
    for ended in runs:
        ended.result(40)
