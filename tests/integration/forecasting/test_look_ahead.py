"""What a forecast begins with: one snapshot, with bounded reads."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks import fill
from jobs.insight.forecasts import statements as ahead
from jobs.lifecycle import Status
from tests.factories import QueueFactory, TenantFactory, fold, make_job
from tests.plans import rows
from tests.sql import sql, value

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=2, queue__burst_slots=3, queue__rate_limit=5, queue__rate_window=60.0)


def test_a_tenant_without_ready_jobs_has_no_line(tenant):
    make_job(tenant, Status.SCHEDULED)
    assert not ahead.has_line()


def test_the_scene_has_what_waits_what_runs_and_who_came(tenant, register):
    register(concurrency=4)
    make_job(tenant, Status.RUNNING)
    waiting = [make_job(tenant, priority=priority, user_key="ada") for priority in (5, 1)]
    due = make_job(tenant, Status.SCHEDULED, due_at=timezone.now() + timedelta(seconds=60))
    make_job(tenant, Status.SCHEDULED, due_at=timezone.now() + timedelta(seconds=60), attempt=1)  # a retry
    assert ahead.has_line()
    _, snapshot = ahead.look_ahead()
    assert snapshot.pools == {"default": 4}
    assert list(snapshot.waiting) == [(tenant.pk, QueueFactory().pk)]
    assert [(job.id, job.nth, job.user) for job in snapshot.in_line] == [
        (waiting[1].pk, 1, "ada"),
        (waiting[0].pk, 2, "ada"),
    ]
    assert snapshot.in_line[0].place < snapshot.in_line[1].place
    (held,) = snapshot.holding
    assert (held.tenant_id, held.leaves) == (tenant.pk, False)
    assert held.started_at is not None
    assert held.started_at <= 0.0
    (comes,) = snapshot.due
    assert comes.place == (due.priority << 58) + due.pk
    assert comes.at == pytest.approx(60.0, abs=2)
    owner = snapshot.books().tenants[tenant.pk]
    assert (owner.num_slots, owner.burst_slots, owner.rate_limit, owner.tokens(0.0)) == (2, 3, 5, 5)


def test_the_snapshot_costs_the_same_reads_for_long_lines(tenant):
    few, many = (reads_of_lines_with(tenant, jobs) for jobs in (6_000, 12_000))
    assert many <= 1.1 * few, (few, many)


def reads_of_lines_with(tenant, more: int) -> int:
    """The rows that a look reads after so many more jobs have come to stand in line."""
    fill.arriving([tenant], more)
    fold()
    with CaptureQueriesContext(connection) as queries:
        ahead.look_ahead()
    (look,) = [query["sql"] for query in queries if "WITH" in query["sql"]]
    sql(ahead.PLANNER)
    return rows(value(f"EXPLAIN (ANALYZE, FORMAT JSON) {look}")[0]["Plan"])
