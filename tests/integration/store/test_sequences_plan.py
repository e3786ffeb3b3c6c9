"""A turn in a sequence costs the same, however many jobs wait in it, and in others of the tenant."""

import pytest
from django.db import transaction

from jobs.models import Job
from jobs.sql import statement
from jobs.store import awaiting
from tests.factories import QueueFactory, TenantFactory
from tests.plans import fill as fill_queue
from tests.plans import indexes_of, indexes_of_jobs, rows, scans
from tests.sql import sql, value

pytestmark = pytest.mark.django_db
A = "acct-7"


@pytest.fixture
def tenant():
    return TenantFactory(queue__num_slots=5)


def fill(tenant, count: int) -> None:
    """So many blocked jobs of the sequence, and as many of others."""
    sql(
        "INSERT INTO jobs (tenant_id, queue_id, priority, user_key, source_type, source_id, source_method, args,"
        " status, blocked_at, attempt, crashes, retries, progress_note, stats, last_error, sequence)"
        " SELECT %s, %s, 5, '', 'tests.thing', n::text, 'run', '{}', 'blocked', now(), 0, 0, 0, '', '{}', '',"
        " CASE WHEN n %% 2 = 0 THEN %s ELSE 'acct-' || n END"
        " FROM generate_series(1, %s) AS n",
        [tenant.pk, QueueFactory().pk, A, 2 * count],
    )


def turn(tenant) -> dict:
    """The plan of the reader's look at news of the sequence."""
    awaiting.note_sequences({(tenant.pk, A)})
    with transaction.atomic():
        sql(statement("hear"), {"own": True})
        read = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement("read_ends")
        plan = value(read, {"batch": awaiting.BATCH, "now": None})[0]["Plan"]
        transaction.set_rollback(True)
    return plan


OWN = {"jobs_blocked_of_tenant", "jobs_one_of_sequence"}


def read_of_sequences(plan: dict) -> int:
    """The rows that the reader has read to find whose turn it is."""
    own = [node for node in scans(plan) if indexes_of(node) & OWN]
    return int(sum(node["Actual Rows"] * node["Actual Loops"] for node in own))


@pytest.mark.parametrize("statistics", ["none", "of jobs that do not wait", "of now"])
def test_a_turn_reads_the_same_for_any_jobs_that_wait(tenant, statistics):
    if statistics == "of jobs that do not wait":
        fill_queue(QueueFactory().pk, [tenant.pk], 1000)
        sql("ANALYZE jobs")
    fill(tenant, 20)
    few = turn(tenant)
    fill(tenant, 3000)
    if statistics == "of now":
        sql("ANALYZE jobs")
    many = turn(tenant)
    assert read_of_sequences(many) <= read_of_sequences(few) <= 3
    assert indexes_of_jobs(many) <= OWN | {"jobs_pkey"}
    assert indexes_of_jobs(many) >= OWN


def test_a_place_is_counted_no_further_than_asked(tenant):
    fill(tenant, 3000)
    last = Job.objects.filter(sequence=A).latest("id").pk
    with transaction.atomic():
        sql("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off")
        read = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement("place_in_sequence")
        plan = value(read, {"id": last, "most": 10})[0]["Plan"]
    assert rows(plan) <= 25
    assert "none" not in indexes_of_jobs(plan)
