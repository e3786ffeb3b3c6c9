"""Rate limits under real concurrency: eight dispatchers that never rest, and every window of every limit audited."""

import threading
from collections.abc import Callable
from datetime import datetime

import pytest

from jobs import store
from jobs.engine.door import dispatch
from jobs.engine.process import runtime
from jobs.models import Job
from tests.conftest import request_for
from tests.factories import QueueFactory, TenantFactory, finish
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("exact_capacity")]

DISPATCHERS, JOBS = 8, 60  # of each tenant
QUEUE, TENANT = (20, 0.5), (7, 0.3)  # jobs, seconds
ROUNDING = 1e-6  # seconds, of each moment


def exceeded(moments: list[datetime], limit: int, window: float) -> list[tuple[float, int]]:
    """(seconds, jobs) of each interval in which more than limit * (1 + t / window) jobs were claimed."""
    return [
        ((end - start).total_seconds(), count)
        for first, start in enumerate(moments)
        for count, end in enumerate(moments[first:], 1)
        if (count - limit) * window / limit > (end - start).total_seconds() + count * ROUNDING
    ]


def test_the_auditor_sees_a_job_too_many():
    start = datetime(2030, 1, 1)  # noqa: DTZ001 - any moment
    assert exceeded([start] * 7, 7, 0.3) == []
    assert exceeded([start] * 8, 7, 0.3) == [(0.0, 8)]


def test_no_interval_of_any_length_holds_more_claims_than_its_limits_allow(register, elsewhere):
    worker, stop = register(), threading.Event()
    QueueFactory(name="limited", rate_limit=QUEUE[0], rate_window=QUEUE[1])
    limits = {"queue__num_slots": 50, "queue__rate_limit": TENANT[0], "queue__rate_window": TENANT[1]}
    tenants = [TenantFactory(**limits), TenantFactory(**limits), TenantFactory(queue__num_slots=50)]

    def run(claimed) -> None:
        for job in claimed:
            finish(job, worker)

    def never_rest(in_line: bool) -> None:
        while not stop.is_set():
            dispatch.dispatch(in_line=in_line)

    def moments(**filters) -> list[datetime]:
        return list(Job.objects.filter(**filters).order_by("queued_at").values_list("queued_at", flat=True))

    runtime.change(carrier=run)
    store.insert([request_for(tenants[n % 3], n, queue="limited") for n in range(3 * JOBS)])
    dispatchers = [elsewhere(never_rest, in_line=bool(n % 2)) for n in range(DISPATCHERS)]
    try:
        wait_until(_all_ended(dispatchers), "all jobs end")
    finally:
        stop.set()
    for dispatcher in dispatchers:
        dispatcher.result(30)
    assert exceeded(moments(), *QUEUE) == []
    for tenant in tenants[:2]:
        assert exceeded(moments(tenant=tenant), *TENANT) == []


def _all_ended(dispatchers: list) -> Callable[[], bool]:
    """Also when a dispatcher has failed: its error is then raised by its result."""
    return lambda: (
        any(dispatcher.done() for dispatcher in dispatchers) or Job.objects.filter(status="success").count() == 3 * JOBS
    )
