"""I9 for the history: what a page, a look or a batch reads does not depend on how much there is."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.db.models import Q
from django.test.utils import CaptureQueriesContext

from jobs import store
from jobs.engine.upkeep.history import TABLE, month_of
from jobs.lifecycle import Status
from jobs.models import AnyJob, ArchivedJob
from jobs.reading import listing, queries
from jobs.reading.listing import Sought
from jobs.store import partitions
from tenants.models import Tenant
from tests.factories import QueueFactory, TenantFactory
from tests.plans import buffers, fill
from tests.sql import sql, value
from tests.waiting import wait_until

FEW, MANY = 2_000, 20_000
ARCHIVE = """
WITH gone AS (
    DELETE FROM jobs
    WHERE id IN (SELECT id FROM jobs WHERE end_time IS NOT NULL ORDER BY id LIMIT %(count)s)
    RETURNING *
)
INSERT INTO job_history
SELECT whole.* FROM gone CROSS JOIN LATERAL jsonb_populate_record(
    NULL::job_history,
    to_jsonb(gone)
    || jsonb_build_object('failed_attempts', '[]'::jsonb, 'end_time', %(now)s - id %% 90 * interval '1 day')
) AS whole
"""
# A scan forgets an index entry of a deleted row when no snapshot of this database needs it, and only when no
# transaction of the whole cluster, as of another worker of these tests, is older than the deletion (GetSnapshotData).
ALL_LATER = """
SELECT pg_snapshot_xmin(pg_current_snapshot()) >= %s::text::xid8 AND NOT EXISTS (
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
)
"""
NOW = datetime(2031, 3, 15, tzinfo=UTC)


@pytest.fixture
def tenants(transactional_db):
    """Two; the second has most of the jobs."""
    for months in range(4):
        partitions.ensure(TABLE, *month_of(NOW - timedelta(days=31 * months)))
    return TenantFactory(), TenantFactory()


def grow(tenants, count: int) -> None:
    """So many ended jobs, five of six in the history."""
    fill(QueueFactory().pk, [tenants[1].pk], count, finished=True)
    sql(ARCHIVE, {"count": count * 5 // 6, "now": NOW})
    fill(QueueFactory().pk, [tenants[0].pk], 20, finished=True)
    deleted = value("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")
    wait_until(lambda: all_later(deleted), "the end of older transactions, which keep the index full")


def all_later(deleted) -> bool:
    return value(ALL_LATER, [deleted])


def cost(work) -> int:
    """The pages that its statements read."""
    with transaction.atomic():
        with CaptureQueriesContext(connection) as captured:
            work()
        transaction.set_rollback(True)
    total = 0
    for query in captured:
        if not query["sql"].lstrip("(-").startswith(("SELECT", "WITH", " Reads", " Arrow")):
            continue
        with transaction.atomic():
            plan = value("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + query["sql"])[0]["Plan"]
            transaction.set_rollback(True)
        total += buffers(plan)
    return total


def analyse_small_tables() -> None:
    sql("ANALYZE tenants_tenant, queues")


def were_many(tenants) -> None:
    Tenant.objects.bulk_create([Tenant(name=f"t{n}", slug=f"t{n}") for n in range(3_000)])
    analyse_small_tables()
    Tenant.objects.exclude(pk__in=[tenant.pk for tenant in tenants]).delete()


@pytest.mark.parametrize("believed", ["nothing", "few tenants", "many tenants"])
def test_the_reads_depend_on_the_page_and_not_on_the_history(tenants, monkeypatch, believed):
    if believed == "few tenants":
        analyse_small_tables()
    elif believed == "many tenants":
        were_many(tenants)
    monkeypatch.setattr(listing, "MAX_LOOKED_AT", 500)
    small, big = tenants
    grow(tenants, FEW)
    old = ArchivedJob.objects.latest("id").id
    work = {
        "the newest of a tenant": lambda: listing.page(Sought(big), 20),
        "the newest of all": lambda: listing.page(Sought(None), 20),
        "something rare": lambda: listing.page(Sought(big, others=Q(user_key="anna")), 20),
        "something rare of all": lambda: listing.page(Sought(None, others=Q(user_key="anna")), 20),
        "a status": lambda: listing.page(Sought(big, Status.ERROR), 20),
        "the few that run": lambda: listing.page(Sought(small, Status.RUNNING), 20),
        "an old job": lambda: queries.all_jobs().filter(pk=old).first(),
        "its failed attempts": lambda: queries.failed_attempts(AnyJob(pk=old)),
        "what to archive": lambda: store.next_to_archive(0, NOW - timedelta(days=9000)),
    }
    sql("ANALYZE jobs, job_history")
    few = {name: cost(each) for name, each in work.items()}
    grow(tenants, MANY)
    stale = {name: cost(each) for name, each in work.items()}
    sql("ANALYZE jobs, job_history")
    fresh = {name: cost(each) for name, each in work.items()}
    grown = {name: (few[name], stale[name], fresh[name]) for name in work}
    assert not {name: read for name, read in grown.items() if max(read) > 2 * read[0] + 40}, grown
