"""I9: what a dispatch costs does not depend on how many jobs wait, nor on how many of them belong to a full tenant."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from jobs.models import Job
from jobs.sql import statement
from tests.factories import QueueFactory, TenantFactory

pytestmark = pytest.mark.django_db(transaction=True)

FEW, MANY, OTHERS = 1_000, 1_000_000, 100
PARAMETERS = {
    "now": None,
    "headroom": 1,
    "live_for": 3600,
    "default_timeout": 1.0,
    "locked_queues": [],
    "locked_tenants": [],
}

FILL = """
WITH filled AS (
INSERT INTO jobs (tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args, status,
                  ready_at, attempt, crashes, retries, progress_note, stats, last_error)
SELECT %s, %s, 5, '', 'tests.thing', n::text, 'run', '{}', 'created', now(), 0, 0, 0, '', '{}', ''
FROM generate_series(1, %s) n
RETURNING queue_id, tenant_id, job_place(priority, id) AS place)
INSERT INTO arrivals (xid, queue_id, tenant_id, head, jobs)
SELECT pg_current_xact_id()::text::bigint, queue_id, tenant_id, min(place), count(*) FROM filled GROUP BY 2, 3
"""


def fill(tenant, count: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(FILL, [tenant.pk, QueueFactory(name="default").pk, count])


def explain() -> dict[str, Any]:
    """The claim's plan, executed inside the door under the settings of a dispatch, and rolled back."""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(statement("knock"), {"in_line": False})
        cursor.execute(statement("enter"))
        cursor.execute(statement("fold"), PARAMETERS)
        cursor.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement("claim"), PARAMETERS)
        plan = cursor.fetchone()[0]
        cursor.execute("ROLLBACK")
    return (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def buffers(plan: dict[str, Any]) -> int:
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def indexes_of_jobs(plan: dict[str, Any]) -> set[str | None]:
    """The indexes that `jobs` is read through; None for a scan without one."""
    scans = (node for node in nodes(plan) if node.get("Relation Name") == "jobs" and "Scan" in node["Node Type"])
    return {node.get("Index Name") for node in scans if node["Node Type"] != "Tid Scan"}


@pytest.fixture
def full_tenant(register):
    """A tenant whose one slot is taken, beside a hundred others with jobs waiting."""
    full = TenantFactory(queue__num_slots=1)
    fill(full, FEW)
    first = Job.objects.filter(tenant=full).earliest("id")
    Job.objects.filter(pk=first.pk).update(
        status="queued", slot=1, attempt=1, ready_at=None, queued_at="2030-01-01T00:00Z"
    )
    for _ in range(OTHERS):
        fill(TenantFactory(), 10)
    register(concurrency=100)
    return full


@pytest.mark.timeout(600)
def test_a_claim_reads_as_much_at_a_million_waiting_jobs_as_at_a_thousand(full_tenant):
    explain()  # reads the catalogues into this connection's caches
    few = explain()
    fill(full_tenant, MANY - FEW)
    unanalyzed = explain()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE jobs")
    many = explain()
    for plan in (few, unanalyzed, many):
        assert indexes_of_jobs(plan) == {"jobs_claim", "jobs_one_job_per_slot", "jobs_pkey"}
        assert plan["Actual Rows"] == 100  # all the pool has free, so the claim had its full work to do
    assert buffers(many) <= 2 * buffers(few), (buffers(few), buffers(many))
    assert buffers(unanalyzed) <= 2 * buffers(few), (buffers(few), buffers(unanalyzed))
